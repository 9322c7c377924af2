//! An operator says of a held call what its tool's definition is: what may be said, and what is recorded of it. What was
//! said counts once it is kept with the pins, which then come back as reviewed.

use std::sync::Arc;

use crate::audit::record::Kind;
use crate::behavior::confidence::Confidence;
use crate::behavior::identity::Identity;
use crate::behavior::taxonomy::Mutability;
use crate::gate::Gate;
use crate::gate::call::held::{Asking, Held};
use crate::gate::call::judged::Judged;
use crate::gate::data::effect::Effect;
use crate::gate::data::event::OperatorWord;
use crate::gate::data::pinning::{PinOffer, PinWord, Pinning, ToolWord};
use crate::policy::rule::{Decision, Likely, Policy};
use crate::wire::fields::from_pointer;

/// How many parameters one word may be about.
const PARAMETERS: usize = 8;

impl Gate {
    /// An operator says what the tool of exactly this call is.
    pub(in crate::gate) fn on_pinned(&mut self, word: &OperatorWord, tool_word: ToolWord) {
        let Some((held, asking)) = self.take_asked(word) else {
            return self.report_late_verdict(word, tool_word.word());
        };
        let Some((says, is)) = said(&asking.case.judged, &self.rules.policy, tool_word) else {
            self.calls.put(held, asking);
            return self.refuse_word(word, "this call is not asked only for that; the card says why it is asked");
        };
        let Asking { case, entry, look } = asking;
        let (held, asking) = match self.if_still_described(held, case) {
            Ok((held, case)) => (held, Asking { case, entry, look }),
            Err(why) => return self.refuse_word(word, why),
        };
        // Without a definition nothing is offered, so there is one here.
        if let Some(definition) = asking.case.judged.described.as_ref().map(|described| described.digest) {
            let pinning = Pinning { tool: held.call.name().to_owned(), definition, is, says };
            self.record_pinning(&held, word, pinning);
        }
        match tool_word {
            ToolWord::Reads => self.operator_approves((held, asking), word, false, None),
            ToolWord::Changes | ToolWord::PlainText => self.calls.put(held, asking),
        }
    }

    fn record_pinning(&mut self, held: &Held, word: &OperatorWord, pinning: Pinning) {
        let mut entry = self.entry(Kind::Tools);
        entry.ticket = Some(Arc::clone(&held.ticket));
        entry.tool = Some(pinning.tool.as_str().into());
        entry.digest = Some(pinning.definition);
        let entry = entry.with("review", pinning.says.to_string()).with("was", pinning.is.to_string());
        let entry = self.record(entry.with("operator", word.operator.who.as_ref()));
        self.log.pinnings.insert(entry, (pinning, word.operator.console));
    }

    /// The log has what an operator said of a definition: it is kept.
    pub(in crate::gate) fn pinning_recorded(&mut self, entry: u64) {
        if let Some((pinning, console)) = self.log.pinnings.remove(&entry) {
            self.out.push(Effect::Pin { pinning: Box::new(pinning), console });
        }
    }

    /// The log could not take what an operator said of a definition: it counts for nothing.
    pub(in crate::gate) fn pinning_failed(&mut self, entry: u64, why: &str) {
        if let Some((Pinning { tool, .. }, console)) = self.log.pinnings.remove(&entry) {
            let why = format!("your answer about {tool} could not be recorded, so it is not remembered: {why}");
            self.out.push(Effect::Refuse { console, ticket: String::new(), why });
        }
    }
}

/// What one word of the operator about the definition would settle; `None` if the call is asked for another reason too.
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
    match (behavior.confidence, behavior.explanation.holds()) {
        (Confidence::Likely, true) if policy.defaults.likely == Likely::AskOnce => Some(PinOffer::Reads),
        (Confidence::Proven, false) => parameters(judged).map(|parameters| PinOffer::PlainText { parameters }),
        (Confidence::Likely, _) | (Confidence::Proven, true) | (Confidence::None, _) => None,
    }
}

/// The parameters whose values are not explained; `None` if there are none, or too many for one word.
fn parameters(judged: &Judged) -> Option<Vec<String>> {
    let name = |pointer: &str| pointer.strip_prefix('/')?.split('/').next().map(from_pointer);
    let unexplained = &judged.behavior.explanation.unexplained;
    let mut names = unexplained.iter().map(|leaf| name(&leaf.pointer)).collect::<Option<Vec<String>>>()?;
    names.sort();
    names.dedup();
    (!names.is_empty() && names.len() <= PARAMETERS).then_some(names)
}

/// What to keep of an operator's word, and what the definition was concluded to be; `None` if the card did not offer
/// it.
fn said(judged: &Judged, policy: &Policy, word: ToolWord) -> Option<(PinWord, Identity)> {
    let offer = offer(judged, policy)?;
    let is = judged.described.as_ref()?.behavior.identity;
    let says = match (word, offer) {
        (ToolWord::Reads, PinOffer::Reads) => PinWord::Is(is),
        (ToolWord::Changes, _) => PinWord::Is(is.with_mutability(Mutability::Mutates)),
        (ToolWord::PlainText, PinOffer::PlainText { parameters }) => PinWord::PlainText(parameters),
        (ToolWord::Reads, PinOffer::PlainText { .. }) | (ToolWord::PlainText, PinOffer::Reads) => return None,
    };
    Some((says, is))
}
