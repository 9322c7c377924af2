//! Why the log cannot be written or read, with what to do next; and what SQLite's own errors mean for it.

use std::path::{Path, PathBuf};

use rusqlite::{ErrorCode, ffi};

/// Why the log cannot be written or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("the audit log {path} cannot be written: {why}")]
    ReadOnly { path: PathBuf, why: String },
    #[error("the audit log {path} cannot grow: {why}")]
    Full { path: PathBuf, why: String },
    #[error("{path} is not an audit log: {why}")]
    NotALog { path: PathBuf, why: String },
    #[error("the audit log {path} is not used: {why}")]
    Exposed { path: PathBuf, why: String },
    #[error("the audit log {path} has format {found}; this program knows another")]
    Version { path: PathBuf, found: i64 },
    #[error("the audit log may not lie in {path}: it is on a network file system ({kind})")]
    Network { path: PathBuf, kind: String },
    #[error("the audit log stayed locked by another process: {path}")]
    Busy { path: PathBuf },
    #[error("the audit log {path} is damaged: {why}")]
    Damaged { path: PathBuf, why: String },
    #[error("the audit log {path} failed: {why}")]
    Io { path: PathBuf, why: String },
}

impl StoreError {
    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::ReadOnly { .. } => {
                "make its folder writable for your user, or choose another with --home or --audit-db"
            }
            Self::Full { .. } => "free some space, or raise the file size limit (ulimit -f)",
            Self::NotALog { .. } => "move that file away, or choose another with --audit-db",
            Self::Exposed { .. } => {
                "find out who did that; then make it a file of your own (chmod go-w), or move it away, or choose another with --audit-db"
            }
            Self::Version { .. } => {
                "use the version of mcp-approve that wrote it, or move it and its audit.head away to begin a new log"
            }
            Self::Network { .. } => "choose a local folder with --home or --audit-db",
            Self::Busy { .. } => "look for a stopped mcp-approve process that holds the lock, and end it",
            Self::Damaged { .. } => {
                "keep a copy, see what `mcp-approve log verify` says, and move it and its audit.head away to begin a new log"
            }
            Self::Io { .. } => "look at the disk and the folder, then try again",
        }
    }
}

/// What went wrong inside, before it has a path.
#[derive(Debug)]
pub(super) enum Fault {
    Sqlite(rusqlite::Error),
    Version(i64),
    NotOurs,
    Shape(&'static str),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl Fault {
    /// What it means for the log at this path.
    pub(super) fn of(&self, path: &Path) -> StoreError {
        let path = path.to_path_buf();
        let error = match self {
            Self::Version(found) => {
                return StoreError::Version { path, found: *found };
            }
            Self::NotOurs => {
                let why = "it is a database of another program".to_owned();
                return StoreError::NotALog { path, why };
            }
            Self::Shape(why) => {
                let why = (*why).to_owned();
                return StoreError::Damaged { path, why };
            }
            Self::Sqlite(error) => error,
        };
        let why = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                StoreError::ReadOnly { path, why }
            }
            Some(ErrorCode::DiskFull) => StoreError::Full { path, why },
            // A quota or a file size limit: SQLite tells only ENOSPC apart.
            _ if error.sqlite_error().is_some_and(|e| e.extended_code == ffi::SQLITE_IOERR_WRITE) => {
                StoreError::Full { path, why }
            }
            Some(ErrorCode::NotADatabase) => StoreError::NotALog { path, why },
            Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged { path, why },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { path },
            // What was read had another type than any record.
            None => StoreError::Damaged { path, why },
            Some(_) => StoreError::Io { path, why },
        }
    }
}
