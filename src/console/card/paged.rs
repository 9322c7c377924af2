//! A long foreign text whose rows are laid out where they are looked at: it is counted once, and marked on the way.

use super::json::Extents;
use super::sheet::{Ground, Sheet};
use super::walk::Walk;
use crate::console::row::Row;

/// What kind of text it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// Valid JSON.
    Json,
    /// Anything else.
    Bare,
}

/// The layout of one text at one width. It keeps no copy of the text: give it the same one every time.
#[derive(Clone, Debug)]
pub struct Paged {
    extents: Extents,
    /// Stands before every row.
    prefix: Row,
    /// Of the rows without their prefix.
    width: usize,
    /// Places to go on from, with the row they begin at; ascending.
    marks: Vec<(usize, Walk)>,
    rows: usize,
}

/// Rows between two marks: what one look may cost.
const BETWEEN_MARKS: usize = 128;

impl Paged {
    /// Counts the rows of a text. `undeclared` is sorted.
    pub fn lay(text: &str, undeclared: &[String], writing: Writing, prefix: Row, width: usize) -> Self {
        let (extents, mut walk) = match writing {
            Writing::Json => (Extents::measure(text), Walk::json()),
            Writing::Bare => (Extents::default(), Walk::bare(text)),
        };
        let width = width.saturating_sub(prefix.width()).max(1);
        let mut marks: Vec<(usize, Walk)> = Vec::new();
        let mut rows = 0;
        let ground = Ground { text, extents: &extents, width, undeclared };
        while !walk.is_done() {
            if marks.last().is_none_or(|(row, _)| rows - row >= BETWEEN_MARKS) {
                marks.push((rows, walk.clone()));
            }
            let mut sheet = Sheet::Count(0);
            walk.step(&ground, &mut sheet);
            if let Sheet::Count(n) = sheet {
                rows += n;
            }
        }
        Self { extents, prefix, width, marks, rows }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Lays out up to `count` rows from row `from` on.
    pub fn window(&self, text: &str, undeclared: &[String], from: usize, count: usize) -> Vec<Row> {
        let after = self.marks.partition_point(|(row, _)| *row <= from);
        let Some((row, walk)) = after.checked_sub(1).and_then(|i| self.marks.get(i)) else {
            return Vec::new();
        };
        let ground = Ground { text, extents: &self.extents, width: self.width, undeclared };
        let mut walk = walk.clone();
        let mut rows = Vec::new();
        let mut skip = from - row;
        while !walk.is_done() && rows.len() < skip + count {
            let mut sheet = Sheet::Rows(Vec::new());
            walk.step(&ground, &mut sheet);
            let Sheet::Rows(made) = sheet else { break };
            if rows.is_empty() && made.len() <= skip {
                skip -= made.len();
            } else {
                rows.extend(made);
            }
        }
        let prefixed = |row: Row| self.prefix.clone().joined(row);
        rows.into_iter().skip(skip).take(count).map(prefixed).collect()
    }
}
