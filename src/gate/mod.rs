//! The core: `step(now, Event) -> Vec<Effect>`. Pure, synchronous, exhaustive; no clock, no async, no file, no terminal.
//!
//! `lines` sorts what comes from both ends, `call` has the steps of one call and the loop around them. What concerns many calls at
//! once is here: time that passes, descriptions that come, turns, the end of the host, the server or the wrapper. They work on the
//! rooms below: `held` (one call, and the table of all), `waiting` (what hosts were given meanwhile), `server` (what is known of the
//! server), `state` and `data` (what goes in and comes out).

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
mod stop;
pub mod waiting;

use std::sync::Arc;

use call::{card, judge};
use data::effect::Effect;
use data::event::{Event, Now, Side};
use data::pin::{PinState, Pins};
use data::report::{KnownTool, Status, WaitingCall};
use data::snapshot::Snapshot;
use deadline::GRACE;
use grants::Grants;
use held::out::Out;
use held::table::Calls;
use held::{Approved, Asking, Describing, Held, Next, Opening, Stage, StageKind, Verdict, Withdrawal, replies};
use lines::answer;
use server::catalog::Catalog;
use server::discovery::Discovery;
use server::flight::Flights;
use server::pages::ListReply;
use state::{DescribeQueue, Ends, Host, ListOutcome, Rules, ServerEnd, WrapperEnd};
use waiting::{Waiting, come_back, question};

use crate::audit::record::{NamedText, TextKind};
use crate::audit::{By, Kind, agreed};
use crate::policy::Policy;
use crate::signing::standing::LifeSign;
use crate::signing::{CardTerms, verdict::Spent};
use crate::wire::{Refusal, message};

pub use config::{Config, Discover, ForwardOrder, Mode, Polling, Unattended};

/// How many calls are described and judged in one step: until it is recorded, each takes many times its size in memory.
const AT_ONCE: usize = 64;

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
    /// What a host was shown of a list that it searches.
    discovery: Discovery,
    /// What follows from the current step.
    out: Out,
}

impl Gate {
    pub fn new(mut config: Config, policy: Arc<Policy>) -> Self {
        let (waiting, pins) = (Waiting::new(&config), std::mem::take(&mut config.pins));
        Self {
            catalog: Catalog::new(&config, pins),
            out: Out::new(&config, policy.digest),
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
            discovery: Discovery::default(),
        }
    }

    /// Takes one event; returns its effects, to be performed in order.
    #[must_use]
    pub fn step(&mut self, now: Now, event: Event) -> Vec<Effect> {
        self.out.begin(now);
        self.watch_stops(self.rules.policy.life);
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
            Event::PolicyChanged(policy) => {
                // What the new policy freezes is frozen before it lets anything pass, and what it frees only after.
                let life = policy.life;
                self.watch_stops(life.max(self.rules.policy.life));
                self.on_policy_changed(policy);
                self.watch_stops(life);
            }
            Event::Standing(standing) => {
                self.rules.stops.take(*standing, now);
                self.watch_stops(self.rules.policy.life);
            }
            Event::PolicyAccepted { file, digest, operator, signature } => {
                self.on_policy_accepted((file, digest), &operator, signature);
            }
            Event::Granted(word, terms, signature) => self.on_granted(&word, terms, signature),
            Event::Pinned(word, says, signature) => self.on_pinned(&word, says, signature),
            Event::GrantEnded { grant, operator } => self.on_grant_ended(&grant, &operator),
            Event::Facts { ticket, look, found } => self.on_facts(&ticket, look, found),
            Event::Consulted { ticket, consult, opinions } => {
                self.on_consulted(&ticket, consult, opinions);
            }
            Event::Reviewed(pins) => self.on_reviewed(*pins),
            Event::Woke => self.on_woke(),
            Event::Attached { who, attached } => self.on_consoles(Kind::Attach, &who, attached),
            Event::Detached { who, attached } => self.on_consoles(Kind::Detach, &who, attached),
            Event::Desks { who, desks } => self.on_desks(&who, desks),
            Event::Intruded { what } => self.on_fault("turned away from the console's socket", what),
            Event::NoticeFailed { why } => self.on_fault("the program of [notify] failed", why),
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
        self.answer_searches();
        self.answer_ready();
        self.remember();
        let form = question::next(self.context(), &self.waiting);
        come_back::ask_user(form, &mut self.waiting, &mut self.calls, &mut self.out);
        if self.host.gone.is_some() && self.is_quiet() {
            self.out.close(Side::Server);
        }
        self.out.take()
    }

    /// The server and the session that entries of the log name.
    pub fn names(&self) -> (Arc<str>, Arc<str>) {
        let heading = &self.out.heading;
        (Arc::clone(&heading.server), Arc::clone(&heading.session))
    }

    pub fn status(&self) -> Status {
        status::status(self.context())
    }

    pub fn tools(&self) -> Vec<KnownTool> {
        status::tools(&self.catalog)
    }

    /// Rises whenever [`Self::tools`] may have changed; 0 before anything is known.
    pub fn tools_version(&self) -> u64 {
        self.catalog.version()
    }

    pub fn snapshots(&self) -> Vec<Snapshot> {
        status::snapshots(self.context())
    }

    /// What a signature on this card of a call that waits must cover, also where the policy asks for none.
    pub fn terms(&self, card: &Snapshot) -> Option<CardTerms> {
        status::terms(self.context(), card)
    }

    /// The same calls in few words.
    pub fn waiting(&self) -> Vec<WaitingCall> {
        status::waiting(self.context())
    }

    /// Every call that approvers are asked about now, in few words.
    pub fn consulted(&self) -> Vec<WaitingCall> {
        status::consulted(self.context())
    }

    /// Whether a step left work for the next one: a list to parse, or calls to judge. Send [`Event::GoOn`].
    pub fn has_work_left(&self) -> bool {
        self.catalog.has_unparsed_lists() || self.describe_queue.is_some()
    }

    /// Whether a list of tools was relayed that is not read to its end: because there is more work, or no pins yet.
    pub fn is_reading_lists(&self) -> bool {
        self.catalog.is_reading()
    }

    /// Whether nothing is held, and nothing waits for the log or for the server's list.
    pub fn is_quiet(&self) -> bool {
        self.calls.is_empty() && self.discovery.is_empty()
    }

    fn on_started(&mut self, server: Arc<str>, command: &[String], pid: u32) {
        self.out.heading.server = Arc::clone(&server);
        self.config.server = server;
        self.out.secrets.learn_command(command);
        let mut entry = self.out.entry(Kind::ServerStart).with("command", command.to_vec()).with("pid", pid);
        entry.add("mode", (self.config.mode == Mode::Observe).then_some("observe"));
        entry.add("scope", self.config.scope.words());
        entry.add("above", Some(self.config.above.clone()).filter(|above| !above.is_empty()));
        self.out.record(entry);
        stop::begin_records(&mut self.rules.stops, &mut self.out);
    }

    /// Looks whether calls are frozen now; where that has changed, those that wait follow and are judged again.
    fn watch_stops(&mut self, required: LifeSign) {
        if !stop::has_changed(&mut self.rules, required, &mut self.out) {
            return;
        }
        let is_frozen = self.rules.stops.frozen.is_some();
        if !is_frozen {
            // What passes now is not put before the operator again.
            self.rejudge();
        }
        for number in self.calls.waiting::<Asking>() {
            if let Some(held) = self.calls.held_mut::<Asking>(number) {
                stop::follow(&self.rules.stops, held, &mut self.waiting, &self.host, &mut self.out);
                self.show_again(number);
            }
        }
        if is_frozen {
            self.rejudge();
        }
    }

    fn on_consoles(&mut self, kind: Kind, who: &str, attached: usize) {
        self.out.attached = attached;
        self.out.record(self.out.entry(kind).with("operator", who).with("attached", attached));
    }

    fn on_desks(&mut self, who: &str, desks: usize) {
        let kind = if desks > self.out.desks { Kind::Attach } else { Kind::Detach };
        self.out.desks = desks;
        self.out.record(self.out.entry(kind).with("operator", who).with("desks", desks));
    }

    fn on_fault(&mut self, what: &'static str, reason: String) {
        self.out.record(self.out.fault(what, None).with("reason", reason));
    }

    /// Has new and changed definitions remembered; a change is also recorded.
    fn remember(&mut self) {
        for update in self.catalog.take_pin_updates() {
            if update.pin_state != PinState::Trusted {
                let mut entry = self.out.entry(Kind::Tools);
                entry.tool = Some(update.tool.name.as_str().into());
                entry.digest = Some(update.pin.latest);
                entry.names = Some(NamedText::new(TextKind::Definition, update.tool.canonical()));
                self.out.record(entry.with("definition", update.pin_state.word()).with("version", update.pin.version));
            }
            self.out.push(Effect::Remember(Box::new(update)));
        }
    }

    fn on_woke(&mut self) {
        self.out.woke();
        self.out.record_due();
        match self.host.gone {
            Some(since) if since + GRACE <= self.out.now.mono => self.host_long_gone(),
            Some(since) => self.out.wake_by(since + GRACE),
            None => {}
        }
        for number in self.calls.waiting::<Opening>() {
            if let Some((held, Opening)) = self.due(number) {
                let reply = replies::never_opened(&held.call);
                let verdict = Verdict::by(By::Expiry, None, "the server did not answer initialize");
                self.drive(Next::deny(held, None, verdict, reply));
            }
        }
        self.expire_looks();
        self.prune_grants();
        if self.catalog.expire(self.out.now) {
            self.describe_waiting(ListOutcome::NoList);
        }
        for number in self.calls.waiting::<Asking>() {
            self.expire(number);
        }
        self.expire_turns();
        come_back::end_due(&mut self.waiting, &mut self.calls, &mut self.out);
        for (number, why) in self.waiting.expire(self.out.now.mono) {
            self.withdraw(number, why);
        }
        self.out.wake_by(self.waiting.wake_at());
        come_back::send(&self.waiting, &mut self.calls, &mut self.out);
        self.out.wake_by(self.catalog.wake_at());
        self.out.wake_by(self.rules.stops.ends(self.rules.policy.life));
    }

    /// Denies calls that have waited too long for a look, for the approvers or for the pins.
    fn expire_looks(&mut self) {
        let is_ready = self.catalog.is_ready();
        let waits = |stage: &Stage| {
            // Once the pins are read, our own question to the server has its own time limit.
            matches!(stage, Stage::Looking(_) | Stage::Consulting(_) | Stage::Approving(_))
                || !is_ready && matches!(stage, Stage::Describing(_))
        };
        for number in self.calls.numbers(waits) {
            let Some((held, stage)) = self.due::<Stage>(number) else { continue };
            let reply = replies::expired(&held.call, &self.config.console, self.out.waited_s(&held));
            let reason = if let Stage::Consulting(_) = &stage {
                "its approvers did not answer in time"
            } else if let Stage::Describing(_) = &stage {
                "what is remembered of this server could not be read in time"
            } else {
                "what it would touch could not be looked at in time"
            };
            self.drive(Next::deny(held, stage.judged(), Verdict::by(By::Expiry, None, reason), reply));
        }
    }

    fn expire(&mut self, number: u64) {
        if let Some((held, asking)) = self.due::<Asking>(number) {
            let waited_s = self.out.waited_s(&held);
            let rule = asking.case.judged.ruling.rule.clone();
            let (why, reply) = match &self.rules.stops.frozen {
                Some(frozen) => (
                    format!("its host would not wait longer, and {}", frozen.says),
                    replies::frozen(&held.call, &frozen.says),
                ),
                None => (
                    format!("no operator answered within {waited_s} s"),
                    replies::expired(&held.call, &self.config.console, waited_s),
                ),
            };
            let verdict = Verdict::by(By::Expiry, rule, why);
            self.drive(Next::deny(held, Some(asking.case.judged), verdict, reply));
        }
    }

    fn expire_turns(&mut self) {
        for number in self.calls.waiting::<Approved>() {
            let is_away = self.calls.get::<Approved>(number).is_some_and(|(held, _)| held.wait.away.is_some());
            if let Some((held, Approved { approval, .. })) = self.due(number) {
                let earlier = self
                    .context()
                    .runs_after(&held)
                    .map_or_else(|| "an earlier call".into(), |held| held.ticket.clone());
                let reply = replies::out_of_turn(&held.call, &earlier);
                let why = if is_away {
                    "the host did not come back for it".to_owned()
                } else {
                    format!("{earlier} was sent before it and still waits")
                };
                self.drive(Next::stop(held, approval.case.judged, (By::Expiry, why), reply));
            }
        }
    }

    /// Takes a call whose deadline has come; for any other, asks to be woken at its deadline.
    fn due<S: StageKind>(&mut self, number: u64) -> Option<(Held, S)> {
        let deadline = self.calls.get::<S>(number)?.0.deadline;
        if deadline > self.out.now.mono {
            self.out.wake_by(deadline);
            return None;
        }
        self.calls.take(number)
    }

    fn on_go_on(&mut self) {
        if self.catalog.has_unparsed_lists() {
            self.parse_lists();
        } else {
            self.describe_slice();
        }
    }

    fn parse_lists(&mut self) {
        let reply = self.catalog.read(self.out.now);
        self.prune_grants();
        match reply {
            ListReply::Reading => {}
            ListReply::Relayed => self.describe_again(),
            ListReply::Page(page) => {
                answer::offer(page, &self.config, &self.catalog, &mut self.discovery, &mut self.out);
                if self.context().search_profiles().is_none() && self.discovery.take_withdrawn() {
                    // The server has a tool of that name on a later page: the pages before are due whole.
                    answer::tell_list_changed(&self.host, &mut self.out);
                }
                self.describe_again();
            }
            ListReply::More(question) => self.out.push(Effect::WriteToServer(question)),
            // Every call that waited for the list is judged, or denied if its tool is missing.
            ListReply::Fresh => self.describe_waiting(ListOutcome::Given),
            ListReply::Failed => self.describe_waiting(ListOutcome::NoList),
        }
    }

    /// The pins of the server were read: the calls that waited for them are described and judged.
    fn on_reviewed(&mut self, pins: Pins) {
        let was_ready = self.catalog.is_ready();
        let news: Vec<_> = pins.unproven.iter().filter(|one| !self.catalog.unproven().contains(one)).collect();
        for one in news {
            self.out.record(self.out.fault(format!("an agreement without its record: {one}"), None));
        }
        for one in &pins.lapsed {
            let entry = self.out.entry(Kind::Agreed);
            self.out
                .record(agreed::taken_back(entry, one, &pins.fingerprint, "it lapsed: it was not used for 90 days"));
        }
        self.catalog.repin(self.out.now, pins);
        if was_ready {
            // The operator may have accepted or refused a definition: the calls that wait are judged again.
            return self.rejudge();
        }
        self.describe_again();
    }

    /// More is known: the calls that waited for it are described and judged, unless we have asked the server, or a list that
    /// came in the meantime is still to be read.
    fn describe_again(&mut self) {
        // The calls that are being judged by the server's answer go first; the others follow when those are done.
        let is_by_answer = self.describe_queue.as_ref().is_some_and(|queue| queue.outcome != ListOutcome::NotAsked);
        if self.catalog.is_asking() || self.catalog.is_reading() || is_by_answer {
            return;
        }
        self.describe_waiting(ListOutcome::NotAsked);
    }

    fn describe_waiting(&mut self, outcome: ListOutcome) {
        let calls = self.calls.waiting::<Describing>();
        if let (Some(first), Some(last)) = (calls.first(), calls.last()) {
            self.describe_queue = Some(DescribeQueue { outcome, from: *first, to: *last });
            self.describe_slice();
        }
    }

    /// Describes and judges the next calls of those that waited. Calls that came later follow: calls keep their order.
    fn describe_slice(&mut self) {
        let Some(DescribeQueue { outcome, from, to }) = self.describe_queue.take() else { return };
        if outcome != ListOutcome::NotAsked && (self.catalog.is_asking() || self.catalog.is_reading()) {
            // A newer list is on its way: the waiting calls are judged by that one.
            return;
        }
        let mut calls = self.calls.waiting::<Describing>();
        calls.retain(|number| (from..=to).contains(number));
        let rest = calls.split_off(calls.len().min(AT_ONCE));
        for number in calls {
            if let Some((held, waits)) = self.calls.take::<Describing>(number) {
                self.drive(judge::by_answer(self.context(), outcome, held, waits));
            }
        }
        self.describe_queue = match rest.first() {
            Some(next) => Some(DescribeQueue { outcome, from: *next, to }),
            None if self.catalog.is_asking() || self.catalog.is_reading() => None,
            // Calls that began to wait meanwhile, older ones too, waited only for these to be done.
            None => {
                let left = self.calls.waiting::<Describing>();
                let ends = left.first().zip(left.last());
                ends.map(|(first, last)| DescribeQueue { outcome: ListOutcome::NotAsked, from: *first, to: *last })
            }
        };
    }

    /// Takes up the calls that came before the server had answered `initialize`: scripts write everything at once.
    fn early_calls(&mut self) {
        if self.host.lifecycle.is_pending() {
            return;
        }
        for number in self.calls.waiting::<Opening>() {
            let Some((held, Opening)) = self.calls.take(number) else { continue };
            self.drive(judge::opened(self.context(), held));
        }
    }

    /// Calls have ended: those behind them run, or their cards say what they wait for now.
    fn take_turns(&mut self) {
        if self.config.order == ForwardOrder::Decided {
            return self.calls.forget_left();
        }
        let left = self.calls.left();
        if left.is_empty() {
            return;
        }
        for number in left {
            let next = self.calls.first_from(number).and_then(|next| self.calls.get::<Asking>(next));
            if let Some((held, asking)) = next {
                let card = card::snapshot(self.context(), held, &asking.case.judged);
                self.out.push(Effect::Ask(Box::new(card)));
            }
        }
        while let Some(first) = self.calls.first_from(0)
            && let Some((held, approved)) = self.calls.take_if::<Approved>(first, |held, _| held.wait.away.is_none())
        {
            self.resume(held, approved);
        }
        self.take_turns();
    }

    /// The host is gone: what waits for the operator is withdrawn. Earlier decisions still count, and the policy still
    /// decides on calls that need no operator: a script may close the pipe right after its last line.
    fn on_host_closed(&mut self) {
        self.host.gone = Some(self.out.now.mono);
        for number in self.calls.waiting::<Asking>() {
            self.withdraw(number, Withdrawal::HostGone);
        }
        for number in self.calls.waiting::<Approved>() {
            // Its host cannot come back for it.
            let is_gone = |(held, _): (&Held, &Approved)| held.wait.away.is_some() || held.wait.task.is_some();
            if self.calls.get::<Approved>(number).is_some_and(is_gone) {
                self.withdraw(number, Withdrawal::HostGone);
            }
        }
        self.out.wake_by(self.out.now.mono + GRACE);
    }

    /// The host has been gone for long enough: what still waits for a description or the log is withdrawn.
    fn host_long_gone(&mut self) {
        for number in self.calls.numbers(|stage| !matches!(stage, Stage::Withdrawn(_))) {
            self.withdraw(number, Withdrawal::HostGone);
        }
        self.out.close(Side::Server);
    }

    /// The wrapper stops: what waits is withdrawn and answered while the host's pipe lives.
    fn on_shutdown(&mut self, why: &str) {
        self.ends.wrapper = WrapperEnd::Stops { why: why.to_owned() };
        for number in self.calls.waiting::<Stage>() {
            self.withdraw(number, Withdrawal::Stopping);
        }
        self.out.close(Side::Server);
    }

    /// The server reads nothing more: what waits did not run, and nothing more will. What it still writes is relayed.
    fn on_server_input_closed(&mut self, how: String) {
        if let ServerEnd::Open = self.ends.server {
            if self.host.gone.is_none() && self.ends.wrapper == WrapperEnd::Runs {
                self.out.status.ended = Some(how.clone());
            }
            self.ends.server = ServerEnd::InputClosed { how };
            self.host.lifecycle.close();
            for number in self.calls.waiting::<Stage>() {
                self.withdraw(number, Withdrawal::ServerGone);
            }
        }
    }

    /// The server is gone: what waits did not run, what ran has an unknown outcome.
    fn on_server_closed(&mut self, how: &str) {
        self.on_server_input_closed(how.to_owned());
        // The reason that counts is why nothing more was written to the server, which comes before its end.
        let reason = match std::mem::take(&mut self.ends.server) {
            ServerEnd::Open => how.to_owned(),
            ServerEnd::InputClosed { how: reason } => reason,
            ended @ ServerEnd::Ended { .. } => {
                self.ends.server = ended;
                return;
            }
        };
        self.ends.server = ServerEnd::Ended { how: reason.clone() };
        // A page of tools that the host does not have yet is still due to it.
        while self.catalog.cuts_pages() && self.catalog.has_unparsed_lists() {
            self.parse_lists();
        }
        answer::lost(how, &mut self.flights, &mut self.waiting, &mut self.out);
        self.out.record_counted();
        let mut entry = self.out.entry(Kind::ServerEnd).with("how", how);
        // Why we ended the server, if it did not end by itself.
        if let WrapperEnd::Stops { why } = &self.ends.wrapper {
            entry = entry.with("reason", format!("mcp-approve was stopped by {why}"));
        } else if reason != how {
            entry = entry.with("reason", reason);
        }
        self.out.record(entry);
        self.out.close(Side::Host);
    }
}
