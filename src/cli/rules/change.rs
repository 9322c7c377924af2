//! Changes the policy file: one at a time, whole or not at all, and so that it can be taken back. Owns no edit.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde_json::{Value, json};

use crate::cli::error::Error;
use crate::home::places::Places;
use crate::home::policy_file::{self, Broken, PolicyPlace, Why};
use crate::policy::edit::EditError;
use crate::policy::parse::BUILT_IN;
use crate::policy::reading::Problem;
use crate::policy::rule::Policy;
use crate::wire::digest::Digest;

/// So many changes can be taken back.
const KEPT: usize = 100;

/// A change that was worked out, and not written yet.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) before: Option<String>,
    pub(super) after: String,
    pub(super) policy: Policy,
    /// Nobody else changes the rules meanwhile.
    _lock: File,
}

/// What became of an edit.
#[derive(Debug)]
pub(super) enum Drafted {
    Sound(Box<Draft>),
    /// The policy would have these problems; the text that has them.
    Broken {
        text: String,
        problems: Vec<Problem>,
    },
}

/// The text that is edited: the file's, or the built-in default's where there is no file yet.
///
/// # Errors
/// The file cannot be read or trusted.
pub(super) fn text(place: &PolicyPlace) -> Result<Option<String>, Error> {
    match policy_file::text(place.path()) {
        Ok(text) => Ok(Some(text)),
        Err(Why::Unreadable(error))
            if error.kind() == io::ErrorKind::NotFound
                && matches!(place, PolicyPlace::Usual(path) if path.symlink_metadata().is_err()) =>
        {
            Ok(None)
        }
        Err(why) => Err(Broken { path: place.path().into(), why }.into()),
    }
}

/// Works out an edit of the policy, holding the lock from now on.
///
/// # Errors
/// The file cannot be read or trusted, is being changed by somebody else, or has no such rule.
pub(super) fn draft(
    place: &PolicyPlace,
    places: &Places,
    edit: impl FnOnce(&str) -> Result<String, EditError>,
) -> Result<Drafted, Error> {
    let lock = lock(places)?;
    let before = text(place)?;
    let after = edit(before.as_deref().unwrap_or(BUILT_IN)).map_err(|error| Error::Wrong {
        what: format!("{} cannot be changed so: {}", place.path().display(), super::visible(&error.to_string())),
        hint: "`mcp-approve rules list` names the rules, `mcp-approve rules check` their problems".to_owned(),
    })?;
    Ok(match policy_file::read(&after) {
        Ok(policy) => Drafted::Sound(Box::new(Draft { before, after, policy, _lock: lock })),
        Err(problems) => Drafted::Broken { text: after, problems },
    })
}

impl Draft {
    /// Writes the change, after noting how to take it back. `what` says what was done, for whoever does.
    ///
    /// # Errors
    /// The file was changed meanwhile, or cannot be written.
    pub(super) fn write(&self, place: &PolicyPlace, places: &Places, what: &str, now: i64) -> Result<(), Error> {
        if text(place)? != self.before {
            return Err(meanwhile(place.path()));
        }
        let note = Note {
            file: place.path().to_path_buf(),
            what: what.to_owned(),
            time: now,
            before: self.before.clone(),
            after: Digest::of(self.after.as_bytes()),
        };
        let noted = note.keep(places)?;
        replace(place.path(), &self.after).inspect_err(|_| drop(fs::remove_file(&noted)))
    }
}

/// Takes back the last change of this file; returns what that was.
///
/// # Errors
/// There is none, or the file was changed since by other means.
pub(super) fn undo(place: &PolicyPlace, places: &Places) -> Result<String, Error> {
    let _lock = lock(places)?;
    let mut notes = notes(places)?.into_iter().rev();
    let last = notes.find_map(|path| Some((Note::read(&path)?, path)).filter(|(note, _)| note.file == place.path()));
    let Some((note, noted)) = last else {
        return Err(Error::Wrong {
            what: format!("no change of {} can be taken back", place.path().display()),
            hint: "only what `mcp-approve rules` wrote itself can be".to_owned(),
        });
    };
    let current = text(place)?;
    if current.map(|text| Digest::of(text.as_bytes())) != Some(note.after) {
        return Err(Error::Wrong {
            what: format!("{} was changed since by other means", place.path().display()),
            hint: format!("take it back by hand; the text before is in {} (key `before`)", noted.display()),
        });
    }
    match &note.before {
        Some(before) => replace(place.path(), before)?,
        None => fs::remove_file(place.path()).map_err(|cause| unwritable(place.path(), cause))?,
    }
    fs::remove_file(&noted).map_err(|cause| unwritable(&noted, cause))?;
    Ok(note.what)
}

/// How to take one change back.
#[derive(Debug)]
struct Note {
    file: PathBuf,
    what: String,
    /// Milliseconds since 1970, UTC.
    time: i64,
    before: Option<String>,
    after: Digest,
}

impl Note {
    /// Writes it as the newest; returns where.
    fn keep(&self, places: &Places) -> Result<PathBuf, Error> {
        let folder = folder(places);
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.map_err(|cause| unwritable(&folder, cause))?;
        let all = notes(places)?;
        for old in all.iter().take((all.len() + 1).saturating_sub(KEPT)) {
            // One too many does no harm.
            let _ = fs::remove_file(old);
        }
        let number = |path: &PathBuf| path.file_stem()?.to_str()?.parse::<u64>().ok();
        let next = all.last().and_then(number).unwrap_or_default() + 1;
        let path = folder.join(format!("{next:08}.json"));
        let note = json!({
            "file": self.file.display().to_string(), "what": self.what, "time": self.time, "before": self.before,
            "after": self.after.to_string(),
        });
        replace(&path, &format!("{note}\n"))?;
        Ok(path)
    }

    fn read(path: &Path) -> Option<Self> {
        let value: Value = serde_json::from_str(&fs::read_to_string(path).ok()?).ok()?;
        let text = |key: &str| value.get(key)?.as_str().map(str::to_owned);
        Some(Self {
            file: text("file")?.into(),
            what: text("what")?,
            time: value.get("time")?.as_i64()?,
            before: text("before"),
            after: text("after")?.parse().ok()?,
        })
    }
}

fn folder(places: &Places) -> PathBuf {
    places.state_dir().join("undo")
}

/// The notes, the oldest first.
fn notes(places: &Places) -> Result<Vec<PathBuf>, Error> {
    let folder = folder(places);
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(|cause| Error::Unreadable { path: folder.clone(), cause })?,
    };
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut notes: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|ext| ext == "json")).collect();
    notes.sort();
    Ok(notes)
}

/// Held until the file is dropped.
fn lock(places: &Places) -> Result<File, Error> {
    places.create_state()?;
    let path = places.state_dir().join("rules.lock");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    let file = options.open(&path).map_err(|cause| unwritable(&path, cause))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(_) => Err(Error::Wrong {
            what: "somebody else is changing the rules right now".to_owned(),
            hint: "try again in a moment".to_owned(),
        }),
    }
}

/// Puts a text in the place of a file, whole or not at all. A link stays a link.
fn replace(path: &Path, text: &str) -> Result<(), Error> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = target.parent().unwrap_or(Path::new("/")).to_path_buf();
    let failed = |cause| unwritable(&target, cause);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(failed)?;
    let mode = fs::metadata(&target).map_or(0o600, |found| found.permissions().mode() & 0o777);
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let draft = folder.join(format!(".{name}.{}.new", std::process::id()));
    let write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&draft, &target)?;
        File::open(&folder)?.sync_all()
    };
    write().inspect_err(|_| drop(fs::remove_file(&draft))).map_err(failed)
}

pub(super) fn meanwhile(path: &Path) -> Error {
    Error::Wrong {
        what: format!("{} was changed while this command ran", path.display()),
        hint: "look at it, and run the command again".to_owned(),
    }
}

pub(super) fn unwritable(path: &Path, cause: io::Error) -> Error {
    Error::Failed {
        what: format!("{} cannot be written", path.display()),
        cause: cause.into(),
        hint: "check that you may write there, and that the disk has room; nothing was changed".to_owned(),
    }
}
