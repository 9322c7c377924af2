//! Callbacks that the operator registered: each hears of a call before it is decided, and may ask or deny. Runs none.
//!
//! They tighten. Only one that is marked so may allow, and only what a default would ask of a call without hazards: as a
//! grant may, and no rule that asks or denies gives way to it.

use serde_json::{Value, json};

use crate::gate::Gate;
use crate::gate::call::entries;
use crate::gate::call::held::{Held, Stage};
use crate::gate::call::judged::Judged;
use crate::gate::data::effect::Effect;
use crate::gate::data::event::Now;
use crate::gate::data::opinion::{Approver, May, Opinion};
use crate::policy::decide::Ruling;
use crate::policy::fit::rules_name;
use crate::policy::rule::Decision;

/// A ruling that approvers had a part in.
pub struct Joined {
    pub ruling: Ruling,
    /// The approver that decided, where one did.
    pub by: Option<String>,
}

/// Joins a ruling with what the approvers said: the strictest counts.
pub fn join(ruling: Ruling, opinions: &[Opinion], approvers: &[Approver], hazards: bool, allows_count: bool) -> Joined {
    let strictest = opinions.iter().max_by_key(|one| one.decision).filter(|one| one.decision > Decision::Allow);
    if let Some(one) = strictest {
        return match one.decision > ruling.decision {
            true => decided(one),
            false => Joined { ruling, by: None },
        };
    }
    let may = |one: &&Opinion| approvers.iter().any(|known| known.name == one.name && known.may == May::Allow);
    let by_default = ruling.decision == Decision::Ask && ruling.rule.is_none();
    match opinions.iter().find(may) {
        Some(one) if by_default && !hazards && allows_count => decided(one),
        Some(_) | None => Joined { ruling, by: None },
    }
}

fn decided(one: &Opinion) -> Joined {
    let says = match (one.failed, one.decision) {
        (true, _) => "gave no answer, so it asks",
        (false, Decision::Allow) => "allows it",
        (false, Decision::Ask) => "asks",
        (false, Decision::Deny) => "denies it",
    };
    let reason = if one.reason.is_empty() { String::new() } else { format!(": {}", one.reason) };
    let ruling = Ruling { decision: one.decision, rule: None, reason: format!("approver {} {says}{reason}", one.name) };
    Joined { ruling, by: Some(one.name.clone()) }
}

impl Gate {
    /// Has the approvers asked about a call that they were not asked about yet.
    pub(in crate::gate) fn consult_first(&mut self, number: u64, judged: &Judged, out: &mut Vec<Effect>) -> bool {
        let Some(held) = self.held.get(number) else {
            return false;
        };
        if held.opinions.is_some() || judged.ruling.decision == Decision::Deny || !judged.violations.is_empty() {
            return false;
        }
        let server = rules_name(&self.config.server);
        let any = |one: &&Approver| {
            (one.server.is_empty() || one.server.iter().any(|glob| glob.matches(server)))
                && (one.tool.is_empty() || one.tool.iter().any(|glob| glob.matches(server, held.call.name())))
        };
        let names: Vec<String> = self.config.approvers.iter().filter(any).map(|one| one.name.clone()).collect();
        if names.is_empty() {
            return false;
        }
        let (ticket, call, deadline) = (held.ticket.to_string(), self.told(held, judged).to_string(), held.deadline);
        self.looks += 1;
        self.held.set_stage(number, Stage::Consulting { consult: self.looks });
        out.push(Effect::Consult { ticket, consult: self.looks, names, call });
        self.wake_by(deadline, out);
        true
    }

    /// The approvers have spoken, or failed to.
    pub(in crate::gate) fn on_consulted(
        &mut self,
        now: Now,
        ticket: &str,
        consult: u64,
        opinions: Vec<Opinion>,
        out: &mut Vec<Effect>,
    ) {
        let Some(number) = self.held.by_ticket(ticket) else {
            return;
        };
        let Some(held) = self.held.get_mut(number) else {
            return;
        };
        if !matches!(held.stage, Stage::Consulting { consult: asked } if asked == consult) {
            return;
        }
        held.opinions = Some(opinions);
        held.stage = Stage::Describing;
        self.judge_as_it_is(now, number, out);
    }

    /// What an approver is told, as one JSON object.
    fn told(&self, held: &Held, judged: &Judged) -> Value {
        let arguments: Value = serde_json::from_str(held.call.arguments_text()).unwrap_or(Value::Null);
        let behavior = &judged.behavior;
        json!({
            "server": self.config.server.as_ref(),
            "tool": held.call.name(),
            "arguments": arguments,
            "ticket": held.ticket.as_ref(),
            "session": self.config.session.as_ref(),
            "host": self.host_of(&held.call).map(|(name, version)| format!("{name} {version}")),
            "badge": behavior.badge().word(),
            "behavior": behavior.identity.to_string(),
            "identity": behavior.identity.hash(),
            "hazards": behavior.hazards.iter().map(|one| one.kind.word()).collect::<Vec<_>>(),
            "ruling": {
                "decision": judged.ruling.decision.word(),
                "rule": judged.ruling.rule,
                "reason": judged.ruling.reason,
            },
            "digest": held.call.digest().to_string(),
            "touches": entries::touched(held),
        })
    }
}
