//! The panel that makes a grant or a rule from a call: the offers, what the one on show means, and its past calls.

use ratatui::layout::Rect;

use crate::console::maker;
use crate::console::model::{Choice, Model, Offer, Overlay, RuleMaker, RuleStage, Seen};
use crate::console::rows::{NARROW, Panel, content_rows, ends};
use crate::operator::record_row::ruling;
use crate::operator::tried::{Attempt, Coverage, Examined, Matched, PastLine, Replayed};
use crate::policy::{Decision, past::Ended};
use crate::text::row::{Row, Tone, border, danger, foreign, ours, quiet, strong, warn};
use crate::text::time;
use crate::wire::{counted, number::grouped};

/// Past calls that the offers make room for.
const FEW: usize = 3;

pub fn panel(model: &Model, maker: &RuleMaker, area: Rect) -> Panel {
    let (width, room) = (usize::from(area.width), content_rows(area));
    let mut all = rows(model, maker, width, room);
    let unread = all.must.saturating_sub(maker.top + room);
    let below = all.rows.len().saturating_sub(maker.top + room);
    let (words, more_like_it, hint) = match maker.offer() {
        Some(Offer::Grant(_)) => {
            (" Approve ", ", and more like it", "a letter chooses how wide; grants approve the call ")
        }
        _ => (" Make a rule from ", "", "a letter chooses how wide; it holds for what waits, too "),
    };
    let ticket = strong(words).and_foreign(Tone::Strong, &maker.ticket).strong(more_like_it);
    let mut row = last(model, maker, unread);
    if unread == 0 && below > 0 {
        let more = quiet(format!(" PgDn: {below} more "));
        row = ends(row.clipped(width.saturating_sub(more.width() + 1)), more, width);
    }
    let title = ends(ticket, quiet(hint), width);
    Panel { title, rows: all.rows.split_off(maker.top.min(all.rows.len())), last: row }
}

fn last(model: &Model, maker: &RuleMaker, unread: usize) -> Row {
    if unread > 0 {
        return warn(format!(" … {} below · PgDn", counted(unread, "more line")));
    }
    // Shows, before Enter is pressed, what would keep it from working.
    let waits = maker.armed.as_ref().and_then(|armed| model.still(armed));
    let lets_run = maker.choice().is_none_or(|choice| choice.decision == Decision::Allow);
    if lets_run
        && let Some(held) = waits
        && held.seen != Seen::Whole
    {
        return warn(" This also approves the call, and you have not read it to its end: Esc, then PgDn");
    }
    match (maker.stage, maker.offer()) {
        (_, Some(Offer::Grant(_))) if maker.armed.as_ref().and_then(|armed| model.still(armed)).is_none() => {
            warn(" Too late: the call no longer waits as it was shown. Nothing will be sent.")
        }
        (RuleStage::Choosing, Some(Offer::Grant(_))) if maker.goes_at_once() => {
            quiet(" Enter approves the call and grants this")
        }
        (RuleStage::Choosing, Some(Offer::Grant(_))) => quiet(" Enter, twice, approves the call and grants this"),
        (RuleStage::Sure, Some(Offer::Grant(_))) => {
            danger(" Approve this call, and let those run unasked? Enter once more; Esc leaves it")
        }
        (stage, _) => writes(stage, maker.goes_at_once()),
    }
}

pub(super) fn writes(stage: RuleStage, at_once: bool) -> Row {
    let (tone, words) = match stage {
        RuleStage::Choosing if at_once => (Tone::Quiet, " Enter adds this text to your policy file; u takes it back"),
        RuleStage::Choosing => (Tone::Warn, " Enter, twice, adds this text to your policy file"),
        RuleStage::Sure => (Tone::Danger, " Add exactly this text to your policy file? Enter once more; Esc leaves it"),
    };
    Row::of(tone, words)
}

/// How many rows the open panel has in all, and how many below the screen must still be read.
pub fn measured(model: &Model) -> (usize, usize) {
    let Some(Overlay::Rule(maker)) = &model.overlay else { return (0, 0) };
    let area = model.areas().body;
    let room = content_rows(area);
    let all = rows(model, maker, usize::from(area.width), room);
    (all.rows.len(), all.must.saturating_sub(maker.top + room))
}

struct Rows {
    rows: Vec<Row>,
    /// How many of them must be on screen before anything is done; the past calls below are optional.
    must: usize,
}

fn rows(model: &Model, maker: &RuleMaker, width: usize, room: usize) -> Rows {
    let mut text = match maker.offer() {
        None => Vec::new(),
        Some(Offer::Rule(choice)) => text(maker, choice, width),
        Some(Offer::Grant(offer)) => match maker.armed.as_ref().and_then(|armed| model.queue.call(armed.key())) {
            None => vec![warn(" The call no longer waits.")],
            Some(held) => {
                // A grant would begin now, so its end is counted from now.
                let words = maker::words(offer, &held.snapshot, model.now, model.settings.offset);
                words.into_iter().flat_map(|row| barred(row, width)).collect()
            }
        },
    };
    if let (Some(why), Some(Offer::Rule(_))) = (maker.no_grant, maker.offer()) {
        text.extend(quiet(format!(" {why}")).hung(width, 1));
    }
    let lines = maker.matched().map_or(&[][..], |matched| &matched.lines);
    // The offers make room for a few past calls, and those that were denied must be read.
    let few = lines.len().min(FEW);
    let mut rows = offers(model, maker, width, room.saturating_sub(text.len() + few).max(FEW));
    rows.extend(text);
    let denied = maker.matched().filter(|_| maker.choice().is_some_and(|choice| choice.decision == Decision::Allow));
    let must = rows.len() + denied.map_or(0, |matched| matched.denied.min(few));
    rows.extend(lines.iter().map(|call| past_call(model, call, width)));
    Rows { rows, must }
}

/// The offers, as many around the chosen one as have room.
fn offers(model: &Model, maker: &RuleMaker, width: usize, room: usize) -> Vec<Row> {
    let held = maker.armed.as_ref().and_then(|armed| model.queue.call(armed.key()));
    let tool = held.map_or("", |held| held.snapshot.tool.as_str());
    let many = maker.offers.len();
    let whole: Vec<Vec<Row>> =
        maker.offers.iter().enumerate().map(|(i, one)| line(tool, one, i == maker.at).hung(width, 3)).collect();
    if whole.iter().map(Vec::len).sum::<usize>() <= room {
        return whole.into_iter().flatten().collect();
    }
    // One row names the offers without room by their letters.
    let room = room.saturating_sub(1);
    let (mut first, mut last) = (maker.at, maker.at);
    let mut used = whole.get(maker.at).map_or(1, Vec::len);
    let fits = |at: Option<usize>, used: usize| whole.get(at?).map(Vec::len).filter(|rows| used + rows <= room);
    loop {
        let (above, below) = (fits(first.checked_sub(1), used), fits(Some(last + 1), used));
        match (above, below) {
            (_, Some(rows)) if above.is_none() || last - maker.at <= maker.at - first => {
                (last, used) = (last + 1, used + rows);
            }
            (Some(rows), _) => (first, used) = (first - 1, used + rows),
            (None, _) => break,
        }
    }
    let mut rows = Vec::new();
    for (i, one) in maker.offers.iter().enumerate().take(last + 1).skip(first) {
        let mut row = line(tool, one, i == maker.at);
        if i == maker.at {
            row.push(Tone::Quiet, format!(" ({} of {many})", i + 1));
        }
        rows.extend(row.hung(width, 3));
    }
    let hidden = maker.offers.iter().take(first).chain(maker.offers.iter().skip(last + 1));
    rows.push(others(hidden, width));
    rows
}

/// The offers that have no room, by their letters: one word for each letter where that fits.
fn others<'a>(hidden: impl Iterator<Item = &'a Offer>, width: usize) -> Row {
    let mut letters: Vec<(char, &str)> = Vec::new();
    for letter in hidden.map(Offer::letter) {
        if !letters.contains(&letter) {
            letters.push(letter);
        }
    }
    let row = |with_words: bool| {
        letters.iter().fold(quiet("   more: "), |row, (letter, word)| {
            let row = row.key(letter.to_string());
            row.quiet(if with_words { format!(" {word}  ") } else { " ".to_owned() })
        })
    };
    let whole = row(true);
    if whole.width() <= width { whole } else { row(false) }
}

fn line(tool: &str, offer: &Offer, here: bool) -> Row {
    let (mark, tone) = if here { (" ▸ ", Tone::Strong) } else { ("   ", Tone::Quiet) };
    let row = Row::of(tone, mark).key(format!("{} ", offer.letter().0));
    match offer {
        Offer::Grant(offer) => row.and(tone, "approve, and ").and_foreign(tone, &offer.says(tool)),
        Offer::Rule(choice) => row.and_foreign(tone, &choice.label),
    }
}

fn barred(row: Row, width: usize) -> Vec<Row> {
    row.behind(&border(" ┃ "), width)
}

pub(super) fn written(toml: &str, width: usize) -> Vec<Row> {
    let line = |line: &str| {
        // The indent is ours, so it is not marked as odd space.
        let bare = line.trim_start_matches(' ');
        let line = ours(&line[..line.len() - bare.len()]).and_foreign(Tone::Foreign, bare);
        barred(line, width)
    };
    toml.lines().flat_map(line).collect()
}

fn text(maker: &RuleMaker, choice: &Choice, width: usize) -> Vec<Row> {
    let mut rows = written(&choice.toml, width);
    if choice.toml.contains("{ arg = \"\"") {
        let words = " arg = \"\" is all arguments together: a call with one more does not match";
        rows.extend(quiet(words).hung(width, 1));
    }
    if let Some(except) = &choice.except {
        let row = quiet(" and adds to `unless` of rule ").and_foreign(Tone::Strong, &except.rule);
        rows.extend(row.quiet(", which asks for it now:").hung(width, 1));
        rows.extend(written(&except.condition, width));
    }
    for warning in &choice.warnings {
        rows.extend(warn(" ▲ ").and_foreign(Tone::Warn, warning).hung(width, 3));
    }
    rows.extend(choice.also.into_iter().flat_map(|also| warn(format!(" ▲ {also}")).hung(width, 3)));
    let waits = if choice.waiting == 1 { "that waits now" } else { "that wait now" };
    let matched = format!(" matches {} {waits}", counted(choice.waiting, "call"));
    rows.extend(quiet(matched).hung(width, 1));
    let past = past_matches(&maker.past, maker.matched(), choice.decision);
    rows.extend(past.into_iter().flat_map(|row| row.hung(width, 1)));
    rows
}

/// What is known of the past calls that a rule would have matched, which must be read before the rule is written.
fn past_matches(attempt: &Attempt<Vec<Matched>>, matched: Option<&Matched>, decision: Decision) -> Vec<Row> {
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
        let row = past_call(model, call, width);
        rows.push(row);
        let now = quiet(format!("      {} then, would be ", call.ruling.word())).joined(ruling(*now));
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

pub(super) fn past_call(model: &Model, call: &PastLine, width: usize) -> Row {
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
