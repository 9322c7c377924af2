//! One record in full: its place in the chain, whether its link holds, and what else the log has of the same call.

use std::ops::ControlFlow;

use memchr::memmem;

use crate::audit::chain::{Head, Verifier};
use crate::audit::index::Index;
use crate::audit::past;
use crate::audit::query::Found;
use crate::audit::redact::push_string;
use crate::audit::store::{Order, Reader, StoreError};
use crate::console::found::{Certain, Explained, Line, Opened};
use crate::policy::decide::decide;
use crate::policy::explain::nearest;
use crate::policy::past::{PastCall, is_obscured};
use crate::policy::rule::Policy;

/// How far around a record the others of its call are looked for.
const AROUND: u64 = 5_000;

/// Rules that are named beside the one that decides.
const NEAR: usize = 3;

pub(super) fn open(
    reader: &Reader,
    index: Option<&Index>,
    policy: Option<&Policy>,
    seq: u64,
) -> Result<Option<Opened>, StoreError> {
    let before = match seq {
        1 => Some(Head::EMPTY.link),
        _ => reader.one(seq.saturating_sub(1), |row| Found::new(&row).link)?.flatten(),
    };
    let read = reader.one(seq, |row| {
        let link = match before {
            None => Err(format!("record {} is missing, so this one follows from nothing", seq.saturating_sub(1))),
            Some(link) => {
                let mut verifier = Verifier::after(Head { seq: seq.saturating_sub(1), link });
                verifier.take(&row).map(|_| ()).map_err(|broken| broken.to_string())
            }
        };
        (Found::new(&row), link)
    })?;
    let Some((found, link)) = read else { return Ok(None) };
    let line = Line::of(&found);
    let beside = match &line.ticket {
        Some(ticket) => beside(reader, &line, ticket)?,
        None => Vec::new(),
    };
    let call = if policy.is_some() { past::call_of(reader, index, &found)? } else { None };
    let explained = call.zip(policy).map(|(call, policy)| explained(&call, policy));
    Ok(Some(Opened { newest: reader.newest()?, line, found, link, beside, explained }))
}

fn explained(call: &PastCall, policy: &Policy) -> Explained {
    let question = call.question(None);
    Explained {
        ruling: decide(policy, &question),
        near: nearest(policy, &question, &policy.roots, NEAR),
        certain: if is_obscured(&call.arguments) { Certain::Perhaps } else { Certain::Yes },
    }
}

fn beside(reader: &Reader, line: &Line, ticket: &str) -> Result<Vec<Line>, StoreError> {
    let mut field = String::from("\"ticket\":");
    push_string(&mut field, ticket);
    let finder = memmem::Finder::new(&field);
    let mut others = Vec::new();
    let first = line.seq.saturating_sub(AROUND).max(1);
    reader.each_from(Order::OldestFirst, first, 2 * AROUND, &mut |row| {
        if finder.find(row.body).is_some() {
            let other = Line::of(&Found::new(&row));
            // Another run of a wrapper gives out the same tickets.
            if other.session == line.session && other.ticket == line.ticket && other.seq != line.seq {
                others.push(other);
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(others)
}
