//! Keeps beside this machine's state what operators have signed for all machines: a stop, a sign of life, what a team has agreed to.
//! It writes what counts here, and takes nothing back that the desk no longer has.

use std::cmp::Reverse;

use tokio::time::timeout;

use super::part::{SOONEST, Served, Site, UNWOKEN, now};
use crate::desk::engine::{Engine, EngineError};
use crate::desk::standing::{StandingKind, Stops, newest, team_sets, team_text};
use crate::home::places::Places;
use crate::home::replace::replace;
use crate::home::standing::TeamText;
use crate::home::{config, standing};
use crate::signing::InForce;
use crate::signing::standing::Standing as Known;
use crate::signing::statement::Evidence;

/// After so many pages of stops, the rest is looked at.
const PAGES: usize = 16;

/// How many of the newest signs of life of each role are looked at: all but one are of no use, and some may be forged.
const SIGNS: i64 = 16;

/// After so many pages of teams' sets no more are looked at.
const TEAM_PAGES: usize = 128;

/// By how many rows of teams' sets it shows that there are others than before: whoever fills the table makes this no longer.
const TEAM_ROWS: i64 = 10_000;

pub(super) struct Standing {
    places: Places,
    known: Known,
    /// The stops on the desk that are still to be read.
    stops: Stops,
    /// The lists by which they were read.
    lists: Option<InForce>,
    /// How many sets of teams there were, up to [`TEAM_ROWS`], the place of the last, and whose were kept, when they were read.
    teams: (i64, i64, Vec<String>),
    /// What was written last, of stops and of signs of life.
    written: [Option<Vec<Evidence>>; 2],
    /// Why nothing was taken from the desk, why nothing was kept, and why no team's set was, the last time: each is said once.
    untaken: Option<String>,
    unkept: Option<String>,
    unkept_sets: Option<String>,
    /// Whose latest set the desk no longer has.
    hidden: Option<String>,
}

/// Whether stops are left to read.
#[derive(PartialEq, Eq)]
enum Left {
    Nothing,
    Stops,
}

impl Standing {
    pub(super) fn new(site: &Site) -> Self {
        Self {
            places: site.places.clone(),
            known: Known::new(standing::me()),
            stops: Stops::default(),
            lists: None,
            teams: (0, 0, Vec::new()),
            written: [None, None],
            untaken: None,
            unkept: None,
            unkept_sets: None,
            hidden: None,
        }
    }

    pub(super) async fn serve(&mut self, engine: &Engine) -> Served {
        let mut wakes = engine.wakes.clone();
        loop {
            let left = self.read(engine).await?;
            self.write();
            if left == Left::Stops {
                continue;
            }
            match timeout(UNWOKEN, wakes.changed()).await {
                Ok(Ok(())) => tokio::time::sleep(SOONEST).await,
                Err(_) => {}
                // The connection is gone; the next reading says why.
                Ok(Err(_)) => tokio::time::sleep(UNWOKEN).await,
            }
        }
    }

    async fn read(&mut self, engine: &Engine) -> Result<Left, EngineError> {
        let lists = standing::lists(&self.places);
        say(
            &mut self.untaken,
            lists.as_ref().err().cloned(),
            "nothing of what operators signed is taken from the desk",
        );
        // Nothing counts before there is a list: then all of it is read.
        let Ok(lists) = lists else { return Ok(Left::Nothing) };
        if self.lists.as_ref() != Some(&lists) {
            self.stops = Stops::default();
            self.teams = (0, 0, Vec::new());
            self.lists = Some(lists.clone());
        }
        let left = self.read_stops(engine, &lists).await?;
        for evidence in newest(engine, StandingKind::Alive, SIGNS).await? {
            // Most are known.
            let _ = self.known.take_alive(evidence, &lists, now());
        }
        self.read_teams(engine, &lists).await?;
        Ok(left)
    }

    /// Keeps the sets of those whom `config.toml` names, whenever there are other rows than before.
    async fn read_teams(&mut self, engine: &Engine, lists: &InForce) -> Result<(), EngineError> {
        const ROWS: &str = "SELECT count(*), coalesce(max(place), 0) FROM (
            SELECT place FROM mcp_approve.standing WHERE kind = 'team' ORDER BY place DESC LIMIT $1) AS newest";
        let row = engine.client.query_one(ROWS, &[&TEAM_ROWS]).await?;
        // A configuration that cannot be read names no one, and what was kept stays.
        let named = config::team(&self.places).unwrap_or_default();
        let rows = (row.get(0), row.get(1), named);
        if rows == self.teams || rows.2.is_empty() {
            return Ok(());
        }
        let sets = self.latest_sets(engine, lists, &rows.2).await?;
        // An older set takes no newer one's place: whoever owns the desk can hide a set, and bring none back. What was kept and cannot be read
        // is left as it is.
        let kept = standing::team_texts(&self.places).and_then(|before| {
            let there = standing::teams(&self.places, sets.clone(), now())?;
            let latest = standing::latest(before, sets);
            let older = standing::missing(&there, &standing::teams(&self.places, latest.clone(), now())?);
            say(&mut self.hidden, older, "a team's set that came before is kept");
            let text = serde_json::to_string(&latest).map_err(|error| error.to_string())?;
            replace(&standing::team_file(&self.places), &text).map_err(|error| error.to_string())
        });
        // Where it failed, it is tried again with the next reading.
        if kept.is_ok() {
            self.teams = rows;
        }
        say(&mut self.unkept_sets, kept.err(), "what a team has agreed to was not kept");
        Ok(())
    }

    /// The latest set of each of these, however many rows of others are above it.
    async fn latest_sets(
        &self,
        engine: &Engine,
        lists: &InForce,
        named: &[String],
    ) -> Result<Vec<TeamText>, EngineError> {
        let of_named = |(place, signed)| {
            let (author, time) = standing::author(&signed, lists, now())?;
            named.contains(&author).then_some((time, author, place, signed))
        };
        let mut found: Vec<_> = team_sets(engine, TEAM_PAGES).await?.into_iter().filter_map(of_named).collect();
        // By the time that was signed: whoever may write rows can put an older one on top.
        found.sort_by_key(|one| Reverse(one.0));
        let (mut sets, mut wanted): (Vec<TeamText>, Vec<&String>) = (Vec::new(), named.iter().collect());
        for (_, author, place, signed) in found {
            if !wanted.contains(&&author) {
                continue;
            }
            let set = TeamText { signed, text: team_text(engine, place).await? };
            // One whose text is another is none.
            if standing::teams(&self.places, vec![set.clone()], now()).is_ok_and(|found| !found.is_empty()) {
                wanted.retain(|one| **one != author);
                sets.push(set);
            }
        }
        Ok(sets)
    }

    async fn read_stops(&mut self, engine: &Engine, lists: &InForce) -> Result<Left, EngineError> {
        self.stops.begin(engine).await?;
        for _ in 0..PAGES {
            let Some(page) = self.stops.page(engine).await? else { return Ok(Left::Nothing) };
            for evidence in page {
                // What does not count here changes nothing.
                let _ = self.known.take_stop(evidence, lists, now());
            }
            self.write();
        }
        Ok(Left::Stops)
    }

    /// Writes stops, and only then signs of life: where stops cannot be kept, no later sign of life says that all is well.
    fn write(&mut self) {
        // Tried again with the next reading.
        let failure = self.keep().err();
        say(&mut self.unkept, failure, "what operators signed was not kept");
    }

    fn keep(&mut self) -> Result<(), String> {
        // What is there and was not read here stays, whether it can be verified now or not. By the lists that the desk was read by: else an
        // older sign of life would take the place of one that was not verified.
        let lists = self.lists.as_ref().ok_or("there is no list of signers");
        standing::take(&self.places, &mut self.known, lists, now())?;
        let stops: Vec<Evidence> = self.known.kept().cloned().collect();
        let alive: Vec<Evidence> = self.known.alive().map(|signed| signed.evidence().clone()).into_iter().collect();
        let files = standing::files(&self.places);
        for ((path, statements), written) in files.iter().zip([stops, alive]).zip(&mut self.written) {
            // Nothing was taken back, so having nothing to keep says nothing about what is there.
            if statements.is_empty() || path.exists() && written.as_ref() == Some(&statements) {
                continue;
            }
            standing::write(path, &statements).map_err(|error| format!("{}: {error}", path.display()))?;
            *written = Some(statements);
        }
        Ok(())
    }
}

/// Says a failure that was not said the last time.
fn say(said: &mut Option<String>, failure: Option<String>, what: &str) {
    if let Some(error) = failure.as_ref().filter(|_| failure != *said) {
        tracing::error!(%error, "{what}");
    }
    *said = failure;
}
