//! An operator says with a held call what its tool is, or agrees to what is new about the call: what may be said, and what is
//! recorded of it. It counts once the log has it.

use std::sync::Arc;

use crate::audit::record::{Entry, Kind};
use crate::behavior::agreed::Agreement;
use crate::behavior::confidence::Confidence;
use crate::behavior::taxonomy::Mutability;
use crate::gate::Gate;
use crate::gate::call::ask;
use crate::gate::call::held::{Asking, Held};
use crate::gate::call::judged::Judged;
use crate::gate::data::effect::Effect;
use crate::gate::data::event::OperatorWord;
use crate::gate::data::pinning::{PinOffer, Pinning, Remembers, ToolOffer, ToolWord};
use crate::gate::data::said::Said;
use crate::policy::rule::{Decision, Likely, NewDefault, Policy};

impl Gate {
    /// An operator says what the tool of exactly this call is, or agrees to what is new about it.
    pub(in crate::gate) fn on_pinned(&mut self, word: &OperatorWord, tool_word: ToolWord) {
        let Some((held, asking)) = ask::take(&mut self.calls, word) else {
            return ask::report_late(&self.calls, &mut self.out, word, tool_word.word());
        };
        let Some(offer) = offer(&asking.case.judged, &self.rules.policy).filter(|offer| offers(offer, tool_word))
        else {
            self.calls.put(held, asking);
            return self.out.refuse_word(word, "this call is not asked only for that; the card says why it is asked");
        };
        let Asking { case, entry, look } = asking;
        let (held, asking) = match self.if_still_described(held, case) {
            Ok((held, case)) => (held, Asking { case, entry, look }),
            Err(why) => return self.out.refuse_word(word, why),
        };
        let judged = &asking.case.judged;
        // Without a definition nothing is offered, so there is one here.
        if let Some(described) = judged.described.clone() {
            let is = described.behavior.identity;
            let says = match (tool_word, offer.tool) {
                (ToolWord::Reads, ToolOffer::Likely) => Some(is),
                (ToolWord::Changes, _) => Some(is.with_mutability(Mutability::Mutates)),
                (ToolWord::Reads, ToolOffer::Proven) | (ToolWord::PlainText, _) => None,
            };
            let agreed = match tool_word {
                ToolWord::Reads => judged.behavior.shape.agreements().unwrap_or_default(),
                ToolWord::PlainText => judged.behavior.shape.any_text().unwrap_or_default(),
                ToolWord::Changes => Vec::new(),
            };
            if let Some(says) = says {
                let tool = held.call.name().to_owned();
                self.record_pinning(&held, word, Pinning { tool, definition: described.digest, is, says });
            }
            agreed.into_iter().for_each(|one| self.record_agreement(&held, word, one));
        }
        match tool_word {
            ToolWord::Reads => self.operator_approves((held, asking), word, false, None),
            ToolWord::Changes | ToolWord::PlainText => self.calls.put(held, asking),
        }
    }

    fn word_entry(&self, kind: Kind, held: &Held, word: &OperatorWord) -> Entry {
        let mut entry = self.out.entry(kind);
        entry.ticket = Some(Arc::clone(&held.ticket));
        entry.tool = Some(held.call.name().into());
        entry.with("operator", word.operator.who.as_ref())
    }

    fn record_pinning(&mut self, held: &Held, word: &OperatorWord, pinning: Pinning) {
        let mut entry = self.word_entry(Kind::Tools, held, word);
        entry.digest = Some(pinning.definition);
        let entry = self
            .out
            .record(entry.with("review", format!("pinned as {}", pinning.says)).with("was", pinning.is.to_string()));
        self.log.said.insert(entry, Said::Pinned(pinning, word.operator.console));
    }

    fn record_agreement(&mut self, held: &Held, word: &OperatorWord, agreed: Agreement) {
        let mut entry = self.word_entry(Kind::Agreed, held, word);
        entry.digest = Some(agreed.digest(self.catalog.fingerprint()));
        let entry = self.out.record(entry.with("says", agreed.says()).with("agreed", &agreed));
        self.log.said.insert(entry, Said::Agreed(agreed, word.operator.console));
    }

    /// The log has what an operator said: it counts from now on, and is kept.
    pub(in crate::gate) fn word_recorded(&mut self, entry: u64) {
        match self.log.said.remove(&entry) {
            None => {}
            Some(Said::Pinned(pinning, console)) => self.out.push(Effect::Pin { pinning: Box::new(pinning), console }),
            Some(Said::Agreed(agreed, console)) => {
                self.catalog.agree(agreed.clone());
                self.out.push(Effect::Agree { agreed: vec![agreed], console });
                self.rejudge();
            }
        }
    }

    /// The log could not take what an operator said: it counts for nothing.
    pub(in crate::gate) fn word_failed(&mut self, entry: u64, why: &str) {
        let (what, console) = match self.log.said.remove(&entry) {
            None => return,
            Some(Said::Pinned(Pinning { tool, .. }, console)) => (format!("about {tool}"), console),
            Some(Said::Agreed(agreed, console)) => (format!("about {}", agreed.says()), console),
        };
        let why = format!("your answer {what} could not be recorded, so it is not remembered: {why}");
        self.out.push(Effect::Refuse { console, ticket: String::new(), why });
    }
}

fn offers(offer: &PinOffer, word: ToolWord) -> bool {
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
