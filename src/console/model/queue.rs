//! The calls that wait: order, lines, identical calls as one row, selection, marks. Owns what is identical; draws nothing.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use super::call::{CallKey, Decisions, Held};
use super::lists::ListState;
use crate::audit::{Field, Search};
use crate::console::card::OnDesk;
use crate::console::risk::Risk;
use crate::gate::data::snapshot::Snapshot;

#[derive(Debug, Default)]
pub struct Queue {
    /// In order of arrival at this console. Changed by [`Queue::push`], [`Queue::remove`] and [`Queue::retain`], which keep the index.
    pub calls: Vec<Held>,
    index: Index,
    pub sort: Sort,
    pub grouping: Grouping,
    pub filter: ListState,
    pub(in crate::console) last_class: u64,
    laid: Rows,
    laid_is: Laid,
    selected_at: usize,
    pub selected: Option<CallKey>,
    pub picked: Picked,
    pub top: usize,
    /// Calls the operator marked; those that are over no longer count.
    pub marked: BTreeSet<CallKey>,
    pub decisions: Decisions,
    /// Reasons of earlier denials, the last first.
    pub reasons: VecDeque<String>,
    /// The call that this console decided last, alone, until its wrapper says what became of it.
    pub confirming: Option<CallKey>,
}

/// Where each call is in the list of calls: what comes, changes or ends is found without reading all of them.
#[derive(Debug, Default)]
struct Index {
    /// Where a call was put; since then, at most `removed` calls before it have gone.
    places: HashMap<CallKey, usize>,
    removed: usize,
    /// Calls that may be identical, by their likeness.
    alike: HashMap<u64, Vec<CallKey>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    #[default]
    Oldest,
    Risk,
    /// By the server's name, the oldest first.
    Server,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    #[default]
    Identical,
    Each,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Picked {
    /// No one: it is the oldest known call, and until it is armed an older one takes its place.
    #[default]
    ByArrival,
    ByOperator,
}

/// One row of the queue: a call, and those that wait beside it and are identical but for their ticket and time.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    pub lead: &'a Held,
    pub rest: Vec<&'a Held>,
}

impl<'a> Group<'a> {
    pub fn members(&self) -> impl Iterator<Item = &'a Held> {
        std::iter::once(self.lead).chain(self.rest.iter().copied())
    }

    pub fn count(&self) -> usize {
        1 + self.rest.len()
    }
}

/// The queue as it was last laid out, as indexes into the list of calls.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    order: Vec<usize>,
    rows: Vec<Vec<usize>>,
    /// The row of each call, by its index in the list of calls; `None` where the filter leaves it out.
    row_of: Vec<Option<usize>>,
    /// When sorted by server, the rows of each server; empty if there is only one.
    servers: Vec<Range<usize>>,
}

/// Whether the queue as it was last laid out still fits the calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Laid {
    /// Calls may have come, changed or gone since.
    #[default]
    Perhaps,
    AsCalls,
}

impl Rows {
    fn lay(calls: &[Held], sort: Sort, grouping: Grouping, filter: &ListState) -> Self {
        let wanted = |at: &usize| calls.get(*at).is_some_and(|held| wants(&filter.search, held));
        let mut order: Vec<usize> = (0..calls.len()).filter(wanted).collect();
        // What is over is behind what waits, or it would hide that.
        match sort {
            // By when the wrappers held the calls, not by when this console heard of them.
            Sort::Oldest => order.sort_by_key(|at| {
                let held = &calls[*at];
                (held.is_over(), held.snapshot.arrived, &held.key.session)
            }),
            Sort::Risk => order.sort_by_cached_key(|at| {
                let held = &calls[*at];
                (held.is_over(), std::cmp::Reverse(Risk::of(&held.snapshot)), held.snapshot.arrived)
            }),
            Sort::Server => order.sort_by_key(|at| {
                let held = &calls[*at];
                (&held.server, held.is_over(), &held.key.session, held.snapshot.arrived)
            }),
        }
        let mut rows: Vec<Vec<usize>> = Vec::with_capacity(calls.len());
        let mut row_of = vec![None; calls.len()];
        let mut open: HashMap<u64, usize> = HashMap::new();
        for at in &order {
            let held = &calls[*at];
            let joins = grouping == Grouping::Identical && held.waits();
            let row = if joins { *open.entry(held.class).or_insert(rows.len()) } else { rows.len() };
            match rows.get_mut(row) {
                Some(members) => members.push(*at),
                None => rows.push(vec![*at]),
            }
            row_of[*at] = Some(row);
        }
        let mut servers: Vec<Range<usize>> = Vec::new();
        if sort == Sort::Server {
            let name = |row: usize| Some(&calls.get(*rows.get(row)?.first()?)?.server);
            for row in 0..rows.len() {
                match servers.last_mut() {
                    Some(last) if name(last.start) == name(row) => last.end = row + 1,
                    _ => servers.push(row..row + 1),
                }
            }
        }
        if servers.len() < 2 {
            servers.clear();
        }
        Self { order, rows, row_of, servers }
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// The lines of the queue: a row each or, when sorted by server, a line for each server, with the rows of one below it.
#[derive(Clone, Debug)]
pub struct Lines {
    rows: usize,
    servers: Vec<Range<usize>>,
    /// The server of the selected call.
    open: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueLine {
    Row(usize),
    /// The rows of a server; shown below it or not.
    Server(Range<usize>),
}

impl Lines {
    fn opened(&self) -> Range<usize> {
        self.servers.get(self.open).cloned().unwrap_or_default()
    }

    pub fn names_servers(&self) -> bool {
        !self.servers.is_empty()
    }

    pub fn count(&self) -> usize {
        if self.servers.is_empty() { self.rows } else { self.servers.len() + self.opened().len() }
    }

    pub fn get(&self, line: usize) -> Option<QueueLine> {
        if self.servers.is_empty() {
            return (line < self.rows).then_some(QueueLine::Row(line));
        }
        let opened = self.opened();
        match line.checked_sub(self.open + 1) {
            Some(below) if below < opened.len() => Some(QueueLine::Row(opened.start + below)),
            Some(below) => self.servers.get(self.open + 1 + below - opened.len()).cloned().map(QueueLine::Server),
            None => self.servers.get(line).cloned().map(QueueLine::Server),
        }
    }

    /// The line of a row, or of its server if the row is not shown.
    pub fn line_of(&self, row: usize) -> usize {
        let opened = self.opened();
        match self.servers.iter().position(|rows| rows.contains(&row)) {
            None => row,
            Some(server) if server == self.open => server + 1 + (row - opened.start),
            Some(server) if server > self.open => server + opened.len(),
            Some(server) => server,
        }
    }

    /// The first row of the server after or before that of the selected call; `None` if not sorted by server.
    pub fn neighbour(&self, ahead: bool) -> Option<usize> {
        let at = if ahead { self.open + 1 } else { self.open.checked_sub(1)? };
        self.servers.get(at).map(|rows| rows.start)
    }
}

impl Queue {
    pub fn call(&self, key: &CallKey) -> Option<&Held> {
        self.calls.get(self.place_of(key)?)
    }

    pub fn selection(&self) -> Option<&Held> {
        self.call(self.selected.as_ref()?)
    }

    pub fn waiting(&self) -> usize {
        self.calls.iter().filter(|held| held.waits()).count()
    }

    pub(in crate::console) fn call_mut(&mut self, key: &CallKey) -> Option<&mut Held> {
        let at = self.place_of(key)?;
        self.calls.get_mut(at)
    }

    pub(in crate::console) fn push(&mut self, held: Held) {
        self.index.places.insert(held.key.clone(), self.calls.len());
        self.note_alike(held.likeness, &held.key);
        self.calls.push(held);
    }

    /// The likeness of a call is another now.
    pub(in crate::console) fn note_alike(&mut self, likeness: u64, key: &CallKey) {
        self.index.alike.entry(likeness).or_default().push(key.clone());
    }

    pub(in crate::console) fn remove(&mut self, key: &CallKey) {
        let Some(at) = self.place_of(key) else { return };
        self.calls.remove(at);
        self.index.places.remove(key);
        self.removed(1);
    }

    pub(in crate::console) fn retain(&mut self, keep: impl Fn(&Held) -> bool) {
        let before = self.calls.len();
        let Self { calls, index, .. } = self;
        calls.retain(|held| {
            let stays = keep(held);
            if !stays {
                index.places.remove(&held.key);
            }
            stays
        });
        self.removed(before - self.calls.len());
    }

    fn removed(&mut self, calls: usize) {
        /// How many calls are looked at for one, at most.
        const MANY: usize = 64;
        self.index.removed += calls;
        if self.index.removed > MANY {
            self.index = Index::default();
            for (at, held) in self.calls.iter().enumerate() {
                self.index.places.insert(held.key.clone(), at);
                self.index.alike.entry(held.likeness).or_default().push(held.key.clone());
            }
        }
    }

    /// The calls that may be identical with one of this likeness.
    pub(in crate::console) fn alike(&self, likeness: u64) -> impl Iterator<Item = &Held> {
        let keys = self.index.alike.get(&likeness).into_iter().flatten();
        keys.filter_map(|key| self.call(key)).filter(move |held| held.likeness == likeness)
    }

    pub(in crate::console) fn live(&self) -> Vec<&Snapshot> {
        self.calls.iter().filter(|held| !held.is_over()).map(|held| &*held.snapshot).collect()
    }

    pub fn marked_calls(&self) -> Vec<&Held> {
        if self.marked.is_empty() {
            return Vec::new();
        }
        self.waiting_where(|held| self.marked.contains(&held.key))
    }

    /// What a decision would be about: the marked calls, otherwise the selected row.
    pub fn targets(&self) -> Vec<&Held> {
        let marked = self.marked_calls();
        if !marked.is_empty() {
            return marked;
        }
        self.selected_group().map_or_else(Vec::new, |group| group.members().collect())
    }

    pub fn waiting_of(&self, session: &str) -> Vec<&Held> {
        self.waiting_where(|held| held.key.session == session)
    }

    /// The waiting calls that are wanted, oldest first, including those that the queue's filter leaves out.
    fn waiting_where(&self, wanted: impl Fn(&Held) -> bool) -> Vec<&Held> {
        let wanted = |held: &&Held| held.waits() && wanted(held);
        let mut calls: Vec<&Held> = self.calls.iter().filter(wanted).collect();
        calls.sort_by_key(|held| (held.snapshot.arrived, &held.key.session));
        calls
    }

    pub fn order(&self) -> Vec<&Held> {
        self.rows().order.iter().filter_map(|at| self.calls.get(*at)).collect()
    }

    pub fn group(&self, rows: &Rows, row: usize) -> Option<Group<'_>> {
        let mut members = rows.rows.get(row)?.iter().filter_map(|at| self.calls.get(*at));
        Some(Group { lead: members.next()?, rest: members.collect() })
    }

    /// The rows of the queue: as they were last laid out, or laid out again if the calls have changed since.
    pub fn rows(&self) -> Cow<'_, Rows> {
        if self.laid_is == Laid::AsCalls && self.laid.row_of.len() == self.calls.len() {
            return Cow::Borrowed(&self.laid);
        }
        Cow::Owned(Rows::lay(&self.calls, self.sort, self.grouping, &self.filter))
    }

    /// Keeps the rows for the next frames, and the place of the selected call.
    pub(in crate::console) fn keep_rows(&mut self) {
        if let Cow::Owned(rows) = self.rows() {
            self.laid = rows;
        }
        self.laid_is = Laid::AsCalls;
        self.selected_at = self.selected.as_ref().and_then(|key| self.place_of(key)).unwrap_or(0);
    }

    /// Something is about to change: the rows are laid out again before they are used.
    pub(in crate::console) fn invalidate_rows(&mut self) {
        self.laid_is = Laid::Perhaps;
    }

    /// How many lines the queue has; if there are many, at least as many as a screen shows. Called for each message, so
    /// it lays out nothing for many calls.
    pub(in crate::console) fn line_count(&self) -> usize {
        const MANY: usize = 16;
        match self.calls.len() {
            ..MANY => self.lines(&self.rows()).count(),
            many if self.filter.find.is_empty() && self.sort != Sort::Server => many,
            _ => self.lines(&self.laid).count(),
        }
    }

    /// Where a call is in the list of calls. The selected one is asked for many times a frame.
    pub(super) fn place_of(&self, key: &CallKey) -> Option<usize> {
        let is = |held: &Held| held.key.ticket == key.ticket && held.key.session == key.session;
        match self.calls.get(self.selected_at) {
            Some(held) if is(held) => Some(self.selected_at),
            _ => {
                let at = *self.index.places.get(key)?;
                (at.saturating_sub(self.index.removed)..=at).rev().find(|at| self.calls.get(*at).is_some_and(is))
            }
        }
    }

    pub fn selected_row(&self, rows: &Rows) -> Option<usize> {
        rows.row_of.get(self.place_of(self.selected.as_ref()?)?).copied().flatten()
    }

    pub fn lines(&self, rows: &Rows) -> Lines {
        let at = self.selected_row(rows).unwrap_or(0);
        let open = rows.servers.iter().position(|rows| rows.contains(&at)).unwrap_or(0);
        Lines { rows: rows.len(), servers: rows.servers.clone(), open }
    }

    pub fn calls_of(&self, rows: &Rows, of: Range<usize>) -> (usize, i64) {
        let calls = rows.rows.get(of).unwrap_or_default().iter().flatten().filter_map(|at| self.calls.get(*at));
        calls.fold((0, i64::MAX), |(count, oldest), held| (count + 1, oldest.min(held.snapshot.arrived)))
    }

    /// The first line on screen if `page` lines fit: as before, unless the selected line would not be visible.
    pub fn first_line(&self, rows: &Rows, page: usize) -> usize {
        let (page, lines) = (page.max(1), self.lines(rows));
        let at = self.selected_row(rows).map_or(0, |row| lines.line_of(row));
        let top = self.top.min(lines.count().saturating_sub(page));
        // Its server stays in sight above the first call.
        let is_first = page > 1 && at > 0 && matches!(lines.get(at - 1), Some(QueueLine::Server(_)));
        top.clamp((at + 1).saturating_sub(page), if is_first { at - 1 } else { at })
    }

    pub fn selected_group(&self) -> Option<Group<'_>> {
        let lead = self.selection()?;
        let mut rest = Vec::new();
        if self.grouping == Grouping::Identical && lead.waits() {
            let alike = |held: &&Held| held.class == lead.class && held.key != lead.key && held.waits();
            rest.extend(self.calls.iter().filter(alike));
            rest.sort_by_key(|held| held.snapshot.arrived);
        }
        Some(Group { lead, rest })
    }

    /// The class for a call that has just come or changed: that of the calls it is identical with, otherwise a new one.
    pub(in crate::console) fn classify(
        &mut self,
        session: &str,
        snapshot: &Snapshot,
        desk: Option<&OnDesk>,
    ) -> (u64, u64) {
        let hash = hash(session, snapshot);
        let same = |held: &&Held| {
            held.key.session == session && held.desk.as_ref() == desk && identical(&held.snapshot, snapshot)
        };
        let known = self.alike(hash).find(same).map(|held| held.class);
        match known {
            Some(class) => (class, hash),
            None => {
                self.last_class += 1;
                (self.last_class, hash)
            }
        }
    }
}

/// Whether the filter wants a call: its fields, and its words anywhere in what its row and its card say of it.
fn wants(search: &Search, held: &Held) -> bool {
    const LONGEST: usize = 64 << 10;
    let call = &held.snapshot;
    let machine = held.place();
    let user = held.desk.as_ref().map(|desk| call.signs.as_ref().map_or(&*desk.at.user, |signs| &signs.user));
    let fields = [
        (Field::Server, Some(held.server.as_str())),
        (Field::Machine, machine.as_deref()),
        (Field::User, user),
        (Field::Session, Some(held.key.session.as_str())),
        (Field::Ticket, Some(call.ticket.as_str())),
        (Field::Tool, Some(call.tool.as_str())),
        (Field::Badge, Some(call.badge().word())),
        (Field::Rule, call.ruling.rule.as_deref()),
    ];
    search.wants(Some(call.arrived), &fields, || {
        let arguments = if call.arguments.len() > LONGEST { "" } else { call.arguments.as_str() };
        let mark = Risk::of(call).word;
        format!("{} {} {} {mark} {} {arguments}", held.server, call.tool, call.ticket, call.effect).to_lowercase()
    })
}

/// Only a first filter: calls with equal hashes are compared in full.
fn hash(session: &str, snapshot: &Snapshot) -> u64 {
    let mut hasher = DefaultHasher::new();
    // Each signature is for one call: cards that ask for one are never identical.
    let signs = snapshot.signs.as_ref().map(|signs| &signs.ticket);
    (session, &snapshot.tool, &snapshot.arguments, signs).hash(&mut hasher);
    hasher.finish()
}

/// Whether two cards differ in nothing that an operator decides by: only ticket, digest, length, times and who asks.
fn identical(one: &Snapshot, other: &Snapshot) -> bool {
    let mut like = other.clone();
    (like.digest, like.bytes, like.arrived, like.deadline) = (one.digest, one.bytes, one.arrived, one.deadline);
    (like.ticket, like.caller, like.earlier) = (one.ticket.clone(), one.caller.clone(), one.earlier.clone());
    (like.runs_after, like.silence) = (one.runs_after.clone(), one.silence.clone());
    (like.occurrence, like.salt) = (one.occurrence, one.salt);
    *one == like
}
