//! Changes the policy file, one change at a time: whole or not at all, recorded with its author, with a note for the undo.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{io, thread};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::audit::{Entry, Kind};
use crate::home::agreed::{RecordError, record, record_if_begun};
use crate::home::places::{PlaceError, Places};
use crate::home::policy_file::{self, Broken, NotKept, PolicyPlace, Written};
use crate::home::replace::replace;
use crate::home::{layers, user};
use crate::policy::edit::{self, EditError};
use crate::policy::{Policy, parse::BUILT_IN, reading::Problem};
use crate::wire::Digest;

const KEPT: usize = 100;

#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error(transparent)]
    Policy(#[from] Broken),
    #[error("this change of {} is not possible: {error}", path.display())]
    Edit { path: PathBuf, error: EditError },
    #[error("{} could not be read then: {}", path.display(), listed(problems))]
    Breaks { path: PathBuf, problems: Vec<Problem> },
    #[error("another process is changing the rules right now")]
    Locked,
    #[error("{} was changed while this command ran", .0.display())]
    Meanwhile(PathBuf),
    #[error("no change of {} can be taken back", .0.display())]
    NothingToUndo(PathBuf),
    #[error("another program has changed {} since", path.display())]
    ChangedSince { path: PathBuf, noted: PathBuf },
    #[error("{} cannot be read: {cause}", path.display())]
    Unreadable { path: PathBuf, cause: io::Error },
    #[error("{} cannot be written: {cause}", path.display())]
    Unwritable { path: PathBuf, cause: io::Error },
    #[error(transparent)]
    NotKept(#[from] NotKept),
    #[error(transparent)]
    NotRecorded(#[from] RecordError),
}

impl ChangeError {
    pub fn hint(&self) -> String {
        match self {
            Self::Place(error) => error.hint(),
            Self::Policy(broken) => broken.hint(),
            Self::Breaks { problems, .. } => problems.first().map(|first| first.hint.clone()).unwrap_or_default(),
            Self::ChangedSince { noted, .. } => {
                format!("take it back by hand; the text before is in {} (key `before`)", noted.display())
            }
            Self::Edit { .. } => {
                "`mcp-approve rules list` names the rules, `mcp-approve rules check` their problems".into()
            }
            Self::Locked => "try again in a moment".into(),
            Self::Meanwhile(_) => "look at it, and run the command again".into(),
            Self::NothingToUndo(_) => "only what `mcp-approve rules` wrote itself can be".into(),
            Self::Unreadable { .. } => "check the path, and that you may read the file".into(),
            Self::Unwritable { .. } => {
                "check that you may write there, and that the disk has room; nothing was changed".into()
            }
            Self::NotKept(_) => NotKept::HINT.into(),
            Self::NotRecorded(error) => error.hint(),
        }
    }
}

fn listed(problems: &[Problem]) -> String {
    problems.iter().map(|one| format!("line {}: {}", one.line, one.what)).collect::<Vec<_>>().join("; ")
}

/// A policy file that may be changed, and the places where its changes are noted.
#[derive(Clone, Copy, Debug)]
pub struct RuleFile<'p> {
    pub place: &'p PolicyPlace,
    pub places: &'p Places,
    /// Where the operator changes it, for the record.
    pub by: By,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Command,
    Console,
}

impl By {
    fn word(self) -> &'static str {
        match self {
            Self::Command => "by a command",
            Self::Console => "in the console",
        }
    }
}

#[derive(Debug)]
pub struct Draft<'p> {
    pub before: Option<String>,
    pub after: String,
    pub policy: Policy,
    file: RuleFile<'p>,
    /// Held so that no other process changes the rules meanwhile.
    _lock: File,
}

#[derive(Debug)]
pub enum Drafted<'p> {
    Sound(Box<Draft<'p>>),
    /// The policy would have these problems; `text` is that policy.
    Broken {
        text: String,
        problems: Vec<Problem>,
    },
}

impl<'p> RuleFile<'p> {
    /// The text to edit; `None` if there is no file yet, and the built-in default is edited instead.
    pub fn text(self) -> Result<Option<String>, Broken> {
        policy_file::text_at(self.place)
    }

    /// Prepares an edit of the policy, holding the lock from now on.
    pub fn draft(self, edit: impl FnOnce(&str) -> Result<String, EditError>) -> Result<Drafted<'p>, ChangeError> {
        let lock = lock(self.places)?;
        let before = self.text()?;
        let edited = edit(before.as_deref().unwrap_or(BUILT_IN));
        let after = edited.map_err(|error| ChangeError::Edit { path: self.place.path().into(), error })?;
        Ok(match policy_file::read(&after) {
            Ok(policy) => Drafted::Sound(Box::new(Draft { before, after, policy, file: self, _lock: lock })),
            Err(problems) => Drafted::Broken { text: after, problems },
        })
    }

    /// Makes an edit at once. `what` names the change for `rules undo`; `now` is milliseconds since 1970, UTC.
    pub fn change(
        self,
        what: &str,
        now: i64,
        edit: impl FnOnce(&str) -> Result<String, EditError>,
    ) -> Result<Written, ChangeError> {
        match self.draft(edit)? {
            Drafted::Sound(draft) => {
                draft.write(what, now)?;
                Ok(Written { before: draft.before, after: draft.after })
            }
            Drafted::Broken { problems, .. } => Err(ChangeError::Breaks { path: self.place.path().into(), problems }),
        }
    }

    /// Undoes the last change of this file; returns what it was. `now` is milliseconds since 1970, UTC.
    pub fn undo(self, now: i64) -> Result<String, ChangeError> {
        let _lock = lock(self.places)?;
        let path = self.place.path();
        let mut notes = notes(self.places)?.into_iter().rev();
        let last = notes
            .find_map(|noted| Some((Note::read(&noted)?, noted)).filter(|(note, _)| Path::new(&note.file) == path));
        let Some((note, noted)) = last else {
            return Err(ChangeError::NothingToUndo(path.into()));
        };
        let text = self.text()?.filter(|text| Digest::of(text.as_bytes()) == note.after);
        let Some(text) = text else { return Err(ChangeError::ChangedSince { path: path.into(), noted }) };
        let after = note.before.as_deref().unwrap_or_default();
        self.record(&format!("took back: {}", note.what), None, (&text, after), now)?;
        match &note.before {
            Some(before) => write(path, before)?,
            None => fs::remove_file(path).map_err(|cause| unwritable(path, cause))?,
        }
        fs::remove_file(&noted).map_err(|cause| unwritable(&noted, cause))?;
        Ok(note.what)
    }

    /// Records who changes what, before it is done, so that every change of the file has an author in the log.
    fn record(
        self,
        what: &str,
        from: Option<&Value>,
        (before, after): (&str, &str),
        now: i64,
    ) -> Result<(), RecordError> {
        let changed = layers::diff(before, after);
        let mut entry = Entry::new(now, Kind::Policy, &"mcp-approve".into(), &"rules".into());
        let rules = edit::differing(before, after);
        entry.rule = (!rules.is_empty()).then(|| rules.join(", "));
        if let Some(from) = from {
            entry.uncut.add("from_team", from);
        }
        let entry = entry
            .with("what", what)
            .with("operator", format!("{} ({})", user::name(), self.by.word()))
            .with("file", self.place.path().display().to_string())
            .with("text", Digest::of(after.as_bytes()).to_string())
            .with("diff", changed.lines().collect::<Vec<_>>());
        // What is from others has its record even where no server was wrapped yet.
        if from.is_some() { record(self.places, entry) } else { record_if_begun(self.places, entry) }
    }
}

impl Draft<'_> {
    /// Writes the change, after noting how to undo it, and recording it. `what` names the change for `rules undo`.
    pub fn write(&self, what: &str, now: i64) -> Result<(), ChangeError> {
        self.write_from(what, None, now)
    }

    /// The same; `from` is the signature of the team's set that it is taken over from.
    pub fn write_from(&self, what: &str, from: Option<&Value>, now: i64) -> Result<(), ChangeError> {
        let path = self.file.place.path();
        if self.file.text()? != self.before {
            return Err(ChangeError::Meanwhile(path.into()));
        }
        let note = Note {
            file: path.display().to_string(),
            what: what.to_owned(),
            time: now,
            before: self.before.clone(),
            after: Digest::of(self.after.as_bytes()),
        };
        let noted = note.keep(self.file.places)?;
        let before = self.before.as_deref().unwrap_or_default();
        let recorded = self.file.record(what, from, (before, &self.after), now).map_err(ChangeError::from);
        recorded.and_then(|()| write(path, &self.after)).inspect_err(|_| drop(fs::remove_file(&noted)))
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Note {
    file: String,
    what: String,
    /// Milliseconds since 1970, UTC.
    time: i64,
    before: Option<String>,
    after: Digest,
}

impl Note {
    /// Writes the note as the newest; returns its path.
    fn keep(&self, places: &Places) -> Result<PathBuf, ChangeError> {
        let folder = folder(places);
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.map_err(|cause| unwritable(&folder, cause))?;
        let all = notes(places)?;
        for old in all.iter().take((all.len() + 1).saturating_sub(KEPT)) {
            // If this fails, one note too many does no harm.
            let _ = fs::remove_file(old);
        }
        let number = |path: &PathBuf| path.file_stem()?.to_str()?.parse::<u64>().ok();
        let next = all.last().and_then(number).unwrap_or_default() + 1;
        let path = folder.join(format!("{next:08}.json"));
        let note = serde_json::to_string(self).map_err(|cause| unwritable(&path, cause.into()))?;
        write(&path, &format!("{note}\n"))?;
        Ok(path)
    }

    fn read(path: &Path) -> Option<Self> {
        serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
    }
}

fn folder(places: &Places) -> PathBuf {
    places.state_dir().join("undo")
}

fn notes(places: &Places) -> Result<Vec<PathBuf>, ChangeError> {
    let folder = folder(places);
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(|cause| ChangeError::Unreadable { path: folder.clone(), cause })?,
    };
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut notes: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|ext| ext == "json")).collect();
    notes.sort();
    Ok(notes)
}

/// How often to try a lock that another process holds, and how long to wait between tries.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(20);

/// Held until the file is dropped.
pub(super) fn lock(places: &Places) -> Result<File, ChangeError> {
    places.create_state()?;
    let path = places.state_dir().join("rules.lock");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    let file = options.open(&path).map_err(|cause| unwritable(&path, cause))?;
    // Commands of one script follow each other closely; an editor that is open for minutes holds no lock.
    for _ in 0..TRIES {
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            return Ok(file);
        }
        thread::sleep(PAUSE);
    }
    Err(ChangeError::Locked)
}

fn write(path: &Path, text: &str) -> Result<(), ChangeError> {
    replace(path, text).map_err(|cause| unwritable(path, cause))
}

fn unwritable(path: &Path, cause: io::Error) -> ChangeError {
    ChangeError::Unwritable { path: path.into(), cause }
}
