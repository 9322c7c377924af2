//! What a wrapper says of itself: rare one-line notices on stderr, which hosts keep as the server's log, and on the desktop at most
//! one a minute that a call waits; and our own diagnostics, a file per day in the state folder.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::OFlags;
use rustix::termios::{LocalModes, tcgetattr};
use tracing::level_filters::LevelFilter;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::fmt::MakeWriter;

use crate::gate::{data::event::Now, waiting::question::written_out};
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
    /// The terminal whose bell is rung for hosts that show nothing; `None` where the operator wants none.
    bell: Option<PathBuf>,
    last: Option<u64>,
}

impl Waiting {
    pub fn new(console: String, desktop: Option<Desktop>, bell: Option<PathBuf>) -> Self {
        Self { console, desktop, bell, last: None }
    }

    /// Says that a call waits, unless that was said a moment ago: one notice for a burst. `host`: what the operator cannot see of
    /// it; `is_bare`: it shows its user nothing of the wait.
    pub fn say(&mut self, now: Now, (ticket, server, effect): (&str, &str, &str), host: Option<&str>, is_bare: bool) {
        if self.last.is_some_and(|last| now.mono < last + PAUSE) {
            return;
        }
        self.last = Some(now.mono);
        let host = host.map(|host| format!(" (the host: {host})")).unwrap_or_default();
        say(&format!("{ticket} waits for approval; run `{}` in a terminal{host}", self.console));
        if let Some(terminal) = self.bell.as_ref().filter(|_| is_bare) {
            ring(terminal);
        }
        if let Some(desktop) = &mut self.desktop {
            let effect: String = written_out(effect).chars().take(EFFECT).collect();
            let server = written_out(server);
            let words = format!("{server}: {effect}. It waits for approval: run {} in a terminal", self.console);
            desktop.show(&words, now.wall);
        }
    }
}

/// Rings a terminal's bell; silent where there is none, or where it stops whoever writes from the background.
fn ring(terminal: &Path) {
    let flags = OFlags::NOCTTY | OFlags::NONBLOCK;
    let opened = OpenOptions::new().write(true).custom_flags(flags.bits().cast_signed()).open(terminal);
    if let Ok(mut opened) = opened
        && tcgetattr(&opened).is_ok_and(|modes| !modes.local_modes.contains(LocalModes::TOSTOP))
    {
        let _ = opened.write_all(b"\x07");
    }
}

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

    #[test]
    fn a_burst_is_one_notice_on_the_desktop_that_says_what_waits_and_what_to_run() {
        let folder = tempfile::tempdir().unwrap();
        let said = folder.path().join("said");
        let program = folder.path().join("notify-send");
        let script =
            format!("#!/bin/sh\nfor word; do last=$word; done\nprintf '%s\\n' \"$last\" >> '{}'\n", said.display());
        // Another process writes it: a child of another test could have a file that this one wrote open for writing.
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", r#"printf %s "$1" >"$0" && chmod 755 "$0""#]).arg(&program).arg(script);
        assert!(shell.status().is_ok_and(|status| status.success()));
        let mut waiting = Waiting::new("mcp-approve --home /h".into(), Some(Desktop::within(&[folder.path()])), None);
        let at = |mono: u64| Now { mono, wall: i64::try_from(mono / 1000).unwrap() };
        for (time, effect) in
            [(0, "deletes content — /a\n\u{202e}x"), (1, "the second of a burst"), (PAUSE, "a minute later")]
        {
            waiting.say(at(time), ("files-1", "files", effect), None, false);
        }
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
