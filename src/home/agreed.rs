//! What is agreed to, as people read it: with its server and whether it counts. Takes it back and agrees outside of a wrapper:
//! recorded first, then kept. For the console and the command line alike. Nothing is settled without its record.

use std::cell::LazyCell;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::audit::agreed::{Latest, agreed, taken_back};
use crate::audit::record::{Entry, Kind};
use crate::audit::recording::{Recording, RecordingError};
use crate::behavior::agreed::{Agreement, Backing, day_of};
use crate::home::config::ConfigError;
use crate::home::layers::{Keeps, Layers};
use crate::home::places::Places;
use crate::home::policy_file::PolicyPlace;
use crate::home::{config, signers, user};
use crate::pins::agreed::{Kept, Proofs, Standing};
use crate::pins::{PinStore, PinsError};
use crate::policy::rule::TeamMay;
use crate::signing::change::{ChangeKind, ChangeTerms, Proof, SignedChange};
use crate::signing::grade::{Danger, Needs};
use crate::signing::statement::Evidence;
use crate::wire::digest::Digest;

/// How long a record may be on its way into the log.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug, thiserror::Error)]
pub enum AgreedError {
    #[error(transparent)]
    Pins(#[from] PinsError),
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl AgreedError {
    pub fn hint(&self) -> String {
        match self {
            Self::Pins(error) => error.hint(),
            Self::Record(error) => error.hint(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub kept: Kept,
    /// The server's name; empty for what holds for every server, or a server that is not remembered.
    pub server: String,
    pub standing: Standing,
}

impl Known {
    /// What is wrong with one that does not count; `None` where it does.
    pub fn trouble(&self) -> Option<&'static str> {
        match self.standing {
            Standing::Proven(_) => None,
            Standing::Unsigned => Some("does not count: the policy asks for signatures, and none on it counts"),
            Standing::OfTeam => {
                Some("suspended: it is from a team's set, and [desk] team_may lets a team only tighten")
            }
            Standing::Lapsed => Some("lapsed: it was not used for 90 days"),
            Standing::TakenBack => Some("does not count: the log says that it was taken back"),
            Standing::Unproven => Some("does not count: the log has no record of it"),
        }
    }

    /// Whether it is about this tool of the server with this fingerprint, or about the server or every server as a whole.
    pub fn concerns(&self, fingerprint: &str, tool: Option<&str>) -> bool {
        let of = &self.kept.agreement.tool;
        (self.kept.fingerprint.is_empty() || self.kept.fingerprint == fingerprint)
            && (of.is_empty() || Some(of.as_str()) == tool)
    }

    /// The order of lists: what is about a tool, what is about its server, what is about every server.
    pub fn order(&self) -> (bool, bool) {
        (self.kept.agreement.tool.is_empty(), self.kept.fingerprint.is_empty())
    }

    /// The beginning of the day of its last use, in milliseconds since 1970, UTC.
    pub fn last_used(&self) -> i64 {
        self.kept.used.saturating_mul(24 * 60 * 60 * 1000)
    }

    /// Whether it is there without a right to be: somebody wrote it into the pins, or they were restored.
    pub fn is_unproven(&self) -> bool {
        matches!(self.standing, Standing::TakenBack | Standing::Unproven | Standing::Unsigned)
    }
}

/// Everything that is kept as agreed to, in the order in which it was agreed to.
pub fn all(store: &PinStore, places: &Places, now: i64) -> Result<Vec<Known>, AgreedError> {
    let kept = store.agreed(None)?;
    if kept.is_empty() {
        return Ok(Vec::new());
    }
    let log = config::audit_db(places).map_err(RecordError::from)?;
    let servers = store.servers()?;
    let mut standings = standings(&Proofs::open_as_is(&log), &kept, places, now);
    // What dead wrappers left is folded only where a record is missing: that takes a lock.
    if standings.contains(&Standing::Unproven) {
        standings = self::standings(&Proofs::open(&log), &kept, places, now);
    }
    let known = |(kept, standing): (Kept, Standing)| {
        let named = servers.iter().find(|server| server.fingerprint == kept.fingerprint);
        let server = named.map(|server| server.name.clone()).unwrap_or_default();
        Known { kept, server, standing }
    };
    Ok(kept.into_iter().zip(standings).map(known).collect())
}

/// What counts of that which was taken over from this person's sets of a team, or would if the policy let teams loosen.
pub fn of_team(store: &PinStore, places: &Places, author: &str, now: i64) -> Result<Vec<Known>, AgreedError> {
    let mut known = all(store, places, now)?;
    known.retain(|one| one.trouble().is_none() || one.standing == Standing::OfTeam);
    let log = config::audit_db(places).map_err(RecordError::from)?;
    let kept: Vec<Kept> = known.iter().map(|one| one.kept.clone()).collect();
    let latest = Proofs::open_as_is(&log).latest(&kept);
    let is_its = |latest: &Option<Latest>| latest.as_ref().and_then(|one| one.team.as_deref()) == Some(author);
    Ok(known.into_iter().zip(latest).filter(|(_, latest)| is_its(latest)).map(|(one, _)| one).collect())
}

/// Whether each counts now, by its record and by the policy as it is now: who signed it, where that asks for signatures, and whether it is
/// from a team.
pub fn standings(proofs: &Proofs, kept: &[Kept], places: &Places, now: i64) -> Vec<Standing> {
    let lists = LazyCell::new(|| signers::load(places).ok().flatten());
    let team_may = LazyCell::new(|| team_may(places));
    let needs = signers::word_needs(places, Danger::Plain);
    let is_good = |one: &Kept, latest: &Latest| {
        let check = |signed: Evidence| SignedChange::check(signed, &lists.as_ref()?.signers).ok();
        let signed = latest.signed.clone().and_then(check);
        signed.is_some_and(|signed| signed.covers(&change(vec![one.digest()])).is_ok())
    };
    proofs.standings(kept, day_of(now), |one, latest| match needs {
        _ if latest.team.is_some() && *team_may == TeamMay::Tighten => Standing::OfTeam,
        _ if is_good(one, latest) => Standing::Proven(Backing::Signed),
        Needs::Signature => Standing::Unsigned,
        Needs::Nothing => Standing::Proven(Backing::Recorded),
    })
}

/// What the machine's policy and the operator's own let teams do.
pub fn team_may(places: &Places) -> TeamMay {
    Layers::of(places, None, &PolicyPlace::own(places)).load(Keeps::Nothing).given.team_may()
}

/// What a signature over agreements covers.
pub fn change(digests: Vec<Digest>) -> ChangeTerms {
    signers::change(ChangeKind::Tools, String::new(), digests)
}

/// Those without a right to be there, once no record can be on its way any more.
pub fn unproven(store: &PinStore, places: &Places, now: i64) -> Result<Vec<Known>, AgreedError> {
    let until = Instant::now() + PATIENCE;
    loop {
        let unproven: Vec<Known> = all(store, places, now)?.into_iter().filter(Known::is_unproven).collect();
        if unproven.is_empty() || Instant::now() >= until {
            return Ok(unproven);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Takes these back: recorded, then removed.
/// Errors: it could not be recorded, and nothing was removed; or it was recorded, which is what counts, and the row is left.
pub fn take_back(store: &mut PinStore, places: &Places, these: &[&Known], now: i64) -> Result<(), AgreedError> {
    let entries = these.iter().map(|known| {
        let entry = entry(&known.server, now);
        taken_back(entry, &known.kept.agreement, &known.kept.fingerprint, "the operator took it back")
    });
    record_all(places, entries.collect())?;
    store.disagree(&these.iter().map(|known| known.kept.digest()).collect::<Vec<_>>())?;
    Ok(())
}

/// Agrees to things, each of the server with this name and fingerprint: recorded with the proof, then kept. `from` is the signature of
/// the team's set that they are taken from.
/// Errors: it could not be recorded, and nothing was kept; or it could not be kept, and does not count.
pub fn agree(
    store: &mut PinStore,
    places: &Places,
    these: &[(&str, &str, &Agreement)],
    (proof, from): (&Proof, Option<&Value>),
    now: i64,
) -> Result<(), AgreedError> {
    let entries = these.iter().map(|(server, fingerprint, one)| {
        let mut entry = agreed(entry(server, now), one, fingerprint).proven(proof);
        entry.add("fingerprint", proof.is_signed().then_some(*fingerprint));
        if let Some(from) = from {
            entry.uncut.add("from_team", from);
        }
        entry
    });
    record_all(places, entries.collect())?;
    for (_, fingerprint, one) in these {
        store.agree(fingerprint, std::slice::from_ref(*one), now)?;
    }
    Ok(())
}

fn entry(server: &str, now: i64) -> Entry {
    Entry::new(now, Kind::Agreed, &server.into(), &"review".into()).with("operator", user::name())
}

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("nothing was changed, because it could not be recorded: {0}")]
    Log(#[from] RecordingError),
}

impl RecordError {
    pub fn hint(&self) -> String {
        match self {
            Self::Config(error) => error.hint(),
            Self::Log(_) => "`mcp-approve doctor` says what is wrong with the log".to_owned(),
        }
    }
}

/// Writes an entry to the log that `config.toml` names. Errors: the log could not take it; what it says must not be done.
pub fn record(places: &Places, entry: Entry) -> Result<(), RecordError> {
    record_all(places, vec![entry])
}

/// Writes entries to the log that `config.toml` names: all, or none.
pub fn record_all(places: &Places, entries: Vec<Entry>) -> Result<(), RecordError> {
    places.create_state().map_err(ConfigError::from)?;
    let log = config::audit_db(places)?;
    let entries: Vec<_> = (1..).zip(entries).collect();
    Ok(Recording::open(&log, &places.redaction_key())?.record(&entries)?)
}

/// Writes an entry to the log that `config.toml` names, where there is one. Before the first server is wrapped there is
/// none, and a log made then would look like the trace of one.
pub fn record_if_begun(places: &Places, entry: Entry) -> Result<(), RecordError> {
    if config::audit_db(places)?.exists() { record(places, entry) } else { Ok(()) }
}
