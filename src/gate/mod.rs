//! The core: `step(now, Event) -> Vec<Effect>`. Pure, synchronous, exhaustive; no clock, no async, no file, no terminal.
//!
//! `lines` sorts what comes from both ends, `call` has the steps of one call and the loop around them, `sweep` is what concerns
//! many calls at once. They work on the rooms below them: `held` (one call, and the table of all), `waiting` (what hosts were
//! given meanwhile), `server` (what is known of the server), `state` and `data` (what goes in and comes out).

#![warn(clippy::wildcard_enum_match_arm, clippy::indexing_slicing)]

pub mod call;
pub mod config;
pub mod data;
pub mod deadline;
pub mod grants;
pub mod held;
pub mod lines;
pub mod server;
pub mod state;
mod status;
pub mod sweep;
pub mod waiting;

use std::sync::Arc;

pub use config::{Config, ForwardOrder, Mode, Polling, Unattended};
use data::effect::Effect;
use data::event::{Event, Now, Side};
use data::pin::PinState;
use data::report::{KnownTool, Status, WaitingCall};
use data::snapshot::Snapshot;
use grants::Grants;
use held::out::{Heading, Out};
use held::table::Calls;
use lines::server as server_line;
use server::catalog::Catalog;
use server::flight::Flights;
use state::{DescribeQueue, Ends, Host, Rules};
use waiting::{Waiting, form};

use crate::audit::record::Kind;
use crate::policy::rule::Policy;
use crate::signing::verdict::Spent;
use crate::wire::message::{self, Gist, Refusal};

/// The state of one wrapper.
pub struct Gate {
    config: Config,
    rules: Rules,
    ends: Ends,
    host: Host,
    catalog: Catalog,
    calls: Calls,
    flights: Flights,
    grants: Grants,
    waiting: Waiting,
    /// The challenges of cards that were answered with a signature.
    spent: Spent,
    /// The waiting calls that are being described, slice by slice.
    describe_queue: Option<DescribeQueue>,
    /// What follows from the current step.
    out: Out,
}

impl Gate {
    /// A gate that has seen nothing yet.
    pub fn new(mut config: Config, policy: Arc<Policy>) -> Self {
        let (waiting, pins) = (Waiting::new(&config), std::mem::take(&mut config.pins));
        Self {
            catalog: Catalog::new(config.trust, pins, Arc::clone(&config.nonce), (&config.server, &config.scope)),
            out: Out::new(Heading {
                server: Arc::clone(&config.server),
                session: Arc::clone(&config.session),
                policy: policy.digest,
                above: config.above.clone(),
            }),
            config,
            rules: Rules::new(policy),
            ends: Ends::default(),
            host: Host::default(),
            calls: Calls::default(),
            flights: Flights::default(),
            grants: Grants::default(),
            waiting,
            spent: Spent::default(),
            describe_queue: None,
        }
    }

    /// Takes one event; returns its effects, to be performed in order.
    #[must_use]
    pub fn step(&mut self, now: Now, event: Event) -> Vec<Effect> {
        self.out.begin(now);
        let was_pending = self.host.lifecycle.is_pending();
        match event {
            Event::Started { server, command, pid } => self.on_started(server, &command, pid),
            Event::HostLine(line) => self.on_host_line(line),
            Event::HostOverlong { head, bytes, cap } => {
                self.out.refuse(&message::overlong(&head, bytes, cap), None, bytes);
            }
            Event::HostPartial { bytes } => {
                self.out.refuse(&Refusal::of("the host ended in the middle of a line", None, false), None, bytes);
            }
            Event::ServerLine(line) => self.on_server_line(line),
            Event::ServerStreamed { gist, bytes, digest } => {
                self.on_server_streamed(&gist, bytes, digest);
            }
            Event::Decided(word, verdict, signature) => self.on_decided(&word, verdict, signature),
            Event::Edited { word, arguments } => self.on_edited(&word, &arguments),
            Event::Looked { ticket, digest } => self.on_looked(&ticket, digest),
            Event::Extended(word) => self.on_extended(&word),
            Event::Recorded(receipt) => self.on_recorded(receipt),
            Event::RecordFailed { entry, why } => self.on_record_failed(entry, why),
            Event::PolicyChanged(policy) => self.on_policy_changed(policy),
            Event::PolicyAccepted { file, digest, operator } => self.on_policy_accepted(file, digest, &operator),
            Event::Granted(word, terms, signature) => self.on_granted(&word, terms, signature),
            Event::Pinned(word, says) => self.on_pinned(&word, says),
            Event::GrantEnded { grant, operator } => self.on_grant_ended(&grant, &operator),
            Event::Facts { ticket, look, found } => self.on_facts(&ticket, look, found),
            Event::Consulted { ticket, consult, opinions } => {
                self.on_consulted(&ticket, consult, opinions);
            }
            Event::Reviewed(pins) => self.on_reviewed(*pins),
            Event::Woke => self.on_woke(),
            Event::Attached { who, attached } => self.on_consoles(Kind::Attach, &who, attached),
            Event::Detached { who, attached } => self.on_consoles(Kind::Detach, &who, attached),
            Event::Intruded { what } => {
                let entry = self.out.fault("turned away from the console's socket", None);
                self.out.record(entry.with("reason", what));
            }
            Event::GoOn => self.on_go_on(),
            Event::ServerInputClosed { how } => self.on_server_input_closed(how),
            Event::Closed { side: Side::Host, .. } => self.on_host_closed(),
            Event::Closed { side: Side::Server, how } => self.on_server_closed(&how),
            Event::Shutdown { why } => self.on_shutdown(&why),
        }
        if was_pending && !self.host.lifecycle.is_pending() {
            self.early_calls();
        }
        self.take_turns();
        self.answer_ready();
        self.remember();
        let form = form::next(self.context(), &self.waiting);
        form::ask(form, &mut self.waiting, &mut self.calls, &mut self.out);
        if self.host.gone.is_some() && self.is_quiet() {
            self.out.close(Side::Server);
        }
        self.out.take()
    }

    fn on_started(&mut self, server: Arc<str>, command: &[String], pid: u32) {
        self.out.heading.server = Arc::clone(&server);
        self.config.server = server;
        let mut entry = self.out.entry(Kind::ServerStart).with("command", command.to_vec()).with("pid", pid);
        entry.add("mode", (self.config.mode == Mode::Observe).then_some("observe"));
        entry.add("scope", self.config.scope.words());
        entry.add("above", Some(self.config.above.clone()).filter(|above| !above.is_empty()));
        self.out.record(entry);
    }

    fn on_consoles(&mut self, kind: Kind, who: &str, attached: usize) {
        self.out.attached = attached;
        self.out.record(self.out.entry(kind).with("operator", who).with("attached", attached));
    }

    /// Has new and changed definitions remembered; a change is also recorded.
    fn remember(&mut self) {
        for update in self.catalog.take_pin_updates() {
            if update.pin_state != PinState::Trusted {
                let mut entry = self.out.entry(Kind::Tools);
                entry.tool = Some(update.tool.name.as_str().into());
                entry.digest = Some(update.pin.latest);
                self.out.record(entry.with("definition", update.pin_state.word()).with("version", update.pin.version));
            }
            self.out.push(Effect::Remember(Box::new(update)));
        }
    }

    /// The wrapper's state, as a console shows it.
    pub fn status(&self) -> Status {
        status::status(self.context())
    }

    /// The tools that the server has described, at most 2,000, by name.
    pub fn tools(&self) -> Vec<KnownTool> {
        status::tools(&self.catalog)
    }

    /// Rises whenever [`Self::tools`] may have changed; 0 before anything is known.
    pub fn tools_version(&self) -> u64 {
        self.catalog.version()
    }

    /// Every call that waits for an operator, oldest first: for a console that attaches.
    pub fn snapshots(&self) -> Vec<Snapshot> {
        status::snapshots(self.context())
    }

    /// The same calls in few words.
    pub fn waiting(&self) -> Vec<WaitingCall> {
        status::waiting(self.context())
    }

    /// Every call that approvers are asked about now, in few words.
    pub fn consulted(&self) -> Vec<WaitingCall> {
        status::consulted(self.context())
    }

    /// Whether a step left work for the next one: a list to parse, now that the host has it, or calls to judge. Send
    /// [`Event::GoOn`].
    pub fn has_work_left(&self) -> bool {
        self.catalog.has_unparsed_lists() || self.describe_queue.is_some()
    }

    /// Whether a line of the server must not reach the host.
    pub fn keeps_back(&self, gist: &Gist) -> bool {
        server_line::keeps_back(gist, self.context(), &self.waiting)
    }

    /// Whether a line that is too long to be held reaches the host.
    pub fn streams(&self, gist: &Gist) -> bool {
        server_line::streams(gist, self.context(), &self.waiting)
    }

    /// Up to how many bytes the next long line of the server should be buffered whole, rather than streamed.
    pub fn wants_whole(&self) -> usize {
        server_line::wants_whole(self.context(), &self.waiting)
    }

    /// Whether nothing is held and nothing waits for the log.
    pub fn is_quiet(&self) -> bool {
        self.calls.is_empty()
    }
}
