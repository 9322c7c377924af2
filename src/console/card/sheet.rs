//! What a layout works on and where its rows go.

use super::json::Extents;
use crate::console::row::Row;

/// What stays the same while a text is laid out.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'a> {
    pub text: &'a str,
    pub extents: &'a Extents,
    pub width: usize,
    /// JSON Pointers of the keys that the tool's schema does not declare, sorted.
    pub undeclared: &'a [String],
}

/// Takes the rows of a layout, or only counts them.
pub enum Sheet {
    Count(usize),
    Rows(Vec<Row>),
}

impl Sheet {
    /// Takes one row.
    pub fn row(&mut self, row: impl FnOnce() -> Row) {
        match self {
            Self::Count(n) => *n += 1,
            Self::Rows(rows) => rows.push(row()),
        }
    }

    /// Takes a row that may be too long for one.
    pub fn wrapped(&mut self, row: Row, width: usize) {
        const HANG: usize = 4;
        match self {
            Self::Count(n) if row.width() <= width => *n += 1,
            Self::Count(n) => *n += row.hung(width, HANG).len(),
            Self::Rows(rows) => rows.extend(row.hung(width, HANG)),
        }
    }

    /// Takes rows that all stand behind the same margin.
    pub fn rows(&mut self, made: Vec<Row>, margin: &Row) {
        match self {
            Self::Count(n) => *n += made.len(),
            Self::Rows(rows) => rows.extend(made.into_iter().map(|row| margin.clone().joined(row))),
        }
    }
}
