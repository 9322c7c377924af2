//! A gate with everything around it played by the test: host, server, log, operator, clock. Checks the five invariants
//! after every step, so that playbooks and histories only say what happens.

#![allow(dead_code, reason = "each test binary uses its own part of the world")]

mod answers;
mod effects;
mod lines;
mod log;
pub mod moves;
pub mod play;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use mcp_approve::audit::record::{Entry, VerdictWord};
use mcp_approve::behavior::agreed::Agreement;
use mcp_approve::gate::data::event::{Event, Now, Operator, OperatorWord, Side, Signature};
use mcp_approve::gate::data::facts::Look;
use mcp_approve::gate::data::pin::{PinUpdate, Pinning, Pins, Remembers, ToolWord};
use mcp_approve::gate::data::report::{Activity, CallEnd, OperatorVerdict};
use mcp_approve::gate::data::snapshot::Snapshot;
use mcp_approve::gate::data::terms::{Covers, GrantTerms, Lasts};
use mcp_approve::gate::{Config, ForwardOrder, Gate, Polling, Unattended};
use mcp_approve::policy::parse;
use mcp_approve::policy::rate::Recent;
use mcp_approve::signing::change::Change;
use mcp_approve::signing::standing::{Me, Standing};
use mcp_approve::wire::Line;
use mcp_approve::wire::digest::Digest;

pub use lines::*;

/// What a step did, as one line of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Did {
    /// Passed to the server, byte for byte.
    ToServer(String),
    /// Passed to the host, byte for byte.
    ToHost(String),
    /// A call was written to the server.
    Forward(String),
    /// A line of our own to the host.
    Answer(String),
    /// A question of our own to the server.
    Query(String),
    Ask(String),
    Settle(String),
    Refuse(String),
    /// These approvers are asked.
    Consult(String),
    /// A changed policy's text is to be kept.
    Accept(String),
    Close(&'static str),
}

/// An entry the log has not acknowledged yet.
struct Pending {
    id: u64,
    entry: Entry,
}

pub struct World {
    pub gate: Gate,
    pub now: Now,
    pending: VecDeque<Pending>,
    /// Everything ever given to the log, in order.
    pub entries: Vec<Entry>,
    /// Decisions that are on the disk, by ticket.
    recorded: BTreeMap<String, (Digest, VerdictWord)>,
    decisions: BTreeMap<String, u32>,
    ends: BTreeMap<String, &'static str>,
    approved_by_operator: BTreeSet<String>,
    /// Tickets of calls that the host sent, by digest; an edit adds one.
    sent: BTreeSet<Digest>,
    pub cards: BTreeMap<String, Snapshot>,
    pub settled: Vec<CallEnd>,
    pub shown: Vec<Activity>,
    pub remembered: Vec<PinUpdate>,
    /// What operators agreed to, once the log had it.
    pub agreed: Vec<Agreement>,
    /// Those of them with a signature.
    pub signed: Vec<Agreement>,
    /// What operators said of definitions, not kept yet.
    pub pinned: Vec<Pinning>,
    /// Acknowledge every entry at once, as a healthy log would.
    pub log_answers: bool,
    /// What stands on the disk, by path: where it leads and its content. What is not in it does not exist.
    pub disk: BTreeMap<String, (String, String)>,
    /// Look at once, as a healthy disk would answer.
    pub disk_answers: bool,
    looks: VecDeque<(String, u64, Look)>,
    /// What other wrappers ran lately.
    pub others: Recent,
    consults: VecDeque<(String, u64)>,
    /// What approvers were told.
    pub told: Vec<String>,
    /// How often the disk was looked at.
    pub looked: u32,
    /// Questions that the host was given, not taken back: their ids and what they say.
    pub forms: Vec<(String, String)>,
    /// The same for questions inside an answer, with the state that the host is to bring back; none is taken back.
    pub forms_inside: Vec<(String, String)>,
    /// Tickets that a host's user approved in a form that showed them.
    approved_in_host: BTreeSet<String>,
    /// Whether calls are frozen.
    frozen: bool,
    /// Whether requests about which [`play::about_methods`] speaks must not pass undecided.
    restricts: bool,
    order: ForwardOrder,
    /// The states of ours that the host was given, the latest last.
    pub states: Vec<String>,
    /// The number of the host's call that was forwarded last.
    last_forwarded: u64,
    /// The tasks that the host was given, the latest last; and the tickets of those that it cancelled before they ran.
    pub tasks: Vec<String>,
    pub given_up: BTreeSet<String>,
    /// Every effect and the status after each step, where a test wants them whole.
    pub transcript: Option<Vec<String>>,
}

/// The operator whom a test plays.
pub fn ann() -> Operator {
    Operator { who: "ann".into(), console: 1, place: mcp_approve::gate::data::event::Place::Here }
}

/// What she says is about exactly these bytes.
pub fn word(ticket: &str, digest: Digest) -> OperatorWord {
    OperatorWord { ticket: ticket.into(), digest, operator: ann() }
}

impl World {
    pub fn new() -> Self {
        Self::with(Config { ..config() }, "")
    }

    /// A world with a policy text (empty: the built-in default).
    pub fn with(config: Config, policy: &str) -> Self {
        let order = config.order;
        let mut policy =
            if policy.is_empty() { parse::built_in() } else { parse::parse(policy).expect("a sound policy") };
        if config.unattended == Unattended::Elicit {
            policy.roots.folder = Some("/".to_owned());
        }
        let mut world = Self {
            gate: Gate::new(config, Arc::new(policy)),
            now: Now { mono: 1_000_000, wall: 1_790_000_000_000 },
            pending: VecDeque::new(),
            entries: Vec::new(),
            recorded: BTreeMap::new(),
            decisions: BTreeMap::new(),
            ends: BTreeMap::new(),
            approved_by_operator: BTreeSet::new(),
            sent: BTreeSet::new(),
            cards: BTreeMap::new(),
            settled: Vec::new(),
            shown: Vec::new(),
            remembered: Vec::new(),
            pinned: Vec::new(),
            agreed: Vec::new(),
            signed: Vec::new(),
            log_answers: true,
            disk: BTreeMap::new(),
            disk_answers: true,
            looks: VecDeque::new(),
            others: Recent::default(),
            consults: VecDeque::new(),
            told: Vec::new(),
            looked: 0,
            forms: Vec::new(),
            forms_inside: Vec::new(),
            approved_in_host: BTreeSet::new(),
            frozen: false,
            restricts: false,
            order,
            states: Vec::new(),
            last_forwarded: 0,
            tasks: Vec::new(),
            given_up: BTreeSet::new(),
            transcript: None,
        };
        let started = Event::Started { server: "files".into(), command: vec!["files".into()], pid: 1 };
        world.step(started);
        world
    }

    /// The legacy handshake and a `tools/list`, so that calls can be judged.
    pub fn ready(self) -> Self {
        self.ready_with("{}")
    }

    /// The same with a host that can do this.
    pub fn ready_with(self, capabilities: &str) -> Self {
        self.ready_between(capabilities, "")
    }

    /// The same with a server that can do this too.
    pub fn ready_between(mut self, capabilities: &str, more: &str) -> Self {
        self.host(&format!(
            r#"{{"jsonrpc":"2.0","id":"i","method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{capabilities},"clientInfo":{{"name":"tester","version":"1"}}}}}}"#
        ));
        self.server(&format!(
            r#"{{"jsonrpc":"2.0","id":"i","result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}{more}}},"serverInfo":{{"name":"files","version":"1"}}}}}}"#
        ));
        self.host(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        self.host(r#"{"jsonrpc":"2.0","id":"l","method":"tools/list"}"#);
        self.server(&format!(r#"{{"jsonrpc":"2.0","id":"l","result":{{"tools":{}}}}}"#, TOOLS.replace('\n', "")));
        self
    }

    pub fn host(&mut self, content: &str) -> Vec<Did> {
        let line = self.sends(content);
        self.step(Event::HostLine(line))
    }

    pub fn server(&mut self, content: &str) -> Vec<Did> {
        // A request of the server's can be held as well.
        let line = self.sends(content);
        self.step(Event::ServerLine(line))
    }

    /// A line, known by its plain digest and by the one that hides a secret.
    fn sends(&mut self, content: &str) -> Line {
        let line = Line::new(format!("{content}\n").into_bytes());
        self.sent.extend([line.digest(), keyed(content)]);
        line
    }

    /// A call; the id is a JSON token.
    pub fn call(&mut self, id: &str, tool: &str, arguments: &str) -> Vec<Did> {
        self.host(&call(id, tool, arguments))
    }

    pub fn approve(&mut self, ticket: &str) -> Vec<Did> {
        let digest = self.cards.get(ticket).map_or(Digest::of(b"never shown"), |card| card.digest);
        self.decide(ticket, digest, OperatorVerdict::Approve { unread: false })
    }

    pub fn deny(&mut self, ticket: &str, reason: &str) -> Vec<Did> {
        let digest = self.cards.get(ticket).map_or(Digest::of(b"never shown"), |card| card.digest);
        self.decide(ticket, digest, OperatorVerdict::Deny { reason: reason.into() })
    }

    pub fn decide(&mut self, ticket: &str, digest: Digest, verdict: OperatorVerdict) -> Vec<Did> {
        if matches!(verdict, OperatorVerdict::Approve { .. })
            && self.cards.get(ticket).is_some_and(|card| card.digest == digest)
        {
            self.approved_by_operator.insert(ticket.into());
        }
        self.step(Event::Decided(word(ticket, digest), verdict, Signature::None))
    }

    /// Approves a call with this signature.
    pub fn approve_signed(&mut self, ticket: &str, signature: Signature) -> Vec<Did> {
        let digest = self.cards.get(ticket).map_or(Digest::of(b"never shown"), |card| card.digest);
        self.approve_word(word(ticket, digest), false, signature)
    }

    /// The same, whoever says it, and whether they read it.
    pub fn approve_word(&mut self, word: OperatorWord, unread: bool, signature: Signature) -> Vec<Did> {
        self.approved_by_operator.insert(word.ticket.clone());
        self.step(Event::Decided(word, OperatorVerdict::Approve { unread }, signature))
    }

    /// Approves a call and more like it.
    pub fn grant(&mut self, ticket: &str, covers: Covers, lasts: Lasts) -> Vec<Did> {
        let digest = self.cards.get(ticket).map_or(Digest::of(b"never shown"), |card| card.digest);
        if self.cards.contains_key(ticket) {
            self.approved_by_operator.insert(ticket.into());
        }
        let terms = GrantTerms { covers, lasts };
        self.step(Event::Granted(word(ticket, digest), terms, Signature::None))
    }

    /// Says what the tool of a call is.
    pub fn says(&mut self, ticket: &str, says: ToolWord) -> Vec<Did> {
        let offered = self.cards.get(ticket).and_then(|card| card.offer.as_ref());
        if says == ToolWord::Reads && offered.is_some_and(|offer| offer.remembers == Remembers::All) {
            self.approved_by_operator.insert(ticket.into());
        }
        self.says_signed(ticket, says, Signature::None)
    }

    /// The same with a signature.
    pub fn says_signed(&mut self, ticket: &str, says: ToolWord, signature: Signature<Change>) -> Vec<Did> {
        let digest = self.cards.get(ticket).map_or(Digest::of(b"never shown"), |card| card.digest);
        self.step(Event::Pinned(word(ticket, digest), says, signature))
    }

    /// What operators said is kept with the pins, which come back.
    pub fn keeps_pins(&mut self) -> Vec<Did> {
        for Pinning { tool, definition, says, .. } in self.pinned.drain(..) {
            let seen = self.remembered.iter_mut().rfind(|seen| seen.tool.name == tool).expect("a tool that was seen");
            seen.pin.trusted = Some(definition);
            (seen.pin.said, seen.pin.identity) = (Some(says), Some(says));
        }
        self.step(Event::Reviewed(Box::new(self.pins())))
    }

    /// What is remembered of the server.
    pub fn pins(&self) -> Pins {
        let tools = self.remembered.iter().map(|seen| (seen.tool.name.clone(), seen.pin.clone())).collect();
        let agreed = self.agreed.iter().cloned().collect();
        let signed = self.signed.iter().cloned().collect();
        Pins { tools, agreed, signed, ..Pins::default() }
    }

    /// Another policy stands.
    pub fn policy(&mut self, text: &str) -> Vec<Did> {
        self.restricts = text == play::about_methods("ask") || text == play::about_methods("deny");
        self.step(Event::PolicyChanged(Arc::new(parse::parse(text).expect("a sound policy"))))
    }

    /// Calls are frozen, or no longer.
    pub fn freezes(&mut self, trouble: Option<String>) -> Vec<Did> {
        self.frozen = trouble.is_some();
        let mut standing = Standing::new(Me { machine: "build-7".into(), user: "mara".into() });
        standing.trouble = trouble;
        self.step(Event::Standing(Box::new(standing)))
    }

    pub fn edit(&mut self, ticket: &str, arguments: &str) -> Vec<Did> {
        let digest = self.cards.get(ticket).map_or(Digest::of(b"never shown"), |card| card.digest);
        self.step(Event::Edited { word: word(ticket, digest), arguments: arguments.into() })
    }

    /// Lets time pass and wakes the gate.
    pub fn wait(&mut self, seconds: u64) -> Vec<Did> {
        self.now.mono += seconds * 1_000_000;
        self.now.wall += i64::try_from(seconds).expect("a short while") * 1000;
        self.step(Event::Woke)
    }

    pub fn close(&mut self, side: Side) -> Vec<Did> {
        self.step(Event::Closed { side, how: "gone".into() })
    }

    pub fn step(&mut self, event: Event) -> Vec<Did> {
        self.now.mono += 10;
        let effects = self.gate.step(self.now, event);
        if let Some(transcript) = &mut self.transcript {
            transcript.extend(effects.iter().map(effects::shown));
            let status = format!("status {}", serde_json::to_string(&self.gate.status()).unwrap());
            // Only where it has changed.
            if transcript.iter().rfind(|line| line.starts_with("status ")) != Some(&status) {
                transcript.push(status);
            }
        }
        let mut did: Vec<Did> = effects.into_iter().filter_map(|effect| self.perform(effect)).collect();
        if self.gate.has_work_left() {
            did.extend(self.step(Event::GoOn));
        }
        while (self.log_answers && !self.pending.is_empty()) || (self.disk_answers && !self.looks.is_empty()) {
            if self.disk_answers {
                did.extend(self.disk_shows());
            }
            if self.log_answers {
                did.extend(self.log_takes());
            }
        }
        did
    }

    /// Ends the history: the log answers for everything, the server goes; nothing may be left open.
    pub fn finish(mut self) {
        while !self.pending.is_empty() || !self.looks.is_empty() {
            self.log_takes();
            self.disk_shows();
        }
        self.close(Side::Server);
        while !self.pending.is_empty() {
            self.log_takes();
        }
        assert!(self.gate.is_quiet(), "4: a call was left without an end");
        assert!(self.gate.snapshots().is_empty(), "4: a card was left on the screen");
        for (ticket, (_, verdict)) in &self.recorded {
            if *verdict == VerdictWord::Approve {
                assert!(self.ends.contains_key(ticket), "4: {ticket} was approved and neither ran nor was withdrawn");
            }
        }
    }
}

/// A world where hosts may poll, and the server makes tasks of calls.
pub fn polled() -> World {
    polled_with(config())
}

pub fn polled_with(config: Config) -> World {
    polled_by(config, "{}", "")
}

pub fn polled_with_forms(config: Config) -> World {
    polled_by(config, r#"{"elicitation":{}}"#, "")
}

/// The same under a policy.
pub fn polled_under(policy: &str) -> World {
    polled_by(config(), "{}", policy)
}

fn polled_by(config: Config, capabilities: &str, policy: &str) -> World {
    let world = World::with(Config { polling: Polling::Declared, ..config }, policy);
    world.ready_between(capabilities, r#","tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}"#)
}
