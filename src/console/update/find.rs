//! Finds words in the card, whatever their case: from the place on screen on, and past the end from the top again.

use super::fold;
use crate::console::card::Card;
use crate::console::keymap::Action;
use crate::console::model::{Model, Overlay, Screen};

/// `/`: asks for the words; the last ones are there already.
pub(super) fn open(model: &mut Model) {
    if model.card.is_none() {
        return model.warn("Nothing is selected.");
    }
    model.overlay = Some(Overlay::Find { text: String::new() });
}

/// `Enter`: goes to the first place from here on.
pub(super) fn seek(model: &mut Model) {
    let Some(Overlay::Find { text }) = model.overlay.take() else { return };
    if !text.trim().is_empty() {
        model.sought = text;
    }
    if model.sought.is_empty() {
        return;
    }
    model.screen = Screen::Detail;
    go(model, Action::NextHit, model.scroll);
}

/// `n` and `N`: the next place, the one before.
pub(super) fn again(model: &mut Model, action: Action) {
    if model.sought.is_empty() {
        return model.say("/ says what to find.");
    }
    // From the last place, as long as it is on screen.
    let on_screen = model.scroll..model.scroll + model.card_rows();
    let here = model.found.filter(|row| on_screen.contains(row));
    let from = match (action, here) {
        (Action::PreviousHit, here) => here.unwrap_or(model.scroll),
        (_, Some(here)) => here + 1,
        (_, None) => model.scroll,
    };
    go(model, action, from);
}

fn go(model: &mut Model, action: Action, from: usize) {
    // Words in a folded part are words on the card.
    if model.card.as_ref().is_some_and(|card| card.folded() > 0) {
        fold::unfold_all(model);
    }
    let Some(card) = &model.card else { return };
    let found = match action {
        Action::PreviousHit => card.find_before(&model.sought, from),
        _ => card.find_from(&model.sought, from),
    };
    let (last, rows) = (card.rows.saturating_sub(model.card_rows().max(1)), card.rows);
    model.found = found;
    let Some(row) = found else {
        return model.warn("No matches on the card.");
    };
    let around = match action {
        Action::PreviousHit => row >= from,
        _ => row < from,
    };
    // Near the end, the row is on screen without being the first.
    model.scroll = row.min(last);
    let place = format!("Found on row {} of {rows}", row + 1);
    model.say(format!("{place}{}", if around { ", around the end." } else { "." }));
}

impl Card {
    /// The first row from `from` on that has the words, around the end.
    pub fn find_from(&self, words: &str, from: usize) -> Option<usize> {
        self.search(words, from, self.rows).or_else(|| self.search(words, 0, from))
    }

    /// The last row before `from` that has the words, around the beginning.
    pub fn find_before(&self, words: &str, from: usize) -> Option<usize> {
        self.search_back(words, 0, from).or_else(|| self.search_back(words, from, self.rows))
    }

    fn search(&self, words: &str, from: usize, to: usize) -> Option<usize> {
        let first = |at: usize| Some(at + self.hits(words, at, CHUNK.min(to - at)).first()?);
        (from..to).step_by(CHUNK).find_map(first)
    }

    fn search_back(&self, words: &str, from: usize, to: usize) -> Option<usize> {
        let last = |at: usize| Some(at + self.hits(words, at, CHUNK.min(to - at)).last()?);
        (from..to).step_by(CHUNK).rev().find_map(last)
    }

    /// The rows of a window that have the words, or begin them where the row is wrapped.
    fn hits(&self, words: &str, from: usize, count: usize) -> Vec<usize> {
        let needle = words.to_lowercase();
        let rows: Vec<String> = self.window(from, count + 1).iter().map(|row| row.text().to_lowercase()).collect();
        let has = |i: &usize| {
            let Some(row) = rows.get(*i) else { return false };
            if row.contains(&needle) {
                return true;
            }
            // Words may be broken over two rows; the border of the second is not part of them.
            let Some(next) = rows.get(i + 1).filter(|next| !next.contains(&needle)) else { return false };
            let next = next.trim_start_matches([' ', '│', '┃']);
            format!("{row}{next}").contains(&needle)
        };
        (0..count.min(rows.len())).filter(has).collect()
    }
}

/// Rows looked at in one go.
const CHUNK: usize = 512;
