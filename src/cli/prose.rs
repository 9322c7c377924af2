//! Sentences at a terminal: a line that is too wide is broken between words, and goes on under its own text. What goes
//! into a pipe keeps its lines, and so does data: JSON, TOML, and commands to be copied stay whole.

use std::io::{self, Write};

use unicode_width::UnicodeWidthChar as _;

/// How far to the right a text beside a label may begin.
const LABELS: usize = 30;

/// Passes on what is written, lines broken for so many columns; `None` leaves them as they are.
pub struct Prose<'w> {
    out: &'w mut dyn Write,
    columns: Option<usize>,
    begun: Vec<u8>,
}

impl<'w> Prose<'w> {
    pub fn new(out: &'w mut dyn Write, columns: Option<usize>) -> Self {
        Self { out, columns, begun: Vec::new() }
    }
}

impl Write for Prose<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(columns) = self.columns else { return self.out.write(bytes) };
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.begun.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.begun);
                match std::str::from_utf8(&line) {
                    Ok(line) => self.out.write_all(broken(line, columns).as_bytes())?,
                    Err(_) => self.out.write_all(&line)?,
                }
            }
        }
        Ok(bytes.len())
    }

    /// A question has no line end: its answer is typed beside it.
    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&std::mem::take(&mut self.begun))?;
        self.out.flush()
    }
}

pub fn broken(text: &str, columns: usize) -> String {
    text.split_inclusive('\n')
        .map(|line| if width(line) <= columns { line.into() } else { line_of(line, columns) })
        .collect()
}

fn line_of(line: &str, columns: usize) -> String {
    if is_data(line) {
        return line.to_owned();
    }
    let hang = hang(line);
    let (mut out, mut taken, mut gap) = (String::new(), 0, 0);
    for word in units(line) {
        if word.is_empty() {
            gap += 1;
            continue;
        }
        if taken > hang && taken + gap + width(word) > columns {
            out.push('\n');
            (taken, gap) = (0, hang);
        }
        out.extend(std::iter::repeat_n(' ', gap));
        out.push_str(word);
        (taken, gap) = (taken + gap + width(word), 1);
    }
    out
}

/// Where a line goes on: under the text beside its labels, else a little further in than it began.
fn hang(line: &str) -> usize {
    let (mut column, mut blanks, mut found) = (0, 0, None);
    let text = line.trim_start_matches(' ');
    let indent = line.len() - text.len();
    for (letter, wide) in letters(text) {
        if letter == ' ' {
            blanks += 1;
        } else if wide > 0 {
            if blanks > 1 && indent + column <= LABELS {
                found = Some(indent + column);
            }
            blanks = 0;
        }
        column += wide;
    }
    found.unwrap_or(indent + 2)
}

/// What is never broken: words, `commands`, a command after a colon; an empty one is an extra blank.
fn units(line: &str) -> Vec<&str> {
    let (mut units, mut from, mut quoted) = (Vec::new(), 0, false);
    for (at, letter) in line.char_indices() {
        let after = line.get(at + 1..).unwrap_or_default();
        if letter == '`' {
            quoted = !quoted && after.contains('`');
        } else if letter == ' ' && !quoted {
            let unit = line.get(from..at).unwrap_or_default();
            units.push(unit);
            from = at + 1;
            if unit.ends_with(':') && after.starts_with("mcp-approve ") {
                break;
            }
        }
    }
    units.extend(line.get(from..));
    units
}

fn is_data(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(['{', '}', '[', ']', '"']) || line.split(' ').nth(1) == Some("=")
}

fn width(text: &str) -> usize {
    letters(text).map(|(_, wide)| wide).sum()
}

/// Each character and the columns it takes: colours take none.
fn letters(text: &str) -> impl Iterator<Item = (char, usize)> {
    let mut escape = false;
    text.chars().map(move |letter| {
        let was = escape;
        escape = letter == '\u{1b}' || (escape && letter != 'm');
        (letter, if was || escape { 0 } else { letter.width().unwrap_or(0) })
    })
}
