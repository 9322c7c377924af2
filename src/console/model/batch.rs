//! Calls that are decided together: which are ticked, how much of each was on the screen, and so which verdicts `y` sends.
//! Knows no card and no width: what is listed of a call are so many rows.

use std::ops::Range;

use super::call::{ARMING, Armed, Reading, Seen, Shown};
use crate::console::card::Card;
use crate::console::keymap::Action;
use crate::link::message::OperatorVerdict;
use crate::text::row::Row;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    Approve(Reading),
    Deny { reason: String },
}

#[derive(Clone, Debug)]
pub struct Batch {
    pub fate: Fate,
    pub members: Vec<Member>,
    /// The call that is ticked and opened.
    pub at: usize,
    pub top: usize,
    /// The columns and rows that the members were laid out for.
    pub room: (usize, usize),
    /// When the last frame with these rows was drawn first, and the rows.
    frame: Option<(Range<usize>, i64)>,
    /// When the list was on the screen first.
    since: Option<i64>,
}

#[derive(Clone, Debug)]
pub struct Member {
    pub armed: Armed,
    pub tick: Tick,
    /// Its first row: what kind of call it is.
    pub line: Row,
    pub text: Text,
    /// How much of its card was on the screen before.
    pub before: Seen,
    /// The rows of it that were on the screen long enough.
    shown: Shown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tick {
    Ticked,
    Left,
}

#[derive(Clone, Debug)]
pub enum Text {
    /// Nothing but, on a desk, a name for which its line has no room: its card was read, or need not be.
    Line(Vec<Row>),
    /// Nothing: it is identical with this member before it.
    Like(usize),
    /// Everything that must be read of it.
    Whole(Vec<Row>),
    /// The beginning of that: only once it is opened, it can have been read.
    Cut(Vec<Row>),
    /// Opened: the part of its card that must be read.
    Card(Box<Card>),
}

impl Member {
    pub fn new(armed: Armed, before: Seen, line: Row, text: Text) -> Self {
        Self { armed, tick: Tick::Ticked, line, text, before, shown: Shown::default() }
    }

    pub fn rows(&self) -> usize {
        1 + match &self.text {
            Text::Like(_) => 0,
            Text::Line(rows) | Text::Whole(rows) | Text::Cut(rows) => rows.len(),
            Text::Card(card) => card.arguments_end,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlisted {
    /// The list was not long enough on the screen without a key.
    TooSoon,
    /// Its last row was not on the screen; of calls that are to be read, none was read.
    Unread,
}

impl Batch {
    pub fn new(fate: Fate, members: Vec<Member>, room: (usize, usize)) -> Self {
        Self { fate, members, at: 0, top: 0, room, frame: None, since: None }
    }

    pub fn rows(&self) -> usize {
        self.members.iter().map(Member::rows).sum()
    }

    /// Each member with the rows of the list that it takes.
    pub fn placed(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        self.members.iter().enumerate().scan(0, |end, (at, member)| {
            let from = *end;
            *end += member.rows();
            Some((at, from..*end))
        })
    }

    fn place(&self, member: usize) -> Range<usize> {
        self.placed().nth(member).map_or(0..0, |(_, rows)| rows)
    }

    /// These rows count as shown once they have been there for [`ARMING`]: what only flashed by was not read.
    pub fn drawn(&mut self, rows: Range<usize>, now: i64) {
        self.since = self.since.or(Some(now));
        self.count(now);
        if self.frame.as_ref().is_none_or(|(last, _)| *last != rows) {
            self.frame = Some((rows, now));
        }
    }

    /// Counts the rows of the last frame as shown if they have been on the screen long enough by now.
    pub fn count(&mut self, now: i64) {
        let Some((frame, _)) = self.frame.clone().filter(|(_, since)| now - since >= ARMING) else { return };
        let places: Vec<_> = self.placed().collect();
        for (at, place) in places {
            let (from, to) = (frame.start.max(place.start), frame.end.min(place.end));
            if from < to {
                self.members[at].shown.add(from - place.start..to - place.start);
            }
        }
    }

    /// Nothing that was on the screen until now goes on counting.
    pub fn interrupted(&mut self) {
        (self.frame, self.since) = (None, None);
    }

    /// Whether all of a call that must be read was on the screen, here or before.
    pub fn is_read(&self, member: usize) -> bool {
        let Some(one) = self.members.get(member) else { return false };
        match &one.text {
            Text::Line(_) => self.was_shown(member) && one.before == Seen::Whole,
            Text::Like(first) => self.was_shown(member) && *first < member && self.is_read(*first),
            Text::Cut(_) => one.before == Seen::Whole,
            Text::Whole(_) | Text::Card(_) => one.before == Seen::Whole || self.was_shown(member),
        }
    }

    fn was_shown(&self, member: usize) -> bool {
        self.members.get(member).is_some_and(|one| one.shown.seen(one.rows()) == Seen::Whole)
    }

    /// What `y` sends: a verdict for each ticked call that was shown, but for one that is to be read and was not.
    pub fn verdicts(&self) -> Vec<(&Armed, OperatorVerdict)> {
        let verdict = |at: usize, member: &Member| match &self.fate {
            Fate::Deny { reason } => Some(OperatorVerdict::Deny { reason: reason.clone() }),
            Fate::Approve(Reading::Read) => self.is_read(at).then_some(OperatorVerdict::Approve { unread: false }),
            Fate::Approve(Reading::Unread) => Some(OperatorVerdict::Approve { unread: member.before != Seen::Whole }),
        };
        let ticked = self.members.iter().enumerate().filter(|(_, member)| member.tick == Tick::Ticked);
        ticked.filter_map(|(at, member)| Some((&member.armed, verdict(at, member)?))).collect()
    }

    /// Whether `y` counts now, if what is on the screen has stood there untouched or not.
    pub fn may(&self, now: i64, stood: bool) -> Result<(), Unlisted> {
        if self.since.is_none_or(|since| now - since < ARMING) || !stood {
            return Err(Unlisted::TooSoon);
        }
        let is_read = match self.fate {
            Fate::Approve(Reading::Read) => !self.verdicts().is_empty(),
            // Enough that each has been listed: the end of the list was on the screen.
            Fate::Approve(Reading::Unread) | Fate::Deny { .. } => {
                self.members.len().checked_sub(1).is_some_and(|last| self.was_shown(last))
            }
        };
        if is_read { Ok(()) } else { Err(Unlisted::Unread) }
    }

    /// How long the list has been on the screen, in milliseconds.
    pub fn took(&self, now: i64) -> i64 {
        self.since.map_or(0, |since| now - since)
    }

    /// `space`: ticks the call, or takes its tick back, and goes on to the next.
    pub fn tick(&mut self, page: usize) {
        if let Some(member) = self.members.get_mut(self.at) {
            member.tick = if member.tick == Tick::Ticked { Tick::Left } else { Tick::Ticked };
        }
        self.select(self.at + 1, page);
    }

    /// `*`: ticks every call; where all are, none.
    pub fn tick_all(&mut self) {
        let all = self.members.iter().all(|member| member.tick == Tick::Ticked);
        self.members.iter_mut().for_each(|member| member.tick = if all { Tick::Left } else { Tick::Ticked });
    }

    /// Lists something else of the selected call: what was shown of it before does not count.
    pub fn turn(&mut self, text: Text, page: usize, now: i64) {
        self.count(now);
        self.frame = None;
        let was_read = self.is_read(self.at);
        if let Some(one) = self.members.get_mut(self.at) {
            (one.text, one.shown) = (text, Shown::default());
            one.before = if was_read { Seen::Whole } else { one.before };
        }
        self.select(self.at, page);
    }

    /// The same calls, laid out for other room. Ticks stay; nothing that was shown counts.
    pub fn lay(&mut self, members: Vec<Member>, room: (usize, usize), page: usize) {
        for (new, old) in members.into_iter().zip(&mut self.members) {
            *old = Member { tick: old.tick, ..new };
        }
        self.room = room;
        self.interrupted();
        self.select(self.at, page);
    }

    /// The calls that were read here and not before; from now on they were.
    pub fn newly_read(&mut self) -> Vec<Armed> {
        let is_new = |at: &usize| self.members[*at].before != Seen::Whole && self.is_read(*at);
        let new: Vec<usize> = (0..self.members.len()).filter(is_new).collect();
        new.iter().for_each(|at| self.members[*at].before = Seen::Whole);
        new.iter().map(|at| self.members[*at].armed.clone()).collect()
    }

    /// `j` and `k`: to the next call or the one before, or by a row while the call has more of them than the screen.
    pub fn step(&mut self, action: Action, page: usize) {
        let (place, bottom) = (self.place(self.at), self.top + page);
        match action {
            Action::Down if place.end > bottom && place.start <= self.top => self.top += 1,
            Action::Down => self.select(self.at + 1, page),
            Action::Up if place.start < self.top => self.top -= 1,
            Action::Up => self.select(self.at.saturating_sub(1), page),
            _ => {}
        }
    }

    /// Scrolls to this row, and selects the first call that begins on the screen.
    pub fn scroll(&mut self, top: usize, page: usize) {
        self.top = top.min(self.rows().saturating_sub(page));
        let on_screen = self.top..self.top + page;
        let begins = |(_, place): &(usize, Range<usize>)| on_screen.contains(&place.start);
        let around = |(_, place): &(usize, Range<usize>)| place.contains(&on_screen.start);
        let here = self.placed().find(begins).or_else(|| self.placed().find(around));
        self.at = here.map_or(0, |(at, _)| at);
    }

    /// Selects a call, and scrolls as little as shows all of it, or its first rows.
    fn select(&mut self, member: usize, page: usize) {
        self.at = member.min(self.members.len().saturating_sub(1));
        let place = self.place(self.at);
        let top = self.top.max(place.end.saturating_sub(page));
        self.top = top.min(place.start);
    }
}
