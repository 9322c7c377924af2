//! What a signature of an operator covers, as canonical JSON: one line, keys sorted, no spaces, strings and integers only.
//!
//! [`Statement::read`] takes only the bytes that [`Statement::to_json`] writes, so each statement has one text and one digest.
//! A statement with its signature is [`Evidence`] as a console sends it, and [`Kept`] as a record has it; [`attest`] checks it
//! against the list of signers.

use std::fmt;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::signing::grade::{ConsoleUser, Grade, Owner};
use crate::signing::signers::{MayNotSign, Signers};
use crate::signing::sshsig::{Presence, PublicKey, SshSignature, Unreadable, rearmored, unarmored};
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
    /// The digest that names the bytes that will be forwarded; after an edit, those of the edit.
    pub call: Digest,
    /// The digest of the card's data as the wrapper sent it, with its salt.
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
    /// Why it is denied, which the host learns: whoever carries the verdict must not change it. Absent where no reason is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Until when it is granted, in milliseconds since 1970, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
    pub verdict: SignedWord,
}

impl Said {
    /// What a denial for a reason says; an empty one is none.
    pub fn denial(reason: &str) -> Self {
        let reason = Some(reason.to_owned()).filter(|reason| !reason.is_empty());
        Self { grants: None, reason, until: None, verdict: SignedWord::Deny }
    }
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
    #[error("it has version {0} of the statement's fields, which this program does not know")]
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
        let read: Self = canonical(text, VERSION)?;
        // A reason that is there and says nothing would be a second way to write one that is absent.
        if read.said.reason.as_deref() == Some("") { Err(NoStatement::NotCanonical) } else { Ok(read) }
    }
}

/// Reads the bytes that were signed, as one version of their fields.
/// Errors: [`NoStatement`] for any bytes that serializing does not write.
pub(super) fn canonical<T: Serialize + DeserializeOwned>(text: &str, known: u32) -> Result<T, NoStatement> {
    #[derive(Deserialize)]
    struct Versioned {
        version: u32,
    }
    if text.len() > LONGEST {
        return Err(NoStatement::TooLong);
    }
    let not_json = |error: serde_json::Error| NoStatement::Json(error.to_string());
    let Versioned { version } = serde_json::from_str(text).map_err(not_json)?;
    if version != known {
        return Err(NoStatement::Version(version));
    }
    let read: T = serde_json::from_str(text).map_err(not_json)?;
    if serde_json::to_string(&read).map_err(not_json)? == text { Ok(read) } else { Err(NoStatement::NotCanonical) }
}

/// A statement and its signature, as they are sent and kept. Not checked yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The canonical JSON, byte for byte as it was signed.
    pub statement: String,
    /// The armored signature.
    pub signature: String,
}

/// A signature as a record keeps it, under `signatures`.
#[derive(Deserialize)]
pub struct Kept {
    pub statement: String,
    pub sshsig: String,
    /// The line of the list of allowed signers that allowed its key then; earlier versions did not keep it.
    #[serde(default)]
    pub line: Option<String>,
}

impl Kept {
    pub fn evidence(&self) -> Evidence {
        Evidence { statement: self.statement.clone(), signature: rearmored(&self.sshsig) }
    }
}

/// Who signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signer {
    /// The principal that the statement names and the list allows.
    pub principal: String,
    pub key: PublicKey,
    pub presence: Presence,
}

/// Why a signature does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("the signature cannot be read: {0}")]
    Signature(#[from] Unreadable),
    #[error("the signature is for another purpose: its namespace is not {0}")]
    Namespace(&'static str),
    #[error("the signature does not match the statement and the key")]
    Forged,
    #[error("the statement cannot be read: {0}")]
    Statement(#[from] NoStatement),
    #[error("{0}")]
    Signer(#[from] MayNotSign),
    #[error("the key signed without a touch: touch it when it asks")]
    NotTouched,
    #[error("the signature is for another call: {0} in it is not that of the call that waits")]
    OtherCall(&'static str),
    #[error(
        "the signature is for another card: the card has changed, or a wrapper before this one sent it; look again"
    )]
    OtherChallenge,
    #[error("the signature is for another change: {0} in it is not the same")]
    OtherChange(&'static str),
    #[error("the signed verdict is not the one that was sent: {0} differs")]
    OtherVerdict(&'static str),
    #[error("the signature names the end of a grant, and no grant")]
    Grant,
    #[error("the signature grants more than one call, and is for several cards: grant with one")]
    GrantOfSeveral,
    #[error("the signature is dated in the future: compare the clocks of the two machines")]
    FromTheFuture,
    #[error("the signature has expired: sign again")]
    Expired,
    #[error("the signature would count for more than ten minutes")]
    TooLongValid,
    #[error("{signer} has approved this call already: another person with another key must")]
    SameSigner { signer: String },
    #[error("the signature was used before")]
    UsedBefore,
}

/// A statement whose signature is good, by a key that might sign when it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed<T> {
    evidence: Evidence,
    statement: T,
    signer: Signer,
    line: String,
}

impl<T> Signed<T> {
    /// Statement and signature as they came, for the record.
    pub const fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// What was signed.
    pub const fn statement(&self) -> &T {
        &self.statement
    }

    /// Who signed it.
    pub const fn signer(&self) -> &Signer {
        &self.signer
    }

    /// What it is worth; `None` where a touch is missing, which nothing that was checked lacks.
    pub const fn grade(&self, owner: Owner, console: ConsoleUser) -> Option<Grade> {
        Grade::of(owner, self.signer.presence, console)
    }

    /// It as a record keeps it, with all that it takes to verify it again.
    pub fn record(&self, worth: Grade) -> Value {
        let Self { evidence, signer, line, .. } = self;
        json!({
            "signer": signer.principal, "key": signer.key.kind().word(), "fingerprint": signer.key.fingerprint(),
            "worth": worth.word(), "line": line, "statement": evidence.statement,
            "sshsig": unarmored(&evidence.signature),
        })
    }
}

/// Checks a signature over a statement that `read` reads, with the principal and the time in it.
///
/// # Errors
/// [`Refused`] at the first thing that does not hold.
pub(super) fn attest<T>(
    evidence: Evidence,
    namespace: &'static str,
    signers: &Signers,
    read: impl FnOnce(&str) -> Result<(String, i64, T), NoStatement>,
) -> Result<Signed<T>, Refused> {
    let signature = SshSignature::read(&evidence.signature)?;
    if signature.namespace() != namespace {
        return Err(Refused::Namespace(namespace));
    }
    let presence = signature.verify(evidence.statement.as_bytes()).ok_or(Refused::Forged)?;
    let (principal, time, statement) = read(&evidence.statement)?;
    let line = signers.may_sign(&principal, signature.key(), namespace, time)?.text.clone();
    if matches!(presence, Presence::NotTouched { .. }) {
        return Err(Refused::NotTouched);
    }
    let signer = Signer { principal, key: signature.key().clone(), presence };
    Ok(Signed { evidence, statement, signer, line })
}
