//! The keys on a change that waits: read to its end, Enter twice accepts. And the keys of Rules: end, remove, take back.

use super::{Command, moves, note};
use crate::console::keymap::Action;
use crate::console::model::review::{Change, Review};
use crate::console::model::rule::RuleStage;
use crate::console::model::{ARMING, Model, Overlay, RuleEntry};
use crate::console::row::{Row, Tone};
use crate::console::screen::content_rows;
use crate::console::update::RuleChange;
use crate::console::view;
use crate::link::message::FromConsole;

/// `Enter` on a change that waits, in Rules; `false` where something else is selected.
pub(super) fn open(model: &mut Model) -> bool {
    let Some(RuleEntry::Waits { session, pending }) = model.browse.rule_lines.get(model.browse.rules.at) else {
        return false;
    };
    let change = Change::Policy { session: session.clone(), pending: (**pending).clone() };
    model.overlay = Some(Overlay::Review(Review { change, top: 0, stage: RuleStage::Choosing, opened: model.now }));
    true
}

/// Moves in the rows of the change.
pub(super) fn go(model: &mut Model, action: Action) {
    let below = view::review::rows_below(model);
    let room = content_rows(model.areas().body);
    let Some(Overlay::Review(review)) = &mut model.overlay else { return };
    review.top = moves::moved(review.top, action, room, review.top + room + below);
}

/// `Enter`: reads on, asks once, then accepts what is on show.
pub(super) fn enter(model: &mut Model) -> Vec<Command> {
    if view::review::rows_below(model) > 0 {
        go(model, Action::PageDown);
        return Vec::new();
    }
    let now = model.now;
    let Some(Overlay::Review(review)) = &mut model.overlay else { return Vec::new() };
    match review.stage {
        RuleStage::Choosing => {
            review.stage = RuleStage::Sure { since: now };
            // What was typed ahead is not for this question.
            vec![Command::Drain]
        }
        RuleStage::Sure { since } if now - since < ARMING => {
            super::passing_note(model, Tone::Warn, "The question has just come up: no key answers it yet.");
            Vec::new()
        }
        RuleStage::Sure { .. } => {
            let change = review.change.clone();
            model.overlay = None;
            let Change::Policy { session, pending } = change else {
                return super::tool::accepted(change).map(Command::Settle).into_iter().collect();
            };
            let row = Row::of(Tone::Good, "Acceptance sent: ").and_foreign(Tone::Ours, &pending.file);
            model.note = Some(row.and(Tone::Quiet, ". It counts for every server within a second."));
            let message = FromConsole::AcceptPolicy { file: pending.file, digest: pending.digest };
            vec![Command::Send { session, message }]
        }
    }
}

/// `x` in Rules: ends the grant, or removes the rule.
pub(super) fn end(model: &mut Model) -> Vec<Command> {
    let browse = &model.browse;
    match browse.rule_lines.get(browse.rules.at) {
        Some(RuleEntry::Grant { session, card, .. }) => {
            let (session, grant) = (session.clone(), card.id.clone());
            note(model, Tone::Ours, format!("Ending {grant}: its calls are asked again."));
            vec![Command::Send { session, message: FromConsole::EndGrant { grant } }]
        }
        Some(RuleEntry::Rule(line)) => {
            let book = browse.book.as_ref();
            let rule = line.at.zip(book).and_then(|(at, book)| Some((book.rules.get(at)?, book)));
            let file = rule.and_then(|(rule, book)| book.files.get(rule.file)).map(|file| file.path.clone());
            match file {
                None => note(model, Tone::Ours, "This rule stands in no file any more; the log only remembers it."),
                Some(file) => return vec![Command::ChangeRules(RuleChange::Remove { id: line.id.clone(), file })],
            }
            Vec::new()
        }
        Some(RuleEntry::Waits { .. }) => {
            note(
                model,
                Tone::Ours,
                "A change that waits loosens nothing. Enter shows it; take it out of the file by hand, or with u.",
            );
            Vec::new()
        }
        None => Vec::new(),
    }
}

/// What became of a removal or an undo: what was done, or why it was not.
pub(super) fn changed(model: &mut Model, outcome: Result<String, String>) -> Vec<Command> {
    model.browse.read = None;
    model.note = Some(match outcome {
        Ok(what) => Row::default().and_foreign(Tone::Good, &what),
        Err(why) => Row::of(Tone::Warn, "Nothing was changed: ").and_foreign(Tone::Warn, &why),
    });
    Vec::new()
}
