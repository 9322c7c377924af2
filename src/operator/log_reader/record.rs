//! One record in full: its place in the chain, whether its link holds, and what else the log has of the same call.

use crate::audit::fields::Record;
use crate::audit::index::Index;
use crate::audit::past;
use crate::audit::query;
use crate::audit::store::{Reader, StoreError};
use crate::operator::found::{Certain, Explained, Line, Opened};
use crate::policy::decide::{decide, nearest};
use crate::policy::past::{PastCall, is_obscured};
use crate::policy::rule::Policy;

/// Rules that are named beside the one that decides.
const NEAR: usize = 3;

pub(super) fn open(
    reader: &Reader,
    index: Option<&Index>,
    policy: Option<&Policy>,
    seq: u64,
) -> Result<Option<Opened>, StoreError> {
    let Some(record) = query::at(reader, seq)? else { return Ok(None) };
    let link = reader.follows(seq)?;
    let of_ticket = of_same_ticket(reader, index, &record)?;
    let line = Line::of(&record);
    // Another run of a wrapper gives out the same tickets.
    let others = of_ticket.iter().map(Line::of).filter(|one| one.session == line.session && one.seq != line.seq);
    let beside = others.collect();
    let call = policy.and_then(|_| past::call_of(&record, &of_ticket));
    let explained = call.zip(policy).map(|(call, policy)| explained(&call, policy));
    Ok(Some(Opened { newest: reader.newest()?, line, record, link, beside, explained }))
}

/// All records of the ticket that a record names, the oldest first.
pub(super) fn of_same_ticket(
    reader: &Reader,
    index: Option<&Index>,
    record: &Record,
) -> Result<Vec<Record>, StoreError> {
    match record.fields().and_then(|fields| fields.ticket) {
        Some(ticket) => query::of_ticket(reader, index, &ticket),
        None => Ok(Vec::new()),
    }
}

fn explained(call: &PastCall, policy: &Policy) -> Explained {
    let question = call.question(None);
    Explained {
        ruling: decide(policy, &question),
        near: nearest(policy, &question, &policy.roots, NEAR),
        certain: if is_obscured(&call.arguments) { Certain::Perhaps } else { Certain::Yes },
    }
}
