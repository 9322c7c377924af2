//! Looks at what a call would touch, on a thread of its own and within a budget: the loop never waits for a disk.
//!
//! Links are followed name by name, as opening the path would, so that a link to nowhere leads where a write would go.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread::Builder;
use std::time::{Duration, Instant};

use super::clock;
use super::counts::Counts;
use super::threads::{FromThreads, ToLoop};
use crate::behavior::shape::{PathKind, PathState};
use crate::gate::data::event::Event;
use crate::gate::data::facts::{Facts, FileKind, Findings, Look, TEXT};
use crate::policy::rate::{Counted, Recent};
use crate::wire::digest::{Digest, Hasher};

/// How long one look may take (microseconds); what is not seen by then is reported as unseen.
const BUDGET: u64 = 500_000;
/// How much of all files of one call is read.
const READ: u64 = 16 << 20;
/// How many entries of a folder are counted.
const ENTRIES: u64 = 10_000;
/// How many threads may hang on a disk that does not answer; beyond that none is started.
const STUCK: usize = 4;

type Job = (u64, String, Look, Instant);

/// The loop's side.
pub struct FactReader {
    base: PathBase,
    counts: Counts,
    jobs: Option<Sender<Job>>,
    to_loop: ToLoop,
    /// Looks without an answer, with the time until which the loop waits (monotonic microseconds).
    pending: BTreeMap<u64, (u64, String, Look)>,
    stuck: usize,
}

impl FactReader {
    /// Nothing is started before the first look. What is found goes to the loop.
    pub fn new(home: Option<PathBuf>, counts: Counts, to_loop: ToLoop) -> Self {
        Self { base: PathBase::here(home), counts, jobs: None, to_loop, pending: BTreeMap::new(), stuck: 0 }
    }

    /// Starts a look. The answer comes through [`Self::came`] or, when it does not come in time, [`Self::overdue`].
    pub fn look(&mut self, now: u64, ticket: String, look: u64, wanted: Look) {
        let until = Instant::now() + Duration::from_micros(BUDGET * 4 / 5);
        let job = (look, ticket.clone(), wanted.clone(), until);
        let sent = self.worker().is_some_and(|jobs| jobs.send(job).is_ok());
        // Without a thread, the answer is due at once: nothing was seen.
        let due = if sent { now + BUDGET } else { now };
        self.pending.insert(look, (due, ticket, wanted));
    }

    /// An answer came; `None` when it was given up already.
    pub fn came(&mut self, look: u64, found: Findings) -> Option<Event> {
        let Some((_, ticket, _)) = self.pending.remove(&look) else {
            // A thread that hung has gone on.
            self.stuck = self.stuck.saturating_sub(1);
            return None;
        };
        Some(Event::Facts { ticket, look, found })
    }

    /// Answers looks that took too long: nothing was seen.
    pub fn overdue(&mut self, now: u64) -> Vec<Event> {
        let late: Vec<u64> = self.pending.iter().filter(|(_, (due, ..))| *due <= now).map(|(look, _)| *look).collect();
        if !late.is_empty() && self.jobs.take().is_some() {
            // The thread hangs on the disk; the next look gets another, up to [`STUCK`].
            self.stuck += 1;
        }
        let answers = late.into_iter().filter_map(|look| {
            let (_, ticket, wanted) = self.pending.remove(&look)?;
            let found = wanted.unseen("the disk did not answer in time");
            Some(Event::Facts { ticket, look, found })
        });
        answers.collect()
    }

    pub fn wake_at(&self) -> Option<u64> {
        self.pending.values().map(|(due, ..)| *due).min()
    }

    fn worker(&mut self) -> Option<&Sender<Job>> {
        if self.jobs.is_none() && self.stuck < STUCK {
            let (jobs, inbox) = mpsc::channel::<Job>();
            let (base, counts, to_loop) = (self.base.clone(), self.counts.clone(), self.to_loop.clone());
            let started = Builder::new().name("facts".to_owned()).spawn(move || {
                let mut projects = Projects::default();
                while let Ok((look, ticket, wanted, until)) = inbox.recv() {
                    let others = others(&counts, &ticket, &wanted.counted);
                    let found = Findings { others, ..found(&base, &wanted, &mut projects, until) };
                    to_loop.tell(FromThreads::Looked { look, found });
                }
            });
            match started {
                Ok(_) => self.jobs = Some(jobs),
                Err(error) => tracing::error!(%error, "the thread that looks at files could not be started"),
            }
        }
        self.jobs.as_ref()
    }
}

/// What other wrappers ran lately, if these calls are counted; `None` where that is not known.
fn others(counts: &Counts, ticket: &str, calls: &[Counted]) -> Option<Recent> {
    let noted = if calls.is_empty() { return None } else { counts.note(ticket, calls, clock::wall_ms()) };
    noted.inspect_err(|error| tracing::error!(%error, path = %counts.path.display(), "rates could not be counted")).ok()
}

pub fn found(base: &PathBase, wanted: &Look, projects: &mut Projects, until: Instant) -> Findings {
    projects.forget_old();
    let state = |path: &String| (path.clone(), Arc::new(path_state(base, path, &mut *projects)));
    let path_states: BTreeMap<String, Arc<PathState>> = wanted.places.iter().map(state).collect();
    let followed = |path: &String| match path_states.get(path) {
        Some(known) => known.real.clone(),
        None => follow(base, path).ok().and_then(|end| text(end.real)),
    };
    let real = wanted.real.iter().map(|path| (path.clone(), followed(path))).collect();
    let mut rest = Rest { read: READ, text: TEXT as usize, until };
    Findings {
        real,
        path_states,
        files: wanted.files.iter().map(|(argument, path)| facts(base, argument, path, &mut rest)).collect(),
        others: None,
    }
}

fn path_state(base: &PathBase, path: &str, projects: &mut Projects) -> PathState {
    let Ok(End { real, found, .. }) = follow(base, path) else { return PathState::default() };
    let (kind, folder) = match found {
        None => (PathKind::Missing, real.parent()),
        Some(found) if found.is_file() => (PathKind::File, real.parent()),
        Some(found) if found.is_dir() => (PathKind::Folder, Some(real.as_path())),
        Some(_) => (PathKind::Other, real.parent()),
    };
    let project = folder.and_then(|folder| projects.of(folder));
    PathState { real: text(real), kind, project }
}

/// The projects of folders that were looked up lately. They decide only what is offered.
#[derive(Debug, Default)]
pub struct Projects {
    known: HashMap<PathBuf, Option<String>>,
    since: Option<Instant>,
}

impl Projects {
    /// What makes a folder a project: a repository, or the manifest of one of the usual builders.
    const MANIFESTS: [&str; 14] = [
        ".git", ".hg", ".svn", ".jj", "Cargo.toml", "package.json", "pyproject.toml", "go.mod", "pom.xml",
        "build.gradle", "Gemfile", "composer.json", "CMakeLists.txt", "Makefile",
    ];
    /// How many folders above a path are looked at.
    const DEEPEST: usize = 32;
    /// How many folders are kept, and how long.
    const MOST: usize = 1_000;
    const KEPT: Duration = Duration::from_secs(5);

    fn of(&mut self, folder: &Path) -> Option<String> {
        if let Some(known) = self.known.get(folder) {
            return known.clone();
        }
        let is_project = |folder: &&Path| Self::MANIFESTS.iter().any(|name| folder.join(name).exists());
        let found =
            folder.ancestors().take(Self::DEEPEST).find(is_project).and_then(|folder| text(folder.to_path_buf()));
        self.known.insert(folder.to_path_buf(), found.clone());
        found
    }

    fn forget_old(&mut self) {
        if self.known.len() >= Self::MOST || self.since.is_none_or(|since| since.elapsed() > Self::KEPT) {
            self.known.clear();
            self.since = Some(Instant::now());
        }
    }
}

struct Rest {
    read: u64,
    text: usize,
    until: Instant,
}

fn facts(base: &PathBase, argument: &str, path: &str, rest: &mut Rest) -> Facts {
    let mut facts = Facts::unseen(argument, path, "");
    facts.unseen = None;
    let end = match follow(base, path) {
        Ok(end) => end,
        Err(error) => return Facts::unseen(argument, path, &format!("it could not be followed: {error}")),
    };
    facts.link = end.link.map(|link| link.to_string_lossy().into_owned());
    let real = end.real.clone();
    facts.real = text(end.real);
    let Some(found) = end.found else {
        facts.kind = FileKind::Missing;
        let exists = |folder: &&Path| folder.symlink_metadata().is_ok();
        let lacks = real.ancestors().skip(1).take_while(|folder| !exists(folder)).last();
        facts.lacks = lacks.and_then(|folder| text(folder.to_path_buf()));
        return facts;
    };
    facts.stamp = Some(format!("{}:{}:{}.{:09}", found.dev(), found.ino(), found.mtime(), found.mtime_nsec()));
    if found.is_file() {
        facts.kind = FileKind::File;
        facts.size = Some(found.len());
        match read(&real, &found, rest) {
            Ok((digest, text)) => (facts.digest, facts.text) = (Some(digest), text),
            Err(error) => facts.unseen = Some(format!("its content was not read: {error}")),
        }
    } else if found.is_dir() {
        facts.kind = FileKind::Folder;
        match count(&real, rest) {
            Ok(entries) => facts.entries = Some(entries),
            Err(error) => facts.unseen = Some(format!("its entries were not counted: {error}")),
        }
    } else {
        facts.kind = FileKind::Other;
    }
    facts
}

/// The digest of a file's content, and its text if that is to be shown.
fn read(path: &Path, seen: &Metadata, rest: &mut Rest) -> io::Result<(Digest, Option<String>)> {
    if seen.len() > rest.read {
        return Err(io::Error::other("it is too large to be compared whole"));
    }
    // Without blocking: what was a file a moment ago may be a pipe now.
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_NOFOLLOW;
    let mut file = File::options().read(true).custom_flags(flags).open(path)?;
    let found = file.metadata()?;
    if !found.is_file() || (found.dev(), found.ino()) != (seen.dev(), seen.ino()) {
        return Err(io::Error::other("it changed while it was looked at"));
    }
    let (mut hasher, mut kept, mut total) = (Hasher::default(), Vec::new(), 0u64);
    let keeps = usize::try_from(seen.len()).is_ok_and(|size| size <= rest.text);
    let mut chunk = vec![0; 64 << 10];
    loop {
        if Instant::now() > rest.until {
            return Err(io::Error::other("there was no time to read all of it"));
        }
        let n = file.read(&mut chunk)?;
        if n == 0 {
            break;
        }
        total += n as u64;
        if total > rest.read {
            return Err(io::Error::other("it grew while it was looked at"));
        }
        hasher.update(&chunk[..n]);
        if keeps && kept.len() + n <= rest.text {
            kept.extend_from_slice(&chunk[..n]);
        }
    }
    rest.read -= total;
    let whole = keeps && kept.len() as u64 == total;
    let text = if whole { String::from_utf8(kept).ok() } else { None };
    rest.text -= text.as_ref().map_or(0, String::len);
    Ok((hasher.finish(), text))
}

fn count(path: &Path, rest: &Rest) -> io::Result<u64> {
    let mut entries = 0;
    for entry in fs::read_dir(path)? {
        entry?;
        entries += 1;
        if entries >= ENTRIES {
            break;
        }
        if Instant::now() > rest.until {
            return Err(io::Error::other("there was no time"));
        }
    }
    Ok(entries)
}

fn text(path: PathBuf) -> Option<String> {
    path.into_os_string().into_string().ok()
}

/// How many links one path may have, as in the system's own limit.
const LINKS: usize = 40;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathBase {
    /// The user's home, for `~`.
    pub home: Option<PathBuf>,
    /// The folder that the server runs in.
    pub folder: Option<PathBuf>,
}

impl PathBase {
    /// This process's folder, which a wrapped server inherits.
    pub fn here(home: Option<PathBuf>) -> Self {
        Self { home, folder: std::env::current_dir().ok() }
    }
}

pub(super) struct End {
    pub real: PathBuf,
    /// If the path's own last name is a link: its target as written.
    pub link: Option<PathBuf>,
    /// `None` where there is nothing.
    pub found: Option<Metadata>,
}

/// Follows every link of a path, as opening it would.
pub(super) fn follow(base: &PathBase, path: &str) -> io::Result<End> {
    let unknown = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what.to_owned());
    let start = if let Some(rest) = path.strip_prefix('~') {
        let home = base.home.as_ref().ok_or_else(|| unknown("your home is not known"))?;
        match rest.strip_prefix('/') {
            Some(rest) => home.join(rest.trim_start_matches('/')),
            None if rest.is_empty() => home.clone(),
            None => return Err(unknown("it starts in another user's home")),
        }
    } else if path.starts_with('/') {
        PathBuf::from(path)
    } else {
        base.folder.as_ref().ok_or_else(|| unknown("the server's folder is not known"))?.join(path)
    };
    let words = words(&start);
    let last = words.len();
    // The names still to walk, the next one last; each name of the path itself has its number, from 1.
    let mut todo: Vec<(Word, usize)> = words.into_iter().enumerate().map(|(at, word)| (word, at + 1)).rev().collect();
    let mut end = End { real: PathBuf::from("/"), link: None, found: Some(fs::symlink_metadata("/")?) };
    let (mut links, mut climbed) = (0, false);
    while let Some((word, number)) = todo.pop() {
        let Word::Name(name) = word else {
            if end.found.is_none() {
                return Err(unknown("it climbs (..) out of a folder that does not exist"));
            }
            end.real.pop();
            climbed = true;
            continue;
        };
        let next = end.real.join(name);
        if end.found.is_none() {
            end.real = next;
            continue;
        }
        match fs::symlink_metadata(&next) {
            Ok(found) if found.is_symlink() => {
                (links, climbed) = (links + 1, true);
                if links > LINKS {
                    return Err(unknown("it has too many links"));
                }
                if next.starts_with("/proc") {
                    return Err(unknown("it leads through /proc, where each process sees something else"));
                }
                let target = fs::read_link(&next)?;
                if number == last {
                    end.link = Some(target.clone());
                }
                if target.is_absolute() {
                    end.real = PathBuf::from("/");
                }
                todo.extend(self::words(&target).into_iter().map(|word| (word, 0)).rev());
            }
            Ok(found) => (end.real, end.found) = (next, Some(found)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (end.real, end.found) = (next, None),
            Err(error) => return Err(error),
        }
    }
    if end.found.is_some() && climbed {
        // After `..` or a link, `found` is not about this place.
        end.found = Some(fs::symlink_metadata(&end.real)?);
    }
    Ok(end)
}

enum Word {
    Name(std::ffi::OsString),
    Up,
}

fn words(path: &Path) -> Vec<Word> {
    let word = |part: Component<'_>| match part {
        Component::Normal(name) => Some(Word::Name(name.to_owned())),
        Component::ParentDir => Some(Word::Up),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().filter_map(word).collect()
}
