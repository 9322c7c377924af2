//! Walks a foreign text and lays out its rows step by step: a JSON value as a tree, long strings in bordered regions.
//!
//! A walk is small and can be copied, so that layout can go on from any place it has been at. Nothing is cut: what does
//! not fit on a row goes on in the next.

use super::json::{
    alignment, insides, is_beyond_doubles, is_short_list, label, quoted, said, size, skip_space, string_end,
};
use super::sheet::{Fold, Form, Layout, Region, Sheet};
use crate::text::row::{Row, Tone, ours, quiet};
use crate::wire::fold::in_pointer;
use crate::wire::number::counted;

/// Where a walk is.
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
    undeclared: Within,
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
    Value(usize, Within),
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

    pub fn is_done(&self) -> bool {
        matches!(self.doing, Doing::Done)
    }

    /// Lays out the next few rows.
    pub fn step(&mut self, on: &Layout<'_>, sheet: &mut Sheet) {
        match self.doing {
            Doing::Done => {}
            Doing::Region(region, then) => self.region(on, sheet, region, then),
            Doing::Members => self.member(on, sheet),
        }
    }

    fn member(&mut self, on: &Layout<'_>, sheet: &mut Sheet) {
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
    fn labelled(&mut self, on: &Layout<'_>, sheet: &mut Sheet) {
        let Some(open) = self.open.last_mut() else {
            // The only value of the text. If it is an object, the caption above names it and gives its size already.
            return match on.text.as_bytes().get(self.at) {
                Some(b'{') if on.extents.of(on.text, self.at).entries > 0 => {
                    self.enter(on, Container::Object, Within::all(on.undeclared));
                }
                _ => self.value(on, sheet, Row::default(), self.at, Within::all(on.undeclared)),
            };
        };
        open.passed += 1;
        let (kind, align, outer) = (open.kind, open.align, open.undeclared);
        let (label, within) = match kind {
            Container::List => {
                let at = (open.passed - 1).to_string();
                let within = outer.member(on.undeclared, &at);
                (quiet(format!("[{at}]")), within)
            }
            Container::Object => match self.key(on, sheet, outer) {
                Some(labelled) => labelled,
                None => return,
            },
        };
        let label = label.padded(align).quiet("  ");
        self.value(on, sheet, label, self.at, within);
    }

    /// A key as a label, with the walk moved to its value; `None` if the key is so long that it gets a region first.
    fn key(&mut self, on: &Layout<'_>, sheet: &mut Sheet, outer: Within) -> Option<(Row, Within)> {
        let end = string_end(on.text, self.at);
        let start = self.at + 1;
        let raw = on.text.get(start..end - 1).unwrap_or_default();
        let colon = skip_space(on.text, end);
        let value = skip_space(on.text, colon + 1);
        let within = outer.member(on.undeclared, &said(raw));
        let note = if within.is_one(on.undeclared) { " (undeclared)" } else { "" };
        let shown = if raw.len() > LONGEST_LABEL * 8 { None } else { Some(label(raw)) };
        let longest = LONGEST_LABEL.min(on.width / 2);
        if let Some(label) = shown.filter(|label| label.width() <= longest) {
            self.at = value;
            return Some((label.warn(note), within));
        }
        let words = format!("a key of {}", size(said(raw).len()));
        let row = indent(on, self.open.len()).quiet(words);
        sheet.wrapped(row.warn(note), on.width);
        self.enter_region(Form::Quoted, start, end - 1, Then::Value(value, within));
        None
    }

    fn enter(&mut self, on: &Layout<'_>, kind: Container, undeclared: Within) {
        let align = if kind == Container::Object { alignment(on.text, on.extents, self.at) } else { 0 };
        self.open.push(Open { kind, passed: 0, align, undeclared });
        self.at += 1;
        self.doing = Doing::Members;
    }

    fn value(&mut self, on: &Layout<'_>, sheet: &mut Sheet, label: Row, at: usize, within: Within) {
        let extent = on.extents.of(on.text, at);
        let prefix = indent(on, self.open.len()).joined(label);
        let room = on.width.saturating_sub(prefix.width());
        let token = on.text.get(at..extent.end).unwrap_or_default();
        self.at = extent.end;
        self.doing = Doing::Members;
        match token.as_bytes().first() {
            Some(b'{' | b'[') if extent.entries == 0 => {
                let empty = if token.starts_with('{') { "{}" } else { "[]" };
                sheet.wrapped(prefix.and(Tone::Foreign, empty), on.width);
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
                let words = format!("{words}, {}", size(extent.bytes));
                let fold = on.folds.of(at, self.open.len(), extent);
                if fold == Fold::Closed {
                    let row = prefix.warn("▸ ").quiet(words).warn(" folded");
                    let row = if within.is_around(on.undeclared) { row.warn(", undeclared keys in it") } else { row };
                    let row = insides(row, on.text, on.extents, at, on.width);
                    return sheet.anchored(row, on.width, at, fold);
                }
                let row = prefix.quiet("▾ ").quiet(words);
                sheet.anchored(row, on.width, at, fold);
                self.at = at;
                self.enter(on, kind, within);
            }
            Some(b'"') => {
                if let Some(row) = quoted(token, room) {
                    sheet.row(|| prefix.joined(row));
                    return;
                }
                let lines = counted(extent.entries, "line");
                let words = format!("text, {}, {lines}", size(extent.bytes));
                sheet.wrapped(prefix.quiet(words), on.width);
                self.enter_region(Form::Quoted, at + 1, extent.end - 1, self.then());
            }
            _ => {
                let doubtful = is_beyond_doubles(token);
                let note = if doubtful { "  ⚠ beyond ±2^53" } else { "" };
                if token.len() + note.chars().count() <= room {
                    sheet.row(|| prefix.and(Tone::Foreign, token).warn(note));
                    return;
                }
                let words = prefix.quiet(size(token.len()));
                sheet.wrapped(words.warn(note), on.width);
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

    fn region(&mut self, on: &Layout<'_>, sheet: &mut Sheet, mut region: Region, then: Then) {
        // A text without a tree around it has its border from elsewhere.
        let bar = if matches!(then, Then::Nothing) { "" } else { "│ " };
        region.step(on, columns(on, self.open.len()), bar, sheet);
        self.doing = Doing::Region(region, then);
        if region.is_done() {
            self.leave(on, sheet, then, region.end());
        }
    }

    fn leave(&mut self, on: &Layout<'_>, sheet: &mut Sheet, then: Then, end: usize) {
        self.doing = Doing::Members;
        match then {
            Then::Nothing => self.doing = Doing::Done,
            // After a string, its closing quote is skipped.
            Then::Members => self.at = end + usize::from(on.text.as_bytes().get(end) == Some(&b'"')),
            Then::Value(at, within) => {
                self.value(on, sheet, quiet("its value  "), at, within);
            }
        }
    }
}

fn indent(on: &Layout<'_>, depth: usize) -> Row {
    ours(" ".repeat(columns(on, depth)))
}

/// The columns that a depth is indented by: never so many that nothing fits beside them.
fn columns(on: &Layout<'_>, depth: usize) -> usize {
    (depth.saturating_sub(1) * 2).min(on.width / 3)
}

/// The undeclared keys in one container: a range of the sorted list, whose pointers all begin with the container's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Within {
    first: usize,
    end: usize,
    /// Bytes of the container's own pointer.
    length: usize,
}

impl Within {
    /// All of them: those in the arguments as a whole.
    fn all(list: &[String]) -> Self {
        Self { first: 0, end: list.len(), length: 0 }
    }

    /// Those in the member of this name: the member itself, or what it contains.
    fn member(self, list: &[String], name: &str) -> Self {
        let list = list.get(self.first..self.end).unwrap_or_default();
        if list.is_empty() {
            return self;
        }
        let mut name = format!("/{}", in_pointer(name));
        let length = self.length + name.len();
        if let Ok(at) = list.binary_search_by(|pointer| after(pointer, self.length).cmp(&name)) {
            return Self { first: self.first + at, end: self.first + at + 1, length };
        }
        name.push('/');
        let before = list.partition_point(|pointer| after(pointer, self.length) < name.as_str());
        let inside = list[before..].partition_point(|pointer| after(pointer, self.length).starts_with(&name));
        Self { first: self.first + before, end: self.first + before + inside, length }
    }

    /// Whether the member itself is undeclared.
    fn is_one(self, list: &[String]) -> bool {
        self.first < self.end && list.get(self.first).is_some_and(|pointer| pointer.len() == self.length)
    }

    /// Whether some lie in the member, and the member itself is declared.
    fn is_around(self, list: &[String]) -> bool {
        self.first < self.end && !self.is_one(list)
    }
}

fn after(pointer: &str, length: usize) -> &str {
    pointer.get(length..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::{Folds, Paged, Writing};
    use super::Within;
    use crate::text::row::Row;

    #[test]
    fn a_key_is_found_by_its_way_and_by_no_other() {
        let mut list: Vec<String> =
            ["/force", "/a b", "/a/c", "/a/list/1/x", "/a/list/10/x", "/s~1l~0t"].map(str::to_owned).into();
        list.sort();
        for (way, expected) in [
            (&["force"][..], true),
            (&["force", "force"], false),
            (&["a"], false),
            (&["a b"], true),
            (&["a", "c"], true),
            (&["a", "cc"], false),
            (&["a", "list", "1", "x"], true),
            (&["a", "list", "10", "x"], true),
            (&["a", "list", "0", "x"], false),
            (&["a", "list", "1"], false),
            (&["s/l~t"], true),
            (&["c"], false),
            (&["x"], false),
        ] {
            let within = way.iter().fold(Within::all(&list), |within, name| within.member(&list, name));
            assert_eq!(within.is_one(&list), expected, "{way:?}");
        }
    }

    #[test]
    fn the_card_marks_the_key_and_nothing_beside_it() {
        let text = r#"{"force": 0, "edits": [{"force": 1}, {"to": 2, "force": 3}], "deep": {"force": 4}}"#;
        let undeclared = ["/deep/force".to_owned(), "/edits/1/force".to_owned()];
        let paged = Paged::lay(text, undeclared.into(), Writing::Json, Row::default(), 60, Folds::open());
        let rows = paged.window(text, 0, 20);
        let marked: Vec<String> = rows.iter().map(Row::text).filter(|row| row.contains("(undeclared)")).collect();
        assert_eq!(marked.len(), 2, "{marked:?}");
        assert!(marked[0].contains('3') && marked[1].contains('4'), "{marked:?}");
    }

    #[test]
    fn a_folded_row_says_that_undeclared_keys_are_in_it() {
        let text = r#"{"plain": {"a": 1}, "deep": {"force": 4}, "own": {"b": 1}}"#;
        let undeclared = ["/deep/force".to_owned(), "/own".to_owned()];
        let mut folds = Folds::open();
        for at in [r#"{"a""#, r#"{"force""#, r#"{"b""#] {
            folds.turn(text.find(at).expect("it is there"));
        }
        let paged = Paged::lay(text, undeclared.into(), Writing::Json, Row::default(), 90, folds);
        let rows: Vec<String> = paged.window(text, 0, 20).iter().map(Row::text).collect();
        let told: Vec<bool> = rows.iter().map(|row| row.contains("undeclared keys in it")).collect();
        assert_eq!(told, [false, true, false], "{rows:?}");
    }
}
