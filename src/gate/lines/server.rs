//! What a line of the server can be, and which lines its host must not get as they are.

use crate::gate::data::effect::{Effect, Passing};
use crate::gate::held::context::Context;
use crate::gate::held::out::Out;
use crate::gate::lines::requests::restricts;
use crate::gate::server::catalog::Catalog;
use crate::gate::server::flight::{Flights, Progress};
use crate::gate::state::passed::Form;
use crate::gate::state::{Answered, Ends, Host};
use crate::gate::waiting::Waiting;
use crate::wire::call::Origin;
use crate::wire::digest::Digest;
use crate::wire::id::Id;
use crate::wire::line::Line;
use crate::wire::message::Gist;
use crate::wire::task;

/// A line of the server, by what follows from it.
#[derive(Debug)]
pub(in crate::gate) enum ServerLine {
    /// A host could take it for the answer to a call that the server was never asked.
    Forged,
    /// The answer to our own question about its tools.
    OwnList(Id),
    /// The answer to a call whose host waits by a task.
    ForTask(Id),
    /// A page of tools that the host asked for.
    Page(Id),
    /// The answer to any other request of the host.
    Answer(Id),
    /// It cancels its own request of this number, which is held.
    CancelsHeld(u64),
    ListChanged,
    Progress,
    Notification(String),
    Request(Id, String),
    Unreadable,
}

/// How a line of the server reaches its host.
#[derive(Debug)]
pub(in crate::gate) enum Relay {
    AsItIs(Line),
    Instead(Line),
    Nothing,
}

impl Relay {
    pub fn push(self, out: &mut Out) {
        match self {
            Self::AsItIs(line) => out.push(Effect::Relay(Passing::ToHost(line))),
            Self::Instead(line) => out.push(Effect::WriteToHost(line)),
            Self::Nothing => {}
        }
    }
}

pub(in crate::gate) fn sort(gist: &Gist, context: Context<'_>, waiting: &Waiting) -> ServerLine {
    match gist {
        Gist::Response { id, .. } if context.catalog.is_ours(id) => ServerLine::OwnList(id.clone()),
        Gist::Response { .. } | Gist::Unreadable if forges(gist, context, waiting) => ServerLine::Forged,
        Gist::Response { id, .. } if context.flights.get(id).is_some_and(|flight| flight.task.is_some()) => {
            ServerLine::ForTask(id.clone())
        }
        Gist::Response { id, .. } if context.catalog.awaits(id) => ServerLine::Page(id.clone()),
        Gist::Response { id, .. } => ServerLine::Answer(id.clone()),
        Gist::Notification { method, cancels } => {
            let held = cancels.as_ref().and_then(|id| context.calls.by_origin(Origin::Server, id));
            match (held, method.as_str()) {
                (Some(number), _) => ServerLine::CancelsHeld(number),
                (None, "notifications/tools/list_changed") => ServerLine::ListChanged,
                (None, "notifications/progress") => ServerLine::Progress,
                (None, _) => ServerLine::Notification(method.clone()),
            }
        }
        Gist::Request { id, method, .. } => ServerLine::Request(id.clone(), method.clone()),
        Gist::Unreadable => ServerLine::Unreadable,
    }
}

/// Whether a host could take a line of the server's for the answer to a call that the server was never asked.
pub(in crate::gate) fn forges(gist: &Gist, context: Context<'_>, waiting: &Waiting) -> bool {
    let Context { calls, flights, host, catalog, scope, .. } = context;
    let is_strict = !calls.is_empty() || flights.has_later() || waiting.tasks.changes_answers() || !scope.is_whole();
    match gist {
        Gist::Response { id, .. } => {
            let is_owed = || flights.contains(id) || host.plain_ids.contains(id);
            let is_held = || calls.by_id(id).is_some();
            catalog.is_ours(id) || waiting.forms.is_ours(id) || is_strict && (is_held() || !is_owed())
        }
        Gist::Unreadable => is_strict,
        Gist::Request { .. } | Gist::Notification { .. } => false,
    }
}

/// Whether a line of the server must not reach the host: an answer to our own question, or, while a call is held,
/// any answer that the host could take for that call's. Hosts read ids more laxly than we do (`"5"`, `5.0` and the
/// last of two ids pass for `5`), so only the exact id of a request that the server owes an answer to passes then.
/// The same holds wherever a scope hides tools: a list passes only as the answer that is cut. A request that a rule
/// is about must not pass unseen either.
pub(in crate::gate) fn keeps_back(gist: &Gist, context: Context<'_>, waiting: &Waiting) -> bool {
    let has_form = waiting.forms.open.is_some();
    forges(gist, context, waiting)
        || match gist {
            Gist::Request { method, .. } | Gist::Notification { method, .. } => {
                has_form || restricts(context.rules, method) || may_report_our_task(gist, waiting)
            }
            // Requests may be inside an answer.
            Gist::Response { .. } => context.rules.restricts_methods,
            Gist::Unreadable => has_form || context.rules.restricts_methods,
        }
}

/// Whether a line that is too long to be read could report the status of a task of ours to the host.
pub(in crate::gate) fn may_report_our_task(gist: &Gist, waiting: &Waiting) -> bool {
    !waiting.tasks.is_empty() && matches!(gist, Gist::Notification { method, .. } if task::tells(method))
}

/// Whether a line that is too long to be held reaches the host.
pub(in crate::gate) fn streams(gist: &Gist, context: Context<'_>, waiting: &Waiting) -> bool {
    let is_renamed = matches!(gist, Gist::Response { id, .. } if context.flights.renames(id));
    !keeps_back(gist, context, waiting) && !cuts(gist, context) && !is_renamed
}

/// Whether the host gets a line of the server only after tools were cut out of it: a page of `tools/list`.
pub(in crate::gate) fn cuts(gist: &Gist, context: Context<'_>) -> bool {
    match gist {
        Gist::Response { id, failed: false } => !context.scope.is_whole() && context.catalog.awaits(id),
        Gist::Response { .. } | Gist::Request { .. } | Gist::Notification { .. } | Gist::Unreadable => false,
    }
}

/// Up to how many bytes the next long line of the server should be buffered whole, rather than streamed. While a call is
/// held the end of a line counts too: a second id there would make it another call's answer.
pub(in crate::gate) fn wants_whole(context: Context<'_>, waiting: &Waiting) -> usize {
    const LIST: usize = 64 << 20;
    const CHECKED: usize = 1 << 20;
    let Context { calls, flights, catalog, .. } = context;
    let is_held = !calls.is_empty() || flights.has_later() || !waiting.tasks.is_empty();
    if catalog.is_listening() || is_held || context.rules.restricts_methods {
        LIST
    } else if context.host.lifecycle.is_pending() || flights.wants_whole_answers() {
        CHECKED
    } else {
        0
    }
}

/// Records that a line was dropped which could pass for the answer to a call that the server never received.
pub(in crate::gate) fn record_forged(bytes: u64, digest: Option<Digest>, out: &mut Out) {
    let what = "dropped an answer of the server to a call that it never received";
    out.record(out.fault(what, digest).with("bytes", bytes));
}

/// The first answer to a request shows that the server works.
pub(in crate::gate) fn note_first_answer(ends: &mut Ends, out: &mut Out) {
    if std::mem::replace(&mut ends.answered, Answered::Once) == Answered::NotYet {
        out.push(Effect::NoteServer);
    }
}

/// A page of tools that the host asked for: it is read, and reaches the host at once unless tools are to be cut out of it.
pub(in crate::gate) fn page(line: Line, gist: &Gist, id: Id, is_cut: bool, catalog: &mut Catalog) -> Relay {
    match gist {
        Gist::Response { failed, .. } if is_cut => {
            catalog.receive(id, *failed, line);
            return Relay::Nothing;
        }
        // An error describes no tool.
        Gist::Response { failed: true, .. } => catalog.host_cancels(&id),
        Gist::Response { .. } => catalog.receive(id, false, line.clone()),
        Gist::Request { .. } | Gist::Notification { .. } | Gist::Unreadable => {}
    }
    Relay::AsItIs(line)
}

/// A report of progress reaches the request that is open now, if any.
pub(in crate::gate) fn progress(line: Line, flights: &mut Flights, out: &mut Out) -> Relay {
    out.passes((Origin::Server, Form::Notification, "notifications/progress"), &line);
    match flights.progress(&line) {
        Progress::Passes => Relay::AsItIs(line),
        Progress::Changed(line) => Relay::Instead(line),
        Progress::Drops => Relay::Nothing,
    }
}

pub(in crate::gate) fn request(line: Line, (id, method): (Id, &str), host: &mut Host, out: &mut Out) -> Relay {
    if method == "roots/list" {
        host.roots.server_asks(id);
    }
    out.passes((Origin::Server, Form::Request, method), &line);
    Relay::AsItIs(line)
}
