//! The thread that reads log and policy for the screens, a slice at a time, so that the newest question comes first. It opens
//! the log for reading only, and holds no transaction from slice to slice: writers never wait for a screen. It also looks
//! how much memory processes take, which is known on Linux only.

mod slices;

use std::fs;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::sync::{Arc, mpsc};

use slices::Searching;

use crate::audit::index::{Index, SLICE};
use crate::audit::{
    Clock, Fields, Kind, ReadOrder, Reader, Record, Search, StoreError, VerdictWord, past, query, search::exactly,
    store::noted, store::noted::Noted, verified::Verifying,
};
use crate::home::user;
use crate::hosts;
use crate::hosts::Start;
use crate::operator::found::{
    Before, Certain, Checked, Counts, Explained, Finding, Line, LogRequest, Opened, Progress, Unwrapped,
};
use crate::operator::pin_book::PinReader;
use crate::operator::tried::{Trial, Which};
use crate::operator::{Sources, rule_book, trial};
use crate::policy::decide::{decide, nearest};
use crate::policy::past::{PastCall, is_obscured};
use crate::policy::{Policy, rules_name};
use crate::text::plain::visible;

/// Slices between two reports of work that goes on.
const REPORT: u64 = 8;

/// How a log that is not the file of [`Sources`] is opened.
pub type Opener = Box<dyn Fn() -> Result<Reader, StoreError> + Send>;

/// Starts the log reader. It ends with the last sender.
pub fn start(sources: Sources, tell: impl Fn(Finding) + Clone + Send + 'static) -> std::io::Result<Sender<LogRequest>> {
    start_on(sources, None, tell)
}

/// The same on another log, which has its own indexes.
pub fn start_on(
    sources: Sources,
    elsewhere: Option<Opener>,
    tell: impl Fn(Finding) + Clone + Send + 'static,
) -> std::io::Result<Sender<LogRequest>> {
    let (ask, inbox) = mpsc::channel();
    let trial = trial::start(sources.clone(), tell.clone())?;
    let pins = PinReader::new(sources.places.clone());
    let log_reader = LogReader {
        sources,
        pins,
        tell: Box::new(tell),
        inbox,
        elsewhere,
        reader: None,
        index: None,
        filling: Work::Idle,
        searching: None,
        counts: Counts::default(),
        remembered: 0,
        counting: Work::Idle,
        checking: None,
        trial,
    };
    std::thread::Builder::new().name("log-reader".to_owned()).spawn(move || log_reader.run())?;
    Ok(ask)
}

struct LogReader {
    sources: Sources,
    pins: PinReader,
    tell: Box<dyn Fn(Finding) + Send>,
    inbox: Receiver<LogRequest>,
    elsewhere: Option<Opener>,
    reader: Option<Reader>,
    index: Option<Index>,
    filling: Work,
    searching: Option<Searching>,
    counts: Counts,
    /// Up to which record the counts are noted in the index.
    remembered: u64,
    counting: Work,
    checking: Option<Checking>,
    trial: Sender<Trial>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    Idle,
    /// How many slices were done since the last report.
    Busy(u64),
}

struct Checking {
    verifying: Verifying,
    noted: Noted,
    newest: u64,
    slices: u64,
}

impl LogReader {
    fn run(mut self) {
        loop {
            let quiet = self.counting == Work::Idle && self.filling == Work::Idle;
            let idle = quiet && self.searching.is_none() && self.checking.is_none();
            let request =
                if idle { self.inbox.recv().map_err(|_| TryRecvError::Disconnected) } else { self.inbox.try_recv() };
            let done = match request {
                Ok(request) => self.take(request),
                Err(TryRecvError::Disconnected) => return,
                Err(TryRecvError::Empty) => self.step(),
            };
            if let Err(error) = done {
                self.rest();
                self.reader = None;
                (self.tell)(Finding::Trouble(format!("{error}; {}", error.hint())));
            }
        }
    }

    /// Does a slice of unfinished work; what is on screen comes first.
    fn step(&mut self) -> Result<(), StoreError> {
        let Some(reader) = &self.reader else {
            self.rest();
            return Ok(());
        };
        if let Some(searching) = &mut self.searching {
            if let Some(page) = searching.step(reader, self.index.as_ref())? {
                if page.progress != Progress::Searching {
                    self.searching = None;
                }
                (self.tell)(Finding::Page(page));
            }
            return Ok(());
        }
        match self.counting {
            Work::Busy(slices) => self.count(slices),
            Work::Idle if self.checking.is_some() => self.check(),
            Work::Idle => self.fill(),
        }
    }

    fn rest(&mut self) {
        self.searching = None;
        self.counting = Work::Idle;
        self.filling = Work::Idle;
        self.checking = None;
    }

    fn take(&mut self, request: LogRequest) -> Result<(), StoreError> {
        match request {
            LogRequest::Page(wanted) => {
                if let Some(reader) = self.open()? {
                    self.searching = Some(Searching::begin(wanted, reader)?);
                    self.begin_filling();
                }
            }
            LogRequest::Record { seq } => {
                // The rules here say nothing of another machine's calls.
                let own = self.elsewhere.is_none();
                let policy = own.then(|| rule_book::tried(&self.sources.places, &Which::Written).ok()).flatten();
                self.open()?;
                if let Some(reader) = &self.reader {
                    let opened = opened(reader, self.index.as_ref(), policy.as_ref(), seq)?;
                    (self.tell)(Finding::Record(seq, opened.map(Box::new)));
                }
            }
            LogRequest::PastCall { seq } => {
                if self.open()?.is_some() {
                    let call = self.past_call(seq)?;
                    (self.tell)(Finding::PastCall(seq, call));
                }
            }
            LogRequest::Count => {
                if self.open()?.is_some() && self.counting == Work::Idle {
                    self.load_counts();
                    self.counting = Work::Busy(0);
                    self.begin_filling();
                }
            }
            LogRequest::Verify => {
                // Read before the log is opened, which may grow meanwhile.
                let noted = noted::read(&self.sources.log);
                if let Some(reader) = self.open()? {
                    let newest = reader.newest()?;
                    let verifying = Verifying::new(reader, None);
                    self.checking = Some(Checking { verifying, noted, newest, slices: 0 });
                }
            }
            LogRequest::Recent => {
                if let Some(reader) = self.open()? {
                    let recent = recent(reader)?;
                    (self.tell)(Finding::Recent(recent));
                }
            }
            LogRequest::Before { server, tool } => {
                let now = (self.sources.now)();
                self.open()?;
                if let Some(reader) = &self.reader {
                    let found = before(reader, self.index.as_ref(), (server, tool), now)?;
                    (self.tell)(Finding::Before(found));
                }
            }
            LogRequest::Pins => match self.pins.read((self.sources.now)()) {
                Ok(None) => {}
                Ok(Some(book)) => (self.tell)(Finding::Pins(Arc::new(book))),
                Err(why) => (self.tell)(Finding::PinsTrouble(why)),
            },
            LogRequest::Rules => {
                let book = rule_book::read(&self.sources.places, (self.sources.now)());
                (self.tell)(Finding::Rules(Arc::new(book)));
            }
            LogRequest::Footprints(pids) => {
                let measured = |pid: u32| footprint(pid).map(|bytes| (pid, bytes));
                (self.tell)(Finding::Footprints(pids.into_iter().filter_map(measured).collect()));
            }
            LogRequest::Hosts => (self.tell)(Finding::Hosts(unwrapped())),
            LogRequest::TourSeen => {
                // If this fails, the tour comes again; nothing else is lost.
                if let Err(error) = fs::write(self.sources.places.tour_seen(), "") {
                    tracing::warn!(%error, "that the tour was seen is not remembered");
                }
            }
            LogRequest::Try(trial) => {
                // If that thread has panicked, the panel counts without end; the command line still gives the result.
                let _ = self.trial.send(trial);
            }
        }
        Ok(())
    }

    fn open(&mut self) -> Result<Option<&Reader>, StoreError> {
        if let Some(open) = &self.elsewhere {
            // A connection is kept while it is of use: see `run`.
            self.reader = Some(self.reader.take().map_or_else(open, Ok)?);
            return Ok(self.reader.as_ref());
        }
        self.reader = None;
        self.reader = Reader::open(&self.sources.log)?;
        match &self.reader {
            Some(reader) => self.index = slices::index(self.index.take(), &self.sources.log, reader)?,
            None => {
                self.index = None;
                (self.tell)(Finding::NoLog);
            }
        }
        Ok(self.reader.as_ref())
    }

    fn past_call(&self, seq: u64) -> Result<Result<Box<PastCall>, String>, StoreError> {
        let Some(reader) = &self.reader else { return Ok(Err("there is no log".to_owned())) };
        let Some(record) = query::at(reader, seq)? else {
            return Ok(Err("the log has no such record".to_owned()));
        };
        let call = past::call_of(&record, &of_same_ticket(reader, self.index.as_ref(), &record)?);
        Ok(call.map(Box::new).ok_or_else(|| "no policy ruled on it, or its record does not tell how".to_owned()))
    }

    fn count(&mut self, slices: u64) -> Result<(), StoreError> {
        let Some(reader) = &self.reader else { return Ok(()) };
        let newest = reader.newest()?;
        if newest < self.counts.upto {
            // Another log took its place.
            self.counts = Counts::default();
        }
        let from = self.counts.upto + 1;
        let counts = &mut self.counts;
        counts.newest = newest;
        let mut read = 0;
        reader.each_from(ReadOrder::OldestFirst, from, SLICE, &mut |row| {
            read += 1;
            counts.upto = u64::try_from(row.seq).unwrap_or(counts.upto + 1);
            match Fields::of_row(&row) {
                Some(fields) => {
                    counts.tally.take(&fields);
                    counts.sessions.take(&fields);
                }
                None => counts.tally.unreadable += 1,
            }
            ControlFlow::Continue(())
        })?;
        let over = read < SLICE;
        self.counting = if over { Work::Idle } else { Work::Busy((slices + 1) % REPORT) };
        if over || slices == REPORT - 1 {
            (self.tell)(Finding::Counts(Arc::new(self.counts.clone())));
            self.save_counts(over);
        }
        Ok(())
    }

    fn check(&mut self) -> Result<(), StoreError> {
        let (Some(reader), Some(mut checking)) = (&self.reader, self.checking.take()) else { return Ok(()) };
        let mut read = 0;
        reader.each_from(ReadOrder::OldestFirst, checking.verifying.read() + 1, SLICE, &mut |row| {
            read += 1;
            checking.verifying.take(&row)
        })?;
        checking.slices += 1;
        if read == SLICE && checking.verifying.broken().is_none() {
            if checking.slices.is_multiple_of(REPORT) {
                let (holds, until) = (checking.verifying.read(), Some(checking.newest));
                (self.tell)(Finding::Verified(Checked { holds, until, wrong: None }));
            }
            self.checking = Some(checking);
            return Ok(());
        }
        let verified = checking.verifying.done(reader)?;
        let wrong = verified.wrong(&checking.noted, reader)?.map(|why| visible(&why));
        (self.tell)(Finding::Verified(Checked { holds: verified.head.seq, until: None, wrong }));
        Ok(())
    }
}

/// The last calls that were decided, with their answers, the oldest first.
fn recent(reader: &Reader) -> Result<Vec<Line>, StoreError> {
    const MOST: usize = 300;
    let mut lines = Vec::new();
    reader.each_from(ReadOrder::NewestFirst, reader.newest()?, SLICE, &mut |row| {
        let line = Line::of(&Record::new(&row));
        if matches!(line.kind, Some(Kind::Decision | Kind::Outcome | Kind::Fault)) {
            lines.push(line);
        }
        if lines.len() < MOST { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    lines.reverse();
    Ok(lines)
}

fn before(
    reader: &Reader,
    index: Option<&Index>,
    (server, tool): (String, String),
    now: i64,
) -> Result<Before, StoreError> {
    let mut found = Before { server, tool, ..Before::default() };
    let wanted = format!("kind:decision by:operator {}", exactly("tool", &found.tool));
    let Ok(search) = Search::read(&wanted, Clock { now, offset: 0 }) else { return Ok(found) };
    let search = search.from(Some(now - Before::DAYS * 86_400_000));
    for line in query::last(reader, index, &search, Before::MOST)?.iter().map(Line::of) {
        // A second wrapper of the same server has a number in its name.
        let is_its = rules_name(&line.server) == rules_name(&found.server);
        let Some((verdict, time)) = line.verdict.zip(line.time).filter(|_| is_its) else { continue };
        match verdict {
            VerdictWord::Approve => found.approved += 1,
            VerdictWord::Deny => found.denied += 1,
        }
        found.last = Some((verdict, line.who, time));
    }
    Ok(found)
}

fn unwrapped() -> Vec<Unwrapped> {
    let Ok(user) = user::current() else { return Vec::new() };
    let lists = hosts::lists(&hosts::Search::here(user.home).files());
    let is_bare = |start| matches!(start, Start::Unwrapped | Start::Elsewhere | Start::Bundle);
    let bare = lists.servers.into_iter().filter(|server| is_bare(server.start));
    bare.map(|server| Unwrapped { list: server.list(), host: server.host.to_owned(), server: server.name }).collect()
}

/// Rules that are named beside the one that decides.
const NEAR: usize = 3;

pub(super) fn opened(
    reader: &Reader,
    index: Option<&Index>,
    policy: Option<&Policy>,
    seq: u64,
) -> Result<Option<Opened>, StoreError> {
    let Some(record) = query::at(reader, seq)? else { return Ok(None) };
    let link = reader.follows(seq)?;
    let of_ticket = of_same_ticket(reader, index, &record)?;
    let line = Line::of(&record);
    // Another run of a wrapper gives out the same tickets.
    let others = of_ticket.iter().map(Line::of).filter(|one| one.session == line.session && one.seq != line.seq);
    let beside = others.collect();
    let call = policy.and_then(|_| past::call_of(&record, &of_ticket));
    let explained = call.zip(policy).map(|(call, policy)| explained(&call, policy));
    Ok(Some(Opened { newest: reader.newest()?, line, record, link, beside, explained }))
}

/// All records of the ticket that a record names, the oldest first.
fn of_same_ticket(reader: &Reader, index: Option<&Index>, record: &Record) -> Result<Vec<Record>, StoreError> {
    match record.fields().and_then(|fields| fields.ticket) {
        Some(ticket) => query::of_ticket(reader, index, &ticket),
        None => Ok(Vec::new()),
    }
}

fn explained(call: &PastCall, policy: &Policy) -> Explained {
    let question = call.question(None);
    Explained {
        ruling: decide(policy, &question),
        near: nearest(policy, &question, &policy.roots, NEAR),
        certain: if is_obscured(&call.arguments) { Certain::Perhaps } else { Certain::Yes },
    }
}

/// How many processes of one tree are added up; for a server with more, the number shown is too low.
const PROCESSES: usize = 256;

/// Bytes that are resident of this process and its descendants; `None` where the system does not say.
fn footprint(pid: u32) -> Option<u64> {
    let (mut all, mut open) = (resident(pid)?, children(pid));
    for _ in 1..PROCESSES {
        let Some(pid) = open.pop() else { break };
        // A child may have ended meanwhile.
        all = all.saturating_add(resident(pid).unwrap_or(0));
        open.extend(children(pid));
    }
    Some(all)
}

fn resident(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

fn children(pid: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let of_thread = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("children")).unwrap_or_default();
    let children: String = threads.flatten().map(of_thread).collect::<Vec<_>>().join(" ");
    children.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}
