//! An operator says with a held call what its tool is, or agrees to what is new about the call: what may be said, and what is
//! recorded of it. It counts once the log has it.

use std::sync::Arc;

use crate::audit::record::{Entry, Kind};
use crate::behavior::agreed::Agreement;
use crate::behavior::taxonomy::{Confidence, Mutability};
use crate::gate::data::effect::Effect;
use crate::gate::data::event::{OperatorWord, Said};
use crate::gate::data::pinning::{PinOffer, Pinning, Remembers, ToolOffer, ToolWord};
use crate::gate::held::out::Out;
use crate::gate::held::{Held, Judged};
use crate::policy::rule::{Decision, Likely, NewDefault, Policy};

fn word_entry(out: &Out, kind: Kind, held: &Held, word: &OperatorWord) -> Entry {
    let mut entry = out.entry(kind);
    entry.ticket = Some(Arc::clone(&held.ticket));
    entry.tool = Some(held.call.name().into());
    entry.with("operator", word.operator.who.as_ref())
}

pub(super) fn record(out: &mut Out, (held, word): (&Held, &OperatorWord), pinning: Pinning) {
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
) {
    let mut entry = word_entry(out, Kind::Agreed, held, word);
    entry.digest = Some(agreed.digest(fingerprint));
    let entry = out.record(entry.with("says", agreed.says()).with("agreed", &agreed));
    out.log.said.insert(entry, Said::Agreed(agreed, word.operator.console));
}

/// The log could not take what an operator said: it counts for nothing.
pub(super) fn word_failed(out: &mut Out, entry: u64, why: &str) {
    let (what, console) = match out.log.said.remove(&entry) {
        None => return,
        Some(Said::Pinned(Pinning { tool, .. }, console)) => (format!("about {tool}"), console),
        Some(Said::Agreed(agreed, console)) => (format!("about {}", agreed.says()), console),
    };
    let why = format!("your answer {what} could not be recorded, so it is not remembered: {why}");
    out.push(Effect::Refuse { console, ticket: String::new(), why });
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
    })
}
