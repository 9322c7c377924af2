//! What a signature of an operator covers, as canonical JSON: one line, keys sorted, no spaces, strings and integers only.
//!
//! [`Statement::read`] takes only the bytes that [`Statement::to_json`] writes, so each statement has one text and one digest.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::wire::{Digest, digest::NotADigest, words::words};

/// The namespace of signatures over statements.
pub const NAMESPACE: &str = "verdict@mcp-approve";

/// The version of the statement's fields. Version 1 also had `reason`, always empty, and `sandbox`, always absent.
pub const VERSION: u32 = 2;

/// The longest statement that is read, in bytes.
pub const LONGEST: usize = 64 << 10;

/// 32 random bytes that a wrapper draws for each card it sends: a signature counts for that card alone, and once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Challenge(Digest);

impl Challenge {
    pub const fn of(random: [u8; 32]) -> Self {
        Self(Digest::from_bytes(random))
    }
}

impl FromStr for Challenge {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        text.parse().map(Self)
    }
}

impl fmt::Display for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Challenge({})", self.0.short())
    }
}

words! {
    /// What the operator says of the call.
    SignedWord {
        Approve = "approve",
        Deny = "deny",
    }
}

/// The call that a verdict is about, as the wrapper knows it. Every field is compared with the wrapper's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardTerms {
    /// Which of the `approvals` that the call needs: 1 for the first.
    pub approval: u32,
    pub approvals: u32,
    /// The digest of the bytes that will be forwarded; after an edit, of the edit.
    pub call: Digest,
    /// The digest of the card's data as the wrapper sent it.
    pub card: Digest,
    pub challenge: Challenge,
    /// The digest of the tool's definition as it is pinned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Digest>,
    /// The name of the machine that the wrapper runs on.
    pub machine: String,
    pub policy: Digest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The fingerprint of the server's command.
    pub server: String,
    pub session: String,
    pub ticket: String,
    /// The user that the wrapper runs as.
    pub user: String,
}

/// What the operator says. The console sends the same beside the statement, and both must agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Said {
    /// What is granted beyond this call; absent for this call alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grants: Option<String>,
    /// Until when it is granted, in milliseconds since 1970, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
    pub verdict: SignedWord,
}

/// The end of the log as the console saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogHead {
    pub head: Digest,
    pub seq: u64,
}

/// What is signed. Times are milliseconds since 1970, UTC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The other cards that the same verdict is about, where one signature covers several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<CardTerms>,
    pub card: CardTerms,
    /// Absent where the console had no log to read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<LogHead>,
    /// The signature counts up to this moment.
    pub not_after: i64,
    pub said: Said,
    /// The principal of the allowed signers that the operator signs as.
    pub signer: String,
    pub time: i64,
    pub version: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoStatement {
    #[error("it is longer than {LONGEST} bytes")]
    TooLong,
    #[error("it is not the JSON of a statement: {0}")]
    Json(String),
    #[error("it is not canonical: its bytes differ from how a statement is written")]
    NotCanonical,
    #[error("it has version {0} of the statement's fields; this program knows version {VERSION}")]
    Version(u32),
}

impl Statement {
    pub fn cards(&self) -> impl Iterator<Item = &CardTerms> {
        std::iter::once(&self.card).chain(&self.also)
    }

    pub fn to_json(&self) -> String {
        // A struct of strings and integers is always JSON.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads the bytes that were signed.
    /// Errors: [`NoStatement`] for any bytes that [`Self::to_json`] does not write.
    pub fn read(text: &str) -> Result<Self, NoStatement> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        if text.len() > LONGEST {
            return Err(NoStatement::TooLong);
        }
        let not_json = |error: serde_json::Error| NoStatement::Json(error.to_string());
        let Versioned { version } = serde_json::from_str(text).map_err(not_json)?;
        if version != VERSION {
            return Err(NoStatement::Version(version));
        }
        let read: Self = serde_json::from_str(text).map_err(not_json)?;
        if read.to_json() == text { Ok(read) } else { Err(NoStatement::NotCanonical) }
    }
}
