//! What operators sign for all machines, on the desk: written there, and read as it is. Whoever reads it checks it.

use super::engine::{Engine, EngineError, Program};
use crate::signing::statement::Evidence;
use crate::wire::words::words;

words! {
    /// What a row of the table is.
    StandingKind {
        Stop = "stop",
        Alive = "alive",
        Team = "team",
    }
}

/// One row of the table. All of it is foreign text.
#[derive(Clone, Debug)]
pub struct Row {
    pub evidence: Evidence,
    /// Of a team's set: its text.
    pub said: String,
}

/// Writes a statement, and wakes the machines that are connected. Returns the desk's own time, in milliseconds since 1970, UTC.
pub async fn write(engine: &Engine, kind: StandingKind, evidence: &Evidence, said: &str) -> Result<i64, EngineError> {
    const WRITE: &str = "INSERT INTO mcp_approve.standing (kind, statement, signature, said) VALUES ($1, $2, $3, $4)";
    const TIME: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    const THERE: &str = "SELECT DISTINCT usename::text FROM pg_stat_activity WHERE application_name = $1";
    let Evidence { statement, signature } = evidence;
    engine.client.execute(WRITE, &[&kind.word(), statement, signature, &said]).await?;
    if kind == StandingKind::Stop {
        for row in engine.client.query(THERE, &[&Program::Machine.name()]).await? {
            engine.wake_machine(row.get(0)).await?;
        }
    }
    Ok(engine.client.query_one(TIME, &[]).await?.get(0))
}

/// How many stops are read at once.
const PAGE: i64 = 256;

/// So many stretches are unread at most before nothing newer is begun with.
const MOST_UNREAD: usize = 8;

/// The first transaction of all.
const FIRST: &str = "0";

/// Reads the stops that are new, the newest first, a page at a time: rows that mean nothing do not delay one that does.
pub struct Stops {
    /// From which transaction on nothing was begun with yet: what began before it has ended.
    from: String,
    /// What is unread, the newest last: from this transaction on, below this place.
    unread: Vec<(String, i64)>,
}

impl Default for Stops {
    fn default() -> Self {
        Self { from: FIRST.to_owned(), unread: Vec::new() }
    }
}

impl Stops {
    /// Looks for new ones, to be read next.
    pub async fn begin(&mut self, engine: &Engine) -> Result<(), EngineError> {
        const ENDED: &str = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text";
        if self.unread.len() < MOST_UNREAD {
            let next = engine.client.query_one(ENDED, &[]).await?.get(0);
            self.unread.push((std::mem::replace(&mut self.from, next), i64::MAX));
        }
        Ok(())
    }

    /// The next page; `None` once all are read.
    pub async fn page(&mut self, engine: &Engine) -> Result<Option<Vec<Evidence>>, EngineError> {
        const STOPS: &str = "SELECT place, statement, signature FROM mcp_approve.standing \
            WHERE kind = 'stop' AND xid >= $1::text::xid8 AND place < $2 ORDER BY place DESC LIMIT $3";
        let Some((from, below)) = self.unread.last_mut() else { return Ok(None) };
        let rows = engine.client.query(STOPS, &[from, below, &PAGE]).await?;
        match rows.last() {
            Some(last) if i64::try_from(rows.len()) == Ok(PAGE) => *below = last.get(0),
            Some(_) | None => _ = self.unread.pop(),
        }
        let evidence = |row: &tokio_postgres::Row| Evidence { statement: row.get(1), signature: row.get(2) };
        Ok(Some(rows.iter().map(evidence).collect()))
    }
}

/// The newest signed sets of teams below a place, the newest first, without their texts.
pub async fn team_page(engine: &Engine, below: i64) -> Result<Vec<(i64, Evidence)>, EngineError> {
    const SETS: &str = "SELECT place, statement, signature FROM mcp_approve.standing \
        WHERE kind = 'team' AND place < $1 ORDER BY place DESC LIMIT $2";
    let rows = engine.client.query(SETS, &[&below, &PAGE]).await?;
    let set = |row: &tokio_postgres::Row| (row.get(0), Evidence { statement: row.get(1), signature: row.get(2) });
    Ok(rows.iter().map(set).collect())
}

/// The text of one.
pub async fn team_text(engine: &Engine, place: i64) -> Result<String, EngineError> {
    const TEXT: &str = "SELECT said FROM mcp_approve.standing WHERE place = $1";
    let row = engine.client.query_opt(TEXT, &[&place]).await?;
    Ok(row.map(|row| row.get(0)).unwrap_or_default())
}

/// The newest rows of a kind, the newest first.
pub async fn newest(engine: &Engine, kind: StandingKind, most: i64) -> Result<Vec<Row>, EngineError> {
    const NEWEST: &str = "SELECT statement, signature, said FROM mcp_approve.standing WHERE kind = $1 \
        ORDER BY place DESC LIMIT $2";
    let rows = engine.client.query(NEWEST, &[&kind.word(), &most]).await?;
    let row = |row: &tokio_postgres::Row| Row {
        evidence: Evidence { statement: row.get(0), signature: row.get(1) },
        said: row.get(2),
    };
    Ok(rows.iter().map(row).collect())
}
