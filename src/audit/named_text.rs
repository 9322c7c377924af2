//! A text that a record names by its digest: a policy, or the definition of a tool. Pure.

use std::sync::Arc;

use crate::wire::digest::Digest;
use crate::wire::words::words;

words! {
    /// What a text is.
    TextKind {
        Policy = "policy",
        /// Of which files a policy was read: a line for each, with the digest of its text.
        PolicyFiles = "policy-files",
        Definition = "definition",
    }
}

/// A text, and the digest by which records name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedText {
    pub(super) what: TextKind,
    digest: Digest,
    pub(super) text: Arc<str>,
}

impl NamedText {
    pub fn new(what: TextKind, text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        Self { what, digest: Digest::of(text.as_bytes()), text }
    }

    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Its size in bytes.
    #[expect(clippy::len_without_is_empty, reason = "an empty text is kept like any other")]
    pub fn len(&self) -> usize {
        self.text.len()
    }
}
