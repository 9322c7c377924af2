//! What hosts were given for calls that wait, by ids that cannot be guessed: states they bring back, the form that is open.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::wire::{Call, Digest, Id, Line};

/// Things that are kept by id, in the order they were given, each until its time (monotonic microseconds).
#[derive(Debug)]
pub struct Kept<T> {
    by_id: HashMap<Arc<str>, KeptEntry<T>>,
    last: u64,
}

#[derive(Debug)]
struct KeptEntry<T> {
    nth: u64,
    until: u64,
    kept: T,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { by_id: HashMap::new(), last: 0 }
    }
}

impl<T> Kept<T> {
    pub fn give(&mut self, id: Arc<str>, until: u64, kept: T) {
        self.last += 1;
        self.by_id.insert(id, KeptEntry { nth: self.last, until, kept });
    }

    pub fn take(&mut self, id: &str) -> Option<T> {
        self.by_id.remove(id).map(|entry| entry.kept)
    }

    pub fn get(&self, id: &str) -> Option<&T> {
        self.by_id.get(id).map(|entry| &entry.kept)
    }

    pub fn get_mut(&mut self, id: &str) -> Option<&mut T> {
        self.by_id.get_mut(id).map(|entry| &mut entry.kept)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &T)> {
        self.by_id.iter().map(|(id, entry)| (id, &entry.kept))
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.by_id.values_mut().map(|entry| &mut entry.kept)
    }

    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    pub fn keep(&mut self, id: &str, until: u64) {
        if let Some(entry) = self.by_id.get_mut(id) {
            entry.until = until;
        }
    }

    /// Keeps one until this time at least.
    pub fn extend(&mut self, id: &str, until: u64) {
        if let Some(entry) = self.by_id.get_mut(id) {
            entry.until = entry.until.max(until);
        }
    }

    /// Takes those whose time is over by `now`, in the order they were given.
    pub fn due(&mut self, now: u64) -> Vec<T> {
        let mut due: Vec<_> =
            self.by_id.extract_if(|_, entry| entry.until <= now).map(|(_, entry)| (entry.nth, entry.kept)).collect();
        due.sort_by_key(|(nth, _)| *nth);
        due.into_iter().map(|(_, kept)| kept).collect()
    }

    pub fn wake_at(&self) -> Option<u64> {
        self.by_id.values().map(|entry| entry.until).min()
    }
}

/// What one host must come back for.
#[derive(Debug)]
pub struct Return {
    pub ticket: Arc<str>,
    pub owed: Owed,
    /// The form that the host was given with the state: it comes back with its user's answer.
    pub form: Option<ShownForm>,
    /// What the request must repeat, and what it may.
    pub repeated: Digest,
    pub responses: Option<Digest>,
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
    /// Whether a request is the expected one: same call, same host, nothing added but the answer to our form, which goes no further.
    pub fn fits(&self, call: &Call) -> bool {
        let is_nothing =
            |text: &str| serde_json::from_str(text).is_ok_and(|object: Map<String, Value>| object.is_empty());
        let responses = call.input_responses_text();
        call.is_modern()
            && call.repeated() == self.repeated
            && call.meta().client == self.client
            && (self.form.is_some()
                || responses.map(|text| Digest::of(text.as_bytes())) == self.responses
                || responses.is_none_or(is_nothing))
    }
}

/// Our questions to the host: at most one is open, so that no burst of calls makes a burst of forms.
#[derive(Debug)]
pub struct FormQuestions {
    /// What every id of ours begins with. A server that could guess an id would ask under it itself, before we do.
    prefix: String,
    asked: u64,
    /// The question that the host has not answered yet, as a request of ours.
    pub open: Option<OpenForm>,
}

#[derive(Debug)]
pub struct OpenForm {
    pub id: String,
    pub form: ShownForm,
}

/// What a form asks about. On 2026-07-28 it is inside the answer to the call's own request, and its answer has the state.
#[derive(Debug)]
pub struct ShownForm {
    pub number: u64,
    /// The entry of the record that the call was asked; a new card has a new entry.
    pub entry: u64,
    pub text: String,
}

impl FormQuestions {
    /// No question yet. `secret` makes its id impossible to guess.
    pub fn new(secret: &str) -> Self {
        let hidden = Digest::of(format!("elicitation\0{secret}").as_bytes());
        Self { prefix: format!("mcp-approve:{hidden}:"), asked: 0, open: None }
    }

    pub fn ask(&mut self, form: ShownForm) -> &OpenForm {
        self.asked += 1;
        let id = format!("{}{}", self.prefix, self.asked);
        self.open.insert(OpenForm { id, form })
    }

    /// Closes the question of this id, where it is the open one.
    pub fn answered(&mut self, id: &Id) -> Option<ShownForm> {
        self.open.take_if(|open| id.as_text() == Some(&open.id)).map(|open| open.form)
    }

    pub fn is_ours(&self, id: &Id) -> bool {
        id.as_text().is_some_and(|text| text.starts_with(&self.prefix))
    }
}
