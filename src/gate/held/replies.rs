//! What the host, and the model behind it, reads when a call does not run. "Not executed" only where it is certain.

use crate::capability::schema::Violation;
use crate::gate::data::effect::{Effect, OwnLine};
use crate::gate::data::token::NotProven;
use crate::gate::server::flight::Flight;
use crate::mcp::{Phase, lifecycle::NotLegal, request};
use crate::wire::reply::{self, INVALID_PARAMS, INVALID_REQUEST, Remediation};
use crate::wire::{Call, Id, Line, Origin, call::AnswerTo};

/// Application-defined: outside the scope (capability lattice, section 2.3).
const PERMISSION_DENIED: i32 = -32000;

/// What the host learns of a request whose answer asked for more input and was not passed on.
const UNFINISHED: &str =
    "The server has this request of yours, and did not complete it; what it did until then is not undone.";

/// The user rejected a request of the server's.
const USER_REJECTED: i32 = -1;

pub fn answer(call: &Call, reply: Line) -> Effect {
    match call.origin() {
        Origin::Host | Origin::Answer | Origin::Result => Effect::WriteToHost(reply),
        Origin::Server => Effect::WriteToServer(OwnLine(reply)),
    }
}

pub fn denied_by_operator(call: &Call, reason: &str) -> Line {
    let reason = if reason.is_empty() { "no reason given" } else { reason };
    let text = format!(
        "Denied by the operator in mcp-approve: {reason}. The tool was NOT executed and nothing changed. \
     Do not retry the same call; do what the operator says, or ask the user how to go on."
    );
    denied(call, Remediation::Unavailable, &text)
}

pub fn denied_by_policy(call: &Call, reason: &str) -> Line {
    let text = format!(
        "Denied by policy in mcp-approve: {reason}. The tool was NOT executed and nothing changed. \
     Retrying will not help; choose another way, or ask the user to change the rule."
    );
    denied(call, Remediation::Unavailable, &text)
}

pub fn expired(call: &Call, console: &str, waited_s: u64) -> Line {
    let text = format!(
        "No decision: the operator did not answer within {waited_s} s, so mcp-approve did NOT execute the tool. \
     Ask the user to open the console by running `{console}` in a terminal, and then try again."
    );
    denied(call, Remediation::Available, &text)
}

/// Calls are frozen, and its host would not wait longer.
pub fn frozen(call: &Call, says: &str) -> Line {
    let text = format!(
        "Calls are frozen: {says}. The operator did not approve this one within the time that its host waits, so mcp-approve did \
         NOT execute the tool. Try again once calls are no longer frozen."
    );
    denied(call, Remediation::Available, &text)
}

/// The host asked its user for us, and the answer was not an approval.
pub fn denied_by_elicitation(call: &Call, console: &str, why: &str) -> Line {
    let text = format!(
        "Denied: mcp-approve had the host ask its user, and {why}. The tool was NOT executed and nothing changed. Do not \
     retry the same call unless the user wants it; they can decide in the console by running `{console}` in a terminal."
    );
    denied(call, Remediation::Available, &text)
}

/// No console is open, and `--unattended deny` says not to wait.
pub fn unattended(call: &Call, console: &str) -> Line {
    let text = format!(
        "No decision: no console is open, and mcp-approve is set not to wait (--unattended deny). The tool was \
         NOT executed. Ask the user to open the console by running `{console}` in a terminal, and then try again."
    );
    denied(call, Remediation::Available, &text)
}

pub fn not_recorded(call: &Call, console: &str, why: &str) -> Line {
    let text = format!(
        "mcp-approve could not record its decision, so the tool was NOT executed: {why}. \
     Ask the user to run `{console} doctor`; it says how to fix the log."
    );
    tool(call, &text)
}

/// What the call would touch has changed since it was approved.
pub fn changed(call: &Call, what: &str) -> Line {
    let text = format!(
        "Approved, and then stopped by mcp-approve before it ran: {what} since. The tool was NOT executed. Check, \
         and call again if it is still wanted: mcp-approve will judge the call again."
    );
    tool(call, &text)
}

/// The call is approved, but an earlier call that must reach the server first still waits.
pub fn out_of_turn(call: &Call, earlier: &str) -> Line {
    let text = format!(
        "Approved, but it did not run: calls reach this server in the order they were sent, and {earlier} still waits. \
         The tool was NOT executed. Call again once {earlier} is answered."
    );
    tool(call, &text)
}

/// A request brings back a state of ours that no call waits under.
pub fn stale_state(call: &Call) -> Line {
    tool(
        call,
        "This request brings back a state of mcp-approve that was used before or has expired. The tool was NOT executed for \
         this request. Call again without requestState, and the user is asked again.",
    )
}

/// A request brings back the state of another call.
pub fn other_call(call: &Call, ticket: &str) -> Line {
    let text = format!(
        "This request brings back the state of {ticket}, but it is another call, so mcp-approve refused both. The tool was \
         NOT executed. Call again without requestState, and the user is asked."
    );
    tool(call, &text)
}

/// A call whose host waits by a task was withdrawn, or its result; `id` does not matter.
pub fn cancelled_task(id: &Id, of: Origin) -> Line {
    if of == Origin::Result {
        return cancelled_running_task(id);
    }
    reply::tool_error(id, "This call was withdrawn before mcp-approve passed it on. The tool was NOT executed.", false)
}

/// The host cancelled the task of a call that the server has already received.
pub fn cancelled_running_task(id: &Id) -> Line {
    let text = "The host cancelled this call while it ran. The outcome is UNKNOWN: it may have been executed. Check before \
                trying again.";
    reply::tool_error(id, text, false)
}

/// The server asks for more input before it answers a call, and the host waits by a task.
pub fn asks_for_more(id: &Id, flight: &Flight) -> Line {
    let text = format!(
        "{UNFINISHED} It asks for more input first, and mcp-approve cannot ask for that by its task. Call {} again: from here on \
         mcp-approve makes no task of its calls, and the server can ask.",
        flight.tool
    );
    reply::tool_error(id, &text, flight.modern)
}

/// The server has answered, but the answer cannot be passed on to the request that waits now.
pub fn answer_lost(id: &Id, why: &str) -> Line {
    let text = format!(
        "The tool HAS run, but mcp-approve cannot pass the server's answer on: {why}. Check what it did before calling again."
    );
    reply::tool_error(id, &text, true)
}

/// The call is approved, but one of its proofs is for another call.
pub fn not_proven(call: &Call, unproven: &NotProven) -> Line {
    let text = format!(
        "Stopped by mcp-approve before it ran: {unproven}. The tool was NOT executed. This is a fault in mcp-approve: \
         tell the user."
    );
    tool(call, &text)
}

/// More calls wait, for a decision or for the server, than can be kept.
pub fn too_many(call: &Call) -> Line {
    tool(
        call,
        "Too many calls wait in mcp-approve already, for approval or for the server's answer. The tool was NOT executed. \
         Wait for answers before you call again.",
    )
}

/// The server did not answer `initialize` before the call's deadline.
pub fn never_opened(call: &Call) -> Line {
    wrong_phase(call, Phase::Opening, &NotLegal::Opening)
}

pub fn server_gone(call: &Call, how: &str) -> Line {
    tool(call, &format!("The MCP server has ended ({how}) before this call reached it. The tool was NOT executed."))
}

pub fn stopping(call: &Call) -> Line {
    tool(call, "mcp-approve is stopping. The tool was NOT executed.")
}

pub fn outcome_unknown(id: &Id, flight: &Flight, how: &str) -> Line {
    let text = format!(
        "The MCP server has ended ({how}) while this call was running. The outcome is UNKNOWN: it may have been \
         executed. Check before trying again."
    );
    match flight.method {
        None => reply::tool_error(id, &text, flight.modern),
        Some(_) => reply::error(Some(id), PERMISSION_DENIED, &text),
    }
}

/// The arguments do not fit the tool's schema: each failing path is named. A result on every revision: hosts hand a
/// JSON-RPC error to the model wrapped, or not at all.
pub fn invalid_arguments(call: &Call, violations: &[Violation]) -> Line {
    let mut text =
        format!("The arguments do not fit the input schema of `{}`; the tool was NOT executed:", call.name());
    for violation in violations {
        let path = if violation.path.is_empty() { "(the arguments)" } else { &violation.path };
        text.push_str(&format!("\n- {path}: {}", violation.what));
    }
    tool(call, &text)
}

pub fn no_such_tool(call: &Call) -> Line {
    reply::error(Some(call.id()), INVALID_PARAMS, &format!("Unknown tool: {}", call.name()))
}

/// The tool, or what another request reads, lies outside the scope.
pub fn out_of_scope(call: &Call, why: &str) -> Line {
    let params = call.method().and_then(|_| serde_json::from_str(call.arguments_text()).ok());
    let about = params.as_ref().and_then(request::target).map(|target| format!(" {target}")).unwrap_or_default();
    let text = format!(
        "Permission denied: {}{about}: {why}. It was NOT executed, and retrying will not help; choose another way, or ask the user \
         to change what may be used here (--role, --scope, or [roles] in mcp-approve's config.toml).",
        call.name()
    );
    reply::error(Some(call.id()), PERMISSION_DENIED, &text)
}

pub fn wrong_phase(call: &Call, phase: Phase, why: &NotLegal) -> Line {
    let method = call.method().unwrap_or("tools/call");
    let text = format!("{method} is not legal in phase {} ({why}); nothing was executed", phase.word());
    reply::error(Some(call.id()), INVALID_REQUEST, &text)
}

/// An answer of the server's does not pass to the host; `flight` is the call that it answers.
pub fn withheld(id: &Id, flight: Option<&Flight>, why: &str) -> Line {
    let text = format!(
        "mcp-approve did not pass the server's answer on: {why}. The server had received the request; what it did is not \
         undone. Check before trying again."
    );
    match flight {
        Some(flight) if flight.method.is_none() => reply::tool_error(id, &text, flight.modern),
        Some(_) | None => reply::error(Some(id), PERMISSION_DENIED, &text),
    }
}

/// A rule withholds the answer to a request; `flight` is the call that it answers.
pub fn result_withheld(id: &Id, flight: Option<&Flight>, rule: &str) -> Line {
    let flight = flight.filter(|flight| flight.method.is_none());
    let what = flight.map_or("The server HAS answered, and its answer", |_| "The tool HAS run, and its result");
    let text = format!(
        "{what} was withheld by the rule {rule} of the policy in mcp-approve. What it did is not undone. \
         Calling again will not help; choose another way, or ask the user to change the rule."
    );
    match flight {
        Some(flight) => reply::tool_error(id, &text, flight.modern),
        None => reply::error(Some(id), PERMISSION_DENIED, &text),
    }
}

fn tool(call: &Call, text: &str) -> Line {
    request(call, text).unwrap_or_else(|| reply::tool_error(call.id(), text, call.is_modern()))
}

/// The answer to a request other than a call; `None` for a call.
fn request(call: &Call, text: &str) -> Option<Line> {
    let method = call.method()?;
    if call.origin() == Origin::Result {
        return Some(of_result(call, text));
    }
    let text = text
        .replace("The tool was NOT executed", "The request was NOT passed on")
        .replace("the tool was NOT executed", "the request was NOT passed on")
        .replace("did NOT execute the tool", "did NOT pass the request on");
    Some(match call.answer_to() {
        Some(to) => {
            // What ran before is not known here.
            let text = text.replace(" and nothing changed", "").replace("before this call reached it", "meanwhile");
            let text = format!("The server asked for {method} before it would continue. {text} {UNFINISHED}");
            match to {
                AnswerTo::Call => reply::tool_error(call.id(), &text, call.is_modern()),
                AnswerTo::Request => reply::error(Some(call.id()), PERMISSION_DENIED, &text),
            }
        }
        // As the specification of sampling has it.
        None if method == "sampling/createMessage" => reply::error(Some(call.id()), USER_REJECTED, &text),
        None => reply::error(Some(call.id()), PERMISSION_DENIED, &text),
    })
}

/// What is said of a call, said of its result, which is held: the call has run.
fn of_result(call: &Call, text: &str) -> Line {
    let text = text
        .replace("The tool was NOT executed and nothing changed", RAN)
        .replace("The tool was NOT executed", RAN)
        .replace("the tool was NOT executed", "the tool HAS run, and its result was NOT passed on")
        .replace("did NOT execute the tool", "did NOT pass on the result of the tool, which HAS run")
        .replace("before it ran", "before it was passed on")
        .replace("before this call reached it", "meanwhile");
    let text = format!("{text} What it did is not undone, and calling again runs it again.");
    match call.answer_to() {
        Some(AnswerTo::Call) => reply::tool_error(call.id(), &text, call.is_modern()),
        Some(AnswerTo::Request) | None => {
            let text = text
                .replace("The tool HAS run", "The server HAS answered")
                .replace("the tool HAS run", "the server HAS answered");
            reply::error(Some(call.id()), PERMISSION_DENIED, &text)
        }
    }
}

const RAN: &str = "The tool HAS run, and its result was NOT passed on";

/// A denial; its `_meta` tells programs whether an authorization can still follow.
fn denied(call: &Call, remediation: Remediation, text: &str) -> Line {
    request(call, text).unwrap_or_else(|| reply::denied(call.id(), text, call.is_modern(), remediation))
}
