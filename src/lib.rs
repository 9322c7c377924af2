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
//!   desk       many machines on PostgreSQL: what a machine sends and takes; in no wrapper's process
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
//! ([`gate::held`]); [`gate::call::drive`] is the loop around them, the only file that knows their order.
//!
//! 1. [`interpose::wrapper`] reads the host's pipe, and [`wire::message`] cuts it into lines. [`gate`] takes each as an event.
//! 2. [`gate::lines::host`] has the line read by `message`, and acts on what it is: a call is held where [`mcp::lifecycle`] says
//!    that it is legal now; [`gate::held`] is what is known of it from here on, at each stage.
//! 3. [`gate::call::judge`] finds its tool in [`gate::server::catalog`], or has the server asked.
//! 4. It judges the call: it checks the schema, joins the evidence of tool and arguments ([`behavior::conclude`]), and asks the
//!    policy ([`policy::decide`]).
//! 5. [`policy::scope`] proves that it lies in the scope.
//! 6. [`gate::call::look`] has [`interpose::facts`] read what it would touch, and registered approvers asked. Then it is judged
//!    again, and acted on.
//! 7. The loop puts it before the operator: [`gate::held::entries`] makes the record that it is asked, which
//!    [`interpose::scribe`] commits; the card does not wait for that. [`gate::waiting::answer`] may give its host a task for
//!    it. [`gate::call::card`] makes the card: [`interpose::consoles`] sends it, and [`console::view::card`] draws it.
//! 8. [`gate::call::ask`] takes the operator's verdict. What was looked at is looked at again, and the decision goes to the log.
//! 9. With the log's receipt it waits for its turn, and for a last look. [`gate::call::forward`] makes a token of the receipt
//!    ([`gate::data::token`]) and remembers the call in [`gate::server::flight`]; [`interpose::server`] writes the original
//!    bytes.
//! 10. [`gate::lines::server`] says what the server's line is, [`gate::lines::answer`] records the outcome, and
//!     [`interpose::host`] writes the answer.
//!
//! Beside this way: [`gate::call::signed`] takes the signatures that the policy asks for and those of all that comes from the desk,
//! [`gate::call::end`] ends a call that does not run, [`gate::waiting`] is what hosts are given while their calls wait, and [`gate`]
//! itself has what concerns all calls at once: time, descriptions, turns, the end of either side.
//! `tests/tidy/route.rs` lists every hand-over of an asked call and of one that passes unasked, and holds this text to it.

pub mod audit;
pub mod behavior;
pub mod capability;
pub mod cli;
pub mod console;
pub mod desk;
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
