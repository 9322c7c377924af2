//! The proof that an operator signed an accepted policy's text. It has no challenge: it counts as long as its key does.

use serde::{Deserialize, Serialize};

use crate::signing::signers::Signers;
use crate::signing::statement::{LONGEST, NoStatement};
use crate::signing::verdict::{Evidence, Refused, Signer, attest};
use crate::wire::digest::Digest;

/// The namespace of signatures over changes: none over a verdict counts for one.
pub const NAMESPACE: &str = "change@mcp-approve";

const VERSION: u32 = 1;

/// What is accepted, where. Every field is compared with what the wrapper reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeTerms {
    pub file: String,
    pub machine: String,
    pub text: Digest,
    pub user: String,
}

/// What is signed: canonical JSON, as a verdict's statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    pub change: ChangeTerms,
    /// The principal of the allowed signers that the operator signs as.
    pub signer: String,
    /// Milliseconds since 1970, UTC.
    pub time: i64,
    version: u32,
}

impl Change {
    pub const fn new(change: ChangeTerms, signer: String, time: i64) -> Self {
        Self { change, signer, time, version: VERSION }
    }

    pub fn to_json(&self) -> String {
        // A struct of strings and integers is always JSON.
        serde_json::to_string(self).unwrap_or_default()
    }

    fn read(text: &str) -> Result<Self, NoStatement> {
        if text.len() > LONGEST {
            return Err(NoStatement::TooLong);
        }
        let read: Self = serde_json::from_str(text).map_err(|error| NoStatement::Json(error.to_string()))?;
        match read.to_json() == text {
            _ if read.version != VERSION => Err(NoStatement::Version(read.version)),
            true => Ok(read),
            false => Err(NoStatement::NotCanonical),
        }
    }
}

/// Checks that a signer that is allowed signed this change; the key must be allowed to when it signed.
pub fn check(evidence: &Evidence, signers: &Signers, expected: &ChangeTerms) -> Result<Signer, Refused> {
    let (Change { change, .. }, signer) = attest(evidence, NAMESPACE, signers, |text| {
        Change::read(text).map(|read| (read.signer.clone(), read.time, read))
    })?;
    let ChangeTerms { file, machine, text, user } = expected;
    let same = [
        ("the file", change.file == *file),
        ("the text", change.text == *text),
        ("the machine", change.machine == *machine),
        ("the user", change.user == *user),
    ];
    match same.into_iter().find(|(_, same)| !same) {
        Some((field, _)) => Err(Refused::OtherChange(field)),
        None => Ok(signer),
    }
}
