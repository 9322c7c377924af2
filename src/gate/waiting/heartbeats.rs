//! Tells hosts that want it that their call still waits, and what for: `notifications/progress`, in whole numbers.

use crate::gate::data::effect::Effect;
use crate::gate::deadline::HEARTBEAT;
use crate::gate::held::out::Out;
use crate::gate::held::table::Calls;
use crate::gate::held::{Approved, Asking, Held, Stage, StageKind as _};
use crate::gate::state::history;
use crate::gate::waiting::Waiting;
use crate::wire::reply;

pub(in crate::gate) fn send(waiting: &Waiting, calls: &mut Calls, out: &mut Out) {
    let form = waiting.forms.open.as_ref().map(|open| open.form.number);
    for number in calls.numbers(Stage::may_take_long) {
        let Some((held, stage)) = calls.get::<Stage>(number) else { continue };
        if held.wait.away.is_some() || held.wait.task.is_some() {
            continue;
        }
        let (Some(mut beat), Some(token)) = (held.wait.heartbeat, held.open_token()) else { continue };
        if beat.next <= out.now.mono {
            beat.sent += 1;
            beat.next = out.now.mono + HEARTBEAT;
            let says = says(held, stage, form == Some(number), waiting, out);
            out.push(Effect::WriteToHost(reply::progress(token, beat.sent, &says)));
        }
        out.wake_by(beat.next);
        if let Some(held) = calls.held_mut::<Stage>(number) {
            held.wait.heartbeat = Some(beat);
        }
    }
}

/// What a call waits for, in words for its host.
fn says(held: &Held, stage: &Stage, has_form: bool, waiting: &Waiting, out: &Out) -> String {
    let ticket = &held.ticket;
    let left = held.deadline.saturating_sub(out.now.mono) / 1000;
    let left = history::span(i64::try_from(left).unwrap_or(i64::MAX));
    if Approved::from_ref(stage).is_some() {
        return format!("Approved in mcp-approve: {ticket} runs after an earlier call, within {left} or not at all");
    }
    if Asking::from_ref(stage).is_none() {
        return format!("mcp-approve checks {ticket}");
    }
    let console = &waiting.limits.console;
    match (out.attached > 0, has_form) {
        (true, _) => format!("Waiting for approval in mcp-approve: {ticket}, for {left} more at most"),
        (false, true) => format!(
            "Waiting for approval: {ticket}, for {left} more at most. Answer the form, or run `{console}` in a terminal"
        ),
        (false, false) => format!(
            "Waiting for approval in mcp-approve: {ticket}, for {left} more at most. Run `{console}` in a terminal"
        ),
    }
}
