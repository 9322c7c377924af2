//! Reads the terminal on a thread of its own, one event at a time, so that an editor can have the terminal in between.

use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};
use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind, poll, read};

use super::{Focus, Input};
use crate::console::keymap::Key;
use crate::console::model::{Msg, Turn};

/// The thread that reads, and the permission it waits for after every event.
pub(super) struct Keyboard {
    permission: SyncSender<()>,
}

impl Keyboard {
    /// `now` is milliseconds since 1970.
    pub(super) fn start(inbox: Sender<Input>, now: fn() -> i64) -> Self {
        let (permission, granted) = sync_channel(1);
        std::thread::spawn(move || {
            loop {
                let heard = read().map_or(Input::Closed, |event| Input::Event(event, now()));
                let closed = matches!(heard, Input::Closed);
                let wait = !matches!(&heard, Input::Event(event, _) if message(event.clone()).is_none());
                if inbox.send(heard).is_err() || closed || (wait && granted.recv().is_err()) {
                    return;
                }
            }
        });
        Self { permission }
    }

    /// Lets the thread read the next event.
    pub(super) fn go_on(&self) {
        // This fails only if the thread has ended with the terminal, which the loop learns in another way.
        let _ = self.permission.try_send(());
    }

    /// Throws away keys that are waiting to be read. Messages of wrappers and the screen's size are kept; returns where
    /// the operator looks now, if the terminal reported it.
    pub(super) fn drain(&self, inbox: &Receiver<Input>, kept: &mut Vec<Msg>) -> Option<Focus> {
        let mut looks = None;
        for heard in inbox.try_iter() {
            match heard {
                Input::Link(event) => kept.push(Msg::Link(*event)),
                Input::Found(finding) => kept.push(Msg::Found(*finding)),
                Input::Event(event, _) => {
                    looks = focus(&event).or(looks);
                    let Some(msg) = message(event) else { continue };
                    kept.extend(dropped(msg));
                    self.go_on();
                }
                Input::Closed => {}
            }
        }
        // While the thread waits for its permission, nothing reads; while it reads, nothing is pending.
        while matches!(poll(Duration::ZERO), Ok(true)) {
            let Ok(event) = read() else { break };
            looks = focus(&event).or(looks);
            kept.extend(message(event).and_then(dropped));
        }
        looks
    }
}

/// What is left of an event that is thrown away: the screen's size, or that something was typed.
fn dropped(msg: Msg) -> Option<Msg> {
    match msg {
        Msg::Resize(..) => Some(msg),
        Msg::Key(_) | Msg::Paste(_) => Some(Msg::Drained),
        _ => None,
    }
}

/// What an event says about where the operator looks.
pub(super) fn focus(event: &Event) -> Option<Focus> {
    match event {
        Event::FocusGained => Some(Focus::Here),
        Event::FocusLost => Some(Focus::Elsewhere),
        Event::Key(_) | Event::Paste(_) | Event::Resize(..) | Event::Mouse(_) => None,
    }
}

/// What an event of the terminal means to the console.
pub(super) fn message(event: Event) -> Option<Msg> {
    match event {
        Event::Key(key) if key.kind == KeyEventKind::Release => None,
        Event::Key(key) => {
            let plain = key.modifiers.difference(KeyModifiers::SHIFT).is_empty();
            let key = match key.code {
                KeyCode::Char(c) if key.modifiers == KeyModifiers::CONTROL => Key::Ctrl(c),
                KeyCode::Char(c) if plain => Key::Char(c),
                // What follows Esc within a terminal's delay (half a second in tmux) arrives as Alt with it. The Esc counts,
                // which decides nothing; the key was meant for what Esc leads to.
                KeyCode::Char(_) if key.modifiers.difference(KeyModifiers::SHIFT) == KeyModifiers::ALT => Key::Esc,
                KeyCode::Enter if plain => Key::Enter,
                KeyCode::Esc => Key::Esc,
                KeyCode::Backspace => Key::Backspace,
                KeyCode::Up => Key::Up,
                KeyCode::Down => Key::Down,
                KeyCode::PageUp => Key::PageUp,
                KeyCode::PageDown => Key::PageDown,
                KeyCode::Home => Key::Home,
                KeyCode::End => Key::End,
                KeyCode::Tab => Key::Tab,
                _ => return None,
            };
            Some(Msg::Key(key))
        }
        Event::Paste(text) => Some(Msg::Paste(text)),
        Event::Resize(width, height) => Some(Msg::Resize(width, height)),
        Event::Mouse(mouse) => match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => Some(Msg::Click(mouse.column, mouse.row)),
            MouseEventKind::ScrollUp => Some(Msg::Wheel(Turn::Up, mouse.column, mouse.row)),
            MouseEventKind::ScrollDown => Some(Msg::Wheel(Turn::Down, mouse.column, mouse.row)),
            _ => None,
        },
        Event::FocusGained | Event::FocusLost => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::KeyEvent;

    #[test]
    fn esc_counts_though_a_key_follows_at_once() {
        for (modifiers, is) in [
            (KeyModifiers::ALT, Key::Esc),
            (KeyModifiers::ALT | KeyModifiers::SHIFT, Key::Esc),
            (KeyModifiers::NONE, Key::Char('a')),
            (KeyModifiers::CONTROL, Key::Ctrl('a')),
        ] {
            let heard = message(Event::Key(KeyEvent::new(KeyCode::Char('a'), modifiers)));
            assert!(matches!(heard, Some(Msg::Key(key)) if key == is), "{heard:?}");
        }
    }
}
