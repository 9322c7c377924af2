//! The Log screen's list: each record on one line, the newest first, with the figures of deciding above it.

use super::{NARROW, WIDE, grouped};
use crate::audit::record::By;
use crate::console::card::counted;
use crate::console::model::Model;
use crate::console::pages;
use crate::operator::found::{Line, LogRows};
use crate::operator::record_row::{Names, RecordColumns};
use crate::text::row::{Row, Tone, key, ours, quiet, strong, warn};
use crate::text::time;

pub(super) fn title(model: &Model) -> Row {
    // A search does not change what is counted.
    let all = if model.log.list.find.is_empty() { "" } else { " in all" };
    let what = match (model.log.rows(), &model.log.counts) {
        (LogRows::Records, _) => counted(model.log.window.newest, "record") + all,
        (LogRows::Calls, Some(counts)) => counted(counts.tally.all.calls(), "decided call") + all,
        (LogRows::Calls, None) => "one row a call".to_owned(),
    };
    strong(" Log").quiet(format!(" · {what} · newest first"))
}

/// The figures of deciding, counted so far.
pub(super) fn heading(model: &Model, width: usize) -> Row {
    let Some(counts) = &model.log.counts else {
        let nothing = model.log.missing || model.log.trouble.is_some();
        return if nothing { Row::default() } else { quiet(" counting …") };
    };
    let all = &counts.tally.all;
    let number = |number: u64, words: &str| strong(format!(" {}", grouped(number))).quiet(format!(" {words}"));
    let median = all.median().map(|took| quiet(" median decision ").strong(time::took(took)));
    let mut figures =
        vec![number(all.asked, "asked"), number(all.approved(), "approved"), number(all.denied(), "denied")];
    if counts.upto < counts.newest {
        figures.insert(0, warn(format!(" counted to {}", grouped(counts.upto))));
    }
    figures.extend(median);
    figures.extend([
        number(all.approved_by(By::Rule), "saved by rules"),
        number(all.approved_by(By::Default), "by policy"),
    ]);
    // As many as have room.
    let searches = !model.log.list.find.is_empty();
    let mut row = if searches { quiet(" of all:") } else { Row::default() };
    for (at, figure) in figures.into_iter().enumerate() {
        let gap = if at == 0 { "" } else { " ·" };
        if row.width() + gap.len() + figure.width() > width {
            break;
        }
        row = row.quiet(gap).joined(figure);
    }
    row
}

pub(super) fn foot(model: &Model) -> Row {
    let window = &model.log.window;
    if let Some(searched) = window.searched {
        return warn(format!(" searching … at record {}", grouped(searched))).quiet(" · what is found shows at once");
    }
    let mut row = match window.lines.get(model.log.list.at) {
        Some(line) => quiet(format!(" record {} of {}", grouped(line.seq), grouped(window.newest))),
        None => Row::default(),
    };
    match &model.log.checked {
        Some(checked) => match (&checked.broken, checked.until) {
            (Some(broken), _) => row.push(Tone::Danger, format!("  THE CHAIN IS BROKEN: {broken}")),
            (None, _) if checked.lost => {
                row.push(Tone::Danger, model.hint("  RECORDS ARE MISSING: mcp-approve log verify"));
            }
            (None, Some(until)) => {
                let (holds, until) = (grouped(checked.holds), grouped(until));
                row.push(Tone::Warn, format!("  checking the chain: {holds} of {until}"));
            }
            (None, None) => row.push(Tone::Good, format!("  the chain holds to {}", grouped(checked.holds))),
        },
        None if model.log.indexing.is_some() => {}
        None if pages::sides(model).list.width < 50 => {}
        None => row.push(Tone::Quiet, "  :verify checks the chain"),
    }
    if let Some(upto) = model.log.indexing {
        row.push(Tone::Quiet, format!("  indexed to {} of {}", grouped(upto), grouped(window.newest)));
    }
    row
}

pub(super) fn empty(model: &Model) -> Vec<Row> {
    if model.log.missing {
        return vec![
            strong("There is no audit log yet."),
            ours("The first wrapped server begins it:"),
            key(model.hint("  mcp-approve install")),
            ours("Each call gets a row: when, verdict, who, tool, target."),
        ];
    }
    if model.log.window.above.is_none() || model.log.window.awaits.is_some() {
        return vec![quiet("reading the log …")];
    }
    vec![
        strong("No call was decided yet."),
        ours("Each call gets a row: when, verdict, who, tool, target."),
        key("o").ours(" shows every record, server starts too."),
    ]
}

pub(super) fn lines(model: &Model, range: std::ops::Range<usize>, width: usize) -> Vec<Row> {
    let window = &model.log.window;
    let shown: Vec<&Line> = range.filter_map(|at| window.lines.get(at)).collect();
    let clock = (model.now, model.settings.offset);
    let moments: Vec<String> = shown.iter().map(|line| moment(line, clock, width)).collect();
    let when = moments.iter().map(String::len).max().unwrap_or(0);
    let names = if width < WIDE { Names::Left } else { Names::Shown(window.newest) };
    let columns = RecordColumns::of(&shown, width.saturating_sub(1), when, names);
    let row = |(line, when): (&&Line, &String)| ours(" ").joined(columns.row(line, when));
    shown.iter().zip(&moments).map(row).collect()
}

/// When a record was made. On a narrow screen, a record of another day shows only the day.
fn moment(line: &Line, (now, offset): (i64, i32), width: usize) -> String {
    let moment = line.time.map_or_else(String::new, |at| time::moment(at, now, offset));
    if width < NARROW { moment.split(' ').next().unwrap_or_default().to_owned() } else { moment }
}
