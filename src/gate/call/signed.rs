//! Where an approval needs signatures: what one must cover, and whether enough are there. Verifies none itself: `signing` does.

use crate::gate::call::judge;
use crate::gate::data::event::{Place, Signature};
use crate::gate::data::terms::GrantTerms;
use crate::gate::held::{Approval, GradedVerdict, Held, Judged, context::Context};
use crate::policy::{Decision, terms::ApproverKind};
use crate::signing::change::{Change, ChangeKind, ChangeTerms, Proof};
use crate::signing::grade::{ConsoleUser, Danger, Owner};
use crate::signing::statement::{Challenge, NAMESPACE, Refused, Said, Signer};
use crate::signing::verdict::{Consent, Expected, SignedVerdict, Spent};
use crate::signing::{Attested, CardTerms, InForce, Needs};
use crate::wire::{Digest, Hasher};

/// Why an approval without a signature has no effect.
pub(super) const UNSIGNED: &str = "the policy wants a signature for this approval: approve with `a` in a console that can sign (`mcp-approve help signing`)";

/// Why what a host's user answers in a form approves no such call.
pub(super) fn why_no_form(context: Context<'_>, judged: &Judged) -> Option<&'static str> {
    let is_frozen = context.rules.stops.frozen.is_some();
    let unsigned = (needs(context, judged) == Needs::Signature).then_some(UNSIGNED);
    if is_frozen { Some("calls are frozen, so only an operator can approve one") } else { unsigned }
}

pub(super) fn needs(context: Context<'_>, judged: &Judged) -> Needs {
    let danger = if judged.danger.is_some() { Danger::Dangerous } else { Danger::Plain };
    context.rules.policy.needs(&judged.ruling.terms, danger)
}

/// The proof that signatures do not keep an approved call from running. An asked call is judged again for it, since a policy can
/// change, and a rate be reached, between approval and forward.
///
/// # Errors
/// Why not: the policy in force now asks for signatures that its approval lacks.
pub(super) fn consent(context: Context<'_>, held: &Held, approval: &Approval) -> Result<Consent, String> {
    let Approval { case, signed, .. } = approval;
    let was_asked = case.judged.ruling.decision == Decision::Ask || held.original.is_some();
    let (mut needs, mut enough) = (Needs::Nothing, u32::MAX);
    if was_asked {
        let anew = judge::judgement(&held.call, case.judged.described.clone(), context, &held.seen);
        if anew.ruling.decision == Decision::Ask || held.original.is_some() {
            needs = self::needs(context, &anew);
        }
        // Each was looked at by the terms it came under: it counts under no others.
        if anew.ruling.terms == case.judged.ruling.terms {
            enough = anew.ruling.terms.approvals;
        }
    }
    Consent::of(held.call.digest(), needs, enough, signed.iter().map(|one| &one.verdict))
        .ok_or_else(|| "the policy now asks for signatures that its approval lacks".to_owned())
}

/// When a grant ends by the signature that it was given with, in milliseconds since 1970, UTC.
pub(super) fn granted_until(approval: &Approval) -> Option<i64> {
    approval.signed.iter().filter_map(|one| one.verdict.attested().statement().said.until).min()
}

/// What the next signature on the card of this digest must cover. Signatures over another state of the call do not count.
pub(in crate::gate) fn terms(context: Context<'_>, held: &Held, judged: &Judged, card: Digest) -> CardTerms {
    let config = context.config;
    let call = held.call.digest();
    let mut first = CardTerms {
        approval: 1,
        approvals: judged.ruling.terms.approvals,
        call,
        card,
        challenge: challenge(&config.secret, held, held.challenges),
        definition: judged.described.as_ref().map(|known| known.digest),
        machine: config.machine.to_string(),
        policy: context.rules.policy.digest,
        role: config.scope.words(),
        server: context.catalog.fingerprint().to_owned(),
        session: config.session.to_string(),
        ticket: held.ticket.to_string(),
        user: config.user.to_string(),
    };
    let given = held.signed.iter().filter(|one| one.covers(&first)).count();
    first.approval = u32::try_from(given).unwrap_or(u32::MAX).saturating_add(1);
    first
}

/// Unknown before the card is sent, by the wrapper's secret; another for each call, edit, wrapper and signature that was taken.
fn challenge(secret: &str, held: &Held, number: u64) -> Challenge {
    Challenge::of(*drawn(["challenge of a card", secret, &held.ticket, &number.to_string()], held).as_bytes())
}

/// What only those learn who have the whole card of this digest: another card of the same call has another.
pub(super) fn salt(secret: &str, held: &Held, card: Digest) -> Digest {
    drawn(["salt of a card", secret, &held.ticket, &card.to_string()], held)
}

fn drawn(parts: [&str; 4], held: &Held) -> Digest {
    let mut hasher = Hasher::default();
    for part in parts {
        hasher.update(part.as_bytes());
        hasher.update(&[0]);
    }
    hasher.update(held.call.digest().as_bytes());
    hasher.finish()
}

/// The proof that an operator may say this of a call's tool; `terms` is what its signature covers, if it loosens something.
///
/// # Errors
/// Why the operator's word has no effect.
pub(super) fn word(
    context: Context<'_>,
    judged: &Judged,
    terms: Option<&ChangeTerms>,
    signature: Signature<Change>,
) -> Result<Proof, String> {
    match (terms, needs(context, judged)) {
        (Some(terms), Needs::Signature) => change(context, Needs::Signature, terms, signature),
        (None, _) | (_, Needs::Nothing) => Proof::unsigned(Needs::Nothing),
    }
}

/// The proof that an operator may accept this text of a policy file.
///
/// # Errors
/// Why it is not accepted.
pub(super) fn acceptance(
    context: Context<'_>,
    (file, digest): (&str, Digest),
    signature: Signature<Change>,
) -> Result<Proof, String> {
    let pending = context.rules.policy.pending.iter().find(|one| one.file == file && one.digest == digest);
    let one = pending.ok_or("the policy has changed since it was shown, or no longer waits; look at it again")?;
    let (machine, user) = (context.config.machine.to_string(), context.config.user.to_string());
    let terms = ChangeTerms { changes: vec![digest], kind: ChangeKind::Policy, machine, of: file.to_owned(), user };
    change(context, one.needs, &terms, signature)
}

fn change(
    context: Context<'_>,
    needs: Needs,
    terms: &ChangeTerms,
    signature: Signature<Change>,
) -> Result<Proof, String> {
    let now = context.out.now.wall;
    match signature {
        Signature::None => Proof::unsigned(needs),
        Signature::Unusable(why) => Err(does_not_count(&why)),
        Signature::Attested(signed, lists) => {
            Proof::signed(&signed, &lists, terms, now).map_err(|why| does_not_count(&why))
        }
    }
}

/// A signature that may count for a call that waits.
pub(super) struct Offered {
    attested: Attested,
    lists: InForce,
    card: CardTerms,
}

/// Looks whether a signature may count for a call that waits, by the terms of its ruling. `card` is what its card asks to be signed.
pub(super) fn offered(
    (context, judged): (Context<'_>, &Judged),
    card: CardTerms,
    grant: Option<&GrantTerms>,
    signature: Signature,
) -> Result<Offered, String> {
    let (attested, lists) = attested(signature)?;
    let terms = &judged.ruling.terms;
    let Signer { principal: signer, key, .. } = attested.signer();
    if terms.signers.as_ref().is_some_and(|named| !named.contains(signer)) {
        return Err(format!("{signer} is not one of the signers that the rule names"));
    }
    if terms.by == ApproverKind::Others && lists.signers.is_of_user(key, &context.config.user) {
        return Err(format!("the rule wants another person than {signer}, who is the user of this machine"));
    }
    if !terms.is_plain() {
        lists.signers.is_of_one_person(key, NAMESPACE).map_err(|why| does_not_count(&why))?;
    }
    if terms.approvals > 1 && grant.is_some() {
        return Err("a call that needs several approvals is approved alone: nothing can be granted with it".to_owned());
    }
    Ok(Offered { attested, lists, card })
}

fn attested(signature: Signature) -> Result<(Attested, InForce), String> {
    match signature {
        Signature::None => Err(UNSIGNED.to_owned()),
        Signature::Unusable(why) => Err(does_not_count(&why)),
        Signature::Attested(attested, lists) => Ok((*attested, *lists)),
    }
}

fn does_not_count(why: &impl std::fmt::Display) -> String {
    format!("the signature does not count: {why}")
}

/// Looks whether a signed denial may count for a call that waits: whoever may sign verdicts here may deny, whatever the rule says of
/// approvals, and by any card of this call, also one that another's signature made an old one. At this machine a denial needs none.
pub(super) fn offered_denial(
    (context, held, judged): (Context<'_>, &Held, &Judged),
    signature: Signature,
    place: Place,
) -> Result<Option<Offered>, String> {
    if place == Place::Here {
        return Ok(None);
    }
    let (attested, lists) = attested(signature)?;
    let mut card = terms(context, held, judged, Digest::of(b""));
    let named = |one: &Challenge| attested.statement().cards().any(|card| card.challenge == *one);
    let mut earlier = (0..held.challenges).map(|number| challenge(&context.config.secret, held, number));
    card.challenge = earlier.find(named).unwrap_or(card.challenge);
    Ok(Some(Offered { attested, lists, card }))
}

/// The proof that a denial was signed, where it must be.
pub(super) fn accept_denial(
    offered: Option<Offered>,
    reason: &str,
    now: i64,
    spent: &mut Spent,
) -> Result<Vec<GradedVerdict>, String> {
    let Some(Offered { attested, lists, card }) = offered else { return Ok(Vec::new()) };
    let expected = Expected { card: &card, said: &Said::denial(reason), earlier: &[], now };
    graded(SignedVerdict::accept(attested, expected, spent), lists.owner).map(|one| vec![one])
}

fn graded(accepted: Result<SignedVerdict, Refused>, owner: Owner) -> Result<GradedVerdict, String> {
    let verdict = accepted.map_err(|why| does_not_count(&why))?;
    // Any process of this account can bring what it had signed here as if it came from a desk: nothing says where a key signed.
    let grade = verdict.grade(owner, ConsoleUser::Same).ok_or("the key signed without a touch")?;
    Ok(GradedVerdict { verdict, grade })
}

/// Keeps an offered signature with the call; those before it must hold by the lists of now. Returns how many are still missing.
pub(super) fn accept(
    offered: Offered,
    held: &mut Held,
    grant: Option<&GrantTerms>,
    now: i64,
    spent: &mut Spent,
) -> Result<u32, String> {
    let Offered { attested, lists, card } = offered;
    held.signed.retain(|one| one.covers(&card));
    let lapsed = held.signed.iter().enumerate().find_map(|(at, one)| {
        let earlier = one.verdict.attested();
        let why = earlier.holds(&lists.signers, now).err()?;
        Some((at, format!("the approval of {} counts no longer: {why}; look again", earlier.signer().principal)))
    });
    if let Some((at, why)) = lapsed {
        held.signed.remove(at);
        held.challenges += 1;
        return Err(why);
    }
    let earlier: Vec<Signer> = held.signed.iter().map(|one| one.verdict.attested().signer().clone()).collect();
    let said = GrantTerms::said(grant, attested.statement().time);
    let expected = Expected { card: &card, said: &said, earlier: &earlier, now };
    let verdict = graded(SignedVerdict::accept(attested, expected, spent), lists.owner)?;
    held.challenges += 1;
    held.signed.push(verdict);
    Ok(card.approvals.saturating_sub(card.approval))
}
