//! What a layout works on and where its rows go.

use super::folds::{Anchor, Fold, Folds};
use super::json::Extents;
use crate::text::row::Row;

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
