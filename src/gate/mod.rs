//! The core: `step(now, Event) -> Vec<Effect>`. Pure, synchronous, exhaustive; no clock, no async, no file, no terminal.
//!
//! `data` is what goes in and comes out, `call` follows one call in the order it lives, `server` is what is known of
//! the server and what it answers. The rest concerns all calls at once: rules, grants, the two ends of the pipe, time.

#![warn(clippy::wildcard_enum_match_arm, clippy::indexing_slicing)]

pub mod call;
pub mod config;
pub mod data;
pub mod deadline;
pub mod grants;
pub mod held;
pub mod server;
pub mod state;
pub mod status;
pub mod sweep;
pub mod waiting;

use std::sync::Arc;

pub use config::{Config, ForwardOrder, Mode, Polling, Unattended};
use data::effect::Effect;
use data::event::{Event, Now, Side};
use data::pin::PinState;
use grants::Grants;
use held::log::Log;
use held::out::{Heading, Out};
use held::table::Calls;
use server::catalog::Catalog;
use server::flight::Flights;
use state::{DescribeQueue, Ends, Host, Rules};
use waiting::returns::{Elicited, Returns};
use waiting::tasks::Tasks;

use crate::audit::record::Kind;
use crate::policy::rule::Policy;
use crate::wire::message::{self, Refusal};

/// The state of one wrapper.
pub struct Gate {
    config: Config,
    rules: Rules,
    log: Log,
    ends: Ends,
    host: Host,
    catalog: Catalog,
    calls: Calls,
    flights: Flights,
    grants: Grants,
    returns: Returns,
    tasks: Tasks,
    elicited: Elicited,
    /// The waiting calls that are being described, slice by slice.
    describe_queue: Option<DescribeQueue>,
    /// What follows from the current step.
    out: Out,
}

impl Gate {
    /// A gate that has seen nothing yet.
    pub fn new(mut config: Config, policy: Arc<Policy>) -> Self {
        let pins = std::mem::take(&mut config.pins);
        Self {
            elicited: Elicited::new(&config.secret),
            catalog: Catalog::new(config.trust, pins, Arc::clone(&config.nonce), (&config.server, &config.scope)),
            out: Out::new(Heading {
                server: Arc::clone(&config.server),
                session: Arc::clone(&config.session),
                policy: policy.digest,
                above: config.above.clone(),
            }),
            config,
            rules: Rules::new(policy),
            log: Log::default(),
            ends: Ends::default(),
            host: Host::default(),
            calls: Calls::default(),
            flights: Flights::default(),
            grants: Grants::default(),
            returns: Returns::default(),
            tasks: Tasks::default(),
            describe_queue: None,
        }
    }

    /// Takes back the emptied list of effects, so that the next step need not allocate.
    pub fn reuse(&mut self, effects: Vec<Effect>) {
        self.out.reuse(effects);
    }

    /// Takes one event; returns its effects, to be performed in order.
    #[must_use]
    pub fn step(&mut self, now: Now, event: Event) -> Vec<Effect> {
        self.out.begin(now);
        match event {
            Event::Started { server, command, pid } => self.on_started(server, &command, pid),
            Event::HostLine(line) => self.on_host_line(line),
            Event::HostOverlong { head, bytes, cap } => {
                self.log.refuse(&mut self.out, &message::overlong(&head, bytes, cap), None, bytes);
            }
            Event::HostPartial { bytes } => {
                self.log.refuse(
                    &mut self.out,
                    &Refusal::of("the host ended in the middle of a line", None, false),
                    None,
                    bytes,
                );
            }
            Event::ServerLine(line) => self.on_server_line(line),
            Event::ServerStreamed { gist, bytes, digest } => {
                self.on_server_streamed(&gist, bytes, digest);
            }
            Event::Decided(word, verdict) => self.on_decided(&word, verdict),
            Event::Edited { word, arguments } => self.on_edited(&word, &arguments),
            Event::Looked { ticket, digest } => self.on_looked(&ticket, digest),
            Event::Extended(word) => self.on_extended(&word),
            Event::Recorded(receipt) => self.on_recorded(receipt),
            Event::RecordFailed { entry, why } => self.on_record_failed(entry, why),
            Event::PolicyChanged(policy) => self.on_policy_changed(policy),
            Event::PolicyAccepted { file, digest, operator } => self.on_policy_accepted(file, digest, &operator),
            Event::Granted(word, terms) => self.on_granted(&word, terms),
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
        self.take_turns();
        self.remember();
        self.elicit();
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
}
