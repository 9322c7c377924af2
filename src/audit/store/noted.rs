//! The head of the chain as it was last synced, noted beside the log (`audit.head`): with it, `log verify` finds that
//! the log was removed, replaced or cut off at its end. Owns no record, and judges nothing.
//!
//! It is noted when the log is synced, so the last moment before a death may be missing from it. It does not reveal someone who
//! rewrites both files: that takes a head kept where they cannot write.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::state::{has, last};
use crate::audit::chain::Head;
use crate::audit::place::{self, StoreError};
use crate::wire::digest::Digest;

/// How many bytes of the file are read: far more than a head takes.
const LONGEST: u64 = 256;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Noted {
    /// No head: the log is new, or older than this file.
    Nothing,
    Head(Head),
    /// The file holds no head; why.
    Unreadable(String),
}

pub fn place_of(db: &Path) -> PathBuf {
    db.with_extension("head")
}

/// Reads what was noted beside the log at `db`. Read it before the log, which may grow meanwhile.
pub fn read(db: &Path) -> Noted {
    let mut text = String::new();
    let read = place::open_own(&place_of(db)).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
    match read {
        Err(error) if error.kind() == ErrorKind::NotFound => Noted::Nothing,
        Err(error) => Noted::Unreadable(error.to_string()),
        // A loss of power may leave the name without the content.
        Ok(0) => Noted::Nothing,
        Ok(_) => parse(&text).map_or_else(|| Noted::Unreadable("it holds no head".to_owned()), Noted::Head),
    }
}

fn parse(text: &str) -> Option<Head> {
    let (seq, link) = text.strip_suffix('\n')?.split_once(' ')?;
    let link: Digest = link.parse().ok()?;
    Some(Head { seq: seq.parse().ok()?, link })
}

/// Notes the head of the log at `path`, under its lock. An earlier note that the log no longer has stays: it proves the loss.
pub(super) fn note(db: &Connection, path: &Path) -> Result<(), StoreError> {
    let head = last(db).map_err(|fault| fault.of(path))?;
    let is_known = match read(path) {
        Noted::Nothing => true,
        Noted::Head(before) if Some(before) == head => return Ok(()),
        Noted::Head(before) => has(db, before).map_err(|fault| fault.of(path))?,
        Noted::Unreadable(_) => false,
    };
    if let Some(head) = head.filter(|_| is_known) { save(path, head) } else { Ok(()) }
}

/// Notes the head that a writer saw last in a log that no longer has it, unless a later one is noted: it is the proof of the loss.
pub(super) fn note_lost(path: &Path, known: Head) -> Result<(), StoreError> {
    match read(path) {
        Noted::Head(before) if before.seq >= known.seq => Ok(()),
        Noted::Unreadable(_) => Ok(()),
        Noted::Head(_) | Noted::Nothing => save(path, known),
    }
}

fn save(path: &Path, head: Head) -> Result<(), StoreError> {
    let place = place_of(path);
    let draft = place::beside(&place, ".new");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    options
        .open(&draft)
        .and_then(|mut file| writeln!(file, "{} {}", head.seq, head.link))
        .and_then(|()| std::fs::rename(&draft, &place))
        .map_err(|error| place::failed(&place, &error))
}
