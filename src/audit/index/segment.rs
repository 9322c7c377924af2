//! A segment of the index while it is filled, and its columns as facts again.

use std::collections::hash_map::Entry;

use super::{Index, MOST, SEGMENT, Shape, place};
use crate::audit::chain::Row;
use crate::audit::query::Fields;
use crate::audit::record::Kind;
use crate::audit::sketch::{self, Sketch};
use crate::audit::stats::refused_lines;
use crate::audit::store::index_db::{Columns, Filled, Unusable};

/// What the columns say of one record; `None` of an odd one, which has to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact {
    pub told: Option<Told>,
}

/// What the columns say of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Numbers of its words.
    pub shape: u32,
    pub session: u32,
    /// Milliseconds since 1970, UTC.
    pub time: i64,
    /// [`sketch::number_of`] the ticket in lower case.
    pub ticket: Option<i64>,
    /// A latency in microseconds; of a fault, the lines of a host that it refused.
    pub figure: Option<u64>,
}

/// What stands where a column has nothing to say.
const NOTHING: i64 = i64::MIN;
const ODD: u32 = u32::MAX;

/// A segment that is being filled.
#[derive(Default)]
pub(super) struct Filling {
    taken: u64,
    columns: Columns,
    sketch: Sketch,
    link: Vec<u8>,
    earliest: Option<i64>,
    latest: Option<i64>,
}

impl Filling {
    pub(super) fn take(&mut self, index: &mut Index, row: &Row<'_>) {
        self.sketch.take(usize::try_from(self.taken).unwrap_or(usize::MAX), row.body);
        // A number that is missing would shift all that follow.
        let expected = index.upto() + 1 + self.taken;
        if u64::try_from(row.seq) != Ok(expected) {
            return;
        }
        self.taken += 1;
        self.link.clear();
        self.link.extend_from_slice(row.link);
        let told = serde_json::from_slice::<Fields<'_>>(row.body).ok().and_then(|fields| told(index, &fields));
        let time = told.map(|told| told.time);
        self.earliest = Some(self.earliest.unwrap_or(i64::MAX).min(time.unwrap_or(i64::MIN)));
        self.latest = Some(self.latest.unwrap_or(i64::MIN).max(time.unwrap_or(i64::MAX)));
        let (shape, session) = told.map_or((ODD, ODD), |told| (told.shape, told.session));
        let figure = told.and_then(|told| told.figure).and_then(|figure| i64::try_from(figure).ok());
        self.columns.shapes.extend(shape.to_le_bytes());
        self.columns.sessions.extend(session.to_le_bytes());
        self.columns.times.extend(time.unwrap_or(NOTHING).to_le_bytes());
        self.columns.tickets.extend(told.and_then(|told| told.ticket).unwrap_or(NOTHING).to_le_bytes());
        self.columns.figures.extend(figure.unwrap_or(NOTHING).to_le_bytes());
    }

    /// `None` while there is room, or where a record is missing: the rest of such a log is scanned.
    pub(super) fn finish(self, index: &Index, known_shapes: usize, known_sessions: usize) -> Option<Filled> {
        if self.taken < SEGMENT {
            return None;
        }
        let shapes = (known_shapes..).zip(&index.shapes[known_shapes..]);
        let mut words: Vec<_> =
            shapes.map(|(at, shape)| ("shape", place(at), serde_json::to_string(shape).unwrap_or_default())).collect();
        let sessions = (known_sessions..).zip(&index.sessions[known_sessions..]);
        words.extend(sessions.map(|(at, session)| ("session", place(at), session.clone())));
        Some(Filled {
            number: index.segments,
            link: self.link,
            earliest: self.earliest.unwrap_or(i64::MIN),
            latest: self.latest.unwrap_or(i64::MAX),
            columns: self.columns,
            sketch: self.sketch.rows().collect(),
            words,
        })
    }
}

/// What columns can say of a record; `None` where that is less than it says itself.
fn told(index: &mut Index, fields: &Fields<'_>) -> Option<Told> {
    // Times of another form compare in another way.
    let canonical = fields.time.len() == 24 && fields.time.as_bytes()[19] == b'.' && fields.time.ends_with('Z');
    let time = fields.time.parse::<jiff::Timestamp>().ok().filter(|_| canonical)?.as_millisecond();
    let latency = match fields.latency_ms.map(|json| json.get()).filter(|text| *text != "null") {
        None => None,
        Some(text) => {
            let (whole, part) = text.split_once('.').filter(|(_, part)| part.len() == 3)?;
            Some(whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(part.parse().ok()?)?)
        }
    };
    let figure = match (fields.kind == Kind::Fault.word(), latency) {
        (true, Some(_)) => return None,
        (true, None) => Some(refused_lines(fields)),
        (false, latency) => latency,
    };
    let shape = Shape::of(fields);
    let shape = match index.shape_numbers.get(&shape) {
        Some(number) => *number,
        None if index.shapes.len() >= MOST => return None,
        None => {
            let number = place(index.shapes.len());
            index.shapes.push(shape.clone());
            index.shape_numbers.insert(shape, number);
            number
        }
    };
    let next = place(index.sessions.len());
    let session = match index.session_numbers.entry(fields.session.to_string()) {
        Entry::Occupied(known) => *known.get(),
        Entry::Vacant(_) if index.sessions.len() >= MOST => return None,
        Entry::Vacant(new) => {
            index.sessions.push(new.key().clone());
            *new.insert(next)
        }
    };
    let ticket = fields.ticket.as_ref().map(|ticket| sketch::number_of(&ticket.to_lowercase()));
    Some(Told { shape, session, time, ticket, figure })
}

/// The facts of a segment's columns.
///
/// # Errors
/// The columns have another length than a segment's.
pub(super) fn facts(columns: Columns) -> Result<impl Iterator<Item = Fact>, Unusable> {
    let records = usize::try_from(SEGMENT).unwrap_or(0);
    let Columns { shapes, sessions, times, tickets, figures } = columns;
    let fours = [&shapes, &sessions].iter().all(|column| column.len() == records * 4);
    let eights = [&times, &tickets, &figures].iter().all(|column| column.len() == records * 8);
    if !(fours && eights) {
        return Err(Unusable::Shape);
    }
    Ok((0..records).map(move |at| {
        let shape = four(&shapes, at);
        let told = (shape != ODD).then(|| Told {
            shape,
            session: four(&sessions, at),
            time: eight(&times, at),
            ticket: Some(eight(&tickets, at)).filter(|ticket| *ticket != NOTHING),
            figure: u64::try_from(eight(&figures, at)).ok(),
        });
        Fact { told }
    }))
}

fn four(column: &[u8], at: usize) -> u32 {
    column.get(at * 4..at * 4 + 4).and_then(|bytes| bytes.try_into().ok()).map_or(ODD, u32::from_le_bytes)
}

fn eight(column: &[u8], at: usize) -> i64 {
    column.get(at * 8..at * 8 + 8).and_then(|bytes| bytes.try_into().ok()).map_or(NOTHING, i64::from_le_bytes)
}
