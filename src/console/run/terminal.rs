//! The terminal: raw mode, alternate screen, bracketed paste, and its way back whatever happens. Never asks it anything.

use std::io::{self, Stdout, Write, stdout};
use std::sync::Once;

use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::execute;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal};

use super::{Heard, Inbox};

/// The console's hold on the terminal; given back when dropped.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    /// Takes the terminal on standard output.
    pub(super) fn open() -> io::Result<Self> {
        restore_after_panics();
        enter()?;
        match Terminal::new(CrosstermBackend::new(stdout())) {
            Ok(terminal) => Ok(Self { terminal }),
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

    /// Draws one frame and tells its size.
    pub(super) fn draw(&mut self, view: impl FnOnce(&mut Frame<'_>)) -> io::Result<(u16, u16)> {
        let frame = self.terminal.draw(view)?;
        Ok((frame.area.width, frame.area.height))
    }

    /// Rings the bell.
    pub(super) fn bell(&mut self) -> io::Result<()> {
        let mut out = stdout();
        out.write_all(b"\x07")?;
        out.flush()
    }

    /// Gives the terminal to someone else for a while, then draws it all anew.
    pub(super) fn suspended<T>(&mut self, work: impl FnOnce() -> T) -> io::Result<T> {
        leave();
        let done = work();
        enter()?;
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

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    let entered = execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste);
    if entered.is_err() {
        leave();
    }
    entered
}

/// As much of the way back as the terminal still allows; nobody is left to tell of a failure.
pub(super) fn leave() {
    let _ = execute!(stdout(), DisableBracketedPaste, LeaveAlternateScreen, crossterm::cursor::Show);
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

/// Ends the console on SIGTERM and SIGHUP by its own way out, so that the terminal is given back.
pub(super) fn end_with_signals(inbox: Inbox) {
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
            let _ = inbox.send(Heard::Closed);
        });
    });
}
