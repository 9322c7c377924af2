//! A real pseudo-terminal with a screen that can be read, for the console and for `--inline`.

use std::io::{Read as _, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use vt100::Parser;

use super::{BINARY, DEADLINE, until};

/// A terminal and the program that runs in it.
pub struct Terminal {
    parser: Arc<Mutex<Parser>>,
    /// The last frame that was drawn to its end.
    whole: Arc<Mutex<String>>,
    /// All that was ever written to it.
    bytes: Arc<Mutex<Vec<u8>>>,
    keys: Box<dyn Write + Send>,
    /// How many keys were typed since this was asked last.
    typed: usize,
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
}

impl Terminal {
    /// The console over everything under `home`, with these variables in its environment.
    pub fn console(home: &Path, size: (u16, u16), environment: &[(&str, &str)]) -> Self {
        let mut command = CommandBuilder::new(BINARY);
        command.arg("--home");
        command.arg(home);
        for (name, value) in environment {
            command.env(name, value);
        }
        Self::running(command, size)
    }

    /// Any program, with the terminal as its controlling one. `size` is columns and rows.
    pub fn running(mut command: CommandBuilder, size: (u16, u16)) -> Self {
        command.env("TERM", "xterm-256color");
        let pair = native_pty_system().openpty(pty_size(size)).unwrap();
        let child = pair.slave.spawn_command(command).unwrap();
        // Else the end of the program would not be the end of the terminal.
        drop(pair.slave);
        let parser = Arc::new(Mutex::new(Parser::new(count(size.1), count(size.0), 0)));
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (mut output, drawn) = (pair.master.try_clone_reader().unwrap(), Arc::clone(&parser));
        let kept = Arc::clone(&bytes);
        let whole = Arc::new(Mutex::new(String::new()));
        let shown = Arc::clone(&whole);
        thread::spawn(move || {
            let mut bytes = [0; 8192];
            while let Ok(read @ 1..) = output.read(&mut bytes) {
                let mut kept = kept.lock().unwrap();
                kept.extend_from_slice(&bytes[..read]);
                let mut drawn = drawn.lock().unwrap();
                drawn.process(&bytes[..read]);
                if !is_within_a_frame(&kept) {
                    *shown.lock().unwrap() = drawn.screen().contents();
                }
            }
        });
        let keys = pair.master.take_writer().unwrap();
        Self { parser, whole, bytes, keys, typed: 0, master: pair.master, child }
    }

    /// How often this was written to it so far.
    pub fn wrote(&self, words: &str) -> usize {
        let bytes = self.bytes.lock().unwrap();
        bytes.windows(words.len()).filter(|window| *window == words.as_bytes()).count()
    }

    /// The screen as text: the last frame that was drawn to its end, as a terminal with synchronized updates shows it.
    pub fn screen(&self) -> String {
        self.whole.lock().unwrap().clone()
    }

    /// Whether the alternate screen is on: the user's own is untouched below it.
    pub fn is_alternate(&self) -> bool {
        self.parser.lock().unwrap().screen().alternate_screen()
    }

    /// Waits until the user's own screen is back: the last bytes may arrive after the program's end.
    pub fn is_given_back(&self) {
        until("the user's own screen is back", || (!self.is_alternate()).then_some(()));
    }

    /// Types these keys.
    pub fn types(&mut self, keys: &str) {
        self.typed += keys.chars().count();
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// How many keys were typed since this was asked last, those of a text aside.
    pub fn keys_but(&mut self, text: &str) -> usize {
        std::mem::take(&mut self.typed) - text.chars().count()
    }

    /// Waits until the screen shows all of these at once.
    #[track_caller]
    pub fn shows(&self, words: &[&str]) {
        self.awaits(words, |screen| words.iter().all(|word| screen.contains(word)));
    }

    /// Waits until the screen is as wanted.
    #[track_caller]
    pub fn awaits(&self, what: impl std::fmt::Debug, wanted: impl Fn(&str) -> bool) {
        let deadline = std::time::Instant::now() + DEADLINE;
        while !wanted(&self.screen()) {
            assert!(std::time::Instant::now() < deadline, "never shown: {what:?}; the screen:\n{}", self.screen());
            thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    /// Gives the terminal another size.
    pub fn resize(&self, size: (u16, u16)) {
        self.parser.lock().unwrap().screen_mut().set_size(count(size.1), count(size.0));
        self.master.resize(pty_size(size)).unwrap();
    }

    /// Kills the program without a last word.
    pub fn kill(&mut self) {
        super::processes::kill(self.child.process_id().unwrap());
        self.wait();
    }

    /// Waits until the program has ended.
    pub fn wait(&mut self) -> ExitStatus {
        until("the program in the terminal ends", || self.child.try_wait().unwrap())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a synchronized update was begun and not ended.
fn is_within_a_frame(bytes: &[u8]) -> bool {
    let end = |mark: &[u8]| bytes.windows(mark.len()).rposition(|window| window == mark);
    end(b"\x1b[?2026h") > end(b"\x1b[?2026l")
}

fn pty_size((cols, rows): (u16, u16)) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

fn count(cells: u16) -> NonZero<u16> {
    NonZero::new(cells).unwrap()
}
