//! Reads the log back, and judges nothing: a row is handed on as it is. Where the rows come from is a trait's: this machine's file, or
//! the desk, which has the logs of many machines.

use std::fmt::Debug;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::leftover::{self, Left};
use super::open::{Contents, Fault, connect, examine, folder_of, row_of};
use super::state::looked_up;
use crate::audit::agreed::{self, Latest};
use crate::audit::chain::{Break, Head, Row, Verifier, Writer};
use crate::audit::fields::removed_key;
use crate::audit::place::{self, StoreError};
use crate::audit::removed::{self, Removed};
use crate::audit::search::Search;
use crate::wire::digest::Digest;

/// Reads a log. Writes nothing but what dead wrappers left, which it folds into the log when it is opened.
#[derive(Debug)]
pub struct Reader {
    rows: Box<dyn Rows + Send>,
    left: Vec<Left>,
    /// The latest record of what was removed.
    removed: Option<Removed>,
}

/// Where the rows of a log come from. They are numbered in the order in which they are read.
pub trait Rows: Debug {
    /// Shows up to `most` rows in order, from this number on, until `visit` breaks off.
    fn rows(&self, order: ReadOrder, from: i64, most: i64, visit: Visit<'_>) -> Result<(), StoreError>;

    /// Shows the row of this number, if there is one.
    fn one(&self, seq: i64, see: &mut dyn FnMut(Row<'_>)) -> Result<(), StoreError>;

    /// The number of the newest row; 0 when there is none.
    fn newest(&self) -> Result<i64, StoreError>;

    /// Those of these rows whose links do not follow from the rows before them, each in its own log, and from their own bytes.
    fn unlinked(&self, seqs: &mut dyn Iterator<Item = u64>) -> Result<Vec<Unlinked>, StoreError>;

    /// The record that is found by this digest; none where no record is.
    fn looked_up(&self, digest: &Digest) -> Result<Option<u64>, StoreError>;

    /// The journals beside the log, by their names.
    fn journals(&self) -> Result<Vec<Writer>, StoreError>;

    /// Shows those of the next rows that a search can want, and some others. `None`: it finds nothing by itself, and rows are read.
    fn find(&self, search: &Search, order: ReadOrder, from: i64, visit: Visit<'_>)
    -> Result<Option<Found>, StoreError>;
}

/// Sees one row after the other, until it breaks off.
pub type Visit<'a> = &'a mut dyn FnMut(Row<'_>) -> ControlFlow<()>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOrder {
    OldestFirst,
    NewestFirst,
}

/// A row whose link does not follow, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlinked {
    pub seq: u64,
    /// Whose record it is, in a log that has those of many machines.
    pub machine: Option<String>,
    pub why: Break,
}

/// How far a search has come by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The next row to look at.
    UpTo(u64),
    All,
}

impl Reader {
    /// Opens a log for reading; `None` when there is none yet.
    pub fn open(path: &Path) -> Result<Option<Self>, StoreError> {
        Self::with(path, leftover::fold_before_reading(path))
    }

    /// The same, but what dead wrappers left stays where it is: it takes no lock.
    pub fn open_as_is(path: &Path) -> Result<Option<Self>, StoreError> {
        Self::with(path, Vec::new())
    }

    /// Reads a log that is elsewhere.
    pub fn of(rows: Box<dyn Rows + Send>) -> Self {
        Self { rows, left: Vec::new(), removed: None }
    }

    fn with(path: &Path, left: Vec<Left>) -> Result<Option<Self>, StoreError> {
        let Some((file, contents)) = File::open(path)? else { return Ok(None) };
        let removed = match contents {
            Contents::Nothing => return Ok(None),
            Contents::Older(_) => None,
            Contents::Log => file.find_removed()?,
        };
        let rows = Box::new(File { begin: removed.as_ref().map_or(Head::EMPTY, Removed::end), ..file });
        Ok(Some(Self { rows, left, removed }))
    }

    /// What was removed from the beginning of the log, by the latest sound record of that.
    pub fn removed(&self) -> Option<&Removed> {
        self.removed.as_ref()
    }

    /// Entries that are not in the log though their wrappers are dead.
    pub fn left(&self) -> &[Left] {
        &self.left
    }

    /// The journals that are beside the log now, by their names.
    pub fn journals(&self) -> Result<Vec<Writer>, StoreError> {
        self.rows.journals()
    }

    /// Shows every record in order until `visit` breaks off.
    pub fn each(&self, order: ReadOrder, visit: Visit<'_>) -> Result<(), StoreError> {
        // From the very end on either side, so that numbers which we never give are seen, too.
        let from = if order == ReadOrder::OldestFirst { i64::MIN } else { i64::MAX };
        self.rows.rows(order, from, i64::MAX, visit)
    }

    /// Shows up to `most` records in order, the one of this number first, until `visit` breaks off.
    pub fn each_from(&self, order: ReadOrder, from: u64, most: u64, visit: Visit<'_>) -> Result<(), StoreError> {
        self.rows.rows(order, number(from), number(most), visit)
    }

    /// Shows those of the next records that a search can want, and some others, where the log finds them by itself.
    pub fn find(
        &self,
        search: &Search,
        order: ReadOrder,
        from: u64,
        visit: Visit<'_>,
    ) -> Result<Option<Found>, StoreError> {
        self.rows.find(search, order, number(from), visit)
    }

    /// The number of the first record that the log has, or will have.
    pub fn oldest(&self) -> u64 {
        self.removed.as_ref().map_or(1, |removed| removed.count() + 1)
    }

    /// The number of the newest record; 0 when there is none.
    pub fn newest(&self) -> Result<u64, StoreError> {
        Ok(u64::try_from(self.rows.newest()?).unwrap_or(0))
    }

    /// Whether the link of a record follows from the record before it and from its own bytes.
    pub fn follows(&self, seq: u64) -> Result<Result<(), Break>, StoreError> {
        let unlinked = self.unlinked(&mut std::iter::once(seq))?;
        Ok(unlinked.into_iter().next().map_or(Ok(()), |unlinked| Err(unlinked.why)))
    }

    /// Those of these records whose links do not follow so.
    pub fn unlinked(&self, seqs: &mut dyn Iterator<Item = u64>) -> Result<Vec<Unlinked>, StoreError> {
        self.rows.unlinked(seqs)
    }

    /// What the log says of each of these agreements, by their digests: the latest record, if that follows from the one
    /// before it and from its own bytes. `None`: there is no sound record of it.
    pub fn agreed(&self, digests: &[Digest]) -> Result<Vec<Option<Latest>>, StoreError> {
        digests.iter().map(|digest| self.latest(digest)).collect()
    }

    /// The record that is found by this digest.
    pub fn looked_up(&self, digest: &Digest) -> Result<Option<u64>, StoreError> {
        self.rows.looked_up(digest)
    }

    fn latest(&self, digest: &Digest) -> Result<Option<Latest>, StoreError> {
        let Some(seq) = self.looked_up(digest)? else { return Ok(None) };
        if self.follows(seq)?.is_err() {
            return Ok(None);
        }
        let read = |row: Row<'_>| agreed::latest(std::str::from_utf8(row.body).ok()?, digest);
        Ok(self.one(seq, read)?.flatten())
    }

    /// Shows one record; `None` when the log has none of that number.
    pub fn one<T>(&self, seq: u64, see: impl FnOnce(Row<'_>) -> T) -> Result<Option<T>, StoreError> {
        one(&*self.rows, seq, see)
    }
}

fn number(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn one<T>(rows: &dyn Rows, seq: u64, see: impl FnOnce(Row<'_>) -> T) -> Result<Option<T>, StoreError> {
    let Ok(seq) = i64::try_from(seq) else { return Ok(None) };
    let (mut see, mut seen) = (Some(see), None);
    rows.one(seq, &mut |row| seen = see.take().map(|see| see(row)))?;
    Ok(seen)
}

/// The log in this machine's file.
#[derive(Debug)]
struct File {
    db: Connection,
    path: PathBuf,
    /// Where the chain goes on after what was removed.
    begin: Head,
}

impl File {
    fn open(path: &Path) -> Result<Option<(Self, Contents)>, StoreError> {
        if std::fs::metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
            return Ok(None);
        }
        let (db, contents) = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
            .and_then(|db| {
                let contents = examine(&db)?;
                Ok((db, contents))
            })
            .or_else(|fault| still(path).ok_or(fault)?)
            .map_err(|fault| fault.of(path))?;
        Ok(Some((Self { db, path: path.to_path_buf(), begin: Head::EMPTY }, contents)))
    }

    fn find_removed(&self) -> Result<Option<Removed>, StoreError> {
        let Some(seq) = self.looked_up(&removed_key())? else { return Ok(None) };
        if self.unlinked_at(seq)?.is_some() {
            return Ok(None);
        }
        let said = one(self, seq, |row| removed::read(&row))?.flatten();
        Ok(said.filter(|said| said.fault(None).is_none()))
    }

    fn unlinked_at(&self, seq: u64) -> Result<Option<Break>, StoreError> {
        let last = seq.saturating_sub(1);
        let link = |row: Row<'_>| <[u8; 32]>::try_from(row.link).map(Digest::from_bytes).ok();
        let before = if last == self.begin.seq { Some(self.begin.link) } else { one(self, last, link)?.flatten() };
        let Some(link) = before else {
            return Ok(Some(Break::Missing { expected: last, found: number(seq) }));
        };
        let checked = one(self, seq, |row| Verifier::after(Head { seq: last, link }).take(&row))?;
        Ok(checked.unwrap_or(Err(Break::Malformed { seq })).err())
    }
}

impl Rows for File {
    fn rows(&self, order: ReadOrder, from: i64, most: i64, visit: Visit<'_>) -> Result<(), StoreError> {
        let sql = match order {
            ReadOrder::OldestFirst => {
                "SELECT seq, writer, body, link FROM record WHERE seq >= ?1 ORDER BY seq LIMIT ?2"
            }
            ReadOrder::NewestFirst => {
                "SELECT seq, writer, body, link FROM record WHERE seq <= ?1 ORDER BY seq DESC LIMIT ?2"
            }
        };
        let mut read = || -> Result<(), Fault> {
            let mut statement = self.db.prepare_cached(sql)?;
            let mut rows = statement.query([from, most])?;
            while let Some(row) = rows.next()? {
                if visit(row_of(row)?).is_break() {
                    break;
                }
            }
            Ok(())
        };
        read().map_err(|fault| fault.of(&self.path))
    }

    fn one(&self, seq: i64, see: &mut dyn FnMut(Row<'_>)) -> Result<(), StoreError> {
        let sql = "SELECT seq, writer, body, link FROM record WHERE seq = ?1";
        let mut read = || -> Result<(), Fault> {
            let mut statement = self.db.prepare_cached(sql)?;
            if let Some(row) = statement.query([seq])?.next()? {
                see(row_of(row)?);
            }
            Ok(())
        };
        read().map_err(|fault| fault.of(&self.path))
    }

    fn newest(&self) -> Result<i64, StoreError> {
        let newest = self.db.query_row("SELECT ifnull(max(seq), 0) FROM record", [], |row| row.get(0));
        newest.map_err(|error| Fault::from(error).of(&self.path))
    }

    fn unlinked(&self, seqs: &mut dyn Iterator<Item = u64>) -> Result<Vec<Unlinked>, StoreError> {
        let mut unlinked = Vec::new();
        for seq in seqs {
            unlinked.extend(self.unlinked_at(seq)?.map(|why| Unlinked { seq, machine: None, why }));
        }
        Ok(unlinked)
    }

    fn looked_up(&self, digest: &Digest) -> Result<Option<u64>, StoreError> {
        looked_up(&self.db, digest).map_err(|fault| fault.of(&self.path))
    }

    fn journals(&self) -> Result<Vec<Writer>, StoreError> {
        Ok(leftover::journals(&folder_of(&self.path))?.into_iter().map(|(_, writer)| writer).collect())
    }

    fn find(&self, _: &Search, _: ReadOrder, _: i64, _: Visit<'_>) -> Result<Option<Found>, StoreError> {
        Ok(None)
    }
}

/// Opens a log that no one can be writing, where SQLite cannot put its shared memory (a copy on a read-only medium).
fn still(path: &Path) -> Option<Result<(Connection, Contents), Fault>> {
    let wal = std::fs::metadata(place::beside(path, "-wal"));
    if wal.is_ok_and(|wal| wal.len() > 0) {
        return None;
    }
    let mut uri = String::from("file:");
    for &byte in std::path::absolute(path).ok()?.as_os_str().as_encoded_bytes() {
        match byte {
            b'?' | b'#' | b'%' | 0..=0x20 | 0x7f.. => uri.push_str(&format!("%{byte:02x}")),
            _ => uri.push(char::from(byte)),
        }
    }
    uri.push_str("?immutable=1");
    let access = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let db = connect(Path::new(&uri), access).ok()?;
    let contents = examine(&db).ok()?;
    Some(Ok((db, contents)))
}
