//! Past calls for the commands that try rules on them: found in the log, and listed. Judges nothing.

use std::io::{self, Write};
use std::path::Path;

use crate::audit::past;
use crate::cli::error::Error;
use crate::cli::log;
use crate::cli::print::{local, visible};
use crate::gate::call::target;
use crate::policy::past::PastCall;
use crate::text::plain;
use crate::text::time;

/// Every call since then, the oldest first; `None` when there is no log yet.
pub(super) fn since(db: &Path, since: Option<i64>) -> Result<Option<Vec<PastCall>>, Error> {
    Ok(log::named::open(db)?.map(|reader| past::calls(&reader, since)).transpose()?)
}

/// The call of a record's number or of a ticket; of several runs that gave out the ticket, the newest.
pub(super) fn one(what: &str, db: &Path) -> Result<PastCall, Error> {
    let named = log::named::named(what, None, db)?;
    let found = named.found.last().ok_or_else(|| Error::NotInLog(visible(what)))?;
    past::call_of(found, &named.call).ok_or_else(|| {
        Error::wrong(
            format!("record {} is not about a call that the policy decided", found.seq),
            "`mcp-approve log list` lists calls by SEQ",
        )
    })
}

/// One line about a call: number, local time, ticket, tool, and what it acts on.
pub(super) fn line(call: &PastCall) -> String {
    let time = time::date(call.time, local(call.time).offset);
    let target = target::of(&call.behavior, &call.arguments).unwrap_or_default();
    plain::block(&format!("{:>6}  {time}  {}  {}  {target}", call.seq, call.ticket, call.tool))
}

/// A few calls, the newest first, and how many more there are.
pub(super) fn some(calls: &[&PastCall], most: usize, out: &mut dyn Write) -> io::Result<()> {
    calls.iter().rev().take(most).try_for_each(|call| writeln!(out, "  {}", line(call)))?;
    if calls.len() > most { writeln!(out, "  and {} more", calls.len() - most) } else { Ok(()) }
}
