//! `mcp-approve log list|show|verify|export|stats`: reviews the audit log. Prints only to the writer it is given.

pub mod export;
mod print;
pub(super) mod progress;
pub mod stats;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::error::Error;
use super::print::{json_array, json_lines, visible};
use crate::audit::chain::Head;
use crate::audit::fields::{Field, Record};
use crate::audit::moment::Since;
use crate::audit::query::{self, Anchor, Verified};
use crate::audit::record::{By, Kind, VerdictWord};
use crate::audit::search::Search;
use crate::audit::store::noted::{self, Noted};
use crate::audit::store::{Left, Reader, StoreError};
use crate::policy::glob::Glob;
use crate::wire::digest::Digest;
use print::{table, whole};

/// What to do with the log.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum LogCommand {
    /// Lists records, the newest last
    List(ListOptions),
    /// Shows one record, or all records of a call, in full
    Show(ShowOptions),
    /// Checks that no record was changed, removed, inserted or moved
    Verify(VerifyOptions),
    /// Writes records for other programs, with what proves them
    #[command(after_help = "Examples:
  mcp-approve log export > audit.jsonl
  mcp-approve log export --verifier > verify.py && python3 verify.py audit.jsonl
  mcp-approve log export --format csv --since 30d > audit.csv

Secrets stay as the log has them: replaced by a keyed hash.")]
    Export(export::ExportOptions),
    /// Counts: what was asked, approved, denied, how fast, and what rules saved
    Stats(stats::StatsOptions),
}

/// Of which servers and tools.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Of {
    /// Only this server (a name or a glob)
    #[arg(long, value_name = "NAME", value_parser = Glob::new)]
    pub server: Option<Glob>,
    /// Only this tool (a name or a glob)
    #[arg(long, value_name = "NAME", value_parser = Glob::new)]
    pub tool: Option<Glob>,
}

/// Which records to list, and how.
#[derive(Clone, Debug, clap::Args)]
pub struct ListOptions {
    #[command(flatten)]
    pub of: Of,
    /// Only this kind of record: decision, decision-asked, forward, outcome, withdrawn, …
    #[arg(long)]
    pub kind: Option<Kind>,
    /// Only this verdict: approve or deny
    #[arg(long)]
    pub verdict: Option<VerdictWord>,
    /// Only what this one decided: default, rule, operator, expiry, …
    #[arg(long)]
    pub by: Option<By>,
    /// Only since then: 30d, 1h, 5m, or a time like 2026-11-21T10:00:00Z
    #[arg(long, value_name = "WHEN")]
    pub since: Option<Since>,
    /// At most so many records, the newest
    #[arg(long, value_name = "N", default_value_t = LIMIT)]
    pub limit: usize,
    /// Print one JSON array
    #[arg(long, conflicts_with = "jsonl")]
    pub json: bool,
    /// Print one JSON object per line
    #[arg(long)]
    pub jsonl: bool,
}

const LIMIT: usize = 50;

impl Default for ListOptions {
    /// What `mcp-approve log` alone lists.
    fn default() -> Self {
        Self {
            of: Of::default(),
            kind: None,
            verdict: None,
            by: None,
            since: None,
            limit: LIMIT,
            json: false,
            jsonl: false,
        }
    }
}

/// Which record to show.
#[derive(Clone, Debug, clap::Args)]
pub struct ShowOptions {
    /// The number of a record, or the ticket of a call (filesystem-12)
    #[arg(value_name = "SEQ|TICKET")]
    pub what: String,
    /// The ticket as this session gave it out (the first characters are enough) [default: the newest]
    #[arg(long, value_name = "SESSION")]
    pub session: Option<String>,
    /// Print one JSON array
    #[arg(long)]
    pub json: bool,
}

/// How to verify.
#[derive(Clone, Debug, clap::Args)]
pub struct VerifyOptions {
    /// A head link noted earlier: it must still be in the chain
    #[arg(long, value_name = "LINK")]
    pub expect_head: Option<Digest>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Whether the thing asked about is so: exit code 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    So,
    NotSo,
}

/// Why the log could not be reviewed.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("there is no audit log yet at {0}")]
    NoLog(PathBuf),
    #[error("nothing in the audit log is called {0}")]
    Nothing(String),
    #[error("the output could not be written: {0}")]
    Output(#[from] io::Error),
}

impl LogError {
    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Store(error) => error.hint(),
            Self::NoLog(_) => {
                "it begins with the first wrapped server: `mcp-approve -- CMD`; another place is named with --home or --audit-db"
            }
            Self::Nothing(_) => "`mcp-approve log list` names records by SEQ and TICKET",
            Self::Output(_) => "look at where the output goes",
        }
    }
}

impl From<LogError> for Error {
    fn from(error: LogError) -> Self {
        match error {
            LogError::Output(cause) => cause.into(),
            LogError::Store(_) | LogError::NoLog(_) | LogError::Nothing(_) => {
                Self::Wrong { what: error.to_string(), hint: error.hint().to_owned() }
            }
        }
    }
}

/// Runs one command on the log at `db`. `now` is milliseconds since 1970, UTC.
///
/// # Errors
/// The log cannot be read, has no such record, or the output cannot be written.
pub fn run(command: &LogCommand, db: &Path, now: i64, out: &mut dyn Write) -> Result<Finding, LogError> {
    match command {
        LogCommand::List(options) => list(options, db, now, out),
        LogCommand::Show(options) => show(options, db, out),
        LogCommand::Verify(options) => verify(options, db, out),
        LogCommand::Export(options) => export::run(options, db, now, out),
        LogCommand::Stats(options) => stats::run(options, db, now, out),
    }
}

/// Lists records; none is no error.
///
/// # Errors
/// As [`run`].
pub fn list(options: &ListOptions, db: &Path, now: i64, out: &mut dyn Write) -> Result<Finding, LogError> {
    let search = search(&options.of, options.since, now)
        .with(Field::Kind, options.kind.map(Kind::word))
        .with(Field::Verdict, options.verdict.map(VerdictWord::word))
        .with(Field::By, options.by.map(By::word));
    let reader = Reader::open(db)?;
    let found = match &reader {
        Some(reader) => {
            let index = if search.is_empty() { None } else { progress::index(db, reader)? };
            query::last(reader, index.as_ref(), &search, options.limit)?
        }
        None => Vec::new(),
    };
    if options.json {
        json_array(found.iter().map(Record::json), out)?;
    } else if options.jsonl {
        json_lines(found.iter().map(Record::json), out)?;
    } else if reader.is_none() {
        let missing = LogError::NoLog(db.to_path_buf());
        writeln!(out, "{missing}: {}", missing.hint())?;
    } else if found.is_empty() {
        writeln!(out, "No record is like that.")?;
    } else {
        table(&found, out)?;
    }
    Ok(Finding::So)
}

/// Shows one record, or all of a ticket.
///
/// # Errors
/// As [`run`].
pub fn show(options: &ShowOptions, db: &Path, out: &mut dyn Write) -> Result<Finding, LogError> {
    let reader = Reader::open(db)?.ok_or_else(|| LogError::NoLog(db.to_path_buf()))?;
    let (found, others) = match options.what.parse() {
        Ok(seq) => (query::at(&reader, seq)?.into_iter().collect(), Vec::new()),
        Err(_) => {
            let index = progress::index(db, &reader)?;
            let found = query::of_ticket(&reader, index.as_ref(), &options.what)?;
            query::of_one_session(found, options.session.as_deref())
        }
    };
    if found.is_empty() {
        return Err(LogError::Nothing(visible(&options.what)));
    }
    if options.json {
        json_array(found.iter().map(Record::json), out)?;
        return Ok(Finding::So);
    }
    for row in &found {
        whole(row, out)?;
    }
    if !others.is_empty() {
        writeln!(out, "{} is also a call of other sessions:", visible(&options.what))?;
        for other in &others {
            let (session, since) = (visible(&other.session), visible(&other.since));
            writeln!(out, "  {since}  --session {session}")?;
        }
    }
    Ok(Finding::So)
}

/// Verifies the chain.
///
/// # Errors
/// As [`run`]; a broken chain is a finding.
pub fn verify(options: &VerifyOptions, db: &Path, out: &mut dyn Write) -> Result<Finding, LogError> {
    // Before the log is opened, which may grow meanwhile.
    let noted = noted::read(db);
    let (verified, lost, left) = match Reader::open(db)? {
        Some(reader) => {
            let verified = query::verify(&reader, options.expect_head)?;
            let lost = query::is_lost(&noted, verified.head, &reader)?;
            (verified, lost, reader.left().to_vec())
        }
        None if noted == Noted::Nothing => return Err(LogError::NoLog(db.to_path_buf())),
        None => {
            let anchor = options.expect_head.map_or(Anchor::NotAsked, |_| Anchor::Missing);
            (Verified { head: Head::EMPTY, broken: None, anchor }, true, Vec::new())
        }
    };
    let aside = left.iter().any(|one| matches!(one, Left::Broken { .. }));
    let (seq, link) = (verified.head.seq, verified.head.link);
    let finding = match (&verified.broken, verified.anchor) {
        (None, Anchor::NotAsked | Anchor::Found { .. }) if !lost && !aside => Finding::So,
        (Some(_), _) | (None, Anchor::NotAsked | Anchor::Found { .. } | Anchor::Missing) => Finding::NotSo,
    };
    if options.json {
        let broken = verified
            .broken
            .as_ref()
            .map(|broken| serde_json::json!({ "seq": broken.seq(), "what": broken.to_string() }));
        let anchor = match verified.anchor {
            Anchor::NotAsked => serde_json::Value::Null,
            Anchor::Found { seq } => serde_json::json!({ "found": true, "seq": seq }),
            Anchor::Missing => serde_json::json!({ "found": false, "seq": null }),
        };
        let report = serde_json::json!({
            "holds": finding == Finding::So,
            "records": seq,
            "head": { "seq": seq, "link": link },
            "broken": broken,
            "anchor": anchor,
            "noted": match &noted {
                Noted::Nothing => serde_json::Value::Null,
                Noted::Head(head) => serde_json::json!({ "found": !lost, "seq": head.seq, "link": head.link }),
                Noted::Unreadable(why) => serde_json::json!({ "found": false, "seq": null, "why": why }),
            },
            "left": left.iter().map(left_json).collect::<Vec<_>>(),
        });
        writeln!(out, "{report}")?;
        return Ok(finding);
    }
    match &verified.broken {
        None if lost => writeln!(out, "What is there holds: {seq} records.")?,
        None => writeln!(out, "The chain holds: {seq} records.")?,
        Some(broken) => {
            writeln!(out, "THE CHAIN IS BROKEN: {broken}.")?;
            writeln!(out, "The {seq} records before that hold.")?;
        }
    }
    tell_noted(&noted, lost, &noted::place_of(db), out)?;
    tell_left(&left, out)?;
    match (verified.anchor, options.expect_head) {
        (Anchor::Found { seq: anchor }, _) => {
            writeln!(out, "The expected head is record {anchor}: what was there then is there still.")?;
        }
        (Anchor::Missing, Some(expected)) => writeln!(
            out,
            "THE EXPECTED HEAD IS MISSING: no record that holds carries the link\n  {expected}\n\
             Records were cut off or replaced since it was noted."
        )?,
        (Anchor::NotAsked | Anchor::Missing, _) => {}
    }
    writeln!(out, "Head: record {seq}, link\n  {link}")?;
    if verified.anchor == Anchor::NotAsked && finding == Finding::So {
        writeln!(
            out,
            "Not checked: whether records were cut off at the end together with that note; a\n\
             chain cannot show that. Keep the link above somewhere else, and next time give it to\n  \
               mcp-approve log verify --expect-head LINK"
        )?;
    }
    Ok(finding)
}

fn tell_noted(noted: &Noted, lost: bool, place: &Path, out: &mut dyn Write) -> io::Result<()> {
    let place = visible(&place.display().to_string());
    match noted {
        Noted::Nothing => writeln!(out, "No head is noted in {place} yet."),
        Noted::Unreadable(why) => writeln!(out, "THE NOTED HEAD CANNOT BE READ: {place}: {why}."),
        Noted::Head(head) if lost => writeln!(
            out,
            "RECORDS ARE MISSING: {place} has noted record {} with the link\n  {}\n\
             and that record is not in the chain that holds. The log was removed, replaced or cut off since. If you moved\n\
             it away yourself, move that file with it.",
            head.seq, head.link
        ),
        Noted::Head(head) => writeln!(out, "The head noted in {place}, record {}, is in it.", head.seq),
    }
}

/// The search that these options mean.
fn search(of: &Of, since: Option<Since>, now: i64) -> Search {
    Search::default()
        .with_glob(Field::Server, of.server.as_ref())
        .with_glob(Field::Tool, of.tool.as_ref())
        .from(since.map(|since| since.moment(now)))
}

fn left_json(left: &Left) -> serde_json::Value {
    match left {
        Left::Broken { path } => serde_json::json!({ "path": path.display().to_string(), "changed": true }),
        Left::Unfolded { path, why } => {
            serde_json::json!({ "path": path.display().to_string(), "changed": false, "why": why })
        }
    }
}

fn tell_left(left: &[Left], out: &mut dyn Write) -> io::Result<()> {
    for one in left {
        match one {
            Left::Broken { path } => writeln!(
                out,
                "ENTRIES WERE CHANGED BEFORE THEY REACHED THE LOG: what a server's wrapper left when it died is kept in\n  {}",
                visible(&path.display().to_string())
            )?,
            Left::Unfolded { path, why } => writeln!(
                out,
                "Not checked: entries in {} that are not in the log yet: {}.",
                visible(&path.display().to_string()),
                visible(why)
            )?,
        }
    }
    Ok(())
}
