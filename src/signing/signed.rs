//! A statement with its signature: as a console sends it, checked against the list of signers, and as a record keeps it. What a
//! statement says is read by whoever has it checked.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::signing::grade::{ConsoleUser, Grade, Owner};
use crate::signing::signers::{MayNotSign, Signers};
use crate::signing::sshsig::{Presence, PublicKey, SshSignature, Unreadable, rearmored, unarmored};
use crate::signing::statement::NoStatement;

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
