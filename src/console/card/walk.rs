//! Walks a foreign text and lays out its rows step by step: a JSON value as a tree, long strings in bordered regions.
//!
//! A walk is small and can be copied, so that layout can go on from any place it has been at. Nothing is cut: what does
//! not fit on a row goes on in the next.

use super::json::{said, skip_space, string_end};
use super::region::{Form, Region};
use super::sheet::{Ground, Sheet};
use super::token::{alignment, counted, is_beyond_doubles, is_short_list, label, quoted, size};
use crate::console::row::{Row, Tone};

/// Where a walk stands.
#[derive(Clone, Debug)]
pub struct Walk {
    at: usize,
    open: Vec<Open>,
    doing: Doing,
}

/// A container that the walk is in.
#[derive(Clone, Debug)]
struct Open {
    kind: Container,
    /// Members already passed.
    passed: usize,
    /// Columns that labels are filled up to.
    align: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Container {
    Object,
    List,
}

#[derive(Clone, Debug)]
enum Doing {
    /// Looking for the next member, or for the only value.
    Members,
    Region(Region, Then),
    Done,
}

/// What follows a region.
#[derive(Clone, Copy, Debug)]
enum Then {
    Members,
    /// The region was a key; its value begins here.
    Value(usize),
    Nothing,
}

/// Labels longer than this get a region of their own.
const LONGEST_LABEL: usize = 32;

impl Walk {
    /// Begins at a valid JSON text.
    pub fn json() -> Self {
        Self { at: 0, open: Vec::new(), doing: Doing::Members }
    }

    /// Begins at a text that is only text.
    pub fn bare(text: &str) -> Self {
        Self { at: 0, open: Vec::new(), doing: Doing::Region(Region::new(Form::Bare, 0, text.len()), Then::Nothing) }
    }

    /// Whether all rows were laid out.
    pub fn is_done(&self) -> bool {
        matches!(self.doing, Doing::Done)
    }

    /// Lays out the next few rows.
    pub fn step(&mut self, on: &Ground<'_>, sheet: &mut Sheet) {
        match self.doing {
            Doing::Done => {}
            Doing::Region(region, then) => self.region(on, sheet, region, then),
            Doing::Members => self.member(on, sheet),
        }
    }

    fn member(&mut self, on: &Ground<'_>, sheet: &mut Sheet) {
        loop {
            self.at = skip_space(on.text, self.at);
            match on.text.as_bytes().get(self.at) {
                None => self.doing = Doing::Done,
                Some(b',') => {
                    self.at += 1;
                    continue;
                }
                Some(b'}' | b']') => {
                    self.at += 1;
                    self.open.pop();
                    if !self.open.is_empty() {
                        continue;
                    }
                    self.doing = Doing::Done;
                }
                Some(_) => self.labelled(on, sheet),
            }
            return;
        }
    }

    /// A member: its label, then its value.
    fn labelled(&mut self, on: &Ground<'_>, sheet: &mut Sheet) {
        let depth = self.open.len();
        let Some(open) = self.open.last_mut() else {
            // The only value. The caption above it names and measures it already when it is an object.
            return match on.text.as_bytes().get(self.at) {
                Some(b'{') => self.enter(on, Container::Object),
                _ => self.value(on, sheet, Row::default(), self.at),
            };
        };
        open.passed += 1;
        let align = open.align;
        let label = match open.kind {
            Container::List => Row::of(Tone::Quiet, format!("[{}]", open.passed - 1)),
            Container::Object => {
                let end = string_end(on.text, self.at);
                let raw = on.text.get(self.at + 1..end.saturating_sub(1)).unwrap_or_default();
                let colon = skip_space(on.text, end);
                let value = skip_space(on.text, colon + 1);
                if raw.len() > LONGEST_LABEL && label(raw).width() > LONGEST_LABEL.min(on.width / 2) {
                    sheet.row(|| {
                        let words = format!("a key of {}", size(said(raw).len()));
                        indent(on, depth).and(Tone::Quiet, words)
                    });
                    let start = self.at + 1;
                    return self.enter_region(Form::Quoted, start, end.saturating_sub(1), Then::Value(value));
                }
                self.at = value;
                let mut row = label(raw);
                if depth == 1 && on.undeclared.binary_search_by(|key| key.as_str().cmp(&said(raw))).is_ok() {
                    row.push(Tone::Warn, " (undeclared)");
                }
                row
            }
        };
        self.value(on, sheet, label.padded(align).and(Tone::Quiet, "  "), self.at);
    }

    fn enter(&mut self, on: &Ground<'_>, kind: Container) {
        let align = if kind == Container::Object { alignment(on.text, on.extents, self.at) } else { 0 };
        self.open.push(Open { kind, passed: 0, align });
        self.at += 1;
        self.doing = Doing::Members;
    }

    fn value(&mut self, on: &Ground<'_>, sheet: &mut Sheet, label: Row, at: usize) {
        let extent = on.extents.of(on.text, at);
        let prefix = indent(on, self.open.len()).joined(label);
        let room = on.width.saturating_sub(prefix.width());
        let token = on.text.get(at..extent.end).unwrap_or_default();
        self.at = extent.end;
        self.doing = Doing::Members;
        match token.as_bytes().first() {
            Some(b'{' | b'[') if extent.entries == 0 => {
                let empty = if token.starts_with('{') { "{}" } else { "[]" };
                sheet.row(|| prefix.and(Tone::Foreign, empty));
            }
            Some(b'[') if is_short_list(token, room) => {
                sheet.row(|| prefix.and(Tone::Foreign, token));
            }
            Some(first @ (b'{' | b'[')) => {
                let (kind, words) = if *first == b'{' {
                    (Container::Object, counted(extent.entries, "key"))
                } else {
                    (Container::List, counted(extent.entries, "item"))
                };
                sheet.row(|| prefix.and(Tone::Quiet, format!("{words}, {}", size(extent.bytes))));
                self.at = at;
                self.enter(on, kind);
            }
            Some(b'"') => {
                if let Some(row) = quoted(token, room) {
                    sheet.row(|| prefix.joined(row));
                    return;
                }
                sheet.row(|| {
                    let lines = counted(extent.entries, "line");
                    prefix.and(Tone::Quiet, format!("text, {}, {lines}", size(extent.bytes)))
                });
                self.enter_region(Form::Quoted, at + 1, extent.end - 1, self.then());
            }
            _ => {
                let note = if is_beyond_doubles(token) { "  ⚠ beyond ±2^53" } else { "" };
                if token.len() + note.chars().count() <= room {
                    sheet.row(|| prefix.and(Tone::Foreign, token).and(Tone::Warn, note));
                    return;
                }
                sheet.row(|| prefix.and(Tone::Quiet, size(token.len())).and(Tone::Warn, note));
                self.enter_region(Form::Bare, at, extent.end, self.then());
            }
        }
    }

    fn enter_region(&mut self, form: Form, start: usize, end: usize, then: Then) {
        self.doing = Doing::Region(Region::new(form, start, end), then);
    }

    /// What follows a value.
    fn then(&self) -> Then {
        if self.open.is_empty() { Then::Nothing } else { Then::Members }
    }

    fn region(&mut self, on: &Ground<'_>, sheet: &mut Sheet, mut region: Region, then: Then) {
        // A text that is all there is has its border from elsewhere.
        let bar = if matches!(then, Then::Nothing) { "" } else { "│ " };
        let margin = indent(on, self.open.len()).and(Tone::Border, bar);
        region.step(on, &margin, sheet);
        self.doing = Doing::Region(region, then);
        if region.is_done() {
            self.leave(on, sheet, then, region.end());
        }
    }

    fn leave(&mut self, on: &Ground<'_>, sheet: &mut Sheet, then: Then, end: usize) {
        self.doing = Doing::Members;
        match then {
            Then::Nothing => self.doing = Doing::Done,
            // A bare token ends where it ends; a string has its quote to pass.
            Then::Members => self.at = end + usize::from(on.text.as_bytes().get(end) == Some(&b'"')),
            Then::Value(at) => self.value(on, sheet, Row::of(Tone::Quiet, "its value  "), at),
        }
    }
}

fn indent(on: &Ground<'_>, depth: usize) -> Row {
    let columns = (depth.saturating_sub(1) * 2).min(on.width / 3);
    Row::of(Tone::Ours, " ".repeat(columns))
}
