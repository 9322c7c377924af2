//! How records look on a terminal. Owns no query.

use std::io::{self, Write};

use serde::Deserialize;

use crate::audit::fields::{Fields, Record, TEXTS};
use crate::audit::redact::string_token;
use crate::cli::print::{self, Column, visible};

const TITLES: [&str; 9] = ["SEQ", "TIME", "KIND", "TICKET", "TOOL", "BADGE", "IDENTITY", "DECISION", "ARGUMENTS"];
const COLUMNS: [Column; 9] = [
    Column::LEFT.at_most(20),
    Column::LEFT.at_most(24),
    Column::LEFT.at_most(14),
    Column::LEFT.at_most(24),
    Column::LEFT.at_most(28),
    Column::LEFT.at_most(7),
    Column::LEFT.at_most(16),
    Column::LEFT.at_most(36),
    Column::LEFT.at_most(60),
];

/// A text table, one record a line.
pub(super) fn table(records: &[Record], out: &mut dyn Write) -> io::Result<()> {
    print::table(&COLUMNS, 2, std::iter::once(TITLES.map(str::to_owned)).chain(records.iter().map(cells)), out)
}

fn cells(record: &Record) -> [String; 9] {
    let seq = record.seq.to_string();
    let cells = match record.fields() {
        Some(fields) => {
            let ticket = fields.ticket.as_deref().unwrap_or(&fields.server);
            [
                seq,
                fields.time.to_string(),
                fields.kind.to_string(),
                ticket.to_owned(),
                fields.tool.clone().unwrap_or_default(),
                fields.badge.clone().unwrap_or_default(),
                fields.identity.clone().unwrap_or_default(),
                decision(&fields),
                fields.arguments.map_or("", |json| json.get()).to_owned(),
            ]
        }
        None => {
            let mut cells = <[String; 9]>::default();
            cells[0] = seq;
            cells[2] = "UNREADABLE".to_owned();
            cells[8].clone_from(&record.body);
            cells
        }
    };
    cells.map(|cell| visible(&cell))
}

/// `approve by rule scratch-files`, `ask`, or nothing.
fn decision(fields: &Fields<'_>) -> String {
    let mut words = match (&fields.verdict, &fields.ruling) {
        (Some(word), _) | (None, Some(word)) => word.clone(),
        (None, None) => return String::new(),
    };
    for (link, word) in [(" by ", &fields.by), (" ", &fields.rule)] {
        if let Some(word) = word {
            words.push_str(link);
            words.push_str(word);
        }
    }
    words
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
