//! A call arrives: it is held, described, judged, and then decided or put before the operator.

use std::sync::Arc;

use crate::audit::record::{By, Kind, VerdictWord};
use crate::capability::scope::InScope;
use crate::gate::call::arrive::duplicate;
use crate::gate::call::deadline::{self, HEARTBEAT};
use crate::gate::call::held::{Arrival, Beat, Held, Stage, Verdict, Withdrawal};
use crate::gate::call::judged::{self, Seen};
use crate::gate::call::replies;
use crate::gate::data::effect::Effect;
use crate::gate::data::event::Now;
use crate::gate::data::facts::Look;
use crate::gate::data::pin::Pins;
use crate::gate::data::report::{ActivityKind, Direction};
use crate::gate::server::catalog::Described;
use crate::gate::server::catalog::Known;
use crate::gate::{Gate, Mode, Unattended};
use crate::mcp::lifecycle::{InSession, Phase};
use crate::mcp::revision::Revision;
use crate::policy::rule::Decision;
use crate::wire::call::Call;
use crate::wire::line::Line;

impl Gate {
    /// A call: held from here on, until a decision exists.
    pub(in crate::gate) fn call(&mut self, now: Now, call: Box<Call>, out: &mut Vec<Effect>) {
        if self.is_live(call.id()) || self.plain_ids.contains(call.id()) {
            let bytes = call.line().content().len() as u64;
            self.refuse(now, &duplicate(call.id().clone()), Some(call.digest()), bytes, out);
            return;
        }
        self.status.calls += 1;
        if call.is_modern() {
            self.status.era = Revision::V2026_07_28.text().to_owned();
        }
        if self.stopping {
            return self.deny_unheld(now, &call, By::Shutdown, "the wrapper stops", replies::stopping(&call), out);
        }
        let session = match self.lifecycle.call(&call) {
            Ok(session) => Some(session),
            Err(Phase::Closed) => {
                return self.deny_unheld(now, &call, By::Fault, "the session is closed", replies::closed(&call), out);
            }
            Err(Phase::Opening | Phase::Initializing) if self.lifecycle.is_pending() => None,
            Err(phase @ (Phase::Opening | Phase::Initializing)) => {
                let reply = replies::wrong_phase(&call, self.lifecycle.phase(), &phase);
                return self.deny_unheld(now, &call, By::Fault, &phase.to_string(), reply, out);
            }
        };
        let Some(scope) = self.config.scope.admit(call.name()) else {
            let reply = replies::out_of_scope(&call);
            return self.deny_unheld(now, &call, By::Scope, "the tool lies outside the scope", reply, out);
        };
        if self.held.is_full(call.line().bytes().len()) {
            let reply = replies::too_many(&call);
            return self.deny_unheld(now, &call, By::Fault, "too many calls wait", reply, out);
        }
        let is_open = session.is_some();
        let number = self.hold(now, call, session, scope, out);
        if is_open {
            self.describe(now, number, out);
        }
    }

    /// What is remembered is here: the calls that waited for it are described and judged.
    pub(in crate::gate) fn on_reviewed(&mut self, now: Now, pins: Pins, out: &mut Vec<Effect>) {
        let was_ready = self.catalog.is_ready();
        self.catalog.repin(now, pins);
        if was_ready {
            // A definition that was accepted or refused elsewhere is another thing to the calls that wait.
            return self.rejudge(now, out);
        }
        // The lists that came in the meantime may describe what is called.
        while let Some((id, line)) = self.unparsed_lists.pop_front() {
            let _ = self.catalog.hear(now, &id, false, line.content());
        }
        for number in self.held.numbers(|held| matches!(held.stage, Stage::Describing)) {
            self.describe(now, number, out);
        }
    }

    /// Finds out what is called, and judges it; asks the server first where that is not known.
    fn describe(&mut self, now: Now, number: u64, out: &mut Vec<Effect>) {
        if !self.catalog.is_ready() {
            return;
        }
        let found = self.held.get(number).map(|held| self.catalog.find(held.call.name()));
        match found {
            Some(Known::Yes(described)) => self.judge(now, number, Some(described), out),
            Some(Known::No | Known::Ask) => self.ask_server(now, number, out),
            None => {}
        }
    }

    /// Takes up the calls that came while the server still owed the answer to `initialize`, as from scripts that write
    /// all at once.
    pub(in crate::gate) fn early_calls(&mut self, now: Now, out: &mut Vec<Effect>) {
        if self.lifecycle.is_pending() {
            return;
        }
        for number in self.held.numbers(|held| matches!(held.stage, Stage::Opening)) {
            let Some(held) = self.held.get_mut(number) else { continue };
            match self.lifecycle.call(&held.call) {
                Ok(session) => {
                    held.session = Some(session);
                    held.stage = Stage::Describing;
                    self.describe(now, number, out);
                }
                Err(phase) => {
                    let reply = replies::wrong_phase(&held.call, self.lifecycle.phase(), &phase);
                    let verdict = Verdict::deny(By::Fault, None, &phase.to_string(), reply);
                    self.decide(now, number, verdict, out);
                }
            }
        }
    }

    fn hold(
        &mut self,
        now: Now,
        call: Box<Call>,
        session: Option<InSession>,
        scope: InScope,
        out: &mut Vec<Effect>,
    ) -> u64 {
        let number = self.held.next_number();
        let has_token = call.meta().progress_token.is_some();
        let host = self.host_of(&call).map(|(name, _)| name);
        let deadline =
            deadline::deadline(now.mono, self.config.approval_timeout, self.config.host_timeout, host, has_token);
        let beat = has_token.then_some(Beat { next: now.mono + HEARTBEAT, sent: 0 });
        let is_open = session.is_some();
        let held = Held {
            ticket: format!("{}-{number}", self.config.server).into(),
            call,
            session,
            scope,
            arrived: now,
            deadline,
            judged: None,
            stage: if is_open { Stage::Describing } else { Stage::Opening },
            arrival: Arrival::Unasked,
            original: None,
            beat,
            look: Look::default(),
            found: None,
            opinions: None,
            asked_again: None,
        };
        self.held.insert(number, held);
        if !is_open || !self.catalog.is_ready() {
            self.wake_by(deadline, out);
        }
        number
    }

    /// Asks the server for its tools under our own id, where its lifecycle allows it; else judges by nothing.
    pub(in crate::gate) fn ask_server(&mut self, now: Now, number: u64, out: &mut Vec<Effect>) {
        let Some(held) = self.held.get(number) else {
            return;
        };
        let meta = held.call.is_modern().then(|| own_meta(&held.call));
        if let Some(question) = self.catalog.ask(now, meta) {
            out.push(Effect::Query(question));
        }
        if let Some(at) = self.catalog.wake_at() {
            self.wake_by(at, out);
        }
    }

    /// The whole list is known afresh: every call that waited for it is judged, or told that there is no such tool.
    pub(in crate::gate) fn described(&mut self, now: Now, out: &mut Vec<Effect>) {
        for number in self.held.numbers(|held| matches!(held.stage, Stage::Describing)) {
            let Some(held) = self.held.get(number) else { continue };
            match self.catalog.find(held.call.name()) {
                Known::Yes(described) => self.judge(now, number, Some(described), out),
                Known::Ask => self.judge(now, number, None, out),
                Known::No => {
                    let reply = replies::no_such_tool(&held.call);
                    let verdict = Verdict::deny(By::Fault, None, "the server does not have this tool", reply);
                    self.decide(now, number, verdict, out);
                }
            }
        }
    }

    /// The server gave no list: every call that waited for it is judged by what is known.
    pub(in crate::gate) fn undescribed(&mut self, now: Now, out: &mut Vec<Effect>) {
        for number in self.held.numbers(|held| matches!(held.stage, Stage::Describing)) {
            let Some(held) = self.held.get(number) else { continue };
            let described = match self.catalog.find(held.call.name()) {
                Known::Yes(described) => Some(described),
                Known::No | Known::Ask => None,
            };
            self.judge(now, number, described, out);
        }
    }

    /// Judges one held call and acts on the ruling.
    pub(in crate::gate) fn judge(
        &mut self,
        now: Now,
        number: u64,
        described: Option<Arc<Described>>,
        out: &mut Vec<Effect>,
    ) {
        self.prune_grants(now, out);
        let Some(held) = self.held.get(number) else {
            return;
        };
        let judged = judged::judge(now, &held.call, described, self.judge_input(), Seen::of(held));
        if self.look_first(number, &judged, out) || self.consult_first(number, &judged, out) {
            if let Some(held) = self.held.get_mut(number) {
                held.judged = Some(judged);
            }
            return;
        }
        let Some(held) = self.held.get_mut(number) else {
            return;
        };
        let edited = held.original.is_some();
        let invalid = (!judged.violations.is_empty())
            .then(|| replies::invalid_arguments(&held.call, self.lifecycle.revision(), &judged.violations));
        let continued = self.flights.continues(now, &held.call);
        let (ruling, by_approver) = (judged.ruling.clone(), judged.by_approver.clone());
        held.judged = Some(judged);
        let by = match (&by_approver, &ruling.rule) {
            (Some(_), _) => By::Approver,
            (None, Some(_)) => By::Rule,
            (None, None) => By::Default,
        };
        let verdict = if let Some(reply) = invalid {
            Verdict::deny(By::Fault, None, "the arguments do not fit the tool's input schema", reply)
        } else {
            match (ruling.decision, continued) {
                (Decision::Deny, _) => {
                    let reply = replies::denied_by_policy(&held.call, &ruling.reason);
                    Verdict::deny(by, ruling.rule, &ruling.reason, reply)
                }
                // Whoever edits a call has the last word on it.
                (Decision::Allow, _) if edited => return self.ask(now, number, out),
                (Decision::Allow, _) if self.grants.use_up(ruling.rule.as_deref()) => {
                    Verdict::approve(By::Rule, ruling.rule, ruling.reason)
                }
                (Decision::Allow, _) => Verdict::approve(by, ruling.rule, ruling.reason),
                (Decision::Ask, Some(from)) => {
                    Verdict::approve(from.by, from.rule, format!("continues the approval of {}", from.ticket))
                }
                (Decision::Ask, None) if self.config.mode == Mode::Observe => {
                    let reason = format!("observing: would have asked, because {}", ruling.reason);
                    Verdict::approve(By::Observe, ruling.rule, reason)
                }
                (Decision::Ask, None) if self.config.unattended == Unattended::Deny && self.attached == 0 => {
                    // No time ran out and nobody was asked: it is what applies here by default. The rule is the one that asked.
                    let reply = replies::unattended(&held.call);
                    let reason = "no console is open, and --unattended deny does not wait";
                    Verdict::deny(By::Default, ruling.rule, reason, reply)
                }
                (Decision::Ask, None) => return self.ask(now, number, out),
            }
        };
        self.decide(now, number, verdict, out);
    }

    /// Puts a call before the operator.
    pub(in crate::gate) fn ask(&mut self, now: Now, number: u64, out: &mut Vec<Effect>) {
        let Some(held) = self.held.get(number) else {
            return;
        };
        let (deadline, beat) = (held.deadline, held.beat);
        let entry = self.asked_entry(now, held);
        let entry = self.record(entry, out);
        self.held.set_stage(number, Stage::Asking { entry });
        if let Some(held) = self.held.get_mut(number) {
            held.arrival = Arrival::Unrecorded;
        }
        if let Some(card) = self.held.get(number).and_then(|held| self.snapshot(held)) {
            out.push(Effect::Ask(Box::new(card)));
        }
        if self.host_gone.is_some() {
            self.withdraw(now, number, Withdrawal::HostGone, out);
            return self.close_server_when_done(out);
        }
        self.wake_by(deadline, out);
        if let Some(beat) = beat {
            self.wake_by(beat.next, out);
        }
    }

    /// Denies a call that is not worth holding: one decision record, one answer.
    fn deny_unheld(&mut self, now: Now, call: &Call, by: By, reason: &str, reply: Line, out: &mut Vec<Effect>) {
        let number = self.held.next_number();
        let mut entry = self.entry(now, Kind::Decision);
        entry.ticket = Some(format!("{}-{number}", self.config.server));
        entry.tool = Some(call.name().to_owned());
        entry.digest = Some(call.digest());
        entry.verdict = Some(VerdictWord::Deny);
        entry.by = Some(by);
        entry.arguments = Some(call.arguments_text().to_owned());
        self.record(entry.with("reason", reason), out);
        self.status.denied += 1;
        out.push(Effect::Answer(reply));
        self.show(now, Direction::ToServer, ActivityKind::Call, out, |one| {
            one.what = call.name().to_owned();
            one.verdict = Some(VerdictWord::Deny);
            one.by = Some(by);
            one.bytes = call.line().content().len() as u64;
            one.failed = true;
            one.reason = reason.to_owned();
        });
    }
}

/// The `_meta` our own question carries in the stateless era: what the protocol asks for, and no progress token.
fn own_meta(call: &Call) -> String {
    const KEPT: [&str; 3] = [
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/clientCapabilities",
        "io.modelcontextprotocol/clientInfo",
    ];
    let parsed = call.meta_text().and_then(|text| serde_json::from_str::<serde_json::Map<_, _>>(text).ok());
    let kept: serde_json::Map<String, serde_json::Value> =
        parsed.unwrap_or_default().into_iter().filter(|(key, _)| KEPT.contains(&key.as_str())).collect();
    serde_json::Value::from(kept).to_string()
}
