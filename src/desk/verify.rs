//! Recomputes the chain of every machine's log as the desk has it, and names what is wrong: records that are missing or changed, logs that
//! were forked or went back, rows that would be found by other words than their own. Old months may be dropped: what an operator had
//! signed of them is named, and no fault. It writes nothing.

use std::collections::{BTreeMap, HashSet};

use super::columns::Columns;
use super::log::{Central, body, records};
use crate::audit::StoreError;
use crate::audit::chain::{Break, Head, Row, body_digest, follow_digest};
use crate::audit::removed::{self, Removed};
use crate::text::time::date;
use crate::wire::Digest;

/// How many findings are named of one machine; the rest are counted.
const NAMED: usize = 200;
/// How many ends of a machine's log that are not there are remembered: it may write as many as it cares to.
const EXPECTED: u64 = 100_000;
/// How many names of words are remembered.
const MET: usize = 100_000;
/// How many logs are followed that a log was forked into. Whoever writes more has their rows taken for changed ones.
const FORKS: usize = 16;
/// How many rows are read at once.
const ROWS: i64 = 2000;
/// How long after the months that are gone a witness may be signed that covers them, in milliseconds: their last records may arrive late,
/// and what is witnessed later may be of a month that is here.
const LATE: i64 = 7 * 86_400_000;

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
    #[error("record {seq} is missing or another: {signer} saw it and signed it on {} UTC", date(*.time, 0))]
    Witnessed { seq: i64, signer: String, time: i64 },
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

/// Records at the beginning of a log that are gone with their months, and who had signed that they were there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    pub last: i64,
    /// When the oldest month that is here begins, in milliseconds since 1970, UTC.
    pub before: i64,
    pub signer: String,
    pub time: i64,
}

/// Records at the beginning of a log that were removed on its machine before it sent any, by a record of that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsent {
    pub last: i64,
    /// The record that says so, and who removed them by it: a foreign text.
    pub by: i64,
    pub operator: String,
}

/// What was found of one machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfMachine {
    pub machine: String,
    pub dropped: Option<Dropped>,
    /// Whether it counts or not: where it does not, the records are among what is missing.
    pub unsent: Option<Unsent>,
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
    let (mut machines, oldest, mut read) = (desk.machines()?, Oldest::read(desk)?, 0);
    machines.extend(witnessed.keys().filter(|name| !machines.contains(name)).cloned().collect::<Vec<_>>());
    let mut found = Vec::new();
    for machine in machines {
        // What came after the heads were read is no part of what they name.
        let expected = witnessed.remove(&machine).unwrap_or_default();
        let mut checking = Checking {
            oldest: oldest.of(&machine),
            words: Some(HashSet::new()),
            ..Checking::after(Head::EMPTY, machine)
        };
        expected.into_iter().for_each(|one| checking.expect(one));
        heads(desk, &mut checking, 0)?;
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

/// Verifies what came after a record that was verified before; the head, or the first thing that is wrong.
pub fn since(desk: &Central, machine: &str, begin: &Witnessed) -> Result<Result<Head, Fault>, StoreError> {
    const THERE: &str = "SELECT DISTINCT link FROM mcp_approve.record WHERE machine = $1 AND seq = $2 LIMIT 2";
    let Witnessed { head, signer, time } = begin;
    let mut checking = Checking::after(*head, machine.to_owned());
    let links = desk.query(THERE, &[&machine, &checking.seq])?;
    if links.iter().any(|row| row.get::<_, &[u8]>(0) != head.link.as_bytes()) {
        return Ok(Err(Fault::Forked { seq: checking.seq }));
    }
    let after = checking.seq;
    heads(desk, &mut checking, if after == 0 { 0 } else { after + 1 })?;
    checking.rows(desk, &mut |_| {})?;
    let (is_there, last) = (!links.is_empty() || head.seq == 0 || checking.of.records > 0, checking.of.last);
    let found = checking.done();
    let gone = || Fault::Witnessed { seq: after, signer: signer.clone(), time: *time };
    Ok(match (found.wrong.into_iter().next(), last) {
        (Some(fault), _) => Err(fault),
        (None, (_, None)) if is_there || is_dropped(desk, machine, *time)? => Ok(*head),
        (None, (seq, Some(link))) => Ok(Head { seq: u64::try_from(seq).unwrap_or(0), link }),
        (None, (_, None)) => Err(gone()),
    })
}

/// A record that somebody signed, and when, in milliseconds since 1970, UTC.
#[derive(Clone, Debug)]
pub struct Witnessed {
    pub head: Head,
    pub signer: String,
    pub time: i64,
}

/// Whether all of a machine's records are gone with months that a witness of this time covers.
fn is_dropped(desk: &Central, machine: &str, time: i64) -> Result<bool, StoreError> {
    let any = desk.query("SELECT FROM mcp_approve.record WHERE machine = $1 LIMIT 1", &[&machine])?;
    Ok(any.is_empty() && covers(time, Oldest::read(desk)?.of(machine)))
}

fn covers(time: i64, oldest: Option<i64>) -> bool {
    oldest.is_some_and(|oldest| time < oldest.saturating_add(LATE))
}

/// When the oldest month begins that the desk has a table for, or the oldest record of a machine was made, in milliseconds since 1970, UTC. A
/// record without a time of its own has 1970 here.
struct Oldest {
    /// `None` where no month has begun.
    month: Option<i64>,
    /// Of those machines that have a record from before it: what one of them sends changes nothing for another.
    of: BTreeMap<String, i64>,
}

impl Oldest {
    fn read(desk: &Central) -> Result<Self, StoreError> {
        const OLDEST: &str = "WITH month AS (SELECT min(
                (regexp_match(pg_get_expr(relpartbound, oid), '^FOR VALUES FROM \\(''([^'']+)''\\)'))[1]::timestamptz) AS begin
            FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE inhparent = 'mcp_approve.record'::regclass)
            SELECT NULL, (extract(epoch FROM begin) * 1000)::bigint FROM month WHERE begin <= now()
            UNION ALL SELECT machine, (extract(epoch FROM min(time)) * 1000)::bigint FROM mcp_approve.record
                WHERE time < (SELECT begin FROM month WHERE begin <= now()) AND time > to_timestamp(0) GROUP BY machine";
        let mut oldest = Self { month: None, of: BTreeMap::new() };
        for row in desk.query(OLDEST, &[])? {
            match row.get(0) {
                None => oldest.month = row.get(1),
                Some(machine) => {
                    oldest.of.extend(row.get::<_, Option<_>>(1).map(|time| (machine, time)));
                }
            }
        }
        Ok(oldest)
    }

    fn of(&self, machine: &str) -> Option<i64> {
        self.of.get(machine).copied().or(self.month)
    }
}

/// What a machine sent as the end of its log from a record on, which must be there; names where it went back.
fn heads(desk: &Central, checking: &mut Checking, from: i64) -> Result<(), StoreError> {
    const HEADS: &str = "SELECT place, seq, CASE WHEN octet_length(link) <= 64 THEN link ELSE '' END, to_char(time AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS UTC'),
            EXISTS (SELECT FROM mcp_approve.record WHERE machine = head.machine AND seq = head.seq AND link = head.link)
        FROM mcp_approve.head WHERE machine = $1 AND seq >= $2 AND place > $3 ORDER BY place LIMIT $4";
    let (mut last, mut any, mut place, mut lacking) = (0, from > 0, 0_i64, 0);
    loop {
        let rows = desk.query(HEADS, &[&checking.of.machine, &from, &place, &ROWS])?;
        for row in &rows {
            place = row.get(0);
            let (seq, link, time): (i64, Vec<u8>, String) = (row.get(1), row.get(2), row.get(3));
            if seq < last {
                checking.of.add(Fault::WentBack { from: last, seq, time: time.clone() });
            }
            (last, any) = (seq, true);
            if seq > 0 && !row.get::<_, bool>(4) {
                lacking += 1;
                let or = Fault::HeadGone { seq, time };
                match lacking <= EXPECTED {
                    true => checking.expect(Expected { seq, link, or }),
                    false => checking.of.add(or),
                }
            }
        }
        if rows.is_empty() {
            break;
        }
    }
    if !any {
        checking.of.add(Fault::NoHead);
    }
    Ok(())
}

/// What is known while the records of one machine come, by their numbers.
struct Checking {
    of: OfMachine,
    /// The names met so far of words that records are searched by, where the desk has the words of that name; `None` where that is not
    /// compared.
    words: Option<HashSet<Vec<u8>>>,
    /// Records that must be there, by their numbers.
    expected: BTreeMap<i64, Vec<Expected>>,
    /// What was signed of records that are there, or of the last one that is not.
    seen: Vec<(i64, String, i64)>,
    oldest: Option<i64>,
    /// The links that the next record can follow; none where that is not known.
    ends: Vec<Head>,
    /// The links of the records of the last number, and the number; the largest place among them, where it is one alone.
    same: Vec<Head>,
    seq: i64,
    place: Option<i64>,
    /// The first record that is here, if it is not the first of all.
    first: Option<First>,
    /// The first record that was witnessed.
    witnessed: Option<i64>,
}

/// A record that comes after others that are not here.
struct First {
    seq: i64,
    writer: Vec<u8>,
    body: Digest,
    link: Vec<u8>,
}

impl First {
    /// Whether it follows from this head.
    fn follows(&self, head: Head) -> bool {
        let row = Row { seq: self.seq, writer: &self.writer, body: &[], link: &self.link, origin: None };
        follow_digest(head, &row, self.body).is_ok()
    }
}

impl Checking {
    fn after(begin: Head, machine: String) -> Self {
        let seq = i64::try_from(begin.seq).unwrap_or(i64::MAX);
        Self {
            of: OfMachine { machine, ..OfMachine::default() },
            words: None,
            expected: BTreeMap::new(),
            seen: Vec::new(),
            oldest: None,
            ends: vec![begin],
            same: Vec::new(),
            seq,
            place: None,
            first: None,
            witnessed: None,
        }
    }

    fn expect(&mut self, one: Expected) {
        if let Fault::Witnessed { .. } = one.or {
            self.witnessed = Some(self.witnessed.map_or(one.seq, |first| first.min(one.seq)));
        }
        self.expected.entry(one.seq).or_default().push(one);
    }

    /// A record that was expected is there.
    fn see(&mut self, seq: i64, link: &[u8]) {
        let Some(expected) = self.expected.get_mut(&seq) else { return };
        for one in expected.extract_if(.., |one| one.link == link) {
            if let Fault::Witnessed { signer, time, .. } = one.or {
                self.seen.push((seq, signer, time));
            }
        }
    }

    fn rows(&mut self, desk: &Central, tell: &mut dyn FnMut(i64)) -> Result<(), StoreError> {
        // What is longer than any record is not read, and so is another.
        const NEXT: &str = "SELECT * FROM mcp_approve.record
            WHERE machine = $1 AND seq >= $2 AND (seq, place) > ($2, $3) ORDER BY seq, place LIMIT $4";
        const OTHERS: &str =
            ", CASE WHEN isfinite(time) THEN (extract(epoch FROM time) * 1000)::bigint END, shape, session, ticket";
        let next = records(NEXT, "seq, place", OTHERS);
        let (mut seq, mut place) = if self.seq == 0 { (i64::MIN, i64::MIN) } else { (self.seq, i64::MAX) };
        loop {
            let rows = desk.query(&next, &[&self.of.machine, &seq, &place, &ROWS])?;
            self.look_up(desk, &rows)?;
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

    /// Asks for the words of these records, where they were not met before.
    fn look_up(&mut self, desk: &Central, rows: &[tokio_postgres::Row]) -> Result<(), StoreError> {
        const THERE: &str = "SELECT shape FROM mcp_approve.shape
            WHERE machine = $1 AND shape = ANY ($2) AND shape = substr(sha256(convert_to(words, 'UTF8')), 1, 16)";
        let Some(words) = &mut self.words else { return Ok(()) };
        if words.len() > MET {
            words.clear();
        }
        let mut new: Vec<Vec<u8>> = rows.iter().filter_map(|row| row.get(9)).collect();
        new.retain(|name| !words.contains(name));
        new.sort();
        new.dedup();
        if !new.is_empty() {
            words.extend(desk.query(THERE, &[&self.of.machine, &new])?.iter().map(|row| row.get::<_, Vec<u8>>(0)));
        }
        Ok(())
    }

    fn take(&mut self, found: &tokio_postgres::Row) {
        let row = Row { seq: found.get(2), writer: found.get(3), body: body(found), link: found.get(6), origin: None };
        let place = found.get(0);
        self.of.records += 1;
        self.see(row.seq, row.link);
        let digest = body_digest(row.body);
        if row.seq != self.seq || self.of.records == 1 {
            self.next(&row, digest, place);
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
                let mut checked = ends.iter().map(|end| follow_digest(*end, &row, digest));
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
                self.same.extend(head.filter(|_| self.same.len() < FORKS));
                if let Some(first) = self.first.as_ref().filter(|_| self.of.unsent.is_none()) {
                    let said = removed::read(&row).filter(|said| said.fault(None).is_none());
                    let said = said.filter(|said| said.stretches.iter().any(|one| first.follows(one.end())));
                    self.of.unsent =
                        said.map(|Removed { seq, operator, .. }| Unsent { last: first.seq - 1, by: seq, operator });
                }
            }
        }
    }

    /// Begins with the first record of this number.
    fn next(&mut self, row: &Row<'_>, body: Digest, place: i64) {
        let is_single = self.same.len() == 1;
        if self.of.records > 1 {
            self.ends = std::mem::take(&mut self.same);
        }
        let expected = self.seq.saturating_add(1);
        if row.seq > expected {
            self.ends.clear();
            match self.seq {
                // Records that were removed on the machine before they could be sent, or here with their month.
                0 if self.of.records == 1 => {
                    let [writer, link] = [row.writer, row.link].map(<[u8]>::to_vec);
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
        let Some(words) = &self.words else { return };
        let Columns { time, shape, session, ticket } = Columns::of(row.body);
        let named: Option<Vec<u8>> = found.get(9);
        let is_raw = found.get::<_, Option<&[u8]>>(5).is_some();
        let is_text = std::str::from_utf8(row.body).is_ok_and(|text| !text.contains('\0'));
        let same_shape = match (&shape, &named) {
            (None, None) => true,
            (Some(shape), Some(name)) => shape.name == *name && words.contains(name),
            _ => false,
        };
        let same = found.get::<_, Option<i64>>(8) == Some(time)
            && same_shape
            && found.get::<_, Option<String>>(10) == session
            && found.get::<_, Option<String>>(11) == ticket
            && is_raw != is_text;
        if !same {
            self.of.add(Fault::Columns { seq: row.seq });
        }
    }

    fn done(mut self) -> OfMachine {
        if let Some(first) = self.first.take() {
            // Before anything was sent, it was there: so whoever signed first saw it, and one that came later is of what was here. Who
            // signs first has nothing to compare it with.
            let is_first =
                |by| self.witnessed.is_some_and(|first| by <= first) && self.seen.iter().any(|(seq, ..)| *seq >= by);
            let is_signing = self.words.is_none();
            if !self.of.unsent.as_ref().is_some_and(|unsent| is_signing || is_first(unsent.by)) {
                self.dropped(first.seq - 1, &|end| first.follows(end));
                if self.of.dropped.is_none() {
                    self.of.add(Fault::Missing { first: 1, last: first.seq - 1 });
                }
            }
        } else if let (0, Some((last, expected))) = (self.of.records, self.expected.last_key_value()) {
            let (last, links) = (*last, expected.iter().map(|one| one.link.clone()).collect::<Vec<_>>());
            self.dropped(last, &|end| links.iter().all(|link| link == end.link.as_bytes()));
        }
        for Expected { or, .. } in std::mem::take(&mut self.expected).into_values().flatten() {
            self.of.add(or);
        }
        self.of
    }

    /// Takes the records up to this one for dropped, if an operator had signed that they were there, and their months are gone. `fits` says
    /// whether what is left follows from the last of them.
    fn dropped(&mut self, last: i64, fits: &dyn Fn(Head) -> bool) {
        for one in self.expected.get(&last).into_iter().flatten() {
            let (Fault::Witnessed { signer, time, .. }, Ok(link)) = (&one.or, <[u8; 32]>::try_from(&*one.link)) else {
                continue;
            };
            if fits(Head { seq: u64::try_from(last).unwrap_or(0), link: Digest::from_bytes(link) }) {
                self.seen.push((last, signer.clone(), *time));
            }
        }
        // The first witness of it: it is the nearest to when they were sent.
        let first = self.seen.iter().filter(|(seq, ..)| *seq >= last).min_by_key(|(.., time)| *time);
        if let Some(before) = self.oldest
            && let Some((_, signer, time)) = first.filter(|(.., time)| covers(*time, Some(before)))
        {
            self.of.dropped = Some(Dropped { last, before, signer: signer.clone(), time: *time });
            self.expected.retain(|seq, _| *seq > last);
        }
    }
}
