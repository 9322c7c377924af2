//! Sends this machine's log to the desk: each record once or more, in order, from where the desk has it. What killed wrappers left is folded
//! into the log first, whenever no one writes there: it waits for no lock. What fails here is tried again and holds up no card.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;
use tokio::task::{self, JoinError};
use tokio::time::sleep;
use tokio_postgres::Statement;

use super::part::{Served, Site, now};
use crate::audit::chain::{GENESIS, Row};
use crate::audit::recording::{Recording, RecordingError};
use crate::audit::store::fold_left;
use crate::audit::{ReadOrder, Reader, StoreError};
use crate::desk::columns::{Columns, Shape};
use crate::desk::engine::{Engine, EngineError};
use crate::desk::own::{OnDesk, Other};

/// How often we look for new records.
const EVERY: Duration = Duration::from_secs(1);
/// How long we wait after a failure that is not the connection's.
const AGAIN: Duration = Duration::from_secs(10);
/// How often we look for journals of wrappers that were killed.
const LEFT: Duration = Duration::from_secs(5);
/// How often the end of the log is sent as well, while it grows.
const HEADS: Duration = Duration::from_secs(600);
/// How many records are sent at once, and how many bytes of bodies: another part's statement waits for no more than them.
const MOST: u64 = 400;
const BYTES: usize = 1 << 20;
/// How many shapes we remember to have sent.
const SHAPES: usize = 10_000;

const INSERT: &str = "INSERT INTO mcp_approve.record (seq, writer, body, raw, link, time, shape, session, ticket)
    SELECT seq, writer, body, raw, link, 'epoch'::timestamptz + millis * interval '1 millisecond', shape, session, ticket
    FROM unnest($1::bigint[], $2::bytea[], $3::text[], $4::bytea[], $5::bytea[], $6::bigint[], $7::bytea[], $8::text[], $9::text[])
        AS sent (seq, writer, body, raw, link, millis, shape, session, ticket)
    ON CONFLICT DO NOTHING";
const SHAPE: &str =
    "INSERT INTO mcp_approve.shape (shape, words) SELECT * FROM unnest($1::bytea[], $2::text[]) ON CONFLICT DO NOTHING";
const LAST: &str = "SELECT max(seq) FROM mcp_approve.record WHERE machine = $1";
const HAS: &str = "SELECT EXISTS (SELECT FROM mcp_approve.record WHERE machine = $1 AND seq = $2 AND link = $3)";
const HEAD: &str = "INSERT INTO mcp_approve.head (seq, link) VALUES ($1, $2)";

pub(super) struct Shipping {
    log: PathBuf,
    machine: String,
    key: PathBuf,
    /// When journals were looked for last, and what could not be folded then: each is said once.
    looked: Option<Instant>,
    unfolded: Option<String>,
    /// Our last record when the desk's were compared with ours, and what of them was not ours; said once, to this.
    compared: u64,
    other: Option<Other>,
    tell: UnboundedSender<Other>,
}

/// Why nothing is sent just now.
#[derive(Debug, thiserror::Error)]
enum Stopped {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Log(#[from] StoreError),
    #[error(transparent)]
    Recording(#[from] RecordingError),
    #[error(transparent)]
    Thread(#[from] JoinError),
}

impl From<tokio_postgres::Error> for Stopped {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Engine(error.into())
    }
}

impl Shipping {
    pub(super) fn new(site: &Site, machine: &str, tell: UnboundedSender<Other>) -> Self {
        let (log, key) = (site.log.clone(), site.places.redaction_key());
        let machine = machine.to_owned();
        Self { log, machine, key, looked: None, unfolded: None, compared: 0, other: None, tell }
    }

    pub(super) async fn serve(&mut self, engine: &Engine) -> Served {
        loop {
            let Err(stopped) = self.ship(engine).await;
            match stopped {
                // The connection is of no use to the other parts either.
                Stopped::Engine(error) if engine.client.is_closed() => return Err(error),
                error => tracing::warn!(%error, "the log is not sent just now"),
            }
            sleep(AGAIN).await;
        }
    }

    async fn ship(&mut self, engine: &Engine) -> Result<std::convert::Infallible, Stopped> {
        let insert = engine.client.prepare(INSERT).await?;
        // Before anything new is sent: what comes after it would be ours again.
        self.compare(engine, self.compared).await?;
        let (mut sent, mut is_begun) = self.resume(engine).await?;
        let (mut shapes, mut compared) = (HashSet::new(), Instant::now());
        // When the end of the log was sent last, and which it was.
        let mut head: Option<(Instant, Option<u64>)> = None;
        loop {
            self.fold_left().await?;
            let (log, after) = (self.log.clone(), sent.clone());
            let read = task::spawn_blocking(move || read(&log, &after)).await??;
            let is_level = match read {
                Read::Batch(batch) => {
                    let is_level = batch.seqs.len() < usize::try_from(MOST).unwrap_or(usize::MAX) && !batch.is_cut;
                    is_begun = true;
                    sent = send(engine, &insert, *batch, &mut shapes).await?;
                    is_level
                }
                Read::Nothing => true,
                Read::Another => {
                    tracing::warn!("the log is not the one that was sent: another, or an older copy, took its place");
                    (sent, is_begun) = self.resume(engine).await?;
                    head = None;
                    continue;
                }
            };
            // An older copy of the log shows at once: its end is behind what the desk has.
            let is_due = match head {
                None => is_level,
                Some((when, seq)) => when.elapsed() >= HEADS && seq != Some(sent.seq),
            };
            if is_due && is_begun {
                let link = sent.link.as_deref().unwrap_or(GENESIS.as_bytes());
                engine.client.execute(HEAD, &[&number(sent.seq), &link]).await?;
                head = Some((Instant::now(), Some(sent.seq)));
            }
            if is_level && compared.elapsed() >= HEADS {
                self.compare(engine, sent.seq).await?;
                compared = Instant::now();
            }
            if is_level {
                sleep(EVERY).await;
            }
        }
    }

    /// Looks whether what the desk has of this machine is its own log, now and up to here the next time; where it is not, records that.
    async fn compare(&mut self, engine: &Engine, next: u64) -> Result<(), Stopped> {
        let found = OnDesk::read(engine, &self.machine, self.compared).await?;
        let (log, key, before) = (self.log.clone(), self.key.clone(), self.other);
        let look = move || {
            let other = found.other(&log)?;
            // Where there is no log any more, that shows by itself.
            if let Some(one) = other.filter(|_| other != before && log.exists()) {
                Recording::open(&log, &key)?.record(&[(1, one.entry(now()))])?;
            }
            Ok::<_, Stopped>(other)
        };
        let other = task::spawn_blocking(look).await??;
        if let Some(one) = other.filter(|_| other != before) {
            // It fails only at the end of the process.
            let _ = self.tell.send(one);
        }
        (self.compared, self.other) = (next, other);
        Ok(())
    }

    /// Folds what killed wrappers left. What cannot be folded holds up no record.
    async fn fold_left(&mut self) -> Result<(), JoinError> {
        if self.looked.is_some_and(|at| at.elapsed() < LEFT) {
            return Ok(());
        }
        let log = self.log.clone();
        let folded = task::spawn_blocking(move || fold_left(&log)).await?;
        let unfolded = folded.map_or_else(
            |error| Some(error.to_string()),
            |left| Some(left).filter(|left| !left.is_empty()).map(|left| format!("{left:?}")),
        );
        if let Some(error) = unfolded.as_ref().filter(|_| unfolded != self.unfolded) {
            tracing::warn!(%error, "entries of a killed wrapper are not sent: they are not in the log");
        }
        (self.looked, self.unfolded) = (Some(Instant::now()), unfolded);
        Ok(())
    }

    /// The last record that the desk has of this very log; and whether it has any of this machine.
    async fn resume(&self, engine: &Engine) -> Result<(Sent, bool), Stopped> {
        let last: Option<i64> = engine.client.query_one(LAST, &[&self.machine]).await?.get(0);
        let last = last.and_then(|last| u64::try_from(last).ok()).unwrap_or(0);
        let Some(reader) = Reader::open_as_is(&self.log)? else { return Ok((Sent::default(), last > 0)) };
        // A link binds all that is before it: what the desk has of this log is a beginning of it.
        let (mut low, mut high) = (reader.oldest() - 1, last.min(reader.newest()?));
        let mut at = high;
        while low < high {
            let (seq, link) = end_at(&reader, at)?;
            let is_known = seq <= low
                || engine.client.query_one(HAS, &[&self.machine, &number(seq), &link]).await?.get::<_, bool>(0);
            (low, high) = if is_known { (at, high) } else { (low, seq - 1) };
            at = low + (high.max(low) - low).div_ceil(2);
        }
        let (seq, link) = end_at(&reader, low)?;
        Ok((Sent { seq, link: Some(link).filter(|link| !link.is_empty()) }, last > 0))
    }
}

/// The record that was sent last. Without a link there was none.
#[derive(Clone, Debug, Default)]
struct Sent {
    seq: u64,
    link: Option<Vec<u8>>,
}

/// The number and link of the newest record up to this one.
fn end_at(reader: &Reader, at: u64) -> Result<(u64, Vec<u8>), StoreError> {
    let (mut seq, mut link) = match reader.removed().map(|removed| removed.end()) {
        Some(end) if end.seq <= at => (end.seq, end.link.as_bytes().to_vec()),
        _ => (0, Vec::new()),
    };
    reader.each_from(ReadOrder::NewestFirst, at, 1, &mut |row| {
        if let Ok(found) = u64::try_from(row.seq) {
            (seq, link) = (found, row.link.to_vec());
        }
        ControlFlow::Break(())
    })?;
    Ok((seq, link))
}

enum Read {
    /// There is no log, or nothing new in it.
    Nothing,
    /// The log does not have what was sent last.
    Another,
    Batch(Box<Batch>),
}

#[derive(Default)]
struct Batch {
    seqs: Vec<i64>,
    writers: Vec<Vec<u8>>,
    bodies: Vec<String>,
    raws: Vec<Option<Vec<u8>>>,
    links: Vec<Vec<u8>>,
    times: Vec<i64>,
    shapes: Vec<Option<Shape>>,
    sessions: Vec<Option<String>>,
    tickets: Vec<Option<String>>,
    bytes: usize,
    /// The bodies are long: there are more records.
    is_cut: bool,
}

/// The next records.
fn read(log: &Path, after: &Sent) -> Result<Read, StoreError> {
    let Some(reader) = Reader::open_as_is(log)? else {
        return Ok(if after.link.is_some() { Read::Another } else { Read::Nothing });
    };
    let was_removed = reader.removed().is_some_and(|removed| after.seq < removed.end().seq);
    if after.link.is_some() && !was_removed {
        let (seq, link) = end_at(&reader, after.seq)?;
        if seq != after.seq || Some(link) != after.link {
            return Ok(Read::Another);
        }
    }
    let mut batch = Batch::default();
    reader.each_from(ReadOrder::OldestFirst, after.seq + 1, MOST, &mut |row| {
        batch.add(&row);
        batch.is_cut = batch.bytes >= BYTES;
        if batch.is_cut { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(if batch.seqs.is_empty() { Read::Nothing } else { Read::Batch(Box::new(batch)) })
}

impl Batch {
    fn add(&mut self, row: &Row<'_>) {
        let Columns { time, shape, session, ticket } = Columns::of(row.body);
        self.seqs.push(row.seq);
        self.writers.push(row.writer.to_vec());
        // A text of PostgreSQL is UTF-8 without NUL; what is none is kept as its bytes.
        let text = std::str::from_utf8(row.body).ok().filter(|text| !text.contains('\0'));
        self.bodies.push(text.unwrap_or_default().to_owned());
        self.raws.push(text.is_none().then(|| row.body.to_vec()));
        self.links.push(row.link.to_vec());
        self.times.push(time);
        self.shapes.push(shape);
        self.sessions.push(session);
        self.tickets.push(ticket);
        self.bytes += row.body.len();
    }
}

/// Sends a batch; returns the last record of it.
async fn send(
    engine: &Engine,
    insert: &Statement,
    batch: Batch,
    known: &mut HashSet<Vec<u8>>,
) -> Result<Sent, EngineError> {
    if known.len() > SHAPES {
        known.clear();
    }
    let new: Vec<&Shape> = batch.shapes.iter().flatten().filter(|shape| known.insert(shape.name.clone())).collect();
    if !new.is_empty() {
        let (names, words): (Vec<_>, Vec<_>) = new.iter().map(|shape| (&*shape.name, &*shape.words)).unzip();
        engine.client.execute(SHAPE, &[&names, &words]).await?;
    }
    let shapes: Vec<_> = batch.shapes.iter().map(|shape| shape.as_ref().map(|shape| &*shape.name)).collect();
    let Batch { seqs, writers, bodies, raws, links, times, sessions, tickets, .. } = &batch;
    engine.client.execute(insert, &[seqs, writers, bodies, raws, links, times, &shapes, sessions, tickets]).await?;
    let seq = seqs.last().and_then(|seq| u64::try_from(*seq).ok()).unwrap_or(0);
    Ok(Sent { seq, link: links.last().cloned() })
}

fn number(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}
