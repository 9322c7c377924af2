//! Has the callbacks that the operator registered asked about a call before it is decided. Runs none of them.

use serde_json::{Value, json};

use crate::gate::Gate;
use crate::gate::call::entries;
use crate::gate::call::held::{Case, Consulting, Held};
use crate::gate::call::judged::Judged;
use crate::gate::data::effect::Effect;
use crate::gate::data::opinion::{Approver, Opinion};
use crate::policy::question::rules_name;
use crate::policy::rule::Decision;

impl Gate {
    /// The names of the approvers to ask about a call: none where they were asked, or where it is denied anyway.
    pub(in crate::gate) fn approvers_needed(&self, held: &Held, judged: &Judged) -> Vec<String> {
        if held.call.method().is_some() || held.seen.opinions.is_some() || judged.ruling.decision == Decision::Deny {
            return Vec::new();
        }
        let server = rules_name(&self.config.server);
        let any = |one: &&Approver| {
            (one.server.is_empty() || one.server.iter().any(|glob| glob.matches(server)))
                && (one.tool.is_empty() || one.tool.iter().any(|glob| glob.matches(server, held.call.name())))
        };
        self.config.approvers.iter().filter(any).map(|one| one.name.clone()).collect()
    }

    /// Has approvers asked about a call.
    pub(in crate::gate) fn consult(&mut self, held: Held, case: Case, names: Vec<String>) {
        let consult = self.calls.next_question();
        let call = self.call_for_approvers(&held, &case.judged).to_string();
        self.out.push(Effect::Consult { ticket: held.ticket.to_string(), consult, names, call });
        self.out.wake_for(&held);
        self.calls.put(held, Consulting { case, consult });
    }

    /// The approvers have spoken, or failed to.
    pub(in crate::gate) fn on_consulted(&mut self, ticket: &str, consult: u64, opinions: Vec<Opinion>) {
        let number = self.calls.by_ticket(ticket);
        let is_asked = |_: &Held, waits: &Consulting| waits.consult == consult;
        let Some((mut held, waits)) = number.and_then(|number| self.calls.take_if(number, is_asked)) else {
            return;
        };
        held.seen.opinions = Some(opinions);
        self.judge_again(held, waits.case);
    }

    /// A call as an approver reads it: one JSON object.
    fn call_for_approvers(&self, held: &Held, judged: &Judged) -> Value {
        let arguments: Value = serde_json::from_str(held.call.arguments_text()).unwrap_or(Value::Null);
        let behavior = &judged.behavior;
        json!({
            "server": self.config.server.as_ref(),
            "tool": held.call.name(),
            "arguments": arguments,
            "ticket": held.ticket.as_ref(),
            "session": self.config.session.as_ref(),
            "host": self.host_words(&held.call),
            "badge": behavior.badge().word(),
            "confidence": behavior.confidence.word(),
            "behavior": behavior.identity.to_string(),
            "identity": behavior.identity.hash(),
            "hazards": behavior.hazards.iter().map(|one| one.kind.word()).collect::<Vec<_>>(),
            "ruling": {
                "decision": judged.ruling.decision.word(),
                "rule": judged.ruling.rule,
                "reason": judged.ruling.reason,
            },
            "digest": held.call.digest().to_string(),
            "touches": entries::touched(&held.seen),
        })
    }
}
