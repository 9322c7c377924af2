//! Looks at what a call would touch: before it is judged or asked, when it is approved, and once more before it runs.

use crate::audit::record::{By, VerdictWord};
use crate::gate::Gate;
use crate::gate::call::held::{After, Held, Stage, Verdict};
use crate::gate::call::judged::Judged;
use crate::gate::call::replies;
use crate::gate::data::effect::Effect;
use crate::gate::data::event::Now;
use crate::gate::data::facts::Findings;
use crate::gate::{Mode, Unattended};

impl Gate {
    /// Asks for a look where the ruling, or the card of an asked call, needs one that was not taken yet.
    pub(in crate::gate) fn look_first(&mut self, number: u64, judged: &Judged, out: &mut Vec<Effect>) -> bool {
        let Some(held) = self.held.get_mut(number) else {
            return false;
        };
        let mut wanted = judged.wanted.clone();
        let nobody = self.config.unattended == Unattended::Deny && self.attached == 0;
        if self.config.mode == Mode::Observe || nobody {
            // There will be no card.
            wanted.files.clear();
        }
        if !judged.violations.is_empty() || held.look.covers(&wanted) {
            return false;
        }
        held.look = wanted;
        self.look(number, After::Judging, out);
        true
    }

    /// Whether a call was approved by what was found at a place, so that it is looked at again before it runs.
    pub(in crate::gate) fn looks_again(&self, number: u64) -> bool {
        self.held.get(number).is_some_and(|held| !held.look.is_empty() && held.found.is_some())
    }

    /// Asks the shell for a look.
    pub(in crate::gate) fn look(&mut self, number: u64, after: After, out: &mut Vec<Effect>) {
        let Some(held) = self.held.get(number) else {
            return;
        };
        let (ticket, wanted, deadline) = (held.ticket.to_string(), held.look.clone(), held.deadline);
        self.looks += 1;
        self.held.set_stage(number, Stage::Looking { look: self.looks, after });
        out.push(Effect::LookUp { ticket, look: self.looks, wanted });
        self.wake_by(deadline, out);
    }

    /// What the shell has found. An answer that nothing waits for any more is dropped.
    pub(in crate::gate) fn on_facts(
        &mut self,
        now: Now,
        ticket: &str,
        look: u64,
        mut found: Findings,
        out: &mut Vec<Effect>,
    ) {
        let Some(number) = self.held.by_ticket(ticket) else {
            return;
        };
        let Some(held) = self.held.get_mut(number) else {
            return;
        };
        if !matches!(held.stage, Stage::Looking { look: asked, .. } if asked == look) {
            return;
        }
        let Stage::Looking { after, .. } = std::mem::replace(&mut held.stage, Stage::Describing) else {
            return;
        };
        found.files.extend(held.look.beyond());
        let difference = held.found.as_ref().and_then(|before| before.difference(&found));
        match after {
            After::Judging => {
                held.found = Some(found);
                self.judge_as_it_is(now, number, out);
            }
            After::Approving(verdict) => self.approve_if(now, number, verdict, found, difference, out),
            After::Forwarding { verdict, receipt } => {
                let Some(held) = self.held.remove(number) else {
                    return;
                };
                match difference {
                    None => self.forward_now(now, held, verdict, &receipt, out),
                    Some(what) => self.stopped(now, &held, what, out),
                }
                self.close_server_when_done(out);
            }
        }
    }

    /// The operator has approved what was shown: it stands if that is how it still is, else the card is shown anew.
    fn approve_if(
        &mut self,
        now: Now,
        number: u64,
        verdict: Verdict,
        found: Findings,
        difference: Option<&'static str>,
        out: &mut Vec<Effect>,
    ) {
        let Some(what) = difference else {
            return match self.outdated(now, number, out) {
                None => self.decide(now, number, verdict, out),
                Some(why) => self.comes_to_nothing(now, number, &verdict, &why, out),
            };
        };
        let Some(held) = self.held.get_mut(number) else {
            return;
        };
        held.found = Some(found);
        held.asked_again = Some(what);
        self.judge_as_it_is(now, number, out);
        self.comes_to_nothing(now, number, &verdict, &format!("{what} since the card was shown; look again"), out);
    }

    /// Records and tells that an approval counted for nothing.
    fn comes_to_nothing(&mut self, now: Now, number: u64, verdict: &Verdict, why: &str, out: &mut Vec<Effect>) {
        let Some(held) = self.held.get(number) else {
            return;
        };
        let ticket = held.ticket.to_string();
        let mut entry = self.entry(now, crate::audit::record::Kind::Fault);
        entry.ticket = Some(ticket.clone());
        entry.digest = Some(held.call.digest());
        let entry = entry.with("what", "a verdict (approve) came to nothing").with("operator", verdict.who.as_ref());
        self.record(entry.with("reason", why), out);
        out.push(Effect::Refuse { console: verdict.console, ticket, why: why.to_owned() });
    }

    /// The approval is on the disk, and what it was given for has changed since: the call does not run.
    fn stopped(&mut self, now: Now, held: &Held, what: &'static str, out: &mut Vec<Effect>) {
        let entry = self.withdrawn_entry(now, held, By::Fault, &format!("{what} after it was approved"));
        self.record(entry, out);
        self.status.denied += 1;
        out.push(Effect::Settle(crate::gate::data::report::Settled {
            ticket: held.ticket.to_string(),
            time: now.wall,
            verdict: Some(VerdictWord::Deny),
            by: By::Fault,
            who: format!("{what} after it was approved, so it did not run"),
        }));
        out.push(Effect::Answer(replies::changed(&held.call, what)));
    }

    /// Denies what was looked at, put before approvers, or kept waiting for what is remembered, for too long.
    pub(in crate::gate) fn expire_looks(&mut self, now: Now, out: &mut Vec<Effect>) {
        let is_ready = self.catalog.is_ready();
        let waits = |held: &Held| match &held.stage {
            Stage::Looking { after, .. } => !matches!(after, After::Forwarding { .. }),
            Stage::Consulting { .. } => true,
            // Once that is read, our own question to the server has a time of its own.
            Stage::Describing => !is_ready,
            Stage::Opening | Stage::Asking { .. } | Stage::Deciding { .. } | Stage::Withdrawn { .. } => false,
        };
        for number in self.held.numbers(waits) {
            let Some(held) = self.held.get(number) else { continue };
            if held.deadline > now.mono {
                let deadline = held.deadline;
                self.wake_by(deadline, out);
                continue;
            }
            let waited_s = now.mono.saturating_sub(held.arrived.mono) / 1_000_000;
            let reply = replies::expired(&held.call, waited_s);
            let reason = match &held.stage {
                Stage::Consulting { .. } => "its approvers did not answer in time",
                Stage::Describing => "what is remembered of this server could not be read in time",
                _ => "what it would touch could not be looked at in time",
            };
            let verdict = Verdict::deny(By::Expiry, None, reason, reply);
            self.decide(now, number, verdict, out);
        }
    }
}
