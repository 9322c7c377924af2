//! What a wrapper says of itself: rare one-line notices, on stderr, which hosts keep as the server's log and show to no person,
//! and on the desktop, at most one a minute that a call waits; and our own diagnostics, a file per day in the state folder,
//! never a standard stream.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tracing::level_filters::LevelFilter;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::fmt::MakeWriter;

use crate::gate::call::question::written_out;
use crate::gate::data::event::Now;
use crate::link::desktop::Desktop;

/// Microseconds between two notices that a call waits.
const PAUSE: u64 = 60_000_000;

/// Says one line. A host that closed stderr misses it.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "mcp-approve: {text}");
}

/// How many characters of an effect a desktop notice has: desktops cut longer ones anywhere.
const EFFECT: usize = 120;

/// Notices that calls wait while no console is open.
#[derive(Debug)]
pub struct Waiting {
    /// How the operator opens the console.
    console: String,
    /// `None` where the operator wants none.
    desktop: Option<Desktop>,
    last: Option<u64>,
}

impl Waiting {
    pub fn new(console: String, desktop: Option<Desktop>) -> Self {
        Self { console, desktop, last: None }
    }

    /// Says that a call waits, unless that was said a moment ago: one notice for a burst.
    pub fn say(&mut self, now: Now, ticket: &str, server: &str, effect: &str, host: Option<&str>) {
        if self.last.is_some_and(|last| now.mono < last + PAUSE) {
            return;
        }
        self.last = Some(now.mono);
        let host = host.map(|host| format!(" (the host: {host})")).unwrap_or_default();
        say(&format!("{ticket} waits for approval; run `{}` in a terminal{host}", self.console));
        if let Some(desktop) = &mut self.desktop {
            let effect: String = written_out(effect).chars().take(EFFECT).collect();
            let server = written_out(server);
            let words = format!("{server}: {effect}. It waits for approval: run {} in a terminal", self.console);
            desktop.show(&words, now.wall);
        }
    }
}

/// How many days are kept.
const DAYS: usize = 5;

/// Starts diagnostics into `folder`. Nothing is opened or made before there is something to write, so a wrapper without
/// diagnostics pays nothing. A process that has a subscriber already keeps it.
pub fn start_diagnostics(folder: &Path) {
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::INFO)
        .with_ansi(false)
        .with_writer(DayFile { folder: folder.to_owned(), opened: OnceLock::new() })
        .finish();
    // An error means that there is a subscriber already.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

#[derive(Debug)]
struct DayFile {
    folder: PathBuf,
    opened: OnceLock<Result<RollingFileAppender, String>>,
}

impl DayFile {
    fn open(&self) -> Result<RollingFileAppender, String> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder).map_err(|error| error.to_string())?;
        RollingFileAppender::builder()
            .rotation(Rotation::DAILY)
            .filename_prefix("mcp-approve")
            .filename_suffix("log")
            .max_log_files(DAYS)
            .build(&self.folder)
            .map_err(|error| error.to_string())
    }
}

impl<'a> MakeWriter<'a> for DayFile {
    type Writer = Box<dyn Write + 'a>;

    fn make_writer(&'a self) -> Self::Writer {
        match self.opened.get_or_init(|| self.open()) {
            Ok(file) => Box::new(file.make_writer()),
            // There is no other place to report this.
            Err(_) => Box::new(io::sink()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::{Duration, Instant};

    use super::{Desktop, Now, PAUSE, Waiting};
    use crate::link::desktop::write_program;

    #[test]
    fn a_burst_is_one_notice_on_the_desktop_that_says_what_waits_and_what_to_run() {
        let folder = tempfile::tempdir().unwrap();
        let said = folder.path().join("said");
        let program = folder.path().join("notify-send");
        let script =
            format!("#!/bin/sh\nfor word; do last=$word; done\nprintf '%s\\n' \"$last\" >> '{}'\n", said.display());
        write_program(&program, &script);
        let mut waiting = Waiting::new("mcp-approve --home /h".into(), Some(Desktop::in_folder(folder.path())));
        let at = |mono: u64| Now { mono, wall: i64::try_from(mono / 1000).unwrap() };
        waiting.say(at(0), "files-1", "files", "deletes content — /a\n\u{202e}x", None);
        waiting.say(at(1), "files-1", "files", "the second of a burst", None);
        waiting.say(at(PAUSE), "files-1", "files", "a minute later", None);
        let start = Instant::now();
        let read = || fs::read_to_string(&said).unwrap_or_default();
        while read().lines().count() < 2 && start.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut lines: Vec<String> = read().lines().map(str::to_owned).collect();
        lines.sort();
        let of =
            |effect: &str| format!("files: {effect}. It waits for approval: run mcp-approve --home /h in a terminal");
        assert_eq!(lines, [of("a minute later"), of(r"deletes content — /a\u000a\u202ex")]);
    }
}
