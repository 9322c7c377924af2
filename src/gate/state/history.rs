//! What became of the same call before, in this session: a host that gave up asks again, and the operator is to know. Owns
//! what counts as the same call, and the words; decides nothing.

use std::collections::VecDeque;

use crate::audit::record::By;
use crate::wire::call::Call;
use crate::wire::digest::Digest;

/// How many ended calls are remembered, and for how long (milliseconds).
const KEPT: usize = 64;
const LASTS: i64 = 3_600_000;
/// As many earlier calls a card names.
const NAMED: usize = 3;

/// Calls that ended without having run, the latest last.
#[derive(Debug, Default)]
pub struct History {
    ended: VecDeque<Ended>,
}

#[derive(Debug)]
struct Ended {
    what: Digest,
    ticket: String,
    how: String,
    wall: i64,
}

/// What makes two calls the same: tool and arguments, whatever their ids.
pub fn sameness(call: &Call) -> Digest {
    Digest::of(format!("{}\0{}", call.name(), call.arguments_text()).as_bytes())
}

impl History {
    /// A call ended at `wall` (milliseconds) without having run.
    pub fn note(&mut self, call: &Call, ticket: &str, by: By, wall: i64) {
        let how = match by {
            By::Operator => "you denied it",
            By::Elicitation => "it was denied in the host",
            By::Expiry => "nobody answered in time",
            By::Cancel => "the host withdrew it",
            By::Default | By::Rule | By::Approver | By::Scope | By::Shutdown | By::Fault | By::Observe => return,
        };
        if self.ended.len() >= KEPT {
            self.ended.pop_front();
        }
        self.ended.push_back(Ended { what: sameness(call), ticket: ticket.to_owned(), how: how.to_owned(), wall });
    }

    /// What became of the same call before `wall`, the latest first; one line each.
    pub fn of(&self, call: &Call, wall: i64) -> Vec<String> {
        if self.ended.is_empty() {
            return Vec::new();
        }
        let what = sameness(call);
        let same = self.ended.iter().rev().filter(|one| one.what == what && wall.saturating_sub(one.wall) < LASTS);
        let line = |one: &Ended| format!("{}, {} ago: {}", one.ticket, span(wall.saturating_sub(one.wall)), one.how);
        same.take(NAMED).map(line).collect()
    }
}

/// A span of milliseconds in words.
pub fn span(ms: i64) -> String {
    match ms.max(0) / 1000 {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds => format!("{} min", seconds / 60),
    }
}
