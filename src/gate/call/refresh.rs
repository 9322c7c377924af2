//! Keeps the card of a waiting call up to date: looks again at what the call would touch, and moves its deadline if the
//! host allows that. Decides nothing.

use crate::gate::Gate;
use crate::gate::call::held::{Asking, Held};
use crate::gate::data::effect::Effect;
use crate::gate::data::event::OperatorWord;
use crate::gate::data::facts::Findings;
use crate::wire::digest::Digest;

impl Gate {
    /// A console shows a card whose facts may be old. Many consoles may: one look at a time is enough.
    pub(in crate::gate) fn on_looked(&mut self, ticket: &str, digest: Digest) {
        let Some(number) = self.calls.by_ticket(ticket) else { return };
        let may_look =
            |held: &Held, asking: &Asking| held.call.digest() == digest && held.looks_again() && asking.look.is_none();
        if let Some((held, asking)) = self.calls.take_if(number, may_look) {
            let look = Some(self.look(&held));
            self.calls.put(held, Asking { look, ..asking });
        }
    }

    /// What was found for a waiting card: if it differs from what the card shows, the call is judged and shown again.
    pub(in crate::gate) fn refresh(&mut self, mut held: Held, asking: Asking, found: Findings) {
        match held.seen.found.as_ref().and_then(|before| before.difference(&found)) {
            None => self.calls.put(held, Asking { look: None, ..asking }),
            Some(what) => {
                held.seen.found = Some(found);
                held.asked_again = Some(what);
                self.judge_again(held, asking.case);
            }
        }
    }

    /// Starts the operator's time for a call again, but never beyond the time for which its host waits.
    pub(in crate::gate) fn on_extended(&mut self, word: &OperatorWord) {
        let Some((mut held, asking)) = self.take_asked(word) else {
            return self.out.refuse_word(word, "this call no longer waits, or it has changed since it was shown");
        };
        let longest = match &held.round_trips.task {
            Some(_) => u64::MAX,
            None => self.longest_wait(&held.call, held.arrived.mono),
        };
        let wanted = self.out.now.mono.saturating_add(self.config.approval_timeout).max(held.deadline);
        let deadline = wanted.min(longest);
        if deadline > held.deadline {
            held.deadline = deadline;
            held.round_trips.ends = self.round_trip_ends(&held);
            if let Some(task) = held.round_trips.task.clone() {
                self.keep_task(&task, &held);
            }
            if let Some(state) = &held.round_trips.away {
                self.returns.extend(state, deadline);
            }
            self.out.push(Effect::Ask(Box::new(self.snapshot(&held, &asking.case.judged))));
            self.out.wake_for(&held);
        } else {
            let why = "this host gives up on the call soon after its deadline, so the deadline cannot be moved";
            self.out.refuse_word(word, why);
        }
        self.calls.put(held, asking);
    }
}
