//! Looks at what a call would touch: before it is judged or asked, when it is approved, and once more before it runs.

use crate::audit::record::By;
use crate::behavior::arguments::base::{self, Bases};
use crate::gate::config::Mode;
use crate::gate::data::effect::Effect;
use crate::gate::data::facts::{Facts, Findings, Look};
use crate::gate::held::Next;
use crate::gate::held::context::Context;
use crate::gate::held::out::Out;
use crate::gate::held::table::Calls;
use crate::gate::held::{Approving, Asking, Case, Forwarding, Held, Judged, Looking, StageKind as _, replies};

/// What must be looked at before the ruling counts, or before the call is shown: `None` where all of it was.
pub(super) fn needed(context: Context<'_>, held: &Held, judged: &Judged) -> Option<Look> {
    let seen = &held.seen.look;
    if seen.covers(&judged.wanted) {
        return None;
    }
    let mut wanted = judged.wanted.clone();
    let config = context.config;
    if !judged.awaits_look && (context.mode() == Mode::Observe || config.denies_unattended(context.out.attached)) {
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
