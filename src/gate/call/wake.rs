//! Time has passed: deadlines, heartbeats, and our own question to the server.

use crate::audit::record::By;
use crate::gate::Gate;
use crate::gate::call::deadline::{GRACE, HEARTBEAT};
use crate::gate::call::held::{Stage, Verdict};
use crate::gate::call::replies;
use crate::gate::data::effect::Effect;
use crate::gate::data::event::Now;
use crate::wire::reply;

impl Gate {
    /// Time has passed: deadlines, heartbeats, our own question.
    pub(in crate::gate) fn on_woke(&mut self, now: Now, out: &mut Vec<Effect>) {
        self.wake = u64::MAX;
        let runs = self.refusals.due(now.mono);
        self.record_refused_runs(now, runs, out);
        if let Some(at) = self.refusals.wake_at() {
            self.wake_by(at, out);
        }
        if self.host_gone.is_some_and(|since| since + GRACE <= now.mono) {
            self.host_long_gone(now, out);
        } else if let Some(since) = self.host_gone {
            self.wake_by(since + GRACE, out);
        }
        for number in self.held.numbers(|held| matches!(held.stage, Stage::Opening)) {
            let Some(held) = self.held.get(number) else { continue };
            if held.deadline <= now.mono {
                let reply = replies::never_opened(&held.call);
                let verdict = Verdict::deny(By::Expiry, None, "the server did not answer initialize", reply);
                self.decide(now, number, verdict, out);
            } else {
                self.wake_by(held.deadline, out);
            }
        }
        self.expire_looks(now, out);
        self.prune_grants(now, out);
        if self.catalog.expire(now) {
            self.undescribed(now, out);
        }
        for number in self.held.numbers(|held| matches!(held.stage, Stage::Asking { .. })) {
            let Some(held) = self.held.get_mut(number) else {
                continue;
            };
            if held.deadline <= now.mono {
                let waited_s = now.mono.saturating_sub(held.arrived.mono) / 1_000_000;
                let rule = held.judged.as_ref().and_then(|judged| judged.ruling.rule.clone());
                let reply = replies::expired(&held.call, waited_s);
                let verdict = Verdict::deny(By::Expiry, rule, &format!("nobody answered within {waited_s} s"), reply);
                self.decide(now, number, verdict, out);
                continue;
            }
            let deadline = held.deadline;
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
            self.wake_by(deadline, out);
        }
        if let Some(at) = self.catalog.wake_at() {
            self.wake_by(at, out);
        }
    }
}
