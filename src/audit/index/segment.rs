//! A segment of the index: filled from records, and its columns read back as what they say of each record.

use super::pieces::{BLOCK, BLOCKS, PieceMap};
use super::words::{Numbered, Shape};
use crate::audit::chain::Row;
use crate::audit::fields::Fields;
use crate::audit::record::Kind;
use crate::audit::store::index_db::{Columns, Filled, Unusable};

/// Records of one segment.
pub const SEGMENT: u64 = (BLOCK * BLOCKS) as u64;

/// What the columns say of one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Numbers of its words.
    pub shape: u32,
    pub session: u32,
    /// Milliseconds since 1970, UTC.
    pub time: i64,
    /// [`number_of`](crate::audit::fields::number_of) the ticket in lower case.
    pub ticket: Option<i64>,
    /// A latency in microseconds; of a fault, the lines of a host that it refused.
    pub figure: Option<u64>,
}

/// The value of a column that has nothing to say.
const NOTHING: i64 = i64::MIN;
const ODD: u32 = u32::MAX;

/// A segment that is being filled.
#[derive(Default)]
pub(super) struct Filling {
    taken: u64,
    columns: Columns,
    pieces: PieceMap,
    link: Vec<u8>,
    earliest: Option<i64>,
    latest: Option<i64>,
}

impl Filling {
    /// Takes a record, whose number must be `first` plus the number of those taken before.
    pub(super) fn take(
        &mut self,
        first: u64,
        row: &Row<'_>,
        shapes: &mut Numbered<Shape>,
        sessions: &mut Numbered<String>,
    ) {
        self.pieces.take(usize::try_from(self.taken).unwrap_or(usize::MAX), row.body);
        // A number that is missing would shift all that follow.
        if u64::try_from(row.seq) != Ok(first + self.taken) {
            return;
        }
        self.taken += 1;
        self.link.clear();
        self.link.extend_from_slice(row.link);
        let summary = Fields::of(row.body).and_then(|fields| summary(&fields, shapes, sessions));
        let time = summary.map(|summary| summary.time);
        self.earliest = Some(self.earliest.unwrap_or(i64::MAX).min(time.unwrap_or(i64::MIN)));
        self.latest = Some(self.latest.unwrap_or(i64::MIN).max(time.unwrap_or(i64::MAX)));
        let (shape, session) = summary.map_or((ODD, ODD), |summary| (summary.shape, summary.session));
        let figure = summary.and_then(|summary| summary.figure).and_then(|figure| i64::try_from(figure).ok());
        self.columns.shapes.extend(shape.to_le_bytes());
        self.columns.sessions.extend(session.to_le_bytes());
        self.columns.times.extend(time.unwrap_or(NOTHING).to_le_bytes());
        self.columns.tickets.extend(summary.and_then(|summary| summary.ticket).unwrap_or(NOTHING).to_le_bytes());
        self.columns.figures.extend(figure.unwrap_or(NOTHING).to_le_bytes());
    }

    /// The segment of this number, with its new words; `None` while there is room, or where a record is missing: the rest
    /// of such a log is scanned.
    pub(super) fn finish(self, number: u64, words: Vec<(&'static str, u32, String)>) -> Option<Filled> {
        (self.taken >= SEGMENT).then(|| Filled {
            number,
            link: self.link,
            earliest: self.earliest.unwrap_or(i64::MIN),
            latest: self.latest.unwrap_or(i64::MAX),
            columns: self.columns,
            masks: self.pieces.rows().collect(),
            words,
        })
    }
}

/// What columns can say of a record; `None` if they cannot say everything: the record is odd.
fn summary(fields: &Fields<'_>, shapes: &mut Numbered<Shape>, sessions: &mut Numbered<String>) -> Option<Summary> {
    // Times of another form compare in another way.
    let canonical = fields.time.len() == 24 && fields.time.as_bytes()[19] == b'.' && fields.time.ends_with('Z');
    let time = fields.millis().filter(|_| canonical)?;
    let latency = match fields.latency_ms.map(|json| json.get()).filter(|text| *text != "null") {
        None => None,
        Some(text) => {
            let (_, part) = text.split_once('.')?;
            Some(fields.latency_us().filter(|_| part.len() == 3)?)
        }
    };
    let figure = match (fields.kind() == Some(Kind::Fault), latency) {
        (true, Some(_)) => return None,
        (true, None) => Some(fields.refused_lines()),
        (false, latency) => latency,
    };
    let shape = shapes.number(Shape::of(fields))?;
    let session = sessions.number(fields.session.to_string())?;
    Some(Summary { shape, session, time, ticket: fields.call().ticket, figure })
}

/// What a segment's columns say of each record, in order; `None` of an odd one, which has to be read.
///
/// # Errors
/// The columns have another length than a segment's.
pub(super) fn summaries(columns: Columns) -> Result<impl Iterator<Item = Option<Summary>>, Unusable> {
    let records = usize::try_from(SEGMENT).unwrap_or(0);
    let Columns { shapes, sessions, times, tickets, figures } = columns;
    let fours = [&shapes, &sessions].iter().all(|column| column.len() == records * 4);
    let eights = [&times, &tickets, &figures].iter().all(|column| column.len() == records * 8);
    if !(fours && eights) {
        return Err(Unusable::Shape);
    }
    Ok((0..records).map(move |at| {
        let shape = four(&shapes, at);
        (shape != ODD).then(|| Summary {
            shape,
            session: four(&sessions, at),
            time: eight(&times, at),
            ticket: Some(eight(&tickets, at)).filter(|ticket| *ticket != NOTHING),
            figure: u64::try_from(eight(&figures, at)).ok(),
        })
    }))
}

fn four(column: &[u8], at: usize) -> u32 {
    column.get(at * 4..at * 4 + 4).and_then(|bytes| bytes.try_into().ok()).map_or(ODD, u32::from_le_bytes)
}

fn eight(column: &[u8], at: usize) -> i64 {
    column.get(at * 8..at * 8 + 8).and_then(|bytes| bytes.try_into().ok()).map_or(NOTHING, i64::from_le_bytes)
}
