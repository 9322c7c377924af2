//! What is agreed to, as people read it: with its server and whether it counts. Takes it back and agrees outside of a wrapper:
//! recorded first, then kept. For the console and the command line alike. Nothing is settled without its record.
//!
//! And as a file that a repository or `/etc` can hold, which names servers as people know them, and not by the command line of one
//! machine: importing such a file is a review.

use std::cell::LazyCell;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::audit::agreed::{Latest, agreed, taken_back};
use crate::audit::record::{Entry, Kind};
use crate::audit::recording::{Recording, RecordingError};
use crate::audit::rfc3339;
use crate::behavior::agreed::{Agreement, Backing, What, day_of};
use crate::home::config::ConfigError;
use crate::home::places::Places;
use crate::home::{config, signers, user};
use crate::pins::agreed::{Kept, Proofs, Standing};
use crate::pins::reading::Server;
use crate::pins::{PinStore, PinsError};
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

/// Whether each counts now, by its record and, where the policy asks for signatures, by who signed it.
pub fn standings(proofs: &Proofs, kept: &[Kept], places: &Places, now: i64) -> Vec<Standing> {
    let lists = LazyCell::new(|| signers::load(places).ok().flatten());
    let is_good = |one: &Kept, latest: &Latest| {
        let check = |signed: Evidence| SignedChange::check(signed, &lists.as_ref()?.signers).ok();
        let signed = latest.signed.clone().and_then(check);
        signed.is_some_and(|signed| signed.covers(&change(vec![one.digest()])).is_ok())
    };
    let needs = signers::word_needs(places, Danger::Plain);
    let counted = |standing| match standing {
        Standing::Proven(Backing::Recorded) if needs == Needs::Signature => Standing::Unsigned,
        other => other,
    };
    proofs.standings(kept, day_of(now), is_good).into_iter().map(counted).collect()
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

const VERSION: u32 = 1;
/// How long a file may be, in bytes, and how many agreements it may hold.
pub const LONGEST: usize = 4 << 20;
const MOST: usize = 10_000;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    agreed: Vec<Line>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// Empty for a key of `_meta`, which holds for every server.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    server: String,
    /// `npm:NAME` or `pypi:NAME`, where that is certain.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    package: String,
    /// The program and what it runs, where the package is not certain.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    command: String,
    what: What,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    tool: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    key: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    schema: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    value: String,
    /// The day it was agreed to; does not count.
    since: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgreementOffer {
    pub agreement: Agreement,
    pub server: String,
    package: String,
    command: String,
    /// The day it was agreed to, as the file says.
    pub since: String,
}

/// What is wrong with a file: each problem, in order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub struct NoAgreements(Vec<String>);

impl AgreementOffer {
    /// Whether it is about this server: its name, and its package or command.
    pub fn is_of(&self, server: &Server) -> bool {
        let is_same = match server.package.as_deref() {
            Some(package) => package == self.package,
            None => self.package.is_empty() && self.command == server.command,
        };
        server.name == self.server && is_same
    }
}

/// The file of what counts today.
pub fn to_file(known: &[Known], servers: &[Server]) -> serde_json::Value {
    let line = |known: &Known| {
        let Agreement { what, tool, key, schema, value } = known.kept.agreement.clone();
        let server = servers.iter().find(|server| server.fingerprint == known.kept.fingerprint);
        // Of a server that is not remembered nobody could say which one it is.
        if server.is_none() && what != What::Meta {
            return None;
        }
        let package = server.and_then(|server| server.package.clone()).unwrap_or_default();
        let command = server.filter(|_| package.is_empty()).map(|server| server.command.clone()).unwrap_or_default();
        let since = rfc3339(known.kept.since).split('T').next().unwrap_or_default().to_owned();
        let server = known.server.clone();
        Some(Line { server, package, command, what, tool, key, schema, value, since })
    };
    let agreed = known.iter().filter(|known| known.trouble().is_none()).filter_map(line).collect();
    serde_json::to_value(File { version: VERSION, agreed }).unwrap_or_default()
}

/// Reads a file whole, or says everything that is wrong with it.
pub fn of_file(text: &str) -> Result<Vec<AgreementOffer>, NoAgreements> {
    let wrong = |why: String| NoAgreements(vec![why]);
    if text.len() > LONGEST {
        return Err(wrong(format!("it is longer than {LONGEST} bytes")));
    }
    let file: File = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    if file.version != VERSION {
        return Err(wrong(format!("it has version {}; this program knows version {VERSION}", file.version)));
    }
    if file.agreed.len() > MOST {
        return Err(wrong(format!("it holds more than {MOST} agreements")));
    }
    let (mut offers, mut problems) = (Vec::<AgreementOffer>::new(), Vec::new());
    let mut seen = std::collections::HashMap::new();
    for (at, line) in file.agreed.into_iter().enumerate() {
        let Line { server, package, command, what, tool, key, schema, value, since } = line;
        let offer =
            AgreementOffer { agreement: Agreement { what, tool, key, schema, value }, server, package, command, since };
        let mut problem = |why: &str| problems.push(format!("number {}: {why}", at + 1));
        if let Err(why) = offer.agreement.check() {
            problem(why);
        }
        if offer.since.parse::<jiff::civil::Date>().is_err() {
            problem("`since` is not a day like 2026-11-23");
        }
        let is_named = !offer.server.is_empty() && offer.package.is_empty() != offer.command.is_empty();
        if !is_named && what != What::Meta {
            problem("it needs `server`, and either `package` or `command`");
        }
        let same = (offer.server.clone(), offer.package.clone(), offer.command.clone(), offer.agreement.clone());
        if let Some(first) = seen.insert(same, at) {
            problem(&format!("it is the same as number {}", first + 1));
        }
        offers.push(offer);
    }
    if problems.is_empty() { Ok(offers) } else { Err(NoAgreements(problems)) }
}
