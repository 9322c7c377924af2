//! Changes the model: a message goes in, commands come out. Pure; time is an argument. Says what each key does where.

mod batch;
mod browse;
mod card;
mod decide;
mod findings;
mod lists;
mod maker;
mod rules;
mod select;
mod tools;
mod typing;
mod wrappers;

use super::keymap::{Action, Key, Place};
use super::model::queue::QueueLine;
use super::model::{CallKey, Following, Held, Model, Overlay, Picked, Reading, Screen, Tour};
use super::rows::content_rows;
use super::{desk, pages, palette, panel};
use ratatui::layout::{Position, Rect};

use crate::behavior::Mutability;
use crate::link::message::ToolWord;
use crate::operator::{found::LogRequest, rule_book::RuleChange};

pub use super::model::{Command, Edit, Msg, Turn};

/// Puts a call's card on the screen, and says which was there. Nobody leaves a call by that: nothing of it is forgotten.
pub fn show(model: &mut Model, key: Option<CallKey>) -> Option<CallKey> {
    let left = std::mem::replace(&mut model.queue.selected, key);
    select::lay_card(model);
    left
}

#[must_use]
pub fn update(model: &mut Model, now: i64, msg: Msg) -> Vec<Command> {
    if now < model.now {
        // The clock was set back: what is on screen counts from now on.
        (model.drawn, model.untouched) = (None, None);
        if let Some(Overlay::Batch(batch)) = &mut model.overlay {
            batch.interrupted();
        }
    }
    model.now = now;
    let is_news = matches!(msg, Msg::Link(_));
    let touches = matches!(msg, Msg::Key(_) | Msg::Paste(_) | Msg::Drained);
    if !matches!(msg, Msg::Drawn(..)) {
        model.queue.invalidate_rows();
    }
    if model.note_until.is_some_and(|until| until <= now) {
        model.note = None;
        model.note_until = None;
    }
    match msg {
        Msg::Key(key) => pressed(model, key),
        Msg::Paste(text) => pasted(model, &text),
        Msg::Late(wait) => {
            model.untouched = model.untouched.map(|since| since + wait);
            model.ignored = model.ignored.map(|last| last + wait);
            return Vec::new();
        }
        Msg::Drained => model.refuse("Some keys were typed before the screen changed, and were dropped."),
        Msg::Resize(width, height) => model.size = (width, height),
        Msg::Tick => card::refresh(model),
        Msg::Drawn(width, height) => {
            let areas = model.areas();
            model.note_drawn((width, height), &areas);
            return Vec::new();
        }
        Msg::Link(event) => wrappers::heard(model, event),
        Msg::Found(finding) => findings::take(model, finding),
        Msg::Click(x, y) => {
            model.queue.picked = Picked::ByOperator;
            click(model, x, y);
        }
        Msg::Wheel(turn, x, y) => wheel(model, turn, x, y),
        Msg::Edited { armed, outcome } => card::edited(model, armed, outcome),
        Msg::RuleWritten(outcome) => maker::written(model, outcome),
        Msg::RulesChanged(outcome) => rules::changed(model, outcome),
        Msg::RuleEdited { id, file, outcome } => rules::edited(model, id, file, outcome),
        Msg::PinsReviewed(outcome) => tools::settled(model, outcome),
    }
    if touches {
        model.untouched = None;
    }
    select::settle(model);
    batch::settle(model);
    if !is_news {
        model.queue.keep_rows();
        select::show_selection(model);
    }
    browse::settle(model);
    browse::wants(model);
    std::mem::take(&mut model.todo)
}

fn pressed(model: &mut Model, key: Key) {
    if key == Key::Ctrl('c') {
        return model.todo.push(Command::Quit);
    }
    if model.ignores_keys() {
        model.ignore_keys();
        // Esc decides nothing, and leads out of any question.
        if key != Key::Esc {
            return;
        }
    }
    model.note = None;
    model.note_until = None;
    let place = model.place();
    model.queue.picked = Picked::ByOperator;
    let twice = model.half_typed.take() == Some(key);
    match model.settings.keys.action(key, place) {
        // `g` must be pressed twice; another key for this action works at once.
        Some(Action::First) if key == Key::Char('g') && !twice => model.half_typed = Some(key),
        Some(Action::Number) => maker::number(model, key),
        Some(Action::Scope) => maker::scope(model, key),
        Some(action) => act(model, action),
        None => typing::typed(model, key),
    }
}

fn act(model: &mut Model, action: Action) {
    if desk::is_elsewhere(model, action) {
        return model.refuse("That is done only at its machine: on the desk a call is approved or denied.");
    }
    match action {
        Action::Approve => batch::approve(model, Reading::Read),
        Action::ApproveUnread => batch::approve(model, Reading::Unread),
        Action::Deny => decide::deny(model),
        Action::Confirm if model.place() == Place::Batch => batch::confirm(model),
        Action::Confirm if !matches!(model.overlay, Some(Overlay::Leave)) => decide::confirm(model),
        Action::Send => {
            if let Some((fate, calls)) = decide::send_denial(model) {
                batch::open(model, fate, &calls);
            }
        }
        Action::Edit if model.screen == Screen::Rules => rules::edit(model),
        Action::Edit => card::edit(model),
        Action::Quit if model.queue.waiting() > 0 && !matches!(model.overlay, Some(Overlay::Leave)) => {
            model.overlay = Some(Overlay::Leave);
        }
        Action::Confirm | Action::Quit => model.todo.push(Command::Quit),
        Action::Suspend => model.todo.push(Command::Suspend),
        Action::MarkAlike if model.place() == Place::Batch => batch::change(model, |batch, _, _| batch.tick_all()),
        Action::MarkAlike => batch::mark_alike(model),
        Action::Copy => card::copy(model),
        Action::Extend => decide::extend(model),
        Action::First | Action::Last if model.place() == Place::Queue => select::leap(model, action),
        Action::HalfDown | Action::HalfUp if model.place() == Place::Queue => select::leap(model, action),
        Action::First => go(model, Action::Top),
        Action::Last => go(model, Action::Bottom),
        Action::Down | Action::Up | Action::PageDown | Action::PageUp => go(model, action),
        Action::HalfDown | Action::HalfUp | Action::Top | Action::Bottom => go(model, action),
        Action::Open if model.place() == Place::Batch => batch::turn(model),
        Action::Open => open(model),
        Action::Back => back(model),
        Action::Sort => select::sort(model),
        Action::NextServer | Action::PreviousServer => select::leap_server(model, action),
        Action::Group if model.screen == Screen::Log => browse::regroup(model),
        Action::Group => batch::regroup(model),
        Action::Mark if model.place() == Place::Review => rules::mark(model),
        Action::Mark if model.place() == Place::Batch => batch::change(model, |batch, page, _| batch.tick(page)),
        Action::Mark if model.screen == Screen::Tools => tools::mark(model),
        Action::Mark => batch::mark(model),
        Action::DenyServer => decide::deny_server(model),
        Action::Earlier | Action::Later => decide::earlier_reason(model, action),
        Action::Rule if model.screen == Screen::Log => maker::of_record(model),
        Action::Rule => maker::open(model),
        Action::StopAsking if model.place() == Place::Rule => maker::enter(model),
        Action::StopAsking => maker::open_fitting(model),
        Action::Replay => rules::replay(model),
        Action::Switch => rules::switch(model),
        Action::WriteRule => maker::enter(model),
        Action::Number | Action::Scope => {}
        Action::Accept => rules::enter(model),
        Action::Reads if model.screen == Screen::Tools => tools::say(model, Mutability::Pure),
        Action::Reads => decide::say(model, ToolWord::Reads),
        Action::Changes if model.screen == Screen::Tools => tools::say(model, Mutability::Mutates),
        Action::Changes => decide::say(model, ToolWord::Changes),
        Action::PlainText => decide::say(model, ToolWord::PlainText),
        Action::End => rules::end(model),
        Action::Refuse => tools::refuse(model),
        Action::NextAgreed => tools::next_agreed(model),
        Action::Forget => tools::forget(model),
        Action::Undo if model.screen == Screen::Tools => tools::undo(model),
        Action::Undo if model.screen != Screen::Rules && model.undo_until.is_none_or(|until| until < model.now) => {
            browse::visit(model, Screen::Rules);
            model.say("u takes back the last change of your policy file: press it again, here.");
        }
        Action::Undo => model.todo.push(Command::ChangeRules(RuleChange::Undo)),
        Action::Find if model.list(model.screen).is_some() => typing::find(model),
        Action::Find => card::find(model),
        Action::Seek => card::seek(model),
        Action::NextHit | Action::PreviousHit => card::again(model, action),
        Action::Fold => card::fold(model),
        Action::FoldAll => card::fold_all(model),
        Action::NextFold => card::next_fold(model),
        Action::Details => card::details(model),
        Action::Waiting => model.screen = Screen::Queue,
        Action::Activity => browse::visit(model, Screen::Activity),
        Action::Log => browse::visit(model, Screen::Log),
        Action::Tools => browse::visit(model, Screen::Tools),
        Action::Rules => browse::visit(model, Screen::Rules),
        Action::Servers => browse::visit(model, Screen::Servers),
        Action::Palette => model.overlay = Some(Overlay::Palette { text: String::new(), at: 0 }),
        Action::Run => {
            if let Some(action) = typing::run(model) {
                act(model, action);
            }
        }
        Action::Help => {
            model.overlay = match model.overlay.take() {
                Some(Overlay::Help { under, .. }) => under.map(|under| *under),
                mut under => {
                    if let Some(Overlay::Batch(batch)) = &mut under {
                        batch.interrupted();
                    }
                    Some(Overlay::Help { top: 0, under: under.map(Box::new) })
                }
            };
        }
    }
}

/// A paste decides nothing; where text is written it is text.
fn pasted(model: &mut Model, text: &str) {
    // The word that approves must be typed, not pasted.
    let open = model.overlay.as_mut().filter(|open| !matches!(open, Overlay::Word { .. }));
    let Some(written) = open.and_then(Overlay::text_mut) else {
        return model.refuse("A paste decides nothing; press the key itself.");
    };
    written.extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }));
    typing::changed(model, Key::Char(' '));
}

fn go(model: &mut Model, action: Action) {
    match &model.overlay {
        Some(Overlay::Help { top, .. }) => {
            let rows = palette::help_rows(model, usize::from(model.size.0)).len();
            let moved = select::moved(*top, action, content_rows(model.areas().body), rows);
            if let Some(Overlay::Help { top, .. }) = &mut model.overlay {
                *top = moved;
            }
            return;
        }
        Some(Overlay::Batch(_)) => return batch::go(model, action),
        Some(Overlay::Review(_)) => return rules::go(model, action),
        Some(Overlay::Rule(_)) => return maker::choose(model, action),
        _ => {}
    }
    match model.screen {
        Screen::Activity | Screen::Log | Screen::Tools | Screen::Rules | Screen::Servers => {
            browse::go(model, action);
        }
        Screen::Queue if matches!(action, Action::Down | Action::Up) => select::step(model, action),
        Screen::Queue | Screen::Detail => card::scroll(model, action),
    }
}

/// `Enter`: the card on the whole screen, or back. Never a decision.
fn open(model: &mut Model) {
    match model.screen {
        Screen::Queue if model.queue.selected.is_some() => model.screen = Screen::Detail,
        Screen::Detail => model.screen = Screen::Queue,
        Screen::Queue => {}
        Screen::Rules => rules::open(model).unwrap_or_else(|| browse::open(model)),
        Screen::Tools => tools::open(model).unwrap_or_else(|| browse::open(model)),
        Screen::Activity | Screen::Log | Screen::Servers => browse::open(model),
    }
}

fn back(model: &mut Model) {
    match model.overlay.take() {
        Some(Overlay::Search { before, sought, .. }) => {
            return browse::sought(model, model.screen, &before, sought);
        }
        // In a terminal, Alt with a letter of the text is an Esc, too: what follows is still text.
        Some(Overlay::Reason { text, .. } | Overlay::Word { text, .. }) if !text.is_empty() => {
            return model.ignore_keys();
        }
        Some(Overlay::Help { under: Some(under), .. }) => {
            model.overlay = Some(*under);
            return;
        }
        Some(_) => return,
        None => {}
    }
    if panel::shows_tour(model) {
        // The tour says that Esc hides it.
        model.settings.tour = Tour::Dismissed;
        return model.todo.push(Command::Look(LogRequest::TourSeen));
    }
    match model.screen {
        Screen::Detail => model.screen = Screen::Queue,
        Screen::Queue if model.queue.selection().is_some_and(Held::is_over) => select::leave_ended(model),
        Screen::Queue if !model.queue.marked.is_empty() => model.queue.marked.clear(),
        Screen::Queue if !model.queue.filter.find.is_empty() => browse::search(model, Screen::Queue, ""),
        Screen::Queue => {
            model.lost.clear();
            model.crashed.clear();
        }
        Screen::Activity | Screen::Log | Screen::Tools | Screen::Rules | Screen::Servers => browse::back(model),
    }
}

/// Rows that one turn of the wheel moves.
const STEP: usize = 3;

fn click(model: &mut Model, x: u16, y: u16) {
    if model.overlay.is_some() {
        return;
    }
    let areas = model.areas();
    if let Some(line) = line(areas.queue, x, y, 1) {
        let rows = model.queue.rows();
        let row = match model.queue.lines(&rows).get(model.queue.top + line) {
            Some(QueueLine::Row(row)) => Some(row),
            Some(QueueLine::Server(rows)) => Some(rows.start),
            None => None,
        };
        drop(rows);
        if let Some(row) = row {
            select::select_row(model, row);
        }
        return;
    }
    if matches!(model.screen, Screen::Queue | Screen::Detail) {
        if let Some(line) = line(areas.card, x, y, 1) {
            card::fold_at(model, model.card.scroll + line);
        }
        return;
    }
    let (count, area) = (pages::count(model), pages::sides(model).list);
    let screen = model.screen;
    let Some(list) = model.list_mut(screen).filter(|list| list.sheet.is_none()) else { return };
    // Below the title and the second line; the last row is not part of the list.
    let area = Rect { height: areas.body.height.saturating_sub(1), ..area };
    if let Some(line) = line(area, x, y, 2)
        && list.top + line < count
    {
        list.at = list.top + line;
        if screen == Screen::Activity {
            model.activity.following = if list.at + 1 == count { Following::Newest } else { Following::Stays };
        }
    }
}

/// Scrolls what lies under the pointer: the queue's selection stays, its card moves.
fn wheel(model: &mut Model, turn: Turn, x: u16, y: u16) {
    let action = match turn {
        Turn::Up => Action::Up,
        Turn::Down => Action::Down,
    };
    let over_queue = model.areas().queue.contains(Position { x, y });
    match (&model.overlay, model.screen) {
        (Some(Overlay::Help { .. } | Overlay::Batch(_)), _) => (0..STEP).for_each(|_| go(model, action)),
        (Some(_), _) => {}
        (None, Screen::Queue) if over_queue => go(model, action),
        (None, Screen::Queue | Screen::Detail) => (0..STEP).for_each(|_| card::scroll(model, action)),
        (None, _) => (0..STEP).for_each(|_| go(model, action)),
    }
}

/// Which line of an area, after its first `head` rows, a point is on.
fn line(area: Rect, x: u16, y: u16, head: u16) -> Option<usize> {
    let inside = area.contains(Position { x, y });
    inside.then(|| (y - area.y).checked_sub(head).map(usize::from)).flatten()
}
