//! What dead wrappers left: their journals are found beside the log, checked, folded into it and removed. A journal
//! that was changed, or that the disk never had whole, is folded up to the damage, noted in the log, and kept aside.
//!
//! A wrapper is dead when nobody holds SQLite's lock on its journal: checked under the log's lock, under which journals are made.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use rustix::time::{ClockId, clock_gettime};

use super::frames::{self, Frames};
use super::journal::{APPLICATION, VERSIONS, finish_removals, is_removed, path_of, remove};
use super::open::{Fault, connect, folder_of, row_of};
use super::state::{Running, State, head};
use crate::audit::body::{JournalPart, write_body};
use crate::audit::chain::{self, Writer, follow_commit, lines};
use crate::audit::place::{self, Held, Lock, StoreError};
use crate::audit::record::{Entry, Kind};
use crate::audit::redact::Redactor;

/// How long a reader waits for the writers' lock before it goes on without what was left.
const PATIENCE: Duration = Duration::from_secs(2);
/// What every database begins with.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// How much text is folded in one transaction.
const AT_ONCE: usize = 1 << 20;

/// Entries that are not in the log, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Left {
    /// They are not as they were written: they are kept aside in this file.
    Aside { path: PathBuf, damage: Damage },
    /// They could not be folded into the log now; who opens it next tries again.
    Unfolded { path: PathBuf, why: String },
}

impl Left {
    /// The journal that could not be folded.
    pub fn unfolded(&self) -> Option<Writer> {
        match self {
            Self::Aside { .. } => None,
            Self::Unfolded { path, .. } => writer_of(path),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    #[error("entries of a wrapper that ended were changed before they reached the log")]
    Changed,
    /// A part of it is missing. A loss of power before a sync does that, and so can anyone who may write the file.
    #[error(
        "the journal of a wrapper that ended is incomplete: it was cut off, overwritten or replaced, or the power was lost before the disk had it"
    )]
    Incomplete,
}

impl Damage {
    const ALL: [Self; 2] = [Self::Changed, Self::Incomplete];

    /// How the file is named that is kept aside.
    fn extension(self) -> &'static str {
        match self {
            Self::Changed => "broken",
            Self::Incomplete => "incomplete",
        }
    }
}

/// Folds what dead wrappers left beside the log at `log`, and returns what could not be.
pub(super) fn fold_before_reading(log: &Path) -> Vec<Left> {
    let folder = folder_of(log);
    let unfolded = |error: &StoreError| Left::Unfolded { path: folder.clone(), why: error.to_string() };
    let mut left = match journals(&folder) {
        Ok(journals) if journals.is_empty() => Vec::new(),
        Ok(_) => fold_under_lock(log).unwrap_or_else(|error| vec![unfolded(&error)]),
        Err(error) => vec![unfolded(&error)],
    };
    left.extend(aside(&folder));
    left
}

/// Folds what dead wrappers left, unless somebody writes to the log just now: it waits for no lock. Returns what could not be folded.
pub fn fold_left(log: &Path) -> Result<Vec<Left>, StoreError> {
    if journals(&folder_of(log))?.is_empty() {
        return Ok(Vec::new());
    }
    Lock::of(log).try_hold()?.map_or_else(|| Ok(Vec::new()), |held| fold_under(log, &held))
}

fn fold_under_lock(log: &Path) -> Result<Vec<Left>, StoreError> {
    place::prepare(log)?;
    fold_under(log, &Lock::of(log).hold_within(PATIENCE)?)
}

fn fold_under(log: &Path, held: &Held) -> Result<Vec<Left>, StoreError> {
    place::survive_size_limit();
    place::prepare(log)?;
    let (dead, mut left) = find(&folder_of(log), held)?;
    if !dead.is_empty() {
        let mut state = State::open(log, held)?;
        left.extend(fold_all(&mut state, held, dead)?);
    }
    Ok(left)
}

/// Folds what dead wrappers left, for a writer that has the log open already.
pub(super) fn fold_before_writing(log: &Path, state: &mut State, held: &Held) -> Result<(), StoreError> {
    let folder = folder_of(log);
    let (dead, mut left) = find(&folder, held)?;
    left.extend(fold_all(state, held, dead)?);
    for one in left {
        tracing::warn!(?one, "entries of a dead wrapper are not in the log");
    }
    let gone: Vec<_> =
        state.folded()?.into_iter().filter(|writer| place::identity(&path_of(&folder, writer)).is_none()).collect();
    if !gone.is_empty() {
        // Only once the disk has their removal: a journal that came back would be folded twice.
        let parent = folder.parent().unwrap_or(Path::new("."));
        let open = if folder.exists() { File::open(&folder) } else { File::open(parent) };
        let synced = open.and_then(|folder| folder.sync_all());
        synced.map_err(|error| place::failed(&folder, &error))?;
        state.forget(held, &gone)?;
    }
    Ok(())
}

/// A journal that no other process has open: under SQLite's exclusive lock, or nothing that SQLite can read.
struct Dead {
    db: Result<Connection, Fault>,
    path: PathBuf,
    writer: Writer,
}

/// The journals of dead wrappers, and those whose wrapper may live.
fn find(folder: &Path, _held: &Held) -> Result<(Vec<Dead>, Vec<Left>), StoreError> {
    let (mut dead, mut left) = (Vec::new(), Vec::new());
    finish_removals(folder);
    for (path, writer) in journals(folder)? {
        match open(&path) {
            Err(Fault::Sqlite(error)) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {}
            Err(_) if is_removed(&path) => {}
            Err(fault) if !is_broken(&fault) => {
                let why = fault.of(&path).to_string();
                left.push(Left::Unfolded { path, why });
            }
            db => dead.push(Dead { db, path, writer }),
        }
    }
    Ok((dead, left))
}

fn open(path: &Path) -> Result<Connection, Fault> {
    if size(path) <= 1 && size(&place::beside(path, "-wal")) > 0 {
        // SQLite takes that for an empty database: it would remove the write-ahead log, and with it the entries.
        return Err(Fault::Shape("the database is missing"));
    }
    let access = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let db = connect(path, access)?;
    db.busy_timeout(Duration::ZERO)?;
    db.execute_batch("PRAGMA cell_size_check=ON; PRAGMA locking_mode=EXCLUSIVE")?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // The first access takes the lock.
    db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(db)
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |file| file.len())
}

/// Whether a fault says something about the journal, and not about the machine.
fn is_broken(fault: &Fault) -> bool {
    match fault {
        // A later version of this program wrote it, which can fold it.
        Fault::Version(_) => false,
        Fault::NotOurs | Fault::Shape(_) => true,
        Fault::Sqlite(error) => matches!(
            error.sqlite_error_code(),
            None | Some(
                ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt | ErrorCode::TypeMismatch | ErrorCode::Unknown
            )
        ),
    }
}

fn fold_all(state: &mut State, held: &Held, dead: Vec<Dead>) -> Result<Vec<Left>, StoreError> {
    let folded = dead.into_iter().map(|dead| Ok((fold(state, held, &dead)?, dead)));
    // All of them first: one may name the next, which alone ends the session.
    let folded = folded.collect::<Result<Vec<_>, StoreError>>()?;
    let mut left = Vec::new();
    for (folded, dead) in folded {
        if !matches!(folded, Folded::Unknown { .. }) {
            end_session(state, held, &dead)?;
        }
        match folded {
            Folded::All => {
                state.sync()?;
                remove(&dead.path);
            }
            Folded::UpTo { damage, why } => {
                note(damage, state, held, &dead, &why)?;
                state.sync()?;
                set_aside(&dead.path, damage)?;
            }
            Folded::Unknown { why } => left.push(Left::Unfolded { path: dead.path, why }),
        }
    }
    Ok(left)
}

/// How far a journal went into the log.
enum Folded {
    All,
    /// Up to the first entry that is not as it was written.
    UpTo {
        damage: Damage,
        why: String,
    },
    /// The machine failed; the rest may be read another time.
    Unknown {
        why: String,
    },
}

fn fold(state: &mut State, held: &Held, dead: &Dead) -> Result<Folded, StoreError> {
    let mut part = JournalPart::new(dead.writer, 1);
    let (mut refused, mut last) = (Ok(()), 0);
    let upto = state.upto(&dead.writer)?;
    let incomplete = |why: &str| Folded::UpTo { damage: Damage::Incomplete, why: why.to_owned() };
    if upto == 0 && state.unended(&dead.writer)?.is_some() && state.names_session(&dead.writer)? {
        // How far it is in the log was forgotten, because it was gone.
        return Ok(incomplete("it was removed and put back"));
    }
    let mut visit = |n: u64, body: &str| {
        last = n;
        if part.bytes() == 0 {
            part = JournalPart::new(dead.writer, n);
        }
        part.push(|out| out.push_str(body));
        if part.bytes() >= AT_ONCE {
            refused = state.fold(held, &[&part]);
            part = JournalPart::new(dead.writer, n + 1);
        }
        refused.is_ok()
    };
    let unread = |fault: &Fault| {
        let damage = if is_incomplete(&dead.path) { Damage::Incomplete } else { Damage::Changed };
        Folded::UpTo { damage, why: fault.of(&dead.path).to_string() }
    };
    let read = match &dead.db {
        Ok(db) => read(db, dead, &mut visit),
        Err(fault) => return Ok(unread(fault)),
    };
    refused?;
    if part.bytes() > 0 {
        state.fold(held, &[&part])?;
    }
    // Journals of earlier versions were emptied and used again.
    let keeps_all = state.names_session(&dead.writer)?;
    let wal = place::beside(&dead.path, "-wal");
    let session = state.unended(&dead.writer)?;
    Ok(match read {
        Ok(content @ (Content::Sound | Content::Unfinished)) => match frames::look(&wal) {
            Ok(Frames::HideCommits) => incomplete("entries are behind a place that SQLite cannot read"),
            // The power was lost before the disk had the rest: no process removed it.
            Ok(_) if session.as_ref().is_some_and(is_from_before_start) => Folded::All,
            Ok(_) if keeps_all && last < upto => incomplete("it has fewer entries than the log has of it"),
            Ok(_) if content == Content::Unfinished && session.is_some_and(|one| one.journal == Some(dead.writer)) => {
                incomplete("it is empty, and the log names it")
            }
            Ok(Frames::CutOff) if keeps_all => incomplete("its end was cut off"),
            Ok(Frames::CutOff | Frames::Whole) => Folded::All,
            Err(error) => Folded::Unknown { why: place::failed(&wal, &error).to_string() },
        },
        Ok(Content::Changed(why)) => Folded::UpTo { damage: Damage::Changed, why },
        Err(fault) if is_broken(&fault) => unread(&fault),
        Err(fault) => Folded::Unknown { why: fault.of(&dead.path).to_string() },
    })
}

/// Whether a part of the database is missing: it is too short, or a page begins with a zero, which SQLite never writes.
fn is_incomplete(path: &Path) -> bool {
    let mut bytes = Vec::new();
    // A database as it was made has three pages.
    let is_read = File::open(path).is_ok_and(|file| file.take(AT_ONCE as u64).read_to_end(&mut bytes).is_ok());
    let number =
        |at: Range<usize>| bytes.get(at).map(|bytes| bytes.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)));
    let (Some(page @ 512..), Some(pages)) = (number(16..18), number(28..32)) else {
        return is_read && bytes.first().is_none_or(|first| *first == 0) || !path.exists();
    };
    let is_zero = |page: &[u8]| page.first() == Some(&0);
    bytes.starts_with(MAGIC) && (bytes.len() < page * pages || bytes.chunks(page).any(is_zero))
}

/// What a journal is that SQLite can read.
#[derive(PartialEq, Eq)]
enum Content {
    Sound,
    /// It was not finished when its wrapper died.
    Unfinished,
    /// What is wrong with the entry after those that were shown.
    Changed(String),
}

/// Shows entries while they carry the right link and `visit` returns true.
fn read(db: &Connection, dead: &Dead, visit: &mut dyn FnMut(u64, &str) -> bool) -> Result<Content, Fault> {
    let number = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0));
    match (number("PRAGMA application_id")?, number("PRAGMA user_version")?) {
        (0, 0) if number("SELECT count(*) FROM sqlite_schema")? == 0 => {
            // Room for entries is only made once it is finished.
            return match size(&place::beside(&dead.path, "-wal")) < frames::AHEAD {
                true => Ok(Content::Unfinished),
                false => Err(Fault::Shape("its database was replaced by an empty one")),
            };
        }
        (APPLICATION, version) if VERSIONS.contains(&version) => {}
        (APPLICATION, found) => return Err(Fault::Version(found)),
        _ => return Err(Fault::NotOurs),
    }
    let base = head(db, "SELECT n, link FROM base")?.ok_or(Fault::Shape("its beginning is missing"))?;
    let mut head = base;
    let mut statement = db.prepare("SELECT n, ?1, body, link FROM entry ORDER BY n")?;
    let mut rows = statement.query([&dead.writer])?;
    while let Some(row) = rows.next()? {
        let row = row_of(row)?;
        let first = head.seq + 1;
        head = match follow_commit(head, &row) {
            Ok(head) => head,
            Err(found) => return Ok(Content::Changed(found.to_string())),
        };
        for (n, body) in (first..).zip(lines(row.body)) {
            let Ok(body) = std::str::from_utf8(body) else {
                return Ok(Content::Changed("an entry is not a text".to_owned()));
            };
            if !visit(n, body) {
                return Ok(Content::Sound);
            }
        }
    }
    Ok(Content::Sound)
}

/// Appends that the session of a journal has ended, if it is the one that the log names last: any other can be put beside the log.
fn end_session(state: &mut State, held: &Held, dead: &Dead) -> Result<(), StoreError> {
    let Some(running) = state.unended(&dead.writer)? else { return Ok(()) };
    let how = match is_from_before_start(&running) {
        true => "the machine was started again; records of its last moment may be missing",
        false if running.journal == Some(dead.writer) => "the wrapper was killed",
        false => return Ok(()),
    };
    let entry = Entry::new(changed_at(&dead.path), Kind::ServerEnd, &running.server.into(), &running.session.into());
    append(state, held, dead, &entry.with("how", how).with("killed", true))
}

fn note(damage: Damage, state: &mut State, held: &Held, dead: &Dead, why: &str) -> Result<(), StoreError> {
    let name = dead.path.file_stem().unwrap_or_default().to_string_lossy();
    let entry = Entry::new(changed_at(&dead.path), Kind::Fault, &"mcp-approve".into(), &"audit log".into())
        .with("what", damage.to_string())
        .with("why", why)
        .with("journal", name.get(..8).unwrap_or_default());
    append(state, held, dead, &entry)
}

fn append(state: &mut State, held: &Held, dead: &Dead, entry: &Entry) -> Result<(), StoreError> {
    let mut part = JournalPart::new(dead.writer, 1);
    // It holds no secret to hide, so any key does.
    part.push(|out| write_body(entry, &Redactor::new(&[0; 32]), out));
    state.append(held, &part).map(drop)
}

/// When a journal was last changed, in milliseconds since 1970, UTC.
fn changed_at(path: &Path) -> i64 {
    let changed = |suffix: &&str| fs::metadata(place::beside(path, suffix)).ok()?.modified().ok();
    let changed = ["-wal", ""].iter().filter_map(changed).max();
    let changed = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    i64::try_from(changed.as_millis()).unwrap_or(i64::MAX)
}

/// Whether the machine was started after a session began, by its record: anyone can set the time of a file.
fn is_from_before_start(running: &Running) -> bool {
    let (now, since_start) = (clock_gettime(ClockId::Realtime).tv_sec, clock_gettime(SINCE_START).tv_sec);
    running.began.is_some_and(|began| began / 1000 < now - since_start)
}

#[cfg(target_os = "linux")]
const SINCE_START: ClockId = ClockId::Boottime;
#[cfg(not(target_os = "linux"))]
const SINCE_START: ClockId = ClockId::Monotonic;

/// Renames a journal so that no reader folds it again. The write-ahead log goes first: it holds what matters.
fn set_aside(path: &Path, damage: Damage) -> Result<(), StoreError> {
    let aside = path.with_extension(damage.extension());
    for suffix in ["-wal", ""] {
        match fs::rename(place::beside(path, suffix), place::beside(&aside, suffix)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(place::failed(path, &error)),
            _ => {}
        }
    }
    Ok(())
}

/// The journals in a folder, alive or dead.
pub(super) fn journals(folder: &Path) -> Result<Vec<(PathBuf, Writer)>, StoreError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(place::failed(folder, &error)),
    };
    let paths = entries.filter_map(|entry| {
        let path = entry.ok()?.path();
        // The disk may lack the name of the database, but have that of its write-ahead log.
        Some(if path.extension()? == "db-wal" && size(&path) > 0 { path.with_extension("db") } else { path })
    });
    let journals: BTreeMap<_, _> = paths.filter_map(|path| writer_of(&path).map(|writer| (path, writer))).collect();
    Ok(journals.into_iter().collect())
}

fn writer_of(path: &Path) -> Option<Writer> {
    chain::named(path.file_name()?.to_str()?.strip_suffix(".db")?)
}

fn aside(folder: &Path) -> Vec<Left> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let aside = entries.filter_map(|entry| {
        let path = entry.ok()?.path();
        let extension = path.extension()?.to_str()?;
        let extension = extension.strip_suffix("-wal").unwrap_or(extension);
        let damage = Damage::ALL.into_iter().find(|damage| damage.extension() == extension)?;
        Some((path.with_extension(extension), damage))
    });
    // Both files of a journal, or one of them, make one entry.
    let aside: BTreeMap<_, _> = aside.collect();
    aside.into_iter().map(|(path, damage)| Left::Aside { path, damage }).collect()
}
