//! The proof that an operator signed a verdict on exactly this card: made only of statement, signature, allowed signers and what
//! the wrapper expects. Every refusal is a value.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::signing::grade::{ConsoleUser, Grade, Owner};
use crate::signing::signers::{MayNotSign, Signers, same_person};
use crate::signing::sshsig::{Presence, PublicKey, SshSignature, Unreadable};
use crate::signing::statement::{CardTerms, Challenge, NAMESPACE, NoStatement, Said, Statement};

/// The longest time between a statement's `time` and its `not_after`, in milliseconds.
pub const LONGEST_VALIDITY: i64 = 10 * 60_000;

/// How far the clock of the console may be ahead of the wrapper's, in milliseconds.
pub const CLOCK_SKEW: i64 = 2 * 60_000;

/// A verdict's statement and signature, as the console sends them and the log keeps them. Not checked yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The canonical JSON, byte for byte as it was signed.
    pub statement: String,
    pub signature: String,
}

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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signer {
    /// The principal that the statement names and the list allows.
    pub principal: String,
    pub key: PublicKey,
    pub presence: Presence,
}

/// A statement with a good signature, not yet a verdict on a call that waits: [`SignedVerdict::accept`] makes it one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attested {
    evidence: Evidence,
    statement: Statement,
    signer: Signer,
    line: String,
}

impl Attested {
    /// Checks statement, signature and signer; validity of the key counts at the statement's own time.
    pub fn check(evidence: Evidence, signers: &Signers) -> Result<Self, Refused> {
        let (statement, signer) = attest(&evidence, NAMESPACE, signers, |text| {
            Statement::read(text).map(|read| (read.signer.clone(), read.time, read))
        })?;
        if statement.said.grants.is_none() && statement.said.until.is_some() {
            return Err(Refused::Grant);
        }
        if statement.said.grants.is_some() && !statement.also.is_empty() {
            return Err(Refused::GrantOfSeveral);
        }
        let line = signers.may_sign(&signer.principal, &signer.key, NAMESPACE, statement.time)?.text.clone();
        Ok(Self { evidence, statement, signer, line })
    }

    /// Checks that its key may still sign, by the lists of now.
    pub fn holds(&self, signers: &Signers, now: i64) -> Result<(), MayNotSign> {
        let Signer { principal, key, .. } = &self.signer;
        signers.may_sign(principal, key, NAMESPACE, now).map(drop)
    }

    /// Statement and signature as they came, for the record.
    pub const fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    pub const fn statement(&self) -> &Statement {
        &self.statement
    }

    /// The line of the list that allowed the key.
    pub fn line(&self) -> &str {
        &self.line
    }

    pub const fn signer(&self) -> &Signer {
        &self.signer
    }
}

/// Checks a signature over a statement that `read` reads, with the principal and the time in it.
pub(super) fn attest<T>(
    evidence: &Evidence,
    namespace: &'static str,
    signers: &Signers,
    read: impl FnOnce(&str) -> Result<(String, i64, T), NoStatement>,
) -> Result<(T, Signer), Refused> {
    let signature = SshSignature::read(&evidence.signature)?;
    if signature.namespace() != namespace {
        return Err(Refused::Namespace(namespace));
    }
    let presence = signature.verify(evidence.statement.as_bytes()).ok_or(Refused::Forged)?;
    let (principal, time, statement) = read(&evidence.statement)?;
    signers.may_sign(&principal, signature.key(), namespace, time)?;
    if matches!(presence, Presence::NotTouched { .. }) {
        return Err(Refused::NotTouched);
    }
    Ok((statement, Signer { principal, key: signature.key().clone(), presence }))
}

/// What the wrapper expects of a verdict on a card that waits.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    pub card: &'a CardTerms,
    /// What the console says beside the statement, and what will be done.
    pub said: &'a Said,
    /// Who has approved the same call before, where it needs several approvals.
    pub earlier: &'a [Signer],
    /// Milliseconds since 1970, UTC.
    pub now: i64,
}

/// The challenges that were answered, with the number of the approval.
#[derive(Clone, Debug, Default)]
pub struct Spent(BTreeSet<(Challenge, u32)>);

/// Proof that a signer that is allowed signed this verdict on this card, now, once. Not `Clone`: it is used up with the verdict.
///
/// It has no other maker than [`SignedVerdict::accept`]:
///
/// ```compile_fail
/// use mcp_approve::signing::verdict::{Attested, SignedVerdict};
/// fn forge(attested: Attested) -> SignedVerdict {
///     SignedVerdict { attested }
/// }
/// ```
#[derive(Debug)]
#[must_use = "a verdict that is dropped decides nothing"]
pub struct SignedVerdict {
    attested: Attested,
}

impl SignedVerdict {
    /// Holds an attested statement against the card that waits and the verdict that was sent.
    /// Errors: [`Refused`] at the first difference; then nothing is spent.
    pub fn accept(attested: Attested, expected: Expected<'_>, spent: &mut Spent) -> Result<Self, Refused> {
        let Statement { said, time, not_after, .. } = &attested.statement;
        let is_it = |card: &&CardTerms| card.challenge == expected.card.challenge;
        let card = attested.statement.cards().find(is_it).ok_or(Refused::OtherChallenge)?;
        if let Some(field) = other_call(card, expected.card) {
            return Err(Refused::OtherCall(field));
        }
        if let Some(field) = other_verdict(said, expected.said) {
            return Err(Refused::OtherVerdict(field));
        }
        if *time > expected.now.saturating_add(CLOCK_SKEW) {
            return Err(Refused::FromTheFuture);
        }
        if expected.now > *not_after || not_after < time {
            return Err(Refused::Expired);
        }
        if not_after.saturating_sub(*time) > LONGEST_VALIDITY {
            return Err(Refused::TooLongValid);
        }
        let Signer { principal, key, .. } = &attested.signer;
        if expected.earlier.iter().any(|one| same_person(&one.principal, principal) || one.key == *key) {
            return Err(Refused::SameSigner { signer: principal.clone() });
        }
        if !spent.0.insert((card.challenge, card.approval)) {
            return Err(Refused::UsedBefore);
        }
        Ok(Self { attested })
    }

    pub const fn attested(&self) -> &Attested {
        &self.attested
    }

    /// What it is worth; `None` where a touch is missing, which no accepted verdict lacks.
    pub const fn grade(&self, owner: Owner, console: ConsoleUser) -> Option<Grade> {
        Grade::of(owner, self.attested.signer.presence, console)
    }
}

/// The first field of the card that is another.
fn other_call(card: &CardTerms, expected: &CardTerms) -> Option<&'static str> {
    // Every field by name: a new one that is not compared is a compile error.
    let CardTerms {
        approval,
        approvals,
        call,
        card: shown,
        challenge,
        definition,
        machine,
        policy,
        role,
        sandbox,
        server,
        session,
        ticket,
        user,
    } = expected;
    let same = [
        ("the ticket", card.ticket == *ticket),
        ("the digest of its bytes", card.call == *call),
        ("the digest of its card", card.card == *shown),
        ("the challenge", card.challenge == *challenge),
        ("the tool's definition", card.definition == *definition),
        ("the policy", card.policy == *policy),
        ("the role", card.role == *role),
        ("the sandbox", card.sandbox == *sandbox),
        ("the number of the approval", card.approval == *approval),
        ("the number of approvals needed", card.approvals == *approvals),
        ("the server", card.server == *server),
        ("the session", card.session == *session),
        ("the user", card.user == *user),
        ("the machine", card.machine == *machine),
    ];
    same.into_iter().find(|(_, same)| !same).map(|(field, _)| field)
}

/// The first part of the verdict that is another.
fn other_verdict(said: &Said, expected: &Said) -> Option<&'static str> {
    let Said { grants, reason, until, verdict } = expected;
    let same = [
        ("approve or deny", said.verdict == *verdict),
        ("the reason", said.reason == *reason),
        ("what it grants", said.grants == *grants),
        ("until when it is granted", said.until == *until),
    ];
    same.into_iter().find(|(_, same)| !same).map(|(field, _)| field)
}
