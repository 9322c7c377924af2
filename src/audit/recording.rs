//! What it takes to record: the log, random names, and the key that hides secrets from the log, kept in the state folder.

use std::borrow::Borrow;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::Arc;

use super::chain::{Writer, journal_name};
use super::kept_texts;
use super::place::open_own;
use super::record::Entry;
use super::record::NamedText;
use super::redact::Redactor;
use super::store::{Journal, Store, StoreError};

pub struct Recording {
    pub store: Store,
    pub redactor: Redactor,
}

/// A text to be kept, and which session names it when.
#[derive(Clone, Debug)]
pub struct ToKeep {
    pub time: i64,
    pub server: Arc<str>,
    pub session: Arc<str>,
    pub text: NamedText,
}

impl ToKeep {
    pub fn of(entry: &Entry) -> Option<Self> {
        let (server, session) = (Arc::clone(&entry.server), Arc::clone(&entry.session));
        Some(Self { time: entry.time, server, session, text: entry.names.clone()? })
    }
}

#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    #[error("{0}; {hint}", hint = .0.hint())]
    Store(#[from] StoreError),
    #[error("no randomness: {0}")]
    Chance(std::io::Error),
    #[error(
        "the key {path}, by which secrets are hidden from the log, cannot be used: {why}; make its folder writable for \
         your user"
    )]
    Key { path: String, why: std::io::Error },
}

impl Recording {
    /// Opens the log at `log`, and the key at `key`; each is made where it is missing.
    pub fn open(log: &Path, key: &Path) -> Result<Self, RecordingError> {
        Self::with(log, key, random().map_err(RecordingError::Chance)?)
    }

    /// The same for a wrapper: its records are known as those of this session.
    pub fn of_session(log: &Path, key: &Path, session: &str) -> Result<Self, RecordingError> {
        Self::with(log, key, journal_name(session, random().map_err(RecordingError::Chance)?))
    }

    fn with(log: &Path, key: &Path, writer: Writer) -> Result<Self, RecordingError> {
        Ok(Self { store: Store::open(log, writer)?, redactor: redactor(key)? })
    }

    pub fn journal(&mut self, session: &str) -> Result<Journal, RecordingError> {
        let chance = random().map_err(RecordingError::Chance)?;
        Ok(self.store.journal(journal_name(session, chance))?)
    }

    /// Records entries that no call waits for, and syncs them.
    pub fn record(&mut self, entries: &[(u64, impl Borrow<Entry>)]) -> Result<(), RecordingError> {
        if !entries.is_empty() {
            self.store.append(entries, &self.redactor)?;
        }
        let entries = entries.iter().map(|(_, entry)| entry.borrow());
        self.keep(&entries.filter_map(ToKeep::of).collect::<Vec<_>>())?;
        Ok(self.store.sync()?)
    }

    /// Records those texts that the log does not have, not synced.
    pub fn keep(&mut self, texts: &[ToKeep]) -> Result<(), StoreError> {
        if texts.is_empty() {
            return Ok(());
        }
        let entries: Vec<Entry> = texts
            .iter()
            .map(|one| kept_texts::entry(&one.text, (one.time, &one.server, &one.session), &self.redactor))
            .collect();
        self.store.append_new(&entries, &self.redactor)
    }
}

/// What replaces secrets in the log, by the key at `key`, which is made where it is missing.
pub fn redactor(key: &Path) -> Result<Redactor, RecordingError> {
    let found = redaction_key(key).map_err(|why| RecordingError::Key { path: key.display().to_string(), why })?;
    Ok(Redactor::new(&found))
}

pub fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The redaction key, made when it is missing. Two wrappers that start at once agree on one: the file appears whole or not at all.
pub(super) fn redaction_key(path: &Path) -> io::Result<[u8; 32]> {
    match read(path) {
        Ok(key) => return Ok(key),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let suffix = u64::from_be_bytes(random()?);
    let draft = path.with_extension(format!("{suffix:016x}"));
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    let written =
        file.write_all(&random::<32>()?).and_then(|()| file.sync_all()).and_then(|()| {
            match std::fs::hard_link(&draft, path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
                _ => Ok(()),
            }
        });
    std::fs::remove_file(&draft)?;
    written?;
    read(path)
}

/// Whoever knows the key can guess what it hides, so it is taken from a file of our own only.
fn read(path: &Path) -> io::Result<[u8; 32]> {
    let mut bytes = Vec::new();
    open_own(path)?.take(33).read_to_end(&mut bytes)?;
    bytes.try_into().map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it does not hold 32 bytes"))
}
