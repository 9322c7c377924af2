//! What SQLite's own errors mean for the log.

use std::path::Path;

use rusqlite::{ErrorCode, ffi};

use crate::audit::error::StoreError;

/// An error before its file's path is known.
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
            Self::Version(found) => return StoreError::Version { path, found: *found },
            Self::NotOurs => {
                return StoreError::NotALog { path, why: "it is a database of another program".to_owned() };
            }
            Self::Shape(why) => return StoreError::Damaged { path, why: (*why).to_owned() },
            Self::Sqlite(error) => error,
        };
        let why = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                StoreError::ReadOnly { path, why }
            }
            Some(ErrorCode::DiskFull) => StoreError::Full { path, why },
            // A quota or a file size limit: SQLite reports only ENOSPC as a full disk.
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
