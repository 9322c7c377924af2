//! The columns of a list: one table of names, gaps, widths and sides makes the heading and every row. Knows no list.

use std::collections::BTreeSet;

use super::row::{Row, Tone, foreign, ours, quiet};

#[derive(Clone, Debug, Default)]
pub struct Columns(Vec<Column>);

#[derive(Clone, Copy, Debug)]
struct Column {
    name: &'static str,
    /// Empty columns before it.
    gap: usize,
    fit: ColumnFit,
}

#[derive(Clone, Copy, Debug)]
enum ColumnFit {
    /// From the left, cut where it is too long.
    Left(usize),
    /// From the right: a number, which is never cut.
    Right(usize),
    Rest,
}

/// As wide as they want if there is room. Otherwise the last ones shrink first; then those in `goes` are left out, in order.
/// `wants` has of each column the gap before it, its width (an empty one is not shown) and its least width.
pub fn fitted<const N: usize>(room: usize, wants: [(usize, usize, usize); N], goes: &[usize]) -> [usize; N] {
    let mut widths = wants.map(|(_, wants, least)| wants.min(least));
    let used = |widths: &[usize; N]| -> usize {
        wants.iter().zip(widths).filter(|(_, width)| **width > 0).map(|((gap, ..), width)| gap + width).sum()
    };
    for gone in goes {
        if used(&widths) <= room {
            break;
        }
        if let Some(width) = widths.get_mut(*gone) {
            *width = 0;
        }
    }
    let mut spare = room.saturating_sub(used(&widths));
    for (width, (_, wants, _)) in widths.iter_mut().zip(wants).filter(|(width, _)| **width > 0) {
        let more = wants.saturating_sub(*width).min(spare);
        *width += more;
        spare -= more;
    }
    widths
}

impl Columns {
    /// Adds a column of text. One without width is not shown, nor its gap.
    #[must_use]
    pub fn left(self, gap: usize, width: usize, name: &'static str) -> Self {
        self.with(Column { name, gap, fit: ColumnFit::Left(width) })
    }

    #[must_use]
    pub fn right(self, gap: usize, width: usize, name: &'static str) -> Self {
        self.with(Column { name, gap, fit: ColumnFit::Right(width) })
    }

    /// Adds the last column, which takes what is left.
    #[must_use]
    pub fn rest(self, gap: usize) -> Self {
        self.with(Column { name: "", gap, fit: ColumnFit::Rest })
    }

    fn with(mut self, column: Column) -> Self {
        self.0.push(column);
        self
    }

    pub fn heading(&self) -> Row {
        self.row(self.0.iter().map(|column| quiet(column.name)))
    }

    /// One row of the list, with a cell for each column, even for those that are not shown.
    pub fn row(&self, cells: impl IntoIterator<Item = Row>) -> Row {
        let mut row = Row::default();
        for (column, cell) in self.0.iter().zip(cells) {
            let cell = match column.fit {
                ColumnFit::Left(0) | ColumnFit::Right(0) => continue,
                ColumnFit::Left(width) => cell.clipped(width).padded(width),
                ColumnFit::Right(width) => ours(" ".repeat(width.saturating_sub(cell.width()))).joined(cell),
                ColumnFit::Rest => cell,
            };
            row = row.ours(" ".repeat(column.gap)).joined(cell);
        }
        row
    }
}

pub use super::row::foreign as cell;

pub fn widest<'a>(texts: impl Iterator<Item = &'a str>) -> usize {
    texts.map(|text| foreign(Tone::Ours, text).width()).max().unwrap_or(0)
}

/// Names that look different: one that is too long loses its end or, if only that differs, its middle or beginning.
#[derive(Clone, Copy, Debug)]
pub struct NameColumn {
    pub width: usize,
    /// How much of a name's beginning stays.
    head: usize,
}

impl NameColumn {
    /// As wide as the widest name up to `most`; wider only where no cut to that width keeps them apart.
    pub fn of<'a>(names: impl Iterator<Item = &'a str>, most: usize) -> Self {
        let names: BTreeSet<&str> = names.collect();
        let widest = widest(names.iter().copied());
        let apart = |width| Self::apart(&names, width);
        (most..widest).find_map(apart).unwrap_or(Self { width: widest, head: widest })
    }

    /// The column of this width: names that no cut keeps apart lose their ends.
    pub fn within<'a>(names: impl Iterator<Item = &'a str>, width: usize) -> Self {
        let whole = Self { width, head: width };
        if width == 0 {
            return whole;
        }
        let names: BTreeSet<&str> = names.collect();
        if widest(names.iter().copied()) <= width { whole } else { Self::apart(&names, width).unwrap_or(whole) }
    }

    /// The column of this width in which no two names look alike.
    fn apart(names: &BTreeSet<&str>, width: usize) -> Option<Self> {
        let shown = |column: &Self| -> BTreeSet<String> {
            names.iter().map(|name| column.cell(Tone::Ours, name).text()).collect()
        };
        let heads = [width, width * 2 / 3, width / 2, width / 3, 0].map(|head| Self { width, head });
        heads.into_iter().find(|column| shown(column).len() == names.len())
    }

    pub fn cell(&self, tone: Tone, name: &str) -> Row {
        let name = foreign(tone, name);
        if self.head < self.width { name.elided(self.width, self.head) } else { name.clipped(self.width) }
    }
}

/// Fewer characters of a path after the host say nothing.
const LEAST_PATH: usize = 6;

/// A web address up to the slash behind its host, perhaps with a method before it; `None` of any other text.
fn until_host(text: &str) -> Option<&str> {
    let (before, rest) = text.split_once("://")?;
    let begins = before.rsplit(' ').next()?.bytes().all(|b| b.is_ascii_alphanumeric()) && !rest.contains([' ', '\n']);
    let host = rest.find(['/', '?', '#']).map_or(rest.len(), |at| at + 1);
    (begins && !before.is_empty()).then(|| &text[..before.len() + 3 + host])
}

/// What a call acts on, in its room: cut where it says least. Both sides of a pair stay readable; a path loses its
/// folders, a web address what follows its host, and a statement its middle, because it ends with its table.
pub fn target(tone: Tone, text: &str, room: usize) -> Row {
    const ARROW: &str = " → ";
    if let Some((from, to)) = text.split_once(ARROW)
        && room > ARROW.len() + 4
    {
        let room = room - 3;
        let (from, to) = (foreign(tone, from), foreign(tone, to));
        // A side that needs less than its half leaves the rest to the other.
        let left = (room / 2).max(room.saturating_sub(to.width()));
        let right = room - left.min(from.width());
        let head = |side: &Row| if side.text().contains('/') { 0 } else { room / 4 };
        let (first, last) = (head(&from), head(&to));
        return from.elided(left, first).quiet(ARROW).joined(to.elided(right, last));
    }
    if let Some(host) = until_host(text) {
        let row = foreign(tone, host);
        // A host without enough room keeps its end, which names its owner.
        return match row.width() + LEAST_PATH <= room {
            true => foreign(tone, text).elided(room, row.width()),
            false if host.len() < text.len() => row.elided(room.saturating_sub(1), 0).quiet("…").clipped(room),
            false => row.elided(room, 0),
        };
    }
    let is_path = text.contains('/') && !text.contains([' ', '\n']);
    let head = match (is_path, room) {
        (true, ..32) => 0,
        (true, _) => room / 4,
        (false, ..32) => room / 2,
        (false, _) => room * 2 / 3,
    };
    foreign(tone, text).elided(room, head)
}
