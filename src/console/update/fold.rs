//! The keys of the tree of arguments: folding, unfolding, and moving between its folds.

use super::moves;
use crate::console::card::{Anchor, Card, Fold, Folds, counted};
use crate::console::model::Model;

/// Rows looked at in one go on the way to the next fold.
const CHUNK: usize = 512;

/// `z`: folds or unfolds at the cursor.
pub(super) fn turn(model: &mut Model) {
    let Some(anchor) = model.fold_cursor() else {
        return model.say("Nothing on screen folds here: Tab goes to the next part that does.");
    };
    let mut folds = model.card.as_ref().map(|card| card.folds.clone()).unwrap_or_default();
    folds.turn(anchor.at);
    model.fold_at = Some(anchor.at);
    lay(model, folds, anchor.row);
}

/// `Z`: unfolds everything; where nothing is folded, folds what is deep or long again.
pub(super) fn turn_all(model: &mut Model) {
    let folded = model.card.as_ref().map_or(0, Card::folded);
    match folded {
        0 => lay(model, Folds::default(), 0),
        _ => unfold_all(model),
    }
    let words = match (folded, model.card.as_ref().map_or(0, Card::folded)) {
        (0, 0) => "Nothing in these arguments is deep or long enough to be folded.".to_owned(),
        (0, now) => format!("{} folded again.", counted(now, "part")),
        (were, _) => format!("{} unfolded.", counted(were, "part")),
    };
    model.say(words);
}

/// Unfolds everything.
pub(super) fn unfold_all(model: &mut Model) {
    let is_folded = |anchor: &Anchor| anchor.fold == Fold::Closed;
    let first = model.card.as_ref().and_then(|card| card.anchors(0, card.rows).into_iter().find(is_folded));
    lay(model, Folds::open(), first.map_or(0, |anchor| anchor.row));
}

/// `Tab`: to the next part that folds, around the end.
pub(super) fn next(model: &mut Model) {
    let here = model.fold_cursor().map(|anchor| anchor.row);
    let Some(card) = &model.card else { return model.warn("Nothing is selected.") };
    let from = here.map_or(model.scroll, |row| row + 1);
    let first = |from: usize, to: usize| {
        (from..to).step_by(CHUNK).find_map(|at| card.anchors(at, CHUNK.min(to - at)).first().copied())
    };
    let Some(anchor) = first(from, card.rows).or_else(|| first(0, from)) else {
        return model.say("Nothing in these arguments folds.");
    };
    model.fold_at = Some(anchor.at);
    let page = model.card_rows();
    if !(model.scroll..model.scroll + page).contains(&anchor.row) {
        // Some rows above it stay visible.
        model.scroll = anchor.row.saturating_sub(page / 4);
    }
}

/// A click on a row of the card: folds or unfolds what begins there.
pub(super) fn click(model: &mut Model, row: usize) {
    let at = model.card.as_ref().and_then(|card| card.anchors(row, 1).first().map(|anchor| anchor.at));
    if at.is_some() {
        model.fold_at = at;
        turn(model);
    }
}

/// The same card, folded otherwise, from the same row on. Its rows before `changed` are the same.
fn lay(model: &mut Model, folds: Folds, changed: usize) {
    let Some(card) = &model.card else { return };
    let card = Card::lay(&card.snapshot, card.width, model.settings.offset, folds, card.details);
    model.card = Some(card);
    model.shown.keep_before(changed);
    moves::settle(model);
}
