//! The proof that an operator signed a change of what lets calls pass, or of the log: a policy's text, what was agreed to, what was
//! said of a definition or a program, a stretch of the log that was removed. It has no challenge: it counts as long as its key does.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::signing::grade::{ConsoleUser, Grade, Needs};
use crate::signing::signers::{InForce, Signers};
use crate::signing::statement::{Evidence, NoStatement, Refused, Signed, attest, canonical};
use crate::signing::verdict::{CLOCK_SKEW, LONGEST_VALIDITY};
use crate::wire::digest::Digest;
use crate::wire::words::words;

/// The namespace of signatures over changes: none over a verdict counts for one.
pub const NAMESPACE: &str = "change@mcp-approve";

/// The version of the fields. Version 1 was for policies alone.
const VERSION: u32 = 2;

/// The most changes that one signature covers: each has a record with the whole statement.
const MOST: usize = 256;

words! {
    /// What is changed.
    ChangeKind {
        /// The digest is that of a policy's whole text; `of` is its path.
        Policy = "policy",
        /// The digests are those of what was agreed to, as its records have them, and of [`review`].
        Tools = "tools",
        /// The digest is the link of the last record that is removed.
        Log = "log",
    }
}

/// What is changed, where. Every field is compared with what is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeTerms {
    pub changes: Vec<Digest>,
    pub kind: ChangeKind,
    pub machine: String,
    /// A policy's path; empty where the digests say it all.
    pub of: String,
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
        canonical(text, VERSION)
    }
}

/// When a statement says that it was signed, in milliseconds since 1970, UTC; `None` where it is not a change's.
pub fn time_of(statement: &str) -> Option<i64> {
    Change::read(statement).ok().map(|change| change.time)
}

/// The digest of what was said of a tool's definition, or with an empty tool of a server's program, both by their digests.
pub fn review(fingerprint: &str, tool: &str, definition: &Digest, says: &str) -> Digest {
    Digest::of_parts(&["review", fingerprint, tool, &definition.to_string(), says])
}

/// A change whose signature is good, by a key that might sign when it was made.
pub type SignedChange = Signed<Change>;

impl SignedChange {
    /// Checks statement, signature and signer.
    ///
    /// # Errors
    /// [`Refused`] at the first thing that does not hold.
    pub fn check(evidence: Evidence, signers: &Signers) -> Result<Self, Refused> {
        attest(evidence, NAMESPACE, signers, |text| {
            Change::read(text).map(|read| (read.signer.clone(), read.time, read))
        })
    }

    /// Checks that it covers what is changed; it may cover more of the same kind.
    ///
    /// # Errors
    /// [`Refused`] names the first difference.
    pub fn covers(&self, expected: &ChangeTerms) -> Result<(), Refused> {
        let ChangeTerms { changes, kind, machine, of, user } = &self.statement().change;
        let same = [
            ("its kind", *kind == expected.kind),
            ("the file", *of == expected.of),
            ("what is changed", changes.len() <= MOST && expected.changes.iter().all(|one| changes.contains(one))),
            ("the machine", *machine == expected.machine),
            ("the user", *user == expected.user),
        ];
        match same.into_iter().find(|(_, same)| !same) {
            Some((field, _)) => Err(Refused::OtherChange(field)),
            None => Ok(()),
        }
    }
}

/// Proof that a change may be made: it is signed, or needs no signature.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    signatures: Option<Value>,
    worth: Grade,
}

impl Proof {
    /// The proof of a change that needs no signature.
    ///
    /// # Errors
    /// It needs one.
    pub fn unsigned(needs: Needs) -> Result<Self, String> {
        match needs {
            Needs::Nothing => Ok(Self { signatures: None, worth: Grade::Unsigned }),
            Needs::Signature => Err("the policy wants your signature for this: give it in a console that can sign, or at a terminal (`mcp-approve help signing`)".to_owned()),
        }
    }

    /// The proof by a signature that was made a moment ago.
    ///
    /// # Errors
    /// Why it does not count.
    pub fn signed(signed: &SignedChange, lists: &InForce, expected: &ChangeTerms, now: i64) -> Result<Self, Refused> {
        signed.covers(expected)?;
        let time = signed.statement().time;
        if time > now.saturating_add(CLOCK_SKEW) {
            return Err(Refused::FromTheFuture);
        }
        if now > time.saturating_add(LONGEST_VALIDITY) {
            return Err(Refused::Expired);
        }
        let worth = signed.grade(lists.owner, ConsoleUser::Same).ok_or(Refused::NotTouched)?;
        Ok(Self { signatures: Some(json!([signed.record(worth)])), worth })
    }

    /// The signatures as its records keep them.
    pub const fn signatures(&self) -> Option<&Value> {
        self.signatures.as_ref()
    }

    pub const fn is_signed(&self) -> bool {
        self.signatures.is_some()
    }

    /// What it is worth.
    pub const fn worth(&self) -> Grade {
        self.worth
    }
}
