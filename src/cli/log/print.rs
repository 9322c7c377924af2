//! How records look on a terminal and as JSON. Owns no query.
//!
//! Every text of a record is foreign: it is made visible before it is printed, also inside JSON, where it is escaped.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr as _;

use crate::audit::query::{Fields, Found};
use crate::audit::redact::string_token;
use crate::console::plain;

const COLUMNS: [&str; 9] = ["SEQ", "TIME", "KIND", "TICKET", "TOOL", "BADGE", "IDENTITY", "DECISION", "ARGUMENTS"];

/// The widest a column gets; beyond, a cell ends in `…`.
const WIDEST: [usize; 9] = [20, 24, 14, 24, 28, 7, 16, 36, 60];

/// One JSON array, a record a line.
pub(super) fn json_array(found: &[Found], out: &mut dyn Write) -> io::Result<()> {
    if found.is_empty() {
        return writeln!(out, "[]");
    }
    write!(out, "[")?;
    for (at, row) in found.iter().enumerate() {
        let comma = if at == 0 { "\n" } else { ",\n" };
        write!(out, "{comma}{}", visible_json(&row.json()))?;
    }
    writeln!(out, "\n]")
}

/// A text table, one record a line.
pub(super) fn table(found: &[Found], out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<[String; 9]> = found.iter().map(cells).collect();
    let mut widths = COLUMNS.map(str::len);
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    let header = COLUMNS.map(str::to_owned);
    for row in std::iter::once(&header).chain(&rows) {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width - cell.width() + 2));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn cells(row: &Found) -> [String; 9] {
    let seq = row.seq.to_string();
    let cells = match row.fields() {
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
            cells[8].clone_from(&row.body);
            cells
        }
    };
    let mut widest = WIDEST.iter();
    cells.map(|cell| clipped(&visible(&cell), *widest.next().unwrap_or(&0)))
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

pub(super) fn clipped(text: &str, widest: usize) -> String {
    if text.width() <= widest {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut width = 1;
    for character in text.chars() {
        width += unicode_width::UnicodeWidthChar::width(character).unwrap_or(0);
        if width > widest {
            break;
        }
        kept.push(character);
    }
    kept.push('…');
    kept
}

/// One record in full: every field that applies, one below the other.
pub(super) fn whole(row: &Found, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "record {}", row.seq)?;
    let Some(fields) = row.fields() else {
        writeln!(out, "  UNREADABLE: {}", visible(&row.body))?;
        return Ok(());
    };
    let latency = fields.latency_ms.map(|json| format!("{} ms", json.get()));
    let text = [
        ("time", Some(&*fields.time)),
        ("kind", Some(&*fields.kind)),
        ("server", Some(&*fields.server)),
        ("session", Some(&*fields.session)),
        ("ticket", fields.ticket.as_deref()),
        ("tool", fields.tool.as_deref()),
        ("badge", fields.badge.as_deref()),
        ("identity", fields.identity.as_deref()),
        ("ruling", fields.ruling.as_deref()),
        ("verdict", fields.verdict.as_deref()),
        ("by", fields.by.as_deref()),
        ("rule", fields.rule.as_deref()),
        ("digest", fields.digest.as_deref()),
        ("latency", latency.as_deref()),
        ("assurance", fields.assurance.as_deref()),
        ("policy", fields.policy.as_deref()),
    ];
    for (name, value) in text {
        if let Some(value) = value {
            writeln!(out, "  {name:<10} {}", visible(value))?;
        }
    }
    if let Some(link) = row.link {
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

/// Foreign text on one line, through the one door.
pub(in crate::cli) fn visible(text: &str) -> String {
    plain::visible(text)
}

/// JSON text with every hidden character escaped: the same value, fit for a terminal.
pub(in crate::cli) fn visible_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        if is_hidden(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(character);
        }
    }
    out
}

fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}
