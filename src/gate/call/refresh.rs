//! Moves the deadline of a waiting call, if its host allows that. Decides nothing.

use crate::gate::Gate;
use crate::gate::call::{ask, card};
use crate::gate::data::effect::Effect;
use crate::gate::data::event::OperatorWord;

impl Gate {
    /// Starts the operator's time for a call again, but never beyond the time for which its host waits.
    pub(in crate::gate) fn on_extended(&mut self, word: &OperatorWord) {
        let Some((mut held, asking)) = ask::take(&mut self.calls, word) else {
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
            self.out.push(Effect::Ask(Box::new(card::snapshot(self.context(), &held, &asking.case.judged))));
            self.out.wake_for(&held);
        } else {
            let why = "this host gives up on the call soon after its deadline, so the deadline cannot be moved";
            self.out.refuse_word(word, why);
        }
        self.calls.put(held, asking);
    }
}
