//! The card: everything the operator reads about one held call, laid out once per snapshot and width: our own words, every
//! byte of the arguments, what the server says, framed as such. Nothing in it depends on the time, so drawing only copies
//! rows. Of a long foreign text only visible rows are kept: all are laid out once, with marks from which to start again.

mod json;
mod layout;
mod preview;
mod sections;

use std::ops::Range;
use std::sync::Arc;

use similar::{Algorithm, DiffTag, capture_diff_slices, group_diff_ops};

use super::rows::caption;
use crate::gate::data::snapshot::Snapshot;
use crate::operator::found::Before;
use crate::text::row::{Row, Tone, border, danger, ours, quiet};
use crate::wire::number::counted;
use json::Extents;
use layout::{Layout, Sheet, Walk};

pub use json::{Writing, size};
pub use layout::{Anchor, Fold, Folds};
pub use sections::{Brief, Details, OnDesk, Withheld, brief, has_key, machine, nearest};

#[derive(Clone, Debug)]
pub struct Card {
    pub snapshot: Arc<Snapshot>,
    pub width: u16,
    blocks: Vec<Block>,
    pub rows: usize,
    /// The row after the last one of the arguments: everything above it matters for the decision.
    pub arguments_end: usize,
    pub details: Details,
    desk: Option<OnDesk>,
    effect: Option<String>,
    pub folds: Folds,
}

#[derive(Clone, Debug)]
enum Block {
    Rows(Vec<Row>),
    /// One row that may change while the card is read.
    Before(Row),
    Arguments(Paged),
    Text(fn(&Snapshot) -> Option<&str>, Paged),
}

impl Block {
    fn rows(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.len(),
            Self::Before(_) => 1,
            Self::Arguments(paged) | Self::Text(_, paged) => paged.rows,
        }
    }
}

/// A narrower card is laid out as if it were this wide.
const NARROWEST: u16 = 24;

impl Card {
    /// The card of a call on this machine. `offset` is the local time's distance from UTC in seconds.
    pub fn lay(snapshot: &Arc<Snapshot>, width: u16, offset: i32, folds: Folds, details: Details) -> Self {
        Self::lay_on(None, snapshot, width, offset, folds, details)
    }

    /// The same call's card, folded or unfolded otherwise.
    pub fn again(&self, offset: i32, folds: Folds) -> Self {
        Self::lay_on(self.desk.as_ref(), &self.snapshot, self.width, offset, folds, self.details)
    }

    pub fn lay_on(
        desk: Option<&OnDesk>,
        snapshot: &Arc<Snapshot>,
        width: u16,
        offset: i32,
        folds: Folds,
        details: Details,
    ) -> Self {
        let columns = usize::from(width.max(NARROWEST));
        let form = if desk.is_some() { preview::Form::OfAnother } else { preview::Form::Whole };
        let preview = preview::of(snapshot, form, columns);
        let mut card = Self {
            snapshot: Arc::clone(snapshot),
            width,
            blocks: Vec::new(),
            rows: 0,
            arguments_end: 0,
            details,
            desk: desk.cloned(),
            effect: preview.effect,
            folds,
        };
        card.put(Block::Rows(sections::opening(desk, snapshot, card.effect(), columns)));
        card.put(Block::Rows(desk.map(|desk| sections::place(desk, columns)).unwrap_or_default()));
        let before = Block::Before(sections::before(None, "", 0, columns));
        let (above, below) =
            if columns < sections::ROOM_FOR_BEFORE { (None, Some(before)) } else { (Some(before), None) };
        above.into_iter().for_each(|before| card.put(before));
        card.put_edit(columns);
        card.put(Block::Rows(preview.rows));
        card.put(Block::Rows(sections::arguments_caption(snapshot, columns)));
        if !sections::is_without_arguments(snapshot) {
            card.put_arguments(columns);
        }
        card.put_beside("answers to the server's questions", |snapshot| snapshot.responses.as_deref(), columns);
        card.put_beside("beside the arguments, unknown", |snapshot| snapshot.unknown_parts.as_deref(), columns);
        card.arguments_end = card.rows;
        below.into_iter().for_each(|before| card.put(before));
        card.put(Block::Rows(sections::host_below(snapshot, columns)));
        card.put(Block::Rows(vec![sections::fold(details, columns)]));
        if details == Details::Shown {
            card.put_details(columns, offset);
        }
        card
    }

    pub fn tell_before(&mut self, before: Option<&Before>, operator: &str, now: i64) {
        let width = usize::from(self.width.max(NARROWEST));
        for block in &mut self.blocks {
            if let Block::Before(row) = block {
                *row = sections::before(before, operator, now, width);
            }
        }
    }

    /// On a desk, in the place of what was decided before: the log here knows nothing of another machine's calls.
    pub fn tell_around(&mut self, who: &Row) {
        let width = usize::from(self.width.max(NARROWEST));
        for block in &mut self.blocks {
            if let Block::Before(row) = block {
                *row = sections::labelled("who looks").joined(who.clone()).clipped(width);
            }
        }
    }

    fn put_details(&mut self, columns: usize, offset: i32) {
        let snapshot = Arc::clone(&self.snapshot);
        self.put(Block::Rows(sections::reasons(&snapshot, columns)));
        self.put(Block::Rows(sections::server_says(&snapshot, columns)));
        if let Some(description) = &snapshot.description {
            let paged = Paged::lay(description, Vec::new(), Writing::Bare, border("┃ "), columns, Folds::open());
            self.put(Block::Text(|snapshot| snapshot.description.as_deref(), paged));
        }
        self.put(Block::Rows(sections::closing(&snapshot, columns, offset)));
    }

    /// Our line on what the call does: that of the preview if it says more. Foreign text in it is raw.
    pub fn effect(&self) -> &str {
        self.effect.as_deref().unwrap_or(&self.snapshot.effect)
    }

    pub fn window(&self, from: usize, count: usize) -> Vec<Row> {
        let mut out: Vec<Row> = Vec::with_capacity(count);
        let mut skip = from;
        for block in &self.blocks {
            let wanted = count - out.len();
            if wanted == 0 {
                break;
            }
            match block {
                _ if skip >= block.rows() => {}
                Block::Rows(rows) => out.extend(rows.iter().skip(skip).take(wanted).cloned()),
                Block::Before(row) => out.push(row.clone()),
                Block::Arguments(paged) => out.extend(paged.window(&self.snapshot.arguments, skip, wanted)),
                Block::Text(of, paged) => {
                    out.extend(paged.window(of(&self.snapshot).unwrap_or_default(), skip, wanted));
                }
            }
            skip = skip.saturating_sub(block.rows());
        }
        out
    }

    fn arguments(&self) -> Option<(usize, &Paged)> {
        let mut first = 0;
        self.blocks.iter().find_map(|block| {
            first += block.rows();
            if let Block::Arguments(paged) = block { Some((first - paged.rows, paged)) } else { None }
        })
    }

    /// How many parts of the arguments are folded: no row shows what is in them.
    pub fn folded(&self) -> usize {
        self.arguments().map_or(0, |(_, paged)| paged.folded)
    }

    /// The rows that fold or unfold a part of the arguments, among up to `count` rows from row `from` on.
    pub fn anchors(&self, from: usize, count: usize) -> Vec<Anchor> {
        let Some((first, paged)) = self.arguments() else { return Vec::new() };
        let (top, bottom) = (from.max(first), (from + count).min(first + paged.rows));
        let found = paged.anchors(&self.snapshot.arguments, top - first, bottom.saturating_sub(top));
        found.into_iter().map(|anchor| Anchor { row: anchor.row + first, ..anchor }).collect()
    }

    fn put(&mut self, block: Block) {
        self.rows += block.rows();
        self.blocks.push(block);
    }

    fn put_arguments(&mut self, columns: usize) {
        let snapshot = Arc::clone(&self.snapshot);
        let text = &snapshot.arguments;
        let writing = Writing::of(text);
        if writing == Writing::Bare {
            let words = "This cannot be read as JSON; it is shown as it was sent.";
            self.put(Block::Rows(danger(words).wrapped(columns)));
        }
        let margin = match writing {
            Writing::Json => ours(" "),
            Writing::Bare => border(" │ "),
        };
        let paged = Paged::lay(text, snapshot.undeclared.clone(), writing, margin, columns, self.folds.clone());
        self.put(Block::Arguments(paged));
    }

    /// Adds what a call carries beside its arguments: it reaches the server like them, so it must have been read.
    fn put_beside(&mut self, what: &str, of: fn(&Snapshot) -> Option<&str>, columns: usize) {
        let snapshot = Arc::clone(&self.snapshot);
        let Some(text) = of(&snapshot) else { return };
        self.put(Block::Rows(vec![caption(what, &size(text.len()), columns)]));
        let paged = Paged::lay(text, Vec::new(), Writing::of(text), ours(" "), columns, Folds::open());
        self.put(Block::Text(of, paged));
    }

    /// Adds what the operator changed: the differences if the texts are short, otherwise the whole original.
    fn put_edit(&mut self, columns: usize) {
        const MOST_ROWS: usize = 400;
        let snapshot = Arc::clone(&self.snapshot);
        let Some(original) = &snapshot.original_arguments else { return };
        self.put(Block::Rows(vec![caption("edited", "- as received, + as it will be sent", columns)]));
        let lay = |text: &str| Paged::lay(text, Vec::new(), Writing::of(text), ours("  "), columns, Folds::open());
        let (old, new) = (lay(original), lay(&snapshot.arguments));
        if old.rows.max(new.rows) <= MOST_ROWS {
            let (old, new) = (old.window(original, 0, MOST_ROWS), new.window(&snapshot.arguments, 0, MOST_ROWS));
            self.put(Block::Rows(changes(&old, &new)));
        } else {
            self.put(Block::Text(|snapshot| snapshot.original_arguments.as_deref(), old));
        }
    }
}

/// The rows that differ between two short texts, marked `-` as received or `+` as sent, each with a row around.
fn changes(old: &[Row], new: &[Row]) -> Vec<Row> {
    let texts = |rows: &[Row]| rows.iter().map(Row::text).collect::<Vec<_>>();
    let differences = capture_diff_slices(Algorithm::Lcs, &texts(old), &texts(new));
    let (mut rows, mut at) = (Vec::new(), 0);
    for part in group_diff_ops(differences, 1).into_iter().flatten() {
        let (tag, from, to) = part.as_tag_tuple();
        rows.extend(unchanged(from.start - at));
        at = from.end;
        if tag == DiffTag::Equal {
            rows.extend_from_slice(&old[from]);
            continue;
        }
        rows.extend(old[from].iter().map(|row| marked("- ", Tone::Danger, row)));
        rows.extend(new[to].iter().map(|row| marked("+ ", Tone::Good, row)));
    }
    rows.extend(unchanged(old.len() - at));
    rows
}

fn marked(mark: &str, tone: Tone, row: &Row) -> Row {
    let margin = usize::from(row.runs.first().is_some_and(|run| run.text.trim().is_empty()));
    let mut whole = Row::of(tone, mark);
    whole.runs.extend(row.runs.iter().skip(margin).cloned());
    whole
}

fn unchanged(rows: usize) -> Option<Row> {
    (rows > 0).then(|| quiet(format!("  … {} unchanged", counted(rows, "row"))))
}

/// The layout of one text at one width. It keeps no copy of the text: give it the same one every time.
#[derive(Clone, Debug)]
pub struct Paged {
    extents: Extents,
    prefix: Row,
    /// Columns of the rows without their prefix.
    width: usize,
    /// Places to go on from, with the row they begin at; ascending.
    marks: Vec<(usize, Walk)>,
    pub rows: usize,
    folds: Folds,
    /// How many of the rows are folded containers.
    pub folded: usize,
    undeclared: Vec<String>,
}

/// Rows between two marks: at most this many are laid out in vain.
const BETWEEN_MARKS: usize = 128;

impl Paged {
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
            let mut sheet = Sheet::default();
            walk.step(&layout, &mut sheet);
            rows += sheet.rows.len();
            folded += sheet.anchors.iter().filter(|anchor| anchor.fold == Fold::Closed).count();
        }
        Self { extents, prefix, width, marks, rows, folds, folded, undeclared }
    }

    pub fn window(&self, text: &str, from: usize, count: usize) -> Vec<Row> {
        let mut rows = Vec::new();
        self.each(text, from..from + count, |first, sheet| {
            let wanted = sheet.rows.into_iter().skip(from.saturating_sub(first)).take(count - rows.len());
            rows.extend(wanted.map(|row| self.prefix.clone().joined(row)));
        });
        rows
    }

    pub fn anchors(&self, text: &str, from: usize, count: usize) -> Vec<Anchor> {
        let mut found = Vec::new();
        self.each(text, from..from + count, |first, sheet| {
            let placed = sheet.anchors.into_iter().map(|anchor| Anchor { row: anchor.row + first, ..anchor });
            found.extend(placed.filter(|anchor| (from..from + count).contains(&anchor.row)));
        });
        found
    }

    /// Lays out these rows, and some before and behind them, step by step: `take` gets each step with its first row.
    fn each(&self, text: &str, wanted: Range<usize>, mut take: impl FnMut(usize, Sheet)) {
        let after = self.marks.partition_point(|(row, _)| *row <= wanted.start);
        let Some((mut row, mut walk)) = after.checked_sub(1).and_then(|i| self.marks.get(i)).cloned() else { return };
        let Self { extents, width, undeclared, folds, .. } = self;
        let layout = Layout { text, extents, width: *width, undeclared, folds };
        while !walk.is_done() && row < wanted.end {
            let mut sheet = Sheet::default();
            walk.step(&layout, &mut sheet);
            let rows = sheet.rows.len();
            take(row, sheet);
            row += rows;
        }
    }
}
