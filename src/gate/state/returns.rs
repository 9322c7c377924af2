//! The calls for which hosts must come back with a state of ours, by that state. Each state counts once, for a while,
//! and for the same call of the same host. Decides nothing.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::gate::state::elicited::ShownForm;
use crate::wire::call::Call;
use crate::wire::digest::Digest;
use crate::wire::line::Line;

#[derive(Debug, Default)]
pub struct Returns {
    /// By their states, each with its place in the order these were given.
    by_state: HashMap<Arc<str>, (u64, Return)>,
    last: u64,
}

/// What one host must come back for.
#[derive(Debug)]
pub struct Return {
    pub ticket: Arc<str>,
    pub owed: Owed,
    /// The form that the host was given with the state: it comes back with its user's answer.
    pub form: Option<ShownForm>,
    /// Until when (monotonic microseconds).
    pub until: u64,
    /// What the request must repeat, and what it may.
    pub repeated: Digest,
    pub responses: Option<String>,
    /// Who asks, as the first request said.
    pub client: Option<(String, String)>,
}

/// What the host gets when it comes back.
#[derive(Debug)]
pub enum Owed {
    /// The host waits on for the held call of this number.
    Wait(u64),
    /// The call has ended in the meantime.
    Answer(Line),
}

impl Return {
    /// Whether a request is the expected one: the same call, by the same host, with nothing added but the answer to our
    /// form, which goes no further.
    pub fn fits(&self, call: &Call) -> bool {
        let is_nothing =
            |text: &str| serde_json::from_str(text).is_ok_and(|object: Map<String, Value>| object.is_empty());
        let responses = call.input_responses_text();
        call.is_modern()
            && call.repeated() == self.repeated
            && call.meta().client == self.client
            && (self.form.is_some() || responses == self.responses.as_deref() || responses.is_none_or(is_nothing))
    }
}

impl Returns {
    /// A host was given this state.
    pub fn give(&mut self, state: Arc<str>, what: Return) {
        self.last += 1;
        self.by_state.insert(state, (self.last, what));
    }

    /// Takes what a state is for; the state no longer counts.
    pub fn take(&mut self, state: &str) -> Option<Return> {
        self.by_state.remove(state).map(|(_, what)| what)
    }

    /// The call behind a state has ended: the host gets this answer when it comes back, if it still may.
    pub fn answer(&mut self, state: &str, answer: Line) {
        if let Some((_, what)) = self.by_state.get_mut(state) {
            what.owed = Owed::Answer(answer);
        }
    }

    /// The forms whose answers are to come back.
    pub fn forms(&self) -> impl Iterator<Item = &ShownForm> {
        self.by_state.values().filter_map(|(_, what)| what.form.as_ref())
    }

    /// The call behind a state may wait for longer.
    pub fn extend(&mut self, state: &str, until: u64) {
        if let Some((_, what)) = self.by_state.get_mut(state) {
            what.until = what.until.max(until);
        }
    }

    /// The calls whose host has not come back for them by `now`, the oldest first.
    pub fn due(&mut self, now: u64) -> Vec<Return> {
        let mut due: Vec<_> = self.by_state.extract_if(|_, (_, what)| what.until <= now).map(|(_, one)| one).collect();
        due.sort_by_key(|(given, _)| *given);
        due.into_iter().map(|(_, what)| what).collect()
    }

    /// When the first is due.
    pub fn wake_at(&self) -> Option<u64> {
        self.by_state.values().map(|(_, what)| what.until).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn give(returns: &mut Returns, state: &str, until: u64) {
        let (ticket, owed) = (Arc::from(state), Owed::Wait(1));
        let repeated = Digest::of(b"call");
        let what = Return { ticket, owed, until, repeated, responses: None, form: None, client: None };
        returns.give(Arc::from(state), what);
    }

    #[test]
    fn what_is_due_comes_in_the_order_it_was_given() {
        let mut returns = Returns::default();
        let given: Vec<String> = (0..20).map(|number| format!("t{number}")).collect();
        for (number, state) in (0..).zip(&given) {
            give(&mut returns, state, 100 - number);
        }
        let due: Vec<String> = returns.due(100).into_iter().map(|one| one.ticket.to_string()).collect();
        assert_eq!(due, given);
    }

    #[test]
    fn the_first_that_is_due_wakes() {
        let mut returns = Returns::default();
        assert_eq!(returns.wake_at(), None);
        give(&mut returns, "late", 9);
        give(&mut returns, "early", 4);
        assert_eq!((returns.wake_at(), returns.due(3).len()), (Some(4), 0));
        let due: Vec<Arc<str>> = returns.due(4).into_iter().map(|one| one.ticket).collect();
        assert_eq!((due, returns.wake_at()), (vec![Arc::from("early")], Some(9)));
    }
}
