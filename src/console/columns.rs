//! The columns of a list: one table of names, gaps, widths and sides makes the heading and every row. Knows no list.

use super::row::{Row, Tone};

/// The columns of a list, from the left.
#[derive(Clone, Debug, Default)]
pub struct Columns(Vec<Column>);

#[derive(Clone, Copy, Debug)]
struct Column {
    name: &'static str,
    /// Empty columns before it.
    gap: usize,
    fit: Fit,
}

/// How a cell fills its column.
#[derive(Clone, Copy, Debug)]
enum Fit {
    /// From the left, cut where it is too long.
    Left(usize),
    /// From the right: a number, which is never cut.
    Right(usize),
    /// As far as it goes: the last column.
    Rest,
}

impl Columns {
    /// Adds a column of text. One without width is not shown, nor its gap.
    #[must_use]
    pub fn left(self, gap: usize, width: usize, name: &'static str) -> Self {
        self.with(Column { name, gap, fit: Fit::Left(width) })
    }

    /// Adds a column of numbers. One without width is not shown, nor its gap.
    #[must_use]
    pub fn right(self, gap: usize, width: usize, name: &'static str) -> Self {
        self.with(Column { name, gap, fit: Fit::Right(width) })
    }

    /// Adds the last column, which takes what is left.
    #[must_use]
    pub fn rest(self, gap: usize) -> Self {
        self.with(Column { name: "", gap, fit: Fit::Rest })
    }

    fn with(mut self, column: Column) -> Self {
        self.0.push(column);
        self
    }

    /// How many columns of the screen all but the last take.
    pub fn width(&self) -> usize {
        let width = |column: &Column| match column.fit {
            Fit::Left(0) | Fit::Right(0) | Fit::Rest => 0,
            Fit::Left(width) | Fit::Right(width) => column.gap + width,
        };
        self.0.iter().map(width).sum()
    }

    /// The names above the list.
    pub fn heading(&self) -> Row {
        self.row(self.0.iter().map(|column| Row::of(Tone::Quiet, column.name)))
    }

    /// One row of the list, a cell for each column: also for those that are not shown.
    pub fn row(&self, cells: impl IntoIterator<Item = Row>) -> Row {
        let mut row = Row::default();
        for (column, cell) in self.0.iter().zip(cells) {
            let cell = match column.fit {
                Fit::Left(0) | Fit::Right(0) => continue,
                Fit::Left(width) => cell.clipped(width).padded(width),
                Fit::Right(width) => Row::of(Tone::Ours, " ".repeat(width.saturating_sub(cell.width()))).joined(cell),
                Fit::Rest => cell,
            };
            row = row.and(Tone::Ours, " ".repeat(column.gap)).joined(cell);
        }
        row
    }
}

/// A cell of foreign text.
pub fn cell(tone: Tone, text: &str) -> Row {
    Row::default().and_foreign(tone, text)
}

/// The columns that the longest of these foreign texts takes.
pub fn widest<'a>(texts: impl Iterator<Item = &'a str>) -> usize {
    texts.map(|text| cell(Tone::Ours, text).width()).max().unwrap_or(0)
}
