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
    /// The role that wrote it.
    pub operator: String,
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

/// The newest rows of a kind, the newest first.
pub async fn newest(engine: &Engine, kind: StandingKind, most: i64) -> Result<Vec<Row>, EngineError> {
    const NEWEST: &str = "SELECT operator, statement, signature, said FROM mcp_approve.standing WHERE kind = $1 \
        ORDER BY place DESC LIMIT $2";
    let rows = engine.client.query(NEWEST, &[&kind.word(), &most]).await?;
    let row = |row: &tokio_postgres::Row| Row {
        operator: row.get(0),
        evidence: Evidence { statement: row.get(1), signature: row.get(2) },
        said: row.get(3),
    };
    Ok(rows.iter().map(row).collect())
}
