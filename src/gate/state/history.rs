//! What became of the same call before, in this session: a host that gave up may call again, and the operator should
//! know. Owns what counts as the same call, and the words; decides nothing.

use std::collections::VecDeque;

use crate::audit::record::By;
use crate::wire::call::Call;
use crate::wire::digest::Digest;

/// How many ended calls are remembered, and for how long (milliseconds).
const KEPT: usize = 64;
const LASTS: i64 = 3_600_000;
/// How many earlier calls a card names.
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

/// What became of the same call before it came again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Past {
    /// The latest first, one line each; at most `NAMED` from the history.
    pub lines: Vec<String>,
    /// How often it came before.
    pub times: usize,
    pub latest: Option<String>,
}

/// What makes two calls the same: tool and arguments, whatever their ids.
fn sameness(call: &Call) -> Digest {
    Digest::of(format!("{}\0{}", call.name(), call.arguments_text()).as_bytes())
}

impl History {
    /// A call ended at `wall` (milliseconds) without having run. `said` is the operator who denied it, and why.
    pub fn note(&mut self, call: &Call, ticket: &str, by: By, said: Option<(&str, &str)>, wall: i64) {
        let how = match by {
            By::Operator => {
                said.map_or_else(|| "you denied it".to_owned(), |(who, why)| format!("denied by {who} ({why})"))
            }
            By::Elicitation => "it was denied in the host".to_owned(),
            By::Expiry => "no operator answered in time".to_owned(),
            By::Cancel => "the host withdrew it".to_owned(),
            By::Default | By::Rule | By::Approver | By::Scope | By::Shutdown | By::Fault | By::Observe => return,
        };
        if self.ended.len() >= KEPT {
            self.ended.pop_front();
        }
        self.ended.push_back(Ended { what: sameness(call), ticket: ticket.to_owned(), how, wall });
    }

    /// What became of the same call before `wall`.
    pub fn of(&self, call: &Call, wall: i64) -> Past {
        if self.ended.is_empty() {
            return Past::default();
        }
        let what = sameness(call);
        let same = self.ended.iter().rev().filter(|one| one.what == what && wall.saturating_sub(one.wall) < LASTS);
        let line = |one: &Ended| format!("{}, {} before: {}", one.ticket, span(wall.saturating_sub(one.wall)), one.how);
        Past {
            lines: same.clone().take(NAMED).map(line).collect(),
            times: same.clone().count(),
            latest: same.clone().next().map(|one| one.ticket.clone()),
        }
    }
}

/// A span of milliseconds in words.
pub fn span(ms: i64) -> String {
    match ms.max(0) / 1000 {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds => format!("{} min", seconds / 60),
    }
}
