//! mcp-approve holds every MCP tool call on the stdio pipe until policy or a person decides, and writes each decision
//! to a tamper-evident log before a byte reaches the server. This file is the map; it owns no logic.
//!
//! The product is **consent integrity**: what the operator approved is exactly what runs, and nothing else runs.
//!
//! # Five invariants
//!
//! 1. Nothing reaches the server as a tool call without a [`GuardrailToken`](gate::data::token::GuardrailToken), and only
//!    the guardrail can make one.
//! 2. No record, no forward: a token is made only from the audit's acknowledgement of that very decision: committed
//!    before the forward, and synced to disk before it for anything that MUTATES or was asked.
//! 3. What was shown is what is sent: the bytes forwarded are the bytes received (or the operator's own edit, shown and
//!    recorded as such), and a verdict names their digest.
//! 4. Every call ends exactly once: forwarded, refused or withdrawn, whatever fails (timeout, full disk, dead server,
//!    quit); while the host's pipe lives, every call not withdrawn is answered.
//! 5. One decision record per call, and the outcome agrees with it.
//!
//! What is left out on purpose: the gate has no clock, no async, no file, no terminal. The screen has no bytes and no
//! way to reach the server. The policy has no human. The audit has no update and no delete.
//!
//! # Layers
//!
//! A layer uses only those below it; what must go up goes as an event or an effect. `tests/tidy.rs` checks this.
//!
//! ```text
//!   cli        one file per command; all wording of --help
//!   interpose  tokio, processes, the clock: bytes in, effects out      console  the operator's screen
//!   operator   what console and commands both look up, try and settle: log, rules, tools remembered
//!   hosts      where each host keeps its list of servers
//!   home       the operator's own files: places, config, policy layers and their acceptance, changes of rules
//!   link       wrapper <-> console: messages, sockets, the runtime folder
//!   pins       what is remembered of servers and tools between sessions
//!   gate       the core: step(now, Event) -> Vec<Effect>               (pure)
//!   audit      the log, facts kept for good: record, chain, redact (pure); store (the one door to SQLite)
//!   policy     call + behavior -> ruling                               (pure)
//!   behavior   what a call is: identity, evidence, hazards             (pure)
//!   capability what a server can do: schemas, signatures, scope        (pure)
//!   mcp        what MCP says on the wire, per revision                 (pure)
//!   signing    verdicts with an SSH signature: what is signed, who may sign  (pure)
//!   text       rows, columns, plain text, times                        (pure)
//!   wire       bytes <-> JSON-RPC                                      (pure)
//! ```
//!
//! # Twenty minutes
//!
//! Follow one `tools/call` that is asked. Each step is a function of what it needs and returns what comes next
//! ([`gate::held::next`]); [`gate::call::drive`] is the loop around them, the only file that knows their order.
//!
//! 1. [`interpose::wrapper`] reads the host's pipe, and [`wire::line`] cuts it into lines.
//! 2. [`gate`] takes each as an event; [`gate::call::arrive`] asks [`wire::message`] what it is, and [`mcp::lifecycle`]
//!    whether a call is legal now. From here on it is held: [`gate::held`] says what is known at each stage.
//! 3. [`gate::call::describe`] finds its tool in [`gate::server::catalog`], or asks the server.
//! 4. [`gate::call::judge`] has it judged: [`gate::call::judgement`] joins the evidence of tool and arguments
//!    ([`behavior::conclude`]), checks the schema, and asks the policy ([`policy::decide`]).
//! 5. [`gate::call::look`] has [`interpose::facts`] read what the call would touch; [`gate::call::consult`] asks the
//!    registered approvers. Then it is judged again, and the ruling is acted on.
//! 6. [`gate::call::card`] shows it: [`interpose::consoles`] sends the card, and [`console::view::card`] draws it.
//!    [`gate::call::ask`] takes the operator's verdict; what was looked at is looked at again.
//! 7. [`gate::call::decide`] counts it for rates; its entry ([`gate::held::entries`]) goes to the log, and
//!    [`interpose::scribe`] commits it. It waits for its turn, and for a last look.
//! 8. [`gate::call::forward`] mints a token from the receipt ([`gate::data::token`]), and [`interpose::server`] writes the
//!    original bytes.
//! 9. [`gate::server::answer`] relays the answer and records the outcome.
//!
//! Beside these: `input_required` and `tasks` let a host wait for long; `withdraw` ends one call early, `ending` and
//! `wake` all calls.

pub mod audit;
pub mod behavior;
pub mod capability;
pub mod cli;
pub mod console;
pub mod gate;
pub mod home;
pub mod hosts;
pub mod interpose;
pub mod link;
pub mod mcp;
pub mod operator;
pub mod pins;
pub mod policy;
pub mod signing;
pub mod text;
pub mod wire;
