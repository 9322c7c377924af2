//! The terminal: raw mode, alternate screen, bracketed paste, and the way back whatever happens; never queries it. And its
//! keyboard: read on a thread of its own, one event at a time, so that an editor can have the terminal in between.

use std::io::{self, Stdout, Write, stdout};
use std::sync::Once;
use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};
use std::time::Duration;

use crossterm::cursor::Show;
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste, MouseButton, MouseEventKind, poll, read};
use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};
use crossterm::style::Print;
use crossterm::terminal::{BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use crossterm::{execute, queue};
use data_encoding::BASE64;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal};

use crate::console::keymap::Key;
use crate::console::model::{Msg, Turn};
use crate::console::settings::{Notice, Pointer};
use crate::link::client::ClientEvent;
use crate::operator::found::Finding;

/// Whether the operator looks at this terminal, if the terminal reports that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Focus {
    Unknown,
    Here,
    Elsewhere,
}

pub(super) enum Input {
    /// With the time when it was read.
    Event(crossterm::event::Event, i64),
    /// The keyboard's end: the terminal is gone.
    Closed,
    Link(Box<ClientEvent>),
    Found(Box<Finding>),
}

/// The console's hold on the terminal; given back when dropped.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    pointer: Pointer,
}

/// The terminal reports when it gets or loses the focus.
const FOCUS_ON: &str = "\x1b[?1004h";
const FOCUS_OFF: &str = "\x1b[?1004l";
/// Clicks and the wheel, with positions beyond column 223; never every movement.
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1000l";
/// Keeps the terminal's own title, and gives it back.
const KEEP_TITLE: &str = "\x1b[22;2t";
const OLD_TITLE: &str = "\x1b[23;2t";

impl Screen {
    pub(super) fn open(pointer: Pointer) -> io::Result<Self> {
        restore_after_panics();
        enter(pointer)?;
        match Terminal::new(CrosstermBackend::new(stdout())) {
            Ok(terminal) => Ok(Self { terminal, pointer }),
            Err(error) => {
                leave();
                Err(error)
            }
        }
    }

    /// Columns and rows.
    pub(super) fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.terminal.size()?;
        Ok((size.width, size.height))
    }

    /// Returns the frame's size. A terminal with synchronized updates shows it whole or not at all: never half a card.
    pub(super) fn draw(&mut self, view: impl FnOnce(&mut Frame<'_>)) -> io::Result<(u16, u16)> {
        queue!(stdout(), BeginSynchronizedUpdate)?;
        let frame = self.terminal.draw(view)?;
        let size = (frame.area.width, frame.area.height);
        execute!(stdout(), EndSynchronizedUpdate)?;
        Ok(size)
    }

    /// Rings the bell, and asks the terminal for a notice if it gives notices.
    pub(super) fn call(&mut self, notice: Notice, words: &str) -> io::Result<()> {
        let mut out = stdout();
        out.write_all(b"\x07")?;
        match notice {
            Notice::Off | Notice::Desktop => {}
            Notice::Osc9 => write!(out, "\x1b]9;mcp-approve: {words}\x1b\\")?,
            Notice::Osc777 => write!(out, "\x1b]777;notify;mcp-approve;{words}\x1b\\")?,
        }
        out.flush()
    }

    /// Asks the terminal to put a text on the clipboard (OSC 52).
    pub(super) fn copy(&mut self, text: &str) -> io::Result<()> {
        let mut out = stdout();
        write!(out, "\x1b]52;c;{}\x1b\\", BASE64.encode(text.as_bytes()))?;
        out.flush()
    }

    pub(super) fn title(&mut self, waiting: usize) -> io::Result<()> {
        let mut out = stdout();
        match waiting {
            0 => write!(out, "\x1b]2;mcp-approve\x1b\\")?,
            waiting => write!(out, "\x1b]2;({waiting}) mcp-approve\x1b\\")?,
        }
        out.flush()
    }

    /// Gives the terminal to another program for a while, then draws everything again.
    pub(super) fn suspended<T>(&mut self, work: impl FnOnce() -> T) -> io::Result<T> {
        leave();
        let done = work();
        enter(self.pointer)?;
        let (width, height) = self.size()?;
        // Not clear(): it asks the terminal where the cursor is, and not every terminal answers.
        self.terminal.resize(Rect::new(0, 0, width, height))?;
        Ok(done)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

/// Stops this process as a shell's Ctrl-Z does; goes on when the shell brings it back.
pub(super) fn stop() {
    // A shell without job control ignores it; the console then goes on at once.
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TSTP);
}

fn enter(pointer: Pointer) -> io::Result<()> {
    enable_raw_mode()?;
    let (keep, focus) = (Print(KEEP_TITLE), Print(FOCUS_ON));
    let mouse = Print(if pointer == Pointer::Captured { MOUSE_ON } else { "" });
    let entered = execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste, keep, focus, mouse);
    if entered.is_err() {
        leave();
    }
    entered
}

/// Resets what the terminal still lets us reset; a failure could be shown nowhere.
pub(super) fn leave() {
    let (focus, mouse, title) = (Print(FOCUS_OFF), Print(MOUSE_OFF), Print(OLD_TITLE));
    let _ = execute!(stdout(), EndSynchronizedUpdate, focus, mouse, title);
    let _ = execute!(stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}

fn restore_after_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            leave();
            before(panic);
        }));
    });
}

/// Ends the console on SIGTERM and SIGHUP in the usual way, so that the terminal is given back.
pub(super) fn end_with_signals(inbox: Sender<Input>) {
    use tokio::signal::unix::{SignalKind, signal};
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            let listen = |kind| signal(kind).ok();
            let (Some(mut term), Some(mut hup)) = (listen(SignalKind::terminate()), listen(SignalKind::hangup()))
            else {
                return;
            };
            // In raw mode Ctrl-C is a key. While an editor runs it is the editor's: held here, it does not end us.
            let _editors = listen(SignalKind::interrupt());
            tokio::select! {
                _ = term.recv() => {}
                _ = hup.recv() => {}
            }
            let _ = inbox.send(Input::Closed);
        });
    });
}

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

    pub(super) fn go_on(&self) {
        // This fails only if the thread has ended with the terminal, which the loop learns in another way.
        let _ = self.permission.try_send(());
    }

    /// Throws away keys that wait to be read, no messages and no new size; returns where the operator looks now, if reported.
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

pub(super) fn focus(event: &Event) -> Option<Focus> {
    match event {
        Event::FocusGained => Some(Focus::Here),
        Event::FocusLost => Some(Focus::Elsewhere),
        Event::Key(_) | Event::Paste(_) | Event::Resize(..) | Event::Mouse(_) => None,
    }
}

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
