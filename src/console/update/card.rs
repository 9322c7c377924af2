//! The keys of the card: scrolling, folds, finding words around its end, its arguments in the editor or on the clipboard.

use serde_json::Value;

use super::{decide, select};
use crate::console::card::{Anchor, Card, Details, Fold, Folds, size};
use crate::console::keymap::Action;
use crate::console::model::{Armed, CallState, Command, Edit, Model, Overlay, Reach, Screen};
use crate::link::message::FromConsole;
use crate::text::plain;
use crate::wire::number::counted;

/// Rows looked at in one go.
const CHUNK: usize = 512;

pub(super) fn scroll(model: &mut Model, action: Action) {
    let rows = model.card.laid.as_ref().map_or(0, |card| card.rows);
    model.card.scroll = match (action, &model.card.laid) {
        (Action::Bottom, Some(card)) if model.card.scroll + model.card_rows() < card.arguments_end => {
            card.arguments_end.saturating_sub(model.card_rows())
        }
        _ => select::moved(model.card.scroll, action, model.card_rows(), rows),
    };
}

/// `i`: shows the details of the card, or folds them.
pub(super) fn details(model: &mut Model) {
    model.card.details = match model.card.details {
        Details::Folded => Details::Shown,
        Details::Shown => Details::Folded,
    };
    select::lay_card(model);
    if let (Details::Shown, Some(card)) = (model.card.details, &model.card.laid) {
        model.card.scroll = card.arguments_end;
    }
}

/// How often what a card on screen would touch is looked at again, in milliseconds.
const REFRESH: i64 = 2_000;
/// The same, where it changes every time.
const REFRESH_BUSY: i64 = 30_000;

/// How often the other operators of a desk hear who looks at a call, in milliseconds.
const SEEN: i64 = 60_000;

/// Asks the wrapper to look again at what the call on screen would touch.
pub(super) fn refresh(model: &mut Model) {
    let Some(armed) = model.drawn.as_ref().map(|drawn| drawn.armed.clone()) else { return };
    let Some(held) = model.still(&armed) else { return };
    let pause = if held.snapshot.asked_again.is_some() { REFRESH_BUSY } else { REFRESH };
    let drawn = model.drawn.as_ref().map_or(0, |drawn| drawn.since);
    let since = drawn.max(model.card.looked_at);
    let (is_due, since) = match model.settings.reach {
        Reach::Own => (!held.snapshot.facts.is_empty(), since),
        // On a desk it tells the others who looks at it: soon after it is shown, and again while it is.
        Reach::Desk if model.card.looked_at < drawn => (true, drawn),
        Reach::Desk => (true, model.card.looked_at + SEEN - pause),
    };
    if !is_due || model.now - since < pause {
        return;
    }
    model.card.looked_at = model.now;
    model.send(&armed, |ticket, digest| FromConsole::Look { ticket, digest });
}

/// `z`: folds or unfolds at the cursor.
pub(super) fn fold(model: &mut Model) {
    let Some(anchor) = model.fold_cursor() else {
        return model.say("Nothing on screen folds here: Tab goes to the next part that does.");
    };
    let mut folds = model.card.laid.as_ref().map(|card| card.folds.clone()).unwrap_or_default();
    folds.turn(anchor.at);
    model.card.fold_at = Some(anchor.at);
    lay(model, folds, anchor.row);
}

/// `Z`: unfolds everything; where nothing is folded, folds what is deep or long again.
pub(super) fn fold_all(model: &mut Model) {
    let folded = model.card.laid.as_ref().map_or(0, Card::folded);
    match folded {
        0 => lay(model, Folds::default(), 0),
        _ => unfold_all(model),
    }
    let words = match (folded, model.card.laid.as_ref().map_or(0, Card::folded)) {
        (0, 0) => "Nothing in these arguments is deep or long enough to be folded.".to_owned(),
        (0, now) => format!("{} folded again.", counted(now, "part")),
        (were, _) => format!("{} unfolded.", counted(were, "part")),
    };
    model.say(words);
}

fn unfold_all(model: &mut Model) {
    let is_folded = |anchor: &Anchor| anchor.fold == Fold::Closed;
    let first = model.card.laid.as_ref().and_then(|card| card.anchors(0, card.rows).into_iter().find(is_folded));
    lay(model, Folds::open(), first.map_or(0, |anchor| anchor.row));
}

/// `Tab`: to the next part that folds, around the end.
pub(super) fn next_fold(model: &mut Model) {
    let here = model.fold_cursor().map(|anchor| anchor.row);
    let Some(card) = &model.card.laid else { return model.warn("Nothing is selected.") };
    let from = here.map_or(model.card.scroll, |row| row + 1);
    let first = |from: usize, to: usize| {
        (from..to).step_by(CHUNK).find_map(|at| card.anchors(at, CHUNK.min(to - at)).first().copied())
    };
    let Some(anchor) = first(from, card.rows).or_else(|| first(0, from)) else {
        return model.say("Nothing in these arguments folds.");
    };
    model.card.fold_at = Some(anchor.at);
    let page = model.card_rows();
    if !(model.card.scroll..model.card.scroll + page).contains(&anchor.row) {
        // Some rows above it stay visible.
        model.card.scroll = anchor.row.saturating_sub(page / 4);
    }
}

/// A click on a row of the card: folds or unfolds what begins there.
pub(super) fn fold_at(model: &mut Model, row: usize) {
    let at = model.card.laid.as_ref().and_then(|card| card.anchors(row, 1).first().map(|anchor| anchor.at));
    if at.is_some() {
        model.card.fold_at = at;
        fold(model);
    }
}

/// The same card, folded otherwise, from the same row on. Its rows before `changed` are the same.
fn lay(model: &mut Model, folds: Folds, changed: usize) {
    let Some(card) = &model.card.laid else { return };
    let card = card.again(model.settings.offset, folds);
    model.card.laid = Some(card);
    model.card.shown.keep_before(changed);
    select::settle(model);
}

/// `/`: asks for the words; the last ones are there already.
pub(super) fn find(model: &mut Model) {
    if model.card.laid.is_none() {
        return model.warn("Nothing is selected.");
    }
    model.overlay = Some(Overlay::Find { text: String::new() });
}

/// `Enter`: goes to the first place from here on.
pub(super) fn seek(model: &mut Model) {
    let Some(Overlay::Find { text }) = model.overlay.take() else { return };
    if !text.trim().is_empty() {
        model.card.sought = text;
    }
    if model.card.sought.is_empty() {
        return;
    }
    model.screen = Screen::Detail;
    seek_from(model, Action::NextHit, model.card.scroll);
}

/// `n` and `N`: the next place, the one before.
pub(super) fn again(model: &mut Model, action: Action) {
    if model.card.sought.is_empty() {
        return model.say("/ says what to find.");
    }
    // From the last place, as long as it is on screen.
    let on_screen = model.card.scroll..model.card.scroll + model.card_rows();
    let here = model.card.found.filter(|row| on_screen.contains(row));
    let from = match (action, here) {
        (Action::PreviousHit, here) => here.unwrap_or(model.card.scroll),
        (_, Some(here)) => here + 1,
        (_, None) => model.card.scroll,
    };
    seek_from(model, action, from);
}

fn seek_from(model: &mut Model, action: Action, from: usize) {
    // Words in a folded part are words on the card.
    if model.card.laid.as_ref().is_some_and(|card| card.folded() > 0) {
        unfold_all(model);
    }
    let Some(card) = &model.card.laid else { return };
    let found = card.find(&model.card.sought, action, from);
    let (last, rows) = (card.rows.saturating_sub(model.card_rows().max(1)), card.rows);
    model.card.found = found;
    let Some(row) = found else {
        return model.warn("No matches on the card.");
    };
    let around = match action {
        Action::PreviousHit => row >= from,
        _ => row < from,
    };
    // Near the end, the row is on screen without being the first.
    model.card.scroll = row.min(last);
    let place = format!("Found on row {} of {rows}", row + 1);
    model.say(format!("{place}{}", if around { ", around the end." } else { "." }));
}

impl Card {
    /// The next row from `from` on that has the words or, for the previous one, the last row before; around the end.
    fn find(&self, words: &str, action: Action, from: usize) -> Option<usize> {
        let hits = |from: usize, to: usize| {
            (from..to).step_by(CHUNK).flat_map(move |at| self.hits(words, at, CHUNK.min(to - at)))
        };
        match action {
            Action::PreviousHit => hits(0, from).next_back().or_else(|| hits(from, self.rows).next_back()),
            _ => hits(from, self.rows).next().or_else(|| hits(0, from).next()),
        }
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
        (0..count.min(rows.len())).filter(has).map(|i| from + i).collect()
    }
}

/// `e`: opens the editor on the armed call, or again on a text that could not be read.
pub(super) fn edit(model: &mut Model) {
    if let Some(Overlay::Unreadable { armed, text, .. }) = model.overlay.clone() {
        model.overlay = None;
        return model.todo.push(Command::OpenEditor { armed, text });
    }
    let Some(armed) = decide::armed(model) else { return };
    let text = model.still(&armed).and_then(|held| for_editor(&held.snapshot.arguments));
    match text {
        Some(text) => model.todo.push(Command::OpenEditor { armed, text }),
        None => model.refuse("These arguments cannot be read as JSON, so they cannot be edited."),
    }
}

/// `Y`: the arguments for the clipboard, on one line, hidden characters as JSON escapes.
pub(super) fn copy(model: &mut Model) {
    /// How many bytes a terminal takes at once.
    const LONGEST: usize = 70_000;
    let Some(held) = model.queue.selection() else {
        return model.warn("Nothing is selected.");
    };
    let arguments = &held.snapshot.arguments;
    let value = serde_json::from_str::<Value>(arguments).ok().and_then(|value| serde_json::to_string(&value).ok());
    let text = escaped(value.as_deref().unwrap_or(arguments));
    if text.len() > LONGEST {
        return model.warn("These arguments are too long for a terminal's clipboard; e opens them in your editor.");
    }
    let words = format!("{} copied, where the terminal allows it.", size(text.len()));
    model.say(words);
    model.note_until = Some(model.now + 4_000);
    model.todo.push(Command::Copy(text));
}

pub(super) fn edited(model: &mut Model, armed: Armed, outcome: Edit) {
    let text = match outcome {
        Edit::Unchanged => {
            return model.say("Nothing was changed.");
        }
        Edit::Failed(why) => {
            return model.warn(why);
        }
        Edit::Text(text) => text,
    };
    // The edited call gets a new card, so an old one does not matter here.
    let Some(held) = model.waits(&armed) else {
        return model.warn("Too late: the call no longer waits as it was shown. The edit was dropped.");
    };
    // The same value with other white space is no edit.
    if for_editor(&held.snapshot.arguments) == for_editor(&text) {
        return model.say("Nothing was changed.");
    }
    if let Err(problem) = object(&text) {
        model.overlay = Some(Overlay::Unreadable { armed, text, problem });
        return;
    }
    if let Some(held) = model.queue.call_mut(armed.key()) {
        held.state = CallState::EditSent;
    }
    let arguments = text.trim().to_owned();
    model.send(&armed, |ticket, digest| FromConsole::Edit { ticket, digest, arguments });
    model.todo.push(Command::Drain);
}

fn object(text: &str) -> Result<(), String> {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(_)) => Ok(()),
        Ok(_) => Err("line 1: arguments are one JSON object, { … }".to_owned()),
        Err(error) => {
            let what = error.to_string();
            let what = what.split(" at line ").next().unwrap_or_default();
            Err(format!("line {}, column {}: {what}", error.line(), error.column()))
        }
    }
}

/// The arguments as they are in the editor: indented, numbers and order kept, hidden characters as JSON escapes.
fn for_editor(arguments: &str) -> Option<String> {
    let value: Value = serde_json::from_str(arguments).ok()?;
    let pretty = serde_json::to_string_pretty(&value).ok()?;
    Some(escaped(&pretty) + "\n")
}

fn escaped(json: &str) -> String {
    plain::json_escaped(json, |c| c != '\n' && plain::hides(c))
}
