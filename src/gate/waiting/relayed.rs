//! What the server says of tasks keeps the ids that hosts know: a task that the server made of a call keeps the id that the host
//! was given, and no line names a task of ours as the server's own.

use crate::gate::config::Polling;
use crate::gate::held::out::Out;
use crate::gate::waiting::Waiting;
use crate::gate::waiting::tasks::PREFIX;
use crate::mcp::result::Answer;
use crate::wire::id::Id;
use crate::wire::line::Line;
use crate::wire::message::Gist;
use crate::wire::{rename, task};

/// What becomes of a line of the server that may name tasks.
#[derive(Debug)]
pub(in crate::gate) enum Passage {
    AsItIs(Line),
    /// A task in it is named by our id.
    Renamed(Line),
    /// It is an answer that does not pass: the host that waits under this id learns why.
    Withheld(Id),
    Dropped,
}

/// A line of the server as the host must get it.
pub(in crate::gate) fn under_our_id(waiting: &mut Waiting, line: Line, gist: &Gist, out: &mut Out) -> Passage {
    if waiting.limits.polling == Polling::Never {
        return Passage::AsItIs(line);
    }
    let tasks = &mut waiting.tasks;
    let has = |text: &str| memchr::memmem::find(line.content(), text.as_bytes()).is_some();
    // An escape may spell the prefix, too.
    let may_name_one = has(PREFIX) || has("\\u");
    // Of two equal keys, some readers take the first and some the last.
    let is_unclear = may_name_one && rename::span(line.content(), &[]).is_err();
    let names_ours =
        may_name_one && !tasks.is_empty() && task::named_laxly(line.content()).iter().any(|id| tasks.get(id).is_some());
    let renamed = match gist {
        Gist::Response { id, .. } => match tasks.answered(id) {
            Some((ours, theirs)) => {
                let put = |line: &Line, path: &[&str]| rename::with_text(line, path, &theirs, &ours);
                let related = ["result", "_meta", task::RELATED, "taskId"];
                let first = put(&line, &["result", "taskId"]);
                let second = put(first.as_ref().unwrap_or(&line), &related);
                second.or(first)
            }
            None if names_ours => {
                record(&line, out);
                return Passage::Withheld(id.clone());
            }
            None if may_name_one && let Answer::Task { id: theirs } = Answer::read(line.content()) => {
                if is_unclear {
                    record(&line, out);
                    return Passage::Withheld(id.clone());
                }
                tasks.note_foreign(&theirs);
                None
            }
            None => None,
        },
        Gist::Notification { .. } | Gist::Unreadable if names_ours => {
            record(&line, out);
            return Passage::Dropped;
        }
        Gist::Notification { method, .. } if task::tells(method) => {
            if is_unclear {
                record(&line, out);
                return Passage::Dropped;
            }
            let (theirs, _) = task::named(line.content()).unwrap_or_default();
            let ours = tasks.ours(&theirs);
            ours.and_then(|ours| rename::with_text(&line, &["params", "taskId"], &theirs, ours))
        }
        Gist::Notification { .. } | Gist::Request { .. } | Gist::Unreadable => None,
    };
    renamed.map_or(Passage::AsItIs(line), Passage::Renamed)
}

fn record(line: &Line, out: &mut Out) {
    let what = "dropped a line of the server that names a task of mcp-approve as its own";
    out.record(out.fault(what, line.digest()).with("bytes", line.content().len()));
}
