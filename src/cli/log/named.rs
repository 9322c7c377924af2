//! What a command is to look at: the log opened for it, the record or call that a person named, or a search with options for
//! what is asked most; and the progress of long work, on a terminal's stderr.

use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::audit::store::noted::{self, Noted};
use crate::audit::{
    By, Clock, Field, Kind, Reader, Record, Search, StoreError, VerdictWord, index::Index, moment::Since, query,
    search::Meaningless,
};
use crate::cli::error::Error;
use crate::cli::look::{Look, visible};
use crate::desk::{
    self,
    engine::{Program, Target},
};
use crate::policy::Glob;
use crate::wire::words::UnknownWord;

/// Where the log is that a command reads.
#[derive(Clone, Copy, Debug)]
pub enum LogPlace<'p> {
    /// This machine's.
    File(&'p Path),
    /// Those of all machines.
    Desk(&'p Target),
}

impl<'p> From<&'p Path> for LogPlace<'p> {
    fn from(path: &'p Path) -> Self {
        Self::File(path)
    }
}

impl<'p> From<&'p PathBuf> for LogPlace<'p> {
    fn from(path: &'p PathBuf) -> Self {
        Self::File(path)
    }
}

impl<'p> LogPlace<'p> {
    /// Opens the log, which must be there.
    pub(super) fn open_there(self) -> Result<Reader, Error> {
        match self {
            Self::File(db) => open(db)?.ok_or_else(|| Error::NoLog(db.to_path_buf())),
            Self::Desk(target) => Ok(desk::log::open(target, Program::Command)?),
        }
    }

    /// The log of this machine, for what is done on a machine alone.
    pub(super) fn here(self) -> Result<&'p Path, Error> {
        match self {
            Self::File(db) => Ok(db),
            Self::Desk(_) => {
                Err(Error::wrong("this is done on each machine, not on the desk", "run it there, without --desk"))
            }
        }
    }
}

pub(in crate::cli) fn open<'p>(place: impl Into<LogPlace<'p>>) -> Result<Option<Reader>, Error> {
    match place.into() {
        LogPlace::File(db) => match Reader::open(db)? {
            None if noted::read(db) != Noted::Nothing => Err(Error::LogGone(db.to_path_buf())),
            reader => Ok(reader),
        },
        place @ LogPlace::Desk(_) => place.open_there().map(Some),
    }
}

pub(super) fn no_log(place: LogPlace<'_>, look: Look<'_>, out: &mut dyn Write) -> io::Result<()> {
    let LogPlace::File(db) = place else { return Ok(()) };
    let missing = Error::NoLog(db.to_path_buf());
    writeln!(out, "{missing}: {}", look.hint(&missing.hint().unwrap_or_default()))
}

pub(in crate::cli) struct Named {
    pub(super) reader: Reader,
    /// The record alone, or all of the ticket.
    pub(in crate::cli) found: Vec<Record>,
    /// All records of the call, the oldest first; none where the record is not about one.
    pub(in crate::cli) call: Vec<Record>,
    /// Other sessions with a call of the same ticket.
    pub(super) others: Vec<query::OfSession>,
}

/// Looks up what was named; of several runs that gave out a ticket, in the newest, or in this session, on this machine.
pub(in crate::cli) fn named<'p>(
    what: &str,
    (machine, session): (Option<&str>, Option<&str>),
    place: impl Into<LogPlace<'p>>,
) -> Result<Named, Error> {
    let place = place.into();
    let reader = place.open_there()?;
    let of_ticket = |ticket: &str, machine: Option<&str>| {
        let mut found = query::of_ticket(&reader, index(place, &reader)?.as_ref(), ticket)?;
        found.retain(|record| machine.is_none() || record.machine() == machine);
        Ok::<_, StoreError>(found)
    };
    let (found, call, others) = match what.parse() {
        Ok(seq) => {
            let found: Vec<Record> = query::at(&reader, seq)?.into_iter().collect();
            let of = |record: &Record| {
                let fields = record.fields()?;
                Some((fields.ticket?, fields.session.into_owned(), record.machine().map(str::to_owned)))
            };
            let call = match found.first().and_then(of) {
                Some((ticket, session, machine)) => {
                    query::of_one_session(of_ticket(&ticket, machine.as_deref())?, Some(&session)).0
                }
                None => Vec::new(),
            };
            (found, call, Vec::new())
        }
        Err(_) => {
            let (found, others) = query::of_one_session(of_ticket(what, machine)?, session);
            (found.clone(), found, others)
        }
    };
    if found.is_empty() {
        return Err(Error::NotInLog(visible(what)));
    }
    Ok(Named { reader, found, call, others })
}

/// A wait too short to explain.
const DELAY: Duration = Duration::from_millis(500);

/// The index of the log; the desk has indexes of its own.
pub(in crate::cli) fn index<'p>(place: impl Into<LogPlace<'p>>, reader: &Reader) -> Result<Option<Index>, StoreError> {
    let LogPlace::File(log) = place.into() else { return Ok(None) };
    with_progress("indexing the log, for quick searches", reader.newest()?, |tell| Index::brought_on(log, reader, tell))
}

pub(super) fn with_progress<T>(what: &'static str, newest: u64, work: impl FnOnce(&mut dyn FnMut(u64)) -> T) -> T {
    let mut progress = Progress::new(what, io::stderr().is_terminal(), Instant::now());
    let done = work(&mut |upto| {
        if let Some(line) = progress.line(upto, newest, Instant::now()) {
            say(&line);
        }
    });
    if let Some(line) = progress.over() {
        say(&line);
    }
    done
}

/// A terminal that does not take it loses nothing.
pub(super) fn say(line: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(line.as_bytes()).and_then(|()| stderr.flush());
}

struct Progress {
    what: &'static str,
    is_terminal: bool,
    next: Instant,
    shown: bool,
}

impl Progress {
    fn new(what: &'static str, is_terminal: bool, now: Instant) -> Self {
        Self { what, is_terminal, next: now + DELAY, shown: false }
    }

    /// The line that replaces the one before, twice a second; `None` while that is too early.
    fn line(&mut self, upto: u64, newest: u64, now: Instant) -> Option<String> {
        if !self.is_terminal || now < self.next {
            return None;
        }
        self.next = now + DELAY;
        self.shown = true;
        let hundredth = upto.saturating_mul(100) / newest.max(1);
        Some(format!("\r{}: record {upto} of {newest} ({hundredth} %) \x1b[K", self.what))
    }

    fn over(&self) -> Option<String> {
        self.shown.then(|| "\r\x1b[K".to_owned())
    }
}

#[derive(Clone, Debug, Default, clap::Args)]
pub struct RecordsWanted {
    /// Words and fields, as in the console's Log: README.md verdict:deny since:yesterday
    #[arg(value_name = "SEARCH")]
    pub search: Vec<String>,
    /// Only servers with this in their name (or a glob)
    #[arg(long, value_name = "NAME", value_parser = Glob::new)]
    pub server: Option<Glob>,
    /// Only tools with this in their name (or a glob)
    #[arg(long, value_name = "NAME", value_parser = Glob::new)]
    pub tool: Option<Glob>,
    /// Only this kind of record: decision, decision-asked, forward, outcome, withdrawn, …
    #[arg(long)]
    pub kind: Option<Kind>,
    /// Only this verdict: approve or deny
    #[arg(long, value_parser = verdict)]
    pub verdict: Option<VerdictWord>,
    /// Only what this decided: policy, rule, operator, expiry, …
    #[arg(long, value_parser = by)]
    pub by: Option<By>,
    /// Only from then on: today, yesterday, 2026-11-21, 14:30, 30d, 1h, 5m, 2026-11-21T10:00:00Z
    #[arg(long, value_name = "WHEN")]
    pub since: Option<Since>,
    /// Only before then; a day counts to its end
    #[arg(long, value_name = "WHEN")]
    pub until: Option<Since>,
    /// Read and show days and times in UTC
    #[arg(long)]
    pub utc: bool,
}

/// A verdict by any of the words that people use.
fn verdict(word: &str) -> Result<VerdictWord, UnknownWord> {
    match word {
        "allow" | "allowed" | "approved" => Ok(VerdictWord::Approve),
        "denied" => Ok(VerdictWord::Deny),
        word => word.parse(),
    }
}

fn by(word: &str) -> Result<By, UnknownWord> {
    if word == "policy" { Ok(By::Default) } else { word.parse() }
}

impl RecordsWanted {
    pub(super) fn search(&self, clock: Clock) -> Result<Search, Meaningless> {
        let search = Search::read(&self.search.join(" "), clock)?
            .with_part(Field::Server, self.server.as_ref())
            .with_part(Field::Tool, self.tool.as_ref())
            .with(Field::Kind, self.kind.map(Kind::word))
            .with(Field::Verdict, self.verdict.map(VerdictWord::word))
            .with(Field::By, self.by.map(By::word));
        let (since, until) = (self.since.map(|since| since.moment(clock)), self.until.map(|until| until.end(clock)));
        Ok(search.from(since).before(until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_half_a_second_at_a_terminal_is_told_and_nobody_else() {
        let start = Instant::now();
        let mut progress = Progress::new("checking the log", true, start);
        assert_eq!(progress.line(1, 10, start + Duration::from_millis(499)), None);
        assert_eq!(progress.over(), None, "nothing was shown, so nothing is taken away");
        let line = progress.line(5, 10, start + Duration::from_millis(500));
        assert!(line.is_some_and(|line| line.contains("record 5 of 10 (50 %)")));
        assert_eq!(progress.line(6, 10, start + Duration::from_millis(600)), None, "twice a second");
        assert!(progress.over().is_some());
        let mut piped = Progress::new("checking the log", false, start);
        assert_eq!(piped.line(5, 10, start + Duration::from_secs(9)), None);
    }
}
