//! A long foreign text of which only visible rows are laid out: all are counted once, with marks from which to start.

use super::folds::{Anchor, Fold, Folds};
use super::json::Extents;
use super::sheet::{Layout, Made, Sheet};
use super::walk::Walk;
use crate::text::row::Row;

/// What kind of text it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// Valid JSON.
    Json,
    /// Anything else.
    Bare,
}

impl Writing {
    /// How a text is written.
    pub fn of(text: &str) -> Self {
        if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() { Self::Json } else { Self::Bare }
    }
}

/// The layout of one text at one width. It keeps no copy of the text: give it the same one every time.
#[derive(Clone, Debug)]
pub struct Paged {
    extents: Extents,
    /// Comes before every row.
    prefix: Row,
    /// Columns of the rows without their prefix.
    width: usize,
    /// Places to go on from, with the row they begin at; ascending.
    marks: Vec<(usize, Walk)>,
    pub rows: usize,
    folds: Folds,
    /// How many of the rows are folded containers.
    pub folded: usize,
    /// JSON Pointers of the keys that the tool's schema does not declare, sorted.
    undeclared: Vec<String>,
}

/// Rows between two marks: at most this many are laid out in vain.
const BETWEEN_MARKS: usize = 128;

impl Paged {
    /// Counts the rows of a text.
    pub fn lay(
        text: &str,
        mut undeclared: Vec<String>,
        writing: Writing,
        prefix: Row,
        width: usize,
        folds: Folds,
    ) -> Self {
        undeclared.sort();
        let (extents, mut walk) = match writing {
            Writing::Json => (Extents::measure(text), Walk::json()),
            Writing::Bare => (Extents::default(), Walk::bare(text)),
        };
        let width = width.saturating_sub(prefix.width()).max(1);
        let mut marks: Vec<(usize, Walk)> = Vec::new();
        let (mut rows, mut folded) = (0, 0);
        let layout = Layout { text, extents: &extents, width, undeclared: &undeclared, folds: &folds };
        while !walk.is_done() {
            if marks.last().is_none_or(|(row, _)| rows - row >= BETWEEN_MARKS) {
                marks.push((rows, walk.clone()));
            }
            let mut sheet = Sheet::counting();
            walk.step(&layout, &mut sheet);
            rows += sheet.len();
            folded += sheet.anchors.iter().filter(|anchor| anchor.fold == Fold::Closed).count();
        }
        Self { extents, prefix, width, marks, rows, folds, folded, undeclared }
    }

    /// Lays out up to `count` rows from row `from` on.
    pub fn window(&self, text: &str, from: usize, count: usize) -> Vec<Row> {
        let (first, sheet) = self.look(text, from, count, Sheet::making());
        let Made::Rows(rows) = sheet.made else { return Vec::new() };
        let prefixed = |row: Row| self.prefix.clone().joined(row);
        rows.into_iter().skip(from - first).take(count).map(prefixed).collect()
    }

    /// The rows that fold among up to `count` rows from row `from` on.
    pub fn anchors(&self, text: &str, from: usize, count: usize) -> Vec<Anchor> {
        let (first, sheet) = self.look(text, from, count, Sheet::counting());
        let placed = sheet.anchors.into_iter().map(|anchor| Anchor { row: anchor.row + first, ..anchor });
        placed.filter(|anchor| (from..from + count).contains(&anchor.row)).collect()
    }

    /// Lays out rows that include these; also returns which row the layout begins at.
    fn look(&self, text: &str, from: usize, count: usize, mut sheet: Sheet) -> (usize, Sheet) {
        let after = self.marks.partition_point(|(row, _)| *row <= from);
        let Some((row, walk)) = after.checked_sub(1).and_then(|i| self.marks.get(i)) else {
            return (from, sheet);
        };
        let Self { extents, width, undeclared, folds, .. } = self;
        let layout = Layout { text, extents, width: *width, undeclared, folds };
        let mut walk = walk.clone();
        let end = from - row + count;
        while !walk.is_done() && sheet.len() < end {
            walk.step(&layout, &mut sheet);
        }
        (*row, sheet)
    }
}
