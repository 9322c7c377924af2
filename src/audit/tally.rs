//! Counts over the log: what was asked, approved, denied and answered, by whom and how fast. Defines every number that
//! commands and the console show, and what of a record counts. Pure: fed record by record, reads nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::fields::{Call, Fields};
use super::record::{By, Kind, Outcome, VerdictWord};
use crate::behavior::taxonomy::Badge;
use crate::policy::fit::rules_name;

/// Counts over some records. `N` keeps how long servers took to answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally<N> {
    servers: Servers,
    /// When the first and the last of them were made, in milliseconds since 1970, UTC.
    pub from: Option<i64>,
    pub to: Option<i64>,
    pub all: Count,
    /// By server and tool.
    pub tools: BTreeMap<String, BTreeMap<String, ToolTally<N>>>,
    pub rules: BTreeMap<String, RuleTally>,
    /// Lines of hosts that were no acceptable message.
    pub refused_lines: u64,
    /// Records that cannot be read.
    pub unreadable: u64,
    /// The calls that were asked and not decided yet: one that is asked again, after an edit or a change, counts once.
    asked: BTreeSet<Call>,
}

/// Whether `filesystem#2` counts as `filesystem`: it is another run of the same server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Servers {
    #[default]
    Together,
    Apart,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Count {
    /// Calls that were put before an operator, however often.
    pub asked: u64,
    /// Calls that ended without a decision.
    pub withdrawn: u64,
    /// How many were decided, by verdict and by who gave it.
    verdicts: Vec<(Option<VerdictWord>, Option<By>, u64)>,
    /// How long operators and approvers took to decide, in microseconds from the call's arrival. Kept one by one: a
    /// median of numbers that are only counted by size would differ from the one that commands show.
    pub waited: Exact,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolTally<N> {
    pub count: Count,
    /// Calls that the server answered, and how many of these answers were failures.
    pub answered: u64,
    pub failed: u64,
    /// How long answers took, in microseconds.
    pub latency: N,
    /// When a call was last decided, in milliseconds since 1970, UTC; and what the tool was then.
    pub last: Option<i64>,
    pub badge: Option<Badge>,
    pub identity: Option<String>,
    /// How a call was last judged: a record's details, as JSON.
    pub judged: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleTally {
    pub hits: u64,
    pub last: Option<i64>,
}

/// Runs of wrappers, by session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sessions(pub BTreeMap<String, SessionTally>);

/// One run of a wrapper.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionTally {
    pub server: String,
    pub first: Option<i64>,
    pub last: Option<i64>,
    pub calls: u64,
    pub denied: u64,
    pub failed: u64,
    pub ended: bool,
}

/// How many entries a list may have; a log of foreign names could make them without end. Calls of wrappers that were
/// killed are never decided: beyond this number, some of these are forgotten.
const MOST: usize = 20_000;

impl<N: Numbers> Tally<N> {
    pub fn new(servers: Servers) -> Self {
        Self { servers, ..Self::default() }
    }

    pub fn take(&mut self, fields: &Fields<'_>) {
        let (kind, time) = (fields.kind(), self.take_time(fields));
        if kind == Some(Kind::Fault) {
            self.refused_lines += fields.refused_lines();
        }
        let Some(name) = fields.tool.as_deref() else { return };
        match kind {
            Some(Kind::DecisionAsked) => {
                if self.asked.len() >= MOST {
                    self.asked.pop_first();
                }
                let is_new = self.asked.insert(fields.call());
                self.all.asked += u64::from(is_new);
                let Some(tool) = self.tool(&fields.server, name).filter(|_| !fields.is_of_result()) else { return };
                tool.count.asked += u64::from(is_new);
                tool.judged(fields);
            }
            Some(Kind::Decision) => {
                self.asked.remove(&fields.call());
                self.all.decided(fields);
                if let Some(rule) = &fields.rule {
                    self.rule(rule, time);
                }
                let Some(tool) = self.tool(&fields.server, name).filter(|_| !fields.is_of_result()) else { return };
                tool.count.decided(fields);
                tool.last = time.or(tool.last);
                tool.badge = fields.badge.as_deref().and_then(Badge::from_word);
                tool.identity.clone_from(&fields.identity);
                tool.judged(fields);
            }
            Some(Kind::ResultDecision) => fields.rule.iter().for_each(|rule| self.rule(rule, time)),
            Some(Kind::Withdrawn) => {
                self.all.withdrawn += 1;
                let Some(tool) = self.tool(&fields.server, name) else { return };
                tool.count.withdrawn += 1;
            }
            Some(Kind::Outcome) => {
                let Some(tool) = self.tool(&fields.server, name) else { return };
                tool.answered += 1;
                tool.failed += u64::from(fields.outcome().is_some_and(Outcome::is_failure));
                if let Some(latency) = fields.latency_us() {
                    tool.latency.take(latency);
                }
            }
            _ => {}
        }
    }

    /// Counts of a record only when it was made.
    pub fn take_time(&mut self, fields: &Fields<'_>) -> Option<i64> {
        let time = fields.millis();
        self.from = self.from.or(time);
        self.to = time.or(self.to);
        time
    }

    /// What is counted of a tool; `None` where there is nothing.
    pub fn of_tool(&self, server: &str, tool: &str) -> Option<&ToolTally<N>> {
        self.tools.get(server)?.get(tool)
    }

    fn rule(&mut self, rule: &str, time: Option<i64>) {
        let Some(tally) = bounded(&mut self.rules, rule, RuleTally::default) else { return };
        tally.hits += 1;
        tally.last = time.or(tally.last);
    }

    fn tool(&mut self, server: &str, tool: &str) -> Option<&mut ToolTally<N>> {
        let server = match self.servers {
            Servers::Apart => server,
            Servers::Together => rules_name(server),
        };
        if self.of_tool(server, tool).is_none() {
            if self.tools.values().map(BTreeMap::len).sum::<usize>() >= MOST {
                return None;
            }
            self.tools.entry(server.to_owned()).or_default().insert(tool.to_owned(), ToolTally::default());
        }
        self.tools.get_mut(server)?.get_mut(tool)
    }
}

impl Count {
    fn decided(&mut self, fields: &Fields<'_>) {
        let by = fields.by();
        self.add(fields.verdict(), by, 1);
        let took_time = matches!(by, Some(By::Operator | By::Approver | By::Elicitation));
        if let Some(latency) = fields.latency_us().filter(|_| took_time) {
            self.waited.take(latency);
        }
    }

    pub fn add(&mut self, verdict: Option<VerdictWord>, by: Option<By>, calls: u64) {
        match self.verdicts.iter_mut().find(|known| (known.0, known.1) == (verdict, by)) {
            Some((.., count)) => *count += calls,
            None => self.verdicts.push((verdict, by, calls)),
        }
    }

    fn sum(&self, of: impl Fn(Option<VerdictWord>, Option<By>) -> bool) -> u64 {
        self.verdicts.iter().filter(|(verdict, by, _)| of(*verdict, *by)).map(|(.., count)| count).sum()
    }

    /// Calls that were decided.
    pub fn calls(&self) -> u64 {
        self.sum(|_, _| true)
    }

    /// Calls that ran, whoever allowed them.
    pub fn approved(&self) -> u64 {
        self.sum(|verdict, _| verdict == Some(VerdictWord::Approve))
    }

    /// Calls that did not run, whoever denied them.
    pub fn denied(&self) -> u64 {
        self.sum(|verdict, _| verdict == Some(VerdictWord::Deny))
    }

    /// Calls that ran because of this approver. Each call that a rule allowed is a question that was not asked.
    pub fn approved_by(&self, who: By) -> u64 {
        self.sum(|verdict, by| verdict == Some(VerdictWord::Approve) && by == Some(who))
    }

    /// How long half of the decisions of operators and approvers took at most, in microseconds.
    pub fn median(&self) -> Option<f64> {
        self.waited.median()
    }

    /// How many were decided by each, in the order of the words.
    pub fn by(&self) -> BTreeMap<By, u64> {
        let mut counts = BTreeMap::new();
        for (_, by, count) in &self.verdicts {
            if let Some(by) = by {
                *counts.entry(*by).or_default() += count;
            }
        }
        counts
    }
}

impl<N> ToolTally<N> {
    /// Only a call's first record says how it was judged.
    fn judged(&mut self, fields: &Fields<'_>) {
        if let Some(detail) = fields.detail.map(RawValue::get).filter(|json| json.contains("\"evidence\"")) {
            detail.clone_into(&mut self.judged);
        }
    }
}

/// The entry of a name, which may be new; `None` where the list has as many as it may.
fn bounded<'t, T>(list: &'t mut BTreeMap<String, T>, name: &str, new: impl FnOnce() -> T) -> Option<&'t mut T> {
    if list.len() < MOST && !list.contains_key(name) {
        list.insert(name.to_owned(), new());
    }
    list.get_mut(name)
}

impl Sessions {
    pub fn take(&mut self, fields: &Fields<'_>) {
        let time = fields.millis();
        let new = || SessionTally { server: fields.server.to_string(), first: time, ..SessionTally::default() };
        let Some(session) = bounded(&mut self.0, &fields.session, new) else { return };
        session.last = time.or(session.last);
        match fields.kind() {
            Some(Kind::Decision) => {
                session.calls += 1;
                session.denied += u64::from(fields.verdict() == Some(VerdictWord::Deny));
            }
            Some(Kind::Outcome) => session.failed += u64::from(fields.outcome().is_some_and(Outcome::is_failure)),
            // The server's name may change after the first record: the second server of a name gets a number.
            Some(Kind::ServerStart) => fields.server.as_ref().clone_into(&mut session.server),
            Some(Kind::ServerEnd) => session.ended = true,
            _ => {}
        }
    }
}

pub trait Numbers: Default {
    fn take(&mut self, number: u64);
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exact(Vec<u64>);

/// Numbers counted by size, four steps to a doubling, in bounded room: a quantile is right to a fifth.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    /// Empty until the first number.
    counts: Vec<u32>,
    all: u64,
}

const STEPS: u32 = 4;

impl Numbers for Exact {
    fn take(&mut self, number: u64) {
        self.0.push(number);
    }
}

impl Exact {
    /// The least number that `percent` of all numbers do not exceed; `None` when there is none.
    pub fn quantile(&self, percent: usize) -> Option<u64> {
        let rank = (self.0.len() * percent).div_ceil(100).max(1);
        (!self.0.is_empty()).then(|| self.at(rank - 1))
    }

    /// The number in the middle, or the mean of the two in the middle; `None` when there is none.
    #[expect(clippy::cast_precision_loss, reason = "that many microseconds are 285 years")]
    pub fn median(&self) -> Option<f64> {
        let last = self.0.len().checked_sub(1)?;
        Some(f64::midpoint(self.at(last / 2) as f64, self.at(last.div_ceil(2)) as f64))
    }

    /// The number at this place of the sorted ones; the largest beyond.
    fn at(&self, at: usize) -> u64 {
        let mut numbers = self.0.clone();
        let last = numbers.len().saturating_sub(1);
        *numbers.select_nth_unstable(at.min(last)).1
    }
}

impl Numbers for Histogram {
    fn take(&mut self, number: u64) {
        if self.counts.is_empty() {
            self.counts = vec![0; (64 * STEPS) as usize];
        }
        let octave = number.max(1).ilog2();
        let within = if octave < 2 { 0 } else { (number >> (octave - 2)) & 3 };
        let at = (octave * STEPS) as usize + usize::try_from(within).unwrap_or(0);
        if let Some(count) = self.counts.get_mut(at) {
            *count = count.saturating_add(1);
        }
        self.all += 1;
    }
}

impl Histogram {
    /// The number that `percent` of all numbers do not exceed by more than a step; `None` when there is none.
    pub fn quantile(&self, percent: u64) -> Option<u64> {
        let rank = (self.all * percent).div_ceil(100).max(1);
        let mut seen = 0;
        for (at, count) in (0_u32..).zip(&self.counts) {
            seen += u64::from(*count);
            if seen >= rank {
                let (octave, within) = (at / STEPS, u64::from(at % STEPS));
                return Some((1_u64 << octave) + if octave < 2 { 0 } else { within << (octave - 2) });
            }
        }
        None
    }
}
