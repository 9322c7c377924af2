//! The heart: `step(now, Event) -> Vec<Effect>`. Pure, synchronous, exhaustive; no clock, no async, no file, no terminal.
//!
//! Reading order: `event`, `effect`, `token`; then `pass` (a line from the host), `hold` (a call), `operator`, `decide`
//! (a verdict and its record), `answer` (a line from the server), `wake` (time), `ending` (withdrawals, the two ends).

pub mod call;
pub mod data;
pub mod grants;
pub mod server;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use call::ask::OperatorWord;
use call::card::known_tool;
use call::held::{Stage, Table};
use call::judged::BeforeTool;
use call::refusals::Refusals;
use call::roots::DeclaredRoots;
use data::effect::Effect;
use data::event::{Event, Now, Side};
use data::opinion::Approver;
use data::pin::{PinState, Pins};
use data::report::{KnownTool, Status};
use data::snapshot::Snapshot;
use grants::Grants;
use server::catalog::Catalog;
use server::flight::Flights;

use crate::audit::record::{Entry, Kind};
use crate::behavior::conclude::Trust;
use crate::behavior::expected::Expected;
use crate::capability::scope::Scope;
use crate::mcp::lifecycle::Lifecycle;
use crate::policy::rate::Recent;
use crate::wire::call::Call;
use crate::wire::digest::Digest;
use crate::wire::id::Id;
use crate::wire::line::Line;

/// What happens to a call that must be asked while no console is attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unattended {
    /// It waits for one, until its deadline.
    #[default]
    Wait,
    /// It is denied at once.
    Deny,
}

/// Whether questions are asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// They are.
    #[default]
    Enforce,
    /// They are recorded and let pass (`--observe`); denials still hold.
    Observe,
}

/// What a gate is told once. Times are microseconds.
#[derive(Clone, Debug)]
pub struct Config {
    pub server: Arc<str>,
    /// One run of one wrapper; also what its tokens are bound to.
    pub session: Arc<str>,
    /// Chance, for the ids of our own requests.
    pub nonce: Arc<str>,
    pub approval_timeout: u64,
    pub host_timeout: Option<u64>,
    pub unattended: Unattended,
    pub mode: Mode,
    pub trust: Trust,
    pub scope: Scope,
    /// Callbacks that are asked about each call they are for.
    pub approvers: Vec<Approver>,
    /// What is remembered of this server from before; it moves into the catalog.
    pub pins: Pins,
    /// What the task expects of every call.
    pub expected: Option<Expected>,
}

/// The state of one wrapper.
pub struct Gate {
    config: Config,
    before_tool: BeforeTool,
    policy_digest: Option<Digest>,
    policy_banner: Option<String>,
    lifecycle: Lifecycle,
    catalog: Catalog,
    /// The host's unanswered requests that are no calls.
    plain_ids: HashSet<Id>,
    /// Lists the host has read already, still to be learnt from.
    unparsed_lists: VecDeque<(Id, Line)>,
    held: Table,
    flights: Flights,
    grants: Grants,
    /// The calls approved lately, for rules with a rate.
    recent: Recent,
    /// Ids of entries given out so far.
    entries: u64,
    /// Look-ups asked for so far.
    looks: u64,
    attached: usize,
    status: Status,
    /// The log's trouble, until an entry gets through again.
    log_trouble: Option<Arc<str>>,
    wake: u64,
    /// The latest time of day that was seen, in milliseconds.
    latest: i64,
    /// Since when (monotonic microseconds) nobody sends any more.
    host_gone: Option<u64>,
    /// How the server ended, or why it takes nothing more.
    server_gone: Option<String>,
    server_ended: bool,
    /// The wrapper was told to stop.
    stopping: bool,
    host_recorded: bool,
    refusals: Refusals,
    /// The folders that the host declared to the server.
    roots: DeclaredRoots,
}

impl Gate {
    /// A gate that has seen nothing yet.
    pub fn new(mut config: Config, before_tool: BeforeTool) -> Self {
        let pins = std::mem::take(&mut config.pins);
        let mut gate = Self {
            catalog: Catalog::new(config.trust, pins, Arc::clone(&config.nonce)),
            config,
            before_tool: BeforeTool::Unregistered,
            policy_digest: None,
            policy_banner: None,
            lifecycle: Lifecycle::default(),
            plain_ids: HashSet::new(),
            unparsed_lists: VecDeque::new(),
            held: Table::default(),
            flights: Flights::default(),
            grants: Grants::default(),
            recent: Recent::default(),
            entries: 0,
            looks: 0,
            attached: 0,
            status: Status::default(),
            log_trouble: None,
            wake: u64::MAX,
            latest: i64::MIN,
            host_gone: None,
            server_gone: None,
            server_ended: false,
            stopping: false,
            host_recorded: false,
            refusals: Refusals::default(),
            roots: DeclaredRoots::default(),
        };
        gate.register(before_tool);
        gate
    }

    /// Takes one event; its consequences come out, to be performed in order.
    #[must_use]
    pub fn step(&mut self, now: Now, event: Event) -> Vec<Effect> {
        let mut out = Vec::new();
        self.latest = self.latest.max(now.wall);
        match event {
            Event::Started { server, command, pid } => self.on_started(now, server, &command, pid, &mut out),
            Event::HostLine(line) => self.on_host_line(now, line, &mut out),
            Event::HostOverlong { head, bytes, cap } => self.on_host_overlong(now, &head, bytes, cap, &mut out),
            Event::HostPartial { bytes } => self.on_host_partial(now, bytes, &mut out),
            Event::ServerLine(line) => self.on_server_line(now, line, &mut out),
            Event::ServerStreamed { gist, bytes, digest } => {
                self.on_server_streamed(now, &gist, bytes, digest, &mut out)
            }
            Event::Decided { ticket, digest, verdict, who, console } => {
                self.on_decided(now, OperatorWord { ticket, digest, who, console }, verdict, &mut out);
            }
            Event::Edited { ticket, digest, arguments, who, console } => {
                self.on_edited(now, &OperatorWord { ticket, digest, who, console }, &arguments, &mut out);
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
            Event::Closed { side: Side::Server, how } => self.on_server_closed(now, how, &mut out),
            Event::Shutdown { why } => self.on_shutdown(now, &why, &mut out),
        }
        self.remember(now, &mut out);
        out
    }

    /// How the wrapper stands.
    pub fn status(&self) -> Status {
        let mut status = self.status.clone();
        status.waiting = self.held.iter().filter(|held| matches!(held.stage, Stage::Asking { .. })).count() as u64;
        status.phase = self.lifecycle.phase().to_owned();
        if let Some(revision) = self.lifecycle.revision() {
            status.era = revision.text().to_owned();
        }
        status.host = self.lifecycle.host().map(|(name, version)| format!("{name} {version}"));
        status.grants = self.grants.cards();
        if let BeforeTool::Policy(policy) = &self.before_tool {
            status.pending.clone_from(&policy.pending);
        }
        status.banner = match &self.log_trouble {
            Some(why) => Some(format!("the log cannot be written, so nothing runs: {why}")),
            None => self.policy_banner.clone(),
        };
        status
    }

    /// The tools that the server has described, by name; of more than 2,000 some.
    pub fn tools(&self) -> Vec<KnownTool> {
        let mut tools: Vec<_> = self.catalog.known().take(2_000).map(known_tool).collect();
        tools.sort_by(|a, b| a.tool.cmp(&b.tool));
        tools
    }

    /// Rises whenever [`Self::tools`] may have changed; 0 before anything is known.
    pub fn tools_version(&self) -> u64 {
        self.catalog.version()
    }

    /// Every call that waits for an operator, oldest first: for a console that attaches.
    pub fn snapshots(&self) -> Vec<Snapshot> {
        self.held.iter().filter_map(|held| self.snapshot(held)).collect()
    }

    /// Whether there is a list to learn from, now that the host has it: send [`Event::ParseLists`].
    pub fn has_unparsed_lists(&self) -> bool {
        !self.unparsed_lists.is_empty() && self.catalog.is_ready()
    }

    /// Whether a line of the server with this id must not reach the host: an answer to our own question, or to a call
    /// that never reached the server.
    pub fn keeps_back(&self, id: &Id) -> bool {
        self.catalog.is_ours(id) || self.held.by_id(id).is_some()
    }

    /// Up to how many bytes the next long line of the server should be buffered whole, rather than streamed.
    pub fn wants_whole(&self) -> usize {
        const LIST: usize = 64 << 20;
        const CHECKED: usize = 1 << 20;
        if self.catalog.is_listening() {
            LIST
        } else if self.lifecycle.is_pending() || self.flights.wants_whole_answers() {
            CHECKED
        } else {
            0
        }
    }

    /// Whether nothing is held and nothing waits for the log.
    pub fn is_quiet(&self) -> bool {
        self.held.is_empty()
    }

    fn register(&mut self, before_tool: BeforeTool) {
        if let BeforeTool::Policy(policy) = &before_tool {
            self.policy_digest = Some(policy.digest);
            self.policy_banner.clone_from(&policy.banner);
        }
        self.before_tool = before_tool;
    }

    fn on_started(&mut self, now: Now, server: Arc<str>, command: &[String], pid: u32, out: &mut Vec<Effect>) {
        self.config.server = server;
        let mut entry = self.entry(now, Kind::ServerStart).with("command", command.to_vec()).with("pid", pid);
        if self.config.mode == Mode::Observe {
            entry = entry.with("mode", "observe");
        }
        self.record(entry, out);
    }

    /// Hands out definitions that are new or changed; a change is a fact for the log.
    fn remember(&mut self, now: Now, out: &mut Vec<Effect>) {
        for sighting in self.catalog.news() {
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

    fn on_consoles(&mut self, now: Now, kind: Kind, who: &str, attached: usize, out: &mut Vec<Effect>) {
        self.attached = attached;
        let entry = self.entry(now, kind).with("operator", who).with("attached", attached);
        self.record(entry, out);
    }

    /// Appends to the log and gives the entry's id.
    fn record(&mut self, entry: Entry, out: &mut Vec<Effect>) -> u64 {
        self.entries += 1;
        out.push(Effect::Record(self.entries, Box::new(entry)));
        self.entries
    }

    /// Asks to be woken by `at` at the latest.
    fn wake_by(&mut self, at: u64, out: &mut Vec<Effect>) {
        if at < self.wake {
            self.wake = at;
            out.push(Effect::WakeAt(at));
        }
    }

    /// The host's name and version, as this request or the handshake gave them.
    fn host_of<'a>(&'a self, call: &'a Call) -> Option<(&'a str, &'a str)> {
        match &call.meta().client {
            Some((name, version)) => Some((name, version)),
            None => self.lifecycle.host(),
        }
    }
}
