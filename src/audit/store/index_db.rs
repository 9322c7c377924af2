//! The file of the index beside the log: its tables and nothing of their meaning. It is rebuilt whenever it is not as
//! expected, so its errors are only traced.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, TransactionBehavior, params};

use crate::audit::place;

const SCHEMA: &str = include_str!("../../../assets/index.sql");
const VERSION: i64 = 2;
/// `mcpi`, so that another program's database is distinguished from an index.
const APPLICATION: i64 = 0x6d63_7069;
/// How long to wait while another reader fills it. After that, a reader goes on without it.
const PATIENCE: Duration = Duration::from_millis(500);

/// Why the index cannot be used: a text for our own diagnostics.
#[derive(Debug, thiserror::Error)]
pub(in crate::audit) enum Unusable {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error("{0}")]
    Place(String),
    #[error("it is not as this program makes one")]
    Shape,
}

/// The columns of a segment, as little-endian numbers.
#[derive(Clone, Debug, Default)]
pub(in crate::audit) struct Columns {
    pub shapes: Vec<u8>,
    pub sessions: Vec<u8>,
    pub times: Vec<u8>,
    pub tickets: Vec<u8>,
    pub figures: Vec<u8>,
}

/// A segment with all that is kept of it.
pub(in crate::audit) struct Filled {
    pub number: u64,
    pub link: Vec<u8>,
    pub earliest: i64,
    pub latest: i64,
    pub columns: Columns,
    /// Rows of masks.
    pub masks: Vec<Vec<u8>>,
    /// Words that are new with it: list, place, text.
    pub words: Vec<(&'static str, u32, String)>,
}

/// The open file.
#[derive(Debug)]
pub(in crate::audit) struct IndexDb {
    db: Connection,
}

/// Where the index of a log lies.
pub fn place_of(log: &Path) -> PathBuf {
    log.with_extension("index.db")
}

impl IndexDb {
    /// Opens the file at `path`, or makes it.
    pub fn open(path: &Path) -> Result<Self, Unusable> {
        place::prepare(path).map_err(|error| Unusable::Place(error.to_string()))?;
        let access = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let mut db = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        db.busy_timeout(PATIENCE)?;
        // Nothing in it is worth a wait for the disk, but after a loss of power it must be whole or gone.
        db.execute_batch("PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA synchronous=NORMAL")?;
        let _: String = db.query_row("PRAGMA journal_mode=WAL", [], |row| row.get(0))?;
        let making = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let number = |sql: &str| making.query_row(sql, [], |row| row.get::<_, i64>(0));
        let found = (
            number("PRAGMA application_id")?,
            number("PRAGMA user_version")?,
            number("SELECT count(*) FROM sqlite_schema")?,
        );
        match found {
            (0, 0, 0) => making.execute_batch(&format!(
                "{SCHEMA} PRAGMA application_id={APPLICATION}; PRAGMA user_version={VERSION}"
            ))?,
            (APPLICATION, VERSION, 1..) => {}
            _ => return Err(Unusable::Shape),
        }
        making.commit()?;
        Ok(Self { db })
    }

    /// Removes the file and what SQLite keeps beside it.
    pub fn remove(path: &Path) {
        for suffix in ["-wal", "-shm", ""] {
            // If there is none, nothing is wrong; if it cannot be removed, opening it again will show that.
            let _ = std::fs::remove_file(place::beside(path, suffix));
        }
    }

    /// How many segments there are.
    pub fn segments(&self) -> Result<u64, Unusable> {
        let sql = "SELECT ifnull(max(number) + 1, 0) FROM segment";
        let count: i64 = self.db.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
        u64::try_from(count).map_err(|_| Unusable::Shape)
    }

    /// The link of a segment's last record.
    pub fn link(&self, segment: u64) -> Result<Option<Vec<u8>>, Unusable> {
        let sql = "SELECT link FROM segment WHERE number = ?1";
        Ok(self.db.prepare_cached(sql)?.query_row([signed(segment)], |row| row.get(0)).optional()?)
    }

    /// The words of a list from this place on.
    pub fn words(&self, list: &str, from: usize) -> Result<Vec<String>, Unusable> {
        let sql = "SELECT at, text FROM word WHERE list = ?1 AND at >= ?2 ORDER BY at";
        let mut statement = self.db.prepare_cached(sql)?;
        let from = i64::try_from(from).unwrap_or(i64::MAX);
        let mut rows = statement.query(params![list, from])?;
        let mut words = Vec::new();
        while let Some(row) = rows.next()? {
            if row.get::<_, i64>(0)? != from + i64::try_from(words.len()).unwrap_or(i64::MAX) {
                return Err(Unusable::Shape);
            }
            words.push(row.get(1)?);
        }
        Ok(words)
    }

    /// The earliest and latest time of a segment.
    pub fn times(&self, segment: u64) -> Result<(i64, i64), Unusable> {
        let sql = "SELECT earliest, latest FROM segment WHERE number = ?1";
        Ok(self.db.prepare_cached(sql)?.query_row([signed(segment)], |row| Ok((row.get(0)?, row.get(1)?)))?)
    }

    /// The columns of a segment.
    pub fn columns(&self, segment: u64) -> Result<Columns, Unusable> {
        let sql = "SELECT shapes, sessions, times, tickets, figures FROM segment WHERE number = ?1";
        let row = |row: &rusqlite::Row<'_>| {
            Ok(Columns {
                shapes: row.get(0)?,
                sessions: row.get(1)?,
                times: row.get(2)?,
                tickets: row.get(3)?,
                figures: row.get(4)?,
            })
        };
        Ok(self.db.prepare_cached(sql)?.query_row([signed(segment)], row)?)
    }

    /// Four bytes of a row of masks.
    pub fn mask(&self, row: u64, at: usize) -> Result<u32, Unusable> {
        let mut statement = self.db.prepare_cached("SELECT masks FROM piece WHERE row = ?1")?;
        let mut rows = statement.query([signed(row)])?;
        let masks = rows.next()?.ok_or(Unusable::Shape)?.get_ref(0)?.as_blob().map_err(|_| Unusable::Shape)?;
        let four = masks.get(at * 4..at * 4 + 4).and_then(|bytes| bytes.try_into().ok());
        four.map(u32::from_le_bytes).ok_or(Unusable::Shape)
    }

    /// Adds the next segment: `false` when another reader was quicker.
    pub fn add(&mut self, filled: &Filled) -> Result<bool, Unusable> {
        let adding = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let next: i64 = adding.query_row("SELECT ifnull(max(number) + 1, 0) FROM segment", [], |row| row.get(0))?;
        if next != signed(filled.number) {
            return Ok(false);
        }
        for (list, at, text) in &filled.words {
            adding
                .prepare_cached("INSERT INTO word (list, at, text) VALUES (?1, ?2, ?3)")?
                .execute(params![list, at, text])?;
        }
        let Columns { shapes, sessions, times, tickets, figures } = &filled.columns;
        let sql = "INSERT INTO segment (number, link, earliest, latest, shapes, sessions, times, tickets, figures)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let Filled { link, earliest, latest, .. } = filled;
        adding
            .prepare_cached(sql)?
            .execute(params![next, link, earliest, latest, shapes, sessions, times, tickets, figures])?;
        let first = next.saturating_mul(i64::try_from(filled.masks.len()).unwrap_or(i64::MAX));
        for (row, masks) in (first..).zip(&filled.masks) {
            adding.prepare_cached("INSERT INTO piece (row, masks) VALUES (?1, ?2)")?.execute(params![row, masks])?;
        }
        adding.commit()?;
        Ok(true)
    }

    /// What was noted under a name.
    pub fn note(&self, name: &str) -> Result<Option<String>, Unusable> {
        let sql = "SELECT text FROM note WHERE name = ?1";
        Ok(self.db.prepare_cached(sql)?.query_row([name], |row| row.get(0)).optional()?)
    }

    /// Notes something under a name.
    pub fn set_note(&self, name: &str, text: &str) -> Result<(), Unusable> {
        let sql = "INSERT INTO note (name, text) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET text = excluded.text";
        self.db.prepare_cached(sql)?.execute([name, text])?;
        Ok(())
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
