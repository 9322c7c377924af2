//! The last line: the keys that do something here, or the one thing that must be said.

use crate::console::keymap::{Action, BINDINGS, Place};
use crate::console::model::{Model, Unarmed};
use crate::console::row::{Row, Tone};

/// The line at a given width.
pub(super) fn row(model: &Model, width: u16) -> Row {
    if let Some(note) = &model.note {
        return Row::of(Tone::Ours, " ").joined(note.clone());
    }
    let place = model.place();
    let width = usize::from(width);
    let unarmed = model.armed().err();
    let mut row = Row::of(Tone::Ours, " ");
    let help = hint("?", "help", Tone::Key);
    let reserved = if place == Place::Help {
        0
    } else {
        help.width()
    };
    for binding in BINDINGS {
        if !binding.places.contains(&place) || !is_worth_a_hint(binding.action, place) {
            continue;
        }
        let tone = match (decides(binding.action), unarmed) {
            (true, Some(_)) => Tone::Quiet,
            _ => Tone::Key,
        };
        let hint = hint(binding.shown, binding.name, tone);
        if row.width() + hint.width() + reserved > width {
            break;
        }
        row = row.joined(hint);
    }
    if unarmed == Some(Unarmed::Nothing) || place != Place::Help {
        row = row.joined(help);
    }
    row
}

fn hint(key: &str, name: &str, tone: Tone) -> Row {
    Row::of(tone, key).and(Tone::Quiet, format!(" {name}  "))
}

fn decides(action: Action) -> bool {
    matches!(
        action,
        Action::Approve | Action::ApproveUnread | Action::Deny | Action::Edit
    )
}

/// Help comes last in any case; what every list does need not be said on every screen.
fn is_worth_a_hint(action: Action, place: Place) -> bool {
    match action {
        Action::Help => place == Place::Help,
        Action::Up | Action::PageUp | Action::Top => false,
        Action::Back => place != Place::Queue,
        _ => true,
    }
}
