//! The index beside a log: which records a search need not read. It can be removed and is made anew; nothing shown comes
//! from it, because every record it names is read and compared again.
//!
//! Records are taken in segments of 4,096, the oldest first, by whoever reads the log; never by a wrapper. The newest
//! ones, which fill no segment yet, are left to a scan. A record of which the columns cannot say everything is *odd*: it
//! is always named.

mod segment;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::chain::Row;
use super::query::{Fields, Filter};
use super::search::{Field, Search};
use super::sketch::{self, BLOCK, BLOCKS, BUCKETS, Mask, Need, ROW};
use super::store::index_db::{IndexDb, Unusable, place_of};
use super::store::{Order, Reader, StoreError};
use segment::Filling;

pub use segment::Fact;

/// Records of one segment.
pub const SEGMENT: u64 = (BLOCK * BLOCKS) as u64;
/// Segments that a command takes in before it answers: about a second's work.
const AT_ONCE: usize = 24;
/// Words of one list; records with more are odd. A log of foreign names could make them without end.
const MOST: usize = 100_000;

/// What many records have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shape {
    pub kind: String,
    pub server: String,
    pub tool: Option<String>,
    pub badge: Option<String>,
    pub ruling: Option<String>,
    pub verdict: Option<String>,
    pub by: Option<String>,
    pub rule: Option<String>,
}

impl Shape {
    fn of(fields: &Fields<'_>) -> Self {
        Self {
            kind: fields.kind.to_string(),
            server: fields.server.to_string(),
            tool: fields.tool.clone(),
            badge: fields.badge.clone(),
            ruling: fields.ruling.clone(),
            verdict: fields.verdict.clone(),
            by: fields.by.clone(),
            rule: fields.rule.clone(),
        }
    }

    fn field(&self, field: Field) -> Option<&str> {
        match field {
            Field::Server => Some(&self.server),
            Field::Kind => Some(&self.kind),
            Field::Tool => self.tool.as_deref(),
            Field::Badge => self.badge.as_deref(),
            Field::Ruling => self.ruling.as_deref(),
            Field::Verdict => self.verdict.as_deref(),
            Field::By => self.by.as_deref(),
            Field::Rule => self.rule.as_deref(),
            Field::Session | Field::Ticket => None,
        }
    }
}

/// The index of one log, open.
#[derive(Debug)]
pub struct Index {
    path: PathBuf,
    db: IndexDb,
    segments: u64,
    shapes: Vec<Shape>,
    shape_numbers: HashMap<Shape, u32>,
    sessions: Vec<String>,
    session_numbers: HashMap<String, u32>,
}

/// How far the index has come by a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Further,
    /// What is left fills no segment.
    Level,
}

/// What a search asks of the index, ready for any segment.
#[derive(Clone, Debug)]
pub struct Ask {
    /// By number of the shape; later shapes are wanted.
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
            // It belongs to somebody else, or nobody may write here.
            Err(Unusable::Place(why)) => {
                tracing::debug!(%why, "no index of the log");
                None
            }
            Err(why) => {
                tracing::debug!(%why, "the index of the log is made anew");
                IndexDb::remove(&path);
                Self::load(&path, reader).ok()
            }
        }
    }

    /// Opens the index of this log and takes in what it lacks, but not more than a person waits for: the rest next time.
    /// A short log needs none. `come` is told up to which record it has come.
    ///
    /// # Errors
    /// Why the log could not be read.
    pub fn brought_on(log: &Path, reader: &Reader, come: &mut dyn FnMut(u64)) -> Result<Option<Self>, StoreError> {
        if reader.newest()? < SEGMENT {
            return Ok(None);
        }
        let Some(mut index) = Self::open(log, reader) else { return Ok(None) };
        for _ in 0..AT_ONCE {
            match index.extend(reader)? {
                Some(Step::Further) => come(index.upto()),
                Some(Step::Level) => break,
                None => return Ok(None),
            }
        }
        Ok(Some(index))
    }

    fn load(path: &Path, reader: &Reader) -> Result<Self, Unusable> {
        let mut index = Self {
            path: path.to_path_buf(),
            db: IndexDb::open(path)?,
            segments: 0,
            shapes: Vec::new(),
            shape_numbers: HashMap::new(),
            sessions: Vec::new(),
            session_numbers: HashMap::new(),
        };
        index.catch_up()?;
        if index.is_of(reader) { Ok(index) } else { Err(Unusable::Shape) }
    }

    /// Whether the log is still the one it was made of: links bind everything before them.
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
        // Words stand there before a segment that needs them.
        let segments = self.db.segments()?;
        for text in self.db.words("shape", self.shapes.len())? {
            let shape: Shape = serde_json::from_str(&text).map_err(|_| Unusable::Shape)?;
            self.shape_numbers.insert(shape.clone(), place(self.shapes.len()));
            self.shapes.push(shape);
        }
        for text in self.db.words("session", self.sessions.len())? {
            self.session_numbers.insert(text.clone(), place(self.sessions.len()));
            self.sessions.push(text);
        }
        self.segments = segments;
        Ok(())
    }

    /// Takes in the next segment, if the log fills one. `None`: the index is of no use any more.
    ///
    /// # Errors
    /// Why the log could not be read.
    pub fn extend(&mut self, reader: &Reader) -> Result<Option<Step>, StoreError> {
        let (known_shapes, known_sessions) = (self.shapes.len(), self.sessions.len());
        let mut filling = Filling::default();
        reader.each_from(Order::OldestFirst, self.upto() + 1, SEGMENT, &mut |row| {
            filling.take(self, &row);
            ControlFlow::Continue(())
        })?;
        let Some(filled) = filling.finish(self, known_shapes, known_sessions) else {
            self.forget(known_shapes, known_sessions);
            return Ok(Some(Step::Level));
        };
        let added = self.db.add(&filled).and_then(|added| {
            if added {
                self.segments += 1;
                return Ok(());
            }
            self.forget(known_shapes, known_sessions);
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

    /// Forgets the words that no segment of the database has.
    fn forget(&mut self, shapes: usize, sessions: usize) {
        for shape in self.shapes.drain(shapes..) {
            self.shape_numbers.remove(&shape);
        }
        for session in self.sessions.drain(sessions..) {
            self.session_numbers.remove(&session);
        }
    }

    /// What a search asks.
    pub fn ask(&self, search: &Search) -> Ask {
        let fields = [
            Field::Server,
            Field::Kind,
            Field::Tool,
            Field::Badge,
            Field::Ruling,
            Field::Verdict,
            Field::By,
            Field::Rule,
        ];
        Ask {
            shapes: self.shapes.iter().map(|shape| search.fits(&fields, |field| shape.field(field))).collect(),
            sessions: self.sessions.iter().map(|session| search.fits(&[Field::Session], |_| Some(session))).collect(),
            since: search.since().unwrap_or(i64::MIN),
            until: search.until().unwrap_or(i64::MAX),
            ticket: search.ticket().map(sketch::number_of),
            needs: search.texts().flat_map(sketch::needs).collect(),
        }
    }

    /// What a filter asks.
    pub fn ask_filter(&self, filter: &Filter) -> Ask {
        Ask {
            shapes: self.shapes.iter().map(|shape| filter.fits(shape)).collect(),
            sessions: Vec::new(),
            since: filter.since.unwrap_or(i64::MIN),
            until: i64::MAX,
            ticket: None,
            needs: Vec::new(),
        }
    }

    /// The records of a ticket.
    pub fn ask_ticket(&self, ticket: &str) -> Ask {
        let ticket = Some(sketch::number_of(&ticket.to_lowercase()));
        Ask { shapes: Vec::new(), sessions: Vec::new(), since: i64::MIN, until: i64::MAX, ticket, needs: Vec::new() }
    }

    /// The numbers of the records of one segment that can be wanted, in order; no other one of it is. `None`: the index
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
        // An odd record has no time, and whoever compares it may want it whatever its text.
        if blocks == 0 && earliest > i64::MIN {
            return Ok(Vec::new());
        }
        let facts = segment::facts(self.db.columns(segment)?)?;
        let first = segment * SEGMENT + 1;
        let wanted =
            |(at, fact): &(usize, Fact)| fact.told.is_none() || (blocks >> (at / BLOCK)) & 1 == 1 && ask.wants(fact);
        Ok(facts.enumerate().filter(wanted).map(|(at, _)| first + at as u64).collect())
    }

    /// Shows the records that can be wanted, and some others, the newest first, until `visit` breaks off.
    ///
    /// # Errors
    /// Why the log could not be read.
    pub fn newest_first(
        &self,
        reader: &Reader,
        ask: &Ask,
        visit: &mut dyn FnMut(Row<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let newest = reader.newest()?;
        let mut flow = ControlFlow::Continue(());
        let mut see = |row: Row<'_>| {
            flow = visit(row);
            flow
        };
        reader.each_from(Order::NewestFirst, newest, newest.saturating_sub(self.upto()), &mut see)?;
        for segment in (0..self.segments).rev() {
            match self.named(segment, ask) {
                Some(named) => {
                    for seq in named.into_iter().rev() {
                        if flow.is_break() {
                            return Ok(());
                        }
                        reader.one(seq, |row| flow = visit(row))?;
                    }
                }
                // The index cannot say any more: everything else is shown.
                None => return reader.each_from(Order::NewestFirst, (segment + 1) * SEGMENT, u64::MAX, visit),
            }
            if flow.is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// What the columns of a segment say, in order; `None`: the index is of no use any more.
    pub fn facts(&self, segment: u64) -> Option<Vec<Fact>> {
        let facts = self.db.columns(segment).and_then(segment::facts);
        facts.map(Iterator::collect).ok()
    }

    /// The shape of this number.
    pub fn shape(&self, number: u32) -> Option<&Shape> {
        self.shapes.get(number as usize)
    }

    /// The session of this number.
    pub fn session(&self, number: u32) -> Option<&str> {
        self.sessions.get(number as usize).map(String::as_str)
    }

    /// What a reader noted of this log under a name.
    pub fn note(&self, name: &str) -> Option<String> {
        self.db.note(name).ok().flatten()
    }

    /// Notes something that another reader of this log may need. That it could not is no loss.
    pub fn set_note(&self, name: &str, text: &str) {
        if let Err(why) = self.db.set_note(name, text) {
            tracing::debug!(%why, "nothing was noted in the index of the log");
        }
    }
}

impl Ask {
    /// Whether the record of a fact can be wanted.
    pub fn wants(&self, fact: &Fact) -> bool {
        let Some(told) = &fact.told else { return true };
        let listed = |list: &[bool], at: u32| list.get(at as usize).copied().unwrap_or(true);
        listed(&self.shapes, told.shape)
            && listed(&self.sessions, told.session)
            && told.time >= self.since
            && told.time < self.until
            && self.ticket.is_none_or(|ticket| told.ticket == Some(ticket))
    }
}

fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
