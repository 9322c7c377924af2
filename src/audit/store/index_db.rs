//! The file of the index beside the log: its tables, not their meaning. It can be rebuilt, so its errors are only traced.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, TransactionBehavior};

use super::reader::ReadOrder;
use crate::audit::place;

const SCHEMA: &str = include_str!("../../../assets/index.sql");
const VERSION: i64 = 3;
/// `mcpi`, so that another program's database is distinguished from an index.
const APPLICATION: i64 = 0x6d63_7069;
/// How long to wait while another reader fills it. After that, a reader goes on without it.
const PATIENCE: Duration = Duration::from_millis(500);
/// How many words there may be; records with further ones are always looked at. Foreign names could add words without end.
const MOST: i64 = 100_000;
const NOTE: &str =
    "INSERT INTO note (name, text) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET text = excluded.text";

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

/// What is kept of a record that can be read.
pub(in crate::audit) struct Line {
    /// Texts that many records have in common, as JSON.
    pub shape: String,
    pub session: String,
    pub ticket: Option<i64>,
    /// Milliseconds since 1970, UTC.
    pub time: Option<i64>,
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

    /// The number of the last record; 0 when there is none.
    pub fn upto(&self) -> Result<u64, Unusable> {
        Ok(last(&self.db)?.cast_unsigned())
    }

    /// The words of a list, each with its number.
    pub fn words(&self, list: &str) -> Result<Vec<(i64, String)>, Unusable> {
        let mut statement = self.db.prepare_cached("SELECT number, text FROM word WHERE list = ?1")?;
        let words = statement.query_map([list], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(words.collect::<Result<_, _>>()?)
    }

    /// The first `most` records among these that meet a condition, and all of which nothing is known.
    pub fn named(
        &self,
        condition: &str,
        among: RangeInclusive<u64>,
        order: ReadOrder,
        most: usize,
    ) -> Result<Vec<u64>, Unusable> {
        let order = if order == ReadOrder::NewestFirst { "DESC" } else { "ASC" };
        let mut statement = self.db.prepare_cached(&format!(
            "SELECT seq FROM record {condition} AND seq BETWEEN ?1 AND ?2 UNION ALL
             SELECT seq FROM record INDEXED BY by_shape WHERE shape = 0 AND seq BETWEEN ?1 AND ?2
             ORDER BY 1 {order} LIMIT ?3"
        ))?;
        let values = (signed(*among.start()), signed(*among.end()), i64::try_from(most).unwrap_or(i64::MAX));
        let found = statement.query_map(values, |row| row.get(0).map(i64::cast_unsigned))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Adds the records from `first` on (`None`: cannot be read) and a note with them, unless another reader was quicker.
    pub fn add(&mut self, first: u64, lines: &[Option<Line>], note: (&str, &str)) -> Result<(), Unusable> {
        let adding = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if last(&adding)? + 1 != signed(first) {
            return Ok(());
        }
        let (mut shapes, mut sessions) = (HashMap::new(), HashMap::new());
        for (seq, line) in (signed(first)..).zip(lines) {
            let (mut words, mut rest) = (None, (None, None));
            if let Some(line) = line {
                let shape = number(&adding, "shape", &line.shape, &mut shapes)?;
                words = shape.zip(number(&adding, "session", &line.session, &mut sessions)?);
                rest = (line.ticket, line.time);
            }
            let ((shape, session), (ticket, time)) = words.map_or(((0, 0), (None, None)), |words| (words, rest));
            adding
                .prepare_cached("INSERT INTO record (seq, shape, session, ticket, time) VALUES (?1, ?2, ?3, ?4, ?5)")?
                .execute((seq, shape, session, ticket, time))?;
        }
        adding.execute(NOTE, note)?;
        Ok(adding.commit()?)
    }

    pub fn note(&self, name: &str) -> Result<Option<String>, Unusable> {
        let sql = "SELECT text FROM note WHERE name = ?1";
        Ok(self.db.prepare_cached(sql)?.query_row([name], |row| row.get(0)).optional()?)
    }

    /// Notes something under a name.
    pub fn set_note(&self, name: &str, text: &str) -> Result<(), Unusable> {
        self.db.execute(NOTE, [name, text])?;
        Ok(())
    }
}

fn last(db: &Connection) -> Result<i64, Unusable> {
    Ok(db.query_row("SELECT ifnull(max(seq), 0) FROM record", [], |row| row.get(0))?)
}

/// The number of a word, which may be new; `None` when there are too many. `known` are those that were looked up before.
fn number<'w>(
    db: &Connection,
    list: &str,
    text: &'w str,
    known: &mut HashMap<&'w str, i64>,
) -> Result<Option<i64>, Unusable> {
    if let Some(number) = known.get(text) {
        return Ok(Some(*number));
    }
    let sql = "SELECT number FROM word WHERE list = ?1 AND text = ?2";
    let mut number: Option<i64> = db.prepare_cached(sql)?.query_row([list, text], |row| row.get(0)).optional()?;
    if number.is_none() {
        let sql = "INSERT INTO word (list, text) SELECT ?1, ?2 WHERE (SELECT ifnull(max(number), 0) FROM word) < ?3";
        let is_new = db.prepare_cached(sql)?.execute((list, text, MOST))? > 0;
        number = is_new.then(|| db.last_insert_rowid());
    }
    known.extend(number.map(|number| (text, number)));
    Ok(number)
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
