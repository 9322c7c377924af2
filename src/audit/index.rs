//! The index beside a log: which records a filter need not read, and how the log is read a slice at a time with it. It can be made
//! again, and nothing shown comes from it: every record it names is read and compared.
//!
//! Readers of the log add records, the oldest first; wrappers never do. The newest, and a text anywhere in a record, are scanned for.

use std::ops::{ControlFlow, RangeInclusive};
use std::path::{Path, PathBuf};

use super::fields::{Field, Fields, IN_SHAPE, number_of};
use super::search::Search;
use super::store::index_db::{IndexDb, Line, Unusable, place_of};
use super::store::{Found, ReadOrder, Reader, StoreError, Visit};
use crate::wire::digest::Digest;

/// How many records are added at a time, and how many a scan reads without hesitation.
pub const SEGMENT: u64 = 4_096;
/// How many segments a command adds to the index before it answers: about a second's work.
const AT_ONCE: usize = 24;
/// The name under which the link of the last record is noted: it shows which log the index is of.
const LINK: &str = "link";
/// In how many sessions calls are looked up one by one.
const FEW: usize = 16;

/// What a shape says of a record: the texts of [`IN_SHAPE`].
type Shape<T> = [Option<T>; IN_SHAPE.len()];

/// Removes the index of this log, so that the next reader makes it anew: it is no part of the chain, and lists go by it.
pub fn remove(log: &Path) {
    IndexDb::remove(&place_of(log));
}

#[derive(Debug)]
pub struct Index {
    path: PathBuf,
    db: IndexDb,
    upto: u64,
}

/// How far the index has come by a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Further,
    /// The records that are left fill no segment.
    Level,
}

/// What a search asks of the index: conditions on its records.
#[derive(Clone, Debug)]
pub struct Ask(String);

impl Index {
    /// Opens, or makes, the index of this log. `None`: it cannot be had here, and everything works without it, slower.
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
                Some(Step::Further) => progress(index.upto),
                Some(Step::Level) => break,
                None => return Ok(None),
            }
        }
        Ok(Some(index))
    }

    fn load(path: &Path, reader: &Reader) -> Result<Self, Unusable> {
        let db = IndexDb::open(path)?;
        let index = Self { path: path.to_path_buf(), upto: db.upto()?, db };
        if index.is_of(reader) { Ok(index) } else { Err(Unusable::Shape) }
    }

    /// Whether the log is still the one that it was made from: a link binds everything before it.
    pub fn is_of(&self, reader: &Reader) -> bool {
        // Another reader may have added some since.
        let Ok(upto @ 1..) = self.db.upto() else { return self.upto == 0 };
        let link = self.note(LINK);
        reader.one(upto, |row| text_of(row.link) == link).is_ok_and(|same| same == Some(true))
    }

    /// The number of the last record that it covers; 0 when it covers none.
    pub fn upto(&self) -> u64 {
        self.upto
    }

    /// Takes in the next records, if the log has enough. `None`: the index is of no use any more.
    pub fn extend(&mut self, reader: &Reader) -> Result<Option<Step>, StoreError> {
        let (first, mut lines, mut link) = ((self.upto + 1).max(reader.oldest()), Vec::new(), None);
        reader.each_from(ReadOrder::OldestFirst, first, SEGMENT, &mut |row| {
            // Where a number is missing the rest of the log is left to a scan.
            if u64::try_from(row.seq) != Ok(first + lines.len() as u64) {
                return ControlFlow::Break(());
            }
            lines.push(Fields::of(row.body).as_ref().and_then(line));
            link = text_of(row.link);
            ControlFlow::Continue(())
        })?;
        if (lines.len() as u64) < SEGMENT {
            return Ok(Some(Step::Level));
        }
        let added = self.db.add(first, &lines, (LINK, &link.unwrap_or_default())).and_then(|()| self.db.upto());
        Ok(match added {
            Ok(upto) => {
                self.upto = upto;
                Some(Step::Further)
            }
            Err(why) => {
                tracing::debug!(%why, path = %self.path.display(), "the index of the log cannot be filled");
                None
            }
        })
    }

    /// What a search asks. `None`: the index is of no use any more.
    pub fn ask(&self, search: &Search) -> Option<Ask> {
        self.asked(search).inspect_err(|why| tracing::debug!(%why, "the index of the log cannot be read")).ok()
    }

    fn asked(&self, search: &Search) -> Result<Ask, Unusable> {
        let (mut by, mut all) = ("NOT INDEXED", Vec::new());
        if IN_SHAPE.iter().any(|field| search.asks_for(*field)) {
            let mut shapes = Vec::new();
            for (number, text) in self.db.words("shape")? {
                let shape: Shape<String> = serde_json::from_str(&text).map_err(|_| Unusable::Shape)?;
                let of = |field| IN_SHAPE.iter().zip(&shape).find(|(one, _)| **one == field)?.1.as_deref();
                if search.fits(Field::is_in_shape, of) {
                    shapes.push(number.to_string());
                }
            }
            by = "INDEXED BY by_shape";
            all.push(format!("shape IN ({})", shapes.join(",")));
        }
        if search.word(Field::Ticket).is_some() || search.asks_for(Field::Session) {
            let mut sessions = Vec::new();
            for (number, text) in self.db.words("session")? {
                if search.fits(|field| field == Field::Session, |_| Some(&text)) {
                    sessions.push(number.to_string());
                }
            }
            if search.word(Field::Ticket).is_some() || sessions.len() <= FEW {
                by = "INDEXED BY by_call";
            }
            all.push(format!("session IN ({})", sessions.join(",")));
        }
        all.extend(search.word(Field::Ticket).map(|ticket| format!("ticket = {}", number_of(ticket))));
        all.extend(search.since().map(|since| format!("time >= {since}")));
        all.extend(search.until().map(|until| format!("time < {until}")));
        Ok(Ask(if all.is_empty() { String::new() } else { format!("{by} WHERE {}", all.join(" AND ")) }))
    }

    /// The numbers of the first `most` records among these that can be wanted, in this order; no others before the last of
    /// them can. `None`: the index is of no use any more.
    pub fn named(&self, ask: &Ask, among: RangeInclusive<u64>, order: ReadOrder, most: usize) -> Option<Vec<u64>> {
        let named = self.db.named(&ask.0, among, order, most);
        named.inspect_err(|why| tracing::debug!(%why, "the index of the log cannot be read")).ok()
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
    /// Whether it asks for nothing: the search may want any record.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn line(fields: &Fields<'_>) -> Option<Line> {
    let shape: Shape<_> = IN_SHAPE.map(|field| fields.text(field));
    Some(Line {
        shape: serde_json::to_string(&shape).ok()?,
        session: fields.session.to_string(),
        ticket: fields.call().ticket,
        time: fields.millis(),
    })
}

fn text_of(link: &[u8]) -> Option<String> {
    Some(Digest::from_bytes(link.try_into().ok()?).to_string())
}

/// Records read in one step.
pub const SLICE: u64 = 4_096;
/// How many records that the index names are read in one step.
const NAMED: usize = 512;
/// Among how many records so many are read quicker one after the other than by their numbers.
const DENSE: u64 = 2_048;

/// A way through the log.
#[derive(Debug)]
pub struct Walk {
    search: Search,
    order: ReadOrder,
    /// The next record to read.
    at: u64,
    /// What the search asks of the index, when it had come so far.
    ask: Option<(u64, Ask)>,
    index: IndexUse,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IndexUse {
    WhereItReaches,
    /// There is nothing to ask it, or it did not answer.
    Never,
}

/// How far a step has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walked {
    On,
    ToTheEnd,
}

impl Walk {
    /// Begins at this record. Whatever the search does not want may be left out.
    pub fn new(search: Search, order: ReadOrder, at: u64) -> Self {
        let index = if search.is_empty() { IndexUse::Never } else { IndexUse::WhereItReaches };
        Self { search, order, at, ask: None, index }
    }

    /// The record that was reached last.
    pub fn reached(&self) -> u64 {
        match self.order {
            ReadOrder::NewestFirst => self.at.saturating_add(1),
            ReadOrder::OldestFirst => self.at.saturating_sub(1),
        }
    }

    /// Shows the records of the next slice that the search may want, and some others, until `visit` breaks off.
    pub fn step(&mut self, reader: &Reader, index: Option<&Index>, visit: Visit<'_>) -> Result<Walked, StoreError> {
        if self.index == IndexUse::WhereItReaches
            && let Some(found) = reader.find(&self.search, self.order, self.at, visit)?
        {
            let Found::UpTo(at) = found else { return Ok(Walked::ToTheEnd) };
            self.at = at;
            return Ok(Walked::On);
        }
        let index = index.filter(|_| self.index == IndexUse::WhereItReaches);
        match index.filter(|index| (1..=index.upto()).contains(&self.at)) {
            Some(index) => self.named(reader, index, visit),
            None => self.scan(reader, index.map_or(0, Index::upto), visit),
        }
    }

    /// Goes on as [`Self::step`] does, to the end or until `visit` breaks off.
    pub fn to_the_end(mut self, reader: &Reader, index: Option<&Index>, visit: Visit<'_>) -> Result<(), StoreError> {
        let mut flow = ControlFlow::Continue(());
        let mut walked = Walked::On;
        while walked != Walked::ToTheEnd && flow.is_continue() {
            walked = self.step(reader, index, &mut |row| {
                flow = visit(row);
                flow
            })?;
        }
        Ok(())
    }

    fn scan(&mut self, reader: &Reader, covered: u64, visit: Visit<'_>) -> Result<Walked, StoreError> {
        let most = match self.order {
            ReadOrder::NewestFirst if self.at > covered => SLICE.min(self.at - covered),
            ReadOrder::NewestFirst | ReadOrder::OldestFirst => SLICE,
        };
        let (mut read, mut flow, mut at) = (0, ControlFlow::Continue(()), self.at);
        reader.each_from(self.order, self.at, most, &mut |row| {
            read += 1;
            at = u64::try_from(row.seq).map_or(at, |seq| after(self.order, seq));
            flow = visit(row);
            flow
        })?;
        self.at = at;
        let ended = flow.is_continue() && read < most;
        Ok(if ended || at == 0 { Walked::ToTheEnd } else { Walked::On })
    }

    fn named(&mut self, reader: &Reader, index: &Index, visit: Visit<'_>) -> Result<Walked, StoreError> {
        // Records that were added since may have words that the index did not know before.
        let known = self.ask.take().filter(|(upto, _)| *upto == index.upto());
        let Some((_, ask)) = known.or_else(|| Some((index.upto(), index.ask(&self.search)?))) else {
            self.index = IndexUse::Never;
            return Ok(Walked::On);
        };
        if ask.is_empty() {
            self.index = IndexUse::Never;
            return self.scan(reader, 0, visit);
        }
        let among = match self.order {
            ReadOrder::NewestFirst => 1..=self.at,
            ReadOrder::OldestFirst => self.at..=index.upto(),
        };
        let end = match self.order {
            ReadOrder::NewestFirst => 0,
            ReadOrder::OldestFirst => index.upto() + 1,
        };
        let Some(named) = index.named(&ask, among, self.order, NAMED) else {
            self.index = IndexUse::Never;
            return Ok(Walked::On);
        };
        self.ask = Some((index.upto(), ask));
        let last = named.last().filter(|_| named.len() == NAMED);
        if last.is_some_and(|last| last.abs_diff(self.at) < DENSE) {
            return self.scan(reader, 0, visit);
        }
        let next = last.map_or(end, |last| after(self.order, *last));
        for seq in named {
            let mut flow = ControlFlow::Continue(());
            reader.one(seq, |row| flow = visit(row))?;
            self.at = after(self.order, seq);
            if flow.is_break() {
                return Ok(if self.at == 0 { Walked::ToTheEnd } else { Walked::On });
            }
        }
        self.at = next;
        Ok(if self.at == 0 { Walked::ToTheEnd } else { Walked::On })
    }
}

fn after(order: ReadOrder, seq: u64) -> u64 {
    match order {
        ReadOrder::NewestFirst => seq.saturating_sub(1),
        ReadOrder::OldestFirst => seq.saturating_add(1),
    }
}
