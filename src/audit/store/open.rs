//! Opens the databases of the log: how SQLite is set up, what a file already holds, what SQLite's errors mean for the log.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, ffi};

use crate::audit::chain::Row;
use crate::audit::place::StoreError;

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

const SCHEMA: &str = include_str!("../../../assets/audit.sql");
/// What versions 2 and 3 have and the one before has not.
const UPGRADES: [&str; 2] = [include_str!("../../../assets/fold.sql"), include_str!("../../../assets/proof.sql")];
const VERSION: i64 = 3;
/// Bytes of a page of a new log. With larger pages fewer are written, but each fold writes its last one again.
pub(super) const PAGE: u64 = 16_384;
/// `mcpa`, for file(1), and so that another program's database is distinguished from a log.
const APPLICATION: i64 = 0x6d63_7061;

/// How long another program may hold SQLite's own lock. Our own writers take turns by the lock file.
const PATIENCE: Duration = Duration::from_secs(2);

pub(super) fn folder_of(log: &Path) -> PathBuf {
    log.with_extension("d")
}

pub(super) fn connect(path: &Path, access: OpenFlags) -> Result<Connection, Fault> {
    let db = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    db.busy_timeout(PATIENCE)?;
    db.execute_batch("PRAGMA trusted_schema=OFF")?;
    Ok(db)
}

pub(super) enum Contents {
    Nothing,
    Log,
    /// A log of an earlier version, which lacks these: version 1 is from before there were journals.
    Older(&'static [&'static str]),
}

pub(super) fn examine(db: &Connection) -> Result<Contents, Fault> {
    let number = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0));
    let version = number("PRAGMA user_version")?;
    let application = number("PRAGMA application_id")?;
    let things = number("SELECT count(*) FROM sqlite_schema")?;
    match (application, version, things) {
        (0, 0, 0) => Ok(Contents::Nothing),
        (APPLICATION, VERSION, 1..) => Ok(Contents::Log),
        (APPLICATION, 1, 1..) => Ok(Contents::Older(&UPGRADES)),
        (APPLICATION, 2, 1..) => Ok(Contents::Older(&UPGRADES[1..])),
        (APPLICATION, found, _) => Err(Fault::Version(found)),
        _ => Err(Fault::NotOurs),
    }
}

pub(super) fn set_up(db: &Connection) -> Result<(), Fault> {
    let contents = examine(db)?;
    // A fold touches about as many pages as the cache holds; the rest is written early. Given in pages: SQLite would convert bytes by
    // the old page size. fullfsync is for macOS, whose fsync leaves the data in the drive's cache.
    db.execute_batch(&format!(
        "PRAGMA page_size={PAGE}; PRAGMA cache_size=16; PRAGMA fullfsync=ON; PRAGMA synchronous=NORMAL;
         PRAGMA wal_autocheckpoint=0"
    ))?;
    let mode: String = db.query_row("PRAGMA journal_mode=WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        return Err(Fault::Shape("SQLite cannot keep a write-ahead log beside it"));
    }
    let make = match contents {
        Contents::Log => return Ok(()),
        Contents::Older(upgrades) => upgrades.concat(),
        Contents::Nothing => format!("{SCHEMA} {} PRAGMA application_id={APPLICATION};", UPGRADES.concat()),
    };
    Ok(db.execute_batch(&format!("BEGIN IMMEDIATE; {make} PRAGMA user_version={VERSION}; COMMIT"))?)
}

pub(super) fn row_of<'a>(row: &'a rusqlite::Row<'_>) -> rusqlite::Result<Row<'a>> {
    Ok(Row {
        seq: row.get_ref(0)?.as_i64().unwrap_or(0),
        writer: bytes(row.get_ref(1)?),
        body: bytes(row.get_ref(2)?),
        link: bytes(row.get_ref(3)?),
        origin: None,
    })
}

/// What another program wrote there, whatever its type; a number or null is not part of a record.
fn bytes(value: ValueRef<'_>) -> &[u8] {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => &[],
    }
}
