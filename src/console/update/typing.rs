//! The lines that take keys as text: the search and the palette. What is chosen there never decides a call.

use super::{browse, decide};
use crate::console::keymap::{Action, Key};
use crate::console::model::{Command, Manner, Model, Overlay, Palette, Reach, Screen, Sought, Tour};
use crate::console::palette::{self, EntryAction};
use crate::operator::found::LogRequest;

/// `/`: begins a search where the last one is.
pub(super) fn find(model: &mut Model) {
    if let Some(list) = model.list_mut(model.screen) {
        list.sheet = None;
        let (before, sought) = (list.find.clone(), list.sought);
        let text = if sought == Sought::Led { String::new() } else { before.clone() };
        // What is typed adds a word to the search that is there already.
        let text = if text.is_empty() { text } else { format!("{} ", text.trim_end()) };
        model.overlay = Some(Overlay::Search { before, sought, text });
        if sought == Sought::Led {
            browse::search(model, model.screen, "");
        }
    }
}

/// A key that is text, where something is being written.
pub(super) fn typed(model: &mut Model, key: Key) {
    if !decide::may_type(model) {
        return model.refuse("Too soon: look at the question first.");
    }
    let Some(text) = model.overlay.as_mut().and_then(Overlay::text_mut) else {
        if let Key::Char(_) = key {
            model.refuse("This key does nothing here.");
        }
        return;
    };
    match key {
        Key::Char(c) => text.push(c),
        Key::Backspace => drop(text.pop()),
        Key::Ctrl('u') => text.clear(),
        Key::Ctrl('w') => text.truncate(text.trim_end().rfind(' ').map_or(0, |at| at + 1)),
        _ => {}
    }
    changed(model, key);
    decide::approve_by_word(model);
}

/// Applies what is written so far, where that shows at once.
pub(super) fn changed(model: &mut Model, key: Key) {
    match model.overlay.clone() {
        Some(Overlay::Search { text, .. }) => browse::search(model, model.screen, &text),
        Some(Overlay::Palette { text, at }) => {
            let last = palette::entries(model, &text).len().saturating_sub(1);
            let at = match key {
                Key::Down => at + 1,
                Key::Up => at.saturating_sub(1),
                _ => 0,
            };
            model.overlay = Some(Overlay::Palette { text, at: at.min(last) });
        }
        _ => {}
    }
}

/// `Enter`: keeps the search, or does what is chosen, unless that is a key to press.
pub(super) fn run(model: &mut Model) -> Option<Action> {
    match model.overlay.take() {
        Some(Overlay::Palette { text, at }) => match palette::entries(model, &text).into_iter().nth(at) {
            Some(entry) => return obey(model, entry.action),
            None => model.warn("No matches."),
        },
        // An invalid search stays open with its problem: otherwise the list would not match its title.
        Some(open @ Overlay::Search { .. }) => {
            let problem = model.list(model.screen).and_then(|list| list.problem.as_ref());
            model.overlay = problem.map(|_| open);
        }
        other => {
            model.overlay = other;
        }
    }
    None
}

fn obey(model: &mut Model, action: EntryAction) -> Option<Action> {
    match action {
        EntryAction::Press(action) => return Some(action),
        EntryAction::OnlyItsKey(name) => {
            model.warn(format!("Only its own key does that, on the call itself: {name}."));
        }
        EntryAction::Quiet => {
            model.settings.manner = match model.settings.manner {
                Manner::Rings => Manner::Quiet,
                Manner::Quiet => Manner::Rings,
            };
            let words = match model.settings.manner {
                Manner::Quiet => "Quiet: no bell and no notice. The number waiting stays in the title.",
                Manner::Rings => "The bell rings again when a call waits.",
            };
            model.say(words);
        }
        EntryAction::Theme(palette) => {
            // This overrides `NO_COLOR`: the operator chose both, and this one later.
            model.settings.palette = palette;
            let words = match palette {
                Palette::Monochrome => "No colours, for this console.",
                Palette::Colours | Palette::Light | Palette::Safe => {
                    "For this console; [console] theme in config.toml keeps it."
                }
            };
            model.say(words);
        }
        EntryAction::Verify if model.settings.reach == Reach::Desk => {
            model.warn("The chains of all machines are checked by: mcp-approve log verify --desk");
        }
        EntryAction::Verify => {
            model.screen = Screen::Log;
            model.log.list.sheet = None;
            model.log.checked = None;
            model.say("Checking every record of the log; the last line shows the result.");
            model.todo.push(Command::Look(LogRequest::Verify));
        }
        EntryAction::Tour => {
            model.settings.tour = Tour::Shown;
            model.screen = Screen::Queue;
        }
        EntryAction::Search(screen, text) => {
            model.screen = screen;
            browse::search(model, screen, &text);
        }
    }
    None
}
