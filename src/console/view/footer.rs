//! The last line: the keys that do something here, or the one thing that must be said.

use std::borrow::Cow;

use crate::audit::fields::Field;
use crate::console::found::LogRows;
use crate::console::keymap::{Action, BINDINGS, CARD, Keys, LISTS, Place, decides};
use crate::console::model::{Change, Held, Model, Offer, Overlay, RuleEntry, Sort, Subject, ToolLine};
use crate::console::pages;
use crate::console::row::{Row, Tone, warn};
use crate::console::screen::Sides;
use crate::link::message::PinOffer;

/// The note, else the keys.
pub(super) fn rows(model: &Model, width: u16) -> Vec<Row> {
    match &model.note {
        Some(_) => model.note_rows(),
        None => vec![keys(model, width)],
    }
}

fn keys(model: &Model, width: u16) -> Row {
    let place = model.place();
    let width = usize::from(width);
    let tone = |action| match model.armed() {
        Err(_) if decides(action) && action != Action::DenyServer && CARD.contains(&place) => Tone::Quiet,
        _ => Tone::Key,
    };
    let hints: Vec<Row> = BINDINGS
        .iter()
        .filter(|binding| {
            binding.places.contains(&place)
                && is_worth_a_hint(binding.action, place)
                && (binding.action != Action::Bottom || rest_of_card(model, place).is_none())
                && (binding.action != Action::Number || on_a_grant(model))
                && (binding.action != Action::Accept || !only_read(model))
                && (binding.action != Action::ApproveUnread || is_unread(model))
                && (binding.action != Action::Refuse || on_a_definition(model))
                && (!offers(binding.action, place) || is_offered(model, binding.action, place))
                && (binding.action != Action::Undo || place != Place::Tools || model.browse.undo.is_some())
                && (model.selected.is_some() || !needs_a_call(binding.action, place))
                && (!is_ended(model, place) || !needs_a_waiting_call(binding.action))
        })
        .filter_map(|binding| match binding.action {
            Action::Waiting => Some(screens(&model.settings.keys)),
            _ => {
                let name = here(model, binding.action, place).unwrap_or_else(|| Some(binding.name.into()))?;
                Some(hint(model.settings.keys.shown(binding), &name, tone(binding.action)))
            }
        })
        .collect();
    // The way to what is still below, and help, are named whatever else has no room.
    let help = (knows_help(place) && place != Place::Help).then(|| hint("?", "help", Tone::Key));
    let last = match (rest_of_card(model, place), help) {
        (Some(end), Some(help)) => Some(end.joined(help)),
        (end, help) => end.or(help),
    };
    let room = width.saturating_sub(last.as_ref().map_or(0, Row::width));
    let mut row = warn(if model.is_arming() { " arming  " } else { " " });
    for hint in hints {
        if row.width() + hint.width() > room {
            break;
        }
        row = row.joined(hint);
    }
    row.joined(last.unwrap_or_default())
}

/// What an action does here and now, where its name does not say it; `Some(None)` where it does nothing.
fn here(model: &Model, action: Action, place: Place) -> Option<Option<Cow<'static, str>>> {
    let list = model.browse.list(model.screen).filter(|_| LISTS.contains(&place));
    match (action, place) {
        (Action::Approve | Action::ApproveUnread | Action::Deny, Place::Queue | Place::Detail) => {
            let verb = if action == Action::Deny { "deny" } else { "approve" };
            let unread = if action == Action::ApproveUnread { " unread" } else { "" };
            let alike = || model.selected_group().map_or(1, |group| group.count());
            match (model.marked_calls().len(), alike()) {
                (0, 1) => None,
                (0, all) => Some(Some(format!("{verb} all {all}{unread}").into())),
                // The title says how many.
                (_, _) => Some(Some(format!("{verb} marked{unread}").into())),
            }
        }
        (Action::Mark, Place::Queue) => {
            let marked = model.selected.as_ref().is_some_and(|key| model.marked.contains(key));
            marked.then_some(Some("unmark".into()))
        }
        (Action::NextServer, _) => (model.sort != Sort::Server).then_some(None),
        (Action::Open, Place::Queue) => Some(Some("full card".into())),
        // What is open closes with Esc, which is named beside it.
        (Action::Open, Place::Detail) => Some(None),
        (Action::Open | Action::Rule | Action::Edit | Action::End | Action::Switch, _)
            if list.is_some() && pages::count(model) == 0 =>
        {
            Some(None)
        }
        (Action::Open, Place::Activity) => Some(Some("its record".into())),
        (Action::Open, Place::Tools) if is_to_review(model) => Some(Some("review".into())),
        (Action::Open, _) if list.is_some_and(|list| list.sheet.is_some()) => Some(None),
        (Action::Open, Place::Log | Place::Tools | Place::Servers) if is_beside(model) => {
            Some(Some("scroll it".into()))
        }
        (Action::Back, _) if list.is_some_and(|list| list.sheet.is_none() && !list.find.is_empty()) => {
            Some(Some("drop search".into()))
        }
        (Action::Group, Place::Log) if list?.search.asks_for(Field::Kind) => Some(None),
        (Action::Group, Place::Log) => Some(Some(match model.browse.rows() {
            LogRows::Calls => "every record".into(),
            LogRows::Records => "one row a call".into(),
        })),
        (Action::Rule, Place::Log) => {
            let line = model.browse.window.lines.get(model.browse.log.at)?;
            (line.ticket.is_none() || line.tool.is_none()).then_some(None)
        }
        (Action::Open | Action::End | Action::Switch | Action::Edit, Place::Rules) => {
            let line = model.browse.rule_lines.get(model.browse.rules.at)?;
            let name = match (action, line) {
                (Action::Open, RuleEntry::Waits { .. } | RuleEntry::Suggested(_)) => "review",
                (Action::Open, _) if is_beside(model) => "scroll it",
                (Action::Open, _) => return None,
                (Action::End, RuleEntry::Rule(_)) => "remove",
                (Action::End, RuleEntry::Grant { .. }) => "end",
                (Action::End, RuleEntry::Suggested(_)) => "drop",
                (_, RuleEntry::Rule(_)) => return None,
                (_, RuleEntry::Waits { .. } | RuleEntry::Suggested(_) | RuleEntry::Grant { .. }) => return Some(None),
            };
            Some(Some(name.into()))
        }
        _ => None,
    }
}

/// Whether Enter on the open sheet of Tools begins the review of its definition.
fn is_to_review(model: &Model) -> bool {
    let list = &model.browse.tools;
    let line = model.browse.tool_lines.get(list.at);
    list.sheet.is_some() && line.is_some_and(|line| line.wants_review() && line.subject != Subject::Tool)
}

/// Whether an action is for a card or a list that offers it.
fn offers(action: Action, place: Place) -> bool {
    let marks_tools = action == Action::Mark && place == Place::Tools;
    marks_tools || matches!(action, Action::Reads | Action::Changes | Action::PlainText)
}

fn is_offered(model: &Model, action: Action, place: Place) -> bool {
    if place == Place::Tools {
        return model.browse.tool_lines.iter().any(ToolLine::wants_word);
    }
    match model.selection().and_then(|held| held.snapshot.offer.as_ref()) {
        Some(PinOffer::Reads) => action != Action::PlainText,
        Some(PinOffer::PlainText { .. }) => action != Action::Reads,
        None => false,
    }
}

/// One hint for all screens: their keys are side by side.
fn screens(keys: &Keys) -> Row {
    let shown = |action| BINDINGS.iter().find(|binding| binding.action == action).map_or("", |one| keys.shown(one));
    hint(&format!("{}…{}", shown(Action::Waiting), shown(Action::Servers)), "screens", Tone::Key)
}

/// The key to the end of a card of which more is below.
fn rest_of_card(model: &Model, place: Place) -> Option<Row> {
    let card = model.card.as_ref().filter(|_| CARD.contains(&place))?;
    let below = card.arguments_end > model.scroll + model.card_rows();
    let end = BINDINGS.iter().find(|binding| binding.action == Action::Bottom).filter(|_| below)?;
    let name = if model.size.0 < 60 { "end" } else { "end of arguments" };
    Some(hint(model.settings.keys.shown(end), name, Tone::Key))
}

fn on_a_grant(model: &Model) -> bool {
    matches!(&model.overlay, Some(Overlay::Rule(maker)) if matches!(maker.offer(), Some(Offer::Grant(_))))
}

fn on_a_definition(model: &Model) -> bool {
    matches!(&model.overlay, Some(Overlay::Review(review)) if matches!(review.change, Change::Definition(_)))
}

/// Whether something of the calls that `a` is about was not shown: then `A` is another key than `a`.
fn is_unread(model: &Model) -> bool {
    model.targets().iter().any(|held| held.unread().is_some())
}

/// Whether the sheet of the selected line is on screen already.
fn is_beside(model: &Model) -> bool {
    matches!(pages::sides(model), Sides::Both { .. })
}

/// Whether the review on screen has nothing to accept.
fn only_read(model: &Model) -> bool {
    matches!(&model.overlay, Some(Overlay::Review(review)) if review.change == Change::Written)
}

fn knows_help(place: Place) -> bool {
    BINDINGS.iter().any(|binding| binding.action == Action::Help && binding.places.contains(&place))
}

fn hint(key: &str, name: &str, tone: Tone) -> Row {
    Row::of(tone, key).quiet(format!(" {name}  "))
}

/// Whether the selected call no longer waits, and no marked one does.
fn is_ended(model: &Model, place: Place) -> bool {
    let waits = model.selection().is_none_or(Held::waits);
    CARD.contains(&place) && !waits && model.marked_calls().is_empty()
}

fn needs_a_waiting_call(action: Action) -> bool {
    decides(action) || matches!(action, Action::Rule | Action::Mark)
}

fn needs_a_call(action: Action, place: Place) -> bool {
    let leaves = matches!(
        action,
        Action::Waiting
            | Action::Activity
            | Action::Log
            | Action::Tools
            | Action::Rules
            | Action::Servers
            | Action::Palette
            | Action::Help
            | Action::Quit
    );
    place == Place::Queue && !leaves
}

/// Help comes last in any case; what every list does need not be said on every screen.
fn is_worth_a_hint(action: Action, place: Place) -> bool {
    match action {
        Action::Help => place == Place::Help,
        Action::PreviousServer => false,
        Action::Undo => matches!(place, Place::Tools | Place::Rules),
        Action::First | Action::Last | Action::HalfDown | Action::HalfUp | Action::Suspend => false,
        Action::MarkAlike | Action::Extend | Action::Copy => false,
        Action::Activity | Action::Log | Action::Tools | Action::Rules | Action::Servers => false,
        // Lists need no word on how to move.
        Action::Down | Action::PageDown | Action::Bottom if LISTS.contains(&place) => false,
        Action::Up | Action::PageUp | Action::Top | Action::NextHit | Action::PreviousHit | Action::Later => false,
        Action::Back => place != Place::Queue,
        _ => true,
    }
}
