//! The last line: the keys that do something here, or the one thing that must be said.

use std::borrow::Cow;

use crate::audit::Field;
use crate::console::desk;
use crate::console::keymap::{Action, BINDINGS, Binding, CARD, LISTS, Place, decides};
use crate::console::model::{Fate, Held, Model, Offer, Overlay, ReviewOf, RuleEntry, Seen, Sort, Subject, ToolLine};
use crate::console::pages;
use crate::link::message::{Remembers, ToolOffer};
use crate::operator::{found::LogRows, sign::OwnKey};
use crate::text::row::{Row, Tone, key, ours, strong, warn};

pub(super) fn rows(model: &Model, width: u16) -> Vec<Row> {
    match model.note_rows() {
        none if none.is_empty() => vec![keys(model, width)],
        rows => rows,
    }
}

fn keys(model: &Model, width: u16) -> Row {
    let place = model.place();
    let at_place = |binding: &&Binding| binding.places.contains(&place);
    let tone = |action| match model.armed() {
        Err(_) if action == Action::Deny && model.in_view().is_ok() => Tone::Key,
        Err(_) if decides(action) && action != Action::DenyServer && CARD.contains(&place) => Tone::Quiet,
        _ => Tone::Key,
    };
    let marked = model.queue.marked_calls().len();
    let elsewhere = desk::approved_elsewhere(model);
    let hints = BINDINGS.iter().filter(at_place).filter_map(|binding| match binding.action {
        // One hint for all screens: their keys are side by side.
        Action::Waiting => {
            let keys = format!("{}…{}", key_of(model, Action::Waiting), key_of(model, Action::Servers));
            Some(hint(&keys, "screens", Tone::Key))
        }
        Action::Approve if CARD.contains(&place) && elsewhere.is_some() => elsewhere.clone().map(|row| row.quiet("  ")),
        action => {
            let name = name(model, binding, place, marked)?;
            Some(hint(key_of(model, action), &name, tone(action)))
        }
    });
    // The keys to the rest of the card and to help are shown even if others have no room.
    let knows_help = BINDINGS.iter().filter(at_place).any(|binding| binding.action == Action::Help);
    let mut last = rest_of_card(model, place).unwrap_or_default();
    if knows_help && place != Place::Help {
        last = last.joined(hint("?", "help", Tone::Key));
    }
    let room = usize::from(width).saturating_sub(last.width());
    let mut row = warn(if model.is_arming() { " arming  " } else { " " });
    for hint in hints {
        if row.width() + hint.width() > room {
            break;
        }
        row = row.joined(hint);
    }
    row.joined(last)
}

/// What an action is called here and now; `None` if it does nothing, or needs no mention. `marked` calls wait.
fn name(model: &Model, binding: &Binding, place: Place, marked: usize) -> Option<Cow<'static, str>> {
    let action = binding.action;
    if desk::is_elsewhere(model, action) {
        return None;
    }
    let usual = |is_named: bool| is_named.then_some(Cow::Borrowed(binding.name));
    let leaves = matches!(action, Action::Palette | Action::Quit);
    let is_ended = CARD.contains(&place) && !model.queue.selection().is_none_or(Held::waits) && marked == 0;
    if place == Place::Queue && model.queue.selected.is_none() && !leaves
        || is_ended && (decides(action) || matches!(action, Action::Rule | Action::Mark))
    {
        return None;
    }
    let list = model.list(model.screen).filter(|_| LISTS.contains(&place));
    let name = match (action, place) {
        // If all of these calls were shown whole, `A` does the same as `a`, and is not named.
        (Action::ApproveUnread, _) if desk::approved_elsewhere(model).is_some() => return None,
        (Action::ApproveUnread, _) if model.queue.targets().iter().all(|held| held.seen == Seen::Whole) => return None,
        (Action::Approve | Action::ApproveUnread | Action::Deny, _) => {
            let verb = if action == Action::Deny { "deny" } else { "approve" };
            let unread = if action == Action::ApproveUnread { " unread" } else { "" };
            return match (marked, model.queue.selected_group().map_or(1, |group| group.count())) {
                (0, 1) => usual(true),
                (0, all) => Some(format!("{verb} all {all}{unread}").into()),
                // The title says how many.
                _ => Some(format!("{verb} marked{unread}").into()),
            };
        }
        (Action::Mark, Place::Queue)
            if model.queue.selected.as_ref().is_some_and(|key| model.queue.marked.contains(key)) =>
        {
            "unmark"
        }
        (Action::Confirm, Place::Batch) => {
            let Some(Overlay::Batch(batch)) = &model.overlay else { return None };
            if matches!(batch.fate, Fate::Approve(_)) { "approve" } else { "deny" }
        }
        (Action::Mark, Place::Batch) => "tick",
        (Action::Mark, Place::Review) => {
            let Some(Overlay::Review(review)) = &model.overlay else { return None };
            return usual(matches!(review.subject, ReviewOf::Page(_)));
        }
        (Action::Mark | Action::Reads | Action::Changes, Place::Tools) => {
            return usual(model.tools.lines.iter().any(ToolLine::wants_word));
        }
        (Action::Reads | Action::Changes | Action::PlainText, _) => {
            let offer = model.queue.selection()?.snapshot.offer.as_ref()?;
            return usual(match action {
                Action::Reads => offer.remembers == Remembers::All,
                Action::PlainText => !offer.any_text.is_empty(),
                _ => offer.tool == ToolOffer::Likely,
            });
        }
        (Action::StopAsking, Place::Rule) => return None,
        (Action::StopAsking, _) => {
            return usual(model.queue.selection().is_some_and(|held| held.snapshot.danger.is_none()));
        }
        (Action::NextServer, _) => return usual(model.queue.sort == Sort::Server),
        (Action::Number, _) => {
            let offer = if let Some(Overlay::Rule(maker)) = &model.overlay { maker.offer() } else { None };
            return usual(matches!(offer, Some(Offer::Grant(_))));
        }
        (Action::Accept | Action::Refuse, _) => {
            let Some(Overlay::Review(review)) = &model.overlay else { return None };
            let is_definition = matches!(review.subject, ReviewOf::Definition(_));
            if action == Action::Accept && matches!(review.subject, ReviewOf::Page(_)) {
                return Some("agree".into());
            }
            return usual(if action == Action::Refuse { is_definition } else { review.subject != ReviewOf::Written });
        }
        (Action::NextAgreed | Action::Forget, _) => {
            let line = list.filter(|list| list.sheet.is_some()).and_then(|list| model.tools.lines.get(list.at));
            let agreed = line.map(|line| model.tools.agreed(line)).unwrap_or_default();
            let is_picked = agreed.iter().any(|one| model.tools.picked == Some(one.kept.digest()));
            return usual(if action == Action::Forget { is_picked } else { !agreed.is_empty() });
        }
        (Action::Undo, _) => {
            return usual(place == Place::Rules || place == Place::Tools && model.tools.undo.is_some());
        }
        (Action::Open, Place::Queue) => "full card",
        // The open card closes with Esc, which is named beside it.
        (Action::Open, Place::Detail) => return None,
        (Action::Open | Action::Rule | Action::Edit | Action::End | Action::Switch, _)
            if list.is_some() && pages::count(model) == 0 =>
        {
            return None;
        }
        (Action::Open, Place::Activity) => "its record",
        (Action::Open, Place::Tools) if is_to_review(model) || pages::is_reviewed(model) => "review",
        (Action::Open, _) if list.is_some_and(|list| list.sheet.is_some()) => return None,
        (Action::Open, Place::Log | Place::Tools | Place::Servers) if pages::is_beside(model) => "scroll it",
        (Action::Back, _) if list.is_some_and(|list| list.sheet.is_none() && !list.find.is_empty()) => "drop search",
        (Action::Back, _) => return usual(place != Place::Queue),
        (Action::Group, Place::Log) if model.log.list.search.asks_for(Field::Kind) => return None,
        (Action::Group, Place::Log) if model.log.rows() == LogRows::Calls => "every record",
        (Action::Group, Place::Log) => "one row a call",
        (Action::Rule, Place::Log) => {
            let line = model.log.window.lines.get(model.log.list.at);
            return usual(line.is_none_or(|line| line.ticket.is_some() && line.tool.is_some()));
        }
        (Action::Open | Action::End | Action::Switch | Action::Edit, Place::Rules) => {
            match (action, model.rules.lines.get(model.rules.list.at)?) {
                (Action::Open, RuleEntry::Waits { .. } | RuleEntry::Suggested(_)) => "review",
                (Action::Open, _) if pages::is_beside(model) => "scroll it",
                (Action::End, RuleEntry::Rule(_)) => "remove",
                (Action::End, RuleEntry::Grant { .. }) => "end",
                (Action::End, RuleEntry::Suggested(_)) => "drop",
                (_, line) => return usual(action == Action::Open || matches!(line, RuleEntry::Rule(_))),
            }
        }
        // Help is named last in any case, and keys that work in every list need no mention on each screen.
        (Action::Help, _) => return usual(place == Place::Help),
        (Action::Bottom, _) => return usual(list.is_none() && rest_of_card(model, place).is_none()),
        (Action::Down | Action::PageDown, _) => return usual(list.is_none()),
        (Action::Activity | Action::Log | Action::Tools | Action::Rules | Action::Servers, _)
        | (Action::First | Action::Last | Action::HalfDown | Action::HalfUp | Action::Suspend, _)
        | (Action::Up | Action::PageUp | Action::Top | Action::NextHit | Action::PreviousHit | Action::Later, _)
        | (Action::MarkAlike | Action::Extend | Action::Copy | Action::PreviousServer, _) => return None,
        _ => return usual(true),
    };
    Some(name.into())
}

/// Whether Enter on the open sheet of Tools begins the review of its definition.
fn is_to_review(model: &Model) -> bool {
    let list = &model.tools.list;
    let line = model.tools.lines.get(list.at);
    list.sheet.is_some() && line.is_some_and(|line| line.wants_review() && line.subject != Subject::Tool)
}

/// The key to the end of a card, if more of it is below.
fn rest_of_card(model: &Model, place: Place) -> Option<Row> {
    let card = model.card.laid.as_ref().filter(|_| CARD.contains(&place))?;
    let below = card.arguments_end > model.card.scroll + model.card_rows();
    let name = if model.size.0 < 60 { "end" } else { "end of arguments" };
    below.then(|| hint(key_of(model, Action::Bottom), name, Tone::Key))
}

fn key_of(model: &Model, action: Action) -> &str {
    BINDINGS.iter().find(|binding| binding.action == action).map_or("", |one| model.settings.keys.shown(one))
}

fn hint(key: &str, name: &str, tone: Tone) -> Row {
    Row::of(tone, key).quiet(format!(" {name}  "))
}

/// The last line while a key signs: what the keys do, which comes first where there is little room; then who signs, or why nobody
/// does. `what` is how much one signature covers, if it is more than one thing; `keys` is how many can be tried.
pub fn signing_row(own: Result<&OwnKey, &str>, what: &str, keys: usize) -> Row {
    let row = if own.is_ok() { strong("Touch the key. ") } else { ours("") };
    let row = row.joined(key("Esc")).ours(" back, ").joined(key("t")).ours(" at the terminal");
    let row = if keys > 1 { row.ours(", ").joined(key("Tab")).ours(" next key") } else { row };
    match own {
        Ok(own) => row.ours(". Signing ").and_foreign(Tone::Ours, &format!("{what}as {own}")),
        Err(why) => row.ours(". ").and_foreign(Tone::Danger, why),
    }
}
