//! Calls that were forwarded and have no answer yet, and answers that a retry may continue.

use std::collections::HashMap;
use std::sync::Arc;

use crate::audit::record::By;
use crate::behavior::taxonomy::Badge;
use crate::gate::data::event::Now;
use crate::gate::deadline::CONTINUE;
use crate::gate::server::described::Described;
use crate::mcp::result::Answer;
use crate::wire::call::Call;
use crate::wire::digest::Digest;
use crate::wire::id::Id;

/// A forwarded call.
#[derive(Clone, Debug)]
pub struct Flight {
    pub ticket: Arc<str>,
    /// Of a request other than `tools/call`.
    pub method: Option<String>,
    pub tool: String,
    pub target: Option<String>,
    pub digest: Digest,
    pub forwarded: Now,
    pub badge: Badge,
    pub identity: String,
    pub described: Option<Arc<Described>>,
    pub modern: bool,
    pub wanted: Wanted,
    pub by: By,
    pub rule: Option<String>,
    /// What a retry must repeat to continue the call; only in the stateless era.
    pub repeated: Option<Digest>,
}

/// Whether the host still waits for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    Yes,
    /// It cancelled the call; its id stays taken until the answer comes.
    Cancelled,
}

/// An answer that asked for more: the retry that matches all of it continues the approval, once.
#[derive(Debug)]
struct Continuation {
    repeated: Digest,
    /// Of the tool, as it was approved.
    definition: Option<Digest>,
    state: Option<String>,
    inputs: Vec<String>,
    until: Until,
    from: Continued,
}

/// How long the retry is waited for.
#[derive(Debug, PartialEq, Eq)]
enum Until {
    /// In monotonic microseconds.
    Time(u64),
    /// Not at all yet: the answer to the request of this id is held.
    Passes(Id),
}

/// Where a continued call's approval comes from.
#[derive(Clone, Debug)]
pub struct Continued {
    pub ticket: Arc<str>,
    pub by: By,
    pub rule: Option<String>,
}

/// How many unfinished multi-round-trip calls are remembered.
const CONTINUATIONS: usize = 64;
/// How many calls may be without an answer: a server that never answers must not fill the memory. Some hundred bytes each.
const FLIGHTS: usize = 20_000;

/// All calls in flight.
#[derive(Debug, Default)]
pub struct Flights {
    calls: HashMap<Id, Flight>,
    continuations: Vec<Continuation>,
}

impl Flights {
    pub fn insert(&mut self, id: Id, flight: Flight) {
        if self.calls.len() >= FLIGHTS {
            // No one waits for those, and most servers never answer what was cancelled: their ids are free again.
            self.calls.retain(|_, flight| flight.wanted == Wanted::Yes);
        }
        self.calls.insert(id, flight);
    }

    /// Whether so many calls are without an answer that no more are taken.
    pub fn is_full(&self) -> bool {
        self.calls.len() >= FLIGHTS
            && self.calls.values().filter(|flight| flight.wanted == Wanted::Yes).count() >= FLIGHTS
    }

    pub fn contains(&self, id: &Id) -> bool {
        self.calls.contains_key(id)
    }

    /// The flight of a call that the host has cancelled just now.
    pub fn cancel(&mut self, id: &Id) -> Option<&Flight> {
        let flight = self.calls.get_mut(id)?;
        if flight.wanted == Wanted::Cancelled {
            return None;
        }
        flight.wanted = Wanted::Cancelled;
        Some(flight)
    }

    pub fn get(&self, id: &Id) -> Option<&Flight> {
        self.calls.get(id)
    }

    pub fn land(&mut self, id: &Id) -> Option<Flight> {
        self.calls.remove(id)
    }

    /// Everything in flight that somebody waits for, in no order; nothing is in flight afterwards.
    pub fn drain(&mut self) -> Vec<(Id, Flight)> {
        self.calls.drain().filter(|(_, flight)| flight.wanted == Wanted::Yes).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Whether some call in flight has an output schema, so that its answer is worth buffering.
    pub fn wants_whole_answers(&self) -> bool {
        self.calls.values().any(|flight| flight.described.as_ref().is_some_and(|known| known.output().is_some()))
    }

    /// Remembers that the server asked for more.
    pub fn expect_more(&mut self, now: Now, flight: &Flight, answer: &Answer) {
        let (Answer::InputRequired { state, inputs }, Some(repeated)) = (answer, flight.repeated) else {
            return;
        };
        if self.continuations.len() >= CONTINUATIONS {
            self.continuations.remove(0);
        }
        self.continuations.push(Continuation {
            repeated,
            definition: flight.described.as_ref().map(|known| known.digest),
            state: state.clone(),
            inputs: inputs.clone(),
            until: Until::Time(now.mono + CONTINUE),
            from: Continued { ticket: Arc::clone(&flight.ticket), by: flight.by, rule: flight.rule.clone() },
        });
    }

    /// The answer that asked for more, to the call of this ticket and id, is held: no retry continues the call meanwhile.
    pub fn suspend(&mut self, ticket: &Arc<str>, id: &Id) {
        self.continuations.retain(|one| one.until != Until::Passes(id.clone()));
        if let Some(last) = self.continuations.last_mut().filter(|last| last.from.ticket == *ticket) {
            last.until = Until::Passes(id.clone());
        }
    }

    /// The held answer to the request of this id has passed.
    pub fn resume(&mut self, now: Now, id: &Id) {
        for one in self.continuations.iter_mut().filter(|one| one.until == Until::Passes(id.clone())) {
            one.until = Until::Time(now.mono + CONTINUE);
        }
    }

    /// The approval a retry continues, used up by asking: the tool's definition, all of `params` that is repeated, and the
    /// server's state must match exactly.
    pub fn continues(&mut self, now: Now, call: &Call, definition: Option<Digest>) -> Option<Continued> {
        self.continuations.retain(|one| !matches!(one.until, Until::Time(until) if until <= now.mono));
        if call.request_state_text().is_none() && call.input_responses_text().is_none() {
            return None;
        }
        let at = self.continuations.iter().position(|one| one.matches(call, definition))?;
        Some(self.continuations.remove(at).from)
    }
}

impl Continuation {
    fn matches(&self, call: &Call, definition: Option<Digest>) -> bool {
        matches!(self.until, Until::Time(_))
            && self.definition == definition
            && self.repeated == call.repeated()
            && call.carries_state(self.state.as_deref())
            && self.inputs == keys(call.input_responses_text())
    }
}

/// The sorted keys of an object's text; none where there is no object.
fn keys(object: Option<&str>) -> Vec<String> {
    let parsed = object.and_then(|text| serde_json::from_str::<serde_json::Map<_, _>>(text).ok());
    let mut keys: Vec<String> =
        parsed.unwrap_or_default().into_iter().map(|(key, _): (_, serde_json::Value)| key).collect();
    keys.sort();
    keys
}
