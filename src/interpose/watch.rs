//! Notices that files may have changed: at once if the system reports it, otherwise by polling. Reads no file; the
//! threads that read the files add them here, and look again when the loop asks them to.
//!
//! Linux reports changes of files on its own disks, and not what another machine writes: files on anything but a file
//! system known to report are looked at twice a second, as on every other system.

use std::collections::HashSet;
use std::fs::Metadata;
use std::path::{Component, Path, PathBuf};

mod reporter;

use reporter::{Mark, Reporter};

/// Microseconds between the first sign of a change and the look, so that a file written in pieces is read once.
const SETTLE: u64 = 150_000;
/// Microseconds between two looks where changes are not reported.
const POLL: u64 = 500_000;
/// The same where they are reported, for changes that no report covers (another disk mounted over the folder).
const REPORTED: u64 = 600_000_000;
/// How many links one path may have, as in the system's own limit.
const LINKS: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    Policy,
    Pins,
}

const ALL: [Files; 2] = [Files::Policy, Files::Pins];

/// The loop's side.
#[derive(Default)]
pub struct Watch {
    /// `None` where the system reports nothing.
    reporter: Option<Reporter>,
    policy: Next,
    pins: Next,
}

/// When to look at files of one kind next (monotonic microseconds), how long to wait after that, and the marks of their
/// reports. A link may be on the way to files of both kinds.
#[derive(Debug)]
struct Next {
    marks: HashSet<Mark>,
    at: u64,
    pause: u64,
}

impl Default for Next {
    fn default() -> Self {
        Self { marks: HashSet::new(), at: u64::MAX, pause: POLL }
    }
}

/// A thread's side: adds the files that it reads.
#[derive(Clone, Debug)]
pub struct Watcher {
    reporter: Option<Reporter>,
    files: Files,
}

/// Files that a thread added: for [`Watch::added`].
#[derive(Debug)]
pub struct Added {
    files: Files,
    marks: Vec<Mark>,
    /// Whether the system reports every change of them.
    is_reported: bool,
}

impl Watch {
    /// Watches nothing yet. Must be called in the loop's runtime.
    pub fn new() -> Self {
        let reporter = Reporter::new()
            .inspect_err(
                |error| tracing::info!(%error, "changes of files are not reported: mcp-approve polls for them"),
            )
            .ok();
        Self { reporter, ..Self::default() }
    }

    /// What the thread that reads these files adds them with.
    pub fn watcher(&self, files: Files) -> Watcher {
        Watcher { reporter: self.reporter.clone(), files }
    }

    /// Starts to watch these files, at the beginning.
    pub fn begin(&mut self, added: Added) {
        let pause = self.pause(added.is_reported);
        let next = self.next(added.files);
        next.marks.extend(added.marks);
        (next.at, next.pause) = (pause, pause);
    }

    /// A thread added files and looked at them. They are looked at again: their first report may have come before.
    pub fn added(&mut self, now: u64, added: Added) {
        let pause = self.pause(added.is_reported);
        let next = self.next(added.files);
        let known = next.marks.len();
        next.marks.extend(added.marks);
        let is_new = next.marks.len() > known;
        next.pause = pause;
        self.look_within(now, if is_new { SETTLE } else { pause }, added.files);
    }

    fn pause(&self, is_reported: bool) -> u64 {
        if is_reported && self.reporter.is_some() { REPORTED } else { POLL }
    }

    /// Waits until the system reports anything.
    pub async fn reported(&self) {
        match &self.reporter {
            Some(reporter) => reporter.readable().await,
            None => std::future::pending().await,
        }
    }

    /// Takes what the system reported: files that it concerns are looked at soon.
    pub fn take(&mut self, now: u64) {
        let Some(reporter) = self.reporter.clone() else { return };
        let read = reporter.reports(|mark, is_last| {
            let concerned = ALL.map(|files| {
                let marks = &mut self.next(files).marks;
                mark.as_ref().is_some_and(|mark| if is_last { marks.remove(mark) } else { marks.contains(mark) })
            });
            // A moved folder, or lost reports, concern all files; another name in the same folder concerns none.
            let is_all = concerned == [false; 2] && !matches!(mark, Some(Mark::Name(_)));
            for (files, is_concerned) in ALL.into_iter().zip(concerned) {
                if is_concerned || is_all {
                    self.look_within(now, SETTLE, files);
                }
            }
        });
        if let Err(error) = read {
            tracing::error!(%error, "changes of files are no longer reported: mcp-approve polls for them");
            self.reporter = None;
            for files in ALL {
                self.next(files).pause = POLL;
                self.look_within(now, POLL, files);
            }
        }
    }

    /// The files could not be looked at now: tries again.
    pub fn again(&mut self, now: u64, files: Files) {
        self.look_within(now, POLL, files);
    }

    pub fn is_due(&mut self, now: u64, files: Files) -> bool {
        let next = self.next(files);
        let is_due = next.at <= now;
        if is_due {
            next.at = now + next.pause;
        }
        is_due
    }

    pub fn wake_at(&self) -> Option<u64> {
        Some(self.policy.at.min(self.pins.at)).filter(|at| *at < u64::MAX)
    }

    fn look_within(&mut self, now: u64, pause: u64, files: Files) {
        let next = self.next(files);
        next.at = next.at.min(now + pause);
    }

    fn next(&mut self, files: Files) -> &mut Next {
        match files {
            Files::Policy => &mut self.policy,
            Files::Pins => &mut self.pins,
        }
    }
}

impl Watcher {
    /// Adds files, whether they exist or not, with every link on the way to them. May wait for a disk.
    #[must_use]
    pub fn add(&self, paths: &[PathBuf]) -> Added {
        let mut added = Added { files: self.files, marks: Vec::new(), is_reported: self.reporter.is_some() };
        for path in paths {
            if let Some(reporter) = &self.reporter
                && !add(reporter, path, LINKS, &mut added.marks)
            {
                added.is_reported = false;
            }
        }
        added
    }

    /// Adds a file that is there, and that others write in place: of its folder, where much else changes, nothing counts.
    #[must_use]
    pub fn add_in_place(&self, path: &Path) -> Added {
        let number = self.reporter.as_ref().and_then(|reporter| match reporter.add_file(path) {
            (number, true) => number,
            (_, false) => None,
        });
        match number {
            Some(number) => Added { files: self.files, marks: vec![Mark::Number(number)], is_reported: true },
            None => self.add(&[path.to_path_buf()]),
        }
    }
}

/// Adds every name on the path that could lead to another file (links, the first missing name, the last), and the file
/// itself. Returns whether all its changes are reported.
fn add(reporter: &Reporter, path: &Path, links: usize, marks: &mut Vec<Mark>) -> bool {
    let mut at = PathBuf::new();
    let mut is_reported = true;
    let mut parts = path.components().peekable();
    while let Some(part) = parts.next() {
        let folder = at.clone();
        at.push(part);
        let Component::Normal(name) = part else { continue };
        let found = at.symlink_metadata();
        let is_link = found.as_ref().is_ok_and(Metadata::is_symlink);
        if found.is_ok() && !is_link && parts.peek().is_some() {
            is_reported &= reporter.add_way(&at);
            continue;
        }
        marks.push(Mark::Name(name.to_owned()));
        is_reported &= reporter.add_folder(&folder);
        if found.is_err() {
            return is_reported;
        }
        if is_link {
            let target = at.read_link().unwrap_or_default();
            let rest: PathBuf = parts.collect();
            let target = folder.join(target).join(rest);
            return is_reported && links > 0 && add(reporter, &target, links - 1, marks);
        }
        let (number, is_file_reported) = reporter.add_file(&at);
        marks.extend(number.map(Mark::Number));
        return is_reported && is_file_reported;
    }
    false
}
