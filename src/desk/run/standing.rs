//! Keeps beside this machine's state what operators have signed for all machines: a stop, a sign of life, what a team has agreed to.
//! It writes what counts here, and takes nothing back that the desk no longer has.

use tokio::time::timeout;

use super::part::{SOONEST, Served, Site, UNWOKEN};
use crate::desk::engine::{Engine, EngineError};
use crate::desk::standing::{StandingKind, newest};
use crate::home::places::Places;
use crate::home::replace::replace;
use crate::home::standing::TeamText;
use crate::home::{config, signers, standing};
use crate::signing::InForce;
use crate::signing::standing::{Ignored, Standing as Known};
use crate::signing::statement::Evidence;

/// How many stops are read at once.
const PAGE: i64 = 256;

/// How many of the newest signs of life are looked at: all but one are of no use, and some may be forged.
const SIGNS: i64 = 16;

/// How many of the newest sets of teams are looked at.
const SETS: i64 = 16;

pub(super) struct Standing {
    places: Places,
    known: Known,
    /// From which transaction on stops are still to be read: what began before it has ended, and was read.
    from: String,
    /// The lists by which they were read.
    lists: Option<InForce>,
    /// How many sets of teams there were, the place of the last, and whose were kept, when they were read.
    teams: (i64, i64, Vec<String>),
    /// What was written last, of stops and of signs of life.
    written: [Option<Vec<Evidence>>; 2],
}

const FIRST: &str = "0";

impl Standing {
    pub(super) fn new(site: &Site) -> Self {
        let mut files = standing::Reader::new(&site.places);
        let known = files.changed(now()).unwrap_or_else(|| Known::new(standing::me()));
        let places = site.places.clone();
        Self { places, known, from: FIRST.to_owned(), lists: None, teams: (0, 0, Vec::new()), written: [None, None] }
    }

    pub(super) async fn serve(&mut self, engine: &Engine) -> Served {
        let mut wakes = engine.wakes.clone();
        loop {
            self.read(engine).await?;
            self.write();
            match timeout(UNWOKEN, wakes.changed()).await {
                Ok(Ok(())) => tokio::time::sleep(SOONEST).await,
                Err(_) => {}
                // The connection is gone; the next reading says why.
                Ok(Err(_)) => tokio::time::sleep(UNWOKEN).await,
            }
        }
    }

    async fn read(&mut self, engine: &Engine) -> Result<(), EngineError> {
        let lists = match signers::load(&self.places) {
            Ok(Some(lists)) => lists,
            // Nothing counts before there is a list: then all of it is read.
            Ok(None) => return Ok(()),
            Err(error) => {
                tracing::warn!(%error, "nothing of what operators signed is taken from the desk");
                return Ok(());
            }
        };
        if self.lists.as_ref() != Some(&lists) {
            FIRST.clone_into(&mut self.from);
            self.teams = (0, 0, Vec::new());
            self.lists = Some(lists.clone());
        }
        self.read_stops(engine, &lists).await?;
        const NEWEST: &str =
            "SELECT statement, signature FROM mcp_approve.standing WHERE kind = 'alive' ORDER BY place DESC LIMIT $1";
        for row in engine.client.query(NEWEST, &[&SIGNS]).await? {
            let evidence = Evidence { statement: row.get(0), signature: row.get(1) };
            // Most are known.
            let _ = self.known.take_alive(evidence, &lists, now());
        }
        self.read_teams(engine).await
    }

    /// Keeps the sets of those whom `config.toml` names, whenever there are other rows than before.
    async fn read_teams(&mut self, engine: &Engine) -> Result<(), EngineError> {
        const ROWS: &str = "SELECT count(*), coalesce(max(place), 0) FROM mcp_approve.standing WHERE kind = 'team'";
        let row = engine.client.query_one(ROWS, &[]).await?;
        // A configuration that cannot be read names no one, and what was kept stays.
        let named = config::team(&self.places).unwrap_or_default();
        let rows = (row.get(0), row.get(1), named);
        if rows == self.teams || rows.2.is_empty() {
            return Ok(());
        }
        let read = newest(engine, StandingKind::Team, SETS).await?;
        let sets = read.into_iter().map(|row| TeamText { signed: row.evidence, text: row.said }).collect();
        let kept = standing::teams(&self.places, sets, now()).and_then(|sets| {
            let sets: Vec<TeamText> = sets.into_iter().map(|offer| offer.set).collect();
            let text = serde_json::to_string(&sets).map_err(|error| error.to_string())?;
            replace(&standing::team_file(&self.places), &text).map_err(|error| error.to_string())
        });
        match kept {
            Ok(()) => self.teams = rows,
            // Tried again with the next reading.
            Err(error) => tracing::error!(%error, "what a team has agreed to was not kept"),
        }
        Ok(())
    }

    async fn read_stops(&mut self, engine: &Engine, lists: &InForce) -> Result<(), EngineError> {
        const ENDED: &str = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text";
        const STOPS: &str = "SELECT place, statement, signature FROM mcp_approve.standing \
            WHERE kind = 'stop' AND xid >= $1::text::xid8 AND place > $2 ORDER BY place LIMIT $3";
        let mut next: String = engine.client.query_one(ENDED, &[]).await?.get(0);
        let mut after = 0_i64;
        loop {
            let rows = engine.client.query(STOPS, &[&self.from, &after, &PAGE]).await?;
            for row in &rows {
                after = row.get(0);
                let evidence = Evidence { statement: row.get(1), signature: row.get(2) };
                if self.known.take_stop(evidence, lists, now()) == Err(Ignored::FromTheFuture) {
                    // It is read again until its time has come.
                    FIRST.clone_into(&mut next);
                }
            }
            if i64::try_from(rows.len()).unwrap_or(PAGE) < PAGE {
                break;
            }
        }
        self.from = next;
        Ok(())
    }

    fn write(&mut self) {
        let stops: Vec<Evidence> = self.known.stops().map(|signed| signed.evidence().clone()).collect();
        let alive: Vec<Evidence> = self.known.alive().map(|signed| signed.evidence().clone()).into_iter().collect();
        let files = standing::files(&self.places);
        for ((path, statements), written) in files.iter().zip([stops, alive]).zip(&mut self.written) {
            let is_there = path.exists();
            let is_written = written.as_ref() == Some(&statements);
            if is_there && is_written || !is_there && statements.is_empty() {
                continue;
            }
            match standing::write(path, &statements) {
                Ok(()) => *written = Some(statements),
                // Tried again with the next reading.
                Err(error) => tracing::error!(%error, path = %path.display(), "what operators signed was not kept"),
            }
        }
    }
}

fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
