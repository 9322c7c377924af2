//! The logs of all machines, read from the desk as one: its rows are numbered by `place`, the order in which they arrived. What PostgreSQL
//! can tell by the columns beside a body, it is asked; the exact comparison is the reader's, by the body.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::ToSql;

use super::by_role::{FIT, fitting};
use super::columns::key;
use super::engine::{Engine, EngineError, Program, Target};
use crate::audit::chain::{Break, GENESIS, Head, Origin, Row, Verifier, Writer};
use crate::audit::fields::{Field, IN_SHAPE};
use crate::audit::store::{Found, Rows, Unlinked, Visit};
use crate::audit::{ReadOrder, Reader, Search, StoreError};
use crate::wire::Digest;

/// How many rows are asked for: first, and at most, while a walk goes on.
const FIRST: i64 = 64;
const MOST: i64 = 4096;
/// How many places are looked at for each row that is asked for, where no index leads to rows.
const AROUND: i64 = 64;
/// How many shapes of a machine are compared with a search, and how many bytes of their words: one that has more is searched by bodies.
const COMPARED: i64 = 10_000;
const WORDS: i32 = 4096;
/// How many values of a column an index is asked for one by one.
const SHAPES: usize = 256;
const MACHINES: usize = 8;

const ROW: &str = "place, machine, seq, writer, body, raw, link";

/// As many of these records as fit: the columns of [`ROW`], `there`, and others. What is longer than any record is not read, and so is another.
pub(super) fn records(rows: &str, order: &str, others: &str) -> String {
    let [body, raw] =
        [("body", "''"), ("raw", "NULL")].map(|(it, or)| format!("CASE WHEN size <= {FIT} THEN {it} ELSE {or} END"));
    let [writer, link] =
        ["writer", "link"].map(|it| format!("CASE WHEN octet_length({it}) <= 64 THEN {it} ELSE '' END"));
    let columns = format!("place, machine, seq, {writer}, {body}, {raw}, {link}, there {others}");
    let size =
        "octet_length(body)::bigint + coalesce(octet_length(raw), 0) + octet_length(writer) + octet_length(link)";
    fitting(rows, size, order, &columns)
}

/// How many rows a page was cut from.
fn there(page: &[tokio_postgres::Row]) -> i64 {
    page.first().map_or(0, |row| row.get(7))
}

/// Whether a page has all that it was cut from.
fn is_whole(page: &[tokio_postgres::Row]) -> bool {
    i64::try_from(page.len()) == Ok(there(page))
}

/// Opens the log of all machines for reading.
pub fn open(target: &Target, program: Program) -> Result<Reader, StoreError> {
    Ok(Reader::of(Box::new(Central::open(target, program)?)))
}

/// A connection that waits for its answers.
pub struct Central {
    engine: Engine,
    runtime: Runtime,
    known: RefCell<Known>,
}

/// What was read of the desk before.
#[derive(Default)]
struct Known {
    /// The newest row when the rest was read.
    newest: i64,
    shapes: Vec<(Vec<u8>, [Option<String>; IN_SHAPE.len()])>,
    machines: Vec<String>,
    /// The machines that have more shapes, or longer words, than are compared.
    crowded: Vec<String>,
    /// Where the walk that was served last goes on, and how many steps it took.
    walk: (i64, u32),
}

impl fmt::Debug for Central {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Central").field("engine", &self.engine).finish_non_exhaustive()
    }
}

impl From<EngineError> for StoreError {
    fn from(error: EngineError) -> Self {
        Self::Desk { hint: error.hint(), why: error.to_string() }
    }
}

/// A statement in the making, with its parameters.
#[derive(Default)]
struct Asked(Vec<Box<dyn ToSql + Sync + Send>>);

impl Asked {
    /// How the statement names this value.
    fn value(&mut self, value: impl ToSql + Sync + Send + 'static) -> String {
        self.0.push(Box::new(value));
        format!("${}", self.0.len())
    }
}

/// An index that leads to what is wanted: its column, the type of it, and the values as the statement names them.
struct Index(&'static str, &'static str, String);

impl Central {
    pub fn open(target: &Target, program: Program) -> Result<Self, StoreError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| StoreError::Desk {
            why: format!("the network cannot be waited for: {error}"),
            hint: "look at the limits of open files",
        })?;
        let engine = runtime.block_on(async {
            let engine = target.connect(program).await?;
            // Compiling our queries takes longer than they do.
            engine.client.batch_execute("SET jit = off").await?;
            // Rows that a role may not see are none to it, and no error.
            const SEES: &str = "SELECT NOT row_security_active('mcp_approve.record')
                OR pg_has_role('mcp_approve_operator', 'USAGE') OR pg_has_role('mcp_approve_auditor', 'USAGE')";
            let sees: bool = engine.client.query_one(SEES, &[]).await?.get(0);
            Ok::<_, EngineError>(Some(engine).filter(|_| sees))
        })?;
        let Some(engine) = engine else {
            return Err(StoreError::Desk {
                why: format!("the role {} cannot see what is on the desk", target.role()),
                hint: "log in as an operator or an auditor: `mcp-approve desk init --auditor NAME` makes such a role",
            });
        };
        Ok(Self { engine, runtime, known: RefCell::default() })
    }

    /// The same, as it is at this moment, whatever arrives meanwhile.
    pub fn open_unchanging(target: &Target, program: Program) -> Result<Self, StoreError> {
        // What is read may be written where it is taken slowly.
        const BEGIN: &str = "SET idle_in_transaction_session_timeout = '1h';
            BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY";
        let this = Self::open(target, program)?;
        this.runtime.block_on(this.engine.client.batch_execute(BEGIN)).map_err(EngineError::from)?;
        Ok(this)
    }

    /// Runs a query and waits for its rows.
    pub(super) fn query(
        &self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<tokio_postgres::Row>, StoreError> {
        let rows = self.runtime.block_on(self.engine.client.query(sql, values));
        rows.map_err(|error| EngineError::from(error).into())
    }

    /// About how many records there are.
    pub fn count(&self) -> Result<u64, StoreError> {
        Ok(u64::try_from(self.newest()?).unwrap_or(0))
    }

    /// The machines that have sent anything.
    pub fn machines(&self) -> Result<Vec<String>, StoreError> {
        // Each by one look into the index: there are many records and few machines.
        const NAMES: &str = "WITH RECURSIVE of AS (
            (SELECT machine FROM mcp_approve.record ORDER BY machine LIMIT 1) UNION ALL
            SELECT (SELECT machine FROM mcp_approve.record WHERE machine > of.machine ORDER BY machine LIMIT 1)
                FROM of WHERE machine IS NOT NULL
        ) SELECT machine FROM of WHERE machine IS NOT NULL UNION SELECT machine FROM mcp_approve.head ORDER BY machine";
        Ok(self.query(NAMES, &[])?.iter().map(|row| row.get(0)).collect())
    }

    /// Shows what arrived after the last row of each machine that is known, and notes it. What one machine sends arrives in order; of
    /// several, a later row can be seen before an earlier one.
    pub fn arrived(&self, last: &mut BTreeMap<String, i64>, visit: Visit<'_>) -> Result<(), StoreError> {
        for machine in self.machines()? {
            last.entry(machine).or_insert(0);
        }
        let next = format!(
            "SELECT r.* FROM unnest($1::text[], $2::bigint[]) AS of (name, last) CROSS JOIN LATERAL
                (SELECT {ROW} FROM mcp_approve.record WHERE machine = name AND place > last ORDER BY place LIMIT $3) r"
        );
        let sql = records(&next, "place", "");
        loop {
            let (names, places): (Vec<&String>, Vec<i64>) = last.iter().map(|(name, place)| (name, *place)).unzip();
            let rows = self.query(&sql, &[&names, &places, &FIRST])?;
            if rows.is_empty() {
                return Ok(());
            }
            for row in &rows {
                last.insert(row.get(1), row.get(0));
                if show(row, visit).is_break() {
                    return Ok(());
                }
            }
        }
    }

    /// The newest row of each machine.
    pub fn ends(&self) -> Result<BTreeMap<String, i64>, StoreError> {
        const LAST: &str = "SELECT name, (SELECT max(place) FROM mcp_approve.record WHERE machine = name)
            FROM unnest($1::text[]) AS of (name)";
        let rows = self.query(LAST, &[&self.machines()?])?;
        Ok(rows.iter().map(|row| (row.get(0), row.get::<_, Option<i64>>(1).unwrap_or(0))).collect())
    }

    /// Reads what a search is compared with, unless what was read covers this row.
    fn learn(&self, search: &Search, place: i64) -> Result<(), StoreError> {
        let is_asked = search.asks_for(Field::Machine) || IN_SHAPE.iter().any(|field| search.asks_for(*field));
        let is_known = !self.known.borrow().machines.is_empty() || !is_asked;
        if is_known && self.known.borrow().newest >= place && self.known.borrow().newest > 0 {
            return Ok(());
        }
        // The shape of a record is there before the record.
        let newest = self.newest()?;
        if !is_asked {
            self.known.borrow_mut().newest = newest;
            self.known.borrow_mut().machines.clear();
            return Ok(());
        }
        const CROWDED: &str = "SELECT name FROM unnest($1::text[]) AS of (name) CROSS JOIN LATERAL (
                SELECT count(*) AS many, max(octet_length(words)) AS longest
                FROM (SELECT words FROM mcp_approve.shape WHERE machine = name ORDER BY shape LIMIT $2::bigint + 1) AS one
            ) AS has WHERE many > $2::bigint OR longest > $3::int";
        const SHAPES: &str = "SELECT DISTINCT ON (shape) shape, words FROM mcp_approve.shape WHERE machine = ANY ($1)";
        let machines = self.machines()?;
        let crowded = self.query(CROWDED, &[&machines, &COMPARED, &WORDS])?;
        let crowded: Vec<String> = crowded.iter().map(|row| row.get(0)).collect();
        let others: Vec<&String> = machines.iter().filter(|name| !crowded.contains(name)).collect();
        let rows = self.query(SHAPES, &[&others])?;
        let shapes = rows.iter().map(|row| {
            let words: &str = row.get(1);
            (row.get(0), serde_json::from_str(words).unwrap_or_default())
        });
        let shapes = shapes.collect();
        let mut known = self.known.borrow_mut();
        (known.newest, known.shapes, known.machines, known.crowded) = (newest, shapes, machines, crowded);
        Ok(())
    }

    /// What a search asks of the columns: an index that leads to its rows, if one does, and conditions on those that can be read and on
    /// all.
    fn asked(&self, search: &Search, asked: &mut Asked) -> (Option<Index>, Vec<String>, Vec<String>) {
        let known = self.known.borrow();
        // What no index is to be used for is written so that none can: the one that leads to rows has them in their order.
        let (mut readable, mut all) = (vec!["(shape IS NOT NULL) IS TRUE".to_owned()], Vec::new());
        let [mut by_shape, mut by_machine, mut by_session, mut by_ticket] = [const { None }; 4];
        if IN_SHAPE.iter().any(|field| search.asks_for(*field)) {
            let fits = |(_, words): &&(Vec<u8>, [Option<String>; IN_SHAPE.len()])| {
                let of = |field| IN_SHAPE.iter().zip(words).find(|(one, _)| **one == field)?.1.as_deref();
                search.fits(Field::is_in_shape, of)
            };
            let names: Vec<Vec<u8>> = known.shapes.iter().filter(fits).map(|(name, _)| name.clone()).collect();
            let is_few = names.len() <= SHAPES && known.crowded.is_empty();
            let (names, crowded) = (asked.value(names), asked.value(known.crowded.clone()));
            readable.push(format!("(shape = ANY ({names}) OR machine = ANY ({crowded})) IS TRUE"));
            by_shape = is_few.then_some(Index("shape", "bytea", names));
        }
        if search.asks_for(Field::Machine) {
            let names = known.machines.iter().filter(|name| search.is_of(Some(name)));
            let names: Vec<String> = names.cloned().collect();
            let is_few = names.len() <= MACHINES;
            let names = asked.value(names);
            all.push(format!("(machine = ANY ({names})) IS TRUE"));
            by_machine = is_few.then_some(Index("machine", "text", names));
        }
        for (field, by) in [(Field::Session, &mut by_session), (Field::Ticket, &mut by_ticket)] {
            let Some(word) = search.word(field) else { continue };
            let name = asked.value(vec![key(word)]);
            readable.push(format!("({} = ANY ({name})) IS TRUE", field.word()));
            *by = Some(Index(field.word(), "text", name));
        }
        for (moment, than) in [(search.since(), ">="), (search.until(), "<")] {
            #[expect(clippy::cast_precision_loss, reason = "exact for a hundred thousand years")]
            let Some(seconds) = moment.map(|millis| millis as f64 / 1000.0) else { continue };
            readable.push(format!("time {than} to_timestamp({})", asked.value(seconds)));
        }
        // PostgreSQL and we agree on the case of ASCII alone.
        for text in search.texts().filter(|text| text.is_ascii()) {
            let text = asked.value(text.to_owned());
            all.push(format!("(raw IS NOT NULL OR position({text} in lower(body COLLATE \"C\")) > 0)"));
        }
        (by_ticket.or(by_session).or(by_machine).or(by_shape), readable, all)
    }
}

/// Shows a row of [`ROW`]'s columns.
fn show(row: &tokio_postgres::Row, visit: Visit<'_>) -> ControlFlow<()> {
    let origin = Origin { machine: row.get(1), seq: row.get(2) };
    visit(Row { seq: row.get(0), writer: row.get(3), body: body(row), link: row.get(6), origin: Some(&origin) })
}

pub(super) fn body(row: &tokio_postgres::Row) -> &[u8] {
    row.get::<_, Option<&[u8]>>(5).unwrap_or_else(|| row.get::<_, &str>(4).as_bytes())
}

/// How an order is written, and which comparison takes a row and those after it.
fn written(order: ReadOrder) -> (&'static str, &'static str) {
    match order {
        ReadOrder::OldestFirst => ("ASC", ">="),
        ReadOrder::NewestFirst => ("DESC", "<="),
    }
}

fn after(order: ReadOrder, place: i64) -> i64 {
    match order {
        ReadOrder::OldestFirst => place.saturating_add(1),
        ReadOrder::NewestFirst => place.saturating_sub(1),
    }
}

/// How a row does not follow from the one before it, of whose number a log that was forked has several: their links come after [`ROW`]'s.
fn unlinked_from(row: &tokio_postgres::Row) -> Option<Unlinked> {
    let (seq, before): (i64, Vec<&[u8]>) = (row.get(2), row.get(8));
    let last = u64::try_from(seq.saturating_sub(1)).unwrap_or(0);
    let before = if last == 0 { vec![GENESIS.as_bytes().as_slice()] } else { before };
    let one = Row { seq, writer: row.get(3), body: body(row), link: row.get(6), origin: None };
    let follows = |link: &&[u8]| {
        let link = Digest::from_bytes(<[u8; 32]>::try_from(*link).ok()?);
        Some(Verifier::after(Head { seq: last, link }).take(&one).map(|_| ()))
    };
    let checked: Vec<_> = before.iter().filter_map(follows).collect();
    if checked.iter().any(Result::is_ok) {
        return None;
    }
    let why = checked.into_iter().find_map(Result::err);
    let why = why.unwrap_or(Break::Missing { expected: last, found: seq });
    Some(Unlinked { seq: u64::try_from(row.get::<_, i64>(0)).unwrap_or(0), machine: row.get(1), why })
}

impl Rows for Central {
    fn rows(&self, order: ReadOrder, from: i64, most: i64, visit: Visit<'_>) -> Result<(), StoreError> {
        let (direction, than) = written(order);
        let by = format!("place {direction}");
        let next = format!("SELECT {ROW} FROM mcp_approve.record WHERE place {than} $1 ORDER BY {by} LIMIT $2");
        let sql = records(&next, &by, "");
        let (mut at, mut left, mut step) = (from, most, FIRST);
        while left > 0 {
            step = step.min(left);
            let rows = self.query(&sql, &[&at, &step])?;
            for row in &rows {
                at = after(order, row.get(0));
                if show(row, visit).is_break() {
                    return Ok(());
                }
            }
            if there(&rows) < step && is_whole(&rows) {
                return Ok(());
            }
            left -= i64::try_from(rows.len()).unwrap_or(left);
            step = (step * 4).min(MOST);
        }
        Ok(())
    }

    fn one(&self, seq: i64, see: &mut dyn FnMut(Row<'_>)) -> Result<(), StoreError> {
        self.rows(ReadOrder::OldestFirst, seq, 1, &mut |row| {
            if row.seq == seq {
                see(row);
            }
            ControlFlow::Break(())
        })
    }

    fn newest(&self) -> Result<i64, StoreError> {
        let rows = self.query("SELECT coalesce(max(place), 0) FROM mcp_approve.record", &[])?;
        Ok(rows.first().map_or(0, |row| row.get(0)))
    }

    fn unlinked(&self, seqs: &mut dyn Iterator<Item = u64>) -> Result<Vec<Unlinked>, StoreError> {
        const WANTED: &str = "SELECT *, ARRAY (
            SELECT link FROM mcp_approve.record AS last
            WHERE last.machine = one.machine AND last.seq = one.seq - 1 AND octet_length(link) <= 64 LIMIT 16
        ) AS links FROM mcp_approve.record AS one WHERE place = ANY ($1) AND place > $2";
        let places: Vec<i64> = seqs.filter_map(|seq| i64::try_from(seq).ok()).collect();
        let (sql, mut last, mut unlinked) = (records(WANTED, "place", ", links"), 0_i64, Vec::new());
        loop {
            let rows = self.query(&sql, &[&places, &last])?;
            unlinked.extend(rows.iter().filter_map(unlinked_from));
            last = rows.last().map_or(last, |row| row.get(0));
            if is_whole(&rows) {
                return Ok(unlinked);
            }
        }
    }

    fn looked_up(&self, _: &Digest) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    fn journals(&self) -> Result<Vec<Writer>, StoreError> {
        Ok(Vec::new())
    }

    fn find(
        &self,
        search: &Search,
        order: ReadOrder,
        from: i64,
        visit: Visit<'_>,
    ) -> Result<Option<Found>, StoreError> {
        self.learn(search, from)?;
        let (walk, newest) = (self.known.borrow().walk, self.known.borrow().newest);
        let steps = if walk.0 == from { walk.1 } else { 0 };
        let most = (FIRST * 4_i64.pow(steps.clamp(1, 4) - 1)).min(MOST);
        let ((direction, than), mut asked) = (written(order), Asked::default());
        let (index, readable, all) = self.asked(search, &mut asked);
        let (readable, all) = ([readable, all.clone()].concat().join(" AND "), [vec!["true".to_owned()], all].concat());
        let (all, at) = (all.join(" AND "), asked.value(from));
        let order_by = format!("ORDER BY place {direction} LIMIT {most}");
        // The last place that is looked at.
        let mut edge = None;
        // What is frequent is among the first rows, and an index that leads to all of it would take longer.
        let sql = match index.filter(|_| steps > 0) {
            Some(Index(column, kind, values)) => format!(
                "SELECT * FROM (
                    SELECT one.* FROM unnest({values}::{kind}[]) AS of (wanted) CROSS JOIN LATERAL (
                        SELECT {ROW} FROM mcp_approve.record WHERE {column} = wanted AND place {than} {at} AND {readable} {order_by}
                    ) AS one
                    UNION ALL
                    (SELECT {ROW} FROM mcp_approve.record WHERE shape IS NULL AND place {than} {at} AND {all} {order_by})
                ) AS found {order_by}"
            ),
            None => {
                let around = most * AROUND;
                let last = match order {
                    ReadOrder::OldestFirst => from.saturating_add(around),
                    ReadOrder::NewestFirst => from.saturating_sub(around).max(0),
                };
                edge = Some(last);
                let (low, high) = (asked.value(from.min(last)), asked.value(from.max(last)));
                format!(
                    "SELECT {ROW} FROM mcp_approve.record
                        WHERE place BETWEEN {low} AND {high} AND place {than} {at} AND ({readable} OR shape IS NULL AND {all})
                        {order_by}"
                )
            }
        };
        let values: Vec<&(dyn ToSql + Sync)> = asked.0.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
        let rows = self.query(&records(&sql, &format!("place {direction}"), ""), &values)?;
        let mut next = from;
        let mut flow = ControlFlow::Continue(());
        for row in &rows {
            next = after(order, row.get(0));
            flow = show(row, visit);
            if flow.is_break() {
                break;
            }
        }
        if flow.is_continue() && there(&rows) < most && is_whole(&rows) {
            match edge.filter(|edge| (1..=newest).contains(edge)) {
                Some(edge) => next = after(order, edge),
                None => return Ok(Some(Found::All)),
            }
        }
        self.known.borrow_mut().walk = (next, steps + 1);
        Ok(Some(if next > 0 { Found::UpTo(next.cast_unsigned()) } else { Found::All }))
    }
}
