//! Looks at what a call would touch: before it is judged or asked, when it is approved, and once more before it runs. And has the
//! callbacks asked that the operator registered, before it is decided.

use serde_json::{Value, json};

use crate::audit::By;
use crate::behavior::arguments::base::{self, Bases};
use crate::gate::config::{Config, Mode};
use crate::gate::data::effect::Effect;
use crate::gate::data::facts::{Approver, Opinion};
use crate::gate::data::facts::{Facts, Findings, Look};
use crate::gate::held::{
    Approving, Asking, Case, Consulting, Forwarding, Held, Judged, Looking, Next, StageKind as _, context::Context,
    entries, out::Out, replies, table::Calls,
};
use crate::gate::state::Host;
use crate::policy::{Decision, rules_name};

/// What must be looked at before the ruling counts, or before the call is shown: `None` where all of it was.
pub(super) fn needed(context: Context<'_>, held: &Held, judged: &Judged) -> Option<Look> {
    let seen = &held.seen.look;
    if seen.covers(&judged.wanted) {
        return None;
    }
    let mut wanted = judged.wanted.clone();
    let config = context.config;
    if !judged.awaits_look && (context.mode() == Mode::Observe || config.denies_unattended(context.out.reachable())) {
        // No card will show the files, and no grant depends on them.
        wanted.files.clear();
    }
    (!seen.covers(&wanted)).then_some(wanted)
}

pub(super) fn to_judge(mut held: Held, case: Case, wanted: Look, calls: &mut Calls, out: &mut Out) -> Next {
    held.seen.look = wanted;
    let look = ask(&held, calls, out);
    Next::Wait(held, Looking { case, look }.into_stage())
}

/// Asks the shell for a look, and gives its number.
pub(super) fn ask(held: &Held, calls: &mut Calls, out: &mut Out) -> u64 {
    let look = calls.next_question();
    out.push(Effect::LookUp { ticket: held.ticket.to_string(), look, wanted: held.seen.look.clone() });
    out.wake_for(held);
    look
}

/// What the shell has found. An answer that nothing waits for any more is dropped.
pub(super) fn found(calls: &mut Calls, ticket: &str, look: u64, found: Findings) -> Next {
    let Some(number) = calls.by_ticket(ticket) else {
        return Next::Done;
    };
    if let Some((mut held, waits)) = calls.take_if(number, |_, waits: &Looking| waits.look == look) {
        held.seen.found = Some(all_of(&held, found));
        Next::JudgeAgain(held, waits.case)
    } else if let Some((held, waits)) = calls.take_if(number, |_, waits: &Asking| waits.look == Some(look)) {
        refresh(held, waits, found)
    } else if let Some((mut held, waits)) = calls.take_if(number, |_, waits: &Approving| waits.look == look) {
        let found = all_of(&held, found);
        let changed = difference(&held, &found);
        if changed.is_some() {
            held.seen.found = Some(found);
            held.asked_again = changed;
        }
        Next::Confirm(held, waits.approval, changed)
    } else if let Some((held, waits)) = calls.take_if(number, |_, waits: &Forwarding| waits.look == look) {
        let found = all_of(&held, found);
        match difference(&held, &found) {
            None => Next::Forward(held, waits.approval, waits.receipt),
            Some(what) => {
                let reply = replies::changed(&held.call, what);
                Next::stop(
                    held,
                    waits.approval.case.judged,
                    (By::Fault, format!("{what} after it was approved")),
                    reply,
                )
            }
        }
    } else {
        Next::Done
    }
}

/// What was found for a waiting card: if it differs from what the card shows, the call is judged and shown again.
fn refresh(mut held: Held, asking: Asking, found: Findings) -> Next {
    let found = all_of(&held, found);
    match difference(&held, &found) {
        None => Next::Wait(held, Asking { look: None, ..asking }.into_stage()),
        Some(what) => {
            held.seen.found = Some(found);
            held.asked_again = Some(what);
            Next::JudgeAgain(held, asking.case)
        }
    }
}

/// What was found at paths that are surely meant, and how many paths were not looked at.
fn all_of(held: &Held, mut found: Findings) -> Findings {
    forget_relative(held.call.arguments_text(), &mut found.files);
    found.files.extend(held.seen.look.beyond());
    found
}

/// Drops what was found at relative paths if the server may resolve them from another folder than we did.
fn forget_relative(arguments: &str, files: &mut [Facts]) {
    let is_relative = |one: &Facts| !one.is_beyond() && base::is_relative(&one.path);
    if !files.iter().any(is_relative) {
        return;
    }
    let bases = Bases::of(&serde_json::from_str(arguments).unwrap_or_default());
    for one in files.iter_mut().filter(|one| is_relative(one)) {
        if !bases.leave(&one.argument) {
            *one = Facts::unseen(&one.argument, &one.path, base::CHOSEN);
        }
    }
}

fn difference(held: &Held, found: &Findings) -> Option<&'static str> {
    held.seen.found.as_ref().and_then(|before| before.difference(found))
}

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
