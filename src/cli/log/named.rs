//! The log opened for a command, and the record or call that a person named in it. Prints nothing.

use std::path::Path;

use super::progress;
use crate::audit::fields::Record;
use crate::audit::query;
use crate::audit::store::noted::{self, Noted};
use crate::audit::store::{Reader, StoreError};
use crate::cli::error::Error;
use crate::cli::print::visible;

/// Opens the log; `None` where there was none yet.
pub(in crate::cli) fn open(db: &Path) -> Result<Option<Reader>, Error> {
    match Reader::open(db)? {
        None if noted::read(db) != Noted::Nothing => Err(Error::LogGone(db.to_path_buf())),
        reader => Ok(reader),
    }
}

/// What a person named: a record by its number, or a call by its ticket.
pub(in crate::cli) struct Named {
    pub(super) reader: Reader,
    /// The record alone, or all of the ticket.
    pub(in crate::cli) found: Vec<Record>,
    /// All records of the call, the oldest first; none where the record is not about one.
    pub(in crate::cli) call: Vec<Record>,
    /// Other sessions with a call of the same ticket.
    pub(super) others: Vec<query::OfSession>,
}

/// Looks up what was named; of several runs that gave out a ticket, in the newest, or in this session.
pub(in crate::cli) fn named(what: &str, session: Option<&str>, db: &Path) -> Result<Named, Error> {
    let reader = open(db)?.ok_or_else(|| Error::NoLog(db.to_path_buf()))?;
    let of_ticket = |ticket: &str| query::of_ticket(&reader, progress::index(db, &reader)?.as_ref(), ticket);
    let (found, call, others) = match what.parse() {
        Ok(seq) => {
            let found: Vec<Record> = query::at(&reader, seq)?.into_iter().collect();
            let of = found.first().and_then(Record::fields).and_then(|of| Some((of.ticket?, of.session.into_owned())));
            let call = of.map(|(ticket, session)| Ok::<_, StoreError>((of_ticket(&ticket)?, session))).transpose()?;
            let call = call.map_or_else(Vec::new, |(all, session)| query::of_one_session(all, Some(&session)).0);
            (found, call, Vec::new())
        }
        Err(_) => {
            let (found, others) = query::of_one_session(of_ticket(what)?, session);
            (found.clone(), found, others)
        }
    };
    if found.is_empty() {
        return Err(Error::NotInLog(visible(what)));
    }
    Ok(Named { reader, found, call, others })
}
