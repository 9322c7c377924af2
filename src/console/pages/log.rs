//! The Log screen: each record on one line, the newest first, below the figures of deciding; and one record in full.

use serde_json::Value;

use crate::audit::By;
use crate::console::card::nearest;
use crate::console::model::{Model, Reach};
use crate::console::rows::{Entries, NARROW};
use crate::operator::found::{Certain, Line, LogRows, Opened};
use crate::operator::record_row::{Names, RecordColumns, sentence};
use crate::text::row::{Row, Tone, foreign, key, ours, quiet, strong, warn};
use crate::text::{plain::visible, time};
use crate::wire::{counted, number::grouped};

/// From this width on a list has room for everything.
const WIDE: usize = 100;

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

pub(super) fn heading(model: &Model, width: usize) -> Row {
    let Some(counts) = &model.log.counts else {
        let nothing = model.log.missing || model.log.trouble.is_some() || model.settings.reach == Reach::Desk;
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

pub(super) fn foot(model: &Model, width: usize) -> Row {
    let window = &model.log.window;
    if let Some(searched) = window.searched {
        return warn(format!(" searching … at record {}", grouped(searched))).quiet(" · what is found shows at once");
    }
    let mut row = match window.lines.get(model.log.list.at) {
        Some(line) => quiet(format!(" record {} of {}", grouped(line.seq), grouped(window.newest))),
        None => Row::default(),
    };
    match &model.log.checked {
        Some(checked) => match (&checked.wrong, checked.until) {
            (Some(wrong), _) => {
                row.push(Tone::Danger, format!("  {wrong}{}", model.hint(": mcp-approve log verify")));
            }
            (None, Some(until)) => {
                let (holds, until) = (grouped(checked.holds), grouped(until));
                row.push(Tone::Warn, format!("  checking the chain: {holds} of {until}"));
            }
            (None, None) => row.push(Tone::Good, format!("  the chain holds to {}", grouped(checked.holds))),
        },
        None if model.log.indexing.is_some() => {}
        None if width < 50 || model.settings.reach == Reach::Desk => {}
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

pub(super) fn sheet(model: &Model, width: usize) -> Vec<Row> {
    let selected = model.log.window.lines.get(model.log.list.at).map(|line| line.seq);
    match &model.log.opened {
        Some((seq, Some(opened))) if Some(*seq) == selected => of(opened, model, width),
        Some(_) | None => vec![quiet(" reading the record …")],
    }
}

fn of(opened: &Opened, model: &Model, width: usize) -> Vec<Row> {
    let line = &opened.line;
    let mut rows = Entries::new(width);
    if let Err(why) = &opened.link {
        rows.says("BROKEN", Tone::Danger, format!("✗ {why}"));
    }
    rows.entry("what", sentence(line));
    rows.foreign("target", line.target.as_deref().unwrap_or_default());
    rows.foreign("tool", line.tool.as_deref().unwrap_or_default());
    rows.foreign("server", &line.server);
    rows.foreign("machine", line.machine.as_deref().unwrap_or_default());
    if let Some(at) = line.time {
        rows.ours("when", time::date(at, model.settings.offset));
    }
    rows.foreign("ticket", line.ticket.as_deref().unwrap_or_default());
    rows.foreign("rule", &rule(line, model));
    story(opened, model, &mut rows);
    rows.rows.push(steps(line, width));
    rules_now(opened, &mut rows);
    fields(&opened.record.body, &mut rows);
    chain(opened, &mut rows);
    rows.rows
}

/// Sessions count their grants from one, so a grant's call is named while it is live, otherwise its server.
fn rule(line: &Line, model: &Model) -> String {
    let rule = line.rule.clone().unwrap_or_default();
    if !rule.starts_with("grant:") {
        return rule;
    }
    let wrapper = model.wrappers.iter().find(|one| one.wrapper.session == line.session);
    match wrapper.and_then(|one| one.status.grants.iter().find(|card| card.id == rule)) {
        Some(card) => format!("{rule} of {}", card.ticket),
        None => format!("{rule} of a session of {}", line.server),
    }
}

fn steps(line: &Line, width: usize) -> Row {
    let is_own = line.machine.is_none();
    let is_call = line.tool.is_some() && line.ticket.is_some();
    let steps = [
        ("4", "its tool", is_own && line.tool.is_some()),
        ("r", "a rule from it", is_own && is_call),
        ("5", "its rule", is_own && line.rule.is_some()),
        ("6", "its server", true),
        ("Esc", "back", true),
    ];
    // As many as have room.
    steps.into_iter().filter(|(.., is_here)| *is_here).fold(Row::default(), |row, (key, words, _)| {
        let gap = if row.runs.is_empty() { " " } else { "  " };
        let longer = row.clone().ours(gap).key(key).quiet(format!(" {words}"));
        if longer.width() <= width { longer } else { row }
    })
}

fn rules_now(opened: &Opened, rows: &mut Entries) {
    let Some(explained) = &opened.explained else { return };
    rows.caption("rules", "as they are written now");
    let now = ours(format!("{}: ", explained.ruling.decision.word()));
    rows.entry("now", now.and_foreign(Tone::Ours, &explained.ruling.reason));
    nearest(&explained.near, rows);
    if explained.near.is_empty() && explained.ruling.rule.is_none() {
        rows.says("", Tone::Quiet, "no rule covers this tool");
    }
    if explained.certain == Certain::Perhaps {
        rows.says("", Tone::Warn, "not certain: secrets and long texts of the arguments are not in the log");
    }
}

fn chain(opened: &Opened, rows: &mut Entries) {
    let line = &opened.line;
    rows.caption("chain", "");
    rows.ours("place", format!("record {} of {}", grouped(line.seq), grouped(opened.newest)));
    rows.foreign("session", &line.session);
    let link = opened.record.link.as_ref();
    rows.ours("link", link.map_or_else(|| "is not in the form of a link".to_owned(), ToString::to_string));
    if opened.link.is_ok() {
        let holds = match line.seq {
            1 => "✓ it is the first, and its link follows from its own bytes".to_owned(),
            seq => format!("✓ its link follows from record {} and from its own bytes", grouped(seq - 1)),
        };
        rows.says("holds", Tone::Good, holds);
    }
}

fn story(opened: &Opened, model: &Model, rows: &mut Entries) {
    if opened.line.ticket.is_none() {
        return;
    }
    let mut lines: Vec<&Line> = opened.beside.iter().chain([&opened.line]).collect();
    lines.sort_by_key(|line| line.seq);
    rows.caption("the whole call", "");
    for line in lines {
        let when = line.time.map_or_else(String::new, |at| time::moment(at, model.now, model.settings.offset));
        let mark = if line.seq == opened.line.seq { " ▸ " } else { "   " };
        rows.hung(key(mark).quiet(format!("{when}  ")).joined(sentence(line)), 5);
    }
}

/// Every field of the body but those above: objects and lists one level deep.
fn fields(body: &str, rows: &mut Entries) {
    const SHOWN: [&str; 7] = ["time", "server", "session", "ticket", "tool", "target", "rule"];
    let Ok(Value::Object(fields)) = serde_json::from_str(body) else {
        rows.caption("body", "it cannot be read as a record");
        return rows.hung(foreign(Tone::Foreign, body), 0);
    };
    rows.caption("record", "as it is in the log");
    for (name, value) in &fields {
        match value {
            Value::Null => {}
            _ if SHOWN.contains(&name.as_str()) => {}
            Value::Object(inner) if inner.is_empty() => {}
            Value::Object(inner) => {
                rows.entry(name, Row::default());
                inner.iter().for_each(|(name, value)| nested(name, value, rows));
            }
            // Our own names stay as they are; others may hold any text.
            _ => rows.foreign(&visible(name), &text(value)),
        }
    }
}

fn nested(name: &str, value: &Value, rows: &mut Entries) {
    let values = if let Value::Array(list) = value { list.as_slice() } else { std::slice::from_ref(value) };
    for value in values {
        let row = ours("   ").and_foreign(Tone::Quiet, name).quiet("  ");
        rows.hung(row.and_foreign(Tone::Foreign, &text(value)), 5);
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
