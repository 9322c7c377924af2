//! The terminal: raw mode, alternate screen, bracketed paste, and the way back whatever happens. Never queries it.

use std::io::{self, Stdout, Write, stdout};
use std::sync::Once;
use std::sync::mpsc::Sender;

use crossterm::cursor::Show;
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::style::Print;
use crossterm::terminal::{BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use crossterm::{execute, queue};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal};

use super::Input;
use crate::console::settings::{Notice, Pointer};

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
    /// Takes the terminal on standard output.
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

    /// Draws one frame and returns its size. A terminal that knows synchronized updates shows it whole or not at all:
    /// nobody reads a card half of which is of the call before.
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
        write!(out, "\x1b]52;c;{}\x1b\\", base64(text.as_bytes()))?;
        out.flush()
    }

    /// Puts the number of waiting calls into the terminal's title.
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

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = three.iter().fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte)) << (8 * (3 - three.len()));
        for place in 0..4 {
            let letter = LETTERS.get(bits >> (18 - 6 * place) & 63).map_or('=', |letter| char::from(*letter));
            text.push(if place > three.len() { '=' } else { letter });
        }
    }
    text
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

#[cfg(test)]
mod tests {
    #[test]
    fn bytes_are_written_as_base64() {
        for (text, written) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob\u{ff}", "Zm9vYsO/")] {
            assert_eq!(super::base64(text.as_bytes()), written);
        }
    }
}
