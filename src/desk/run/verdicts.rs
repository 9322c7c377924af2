//! Reads what operators said of this machine's calls: each row once for as long as its wrapper is attached, the newest first.

use std::collections::{BTreeMap, BTreeSet};

use tokio_postgres::Row;

use crate::desk::engine::{Engine, EngineError};
use crate::desk::told::{Remote, Word};
use crate::signing::statement::{Evidence, LONGEST};

/// How many rows are read at once.
const PAGE: usize = 64;

#[derive(Default)]
pub(super) struct Verdicts {
    /// Sessions of which nothing was read yet.
    fresh: BTreeSet<String>,
    /// The transaction from which the others are read again: those before it had all ended.
    from: u64,
    /// The rows from there on that were read, with their transactions.
    seen: BTreeMap<i64, u64>,
}

impl Verdicts {
    /// A wrapper is here: what was said of its calls before is read, too.
    pub(super) fn begin(&mut self, session: &str) {
        self.fresh.insert(session.to_owned());
    }

    pub(super) fn has_fresh(&self) -> bool {
        !self.fresh.is_empty()
    }

    /// Reads what is new for these sessions. Whoever stops it in the middle has missed nothing: then it is read again.
    pub(super) async fn read(&mut self, engine: &Engine, live: &[String]) -> Result<Vec<Remote>, EngineError> {
        let (mut read, mut seen) = (Vec::new(), self.seen.clone());
        // Asked before the rows: what they do not show yet is from here on.
        let row = engine.client.query_one("SELECT pg_snapshot_xmin(pg_current_snapshot())::text", &[]).await?;
        let until = number(row.get(0));
        // The database is an older copy of itself: its transactions have numbers again that others had.
        let is_older = until < self.from;
        if is_older {
            seen.clear();
        }
        let from = if is_older { 0 } else { self.from };
        let (fresh, known): (Vec<_>, Vec<_>) = live.iter().cloned().partition(|one| self.fresh.contains(one));
        for (sessions, from) in [(fresh, 0), (known, from)] {
            while !sessions.is_empty() {
                let (rows, before) = (page(engine, &sessions, from, &seen).await?, seen.len());
                seen.extend(rows.iter().filter_map(|row| Some((row.try_get(0).ok()?, number(row.try_get(1).ok()?)))));
                read.extend(rows.iter().filter_map(remote));
                if rows.len() < PAGE || seen.len() == before {
                    break;
                }
            }
        }
        seen.retain(|_, xid| *xid >= until);
        (self.seen, self.from) = (seen, until);
        self.fresh.clear();
        Ok(read)
    }
}

async fn page(
    engine: &Engine,
    sessions: &[String],
    from: u64,
    seen: &BTreeMap<i64, u64>,
) -> Result<Vec<Row>, EngineError> {
    // A signature counts for ten minutes: nothing older is read for a wrapper that was there before us.
    const SELECT: &str = "SELECT place, xid::text, session, ticket, statement, signature, said \
        FROM mcp_approve.verdict WHERE machine = session_user AND session = ANY($1) AND xid >= $2::text::xid8 \
        AND NOT place = ANY($3) AND ($2 <> '0' OR time > now() - interval '15 minutes') ORDER BY place DESC LIMIT 64";
    let seen: Vec<i64> = seen.keys().copied().collect();
    Ok(engine.client.query(SELECT, &[&sessions, &from.to_string(), &seen]).await?)
}

/// A row as a verdict; `None` where it is none, which blocks nothing.
fn remote(row: &Row) -> Option<Remote> {
    let text = |at| row.try_get::<_, String>(at).ok();
    let session = text(2)?;
    let signed = Evidence { statement: text(4)?, signature: text(5)? };
    let word = serde_json::from_str(&text(6)?).ok().filter(|word: &Word| Some(&word.ticket) == text(3).as_ref())?;
    let is_short = signed.statement.len() <= LONGEST && signed.signature.len() <= LONGEST;
    is_short.then_some(Remote { session, word, signed })
}

/// A transaction's number, as the engine writes it.
fn number(text: &str) -> u64 {
    text.parse().unwrap_or_default()
}
