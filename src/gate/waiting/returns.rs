//! What hosts were given while a call waits: the states that they bring back, and the question that the host puts to its user for
//! us, at most one at a time, so that no burst of calls makes a burst of forms. Decides nothing.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::wire::call::Call;
use crate::wire::digest::Digest;
use crate::wire::id::Id;
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

/// Our questions to the host.
#[derive(Debug)]
pub struct Elicited {
    /// What every id of ours begins with. A server that could guess an id would ask under it itself, before we do.
    prefix: String,
    asked: u64,
    open: Option<Open>,
}

/// The question that the host has not answered yet, as a request of ours.
#[derive(Debug)]
pub struct Open {
    pub id: String,
    pub form: ShownForm,
}

/// What a form asks about. On 2026-07-28 it is inside the answer to the call's own request, and its answer comes with
/// the state.
#[derive(Debug)]
pub struct ShownForm {
    /// The held call.
    pub number: u64,
    /// The entry of the record that the call was asked; a new card has a new entry.
    pub entry: u64,
    /// What the form shows.
    pub text: String,
}

impl Elicited {
    /// No question yet. `secret` makes its id impossible to guess.
    pub fn new(secret: &str) -> Self {
        let hidden = Digest::of(format!("elicitation\0{secret}").as_bytes());
        Self { prefix: format!("mcp-approve:{hidden}:"), asked: 0, open: None }
    }

    /// Opens a question, and gives its id.
    pub fn ask(&mut self, form: ShownForm) -> &Open {
        self.asked += 1;
        let id = format!("{}{}", self.prefix, self.asked);
        self.open.insert(Open { id, form })
    }

    /// The question that waits for its answer.
    pub fn open(&self) -> Option<&Open> {
        self.open.as_ref()
    }

    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Closes the open question.
    pub fn close(&mut self) -> Option<Open> {
        self.open.take()
    }

    /// Closes the question of this id, where it is the open one.
    pub fn answered(&mut self, id: &Id) -> Option<Open> {
        self.open.take_if(|open| id.as_text() == Some(&open.id))
    }

    /// Whether an id is one of ours, answered or not.
    pub fn is_ours(&self, id: &Id) -> bool {
        id.as_text().is_some_and(|text| text.starts_with(&self.prefix))
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
