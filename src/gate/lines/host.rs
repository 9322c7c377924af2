//! What a line of the host can be, and what follows from those that pass. A line that is none of these is refused.

use std::collections::BTreeSet;

use crate::audit::record::By;
use crate::audit::record::Kind;
use crate::behavior::request::carried;
use crate::gate::call::arrive::NotHeld;
use crate::gate::held::context::Context;
use crate::gate::held::out::Out;
use crate::gate::held::{replies, wait};
use crate::gate::lines::requests::{holds, restricts};
use crate::gate::server::catalog::Catalog;
use crate::gate::state::passed::Form;
use crate::gate::state::{Forms, Host, HostRecord};
use crate::gate::waiting::{Waiting, requests};
use crate::mcp::{lifecycle, request};
use crate::policy::scope::{Asks, Outside, Scope};
use crate::wire::call::{Call, Origin};
use crate::wire::id::Id;
use crate::wire::line::Line;
use crate::wire::message::{self, Gist, Plain, Refusal, Sorted};

/// How many unanswered requests of the host are remembered by their ids.
const PLAIN_IDS: usize = 65_536;

/// A line of the host, by what follows from it.
#[derive(Debug)]
pub(in crate::gate) enum HostLine {
    /// Nothing: it is blank, or the server takes nothing more.
    Nothing,
    Refused(Refusal, Line),
    /// A `tools/call`.
    Call(Box<Call>),
    /// A call that brings back a state of ours.
    Return(Box<Call>, String),
    /// Another request that must be decided on.
    Ruled(Box<Call>),
    /// Another request that lies outside the scope.
    Outside(Box<Call>, NotHeld),
    /// A request about a task of ours.
    Task(Plain, Id, String),
    /// A request that passes, as a call too if rules could be about it.
    Request(Plain, Id, String, Option<Box<Call>>),
    /// It cancels our question to the host.
    CancelsForm,
    /// It cancels the held call of this number.
    CancelsHeld(u64),
    /// It cancels a request that waits for a task of ours.
    CancelsTaskRequest(Id),
    /// It cancels a call that the server knows by this other id.
    CancelsRenamed(Plain, Id),
    Notification(Plain, String, Option<Id>),
    /// The answer to our question.
    FormAnswer(Line, Id, Failed),
    Answer(Plain, Option<Id>),
}

/// Whether an answer is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gate) enum Failed {
    No,
    Yes,
}

pub(in crate::gate) fn sort(line: Line, context: Context<'_>, waiting: &Waiting) -> HostLine {
    match message::sort(line) {
        Sorted::Call(call) => {
            if is_live(context, waiting, call.id()) || context.host.plain_ids.contains(call.id()) {
                return HostLine::Refused(duplicate(call.id().clone()), call.into_line());
            }
            match wait::brought_back(&call) {
                Some(state) if !context.flights.gave_state(&call) => HostLine::Return(call, state),
                Some(_) | None => HostLine::Call(call),
            }
        }
        Sorted::Plain(plain) => sort_plain(plain, context, waiting),
        Sorted::Refused { refusal, line } => HostLine::Refused(refusal, line),
        Sorted::Blank => HostLine::Nothing,
    }
}

/// Sorts a message that is no `tools/call`.
pub(in crate::gate) fn sort_plain(plain: Plain, context: Context<'_>, waiting: &Waiting) -> HostLine {
    let takes_nothing = context.ends.server.reason().is_some();
    let refuse = |what: &str, plain: Plain| HostLine::Refused(Refusal::of(what, None, false), plain.into_line());
    match plain.gist().clone() {
        // Our own tasks need no server: a host may still fetch the result of a call that waited as one.
        Gist::Request { id, method, .. } if requests::is_ours(waiting, &plain) && !is_live(context, waiting, &id) => {
            HostLine::Task(plain, id, method)
        }
        Gist::Request { .. } | Gist::Notification { .. } | Gist::Response { .. } | Gist::Unreadable
            if takes_nothing =>
        {
            HostLine::Nothing
        }
        Gist::Request { id, .. } if is_live(context, waiting, &id) => {
            HostLine::Refused(duplicate(id), plain.into_line())
        }
        Gist::Request { id, method, .. } => sort_request(plain, id, method, context),
        Gist::Notification { method, cancels } => {
            if cancels.as_ref().is_some_and(|id| waiting.forms.is_ours(id)) {
                return HostLine::CancelsForm;
            }
            if let Some(number) = cancels.as_ref().and_then(|id| context.calls.by_host_id(id)) {
                return HostLine::CancelsHeld(number);
            }
            match cancels {
                Some(id) if waiting.tasks.has_waiting(&id) => HostLine::CancelsTaskRequest(id),
                _ if restricts(context.rules, &method) || is_request(context, &method, &plain) => {
                    refuse(message::NO_ANSWER, plain)
                }
                Some(id) => match context.flights.first_of(&id) {
                    Some(first) => HostLine::CancelsRenamed(plain, first.clone()),
                    None => HostLine::Notification(plain, method, Some(id)),
                },
                None => HostLine::Notification(plain, method, None),
            }
        }
        Gist::Response { id, failed } if waiting.forms.is_ours(&id) => {
            HostLine::FormAnswer(plain.into_line(), id, if failed { Failed::Yes } else { Failed::No })
        }
        Gist::Response { id, .. } if context.calls.by_origin(Origin::Server, &id).is_some() => {
            refuse("the server's request of this id has not reached the host yet", plain)
        }
        Gist::Response { id, failed } => HostLine::Answer(plain, (!failed).then_some(id)),
        Gist::Unreadable => HostLine::Answer(plain, None),
    }
}

fn sort_request(plain: Plain, id: Id, method: String, context: Context<'_>) -> HostLine {
    if method == "tools/list" && !context.scope.is_whole() && !context.catalog.has_room() {
        // We could not follow this one, so its answer could not be cut to the scope.
        let what = "too many tools/list requests wait for their answers; ask again when one has come";
        return HostLine::Refused(Refusal::of(what, Some(id), true), plain.into_line());
    }
    let Some(request) = request::is_ruled(&method).then(|| plain.request(Origin::Host)).flatten().map(Box::new) else {
        return HostLine::Request(plain, id, method, None);
    };
    if holds(context, &request) {
        return HostLine::Ruled(request);
    }
    let asks = Asks::Request(&context.config.server, context.revision_of(&request));
    match context.scope.admit(&request, asks) {
        Ok(_) => HostLine::Request(plain, id, method, Some(request)),
        Err(Outside(why)) => {
            let reply = replies::out_of_scope(&request);
            HostLine::Outside(request, NotHeld { by: By::Scope, why, reply })
        }
    }
}

fn is_live(context: Context<'_>, waiting: &Waiting, id: &Id) -> bool {
    context.calls.by_host_id(id).is_some()
        || context.flights.contains(id)
        || context.flights.first_of(id).is_some()
        || waiting.tasks.has_waiting(id)
}

/// A second call under an id that is still in flight.
fn duplicate(id: Id) -> Refusal {
    Refusal::of("a call with this id is already in flight; ids must be unique", Some(id), true)
}

/// Whether a notification is a request that leaves its id out: it carries a tool call, or a scope would ask about its method.
fn is_request(context: Context<'_>, method: &str, notification: &Plain) -> bool {
    if request::is_notification(method) {
        return false;
    }
    let message: serde_json::Value = serde_json::from_slice(notification.line().content()).unwrap_or_default();
    let params = message.get("params").unwrap_or(&serde_json::Value::Null);
    !context.scope.is_whole() || carried(method, params, |name| context.catalog.could_have(name)).is_some()
}

/// A request passes: its answer is expected.
pub(in crate::gate) fn note_request(
    (plain, id, method): (&Plain, &Id, &str),
    host: &mut Host,
    catalog: &mut Catalog,
    out: &mut Out,
) {
    if method == "tools/list" {
        catalog.host_asks(id, !has_cursor(plain.line().content()));
    }
    learn_host(plain, method, host, out);
    if matches!(method, "initialize" | "server/discover") {
        host.introduction = Some(id.clone());
    }
    if host.plain_ids.len() < PLAIN_IDS {
        host.plain_ids.insert(id.clone());
    }
    out.passes((Origin::Host, Form::Request, method), plain.line());
}

/// A notification that cancels a request passes: no answer to that is expected any more.
pub(in crate::gate) fn forget_request(id: &Id, plain_ids: &mut BTreeSet<Id>, catalog: &mut Catalog, scope: &Scope) {
    plain_ids.remove(id);
    if !scope.is_whole() {
        catalog.host_cancels(id);
    }
}

/// Lets the lifecycle see what the host says, and records who the host is once it is known.
pub(in crate::gate) fn learn_host(plain: &Plain, method: &str, host: &mut Host, out: &mut Out) {
    let content = plain.line().content();
    host.lifecycle.on_host_line(plain.gist(), content);
    if method != "initialize" {
        return;
    }
    host.forms = if lifecycle::shows_forms(content) { Forms::Shows } else { Forms::No };
    if host.recorded == HostRecord::Missing
        && let Some((name, version)) = host.lifecycle.host()
    {
        let entry = out.entry(Kind::Host).with("name", name).with("version", version);
        out.record(entry.with("features", lifecycle::of_host(content)));
        host.recorded = HostRecord::Made;
    }
}

fn has_cursor(content: &[u8]) -> bool {
    let request: serde_json::Value = serde_json::from_slice(content).unwrap_or_default();
    request.pointer("/params/cursor").is_some_and(|cursor| !cursor.is_null())
}
