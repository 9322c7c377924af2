//! Past calls as rows: how many there are, then one line each, those that were denied first.

use crate::console::card::{counted, grouped};
use crate::console::model::Model;
use crate::operator::record_row::ruling;
use crate::operator::tried::{Attempt, Coverage, Examined, Matched, PastLine, Replayed};
use crate::policy::past::Ended;
use crate::policy::rule::Decision;
use crate::text::row::{Row, Tone, danger, foreign, ours, quiet, warn};
use crate::text::time;

/// Below this width a line shows only when, how the call ended, and what it was about.
const NARROW: usize = 64;

/// What is known of the past calls that a rule would have matched, which must be read before the rule is written.
pub(super) fn matched(attempt: &Attempt<Vec<Matched>>, matched: Option<&Matched>, decision: Decision) -> Vec<Row> {
    if let Some(why) = &attempt.failed {
        return vec![warn(" ▲ past calls cannot be counted: ").and_foreign(Tone::Warn, why)];
    }
    let Some(matched) = matched else { return vec![quiet(" past calls: still counting …")] };
    let mut rows = Vec::new();
    if decision == Decision::Allow && matched.denied > 0 {
        let words = format!(" ▲ it allows what was denied before: {}", counted(matched.denied, "past call"));
        rows.push(danger(words));
    }
    if attempt.examined == (Examined { calls: 0, coverage: Coverage::Whole }) {
        return vec![quiet(" the log has no past call of this tool yet")];
    }
    let of = match attempt.examined.coverage {
        Coverage::Counting => "so far, still counting".to_owned(),
        Coverage::Whole => format!("of this tool's {}", counted(attempt.examined.calls, "past call")),
        Coverage::Newest => format!("of this tool's newest {}", counted(attempt.examined.calls, "past call")),
    };
    let matches = if matched.calls == 0 { "none".to_owned() } else { grouped(matched.calls) };
    let mut row = quiet(format!(" matches {matches} {of}"));
    if matched.calls > 0 {
        row.push(Tone::Quiet, format!(": {} asked, {} denied", grouped(matched.asked), grouped(matched.denied)));
    }
    rows.push(row);
    if matched.undecided > 0 {
        let words = format!(" {} more unknown: the log holds no secrets", grouped(matched.undecided));
        rows.push(quiet(words));
    }
    rows
}

/// What a policy would change of past rulings: the counts, then up to `most` of the calls.
pub(super) fn replayed(model: &Model, attempt: &Attempt<Replayed>, most: usize, width: usize) -> Vec<Row> {
    if let Some(why) = &attempt.failed {
        return warn(" ▲ unknown: ").and_foreign(Tone::Warn, why).hung(width, 3);
    }
    let Examined { calls, coverage } = attempt.examined;
    let found = attempt.found.as_ref().filter(|_| coverage != Coverage::Counting);
    let Some(found) = found else {
        let words = format!(" still counting: {} so far …", counted(calls, "past call"));
        return vec![quiet(words)];
    };
    let mut rows = Vec::new();
    let of = match coverage {
        Coverage::Newest => format!("{}, the newest of the last 30 days", counted(calls, "past call")),
        Coverage::Counting | Coverage::Whole => counted(calls, "past call"),
    };
    let (tone, words) = match (calls, found.changed) {
        (0, _) => (Tone::Quiet, " there are no past calls in the log to try it on".to_owned()),
        (_, 0) => (Tone::Good, format!(" {of}: none would be decided differently")),
        (_, changed) => (Tone::Strong, format!(" {of}: {} would be decided differently", grouped(changed))),
    };
    rows.extend(Row::of(tone, words).hung(width, 1));
    for (from, to, count) in &found.counts {
        let row = ours(format!(" {:>7}  ", grouped(*count))).joined(ruling(*from));
        rows.push(row.quiet(" → ").joined(ruling(*to)));
    }
    if found.undecided > 0 {
        let words = format!(" {:>7}  unknown: the log holds no secrets and no long texts", grouped(found.undecided));
        rows.push(quiet(words).clipped(width));
    }
    for (call, now, by) in found.changes.iter().take(most) {
        let row = line(model, call, width);
        rows.push(row);
        let now = quiet(format!("      {} then, now ", call.ruling.word())).joined(ruling(*now));
        let by = match by.as_str() {
            "" => now.quiet(" by policy"),
            rule => now.quiet(" by rule ").and_foreign(Tone::Ours, rule),
        };
        rows.push(by.clipped(width));
    }
    let more = found.changed.saturating_sub(most.min(found.changes.len()));
    if more > 0 {
        let words = model.hint(&format!(" and {} more: mcp-approve rules replay lists them", grouped(more)));
        rows.extend(quiet(words).hung(width, 1));
    }
    rows
}

/// One past call: when, how it ended, the ticket, the tool and what it was about.
pub(super) fn line(model: &Model, call: &PastLine, width: usize) -> Row {
    let when = time::moment(call.time, model.now, model.settings.offset);
    let row = quiet(format!("   {when:<11} ")).joined(ended(call));
    let row = if width < NARROW {
        row
    } else {
        let ticket = foreign(Tone::Quiet, &call.ticket).clipped(18).padded(19);
        row.joined(ticket).and_foreign(Tone::Ours, &call.tool).ours(" ")
    };
    row.and_foreign(Tone::Foreign, &call.target).clipped(width)
}

fn ended(call: &PastLine) -> Row {
    let tone = match call.ended {
        Ended::Ran => Tone::Good,
        Ended::Refused => Tone::Danger,
        Ended::Unanswered => Tone::Quiet,
    };
    Row::of(tone, format!("{:<11}", call.ended.word()))
}
