//! Calls that were forwarded and have no answer yet, and answers that a retry may continue.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::audit::By;
use crate::behavior::request::of_request;
use crate::behavior::{Badge, Identity};
use crate::gate::data::event::Now;
use crate::gate::deadline::CONTINUE;
use crate::gate::server::described::Described;
use crate::mcp::{Answer, request};
use crate::wire::{Call, Digest, Id, Line, Meta, rename};

#[derive(Clone, Debug)]
pub struct Flight {
    pub ticket: Arc<str>,
    /// The method of a request other than `tools/call`.
    pub method: Option<String>,
    pub tool: Arc<str>,
    pub target: Option<Arc<str>>,
    pub digest: Digest,
    pub forwarded: Now,
    /// How long it was held, in microseconds; `None` where somebody was asked.
    pub held_us: Option<u64>,
    pub badge: Badge,
    pub identity: Identity,
    /// The call is inside a request of another method.
    pub is_inside: bool,
    pub described: Option<Arc<Described>>,
    /// Of its first request.
    pub meta: Meta,
    pub modern: bool,
    pub wanted: Wanted,
    pub by: By,
    pub rule: Option<String>,
    /// What a retry must repeat to continue the call; only in the stateless era.
    pub repeated: Option<Digest>,
    /// The requests that its host came back with while it was held: the answer goes to the last one.
    pub later: Vec<Later>,
    /// The task that its host was given: the answer goes there, and not to its request.
    pub task: Option<Arc<str>>,
    /// Since when the open request waits (monotonic microseconds).
    pub opened: u64,
    /// The digest of the answers to the server's questions that the host sent with it.
    pub responses: Option<Digest>,
    /// The furthest progress that the host was told of, where it is followed.
    pub reached: u32,
    /// Its progress token, and what is added to the server's progress: its host got heartbeats in whole numbers.
    pub reported: Option<(Id, u32)>,
}

/// A request whose answer rules about results can be about, and what they select it by.
#[derive(Clone, Debug)]
pub struct AnswerOf {
    /// The tool; of another request its method.
    pub tool: Arc<str>,
    /// `None` for a task whose call we did not see: it may be any tool's.
    pub identity: Option<Identity>,
    pub ticket: Option<Arc<str>>,
    pub target: Option<Arc<str>>,
    pub gives: Gives,
    pub meta: Meta,
    /// Since when its host waits (monotonic microseconds).
    pub since: u64,
    /// The rule that asks, where it is held.
    pub asked_by: String,
}

/// What an answer has in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    Result,
    /// How far a task is; a result once the task has ended.
    TaskState,
}

impl Gives {
    /// `None` where a method gives nothing that rules about results read: lists, and what only changes the session. What is not
    /// known may give anything.
    pub fn of(method: &str) -> Option<Self> {
        const NOTHING: [&str; 10] = [
            "logging/setLevel", "resources/list", "resources/templates/list", "resources/subscribe",
            "resources/unsubscribe", "prompts/list", "subscriptions/listen", "tasks/list", "tasks/cancel",
            "tasks/update",
        ];
        match method {
            "tasks/get" => Some(Self::TaskState),
            _ => (request::is_ruled(method) && !NOTHING.contains(&method)).then_some(Self::Result),
        }
    }
}

impl AnswerOf {
    /// Of a request of the host's other than a call, which has this method.
    pub fn request(method: &str, call: Option<&Call>, since: u64) -> Option<Self> {
        let gives = Gives::of(method)?;
        let params = call.and_then(|call| serde_json::from_str(call.arguments_text()).ok()).unwrap_or_default();
        Some(Self {
            tool: method.into(),
            identity: (!method.starts_with("tasks/")).then(|| of_request(method, &params).identity),
            ticket: None,
            target: request::target(&params).map(|target| target.chars().take(TARGET).collect::<String>().into()),
            gives,
            meta: call.map(|call| call.meta().clone()).unwrap_or_default(),
            since,
            asked_by: String::new(),
        })
    }
}

/// A request the host came back with.
#[derive(Clone, Debug)]
pub struct Later {
    pub id: Id,
    /// The JSON token of its `progressToken`.
    pub token: Option<String>,
}

impl Flight {
    /// What rules about results select its answer by; `None` where it gives no result.
    pub fn answered(&self) -> Option<AnswerOf> {
        let gives = self.method.as_deref().map_or(Some(Gives::Result), Gives::of)?;
        let is_task = self.method.as_deref().is_some_and(|method| method.starts_with("tasks/"));
        Some(AnswerOf {
            tool: Arc::clone(&self.tool),
            // A rule about any tool may be about it.
            identity: (!is_task && !self.is_inside).then_some(self.identity),
            ticket: Some(Arc::clone(&self.ticket)),
            target: self.target.clone(),
            gives,
            meta: self.meta.clone(),
            since: self.opened,
            asked_by: String::new(),
        })
    }

    /// The request under which its host waits for the answer; `id` is the one that the server knows.
    pub fn open_id<'a>(&'a self, id: &'a Id) -> &'a Id {
        self.later.last().map_or(id, |later| &later.id)
    }
}

/// What becomes of a line in which the server reports progress.
#[derive(Debug, PartialEq, Eq)]
pub enum Progress {
    Passes,
    /// The line has the token of the request that is open now, or its numbers go on above ours.
    Changed(Line),
    /// The host wants no such report.
    Drops,
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
    /// The digest of the tool's definition that was approved.
    definition: Option<Digest>,
    state: Option<String>,
    inputs: Vec<String>,
    until: Until,
    from: Continued,
}

/// Until when a retry may come.
#[derive(Debug, PartialEq, Eq)]
enum Until {
    /// In monotonic microseconds.
    Time(u64),
    /// No retry may come yet: the answer to the request of this id is held.
    Passes(Id),
}

/// Where a continued call's approval comes from.
#[derive(Clone, Debug)]
pub struct Continued {
    pub ticket: Arc<str>,
    pub by: By,
    pub rule: Option<String>,
}

/// How many characters of what a request is about are kept.
const TARGET: usize = 200;
/// How many unfinished multi-round-trip calls are remembered.
const CONTINUATIONS: usize = 64;
/// How many calls may be without an answer: a server that never answers must not fill the memory. Some hundred bytes each.
const FLIGHTS: usize = 20_000;

#[derive(Debug, Default)]
pub struct Flights {
    /// Boxed, so that moving entries within the tree is cheap.
    calls: BTreeMap<Id, Box<Flight>>,
    /// For each request that a host came back with: the call's first request, under which the server knows it.
    later: BTreeMap<Id, Id>,
    /// The same for progress tokens, if we reported progress under them or their hosts wait under another token now.
    tokens: BTreeMap<Id, Id>,
    continuations: Vec<Continuation>,
    /// What the model has read, if that makes its next call that leaves for a host worth a look: the hazard, in words.
    pub reading: Option<String>,
}

impl Flights {
    pub fn insert(&mut self, id: Id, flight: Flight) {
        if self.calls.len() >= FLIGHTS {
            // No host waits for cancelled calls, and most servers never answer them: their ids become free again.
            let cancelled = self.calls.extract_if(.., |_, flight| flight.wanted == Wanted::Cancelled);
            for flight in cancelled.map(|(_, flight)| flight).collect::<Vec<_>>() {
                self.forget(&flight);
            }
        }
        for later in &flight.later {
            self.later.insert(later.id.clone(), id.clone());
        }
        if let Some((token, _)) = &flight.reported {
            self.tokens.insert(token.clone(), id.clone());
        }
        self.calls.insert(id, Box::new(flight));
    }

    fn forget(&mut self, flight: &Flight) {
        for later in &flight.later {
            self.later.remove(&later.id);
        }
        if let Some((token, _)) = &flight.reported {
            self.tokens.remove(token);
        }
    }

    /// The first request of a call whose host came back with this one.
    pub fn first_of(&self, later: &Id) -> Option<&Id> {
        self.later.get(later)
    }

    /// Whether some host waits under another id than the server knows.
    pub fn has_later(&self) -> bool {
        !self.later.is_empty()
    }

    /// Whether the answer under this id goes to the host under another one, or by a task.
    pub fn renames(&self, id: &Id) -> bool {
        self.calls.get(id).is_some_and(|flight| !flight.later.is_empty() || flight.task.is_some())
    }

    /// What becomes of a report of progress: it reaches the request that is open now, and progress never falls.
    pub fn progress(&mut self, line: &Line) -> Progress {
        #[derive(serde::Deserialize)]
        struct Report {
            params: Params,
        }
        #[derive(serde::Deserialize)]
        struct Params {
            #[serde(rename = "progressToken")]
            token: serde_json::Value,
            progress: f64,
            total: Option<f64>,
        }
        if self.tokens.is_empty() {
            return Progress::Passes;
        }
        let Ok(Report { params }) = serde_json::from_slice(line.content()) else { return Progress::Passes };
        let first = Id::from_token(&params.token.to_string()).and_then(|token| self.tokens.get(&token));
        let Some(flight) = first.and_then(|first| self.calls.get_mut(first)) else { return Progress::Passes };
        if flight.task.is_some() && flight.modern {
            // The task extension has no progress notifications.
            return Progress::Drops;
        }
        let ours = flight.reported.as_ref().map_or(0, |(_, ours)| *ours);
        // Rounded up; what is beyond any honest number leaves room for ours.
        let told = (params.progress.max(0.0) + f64::from(ours)).ceil();
        flight.reached = flight.reached.max(told.to_string().parse().unwrap_or(u32::MAX).min(u32::MAX / 2));
        if ours == 0 && flight.later.is_empty() {
            return Progress::Passes;
        }
        let (total, later) = (params.total, flight.later.last());
        let counted = |line: Line, member: &str, number: f64| match ours {
            0 => Some(line),
            _ => rename::with_param(&line, member, &(number.max(0.0) + f64::from(ours)).to_string()),
        };
        counted(line.clone(), "progress", params.progress)
            .and_then(|line| total.map_or(Some(line.clone()), |total| counted(line, "total", total)))
            .and_then(|line| match later {
                None => Some(line),
                Some(later) => rename::with_param(&line, "progressToken", later.token.as_deref()?),
            })
            .map_or(Progress::Drops, Progress::Changed)
    }

    pub fn is_full(&self) -> bool {
        self.calls.len() >= FLIGHTS
            && self.calls.values().filter(|flight| flight.wanted == Wanted::Yes).count() >= FLIGHTS
    }

    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    pub fn contains(&self, id: &Id) -> bool {
        self.calls.contains_key(id)
    }

    pub fn cancel(&mut self, id: &Id) -> Option<&Flight> {
        let flight = self.calls.get_mut(id)?;
        if flight.wanted == Wanted::Cancelled {
            return None;
        }
        flight.wanted = Wanted::Cancelled;
        Some(flight)
    }

    pub fn get(&self, id: &Id) -> Option<&Flight> {
        self.calls.get(id).map(|flight| &**flight)
    }

    pub fn land(&mut self, id: &Id) -> Option<Box<Flight>> {
        let flight = self.calls.remove(id)?;
        self.forget(&flight);
        Some(flight)
    }

    /// Removes all calls in flight. Returns those that a host waits for, by the request that waits, oldest first.
    pub fn drain(&mut self) -> Vec<(Id, Box<Flight>)> {
        self.later.clear();
        self.tokens.clear();
        let wanted = std::mem::take(&mut self.calls).into_iter().filter(|(_, flight)| flight.wanted == Wanted::Yes);
        let mut all: Vec<_> = wanted.map(|(id, flight)| (flight.open_id(&id).clone(), flight)).collect();
        all.sort_by_key(|(_, flight)| flight.forwarded.mono);
        all
    }

    /// Whether some call in flight has an output schema, so that its answer is worth buffering.
    pub fn wants_whole_answers(&self) -> bool {
        self.calls.values().any(|flight| flight.described.as_ref().is_some_and(|known| known.output().is_some()))
    }

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

    /// Whether the server asked for exactly the state that a call brings back: it may be a wrapper too.
    pub fn gave_state(&self, call: &Call) -> bool {
        self.continuations.iter().any(|one| call.carries_state(one.state.as_deref()))
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

    /// The approval that a retry continues, once: definition, all of `params` that is repeated, and the server's state must match.
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
