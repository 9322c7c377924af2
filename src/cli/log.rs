//! `mcp-approve log`: reviews the audit log, exports it, and removes its oldest records. Prints only to the writer it is given.

pub mod export;
pub mod follow;
mod hash;
mod in_force;
pub mod named;
mod print;
mod signatures;
pub mod stats;
pub mod verify;
mod verify_desk;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use crate::audit::recording::{Recording, RecordingError};
use crate::audit::retention::{self, Plan, RetentionError, Wanted};
use crate::audit::{Entry, Field, Kind, Reader, Record, moment::Since, query, store::Unlinked, verified};
use crate::cli::console;
use crate::cli::error::{Error, Exit, done};
use crate::cli::log::named::{LogPlace, RecordsWanted};
use crate::cli::log::print::{table, timeline, whole};
use crate::cli::look::{Here, JsonForm, Look, LookOptions, json_rows, visible};
use crate::home::signers::{change, changes_need, proof};
use crate::home::{places::Places, user};
use crate::signing::{Needs, change::ChangeKind};
use crate::text::row::{Row, Tone};
use crate::wire::{counted, number::grouped};

#[derive(Clone, Debug, clap::Subcommand)]
pub enum LogCommand {
    /// Lists calls, one row each, the newest last; with --records or as JSON, every record
    List(ListOptions),
    /// Shows one record, or all records of a call, in full
    Show(ShowOptions),
    /// Checks that no record was changed, removed, inserted or moved
    Verify(verify::VerifyOptions),
    /// Exports records for other programs, with the proof of their chain
    #[command(after_help = "Examples:
  mcp-approve log export > audit.jsonl
  mcp-approve log export --verifier > verify.py && python3 verify.py audit.jsonl
  mcp-approve log export --format csv --since 30d > audit.csv

Secrets stay as the log has them: replaced by a keyed hash.")]
    Export(export::ExportOptions),
    /// Counts: what was asked, approved, denied, how fast, and what rules saved
    Stats(stats::StatsOptions),
    /// Writes each record as it comes, for a program that collects logs
    Follow(follow::FollowOptions),
    /// Prints the hashes by which this machine's log names what comes on stdin: a secret, or the line of a call
    #[command(after_help = "Example:\n  printf %s hunter2 | mcp-approve log hash")]
    Hash,
    /// Removes the oldest records, and records that
    Prune(PruneOptions),
    /// Records that you know that the end of a session is lost
    Acknowledge(AcknowledgeOptions),
}

#[derive(Clone, Debug, Default, clap::Args)]
pub struct ListOptions {
    #[command(flatten)]
    pub of: RecordsWanted,
    /// List every record, not one row a call: server starts, policy changes, forwards and answers too
    #[arg(long)]
    pub records: bool,
    /// List together what belongs together, across servers and agents, as their hosts say: by context, trace or turn
    #[arg(long, value_name = "FIELD", value_parser = group, conflicts_with_all = ["json", "jsonl"])]
    pub together: Option<Field>,
    /// At most this many, the newest [default: 50]
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    #[command(flatten)]
    pub look: LookOptions,
    /// Print one JSON array of records, as --records lists them
    #[arg(long, conflicts_with = "jsonl")]
    pub json: bool,
    /// Print one JSON object per line, a record each
    #[arg(long)]
    pub jsonl: bool,
}

/// As the help of `--limit` says.
const LIMIT: usize = 50;
/// How many of the newest records are checked with every list, whichever records it shows.
const CHECKED: u64 = 1000;

#[derive(Clone, Debug, clap::Args)]
pub struct ShowOptions {
    /// SEQ of `log list`, the number of a record (on the desk PLACE); or the ticket of a call (filesystem-12)
    #[arg(value_name = "SEQ|TICKET")]
    pub what: String,
    /// The ticket of this machine, on the desk [default: the newest]
    #[arg(long, value_name = "NAME")]
    pub machine: Option<String>,
    /// The ticket in this session (the first characters of its name are enough) [default: the newest]
    #[arg(long, value_name = "SESSION")]
    pub session: Option<String>,
    /// Show times in UTC
    #[arg(long)]
    pub utc: bool,
    #[command(flatten)]
    pub look: LookOptions,
    /// Print one JSON array
    #[arg(long)]
    pub json: bool,
}

impl LogCommand {
    /// How its list is wanted; `None` for what is no list for people.
    pub(super) fn look(&self) -> Option<LookOptions> {
        match self {
            Self::List(options) if !options.json && !options.jsonl => Some(options.look),
            Self::Show(options) if !options.json => Some(options.look),
            Self::List(_) | Self::Show(_) | Self::Verify(_) | Self::Export(_) | Self::Stats(_) => None,
            Self::Follow(_) | Self::Hash | Self::Prune(_) | Self::Acknowledge(_) => None,
        }
    }
}

/// Runs one command on a log.
pub fn run<'l>(
    command: &LogCommand,
    log: impl Into<LogPlace<'l>>,
    places: &Places,
    look: Look<'_>,
    out: &mut dyn Write,
) -> Exit {
    let log = log.into();
    match command {
        LogCommand::List(options) => list(options, log, look, out),
        LogCommand::Show(options) => show(options, log, look, out),
        LogCommand::Verify(options) => match log {
            LogPlace::File(db) => verify::verify(options, db, look, out),
            LogPlace::Desk(target) => verify_desk::verify(options, target, places, out),
        },
        LogCommand::Export(options) => match options.evidence()? {
            Some(to) => export::evidence(&options.of.search.join(" "), to, log.here()?, out),
            None => export::run(options, (log, places), look.utc(options.of.utc).clock, out),
        },
        LogCommand::Stats(options) => stats::run(options, log, look.utc(options.of.utc), out),
        LogCommand::Follow(options) => follow::run(options, log, look.clock, out),
        LogCommand::Hash => hash::run(&places.redaction_key(), out),
        LogCommand::Prune(options) => prune(options, (log.here()?, places), look, out),
        LogCommand::Acknowledge(options) => acknowledge(options, (log.here()?, &places.redaction_key()), look, out),
    }
}

fn list(options: &ListOptions, place: LogPlace<'_>, look: Look<'_>, out: &mut dyn Write) -> Exit {
    let look = look.utc(options.of.utc).wide(options.look.wide);
    let search = options.of.search(look.clock)?;
    // A search for a kind of record lists records.
    let records = options.records || options.json || options.jsonl || search.asks_for(Field::Kind);
    let reader = named::open(place)?;
    let found = match &reader {
        Some(reader) => {
            let index = if search.is_empty() { None } else { named::index(place, reader)? };
            let last = if records { query::last } else { query::last_calls };
            last(reader, index.as_ref(), &search, options.limit.unwrap_or(LIMIT))?
        }
        None => Vec::new(),
    };
    // Not with --limit: whoever sets it knows that there may be more.
    let may_be_more = found.len() == LIMIT && options.limit.is_none();
    if may_be_more && (options.json || options.jsonl) {
        named::say(&format!("mcp-approve: these are the newest {LIMIT} records; --limit N lists more\n"));
    }
    if options.json {
        json_rows(found.iter().map(Record::json), JsonForm::Array, out)?;
    } else if options.jsonl {
        json_rows(found.iter().map(Record::json), JsonForm::Lines, out)?;
    } else if reader.is_none() {
        named::no_log(place, look, out)?;
    } else if found.is_empty() {
        writeln!(out, "No matches.")?;
    } else {
        match options.together {
            Some(field) => together(&found, field, look, out)?,
            None => table(&found, look, out)?,
        }
        if may_be_more {
            look.print(&Row::of(Tone::Quiet, format!("The newest {LIMIT}; --limit N lists more.")), out)?;
        }
        if let Some(reader) = &reader {
            let newest = reader.newest()?;
            let checked = if let LogPlace::File(_) = place { CHECKED } else { 0 };
            warn_of_changes(reader, numbers(&found).chain(newest.saturating_sub(checked) + 1..=newest), look, out)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The fields by which records can be listed together.
fn group(word: &str) -> Result<Field, String> {
    let known = [Field::Context, Field::Trace, Field::Turn, Field::Agent, Field::Session];
    let words = || known.map(Field::word).join(", ");
    known.into_iter().find(|field| field.word() == word).ok_or_else(|| format!("it is one of {}", words()))
}

/// A list for each value of a field, in the order of the values' first records; then what has none.
fn together(found: &[Record], field: Field, look: Look<'_>, out: &mut dyn Write) -> Result<(), Error> {
    let mut groups: Vec<(Option<String>, Vec<Record>)> = Vec::new();
    for record in found {
        let of = record.fields().and_then(|fields| fields.text(field).map(|text| text.into_owned()));
        match groups.iter_mut().find(|(known, _)| *known == of) {
            Some((_, records)) => records.push(record.clone()),
            None => groups.push((of, vec![record.clone()])),
        }
    }
    groups.sort_by_key(|(of, _)| of.is_none());
    for (of, records) in groups {
        let heading = match &of {
            Some(of) => Row::of(Tone::Strong, field.word()).ours(" ").and_foreign(Tone::Strong, of),
            None => Row::of(Tone::Strong, format!("no {}", field.word())),
        };
        let said = if of.is_some() && field != Field::Session { ", as the host says" } else { "" };
        look.print(&heading.quiet(format!(" · {}{said}", counted(records.len(), "record"))), out)?;
        table(&records, look, out)?;
        writeln!(out)?;
    }
    Ok(())
}

fn numbers(records: &[Record]) -> impl Iterator<Item = u64> {
    records.iter().map(|record| u64::try_from(record.seq).unwrap_or(0))
}

fn warn_of_changes(
    reader: &Reader,
    numbers: impl Iterator<Item = u64>,
    look: Look<'_>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    const MOST: usize = 3;
    let changed = reader.unlinked(&mut numbers.collect::<BTreeSet<u64>>().into_iter())?;
    for Unlinked { machine, why, .. } in changed.iter().take(MOST) {
        let row = match machine {
            Some(machine) => Row::of(Tone::Danger, "▲ ").and_foreign(Tone::Danger, machine).and(Tone::Danger, ": "),
            None => Row::of(Tone::Danger, "▲ "),
        };
        look.print(&row.and(Tone::Danger, why.to_string()), out)?;
    }
    if !changed.is_empty() {
        let more = changed.len().saturating_sub(MOST);
        let more = if more > 0 { format!("{more} more are affected. ") } else { String::new() };
        let hint = look.hint("`mcp-approve log verify` checks the whole log.");
        writeln!(out, "{more}What is shown may be untrue: {hint}")?;
    }
    Ok(())
}

fn show(options: &ShowOptions, place: LogPlace<'_>, look: Look<'_>, out: &mut dyn Write) -> Exit {
    let look = look.utc(options.utc).wide(options.look.wide);
    let of = (options.machine.as_deref(), options.session.as_deref());
    let named::Named { reader, found, call, others } = named::named(&options.what, of, place)?;
    if options.json {
        return done(json_rows(found.iter().map(Record::json), JsonForm::Array, out));
    }
    warn_of_changes(&reader, numbers(if call.is_empty() { &found } else { &call }), look, out)?;
    timeline(&call, look, out)?;
    in_force::say(&reader, place, &call, look, out)?;
    whole(&found, out)?;
    if !others.is_empty() {
        writeln!(out, "{} is also a call of other sessions:", visible(&options.what))?;
        for other in &others {
            let (session, since) = (visible(&other.session), visible(&other.since));
            let machine = other.machine.as_ref().map(|machine| format!("  --machine {}", visible(machine)));
            writeln!(out, "  {since}{}  --session {session}", machine.unwrap_or_default())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Clone, Debug, clap::Args)]
pub struct PruneOptions {
    /// Records that are older: 90d, 52w, 2026-01-01
    #[arg(long, value_name = "WHEN")]
    pub before: Since,
    /// Remove them; without it this only says what would be removed
    #[arg(long)]
    pub yes: bool,
}

#[derive(Clone, Debug, clap::Args)]
pub struct AcknowledgeOptions {
    /// The record that the session began with, or the fault, as `log verify` names it
    #[arg(value_name = "RECORD")]
    pub seq: i64,
    /// Why its end is lost, or entries are
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
}

fn prune(options: &PruneOptions, (db, places): (&Path, &Places), look: Look<'_>, out: &mut dyn Write) -> Exit {
    let Some(reader) = Reader::open(db)? else { return Err(Error::NoLog(db.to_path_buf())) };
    let operator = user::name();
    let wanted = Wanted { before: options.before.moment(look.clock), now: look.clock.now, operator: &operator };
    let plan = match options.yes {
        false => retention::plan(&reader, wanted).map_err(refused)?,
        true => {
            drop(reader);
            let mut recording = Recording::open(db, &places.redaction_key()).map_err(|error| failed(&error))?;
            let prove = |last| {
                let (needs, terms) = (changes_need(places), change(ChangeKind::Log, String::new(), vec![last]));
                let signed = match needs {
                    Needs::Nothing => None,
                    Needs::Signature if !console::is_here() => {
                        return Err("the policy wants it signed, so run it at a terminal".to_owned());
                    }
                    Needs::Signature => {
                        let here = Here { places, now: look.clock.now };
                        Some(console::sign(terms.clone(), here, out).map_err(|error| error.to_string())?)
                    }
                };
                proof(places, needs, signed.as_ref(), (&terms, look.clock.now))
            };
            retention::remove(db, &mut recording, wanted, prove).map_err(refused)?
        }
    };
    let Plan { stretch, sealed_anew, held_by } = &plan;
    match stretch {
        None => writeln!(out, "Nothing is removed: no record that may go is older than that.")?,
        Some(one) => {
            let says = if options.yes { "Removed" } else { "Would be removed" };
            let (count, first, last) = (counted(one.count, "record"), grouped(one.first), grouped(one.last));
            writeln!(out, "{says}: {count}, {first} to {last}, of {} to {}.", visible(&one.from), visible(&one.to))?;
            writeln!(out, "The last of them has the link\n  {}", one.head)?;
            if *sealed_anew > 0 {
                let again = counted(*sealed_anew as u64, "record");
                writeln!(out, "What later records need of them is recorded again first: {again}.")?;
            }
            if !options.yes {
                let (export, again) = ("mcp-approve log export > FILE", "add --yes to remove them");
                writeln!(out, "`{}` keeps a copy that can be verified; {again}.", look.hint(export))?;
            }
        }
    }
    if let Some(start) = held_by {
        let (server, time) = (visible(&start.server), visible(&start.time));
        writeln!(
            out,
            "Later ones stay: {server}, which began in record {} on {time}, has not ended, or what it lost is not acknowledged.",
            start.seq
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

fn acknowledge(options: &AcknowledgeOptions, (db, key): (&Path, &Path), look: Look<'_>, out: &mut dyn Write) -> Exit {
    let Some(reader) = Reader::open(db)? else { return Err(Error::NoLog(db.to_path_buf())) };
    let unended = verified::verify(&reader, None, &mut |_| {})?.unended;
    let Some(start) = unended.lost.iter().find(|start| start.seq == options.seq) else {
        let what = format!(
            "record {} neither begins a session with a lost end nor says that entries are missing",
            options.seq
        );
        return Err(Error::wrong(what, "`mcp-approve log verify` names those that have"));
    };
    let (server, session) = (start.server.as_str().into(), start.session.as_str().into());
    let entry = Entry::new(look.clock.now, Kind::SessionLost, &server, &session);
    let entry = entry.with("operator", user::name()).with("reason", &options.reason).with("start", options.seq);
    Recording::open(db, key)
        .and_then(|mut recording| recording.record(&[(1, entry)]))
        .map_err(|error| failed(&error))?;
    done(match &start.fault {
        Some(_) => writeln!(out, "Recorded: what record {} says is missing, and you know.", start.seq),
        None => writeln!(out, "Recorded: the end of that session of {} is lost, and you know.", visible(&start.server)),
    })
}

fn failed(error: &RecordingError) -> Error {
    Error::wrong(format!("nothing was recorded: {error}"), "`mcp-approve doctor` says what is wrong with the log")
}

fn refused(error: RetentionError) -> Error {
    match error {
        RetentionError::Log(error) => error.into(),
        RetentionError::Recording(error) => failed(&error),
        RetentionError::Unsigned(why) => {
            Error::wrong(format!("nothing is removed: {why}"), "`mcp-approve help signing` says who may sign")
        }
        RetentionError::Broken(why) => Error::wrong(
            format!("nothing is removed, because the log does not hold: {why}"),
            "`mcp-approve log verify` says more; what is left of such a log is evidence",
        ),
    }
}
