//! What an operator settles beyond a call: grants, what a tool is, what is agreed to. Owns what may be offered of it.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::audit::{Entry, Kind};
use crate::behavior::{Agreement, Confidence, Mutability, agreed::Backing};
use crate::gate::call::danger;
use crate::gate::data::effect::Effect;
use crate::gate::data::event::{Operator, OperatorWord, Place, Said};
use crate::gate::data::pin::{OfferSigns, PinOffer, Pinning, Remembers, ToolOffer, ToolWord};
use crate::gate::data::terms::{Covers, GrantTerms, Lasts};
use crate::gate::grants::{self, GivenGrant, GrantArea, Grants, LONGEST};
use crate::gate::held::{Held, Judged, context::Context, out::Out};
use crate::gate::server::catalog::{Catalog, ToolLookup};
use crate::policy::rule::{Likely, NewDefault};
use crate::policy::{Decision, Policy, under::Folder};
use crate::signing::change::Proof;
use crate::wire::Call;

/// Remembers what was granted with an approval that is in the log.
pub(super) fn record(
    grants: &mut Grants,
    out: &mut Out,
    held: &Held,
    judged: &Judged,
    operator: &Operator,
    (terms, until): (&GrantTerms, Option<i64>),
) {
    // A grant is for a definition: without one there is nothing to grant, and `refusal` has said so.
    let Some(definition) = judged.described.as_ref().map(|described| described.digest) else {
        return;
    };
    let Some(area) = grants::area(&judged.behavior.hazards) else { return };
    // Outside of the declared folders no dangerous call is granted: there the card warns only of the place.
    let dangerous = judged.danger.is_some() || danger::may_set_off_anything(&judged.behavior, held.call.name());
    let dangerous = area == GrantArea::Declared && dangerous;
    let given =
        GivenGrant { call: &held.call, ticket: &held.ticket, definition, area, dangerous, who: &operator.who, until };
    let card = grants.give(out.now, &given, terms);
    let entry = out.entry(Kind::Policy).with("what", "an operator granted more than one call");
    out.record(entry.with("operator", operator.who.as_ref()).with("grant", json!(card)));
    out.wake_by(grants.next_end());
}

/// Ends the grants whose time or calls are over, and those for a tool whose definition has changed.
pub(in crate::gate) fn prune(grants: &mut Grants, catalog: &Catalog, out: &mut Out) {
    if grants.is_empty() {
        return;
    }
    let ended = grants.prune(out.now, |tool| match catalog.find(tool) {
        ToolLookup::Found(described) => Some(described.digest),
        ToolLookup::NotListed | ToolLookup::AskServer => None,
    });
    for (card, why) in ended {
        let entry = out.entry(Kind::Policy).with("what", "a grant ended").with("reason", why);
        out.record(entry.with("grant", json!(card)));
    }
    out.wake_by(grants.next_end());
}

/// Ends all grants: they were given when fewer approvals needed a signature.
pub(super) fn end_unsigned(grants: &mut Grants, out: &mut Out) {
    for card in grants.end_all() {
        let entry = out.entry(Kind::Policy).with("what", "a grant ended");
        out.record(entry.with("reason", "the policy now asks for more signatures").with("grant", json!(card)));
    }
}

/// Why nothing more than this call can be granted; `None` where it can.
pub(in crate::gate) fn refusal(call: &Call, judged: &Judged, terms: &GrantTerms) -> Option<String> {
    if judged.described.is_none() {
        return Some("the server has not described this tool, so each call of it is asked; approve it alone".into());
    }
    match (grants::area(&judged.behavior.hazards), &terms.covers) {
        (Some(GrantArea::Declared), _) => {}
        (Some(GrantArea::Outside), Covers::Under { .. })
            if grants::may_be_outside(judged.behavior.identity, judged.behavior.disputed) => {}
        (Some(GrantArea::Outside), _) => {
            return Some(
                "it names a path outside of the folders that the host declared, so a grant is for a folder and for no dangerous call; approve it alone"
                    .into(),
            );
        }
        (None, _) => return Some("a call with a hazard is asked each time; approve it alone".into()),
    }
    if let Some(rule) = &judged.ruling.rule {
        return Some(format!("rule {rule} asks for each such call; add an `unless` to it, or approve this one alone"));
    }
    match terms.lasts {
        Lasts::Minutes(minutes) if minutes == 0 || minutes > LONGEST => {
            return Some(format!("a grant lasts 1 to {LONGEST} minutes"));
        }
        Lasts::Calls(0) => return Some("a grant is for at least one more call".into()),
        Lasts::Minutes(_) | Lasts::Calls(_) | Lasts::Session => {}
    }
    match &terms.covers {
        Covers::Under { argument: name, folder } => {
            let arguments: Value = serde_json::from_str(call.arguments_text()).unwrap_or(Value::Null);
            if grants::argument(&arguments, name).is_none() {
                return Some("the call has no such path among its arguments".into());
            }
            Folder::new(folder)
                .is_none()
                .then(|| "give an absolute folder, or one that begins with ~/, without ..".to_owned())
        }
        Covers::ThisCall | Covers::Tool => None,
    }
}

fn word_entry(out: &Out, kind: Kind, held: &Held, word: &OperatorWord) -> Entry {
    let mut entry = out.entry(kind);
    entry.ticket = Some(Arc::clone(&held.ticket));
    entry.tool = Some(held.call.name().into());
    entry.with("operator", word.operator.who.as_ref())
}

pub(super) fn record_pinning(out: &mut Out, (held, word): (&Held, &OperatorWord), pinning: Pinning) {
    let mut entry = word_entry(out, Kind::Tools, held, word);
    entry.digest = Some(pinning.definition);
    let entry =
        out.record(entry.with("review", format!("pinned as {}", pinning.says)).with("was", pinning.is.to_string()));
    out.log.said.insert(entry, Said::Pinned(pinning, word.operator.console));
}

pub(super) fn record_agreement(
    out: &mut Out,
    (held, word): (&Held, &OperatorWord),
    fingerprint: &str,
    agreed: Agreement,
    proof: &Proof,
) {
    let mut entry = word_entry(out, Kind::Agreed, held, word);
    entry.digest = Some(agreed.digest(fingerprint));
    entry.add("fingerprint", proof.is_signed().then_some(fingerprint));
    let entry = out.record(entry.with("says", agreed.says()).with("agreed", &agreed).proven(proof));
    let backing = if proof.is_signed() { Backing::Signed } else { Backing::Recorded };
    out.log.said.insert(entry, Said::Agreed(agreed, backing, word.operator.console));
}

/// The log could not take what an operator said: it counts for nothing.
pub(super) fn word_failed(out: &mut Out, entry: u64, why: &str) {
    let (what, console) = match out.log.said.remove(&entry) {
        None => return,
        Some(Said::Pinned(Pinning { tool, .. }, console)) => (format!("about {tool}"), console),
        Some(Said::Agreed(agreed, _, console)) => (format!("about {}", agreed.says()), console),
    };
    let why = format!("your answer {what} could not be recorded, so it is not remembered: {why}");
    out.push(Effect::Refuse { console, ticket: String::new(), place: Place::Here, why });
}

pub(super) fn offers(offer: &PinOffer, word: ToolWord) -> bool {
    match word {
        ToolWord::Reads => offer.remembers == Remembers::All,
        ToolWord::Changes => true,
        ToolWord::PlainText => !offer.any_text.is_empty(),
    }
}

/// What one word of the operator would settle beside the call; `None` if the call is asked for another reason too.
pub(in crate::gate) fn offer(judged: &Judged, policy: &Policy) -> Option<PinOffer> {
    let behavior = &judged.behavior;
    let asks_by_default =
        judged.ruling.decision == Decision::Ask && judged.ruling.rule.is_none() && judged.by_approver.is_none();
    let is_plain = behavior.hazards.is_empty() && !behavior.disputed && policy.allows_count;
    let passes_once_proven = policy.defaults.pure == Decision::Allow && judged.described.is_some();
    let reads = behavior.identity.mutability == Mutability::Pure;
    if !(asks_by_default && is_plain && passes_once_proven && reads) {
        return None;
    }
    let shape = &behavior.shape;
    let tool = match behavior.confidence {
        Confidence::Likely if policy.defaults.likely == Likely::AskOnce => ToolOffer::Likely,
        Confidence::Proven if !shape.holds() => ToolOffer::Proven,
        Confidence::Likely | Confidence::Proven | Confidence::None => return None,
    };
    if !shape.holds() && policy.defaults.new != NewDefault::AskOnce {
        return None;
    }
    let agreements = shape.agreements();
    let remembers = if shape.holds() || agreements.is_some() { Remembers::All } else { Remembers::Nothing };
    let name = |one: &Agreement| one.key.trim_start_matches('/').to_owned();
    Some(PinOffer {
        tool,
        agree: agreements.iter().flatten().map(Agreement::says).collect(),
        any_text: shape.any_text().iter().flatten().map(name).collect(),
        remembers,
        signs: None,
    })
}

/// What a word of the operator says of the tool, and agrees to.
pub(super) fn settles(
    held: &Held,
    judged: &Judged,
    offer: &PinOffer,
    word: ToolWord,
) -> (Option<Pinning>, Vec<Agreement>) {
    // Without a definition nothing is offered, so there is one here.
    let Some(described) = &judged.described else { return (None, Vec::new()) };
    let is = described.behavior.identity;
    let says = match (word, offer.tool) {
        (ToolWord::Reads, ToolOffer::Likely) => Some(is),
        (ToolWord::Changes, _) => Some(is.with_mutability(Mutability::Mutates)),
        (ToolWord::Reads, ToolOffer::Proven) | (ToolWord::PlainText, _) => None,
    };
    let shape = &judged.behavior.shape;
    let agreed = match word {
        ToolWord::Reads => shape.agreements(),
        ToolWord::PlainText => shape.any_text(),
        ToolWord::Changes => None,
    };
    let tool = held.call.name().to_owned();
    (says.map(|says| Pinning { tool, definition: described.digest, is, says }), agreed.unwrap_or_default())
}

/// What the signature on a card's words must cover: what they agree to, and what they say that the tool is.
pub(super) fn signs(context: Context<'_>, held: &Held, judged: &Judged, offer: &PinOffer) -> OfferSigns {
    let agreed = |word| {
        let (said, mut agreed) = settles(held, judged, offer, word);
        agreed.extend(said.map(|said| said.agreement()));
        agreed
    };
    OfferSigns {
        fingerprint: context.catalog.fingerprint().to_owned(),
        machine: context.config.machine.to_string(),
        user: context.config.user.to_string(),
        reads: agreed(ToolWord::Reads),
        any_text: agreed(ToolWord::PlainText),
    }
}
