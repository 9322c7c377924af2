//! The Log screen's list: each record on one line, the newest first, with the figures of deciding above it.

use super::{NARROW, WIDE, badge, grouped};
use crate::audit::record::{By, Kind, Outcome, VerdictWord};
use crate::console::columns::{Columns, cell};
use crate::console::found::Line;
use crate::console::model::Model;
use crate::console::row::{Row, Tone};
use crate::console::time;

pub(super) fn title(model: &Model) -> Row {
    let window = &model.browse.window;
    let row = Row::of(Tone::Strong, " Log").and(Tone::Quiet, format!(" · {} records", grouped(window.newest)));
    row.and(Tone::Quiet, " · newest first")
}

/// The figures of deciding, as far as they are counted.
pub(super) fn heading(model: &Model, width: usize) -> Row {
    let Some(counts) = &model.browse.counts else {
        return Row::of(Tone::Quiet, " counting …");
    };
    let all = &counts.tally.all;
    let number = |row: Row, number: u64, words: &str| {
        row.and(Tone::Strong, format!(" {}", grouped(number))).and(Tone::Quiet, format!(" {words} ·"))
    };
    let mut row = number(Row::default(), all.asked, "asked");
    row = number(row, all.approved(), "approved");
    row = number(row, all.denied(), "denied");
    if let Some(median) = all.waited.quantile(50) {
        row = row.and(Tone::Quiet, " median ").and(Tone::Strong, time::latency(median)).and(Tone::Quiet, " ·");
    }
    row = number(row, all.approved_by(By::Rule), "saved by rules");
    if width >= WIDE {
        row = number(row, all.approved_by(By::Default), "by default");
    }
    if counts.upto < counts.newest {
        row = row.and(Tone::Warn, format!(" counted to {}", grouped(counts.upto)));
    } else if let Some(last) = row.runs.last_mut() {
        last.text = last.text.trim_end_matches(" ·").to_owned();
    }
    row
}

pub(super) fn foot(model: &Model) -> Row {
    let window = &model.browse.window;
    if let Some(searched) = window.searched {
        return Row::of(Tone::Warn, format!(" searching … at record {}", grouped(searched)))
            .and(Tone::Quiet, " · what is found shows at once");
    }
    let mut row = match window.lines.get(model.browse.log.at) {
        Some(line) => Row::of(Tone::Quiet, format!(" record {} of {}", grouped(line.seq), grouped(window.newest))),
        None => Row::default(),
    };
    match &model.browse.checked {
        Some(checked) => match (&checked.broken, checked.until) {
            (Some(broken), _) => row.push(Tone::Danger, format!("  THE CHAIN IS BROKEN: {broken}")),
            (None, _) if checked.lost => row.push(Tone::Danger, "  RECORDS ARE MISSING: mcp-approve log verify"),
            (None, Some(until)) => {
                let (holds, until) = (grouped(checked.holds), grouped(until));
                row.push(Tone::Warn, format!("  checking the chain: {holds} of {until}"));
            }
            (None, None) => row.push(Tone::Good, format!("  the chain holds to {}", grouped(checked.holds))),
        },
        None if model.browse.indexing.is_some() => {}
        None => row.push(Tone::Quiet, "  :verify checks the chain"),
    }
    if let Some(upto) = model.browse.indexing {
        row.push(Tone::Quiet, format!("  indexed to {} of {}", grouped(upto), grouped(window.newest)));
    }
    row
}

pub(super) fn empty(model: &Model) -> Vec<Row> {
    if model.browse.log_missing {
        return vec![
            Row::of(Tone::Strong, "There is no audit log yet."),
            Row::of(Tone::Ours, "It begins with the first wrapped server: mcp-approve -- CMD"),
        ];
    }
    if model.browse.window.above.is_none() || model.browse.window.awaits.is_some() {
        return vec![Row::of(Tone::Quiet, "reading the log …")];
    }
    vec![Row::of(Tone::Strong, "The log has no records yet.")]
}

pub(super) fn line(model: &Model, at: usize, width: usize) -> Option<Row> {
    let line = model.browse.window.lines.get(at)?;
    Some(of(line, model, width))
}

/// One record on one line.
pub(super) fn of(line: &Line, model: &Model, width: usize) -> Row {
    let digits = grouped(model.browse.window.newest).len().max(3);
    let (when, tool) = if width < NARROW { (8, 12) } else { (11, 22) };
    let columns = if width < WIDE {
        Columns::default().left(1, when, "").left(1, 2, "")
    } else {
        Columns::default().right(1, digits, "").left(2, when, "").left(1, 2, "").left(0, 18, "")
    };
    let columns = columns.left(if width < WIDE { 0 } else { 1 }, tool, "").rest(1);
    let moment = line.time.map_or_else(String::new, |at| time::moment(at, model.now, model.settings.offset));
    // Where it is narrow, the day says enough of another day.
    let moment = if width < NARROW { moment.split(' ').next().unwrap_or_default().to_owned() } else { moment };
    let seq = (width >= WIDE).then(|| Row::of(Tone::Quiet, grouped(line.seq)));
    let ticket = (width >= WIDE).then(|| cell(Tone::Quiet, line.ticket.as_deref().unwrap_or(&line.server)));
    let tool = match &line.tool {
        Some(tool) => cell(Tone::Strong, tool),
        None => cell(Tone::Quiet, &line.server),
    };
    let cells = seq.into_iter().chain([Row::of(Tone::Quiet, moment), badge(line.badge)]);
    columns.row(cells.chain(ticket).chain([tool, happened(line)]))
}

/// What the record says happened, in our words, and its reason.
pub(super) fn happened(line: &Line) -> Row {
    let mut row = match line.kind {
        Some(Kind::Decision) => match line.verdict {
            Some(VerdictWord::Approve) => Row::of(Tone::Good, "approved"),
            Some(VerdictWord::Deny) => Row::of(Tone::Danger, "denied"),
            None => Row::of(Tone::Warn, "decided"),
        },
        Some(Kind::DecisionAsked) => Row::of(Tone::Warn, "asked"),
        Some(Kind::Forward) => Row::of(Tone::Ours, "forwarded"),
        Some(Kind::Outcome) if matches!(line.outcome, Some(Outcome::Ok | Outcome::Streamed)) => {
            Row::of(Tone::Ours, "answered")
        }
        Some(Kind::Outcome) => Row::of(Tone::Danger, "answered"),
        Some(Kind::Withdrawn) => Row::of(Tone::Warn, "withdrawn"),
        Some(Kind::Fault) => Row::of(Tone::Danger, "fault"),
        Some(Kind::ServerStart) => Row::of(Tone::Ours, "server started"),
        Some(Kind::ServerEnd) => Row::of(Tone::Ours, "server ended"),
        Some(Kind::Host) => Row::of(Tone::Ours, "host"),
        Some(Kind::Attach) => Row::of(Tone::Ours, "console attached"),
        Some(Kind::Detach) => Row::of(Tone::Ours, "console left"),
        Some(Kind::Tools) => Row::of(Tone::Ours, "tools"),
        Some(Kind::Policy) => Row::of(Tone::Ours, "policy changed"),
        Some(Kind::Passed) => Row::of(Tone::Ours, "passed without a decision"),
        Some(Kind::Session) => Row::of(Tone::Ours, "server says what it can do"),
        Some(Kind::Checkpoint) => Row::of(Tone::Ours, "checkpoint"),
        None => Row::default().and_foreign(Tone::Warn, &line.kind_word),
    };
    match (&line.rule, line.by) {
        (Some(rule), _) => row = row.and(Tone::Quiet, " by rule ").and_foreign(Tone::Ours, rule),
        (None, Some(_)) if !line.who.is_empty() => {
            row = row.and(Tone::Quiet, " by ").and_foreign(Tone::Ours, &line.who);
        }
        (None, Some(by)) => row.push(Tone::Quiet, format!(" by {}", by.word())),
        (None, None) => {}
    }
    // What policy decides takes no time worth a word.
    if let Some(latency) = line.latency_us.filter(|latency| line.verdict.is_none() || *latency >= 1_000) {
        row.push(Tone::Quiet, format!(" {}", time::latency(latency)));
    }
    let note = if line.by == Some(By::Default) && !line.explained.is_empty() { &line.explained } else { &line.note };
    if !note.is_empty() && line.outcome != Some(Outcome::Ok) {
        row = row.and(Tone::Quiet, ": ").and_foreign(Tone::Foreign, note);
    }
    row
}
