//! Has the callbacks that the operator registered asked about a call before it is decided. Runs none of them.

use serde_json::{Value, json};

use crate::gate::config::Config;
use crate::gate::data::effect::Effect;
use crate::gate::data::opinion::{Approver, Opinion};
use crate::gate::held::Next;
use crate::gate::held::out::Out;
use crate::gate::held::table::Calls;
use crate::gate::held::{Case, Consulting, Held, Judged, StageKind as _, entries};
use crate::gate::state::Host;
use crate::policy::fit::rules_name;
use crate::policy::rule::Decision;

/// The names of the approvers to ask about a call: none where they were asked, or where it is denied anyway.
pub(super) fn approvers_needed(config: &Config, held: &Held, judged: &Judged) -> Vec<String> {
    if held.call.method().is_some() || held.seen.opinions.is_some() || judged.ruling.decision == Decision::Deny {
        return Vec::new();
    }
    let server = rules_name(&config.server);
    let any = |one: &&Approver| {
        (one.server.is_empty() || one.server.iter().any(|glob| glob.matches(server)))
            && (one.tool.is_empty() || one.tool.iter().any(|glob| glob.matches(server, held.call.name())))
    };
    config.approvers.iter().filter(any).map(|one| one.name.clone()).collect()
}

pub(super) fn consult(
    (held, case): (Held, Case),
    names: Vec<String>,
    (config, host): (&Config, &Host),
    calls: &mut Calls,
    out: &mut Out,
) -> Next {
    let consult = calls.next_question();
    let call = for_approvers(&held, &case.judged, config, host).to_string();
    out.push(Effect::Consult { ticket: held.ticket.to_string(), consult, names, call });
    out.wake_for(&held);
    Next::Wait(held, Consulting { case, consult }.into_stage())
}

/// The approvers have spoken, or failed to.
pub(super) fn heard(calls: &mut Calls, ticket: &str, consult: u64, opinions: Vec<Opinion>) -> Next {
    let number = calls.by_ticket(ticket);
    let is_asked = |_: &Held, waits: &Consulting| waits.consult == consult;
    let Some((mut held, waits)) = number.and_then(|number| calls.take_if(number, is_asked)) else {
        return Next::Done;
    };
    held.seen.opinions = Some(opinions);
    Next::JudgeAgain(held, waits.case)
}

/// A call as an approver reads it: one JSON object.
fn for_approvers(held: &Held, judged: &Judged, config: &Config, host: &Host) -> Value {
    let arguments: Value = serde_json::from_str(held.call.arguments_text()).unwrap_or(Value::Null);
    let behavior = &judged.behavior;
    json!({
        "version": 1,
        "server": config.server.as_ref(),
        "tool": held.call.name(),
        "arguments": arguments,
        "ticket": held.ticket.as_ref(),
        "session": config.session.as_ref(),
        "host": host.words(&held.call),
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
