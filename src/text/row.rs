//! One row of text before it has colours: runs with a tone each, wrapped and clipped by printed columns.

use std::ops::Range;

use regex::RegexBuilder;
use unicode_segmentation::UnicodeSegmentation;

use super::plain::{self, CharKind, TextPiece};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tone {
    Ours,
    /// Our own words that matter most.
    Strong,
    /// Labels, units, sizes: present, but quiet.
    Quiet,
    Foreign,
    /// An escape that stands for a foreign character.
    Escape,
    Border,
    Key,
    Good,
    Warn,
    Danger,
    /// A word that must be seen: a badge of danger, a banner.
    Loud,
}

/// Text in one tone. Foreign text in it went through [`plain`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub text: String,
    pub tone: Tone,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    pub runs: Vec<Run>,
}

impl Row {
    pub fn of(tone: Tone, text: impl Into<String>) -> Self {
        Self::default().and(tone, text)
    }

    #[must_use]
    pub fn and(mut self, tone: Tone, text: impl Into<String>) -> Self {
        self.push(tone, text);
        self
    }

    /// Adds foreign text, made visible on one line.
    #[must_use]
    pub fn and_foreign(mut self, tone: Tone, text: &str) -> Self {
        self.extend(tone, plain::pieces(text));
        self
    }

    pub fn push(&mut self, tone: Tone, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() {
            self.runs.push(Run { text, tone });
        }
    }

    /// Adds pieces of foreign text; what shows itself gets `tone`.
    pub fn extend(&mut self, tone: Tone, pieces: impl IntoIterator<Item = TextPiece>) {
        for piece in pieces {
            let tone = match piece.kind {
                CharKind::Plain => tone,
                CharKind::Escape => Tone::Escape,
            };
            self.push(tone, piece.text);
        }
    }

    pub fn width(&self) -> usize {
        self.runs.iter().map(|run| plain::width(&run.text)).sum()
    }

    pub fn text(&self) -> String {
        self.runs.iter().map(|run| run.text.as_str()).collect()
    }

    #[must_use]
    pub fn padded(self, width: usize) -> Self {
        let missing = width.saturating_sub(self.width());
        self.and(Tone::Ours, " ".repeat(missing))
    }

    /// Cuts at `width` columns; a cut row ends in `…`.
    #[must_use]
    pub fn clipped(self, width: usize) -> Self {
        if self.width() <= width {
            return self;
        }
        let units = Units::of(&self);
        let end = units.fill(0, width.saturating_sub(1));
        let mut row = units.row(0..end);
        if width > 0 {
            row.push(Tone::Quiet, "…");
        }
        row
    }

    /// Leaves out the middle, so that the row has `width` columns: at most `head` of them show its beginning, the
    /// others its end. If there is room, what is left out is counted: `src/…31…/today.md`.
    #[must_use]
    pub fn elided(self, width: usize, head: usize) -> Self {
        const COUNTED: usize = 28;
        if self.width() <= width {
            return self;
        }
        let units = Units::of(&self);
        let all = units.cells.len();
        let room = width.saturating_sub(if width < COUNTED { 1 } else { 2 + all.to_string().len() });
        let from = units.fill(0, head.min(room));
        let to = units.fill_back(room - units.columns(0..from)).max(from);
        let mark = if width < COUNTED { "…".to_owned() } else { format!("…{}…", to - from) };
        let row = units.row(0..from).and(Tone::Quiet, mark).joined(units.row(to..all));
        if width == 0 { Self::default() } else { row }
    }

    /// Breaks into rows of at most `width` columns, after a space where one is near.
    pub fn wrapped(self, width: usize) -> Vec<Self> {
        self.hung(width, 0)
    }

    /// Wraps, and indents every row but the first by `hang` columns.
    pub fn hung(self, width: usize, hang: usize) -> Vec<Self> {
        if self.width() <= width {
            return vec![self];
        }
        let units = Units::of(&self);
        let mut rows: Vec<Self> = Vec::new();
        let mut from = 0;
        while from < units.cells.len() {
            let margin = if rows.is_empty() { 0 } else { hang };
            let room = width.saturating_sub(margin).max(1);
            let end = units.row_end(from, room);
            let row = Self::of(Tone::Ours, " ".repeat(margin));
            rows.push(row.joined(units.row(from..end)));
            from = end;
        }
        rows
    }

    /// Wraps the row, with a margin before each of its rows.
    pub fn behind(self, margin: &Self, width: usize) -> Vec<Self> {
        let rows = self.wrapped(width.saturating_sub(margin.width()).max(1)).into_iter();
        rows.map(|row| margin.clone().joined(row)).collect()
    }

    /// This row with some words highlighted wherever they occur, whatever their case.
    #[must_use]
    pub fn marked(self, words: &str) -> Self {
        let found = RegexBuilder::new(&regex::escape(words)).case_insensitive(true).build();
        let Some(found) = found.ok().filter(|_| !words.is_empty()) else { return self };
        let mut row = Self::default();
        for run in self.runs {
            let mut end = 0;
            for place in found.find_iter(&run.text) {
                row.push(run.tone, &run.text[end..place.start()]);
                row.push(Tone::Loud, place.as_str());
                end = place.end();
            }
            row.push(run.tone, &run.text[end..]);
        }
        row
    }

    #[must_use]
    pub fn joined(mut self, other: Self) -> Self {
        self.runs.extend(other.runs);
        self
    }
}

pub fn foreign(tone: Tone, text: &str) -> Row {
    Row::default().and_foreign(tone, text)
}

/// For each of these tones, how a row of our own words begins, `quiet("at ")`, and how it goes on, `.quiet("at ")`.
macro_rules! tones {
    ($($name:ident $tone:ident),*) => {
        $(pub fn $name(text: impl Into<String>) -> Row {
            Row::of(Tone::$tone, text)
        })*

        impl Row {
            $(#[must_use]
            pub fn $name(self, text: impl Into<String>) -> Self {
                self.and(Tone::$tone, text)
            })*
        }
    };
}

tones! { ours Ours, strong Strong, quiet Quiet, border Border, key Key, good Good, warn Warn, danger Danger }

/// The content of one unit of text that is never broken: its columns, and whether it is a space.
type Cell = (usize, Gap);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Gap {
    Space,
    Ink,
}

/// A row cut into clusters; an escape is one.
struct Units<'a> {
    row: &'a Row,
    cells: Vec<(usize, Range<usize>, Cell)>,
}

/// How many of these fit in `width` columns.
fn fitting<'c>(cells: impl Iterator<Item = &'c (usize, Range<usize>, Cell)>, width: usize) -> usize {
    let mut used = 0;
    cells
        .take_while(|cell| {
            used += cell.2.0;
            used <= width
        })
        .count()
}

impl<'a> Units<'a> {
    fn of(row: &'a Row) -> Self {
        let mut cells = Vec::new();
        for (index, run) in row.runs.iter().enumerate() {
            if run.tone == Tone::Escape {
                let cell = (plain::width(&run.text), Gap::Ink);
                cells.push((index, 0..run.text.len(), cell));
                continue;
            }
            if run.text.is_ascii() {
                // Nearly all text is ASCII, where every byte is one column.
                let cell = |b: u8| (1, if b == b' ' { Gap::Space } else { Gap::Ink });
                let bytes = run.text.bytes().enumerate();
                cells.extend(bytes.map(|(at, b)| (index, at..at + 1, cell(b))));
                continue;
            }
            for (at, cluster) in run.text.grapheme_indices(true) {
                let gap = if cluster == " " { Gap::Space } else { Gap::Ink };
                let cell = (plain::width(cluster), gap);
                cells.push((index, at..at + cluster.len(), cell));
            }
        }
        Self { row, cells }
    }

    /// The end of the row that begins at `from`: behind a space that is not far from the edge, if there is one.
    fn row_end(&self, from: usize, width: usize) -> usize {
        let reach = (width / 2).min(24);
        let end = self.fill(from, width);
        if end == self.cells.len() {
            return end;
        }
        let mut back = 0;
        for at in (from + 1..end).rev() {
            let (columns, gap) = self.cells[at].2;
            back += columns;
            if back > reach {
                break;
            }
            if gap == Gap::Space {
                return at + 1;
            }
        }
        end.max(from + 1)
    }

    /// The end of what fits in `width` columns, wherever it breaks.
    fn fill(&self, from: usize, width: usize) -> usize {
        from + fitting(self.cells.iter().skip(from), width)
    }

    /// The beginning of what fits in `width` columns at the end.
    fn fill_back(&self, width: usize) -> usize {
        self.cells.len() - fitting(self.cells.iter().rev(), width)
    }

    fn columns(&self, range: Range<usize>) -> usize {
        self.cells[range].iter().map(|cell| cell.2.0).sum()
    }

    fn row(&self, range: Range<usize>) -> Row {
        let mut row = Row::default();
        let mut last = usize::MAX;
        for (index, bytes, _) in self.cells.get(range).unwrap_or_default() {
            let run = &self.row.runs[*index];
            let text = &run.text[bytes.clone()];
            match row.runs.last_mut() {
                Some(open) if last == *index => open.text.push_str(text),
                _ => row.push(run.tone, text),
            }
            last = *index;
        }
        row
    }
}
