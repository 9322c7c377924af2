//! Whether what the desk has of this machine is this machine's own log. Whoever owns the database can write it again from some record on,
//! with links that hold; then its newest records are others, until newer ones of ours arrive. Writes to no log.

use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use super::engine::{Engine, EngineError};
use crate::audit::{Entry, Fields, Kind, ReadOrder, Reader, Record, StoreError};

/// The session of the records that say so.
const SESSION: &str = "desk run";
/// How many of the newest records of a log are searched for one.
const SEARCHED: u64 = 10_000;

/// Records that the desk has of this machine.
pub struct OnDesk(Vec<(u64, Vec<u8>)>);

/// A record that the desk has of this machine, and its own log has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Other {
    pub seq: u64,
}

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seq } = self;
        write!(f, "the desk has another record {seq} of this machine than its own log")
    }
}

impl Other {
    pub const HINT: &str = "whoever owns the database wrote it again, or this log is a new one or an older copy: `mcp-approve log verify` says the head \
         that it has here, and `mcp-approve log verify --desk --json` the one there";

    /// What the log keeps of it.
    pub fn entry(&self, now: i64) -> Entry {
        let server: Arc<str> = "mcp-approve".into();
        let entry = Entry::new(now, Kind::Fault, &server, &SESSION.into());
        entry.with("what", self.to_string()).with("seq", self.seq)
    }

    /// The latest record in this log that says so.
    pub fn kept(log: &Path) -> Result<Option<Record>, StoreError> {
        let (mut found, reader) = (None, Reader::open_as_is(log)?);
        let Some(reader) = reader else { return Ok(None) };
        reader.each_from(ReadOrder::NewestFirst, reader.newest()?, SEARCHED, &mut |row| {
            let says = |of: Fields<'_>| of.kind() == Some(Kind::Fault) && of.session == SESSION;
            if !Fields::of_row(&row).is_some_and(says) {
                return ControlFlow::Continue(());
            }
            found = Some(Record::new(&row));
            ControlFlow::Break(())
        })?;
        Ok(found)
    }
}

impl OnDesk {
    /// The newest, and those of the number that was the newest of our own when it was last looked at.
    pub async fn read(engine: &Engine, machine: &str, before: u64) -> Result<Self, EngineError> {
        const ROWS: &str = "SELECT seq, link FROM mcp_approve.record
            WHERE machine = $1 AND seq IN ($2, (SELECT max(seq) FROM mcp_approve.record WHERE machine = $1)) ORDER BY seq";
        let before = i64::try_from(before).unwrap_or(i64::MAX);
        let rows = engine.client.query(ROWS, &[&machine, &before]).await?;
        Ok(Self(rows.iter().filter_map(|row| Some((u64::try_from(row.get::<_, i64>(0)).ok()?, row.get(1)))).collect()))
    }

    /// The first of them that is not in this log. A link binds all that is before it. What the log removed cannot be compared.
    pub fn other(&self, log: &Path) -> Result<Option<Other>, StoreError> {
        let reader = Reader::open_as_is(log)?;
        for (seq, link) in &self.0 {
            let is_own = match &reader {
                Some(reader) if *seq < reader.oldest() => true,
                Some(reader) => reader.one(*seq, |row| row.link == link.as_slice())?.unwrap_or(false),
                None => false,
            };
            if !is_own {
                return Ok(Some(Other { seq: *seq }));
            }
        }
        Ok(None)
    }
}
