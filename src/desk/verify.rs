//! Recomputes the chain of every machine's log as the desk has it, and names what is wrong: records that are missing or changed, logs that
//! were forked or went back, rows that would be found by other words than their own. It writes nothing.

use std::collections::{BTreeMap, HashMap};

use super::columns::Columns;
use super::log::{Central, body};
use crate::audit::StoreError;
use crate::audit::chain::{Break, Head, Row, Verifier};
use crate::audit::removed;
use crate::wire::Digest;

/// How many findings are named of one machine; the rest are counted.
const NAMED: usize = 200;
/// How many rows are read at once.
const ROWS: i64 = 2000;

/// What is wrong with a record, or from it on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("records {first} to {last} are missing")]
    Missing { first: i64, last: i64 },
    #[error("{0}")]
    Broken(#[from] Break),
    #[error(
        "from record {seq} on there are two logs: an older copy of the log was restored and written on, or something else was sent"
    )]
    Forked { seq: i64 },
    #[error("record {seq} is there twice, with different columns")]
    Twice { seq: i64 },
    #[error("record {seq} is searched by another time, session, ticket or words than its body has")]
    Columns { seq: i64 },
    #[error("record {seq} arrived before the one that it follows: rows were moved")]
    Moved { seq: i64 },
    #[error(
        "its log went back from record {from} to record {seq} on {time}: an older copy was restored, or it was removed"
    )]
    WentBack { from: i64, seq: i64, time: String },
    #[error("record {seq} is missing or another: the machine sent it as the end of its log on {time}")]
    HeadGone { seq: i64, time: String },
    #[error("no end of its log was ever sent, or those that were are gone")]
    NoHead,
    #[error("record {seq} is missing or another: {signer} saw it and signed it on {time}")]
    Witnessed { seq: i64, signer: String, time: String },
}

impl Fault {
    /// What it is, in one word for programs.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Missing { .. } | Self::Broken(Break::Missing { .. }) => "missing",
            Self::Broken(Break::Changed { .. } | Break::Malformed { .. }) => "changed",
            Self::Forked { .. } => "forked",
            Self::Twice { .. } => "twice",
            Self::Columns { .. } => "columns",
            Self::Moved { .. } => "moved",
            Self::WentBack { .. } => "went-back",
            Self::HeadGone { .. } => "head-gone",
            Self::NoHead => "no-head",
            Self::Witnessed { .. } => "witnessed",
        }
    }

    /// The record that it is about.
    pub fn seq(&self) -> Option<i64> {
        match self {
            Self::Missing { first: seq, .. }
            | Self::Forked { seq }
            | Self::Twice { seq }
            | Self::Columns { seq }
            | Self::Moved { seq }
            | Self::WentBack { seq, .. }
            | Self::HeadGone { seq, .. }
            | Self::Witnessed { seq, .. } => Some(*seq),
            Self::Broken(broken) => i64::try_from(broken.seq()).ok(),
            Self::NoHead => None,
        }
    }
}

/// A record that must be there, and what follows where it is not.
#[derive(Clone, Debug)]
pub struct Expected {
    pub seq: i64,
    pub link: Vec<u8>,
    pub or: Fault,
}

/// What was found of one machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfMachine {
    pub machine: String,
    pub records: u64,
    /// The last record, with the link that it carries.
    pub last: (i64, Option<Digest>),
    pub wrong: Vec<Fault>,
    /// How many findings more there are.
    pub more: u64,
}

impl OfMachine {
    fn add(&mut self, fault: Fault) {
        if self.wrong.len() < NAMED {
            self.wrong.push(fault);
        } else {
            self.more += 1;
        }
    }
}

/// Verifies the logs of all machines; `witnessed` are records that somebody signed, by machine. `tell` is called with the number of
/// records that were read.
pub fn verify(
    desk: &Central,
    mut witnessed: BTreeMap<String, Vec<Expected>>,
    tell: &mut dyn FnMut(u64),
) -> Result<Vec<OfMachine>, StoreError> {
    let rows = desk.query("SELECT shape, words FROM mcp_approve.shape", &[])?;
    let words: HashMap<Vec<u8>, String> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    let (mut machines, mut read) = (desk.machines()?, 0);
    machines.extend(witnessed.keys().filter(|name| !machines.contains(name)).cloned().collect::<Vec<_>>());
    let mut found = Vec::new();
    for machine in machines {
        // What came after the heads were read is no part of what they name.
        let mut checking = Checking { of: OfMachine { machine, ..OfMachine::default() }, ..Checking::new(&words) };
        let mut expected = witnessed.remove(&checking.of.machine).unwrap_or_default();
        expected.extend(heads(desk, &mut checking.of)?);
        checking.expected = expected;
        checking.rows(desk, &mut |_| {
            read += 1;
            if read % 4096 == 0 {
                tell(read);
            }
        })?;
        found.push(checking.done());
    }
    Ok(found)
}

/// What a machine sent as the end of its log, which must be there; names where it went back.
fn heads(desk: &Central, of: &mut OfMachine) -> Result<Vec<Expected>, StoreError> {
    const HEADS: &str = "SELECT seq, link, to_char(time AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS UTC')
        FROM mcp_approve.head WHERE machine = $1 ORDER BY place";
    let (mut expected, mut last, mut any) = (Vec::new(), 0, false);
    for row in desk.query(HEADS, &[&of.machine])? {
        let (seq, link, time): (i64, Vec<u8>, String) = (row.get(0), row.get(1), row.get(2));
        if seq < last {
            of.add(Fault::WentBack { from: last, seq, time: time.clone() });
        }
        (last, any) = (seq, true);
        if seq > 0 {
            expected.push(Expected { seq, link, or: Fault::HeadGone { seq, time } });
        }
    }
    if !any {
        of.add(Fault::NoHead);
    }
    Ok(expected)
}

/// What is known while the records of one machine come, by their numbers.
struct Checking<'w> {
    of: OfMachine,
    words: &'w HashMap<Vec<u8>, String>,
    expected: Vec<Expected>,
    /// The links that the next record can follow; none where that is not known.
    ends: Vec<Head>,
    /// The links of the records of the last number, and the number; the largest place among them, where it is one alone.
    same: Vec<Head>,
    seq: i64,
    place: Option<i64>,
    /// The first record that is here, if it is not the first of all.
    first: Option<First>,
    /// Up to where records say that others were removed on their machine.
    removed: Vec<Head>,
}

/// A record that comes after others that are not here.
struct First {
    seq: i64,
    writer: Vec<u8>,
    body: Vec<u8>,
    link: Vec<u8>,
}

impl<'w> Checking<'w> {
    fn new(words: &'w HashMap<Vec<u8>, String>) -> Self {
        Self {
            of: OfMachine::default(),
            words,
            expected: Vec::new(),
            ends: vec![Head::EMPTY],
            same: Vec::new(),
            seq: 0,
            place: None,
            first: None,
            removed: Vec::new(),
        }
    }

    fn rows(&mut self, desk: &Central, tell: &mut dyn FnMut(i64)) -> Result<(), StoreError> {
        const NEXT: &str = "SELECT place, machine, seq, writer, body, raw, link,
                (extract(epoch FROM time) * 1000)::bigint, shape, session, ticket
            FROM mcp_approve.record
            WHERE machine = $1 AND seq >= $2 AND (seq, place) > ($2, $3) ORDER BY seq, place LIMIT $4";
        let (mut seq, mut place) = (i64::MIN, i64::MIN);
        loop {
            let rows = desk.query(NEXT, &[&self.of.machine, &seq, &place, &ROWS])?;
            for row in &rows {
                (seq, place) = (row.get(2), row.get(0));
                self.take(row);
                tell(seq);
            }
            if rows.is_empty() {
                return Ok(());
            }
        }
    }

    fn take(&mut self, found: &tokio_postgres::Row) {
        let row = Row { seq: found.get(2), writer: found.get(3), body: body(found), link: found.get(6), origin: None };
        let place = found.get(0);
        self.of.records += 1;
        self.expected.retain(|one| one.seq != row.seq || one.link != row.link);
        if row.seq != self.seq || self.of.records == 1 {
            self.next(&row, place);
        }
        self.columns(found, &row);
        let link = <[u8; 32]>::try_from(row.link).ok().map(Digest::from_bytes);
        self.of.last = (row.seq, link);
        let head = link.zip(u64::try_from(row.seq).ok()).map(|(link, seq)| Head { seq, link });
        if let Some(head) = head.filter(|head| self.same.contains(head)) {
            return self.of.add(Fault::Twice { seq: i64::try_from(head.seq).unwrap_or(i64::MAX) });
        }
        let broken = match self.ends.as_slice() {
            [] => None,
            ends => {
                let mut checked = ends.iter().map(|end| Verifier::after(*end).take(&row));
                let first = checked.next().and_then(Result::err);
                first.filter(|_| !checked.any(|one| one.is_ok()))
            }
        };
        match broken {
            Some(broken) => {
                self.of.add(broken.into());
                // It is the only one of its number, so that the next can be compared with what it carries.
                self.same.extend(head.filter(|_| self.same.is_empty()));
            }
            None => {
                // What does not follow is no other log.
                if self.same.len() == self.ends.len().max(1) {
                    self.of.add(Fault::Forked { seq: row.seq });
                }
                self.same.extend(head);
                if let Some(said) = removed::is_one(row.body).then(|| removed::read(&row)).flatten() {
                    self.removed.extend(said.stretches.iter().map(removed::Stretch::end));
                }
            }
        }
    }

    /// Begins with the first record of this number.
    fn next(&mut self, row: &Row<'_>, place: i64) {
        let is_single = self.same.len() == 1;
        if self.of.records > 1 {
            self.ends = std::mem::take(&mut self.same);
        }
        let expected = self.seq.saturating_add(1);
        if row.seq > expected {
            self.ends.clear();
            match self.of.records {
                // Records that were removed on the machine before they could be sent.
                1 => {
                    let [writer, body, link] = [row.writer, row.body, row.link].map(<[u8]>::to_vec);
                    self.first = Some(First { seq: row.seq, writer, body, link });
                }
                _ => self.of.add(Fault::Missing { first: expected, last: row.seq - 1 }),
            }
        } else if self.place.is_some_and(|last| is_single && place < last) {
            self.of.add(Fault::Moved { seq: row.seq });
        }
        (self.seq, self.place) = (row.seq, Some(place));
    }

    /// Compares what a row is searched by with its body.
    fn columns(&mut self, found: &tokio_postgres::Row, row: &Row<'_>) {
        let Columns { time, shape, session, ticket } = Columns::of(row.body);
        let named: Option<Vec<u8>> = found.get(8);
        let is_raw = found.get::<_, Option<&[u8]>>(5).is_some();
        let is_text = std::str::from_utf8(row.body).is_ok_and(|text| !text.contains('\0'));
        let same_shape = match (&shape, &named) {
            (None, None) => true,
            (Some(shape), Some(name)) => shape.name == *name && self.words.get(name) == Some(&shape.words),
            _ => false,
        };
        let same = found.get::<_, i64>(7) == time
            && same_shape
            && found.get::<_, Option<String>>(9) == session
            && found.get::<_, Option<String>>(10) == ticket
            && is_raw != is_text;
        if !same {
            self.of.add(Fault::Columns { seq: row.seq });
        }
    }

    fn done(mut self) -> OfMachine {
        if let Some(First { seq, writer, body, link }) = self.first.take() {
            let row = Row { seq, writer: &writer, body: &body, link: &link, origin: None };
            if !self.removed.iter().any(|end| Verifier::after(*end).take(&row).is_ok()) {
                self.of.add(Fault::Missing { first: 1, last: seq - 1 });
            }
        }
        for Expected { or, .. } in std::mem::take(&mut self.expected) {
            self.of.add(or);
        }
        self.of
    }
}
