//! What follows from the events of one step: effects, entries of the log, what consoles are shown, when to be woken. A
//! step adds to it, and reads nothing back but the time and how many consoles watch.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde::Serialize;

use crate::audit::{By, Entry, Kind, VerdictWord};
use crate::behavior::Agreement;
use crate::gate::config::Config;
use crate::gate::data::effect::Effect;
use crate::gate::data::event::{Now, Operator, OperatorWord, Said, Side};
use crate::gate::data::report::{Activity, ActivityKind, CallEnd, Direction, Status};
use crate::gate::held::{Held, Judged, Verdict};
use crate::gate::state::passed::{Passed, Refusals};
use crate::gate::state::secrets::Secrets;
use crate::wire::{Digest, Origin, number::push_number};

/// The effects of the current step, in order, and what every entry of the log begins with.
#[derive(Debug)]
pub struct Out {
    pub now: Now,
    /// The latest time of day that was seen, in milliseconds.
    pub latest: i64,
    /// How many consoles on this machine are attached, how many connections to the desk, and the numbers that they show.
    pub attached: usize,
    pub desks: usize,
    pub status: Status,
    pub heading: Heading,
    pub log: Log,
    pub secrets: Secrets,
    effects: Vec<Effect>,
    /// The ends that are closed after all other effects of this step, and those that are closed already.
    closing: Vec<Side>,
    closed: Vec<Side>,
    /// Entries given out so far; the last one's id.
    entries: u64,
    /// When the gate is woken next (monotonic microseconds).
    wake: u64,
}

/// What the log has, and what waits for its place in it.
#[derive(Debug, Default)]
pub struct Log {
    /// Why the log takes no entries; cleared when it takes one again.
    pub trouble: Option<Arc<str>>,
    /// What operators said with held calls, by the id of the entry that is to record it.
    pub said: BTreeMap<u64, Said>,
    /// What was agreed to and used on this day (days since 1970): its use is noted once a day.
    pub used: (i64, HashSet<Agreement>),
    /// Refused lines that are not recorded one by one.
    pub refusals: Refusals,
    /// Lines that pass and are only counted in the log.
    pub passed: Passed,
}

/// What the entries of one wrapper have in common.
#[derive(Debug)]
pub struct Heading {
    pub server: Arc<str>,
    pub session: Arc<str>,
    pub policy: Digest,
    /// The wrappers that this one was started underneath.
    pub above: Vec<String>,
}

impl Out {
    pub fn new(config: &Config, policy: Digest) -> Self {
        let heading = Heading {
            server: Arc::clone(&config.server),
            session: Arc::clone(&config.session),
            policy,
            above: config.above.clone(),
        };
        Self {
            now: Now::default(),
            latest: i64::MIN,
            attached: 0,
            desks: 0,
            status: Status::default(),
            heading,
            log: Log::default(),
            secrets: Secrets::new(config.redactor.clone()),
            effects: Vec::new(),
            closing: Vec::new(),
            closed: Vec::new(),
            entries: 0,
            wake: u64::MAX,
        }
    }

    pub fn begin(&mut self, now: Now) {
        self.now = now;
        self.latest = self.latest.max(now.wall);
    }

    /// Closes the pipe to one end, once, after everything else that follows from this step.
    pub fn close(&mut self, side: Side) {
        if !self.closing.contains(&side) && !self.closed.contains(&side) {
            self.closing.push(side);
        }
    }

    pub fn take(&mut self) -> Vec<Effect> {
        self.effects.extend(self.closing.iter().copied().map(Effect::Close));
        self.closed.append(&mut self.closing);
        std::mem::take(&mut self.effects)
    }

    pub fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    pub fn extend(&mut self, effects: impl IntoIterator<Item = Effect>) {
        self.effects.extend(effects);
    }

    /// An entry with only the time, the kind, the server, the session and the policy.
    pub fn entry(&self, kind: Kind) -> Entry {
        let Heading { server, session, policy, above } = &self.heading;
        let mut entry = Entry::new(self.now.wall, kind, server, session);
        entry.policy = Some(*policy);
        if kind == Kind::Decision && !above.is_empty() {
            entry = entry.with("above", above.clone());
        }
        entry
    }

    /// An entry on what went wrong, about a line of this digest.
    pub fn fault(&self, what: impl Serialize, digest: impl Into<Option<Digest>>) -> Entry {
        let mut entry = self.entry(Kind::Fault).with("what", what);
        entry.digest = digest.into();
        entry
    }

    /// The name of the held call of this number.
    pub fn ticket(&self, number: u64) -> String {
        let server = &self.heading.server;
        let mut ticket = String::with_capacity(server.len() + 21);
        ticket.push_str(server);
        ticket.push('-');
        push_number(&mut ticket, number, 1);
        ticket
    }

    /// Sends an entry to the log and gives its id.
    pub fn record(&mut self, mut entry: Entry) -> u64 {
        self.secrets.hide_in(&mut entry);
        self.entries += 1;
        self.effects.push(Effect::Record(self.entries, Box::new(entry)));
        self.entries
    }

    /// Tells an operator's console that the operator's word had no effect.
    pub fn refuse_word(&mut self, word: &OperatorWord, why: impl Into<String>) {
        let (console, place, ticket) = (word.operator.console, word.operator.place, word.ticket.clone());
        self.effects.push(Effect::Refuse { console, ticket, place, why: why.into() });
    }

    /// Tells an operator's console that what was said about no call had no effect.
    pub fn refuse_operator(&mut self, operator: &Operator, why: String) {
        let Operator { console, place, .. } = *operator;
        self.effects.push(Effect::Refuse { console, ticket: String::new(), place, why });
    }

    /// Asks to be woken by `at` at the latest; `None` asks for nothing.
    pub fn wake_by(&mut self, at: impl Into<Option<u64>>) {
        if let Some(at) = at.into().filter(|at| *at < self.wake) {
            self.wake = at;
            self.effects.push(Effect::WakeAt(at));
        }
    }

    pub fn woke(&mut self) {
        self.wake = u64::MAX;
    }

    /// Asks to be woken for a held call: to tell its host that it is alive, and at its deadline.
    pub fn wake_for(&mut self, held: &Held) {
        let beat = held.wait.heartbeat.filter(|_| held.wait.task.is_none());
        let times = [Some(held.deadline), beat.map(|beat| beat.next), held.wait.ends];
        self.wake_by(times.into_iter().flatten().min());
    }

    /// How many ways there are to an operator: consoles on this machine, and the desk.
    pub const fn reachable(&self) -> usize {
        self.attached + self.desks
    }

    pub fn waited_s(&self, held: &Held) -> u64 {
        self.now.mono.saturating_sub(held.arrived.mono) / 1_000_000
    }

    /// Shows one thing that passed, if a console is attached.
    pub fn show(&mut self, direction: Direction, kind: ActivityKind, fill: impl FnOnce(&mut Activity)) {
        if self.attached == 0 {
            return;
        }
        let mut one = Activity { time: self.now.wall, direction, kind, ..Activity::default() };
        fill(&mut one);
        self.effects.push(Effect::Show(Box::new(one)));
    }

    pub fn show_plain(&mut self, direction: Direction, kind: ActivityKind, what: &str, bytes: u64) {
        self.show(direction, kind, |one| {
            one.what = what.to_owned();
            one.bytes = bytes;
        });
    }

    pub fn show_decision(&mut self, held: &Held, word: VerdictWord, verdict: &Verdict, judged: Option<&Judged>) {
        let to = match held.call.origin() {
            Origin::Host => Direction::ToServer,
            Origin::Server | Origin::Answer | Origin::Result => Direction::ToHost,
        };
        let latency_us = Some(self.now.mono.saturating_sub(held.arrived.mono));
        self.show(to, ActivityKind::Call, |one| {
            one.what = held.call.name().to_owned();
            one.ticket = Some(held.ticket.to_string());
            one.target = held.target(judged).as_deref().map(str::to_owned);
            one.badge = judged.map(|judged| judged.behavior.badge());
            one.ruling = judged.map(|judged| judged.ruling.decision);
            one.verdict = Some(word);
            one.by = Some(verdict.by);
            one.rule.clone_from(&verdict.rule);
            one.bytes = held.call.line().content().len() as u64;
            one.latency_us = latency_us;
            one.failed = word == VerdictWord::Deny;
            one.reason = verdict.reason.to_string();
            one.explained = judged.map_or_else(String::new, |judged| judged.explained.clone());
            one.who = verdict.operator.as_ref().map_or_else(String::new, |operator| operator.who.to_string());
        });
    }

    /// Tells the consoles that a call no longer waits, and who ended the wait; without a verdict it was withdrawn.
    pub fn settle(&mut self, held: &Held, verdict: Option<VerdictWord>, by: By, who: String) {
        let ticket = held.ticket.to_string();
        self.effects.push(Effect::Settle(CallEnd { ticket, time: self.now.wall, verdict, by, who }));
    }
}
