//! Sorts a line: a call, something that passes, or something refused. Owns the grammar of what a host may send.

use super::call::Call;
use super::id::Id;
use super::line::Line;

/// What a host's line is.
#[derive(Debug)]
pub enum Sorted {
    /// A `tools/call` request: held until a decision.
    Call(Box<Call>),
    /// Anything else that is canonical: passes as it is.
    Plain(Plain),
    /// Never forwarded; answered.
    Refused { refusal: Refusal, line: Line },
    /// Only white space: no message; dropped without a word.
    Blank,
}

/// A canonical line that is not a call. Only [`sort`] makes one, so a call cannot pass as one.
#[derive(Debug)]
pub struct Plain {
    line: Line,
    gist: Gist,
}

impl Plain {
    /// What the message is.
    pub fn gist(&self) -> &Gist {
        &self.gist
    }

    /// The line as received.
    pub fn line(&self) -> &Line {
        &self.line
    }

    /// Consumes the message for its bytes.
    pub fn into_line(self) -> Line {
        self.line
    }
}

/// The gist of a message in either direction: kind, id, method, and little more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gist {
    /// A request. `modern` when its `_meta` declares the stateless era.
    Request { id: Id, method: String, modern: bool },
    /// A notification. `cancels` is `params.requestId` of `notifications/cancelled`.
    Notification { method: String, cancels: Option<Id> },
    /// A response; `failed` when it carries `error`.
    Response { id: Id, failed: bool },
    /// Nothing we can read (server lines only): passes, is never interpreted.
    Unreadable,
}

/// Why a host's line is refused, and what to answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Refusal {
    /// The JSON-RPC error code: -32700 or -32600.
    pub code: i32,
    /// What is wrong, for the host's developer: one sentence, no foreign text.
    pub what: String,
    /// The request's id where one can be told; `None` answers with `null`.
    pub id: Option<Id>,
    /// Whether an answer is due: a refused notification gets none.
    pub answer: bool,
}

/// Sorts one line from the host. Strict: see THREATS C1 to C10.
pub fn sort(_line: Line) -> Sorted {
    todo!()
}

/// The refusal for a line beyond the cap. `head` is its first bytes, searched for an id.
pub fn overlong(_head: &[u8], _bytes: u64, _cap: usize) -> Refusal {
    todo!()
}

/// Tells what a server's line is, as far as it can be told. Tolerant: it is relayed in any case.
pub fn peek(_content: &[u8]) -> Gist {
    todo!()
}
