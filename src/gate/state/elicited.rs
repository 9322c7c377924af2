//! The question that the host puts to its user for us: at most one at a time, so that no burst of calls makes a burst
//! of forms. Owns the id of that question, and what its form showed.

use crate::wire::digest::Digest;
use crate::wire::id::Id;

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
