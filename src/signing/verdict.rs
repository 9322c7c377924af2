//! The proof that an operator signed a verdict on exactly this card: made only of statement, signature, allowed signers and what
//! the wrapper expects. Every refusal is a value. And what protects the verdicts on a machine, for `doctor`, the console's header and
//! the page of a server alike.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::signing::grade::{ConsoleUser, Grade, Needs, Owner, Required};
use crate::signing::signers::{EntryKey, InForce, MayNotSign, Signers, same_person};
use crate::signing::statement::{
    CardTerms, Challenge, Evidence, NAMESPACE, Refused, Said, Signed, SignedWord, Signer, Statement, attest,
};
use crate::wire::Digest;

/// The longest time between a statement's `time` and its `not_after`, in milliseconds.
pub const LONGEST_VALIDITY: i64 = 10 * 60_000;

/// How far the clock of the console may be ahead of the wrapper's, in milliseconds.
pub const CLOCK_SKEW: i64 = 2 * 60_000;

/// A verdict whose signature is good, by a key that might sign when it was made. Not yet a verdict on a call that waits:
/// [`SignedVerdict::accept`] makes it one.
pub type Attested = Signed<Statement>;

impl Attested {
    /// Checks statement, signature and signer; validity of the key counts at the statement's own time.
    pub fn check(evidence: Evidence, signers: &Signers) -> Result<Self, Refused> {
        let signed = attest(evidence, NAMESPACE, signers, |text| {
            Statement::read(text).map(|read| (read.signer.clone(), read.time, read))
        })?;
        let Statement { said, also, .. } = signed.statement();
        if said.grants.is_none() && said.until.is_some() {
            return Err(Refused::Grant);
        }
        if said.grants.is_some() && !also.is_empty() {
            return Err(Refused::GrantOfSeveral);
        }
        Ok(signed)
    }

    /// Checks that its key may still sign, by the lists of now.
    pub fn holds(&self, signers: &Signers, now: i64) -> Result<(), MayNotSign> {
        let Signer { principal, key, .. } = self.signer();
        signers.may_sign(principal, key, NAMESPACE, now).map(drop)
    }
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

/// The challenges that were answered, with the number of the approval; 0 for a denial.
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
        let Statement { said, time, not_after, .. } = attested.statement();
        let is_it = |card: &&CardTerms| card.challenge == expected.card.challenge;
        let card = attested.statement().cards().find(is_it).ok_or(Refused::OtherChallenge)?;
        // What a card showed and on which terms its call is approved does not matter to a denial: any valid one ends the call, also
        // from a card of which something was withheld, so that its digests are others. Its challenge is of these bytes alone.
        let differs = other_call(card, expected.card).or_else(|| match expected.said.verdict {
            SignedWord::Approve => other_terms(card, expected.card),
            SignedWord::Deny => None,
        });
        if let Some(field) = differs {
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
        let Signer { principal, key, .. } = attested.signer();
        if expected.earlier.iter().any(|one| same_person(&one.principal, principal) || one.key == *key) {
            return Err(Refused::SameSigner { signer: principal.clone() });
        }
        // A denial may answer the card that an approval by another has answered.
        let number = if said.verdict == SignedWord::Deny { 0 } else { card.approval };
        if !spent.0.insert((card.challenge, number)) {
            return Err(Refused::UsedBefore);
        }
        Ok(Self { attested })
    }

    pub const fn attested(&self) -> &Attested {
        &self.attested
    }

    /// What it is worth; `None` where a touch is missing, which no accepted verdict lacks.
    pub const fn grade(&self, owner: Owner, console: ConsoleUser) -> Option<Grade> {
        Grade::of(owner, self.attested.signer().presence, console)
    }
}

/// Proof that a call may run as far as signatures go: it needs none, or enough people signed that these bytes may run.
///
/// ```compile_fail
/// use mcp_approve::signing::verdict::Consent;
/// let forged = Consent(mcp_approve::wire::digest::Digest::of(b""));
/// ```
#[derive(Debug)]
pub struct Consent(Digest);

impl Consent {
    /// For the call of this digest, by what it needs, how many approvals that takes, and those that were given; `None` where too few
    /// of them are for this call.
    pub fn of<'s>(
        call: Digest,
        needs: Needs,
        approvals: u32,
        signed: impl Iterator<Item = &'s SignedVerdict>,
    ) -> Option<Self> {
        let is_for = |one: &&SignedVerdict| one.attested.statement().cards().any(|card| card.call == call);
        let enough = || u32::try_from(signed.filter(is_for).count()).is_ok_and(|given| given >= approvals.max(1));
        (needs == Needs::Nothing || enough()).then_some(Self(call))
    }

    pub fn is_for(&self, call: &Digest) -> bool {
        self.0 == *call
    }
}

/// The first field that says which call it is, and is another.
fn other_call(card: &CardTerms, expected: &CardTerms) -> Option<&'static str> {
    let same = [
        ("the ticket", card.ticket == expected.ticket),
        ("the challenge", card.challenge == expected.challenge),
        ("the session", card.session == expected.session),
        ("the user", card.user == expected.user),
        ("the machine", card.machine == expected.machine),
    ];
    same.into_iter().find(|(_, same)| !same).map(|(field, _)| field)
}

/// The first field that says what was shown, to the byte, and on which terms, and is another.
fn other_terms(card: &CardTerms, expected: &CardTerms) -> Option<&'static str> {
    // Every field by name: a new one that is not compared is a compile error.
    let CardTerms {
        approval,
        approvals,
        card: shown,
        definition,
        policy,
        role,
        server,
        call,
        challenge: _,
        machine: _,
        session: _,
        ticket: _,
        user: _,
    } = expected;
    let same = [
        ("the digest of its card", card.card == *shown),
        ("the digest of its bytes", card.call == *call),
        ("the tool's definition", card.definition == *definition),
        ("the policy", card.policy == *policy),
        ("the role", card.role == *role),
        ("the number of the approval", card.approval == *approval),
        ("the number of approvals needed", card.approvals == *approvals),
        ("the server", card.server == *server),
    ];
    same.into_iter().find(|(_, same)| !same).map(|(field, _)| field)
}

/// The first part of the verdict that is another.
fn other_verdict(said: &Said, expected: &Said) -> Option<&'static str> {
    let Said { grants, reason, until, verdict } = expected;
    let same = [
        ("approve or deny", said.verdict == *verdict),
        ("what it grants", said.grants == *grants),
        ("the reason", said.reason == *reason),
        ("until when it is granted", said.until == *until),
    ];
    same.into_iter().find(|(_, same)| !same).map(|(field, _)| field)
}

/// What protects the verdicts on a machine: the grade of the weakest key that may sign, and for which calls one must.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Level {
    pub grade: Grade,
    required: Required,
}

impl Level {
    /// The level where signatures are required by the machine's policy, and these lists are in force.
    pub fn of(required: Required, lists: Option<&InForce>) -> Self {
        let entries =
            lists.into_iter().flat_map(|lists| lists.signers.entries().iter().map(move |entry| (entry, lists)));
        let usable = entries.filter(|(entry, _)| entry.is_for(NAMESPACE));
        let grades = usable.filter_map(|(entry, lists)| match &entry.key {
            EntryKey::Supported(key) if !lists.signers.is_revoked(key) => Some(Grade::of_key(lists.owner, key.kind())),
            EntryKey::Supported(_) | EntryKey::Unsupported { .. } => None,
        });
        match (required, grades.min()) {
            (Required::Never, _) | (_, None) => Self::default(),
            (required, Some(grade)) => Self { grade, required },
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.required {
            Required::Dangerous => write!(f, "dangerous calls {}, others L0", self.grade.word()),
            Required::Never | Required::Always => f.write_str(self.grade.word()),
        }
    }
}
