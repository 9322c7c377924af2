//! The card: everything the operator reads about one held call, laid out once per snapshot and width.
//!
//! Our own words come first, then every byte of the arguments, then what the server says of itself, framed as such.
//! Nothing in it depends on the time, so drawing only copies rows.

mod diff;
mod folds;
mod json;
mod paged;
mod preview;
mod region;
mod sections;
mod sheet;
mod token;
mod undeclared;
mod walk;

use std::sync::Arc;

use super::caption::caption;
use super::row::{Row, border, danger, ours};
use crate::gate::data::snapshot::Snapshot;
use paged::{Paged, Writing};

pub use crate::wire::number::{counted, grouped};
pub use folds::{Anchor, Fold, Folds};
pub use sections::nearest;
pub use token::size;

/// A card's rows at one width.
#[derive(Clone, Debug)]
pub struct Card {
    pub snapshot: Arc<Snapshot>,
    undeclared: Vec<String>,
    pub width: u16,
    blocks: Vec<Block>,
    pub rows: usize,
    /// Just behind the last row of the arguments: up to here everything bears on the decision.
    pub arguments_end: usize,
    pub details: Details,
    effect: Option<String>,
    pub folds: Folds,
}

/// Whether what no decision needs is shown: who says what the call is, the checks, digests and times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Details {
    #[default]
    Folded,
    Shown,
}

#[derive(Clone, Debug)]
enum Block {
    Rows(Vec<Row>),
    Paged(Field, Paged),
}

/// Which text of the snapshot a paged block shows.
#[derive(Clone, Copy, Debug)]
enum Field {
    Arguments,
    Responses,
    UnknownParts,
    Original,
    Description,
}

impl Block {
    fn rows(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.len(),
            Self::Paged(_, paged) => paged.rows(),
        }
    }
}

impl Card {
    /// Lays out a card, with its arguments folded as they were, and its details as they are wanted. `offset` is the local
    /// time's distance from UTC in seconds.
    pub fn lay(snapshot: &Arc<Snapshot>, width: u16, offset: i32, folds: Folds, details: Details) -> Self {
        const NARROWEST: u16 = 24;
        let columns = usize::from(width.max(NARROWEST));
        let mut undeclared = snapshot.undeclared.clone();
        undeclared.sort();
        let preview = preview::of(snapshot, columns);
        let mut card = Self {
            snapshot: Arc::clone(snapshot),
            undeclared,
            width,
            blocks: Vec::new(),
            rows: 0,
            arguments_end: 0,
            details,
            effect: preview.effect,
            folds,
        };
        card.put(Block::Rows(sections::opening(snapshot, card.effect(), columns)));
        card.put_edit(columns);
        card.put(Block::Rows(preview.rows));
        card.put(Block::Rows(sections::arguments_caption(snapshot, columns)));
        if !sections::is_without_arguments(snapshot) {
            card.put_arguments(columns);
        }
        card.put_beside(Field::Responses, snapshot.responses.as_deref(), columns);
        card.put_beside(Field::UnknownParts, snapshot.unknown_parts.as_deref(), columns);
        card.arguments_end = card.rows;
        card.put(Block::Rows(sections::host_below(snapshot, columns)));
        card.put(Block::Rows(vec![sections::fold(details, columns)]));
        if details == Details::Shown {
            card.put_details(columns, offset);
        }
        card
    }

    fn put_details(&mut self, columns: usize, offset: i32) {
        let snapshot = Arc::clone(&self.snapshot);
        self.put(Block::Rows(sections::reasons(&snapshot, columns)));
        self.put(Block::Rows(sections::server_says(&snapshot, columns)));
        if let Some(description) = &snapshot.description {
            let bar = border("┃ ");
            let paged = Paged::lay(description, &[], Writing::Bare, bar, columns, Folds::open());
            self.put(Block::Paged(Field::Description, paged));
        }
        self.put(Block::Rows(sections::closing(&snapshot, columns, offset)));
    }

    /// Our line on what the call does: from the preview where that knows more. Foreign text in it is raw.
    pub fn effect(&self) -> &str {
        self.effect.as_deref().unwrap_or(&self.snapshot.effect)
    }

    /// Up to `count` rows from row `from` on.
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
                Block::Paged(field, paged) => {
                    out.extend(paged.window(self.text(*field), &self.undeclared, skip, wanted));
                }
            }
            skip = skip.saturating_sub(block.rows());
        }
        out
    }

    /// How many parts of the arguments are folded: what is in them is on no row.
    pub fn folded(&self) -> usize {
        let of = |block: &Block| match block {
            Block::Paged(Field::Arguments, paged) => paged.folded(),
            Block::Paged(..) | Block::Rows(_) => 0,
        };
        self.blocks.iter().map(of).sum()
    }

    /// The rows that fold or unfold a part of the arguments, among up to `count` rows from row `from` on.
    pub fn anchors(&self, from: usize, count: usize) -> Vec<Anchor> {
        let mut first = 0;
        for block in &self.blocks {
            let end = first + block.rows();
            if let Block::Paged(Field::Arguments, paged) = block {
                let (top, bottom) = (from.max(first), (from + count).min(end));
                let found = paged.anchors(
                    self.text(Field::Arguments),
                    &self.undeclared,
                    top - first,
                    bottom.saturating_sub(top),
                );
                return found.into_iter().map(|anchor| Anchor { row: anchor.row + first, ..anchor }).collect();
            }
            first = end;
        }
        Vec::new()
    }

    fn text(&self, field: Field) -> &str {
        match field {
            Field::Arguments => &self.snapshot.arguments,
            Field::Responses => self.snapshot.responses.as_deref().unwrap_or_default(),
            Field::UnknownParts => self.snapshot.unknown_parts.as_deref().unwrap_or_default(),
            Field::Original => self.snapshot.original_arguments.as_deref().unwrap_or_default(),
            Field::Description => self.snapshot.description.as_deref().unwrap_or_default(),
        }
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
        let paged = Paged::lay(text, &self.undeclared, writing, margin, columns, self.folds.clone());
        self.put(Block::Paged(Field::Arguments, paged));
    }

    /// What a call brings beside its arguments: it reaches the server like them, so it must have been read.
    fn put_beside(&mut self, field: Field, text: Option<&str>, columns: usize) {
        let Some(text) = text else { return };
        let what = match field {
            Field::UnknownParts => "beside the arguments, unknown",
            Field::Responses | Field::Arguments | Field::Original | Field::Description => {
                "answers to the server's questions"
            }
        };
        self.put(Block::Rows(vec![caption(what, &size(text.len()), columns)]));
        let paged = Paged::lay(text, &[], Writing::of(text), ours(" "), columns, Folds::open());
        self.put(Block::Paged(field, paged));
    }

    /// What the operator changed: as differences where the texts are short, else the whole original.
    fn put_edit(&mut self, columns: usize) {
        const MOST_ROWS: usize = 400;
        let snapshot = Arc::clone(&self.snapshot);
        let Some(original) = &snapshot.original_arguments else { return };
        self.put(Block::Rows(vec![caption("edited", "- as received, + as it will be sent", columns)]));
        let margin = ours("  ");
        let lay = |text: &str| Paged::lay(text, &[], Writing::of(text), margin.clone(), columns, Folds::open());
        let (old, new) = (lay(original), lay(&snapshot.arguments));
        if old.rows().max(new.rows()) <= MOST_ROWS {
            let old = old.window(original, &[], 0, MOST_ROWS);
            let new = new.window(&snapshot.arguments, &[], 0, MOST_ROWS);
            self.put(Block::Rows(diff::changes(&old, &new)));
        } else {
            self.put(Block::Paged(Field::Original, old));
        }
    }
}
