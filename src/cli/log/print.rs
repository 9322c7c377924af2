//! How records look on a terminal. Owns no query.

use std::io::{self, Write};

use serde::Deserialize;

use crate::audit::fields::{Record, TEXTS};
use crate::audit::moment::Clock;
use crate::audit::redact::string_token;
use crate::cli::look::Look;
use crate::cli::print::visible;
use crate::console::found::Line;
use crate::console::record_row::{Names, RecordColumns, sentence};
use crate::console::row::{Row, Tone};
use crate::console::time;

/// What is shown where a record cannot be read.
const UNREADABLE: &str = "UNREADABLE";

/// One record a line, under the columns' names.
pub(super) fn table(records: &[Record], look: Look, out: &mut dyn Write) -> io::Result<()> {
    let lines: Vec<Line> = records.iter().map(line).collect();
    let times: Vec<String> = lines.iter().map(|line| moment(line, look)).collect();
    let when = times.iter().map(String::len).max().unwrap_or(0).max(4);
    let newest = lines.iter().map(|line| line.seq).max().unwrap_or(0);
    let names = if look.is_wide() { Names::Shown(newest) } else { Names::Left };
    let columns = RecordColumns::of(&lines.iter().collect::<Vec<_>>(), look.width, when, names);
    writeln!(out, "{}", look.line(&columns.heading()))?;
    for ((record, line), time) in records.iter().zip(&lines).zip(&times) {
        let mut row = columns.row(line, time);
        if look.is_wide() {
            row = row.and(Tone::Ours, "  ").joined(hashes(record));
        }
        writeln!(out, "{}", look.line(&row))?;
    }
    Ok(())
}

/// What one call's records say happened, one below the other.
pub(super) fn timeline(records: &[Record], look: Look, out: &mut dyn Write) -> io::Result<()> {
    for line in records.iter().map(line) {
        let time = line.time.map_or_else(String::new, |at| time::date(at, look.clock.offset));
        let row = Row::of(Tone::Quiet, format!("{time}  ")).joined(sentence(&line)).clipped(look.width);
        writeln!(out, "{}", look.line(&row))?;
    }
    writeln!(out)
}

fn line(record: &Record) -> Line {
    match record.fields() {
        Some(_) => Line::of(record),
        None => Line { kind_word: UNREADABLE.to_owned(), note: record.body.clone(), ..Line::of(record) },
    }
}

/// Today's times without their day; whole ones where there is room.
fn moment(line: &Line, look: Look) -> String {
    let Clock { now, offset } = look.clock;
    line.time.map_or_else(String::new, |at| match look.is_wide() {
        true => time::date(at, offset),
        false => time::moment(at, now, offset),
    })
}

/// The identity, the call's digest and the record's link.
fn hashes(record: &Record) -> Row {
    let fields = record.fields();
    let text = |text: Option<&str>| text.unwrap_or("-").to_owned();
    let identity = text(fields.as_ref().and_then(|fields| fields.identity.as_deref()));
    let digest = text(fields.as_ref().and_then(|fields| fields.digest.as_deref()));
    let link = record.link.map_or_else(|| "-".to_owned(), |link| link.to_string());
    Row::default().and_foreign(Tone::Quiet, &format!("{identity} {digest} {link}"))
}

/// How the arguments of a read were explained, as details tell.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Explained {
    explained: String,
}

/// One record in full: every field that applies, one below the other.
pub(super) fn whole(record: &Record, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "record {}", record.seq)?;
    let Some(fields) = record.fields() else {
        writeln!(out, "  UNREADABLE: {}", visible(&record.body))?;
        return Ok(());
    };
    let latency = fields.latency_ms.map(|json| format!("{} ms", json.get()));
    let explained = fields.detail::<Explained>().unwrap_or_default().explained;
    let others = [
        ("explained", Some(explained.as_str()).filter(|line| !line.is_empty())),
        ("latency", latency.as_deref()),
        ("assurance", fields.assurance.as_deref()),
        ("policy", fields.policy.as_deref()),
    ];
    for (name, value) in TEXTS.into_iter().zip(fields.texts()).chain(others) {
        if let Some(value) = value {
            writeln!(out, "  {name:<10} {}", visible(value))?;
        }
    }
    if let Some(link) = record.link {
        writeln!(out, "  {:<10} {link}", "link")?;
    }
    let json = [("arguments", fields.arguments), ("cut", fields.cut), ("detail", fields.detail)];
    for (name, value) in json {
        if let Some(value) = value.filter(|json| json.get() != "{}") {
            writeln!(out, "  {name:<10} {}", indented(value.get()))?;
        }
    }
    writeln!(out)
}

/// A JSON text over several lines, hidden characters visible. Works on the text, so that numbers stay as they are.
fn indented(json: &str) -> String {
    let mut out = String::new();
    let mut depth = 0_usize;
    let mut at = 0;
    let new_line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', 13 + 2 * depth));
    };
    while let Some(character) = json[at..].chars().next() {
        let next = json[at..].chars().nth(1);
        match character {
            '"' => {
                let token = string_token(&json[at..]);
                out.push_str(&visible(token));
                at += token.len();
                continue;
            }
            '{' | '[' if matches!(next, Some('}' | ']')) => out.push(character),
            '{' | '[' => {
                depth += 1;
                out.push(character);
                new_line(&mut out, depth.min(64));
            }
            '}' | ']' if matches!(out.chars().last(), Some('{' | '[')) => out.push(character),
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth.min(64));
                out.push(character);
            }
            ',' => {
                out.push(',');
                new_line(&mut out, depth.min(64));
            }
            ':' => out.push_str(": "),
            _ => out.push_str(&visible(character.encode_utf8(&mut [0; 4]))),
        }
        at += character.len_utf8();
    }
    out
}
