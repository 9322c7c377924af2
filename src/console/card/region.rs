//! A foreign text on separate rows: broken at its own line breaks, wrapped where it is too long, cut nowhere.

use super::json::{part, said};
use super::sheet::{Layout, Made, Sheet};
use crate::text::plain::{Edges, is_tame, segment, width};
use crate::text::row::{Row, Tone, ours, tame_row, tame_rows};

/// A text that is being laid out part by part.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    form: Form,
    at: usize,
    end: usize,
    begins: Begins,
}

/// How the text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Between the quotes of a JSON string.
    Quoted,
    /// As it is.
    Bare,
}

/// What the next part begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begins {
    Line,
    /// The rest of a line that was cut for its length.
    Rest,
}

/// How much is laid out in one step.
const STEP: usize = 4096;

impl Region {
    /// The text from `at` to `end`.
    pub fn new(form: Form, at: usize, end: usize) -> Self {
        Self { form, at, end, begins: Begins::Line }
    }

    pub fn end(&self) -> usize {
        self.end
    }

    pub fn is_done(&self) -> bool {
        self.at >= self.end
    }

    /// One part: up to the next line break, or a few thousand bytes.
    ///
    /// Every row is behind `indent` columns and then `bar`.
    pub fn step(&mut self, on: &Layout<'_>, indent: usize, bar: &'static str, sheet: &mut Sheet) {
        let room = on.width.saturating_sub(indent + width(bar)).max(1);
        let from = self.at;
        let (mut stop, next) = match self.form {
            Form::Quoted => part(on.text, from, self.end, STEP),
            Form::Bare => bare_part(on.text, from, self.end),
        };
        let breaks = next > stop;
        let cut = !breaks && stop < self.end;
        let edges = match (self.begins, cut) {
            (Begins::Line, false) => Edges::Block,
            (Begins::Line, true) => Edges::Head,
            (Begins::Rest, true) => Edges::Middle,
            (Begins::Rest, false) => Edges::Tail,
        };
        let raw = on.text.get(from..stop).unwrap_or_default();
        let literal = self.form == Form::Bare || !raw.contains('\\');
        let simple = literal && is_tame(raw, edges);
        if simple && cut {
            // The part ends with a full row, so that the reader sees no break.
            let mut row = 0;
            while raw.len() - row > room {
                row = tame_row(raw, row, raw.len(), room);
            }
            if row > 0 {
                stop = from + row;
            }
        }
        let raw = on.text.get(from..stop).unwrap_or_default();
        let text = match self.form {
            Form::Quoted => said(raw),
            Form::Bare => raw.into(),
        };
        match &mut sheet.made {
            // The rows of nearly all text can be counted without being made.
            Made::Count(n) if simple || is_tame(&text, edges) => *n += tame_rows(&text, usize::from(breaks), room),
            Made::Count(_) | Made::Rows(_) => {
                let mut row = Row::default();
                row.extend(Tone::Foreign, segment(&text, edges));
                if breaks {
                    row.push(Tone::Escape, "␊");
                }
                let margin = ours(" ".repeat(indent)).border(bar);
                sheet.rows(row.wrapped(room), &margin);
            }
        }
        (self.at, self.begins) = if breaks { (next, Begins::Line) } else { (stop, Begins::Rest) };
    }
}

/// Where the next part ends, without and with its line break.
fn bare_part(text: &str, from: usize, end: usize) -> (usize, usize) {
    let limit = (from + STEP).min(end);
    let window = text.as_bytes().get(from..limit).unwrap_or_default();
    if let Some(found) = memchr::memchr(b'\n', window) {
        return (from + found, from + found + 1);
    }
    let mut cut = limit;
    while !text.is_char_boundary(cut) {
        cut += 1;
    }
    (cut, cut)
}
