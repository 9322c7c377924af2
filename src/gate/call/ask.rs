//! What an operator says: a verdict or an edit, on exactly the bytes that were shown; anything else comes to nothing.

use std::sync::Arc;

use crate::audit::record::{By, Kind, VerdictWord};
use crate::gate::Gate;
use crate::gate::call::held::{After, Original, Stage, Verdict};
use crate::gate::call::judged::{self, Seen};
use crate::gate::call::replies;
use crate::gate::data::effect::Effect;
use crate::gate::data::event::{ConsoleId, Now};
use crate::gate::data::facts::Look;
use crate::gate::data::report::OperatorVerdict;
use crate::gate::data::terms::GrantTerms;
use crate::gate::grants;
use crate::gate::server::catalog::Known;
use crate::policy::rule::Decision;
use crate::wire::digest::Digest;

/// Who said something about which bytes.
pub(in crate::gate) struct OperatorWord {
    pub ticket: String,
    pub digest: Digest,
    pub who: Arc<str>,
    pub console: ConsoleId,
}

impl Gate {
    /// The operator's verdict on exactly these bytes.
    pub(in crate::gate) fn on_decided(
        &mut self,
        now: Now,
        said: OperatorWord,
        verdict: OperatorVerdict,
        out: &mut Vec<Effect>,
    ) {
        self.on_verdict(now, said, verdict, None, out);
    }

    /// The same; with an approval comes what was granted beyond this call.
    fn on_verdict(
        &mut self,
        now: Now,
        said: OperatorWord,
        verdict: OperatorVerdict,
        grant: Option<GrantTerms>,
        out: &mut Vec<Effect>,
    ) {
        let Some(number) = self.asking(&said) else {
            return self.too_late(now, &said, &verdict, out);
        };
        if matches!(verdict, OperatorVerdict::Approve { .. })
            && let Some(why) = self.outdated(now, number, out)
        {
            return out.push(Effect::Refuse { console: said.console, ticket: said.ticket.clone(), why });
        }
        let Some(held) = self.held.get(number) else {
            return;
        };
        let rule = held.judged.as_ref().and_then(|judged| judged.ruling.rule.clone());
        let verdict = match verdict {
            OperatorVerdict::Approve { unread } => Verdict {
                word: VerdictWord::Approve,
                by: By::Operator,
                rule,
                reason: "approved by the operator".into(),
                who: said.who,
                console: said.console,
                unread,
                grant,
                reply: None,
            },
            OperatorVerdict::Deny { reason } => Verdict {
                word: VerdictWord::Deny,
                by: By::Operator,
                rule,
                reply: Some(replies::denied_by_operator(&held.call, &reason)),
                reason: if reason.is_empty() { "denied by the operator".into() } else { reason },
                who: said.who,
                console: said.console,
                unread: false,
                grant: None,
            },
        };
        if verdict.word == VerdictWord::Approve && self.looks_again(number) {
            return self.look(number, After::Approving(verdict), out);
        }
        self.decide(now, number, verdict, out);
    }

    /// An approval of exactly these bytes, and of calls like it for a while.
    pub(in crate::gate) fn on_granted(
        &mut self,
        now: Now,
        said: OperatorWord,
        terms: GrantTerms,
        out: &mut Vec<Effect>,
    ) {
        let verdict = OperatorVerdict::Approve { unread: false };
        let Some(number) = self.asking(&said) else {
            return self.too_late(now, &said, &verdict, out);
        };
        if let Some(why) = self.held.get(number).and_then(|held| grants::refusal(held, &terms)) {
            return out.push(Effect::Refuse { console: said.console, ticket: said.ticket, why });
        }
        self.on_verdict(now, said, verdict, Some(terms), out);
    }

    /// Whether the server has described the tool anew since the card was shown: then the call is judged and shown anew,
    /// and this is why the verdict on the old card counts for nothing.
    pub(in crate::gate) fn outdated(&mut self, now: Now, number: u64, out: &mut Vec<Effect>) -> Option<String> {
        let held = self.held.get(number)?;
        let shown = held.judged.as_ref()?.described.as_ref()?;
        match self.catalog.find(held.call.name()) {
            Known::Yes(known) if known.digest == shown.digest => None,
            Known::Yes(known) => {
                self.judge(now, number, Some(known), out);
                Some("the server has changed this tool's definition since the card was shown; look again".into())
            }
            Known::No | Known::Ask => {
                self.held.set_stage(number, Stage::Describing);
                self.ask_server(now, number, out);
                Some("the server has announced changed tools since the card was shown; it is asked again".into())
            }
        }
    }

    /// The held call that waits for an operator under this ticket with these very bytes.
    fn asking(&self, said: &OperatorWord) -> Option<u64> {
        let number = self.held.by_ticket(&said.ticket)?;
        let held = self.held.get(number)?;
        (matches!(held.stage, Stage::Asking { .. }) && held.call.digest() == said.digest).then_some(number)
    }

    /// A verdict that decides nothing: it is recorded, and its console is told why.
    fn too_late(&mut self, now: Now, said: &OperatorWord, verdict: &OperatorVerdict, out: &mut Vec<Effect>) {
        let why = match self.held.by_ticket(&said.ticket).and_then(|number| self.held.get(number)) {
            None => "this call waits no longer".to_owned(),
            Some(held) if held.call.digest() != said.digest => {
                "the call has changed since it was shown; look at it again".to_owned()
            }
            Some(held) => match &held.stage {
                Stage::Deciding { verdict, .. } | Stage::Withdrawn { verdict, .. } if !verdict.who.is_empty() => {
                    format!("{} has decided it already", verdict.who)
                }
                Stage::Looking { after: After::Approving(verdict) | After::Forwarding { verdict, .. }, .. }
                    if !verdict.who.is_empty() =>
                {
                    format!("{} has decided it already", verdict.who)
                }
                Stage::Deciding { .. }
                | Stage::Withdrawn { .. }
                | Stage::Looking { after: After::Approving(_) | After::Forwarding { .. }, .. } => {
                    "it is decided already".to_owned()
                }
                Stage::Opening
                | Stage::Describing
                | Stage::Looking { after: After::Judging, .. }
                | Stage::Consulting { .. }
                | Stage::Asking { .. } => "it does not wait for an operator yet".to_owned(),
            },
        };
        let word = match verdict {
            OperatorVerdict::Approve { .. } => "approve",
            OperatorVerdict::Deny { .. } => "deny",
        };
        let mut entry = self.entry(now, Kind::Fault);
        entry.ticket = Some(said.ticket.clone());
        entry.digest = Some(said.digest);
        let entry =
            entry.with("what", format!("a verdict ({word}) came to nothing")).with("operator", said.who.as_ref());
        self.record(entry.with("reason", why.as_str()), out);
        out.push(Effect::Refuse { console: said.console, ticket: said.ticket.clone(), why });
    }

    /// The operator's edit: read strictly, validated and judged again, and shown again before it can be approved.
    pub(in crate::gate) fn on_edited(&mut self, now: Now, said: &OperatorWord, arguments: &str, out: &mut Vec<Effect>) {
        let refuse = |why: String, out: &mut Vec<Effect>| {
            out.push(Effect::Refuse { console: said.console, ticket: said.ticket.clone(), why });
        };
        let Some(number) = self.asking(said) else {
            return refuse("this call waits no longer, or it has changed since it was shown".into(), out);
        };
        let Some(held) = self.held.get(number) else {
            return;
        };
        let call = match held.call.with_arguments(arguments) {
            Ok(call) => call,
            Err(refusal) => return refuse(format!("the edit is refused: {}", refusal.what), out),
        };
        let described = held.judged.as_ref().and_then(|judged| judged.described.clone());
        let judged = judged::judge(now, &call, described, self.judge_input(), Seen::default());
        if let Some(violation) = judged.violations.first() {
            return refuse(
                format!("the edit does not fit the tool's schema: {} {}", violation.path, violation.what),
                out,
            );
        }
        // Where the disk must be looked at first, nothing is ruled yet.
        if judged.ruling.decision == Decision::Deny && judged.wanted.real.is_empty() {
            return refuse(format!("the policy denies the edited call: {}", judged.ruling.reason), out);
        }
        let Some(held) = self.held.get_mut(number) else {
            return;
        };
        if held.original.is_none() {
            let (digest, arguments) = (held.call.digest(), held.call.arguments_text().to_owned());
            held.original = Some(Original { digest, arguments });
        }
        *held.call = call;
        // What the edited call would touch is looked at before it is shown.
        (held.look, held.found, held.opinions, held.asked_again) = (Look::default(), None, None, None);
        let described = judged.described;
        self.judge(now, number, described, out);
    }
}
