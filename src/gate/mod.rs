//! The heart: `step(now, Event) -> Vec<Effect>`. Pure, synchronous, exhaustive; no clock, no async, no file, no terminal.
//!
//! `data` is what goes in and comes out, `call` follows one call in the order it lives, `server` is what is known of the
//! server and what it answers. The rest is what changes for all calls at once: rules, grants, the two ends, time.

#![warn(clippy::wildcard_enum_match_arm, clippy::indexing_slicing)]

pub mod call;
pub mod data;
pub mod deadline;
pub mod ending;
pub mod grants;
pub mod policy;
pub mod server;
pub mod show;
pub mod state;
pub mod status;
pub mod wake;

use std::sync::Arc;

use call::table::Calls;
use data::effect::Effect;
use data::event::{Event, Now, OperatorWord, Side};
use data::opinion::Approver;
use data::pin::{PinState, Pins};
use grants::Grants;
use server::catalog::Catalog;
use server::flight::Flights;
use server::memories::Memories;
use state::elicited::Elicited;
use state::returns::Returns;
use state::tasks::Tasks;
use state::{Clock, Consoles, Ends, Host, Log, Rules};

use crate::audit::record::{Entry, Kind};
use crate::behavior::conclude::Trust;
use crate::behavior::expected::Expected;
use crate::capability::schema::Mismatch;
use crate::policy::rule::Policy;
use crate::policy::scope::Scope;
use crate::wire::call::Call;

/// What happens to a call that must be asked while no console is attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unattended {
    /// It waits until a console opens, or until its deadline.
    #[default]
    Wait,
    /// mcp-approve denies it at once.
    Deny,
    /// It waits, and the host is asked to ask its user, where it can and one careless answer does no harm.
    Elicit,
}

/// In which order calls reach the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Each as soon as it is approved.
    #[default]
    Decided,
    /// As the host sent them: a call that is held holds up those behind it (`--ordered`).
    Sent,
}

/// Whether a host polls for a call that waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Polling {
    /// It waits for the answer to its request.
    #[default]
    Never,
    /// Where that request declares that its host takes a task (`--tasks`).
    Declared,
}

/// Whether questions are asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// They are.
    #[default]
    Enforce,
    /// They are recorded and let pass (`--observe`), and so are calls that do not fit what the server says of its tools; the
    /// operator's own denials still hold.
    Observe,
}

/// What a gate is given once. Times are microseconds.
#[derive(Clone, Debug)]
pub struct Config {
    pub server: Arc<str>,
    /// How the operator opens the console: `mcp-approve`, and `--home` where the wrapper has one.
    pub console: Arc<str>,
    /// One run of one wrapper; also what its tokens are bound to.
    pub session: Arc<str>,
    /// Chance, for the ids of our own requests.
    pub nonce: Arc<str>,
    /// Chance that neither end learns, for the states that a host is to bring back.
    pub secret: Arc<str>,
    pub approval_timeout: u64,
    pub host_timeout: Option<u64>,
    pub order: Order,
    pub polling: Polling,
    pub unattended: Unattended,
    pub mode: Mode,
    pub trust: Trust,
    /// What may be used of the server: what the operator said, and what every wrapper above this one may use.
    pub scope: Arc<Scope>,
    /// The wrappers that this one was started underneath, the outermost first, as names for people.
    pub above: Vec<String>,
    /// Callbacks that are asked about each call they are for.
    pub approvers: Vec<Approver>,
    /// What is remembered of this server from before; it moves into the catalog.
    pub pins: Pins,
    /// What the task expects of every call.
    pub expected: Option<Expected>,
    pub mismatch: Mismatch,
}

/// The state of one wrapper.
pub struct Gate {
    config: Config,
    rules: Rules,
    log: Log,
    ends: Ends,
    host: Host,
    consoles: Consoles,
    clock: Clock,
    catalog: Catalog,
    calls: Calls,
    flights: Flights,
    grants: Grants,
    returns: Returns,
    tasks: Tasks,
    elicited: Elicited,
    memories: Memories,
}

impl Gate {
    /// A gate that has seen nothing yet.
    pub fn new(mut config: Config, policy: Arc<Policy>) -> Self {
        let pins = std::mem::take(&mut config.pins);
        Self {
            elicited: Elicited::new(&config.secret),
            catalog: Catalog::new(config.trust, pins, Arc::clone(&config.nonce), (&config.server, &config.scope)),
            config,
            rules: Rules::new(policy),
            log: Log::default(),
            ends: Ends::default(),
            host: Host::default(),
            consoles: Consoles::default(),
            clock: Clock::default(),
            calls: Calls::default(),
            flights: Flights::default(),
            grants: Grants::default(),
            returns: Returns::default(),
            tasks: Tasks::default(),
            memories: Memories::default(),
        }
    }

    /// Takes one event; its consequences come out, to be performed in order.
    #[must_use]
    pub fn step(&mut self, now: Now, event: Event) -> Vec<Effect> {
        let mut out = Vec::new();
        self.clock.latest = self.clock.latest.max(now.wall);
        match event {
            Event::Started { server, command, pid } => self.on_started(now, server, &command, pid, &mut out),
            Event::HostLine(line) => self.on_host_line(now, line, &mut out),
            Event::HostOverlong { head, bytes, cap } => self.on_host_overlong(now, &head, bytes, cap, &mut out),
            Event::HostPartial { bytes } => self.on_host_partial(now, bytes, &mut out),
            Event::ServerLine(line) => self.on_server_line(now, line, &mut out),
            Event::ServerStreamed { gist, bytes, digest } => {
                self.on_server_streamed(now, &gist, bytes, digest, &mut out);
            }
            Event::Decided { ticket, digest, verdict, who, console } => {
                self.on_decided(now, OperatorWord { ticket, digest, who, console }, verdict, &mut out);
            }
            Event::Edited { ticket, digest, arguments, who, console } => {
                self.on_edited(now, &OperatorWord { ticket, digest, who, console }, &arguments, &mut out);
            }
            Event::Looked { ticket, digest } => self.on_looked(&ticket, digest, &mut out),
            Event::Extended { ticket, digest, who, console } => {
                self.on_extended(now, &OperatorWord { ticket, digest, who, console }, &mut out);
            }
            Event::Recorded(receipt) => self.on_recorded(now, receipt, &mut out),
            Event::RecordFailed { entry, why } => self.on_record_failed(now, entry, why, &mut out),
            Event::PolicyChanged(policy) => self.on_policy_changed(now, policy, &mut out),
            Event::PolicyAccepted { file, digest, who, console } => {
                self.on_policy_accepted(now, file, digest, &who, console, &mut out);
            }
            Event::Granted { ticket, digest, terms, who, console } => {
                self.on_granted(now, OperatorWord { ticket, digest, who, console }, terms, &mut out);
            }
            Event::Pinned { ticket, digest, word, who, console } => {
                self.on_pinned(now, OperatorWord { ticket, digest, who, console }, word, &mut out);
            }
            Event::GrantEnded { grant, who, console } => self.on_grant_ended(now, &grant, &who, console, &mut out),
            Event::Facts { ticket, look, found } => self.on_facts(now, &ticket, look, found, &mut out),
            Event::Consulted { ticket, consult, opinions } => {
                self.on_consulted(now, &ticket, consult, opinions, &mut out);
            }
            Event::Reviewed(pins) => self.on_reviewed(now, *pins, &mut out),
            Event::Woke => self.on_woke(now, &mut out),
            Event::Attached { who, attached } => self.on_consoles(now, Kind::Attach, &who, attached, &mut out),
            Event::Detached { who, attached } => self.on_consoles(now, Kind::Detach, &who, attached, &mut out),
            Event::Intruded { what } => {
                let entry = self.entry(now, Kind::Fault).with("what", "turned away from the console's socket");
                self.record(entry.with("reason", what), &mut out);
            }
            Event::ParseLists => self.on_parse_lists(now, &mut out),
            Event::Deaf { how } => self.on_deaf(now, how, &mut out),
            Event::Closed { side: Side::Host, .. } => self.on_host_closed(now, &mut out),
            Event::Closed { side: Side::Server, how } => self.on_server_closed(now, &how, &mut out),
            Event::Shutdown { why } => self.on_shutdown(now, &why, &mut out),
        }
        self.take_turns(now, &mut out);
        self.remember(now, &mut out);
        self.elicit(now, &mut out);
        out
    }

    fn on_started(&mut self, now: Now, server: Arc<str>, command: &[String], pid: u32, out: &mut Vec<Effect>) {
        self.config.server = server;
        let mut entry = self.entry(now, Kind::ServerStart).with("command", command.to_vec()).with("pid", pid);
        if self.config.mode == Mode::Observe {
            entry = entry.with("mode", "observe");
        }
        if let Some(scope) = self.config.scope.words() {
            entry = entry.with("scope", scope);
        }
        if !self.config.above.is_empty() {
            entry = entry.with("above", self.config.above.clone());
        }
        self.record(entry, out);
    }

    fn on_consoles(&mut self, now: Now, kind: Kind, who: &str, attached: usize, out: &mut Vec<Effect>) {
        self.consoles.attached = attached;
        let entry = self.entry(now, kind).with("operator", who).with("attached", attached);
        self.record(entry, out);
    }

    /// Hands out definitions that are new or changed; a change is a fact for the log.
    fn remember(&mut self, now: Now, out: &mut Vec<Effect>) {
        for sighting in self.catalog.take_sightings() {
            if sighting.pin_state != PinState::Trusted {
                let mut entry = self.entry(now, Kind::Tools);
                entry.tool = Some(sighting.tool.name.clone());
                entry.digest = Some(sighting.pin.latest);
                let entry = entry.with("definition", sighting.pin_state.word()).with("version", sighting.pin.version);
                self.record(entry, out);
            }
            out.push(Effect::Remember(Box::new(sighting)));
        }
    }

    /// An entry with nothing but when, what and where.
    fn entry(&self, now: Now, kind: Kind) -> Entry {
        let mut entry = Entry::new(now.wall, kind, &self.config.server, &self.config.session);
        entry.policy = Some(self.rules.policy.digest);
        if kind == Kind::Decision && !self.config.above.is_empty() {
            entry = entry.with("above", self.config.above.clone());
        }
        entry
    }

    /// Sends an entry to the log and gives its id.
    fn record(&mut self, entry: Entry, out: &mut Vec<Effect>) -> u64 {
        self.log.entries += 1;
        out.push(Effect::Record(self.log.entries, Box::new(entry)));
        self.log.entries
    }

    /// Asks to be woken by `at` at the latest.
    fn wake_by(&mut self, at: u64, out: &mut Vec<Effect>) {
        if at < self.clock.wake {
            self.clock.wake = at;
            out.push(Effect::WakeAt(at));
        }
    }

    /// The host's name and version, as this request or the handshake gave them.
    fn host_of<'a>(&'a self, call: &'a Call) -> Option<(&'a str, &'a str)> {
        match &call.meta().client {
            Some((name, version)) => Some((name, version)),
            None => self.host.lifecycle.host(),
        }
    }

    /// Whether a call that must be asked is denied instead, for want of a console.
    fn denies_unattended(&self) -> bool {
        self.config.unattended == Unattended::Deny && self.consoles.attached == 0
    }
}
