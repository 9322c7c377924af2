//! What operators sign for all machines, on the desk: written there, and read as it is. Whoever reads it checks it.

use super::by_role::{ByRole, Table, roles};
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

/// Writes a statement, and wakes the machines that are connected. Returns the desk's own time, in milliseconds since 1970, UTC.
pub async fn write(engine: &Engine, kind: StandingKind, evidence: &Evidence, said: &str) -> Result<i64, EngineError> {
    const WRITE: &str = "INSERT INTO mcp_approve.standing (kind, statement, signature, said) VALUES ($1, $2, $3, $4)";
    const TIME: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    const THERE: &str = "SELECT DISTINCT usename::text FROM pg_stat_activity WHERE application_name = $1";
    let Evidence { statement, signature } = evidence;
    engine.client.execute(WRITE, &[&kind.word(), statement, signature, &said]).await?;
    if kind == StandingKind::Stop {
        for row in engine.client.query(THERE, &[&Program::Machine.name()]).await? {
            engine.wake_machine(row.get(0)).await;
        }
    }
    Ok(engine.client.query_one(TIME, &[]).await?.get(0))
}

/// Read by kind.
static STANDING: Table = Table {
    name: "standing",
    role: "operator",
    roles: 4,
    newest_first: true,
    own: "",
    key: "kind",
    past: "",
    columns: "statement, signature",
    size: "octet_length(statement) + octet_length(signature)",
    most: 128,
};

/// Reads the stops that are new, a page at a time, of each role in turn: rows that mean nothing do not delay another role's.
pub struct Stops(ByRole);

impl Default for Stops {
    fn default() -> Self {
        Self(ByRole::new(&STANDING))
    }
}

impl Stops {
    /// Looks for new ones, to be read next.
    pub async fn begin(&mut self, engine: &Engine) -> Result<(), EngineError> {
        self.0.look(engine, &[StandingKind::Stop.word().to_owned()], &[]).await?;
        Ok(())
    }

    /// How many roles have rows that are unread: after so many pages each of them had a turn.
    pub fn turns(&self) -> usize {
        self.0.turns()
    }

    /// The next page; `None` once all are read.
    pub async fn page(&mut self, engine: &Engine) -> Result<Option<Vec<Evidence>>, EngineError> {
        if !self.0.is_behind() {
            return Ok(None);
        }
        Ok(Some(self.0.page(engine).await?.iter().map(|row| signed(row).1).collect()))
    }
}

/// The place of a row, and what was signed.
fn signed(row: &tokio_postgres::Row) -> (i64, Evidence) {
    (row.get(1), Evidence { statement: row.get(4), signature: row.get(5) })
}

/// The signed sets of teams with their places, the newest of each role, without their texts; of so many pages.
pub async fn team_sets(engine: &Engine, pages: usize) -> Result<Vec<(i64, Evidence)>, EngineError> {
    let (mut rows, mut sets) = (ByRole::new(&STANDING), Vec::new());
    rows.look(engine, &[StandingKind::Team.word().to_owned()], &[]).await?;
    for _ in 0..pages {
        if !rows.is_behind() {
            break;
        }
        sets.extend(rows.page(engine).await?.iter().map(signed));
    }
    Ok(sets)
}

/// The text of one.
pub async fn team_text(engine: &Engine, place: i64) -> Result<String, EngineError> {
    const TEXT: &str = "SELECT said FROM mcp_approve.standing WHERE place = $1";
    let row = engine.client.query_opt(TEXT, &[&place]).await?;
    Ok(row.map(|row| row.get(0)).unwrap_or_default())
}

/// So many of the newest rows of a kind, of each role that wrote any. All of it is foreign text.
pub async fn newest(engine: &Engine, kind: StandingKind, most: i64) -> Result<Vec<Evidence>, EngineError> {
    let newest = format!(
        "SELECT row.statement, row.signature FROM {} AS wrote CROSS JOIN LATERAL (
            SELECT statement, signature FROM mcp_approve.standing WHERE kind = $1 AND operator = wrote.role
            ORDER BY xid DESC, place DESC LIMIT $2) AS row",
        roles("standing", "kind = $1")
    );
    let rows = engine.client.query(&newest, &[&kind.word(), &most]).await?;
    Ok(rows.iter().map(|row| Evidence { statement: row.get(0), signature: row.get(1) }).collect())
}
