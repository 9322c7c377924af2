//! One record in full: what happened, every field as it is in the log, and its place in the chain.

use serde_json::Value;

use super::{caption, entry, foreign, grouped, ours};
use crate::console::card::nearest;
use crate::console::found::{Certain, Line, Opened};
use crate::console::model::Model;
use crate::console::record_row::sentence;
use crate::console::row::{Row, Tone};
use crate::console::time;

/// The sheet of the selected record.
pub(super) fn sheet(model: &Model, width: usize) -> Vec<Row> {
    let selected = model.browse.window.lines.get(model.browse.log.at).map(|line| line.seq);
    match &model.browse.opened {
        Some((seq, Some(opened))) if Some(*seq) == selected => of(opened, model, width),
        Some(_) | None => vec![Row::of(Tone::Quiet, " reading the record …")],
    }
}

fn of(opened: &Opened, model: &Model, width: usize) -> Vec<Row> {
    let line = &opened.line;
    let mut rows = Vec::new();
    if let Err(why) = &opened.link {
        rows.extend(entry("BROKEN", Row::of(Tone::Danger, format!("✗ {why}")), width));
    }
    rows.extend(entry("what", sentence(line), width));
    rows.extend(foreign("target", line.target.as_deref().unwrap_or_default(), width));
    rows.extend(foreign("tool", line.tool.as_deref().unwrap_or_default(), width));
    rows.extend(foreign("server", &line.server, width));
    if let Some(at) = line.time {
        rows.extend(ours("when", time::date(at, model.settings.offset), width));
    }
    rows.extend(foreign("ticket", line.ticket.as_deref().unwrap_or_default(), width));
    rows.extend(foreign("rule", &rule(line, model), width));
    rows.extend(story(opened, model, width));
    rows.push(steps(line, width));
    rows.extend(rules_now(opened, width));
    rows.extend(fields(&opened.record.body, width));
    rows.extend(chain(opened, width));
    rows
}

/// The rule that decided. Each session counts its grants from one, so a grant's call is named where it is still live, else
/// its server.
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

/// The keys from here to what else is known of it.
fn steps(line: &Line, width: usize) -> Row {
    let is_call = line.tool.is_some() && line.ticket.is_some();
    let steps = [
        ("4", "its tool", line.tool.is_some()),
        ("r", "a rule from it", is_call),
        ("5", "its rule", line.rule.is_some()),
        ("6", "its server", true),
        ("Esc", "back", true),
    ];
    // As many as have room.
    steps.into_iter().filter(|(.., is_here)| *is_here).fold(Row::default(), |row, (key, words, _)| {
        let gap = if row.runs.is_empty() { " " } else { "  " };
        let longer = row.clone().and(Tone::Ours, gap).and(Tone::Key, key).and(Tone::Quiet, format!(" {words}"));
        if longer.width() <= width { longer } else { row }
    })
}

/// What the rules say of it as they are written now.
fn rules_now(opened: &Opened, width: usize) -> Vec<Row> {
    let Some(explained) = &opened.explained else { return Vec::new() };
    let mut rows = vec![caption("rules", "as they are written now", width)];
    let now = Row::of(Tone::Ours, format!("{}: ", explained.ruling.decision.word()));
    rows.extend(entry("now", now.and_foreign(Tone::Ours, &explained.ruling.reason), width));
    rows.extend(nearest(&explained.near, width));
    if explained.near.is_empty() && explained.ruling.rule.is_none() {
        rows.extend(entry("", Row::of(Tone::Quiet, "no rule covers this tool"), width));
    }
    if explained.certain == Certain::Perhaps {
        let words = "not certain: secrets and long texts of the arguments are not in the log";
        rows.extend(entry("", Row::of(Tone::Warn, words), width));
    }
    rows
}

/// Its place in the chain, and whether its link holds.
fn chain(opened: &Opened, width: usize) -> Vec<Row> {
    let line = &opened.line;
    let mut rows = vec![caption("chain", "", width)];
    let place = format!("record {} of {}", grouped(line.seq), grouped(opened.newest));
    rows.extend(ours("place", place, width));
    rows.extend(foreign("session", &line.session, width));
    let link = match &opened.record.link {
        Some(link) => link.to_string(),
        None => "is not in the form of a link".to_owned(),
    };
    rows.extend(ours("link", link, width));
    if opened.link.is_ok() {
        let holds = match line.seq {
            1 => "✓ it is the first, and its link follows from its own bytes".to_owned(),
            seq => format!("✓ its link follows from record {} and from its own bytes", grouped(seq - 1)),
        };
        rows.extend(entry("holds", Row::of(Tone::Good, holds), width));
    }
    rows
}

/// What happened to the call, in order: asked, decided, forwarded, answered. Nothing where the record is of no call.
fn story(opened: &Opened, model: &Model, width: usize) -> Vec<Row> {
    if opened.line.ticket.is_none() {
        return Vec::new();
    }
    let mut lines: Vec<&Line> = opened.beside.iter().chain([&opened.line]).collect();
    lines.sort_by_key(|line| line.seq);
    let mut rows = vec![caption("the whole call", "", width)];
    for line in lines {
        let when = line.time.map_or_else(String::new, |at| time::moment(at, model.now, model.settings.offset));
        let mark = if line.seq == opened.line.seq { " ▸ " } else { "   " };
        let row = Row::of(Tone::Key, mark).and(Tone::Quiet, format!("{when}  ")).joined(sentence(line));
        rows.extend(row.hung(width, 5));
    }
    rows
}

/// Every field of the body but those above: objects and lists one level deep.
fn fields(body: &str, width: usize) -> Vec<Row> {
    const SHOWN: [&str; 7] = ["time", "server", "session", "ticket", "tool", "target", "rule"];
    let Ok(Value::Object(fields)) = serde_json::from_str(body) else {
        let mut rows = vec![caption("body", "it cannot be read as a record", width)];
        rows.extend(Row::default().and_foreign(Tone::Foreign, body).wrapped(width));
        return rows;
    };
    let mut rows = vec![caption("record", "as it is in the log", width)];
    for (name, value) in &fields {
        match value {
            Value::Null => {}
            _ if SHOWN.contains(&name.as_str()) => {}
            Value::Object(inner) if inner.is_empty() => {}
            Value::Object(inner) => {
                rows.extend(entry(name, Row::default(), width));
                for (name, value) in inner {
                    rows.extend(nested(name, value, width));
                }
            }
            _ => rows.extend(foreign(&label(name), &text(value), width)),
        }
    }
    rows
}

fn nested(name: &str, value: &Value, width: usize) -> Vec<Row> {
    let line = |name: &str, value: &Value| {
        let row = Row::of(Tone::Ours, "   ").and_foreign(Tone::Quiet, name).and(Tone::Quiet, "  ");
        row.and_foreign(Tone::Foreign, &text(value)).hung(width, 5)
    };
    match value {
        Value::Array(list) => list.iter().flat_map(|value| line(name, value)).collect(),
        _ => line(name, value),
    }
}

/// A name of ours stays as it is; another one may be anything.
fn label(name: &str) -> String {
    crate::console::plain::visible(name)
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
