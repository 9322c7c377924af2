//! Time has passed: deadlines, heartbeats, grants that end, and our own question to the server.

use crate::audit::record::By;
use crate::gate::Gate;
use crate::gate::call::held::{Approved, Asking, Held, Opening, Stage, StageKind, Verdict};
use crate::gate::call::log::Log;
use crate::gate::call::next::Next;
use crate::gate::call::replies;
use crate::gate::data::effect::Effect;
use crate::gate::deadline::{GRACE, HEARTBEAT};
use crate::gate::state::history;
use crate::wire::reply;

impl Gate {
    pub(in crate::gate) fn on_woke(&mut self) {
        self.out.woke();
        let runs = self.log.refusals.due(self.out.now.mono);
        Log::record_refused_runs(&mut self.out, runs);
        self.out.wake_by(self.log.refusals.wake_at());
        match self.log.passed.wake_at() {
            Some(at) if at <= self.out.now.mono => self.log.record_passed(&mut self.out),
            Some(at) => self.out.wake_by(at),
            None => {}
        }
        if self.ends.host_gone.is_some_and(|since| since + GRACE <= self.out.now.mono) {
            self.host_long_gone();
        } else if let Some(since) = self.ends.host_gone {
            self.out.wake_by(since + GRACE);
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
            self.on_undescribed();
        }
        for number in self.calls.waiting::<Asking>() {
            self.expire(number);
        }
        self.expire_turns();
        self.end_round_trips();
        self.expire_tasks();
        self.send_heartbeats();
        self.out.wake_by(self.catalog.wake_at());
    }

    /// Denies calls that have waited too long for a look, for the approvers or for the pins.
    fn expire_looks(&mut self) {
        let is_ready = self.catalog.is_ready();
        let waits = |stage: &Stage| match stage {
            Stage::Looking(_) | Stage::Consulting(_) | Stage::Approving(_) => true,
            // Once the pins are read, our own question to the server has its own time limit.
            Stage::Describing(_) => !is_ready,
            Stage::Opening(_)
            | Stage::Asking(_)
            | Stage::Deciding(_)
            | Stage::Withdrawn(_)
            | Stage::Approved(_)
            | Stage::Forwarding(_) => false,
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

    /// Denies a call that the operator did not answer in time.
    fn expire(&mut self, number: u64) {
        if let Some((held, asking)) = self.due::<Asking>(number) {
            let waited_s = self.out.waited_s(&held);
            let rule = asking.case.judged.ruling.rule.clone();
            let verdict = Verdict::by(By::Expiry, rule, format!("no operator answered within {waited_s} s"));
            let reply = replies::expired(&held.call, &self.config.console, waited_s);
            self.drive(Next::deny(held, Some(asking.case.judged), verdict, reply));
        }
    }

    /// Answers an approved call whose turn has not come in time.
    fn expire_turns(&mut self) {
        for number in self.calls.waiting::<Approved>() {
            let is_away = self.calls.get::<Approved>(number).is_some_and(|(held, _)| held.round_trips.away.is_some());
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

    /// Sends heartbeats for held calls to hosts that want them.
    fn send_heartbeats(&mut self) {
        let is_watched = self.out.attached > 0;
        let form = self.elicited.open().map(|open| open.form.number);
        for number in self.calls.numbers(Stage::may_take_long) {
            let is = if self.calls.get::<Asking>(number).is_some() {
                Beats::Asked
            } else if self.calls.get::<Approved>(number).is_some() {
                Beats::Approved
            } else {
                Beats::Checks
            };
            let Some(held) = self.calls.held_mut::<Stage>(number) else { continue };
            if held.round_trips.away.is_some() || held.round_trips.task.is_some() {
                continue;
            }
            let token = held.open_token().map(str::to_owned);
            let (Some(beat), Some(token)) = (&mut held.heartbeat, token) else { continue };
            if beat.next <= self.out.now.mono {
                beat.sent += 1;
                beat.next = self.out.now.mono + HEARTBEAT;
                let left = held.deadline.saturating_sub(self.out.now.mono) / 1000;
                let left = history::span(i64::try_from(left).unwrap_or(i64::MAX));
                let says = match (is, is_watched) {
                    (Beats::Checks, _) => format!("mcp-approve checks {}", held.ticket),
                    (Beats::Approved, _) => {
                        format!(
                            "Approved in mcp-approve: {} runs after an earlier call, within {left} or not at all",
                            held.ticket
                        )
                    }
                    (Beats::Asked, true) => {
                        format!("Waiting for approval in mcp-approve: {}, for {left} more at most", held.ticket)
                    }
                    (Beats::Asked, false) if form == Some(number) => format!(
                        "Waiting for approval: {}, for {left} more at most. Answer the form, or run `{}` in a terminal",
                        held.ticket, self.config.console
                    ),
                    (Beats::Asked, false) => format!(
                        "Waiting for approval in mcp-approve: {}, for {left} more at most. Run `{}` in a terminal",
                        held.ticket, self.config.console
                    ),
                };
                self.out.push(Effect::WriteToHost(reply::progress(&token, beat.progress(), &says)));
            }
            let next = beat.next;
            self.out.wake_by(next);
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
}

/// What a call waits for, in words for its host.
#[derive(Clone, Copy)]
enum Beats {
    Checks,
    Asked,
    Approved,
}
