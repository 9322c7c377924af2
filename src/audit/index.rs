//! The index beside a log: which records a search need not read. If it is removed, it is made again; nothing that is
//! shown comes from it, because every record it names is read and compared.
//!
//! Readers of the log add records in segments of 4,096, the oldest first; wrappers never do. The newest ones, which
//! fill no segment yet, are left to a scan. A record of which the columns cannot say everything is *odd*: it is always
//! named.

mod pieces;
mod segment;
mod words;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::fields::{Field, number_of};
use super::search::Search;
use super::store::index_db::{IndexDb, Unusable, place_of};
use super::store::{ReadOrder, Reader, StoreError};
use pieces::{BLOCK, BUCKETS, Mask, Need, ROW};
use segment::Filling;
use words::Numbered;

pub use segment::{SEGMENT, Summary};
pub use words::Shape;

/// How many segments a command adds to the index before it answers: about a second's work.
const AT_ONCE: usize = 24;

/// The index of one log, open.
#[derive(Debug)]
pub struct Index {
    path: PathBuf,
    db: IndexDb,
    segments: u64,
    shapes: Numbered<Shape>,
    sessions: Numbered<String>,
}

/// How far the index has come by a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Further,
    /// The records that are left fill no segment.
    Level,
}

/// What a search asks of the index, ready for any segment.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Whether each shape is wanted, by number; shapes that were added later are.
    shapes: Vec<bool>,
    sessions: Vec<bool>,
    since: i64,
    until: i64,
    ticket: Option<i64>,
    needs: Vec<Need>,
}

impl Index {
    /// Opens the index of this log, and makes it where there is none that fits. `None`: it cannot be had here, and
    /// everything works without it, slower.
    pub fn open(log: &Path, reader: &Reader) -> Option<Self> {
        let path = place_of(log);
        match Self::load(&path, reader) {
            Ok(index) => Some(index),
            // It belongs to another user, or this folder is read-only.
            Err(Unusable::Place(why)) => {
                tracing::debug!(%why, "no index of the log");
                None
            }
            Err(why) => {
                tracing::debug!(%why, "the index of the log is rebuilt");
                IndexDb::remove(&path);
                Self::load(&path, reader).ok()
            }
        }
    }

    /// Opens the index of this log and takes in what it lacks, but not more than a person waits for: the rest next time.
    /// A short log needs none. `progress` is called with the number of the last record that was taken in.
    pub fn brought_on(log: &Path, reader: &Reader, progress: &mut dyn FnMut(u64)) -> Result<Option<Self>, StoreError> {
        if reader.newest()? < SEGMENT {
            return Ok(None);
        }
        let Some(mut index) = Self::open(log, reader) else { return Ok(None) };
        for _ in 0..AT_ONCE {
            match index.extend(reader)? {
                Some(Step::Further) => progress(index.upto()),
                Some(Step::Level) => break,
                None => return Ok(None),
            }
        }
        Ok(Some(index))
    }

    fn load(path: &Path, reader: &Reader) -> Result<Self, Unusable> {
        let (db, path) = (IndexDb::open(path)?, path.to_path_buf());
        let mut index = Self { path, db, segments: 0, shapes: Numbered::default(), sessions: Numbered::default() };
        index.catch_up()?;
        if index.is_of(reader) { Ok(index) } else { Err(Unusable::Shape) }
    }

    /// Whether the log is still the one that it was made from: a link binds everything before it.
    pub fn is_of(&self, reader: &Reader) -> bool {
        let Some(last) = self.segments.checked_sub(1) else { return true };
        let Ok(Some(link)) = self.db.link(last) else { return false };
        reader.one(self.upto(), |row| row.link == link).is_ok_and(|same| same == Some(true))
    }

    /// The number of the last record that it covers; 0 when it covers none.
    pub fn upto(&self) -> u64 {
        self.segments * SEGMENT
    }

    /// Takes in what other readers have added.
    fn catch_up(&mut self) -> Result<(), Unusable> {
        // Counted before the words are read: the database gets a segment's words before the segment.
        let segments = self.db.segments()?;
        for text in self.db.words("shape", self.shapes.len())? {
            self.shapes.push(serde_json::from_str(&text).map_err(|_| Unusable::Shape)?);
        }
        for text in self.db.words("session", self.sessions.len())? {
            self.sessions.push(text);
        }
        self.segments = segments;
        Ok(())
    }

    /// Takes in the next segment, if the log fills one. `None`: the index is of no use any more.
    pub fn extend(&mut self, reader: &Reader) -> Result<Option<Step>, StoreError> {
        let known = (self.shapes.len(), self.sessions.len());
        let first = self.upto() + 1;
        let mut filling = Filling::default();
        reader.each_from(ReadOrder::OldestFirst, first, SEGMENT, &mut |row| {
            filling.take(first, &row, &mut self.shapes, &mut self.sessions);
            ControlFlow::Continue(())
        })?;
        let Some(filled) = filling.finish(self.segments, self.new_words(known)) else {
            self.forget(known);
            return Ok(Some(Step::Level));
        };
        let added = self.db.add(&filled).and_then(|added| {
            if added {
                self.segments += 1;
                return Ok(());
            }
            self.forget(known);
            self.catch_up()
        });
        Ok(match added {
            Ok(()) => Some(Step::Further),
            Err(why) => {
                tracing::debug!(%why, path = %self.path.display(), "the index of the log cannot be filled");
                None
            }
        })
    }

    /// The words that are not in the database yet.
    fn new_words(&self, (shapes, sessions): (usize, usize)) -> Vec<(&'static str, u32, String)> {
        let shape = |(at, shape)| ("shape", at, serde_json::to_string(shape).unwrap_or_default());
        let session = |(at, session): (u32, &String)| ("session", at, session.clone());
        self.shapes.from(shapes).map(shape).chain(self.sessions.from(sessions).map(session)).collect()
    }

    /// Forgets the words that no segment of the database has.
    fn forget(&mut self, (shapes, sessions): (usize, usize)) {
        self.shapes.forget(shapes);
        self.sessions.forget(sessions);
    }

    /// What a search asks.
    pub fn ask(&self, search: &Search) -> Ask {
        let of_session = |field| field == Field::Session;
        Ask {
            shapes: self
                .shapes
                .iter()
                .map(|shape| search.fits(Field::is_in_shape, |field| shape.text(field)))
                .collect(),
            sessions: self.sessions.iter().map(|session| search.fits(of_session, |_| Some(session))).collect(),
            since: search.since().unwrap_or(i64::MIN),
            until: search.until().unwrap_or(i64::MAX),
            ticket: search.ticket().map(number_of),
            needs: search.texts().flat_map(pieces::needs).collect(),
        }
    }

    /// The numbers of the records of one segment that can be wanted, in order; no others of it can. `None`: the index
    /// is of no use any more.
    pub fn named(&self, segment: u64, ask: &Ask) -> Option<Vec<u64>> {
        self.look(segment, ask).inspect_err(|why| tracing::debug!(%why, "the index of the log cannot be read")).ok()
    }

    fn look(&self, segment: u64, ask: &Ask) -> Result<Vec<u64>, Unusable> {
        let (earliest, latest) = self.db.times(segment)?;
        if latest < ask.since || earliest >= ask.until {
            return Ok(Vec::new());
        }
        let rows = (BUCKETS / ROW) as u64;
        let mut mask = |bucket: usize| self.db.mask(segment * rows + (bucket / ROW) as u64, bucket % ROW);
        let mut blocks = Mask::MAX;
        for need in &ask.needs {
            blocks = need.holds(blocks, &mut mask)?;
        }
        // An odd record has no time, and may be wanted whatever its text.
        if blocks == 0 && earliest > i64::MIN {
            return Ok(Vec::new());
        }
        let summaries = segment::summaries(self.db.columns(segment)?)?;
        let wanted = |(at, summary): &(usize, Option<Summary>)| {
            summary.is_none_or(|summary| (blocks >> (at / BLOCK)) & 1 == 1 && ask.wants(&summary))
        };
        let first = segment * SEGMENT + 1;
        Ok(summaries.enumerate().filter(wanted).map(|(at, _)| first + at as u64).collect())
    }

    /// What the columns of a segment say of each record, in order, `None` of an odd one. No list: the index is of no use
    /// any more.
    pub fn summaries(&self, segment: u64) -> Option<Vec<Option<Summary>>> {
        let summaries = self.db.columns(segment).and_then(segment::summaries);
        summaries.map(Iterator::collect).ok()
    }

    /// The shape of this number.
    pub fn shape(&self, number: u32) -> Option<&Shape> {
        self.shapes.get(number)
    }

    /// The session of this number.
    pub fn session(&self, number: u32) -> Option<&str> {
        self.sessions.get(number).map(String::as_str)
    }

    /// What a reader noted of this log under a name.
    pub fn note(&self, name: &str) -> Option<String> {
        self.db.note(name).ok().flatten()
    }

    /// Notes something that another reader of this log may need. A failure does no harm.
    pub fn set_note(&self, name: &str, text: &str) {
        if let Err(why) = self.db.set_note(name, text) {
            tracing::debug!(%why, "nothing was noted in the index of the log");
        }
    }
}

impl Ask {
    /// Whether a record that is not odd can be wanted, whatever its text.
    pub fn wants(&self, summary: &Summary) -> bool {
        let listed = |list: &[bool], at: u32| list.get(at as usize).copied().unwrap_or(true);
        listed(&self.shapes, summary.shape)
            && listed(&self.sessions, summary.session)
            && (self.since..self.until).contains(&summary.time)
            && self.ticket.is_none_or(|ticket| summary.ticket == Some(ticket))
    }
}
