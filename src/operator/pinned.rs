//! What is remembered of servers' tools and programs, and what an operator settles of it: plain data. Its text is foreign.

use crate::behavior::{Badge, Identity, Mutability};
use crate::gate::data::pin::Pin;
use crate::home::agreed::Known;
use crate::link::message::{KnownTool, PinState};
use crate::pins::diff::{Diff, Grown};
use crate::pins::{page::Page, reading::Server};
use crate::wire::Digest;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PinBook {
    pub tools: Vec<PinnedTool>,
    /// Servers whose program or command line is not the trusted one.
    pub programs: Vec<PinnedProgram>,
    /// What is kept as agreed to, with what counts and what does not.
    pub agreed: Vec<Known>,
    pub pages: Vec<Page>,
    /// Whose sets of a team wait for a review.
    pub teams: Vec<String>,
}

/// A tool as its server described it last.
#[derive(Clone, Debug, PartialEq)]
pub struct PinnedTool {
    pub server: String,
    /// The digest of the server's command line, 64 hex characters.
    pub fingerprint: String,
    pub known: KnownTool,
    /// `documents:read`, as a role would name it.
    pub tags: Vec<String>,
    /// Side effects and idempotence, in our words.
    pub effects: String,
    /// What the trusted definition was concluded to be.
    pub was: Option<Identity>,
    /// From 1, one more with every change of the definition.
    pub version: u64,
    /// The definition as indented JSON.
    pub definition: String,
    /// What differs from the trusted definition; empty where none is trusted or nothing does.
    pub changes: Vec<Diff>,
    /// What the tool can do beyond the trusted definition.
    pub grown: Option<Grown>,
    /// Allow rules that name this tool, by id: they are suspended while it is not trusted.
    pub rules: Vec<String>,
    /// Milliseconds since 1970, UTC.
    pub last_seen: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PinnedProgram {
    pub server: Server,
    pub why: String,
    /// Allow rules that name this server or one of its tools, by id: they are suspended.
    pub rules: Vec<String>,
}

/// A definition as it was on show, so that what changed since is not settled with it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shown {
    pub fingerprint: String,
    pub tool: String,
    pub latest: Digest,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PinReview {
    Tools(Vec<(Shown, ToolReview)>),
    Program { fingerprint: String, server: String, program: String, word: ProgramReview },
    // Agrees to these lines of a page, by their places.
    Page(Box<Page>, Vec<usize>),
    // Takes back what was agreed to, by the digests of its records.
    Forget(Vec<Digest>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolReview {
    Accepted,
    Refused,
    Is(Mutability),
    /// In full; `None` takes back what was said.
    Pinned(Option<Identity>),
    /// The last word is undone: the pin is again as it was before.
    TakenBack(Pin),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramReview {
    Accepted,
    /// The last word is undone: the files that were trusted before are trusted again.
    TakenBack(Option<String>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewDone {
    /// What was done, with names in it.
    pub says: String,
    /// What undoes it; `None` after an undo.
    pub undo: Option<PinReview>,
}

impl PinBook {
    /// What is agreed to for a tool of the server with this fingerprint; then what is about the server, or every server.
    pub fn agreed_of(&self, fingerprint: &str, tool: Option<&str>) -> Vec<&Known> {
        let mut found: Vec<&Known> = self.agreed.iter().filter(|one| one.concerns(fingerprint, tool)).collect();
        found.sort_by_key(|one| one.order());
        found
    }
}

impl PinnedTool {
    pub fn shown(&self) -> Shown {
        Shown { fingerprint: self.fingerprint.clone(), tool: self.known.tool.clone(), latest: self.known.digest }
    }

    pub fn wants_word(&self) -> bool {
        wants_word(self.known.pin, Badge::of(self.known.identity.mutability, self.known.confidence))
    }

    /// Whether it is not the trusted definition: no allow rule covers it until an operator has reviewed it.
    pub fn waits(&self) -> bool {
        self.known.pin != PinState::Trusted
    }
}

/// Whether the operator's word on a tool would save questions: it looks like a read, or it is new.
pub fn wants_word(pin: PinState, badge: Badge) -> bool {
    match pin {
        PinState::Trusted => badge == Badge::Likely,
        PinState::New => true,
        PinState::Changed { .. } | PinState::Unreviewed | PinState::Refused => false,
    }
}
