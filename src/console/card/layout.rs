//! Lays out a foreign text row by row: a JSON value as a tree that folds, a long text in a bordered region, cut nowhere.
//! A walk is small and can be copied, so that layout can go on from any place it has been at.

use std::collections::BTreeSet;

use super::json::{
    Extent, Extents, alignment, insides, is_beyond_doubles, is_short_list, label, part, quoted, said, size, skip_space,
    string_end,
};
use crate::text::plain::{Edges, is_tame, segment, width};
use crate::text::row::{Row, Tone, ours, quiet};
use crate::wire::{counted, fold::in_pointer};

/// A container is folded at first if it lies deeper than this many levels, …
const DEEPEST: usize = 4;
/// … or is longer than a screen: it has more members, …
const MOST_MEMBERS: usize = 40;
/// … or more bytes than this.
const MOST_BYTES: usize = 4096;

/// What is folded. A container is named by the byte it begins at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folds {
    base: Base,
    /// The containers that the operator has folded or unfolded since.
    turned: BTreeSet<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Base {
    /// What is deep or long is folded.
    #[default]
    Brief,
    Open,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    Open,
    Closed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    pub row: usize,
    /// The byte that the container begins at.
    pub at: usize,
    pub fold: Fold,
}

impl Folds {
    pub fn open() -> Self {
        Self { base: Base::Open, turned: BTreeSet::new() }
    }

    /// Whether a container of this extent is folded at this depth; members of the arguments themselves have depth 1.
    pub fn of(&self, at: usize, depth: usize, extent: Extent) -> Fold {
        let long = extent.entries > MOST_MEMBERS || extent.bytes > MOST_BYTES;
        let brief = self.base == Base::Brief && (depth > DEEPEST || long);
        if brief == self.turned.contains(&at) { Fold::Open } else { Fold::Closed }
    }

    pub fn turn(&mut self, at: usize) {
        if !self.turned.remove(&at) {
            self.turned.insert(at);
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    pub text: &'a str,
    pub extents: &'a Extents,
    pub width: usize,
    /// JSON Pointers of the keys that the tool's schema does not declare, sorted.
    pub undeclared: &'a [String],
    pub folds: &'a Folds,
}

/// What was laid out in a step.
#[derive(Default)]
pub struct Sheet {
    pub rows: Vec<Row>,
    /// Which of the rows fold a container, counted from the first.
    pub anchors: Vec<Anchor>,
}

impl Sheet {
    fn wrapped(&mut self, row: Row, width: usize) {
        const HANG: usize = 4;
        self.rows.extend(row.hung(width, HANG));
    }

    fn anchored(&mut self, row: Row, width: usize, at: usize, fold: Fold) {
        self.anchors.push(Anchor { row: self.rows.len(), at, fold });
        self.wrapped(row, width);
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Region {
    form: Form,
    at: usize,
    end: usize,
    begins: Begins,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Between the quotes of a JSON string.
    Quoted,
    Bare,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begins {
    Line,
    /// The rest of a line that was cut for its length.
    Rest,
}

/// How much is laid out in one step.
const STEP: usize = 4096;

impl Region {
    pub fn new(form: Form, at: usize, end: usize) -> Self {
        Self { form, at, end, begins: Begins::Line }
    }

    /// One part: up to the next line break, or a few thousand bytes. Every row is behind `indent` columns and then `bar`.
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
        let text = match self.form {
            Form::Quoted => said(raw),
            Form::Bare => raw.into(),
        };
        let mut row = Row::default();
        row.extend(Tone::Foreign, segment(&text, edges));
        if breaks {
            row.push(Tone::Escape, "␊");
        }
        let mut rows = row.wrapped(room);
        if cut && rows.len() > 1 && *text == *raw && is_tame(raw, edges) {
            // The next part begins with the last row, so that the reader sees no break.
            stop -= rows.pop().map_or(0, |row| row.text().len());
        }
        let margin = ours(" ".repeat(indent)).border(bar);
        sheet.rows.extend(rows.into_iter().map(|row| margin.clone().joined(row)));
        (self.at, self.begins) = if breaks { (next, Begins::Line) } else { (stop, Begins::Rest) };
    }
}

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

#[derive(Clone, Debug)]
pub struct Walk {
    at: usize,
    open: Vec<Open>,
    doing: Doing,
}

#[derive(Clone, Debug)]
struct Open {
    kind: Container,
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
    pub fn json() -> Self {
        Self { at: 0, open: Vec::new(), doing: Doing::Members }
    }

    pub fn bare(text: &str) -> Self {
        Self { at: 0, open: Vec::new(), doing: Doing::Region(Region::new(Form::Bare, 0, text.len()), Then::Nothing) }
    }

    pub fn is_done(&self) -> bool {
        matches!(self.doing, Doing::Done)
    }

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
                sheet.rows.push(prefix.and(Tone::Foreign, token));
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
                    sheet.rows.push(prefix.joined(row));
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
                    sheet.rows.push(prefix.and(Tone::Foreign, token).warn(note));
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

    fn then(&self) -> Then {
        if self.open.is_empty() { Then::Nothing } else { Then::Members }
    }

    fn region(&mut self, on: &Layout<'_>, sheet: &mut Sheet, mut region: Region, then: Then) {
        // A text without a tree around it has its border from elsewhere.
        let bar = if matches!(then, Then::Nothing) { "" } else { "│ " };
        region.step(on, columns(on, self.open.len()), bar, sheet);
        self.doing = Doing::Region(region, then);
        if region.at >= region.end {
            self.leave(on, sheet, then, region.end);
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
