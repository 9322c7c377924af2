//! What a layout works on and where its rows go: which objects and lists are folded to one line, the rows that are made or
//! only counted, and a foreign text on rows of its own (broken at its own line breaks, wrapped where it is too long, cut
//! nowhere).

use std::collections::BTreeSet;

use super::json::{Extent, Extents, part, said};
use crate::text::plain::{Edges, is_tame, segment, width};
use crate::text::row::{Row, Tone, ours, tame_row, tame_rows};

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

/// What is folded before the operator changes anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Base {
    /// What is deep or long is folded.
    #[default]
    Brief,
    Open,
}

/// The state of one container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    Open,
    Closed,
}

/// A row that folds or unfolds a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    pub row: usize,
    /// The byte that the container begins at.
    pub at: usize,
    pub fold: Fold,
}

impl Folds {
    /// Nothing is folded.
    pub fn open() -> Self {
        Self { base: Base::Open, turned: BTreeSet::new() }
    }

    /// Whether a container of this extent is folded at this depth; members of the arguments themselves have depth 1.
    pub fn of(&self, at: usize, depth: usize, extent: Extent) -> Fold {
        let long = extent.entries > MOST_MEMBERS || extent.bytes > MOST_BYTES;
        let brief = self.base == Base::Brief && (depth > DEEPEST || long);
        if brief == self.turned.contains(&at) { Fold::Open } else { Fold::Closed }
    }

    /// Folds what is open, unfolds what is folded.
    pub fn turn(&mut self, at: usize) {
        if !self.turned.remove(&at) {
            self.turned.insert(at);
        }
    }
}

/// What stays the same while a text is laid out.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    pub text: &'a str,
    pub extents: &'a Extents,
    pub width: usize,
    /// JSON Pointers of the keys that the tool's schema does not declare, sorted.
    pub undeclared: &'a [String],
    pub folds: &'a Folds,
}

/// Takes the rows of a layout, or only counts them.
pub struct Sheet {
    pub made: Made,
    /// Which of the rows fold a container, counted from the first.
    pub anchors: Vec<Anchor>,
}

/// The rows, or their number.
pub enum Made {
    Count(usize),
    Rows(Vec<Row>),
}

impl Sheet {
    /// Rows are only counted.
    pub fn counting() -> Self {
        Self { made: Made::Count(0), anchors: Vec::new() }
    }

    /// Rows are made.
    pub fn making() -> Self {
        Self { made: Made::Rows(Vec::new()), anchors: Vec::new() }
    }

    pub fn len(&self) -> usize {
        match &self.made {
            Made::Count(n) => *n,
            Made::Rows(rows) => rows.len(),
        }
    }

    pub fn row(&mut self, row: impl FnOnce() -> Row) {
        match &mut self.made {
            Made::Count(n) => *n += 1,
            Made::Rows(rows) => rows.push(row()),
        }
    }

    /// Takes a row that may be too long for one.
    pub fn wrapped(&mut self, row: Row, width: usize) {
        const HANG: usize = 4;
        match &mut self.made {
            Made::Count(n) if row.width() <= width => *n += 1,
            Made::Count(n) => *n += row.hung(width, HANG).len(),
            Made::Rows(rows) => rows.extend(row.hung(width, HANG)),
        }
    }

    /// Takes the row of a container that begins at `at`.
    pub fn anchored(&mut self, row: Row, width: usize, at: usize, fold: Fold) {
        self.anchors.push(Anchor { row: self.len(), at, fold });
        self.wrapped(row, width);
    }

    /// Takes rows that all have the same margin.
    pub fn rows(&mut self, made: Vec<Row>, margin: &Row) {
        match &mut self.made {
            Made::Count(n) => *n += made.len(),
            Made::Rows(rows) => rows.extend(made.into_iter().map(|row| margin.clone().joined(row))),
        }
    }
}

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
