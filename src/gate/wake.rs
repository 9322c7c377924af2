//! Time has passed: deadlines, heartbeats, grants that end, and our own question to the server.

use crate::audit::record::By;
use crate::gate::Gate;
use crate::gate::call::held::{Asking, Held, Opening, Stage, Verdict, Waits};
use crate::gate::call::replies;
use crate::gate::data::effect::Effect;
use crate::gate::data::event::Now;
use crate::gate::deadline::{GRACE, HEARTBEAT};
use crate::wire::reply;

impl Gate {
    pub(in crate::gate) fn on_woke(&mut self, now: Now, out: &mut Vec<Effect>) {
        self.clock.wake = u64::MAX;
        let runs = self.log.refusals.due(now.mono);
        self.record_refused_runs(now, runs, out);
        if let Some(at) = self.log.refusals.wake_at() {
            self.wake_by(at, out);
        }
        if self.ends.host_gone.is_some_and(|since| since + GRACE <= now.mono) {
            self.host_long_gone(now, out);
        } else if let Some(since) = self.ends.host_gone {
            self.wake_by(since + GRACE, out);
        }
        for number in self.calls.waiting::<Opening>() {
            if let Some((held, Opening)) = self.due(now, number, out) {
                let reply = replies::never_opened(&held.call);
                let verdict = Verdict::by(By::Expiry, None, "the server did not answer initialize");
                self.deny(now, held, None, verdict, reply, out);
            }
        }
        self.expire_looks(now, out);
        self.prune_grants(now, out);
        if self.catalog.expire(now) {
            self.on_undescribed(now, out);
        }
        for number in self.calls.waiting::<Asking>() {
            self.expire_or_beat(now, number, out);
        }
        if let Some(at) = self.catalog.wake_at() {
            self.wake_by(at, out);
        }
    }

    /// Denies what was looked at, put before approvers, or kept waiting for what is remembered, for too long.
    fn expire_looks(&mut self, now: Now, out: &mut Vec<Effect>) {
        let is_ready = self.catalog.is_ready();
        let waits = |stage: &Stage| match stage {
            Stage::Looking(_) | Stage::Consulting(_) | Stage::Approving(_) => true,
            // Once that is read, our own question to the server has a time of its own.
            Stage::Describing(_) => !is_ready,
            Stage::Opening(_) | Stage::Asking(_) | Stage::Deciding(_) | Stage::Withdrawn(_) | Stage::Forwarding(_) => {
                false
            }
        };
        for number in self.calls.numbers(waits) {
            let Some((held, stage)) = self.due::<Stage>(now, number, out) else { continue };
            let reply = replies::expired(&held.call, waited_s(now, &held));
            let reason = if let Stage::Consulting(_) = &stage {
                "its approvers did not answer in time"
            } else if let Stage::Describing(_) = &stage {
                "what is remembered of this server could not be read in time"
            } else {
                "what it would touch could not be looked at in time"
            };
            self.deny(now, held, stage.judged(), Verdict::by(By::Expiry, None, reason), reply, out);
        }
    }

    /// Denies a call that the operator did not answer in time; tells the host of any other that it is alive.
    fn expire_or_beat(&mut self, now: Now, number: u64, out: &mut Vec<Effect>) {
        if let Some((held, asking)) = self.due::<Asking>(now, number, out) {
            let waited_s = waited_s(now, &held);
            let rule = asking.case.judged.ruling.rule.clone();
            let verdict = Verdict::by(By::Expiry, rule, format!("no operator answered within {waited_s} s"));
            let reply = replies::expired(&held.call, waited_s);
            return self.deny(now, held, Some(asking.case.judged), verdict, reply, out);
        }
        let Some(held) = self.calls.held_mut::<Asking>(number) else { return };
        if let (Some(beat), Some(token)) = (&mut held.beat, &held.call.meta().progress_token) {
            if beat.next <= now.mono {
                beat.sent += 1;
                beat.next = now.mono + HEARTBEAT;
                // Negative and rising, so that whatever the server reports later is an increase.
                let progress = f64::from(beat.sent) / 1e6 - 1.0;
                out.push(Effect::Answer(reply::progress(token, progress, "Waiting for approval in mcp-approve")));
            }
            let next = beat.next;
            self.wake_by(next, out);
        }
    }

    /// Takes a call whose deadline has come; of any other asks to be woken then.
    fn due<S: Waits>(&mut self, now: Now, number: u64, out: &mut Vec<Effect>) -> Option<(Held, S)> {
        let deadline = self.calls.get::<S>(number)?.0.deadline;
        if deadline > now.mono {
            self.wake_by(deadline, out);
            return None;
        }
        self.calls.take(number)
    }
}

fn waited_s(now: Now, held: &Held) -> u64 {
    now.mono.saturating_sub(held.arrived.mono) / 1_000_000
}
