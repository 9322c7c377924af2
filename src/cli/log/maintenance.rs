//! `mcp-approve log prune` and `log acknowledge`: what adds to the log, and removes its oldest records. Owns the wording.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use crate::audit::recording::{Recording, RecordingError};
use crate::audit::retention::{self, Plan, RetentionError, Wanted};
use crate::audit::{Entry, Kind, Reader, moment::Since, verified};
use crate::cli::console;
use crate::cli::error::{Error, Exit, done};
use crate::cli::look::{Here, Look, visible};
use crate::home::signers::{change, changes_need, proof};
use crate::home::{places::Places, user};
use crate::signing::{Needs, change::ChangeKind};
use crate::wire::{counted, number::grouped};

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
    /// The record that the session began with, as `log verify` names it
    #[arg(value_name = "RECORD")]
    pub seq: i64,
    /// Why its end is lost
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
}

pub(super) fn prune(
    options: &PruneOptions,
    (db, places): (&Path, &Places),
    look: Look<'_>,
    out: &mut dyn Write,
) -> Exit {
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
            "Later ones stay: {server}, which began in record {} on {time}, has not ended, or its end is lost.",
            start.seq
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn acknowledge(
    options: &AcknowledgeOptions,
    (db, key): (&Path, &Path),
    look: Look<'_>,
    out: &mut dyn Write,
) -> Exit {
    let Some(reader) = Reader::open(db)? else { return Err(Error::NoLog(db.to_path_buf())) };
    let unended = verified::verify(&reader, None, &mut |_| {})?.unended;
    let Some(start) = unended.lost.iter().find(|start| start.seq == options.seq) else {
        let what = format!("no session that began with record {} has a lost end", options.seq);
        return Err(Error::wrong(what, "`mcp-approve log verify` names those that have"));
    };
    let (server, session) = (start.server.as_str().into(), start.session.as_str().into());
    let entry = Entry::new(look.clock.now, Kind::SessionLost, &server, &session);
    let entry = entry.with("operator", user::name()).with("reason", &options.reason).with("start", options.seq);
    Recording::open(db, key)
        .and_then(|mut recording| recording.record(&[(1, entry)]))
        .map_err(|error| failed(&error))?;
    done(writeln!(out, "Recorded: the end of that session of {} is lost, and you know.", visible(&start.server)))
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
