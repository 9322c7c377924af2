//! Counts over the log: what was asked, approved, denied and answered, by whom and how fast. Defines every number that
//! commands and the console show, and what of a record counts. Pure: fed fact by fact, reads nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::fields::{Call, Fields};
use super::numbers::{Exact, Numbers};
use super::record::{By, Kind, Outcome, VerdictWord};
use crate::behavior::taxonomy::Badge;
use crate::policy::fit::rules_name;

/// What counts need of a record.
#[derive(Clone, Copy, Debug)]
pub struct Fact<'a> {
    /// Milliseconds since 1970, UTC.
    pub time: Option<i64>,
    pub server: &'a str,
    pub session: &'a str,
    pub tool: Option<&'a str>,
    pub call: Call,
    pub what: What<'a>,
}

/// What happened.
#[derive(Clone, Copy, Debug)]
pub enum What<'a> {
    /// A call was put before an operator.
    Asked {
        judged: Option<&'a str>,
    },
    Decided(Decided<'a>),
    /// A call ended before, or instead of, its verdict.
    Withdrawn,
    Answered {
        outcome: Option<Outcome>,
        latency_us: Option<u64>,
    },
    /// Lines of a host were no acceptable message.
    Refused {
        lines: u64,
    },
    ServerStart,
    ServerEnd,
    Other,
}

/// A decision.
#[derive(Clone, Copy, Debug)]
pub struct Decided<'a> {
    pub verdict: Option<VerdictWord>,
    pub by: Option<By>,
    pub rule: Option<&'a str>,
    pub latency_us: Option<u64>,
    pub badge: Option<Badge>,
    pub identity: Option<&'a str>,
    /// The details that say how the call was judged, as JSON; `None` where another record has them.
    pub judged: Option<&'a str>,
}

impl<'a> Fact<'a> {
    /// The fact of a record.
    pub fn of(fields: &'a Fields<'_>) -> Self {
        Self {
            time: fields.millis(),
            server: &fields.server,
            session: &fields.session,
            tool: fields.tool.as_deref(),
            call: fields.call(),
            what: What::of(fields),
        }
    }
}

impl<'a> What<'a> {
    fn of(fields: &'a Fields<'_>) -> Self {
        // Only a call's first record says how it was judged.
        let judged = || fields.detail.map(|detail| detail.get()).filter(|json| json.contains("\"evidence\""));
        match fields.kind() {
            Some(Kind::DecisionAsked) => Self::Asked { judged: judged() },
            Some(Kind::Decision) => Self::Decided(Decided {
                verdict: fields.verdict(),
                by: fields.by(),
                rule: fields.rule.as_deref(),
                latency_us: fields.latency_us(),
                badge: fields.badge.as_deref().and_then(Badge::from_word),
                identity: fields.identity.as_deref(),
                judged: judged(),
            }),
            Some(Kind::Withdrawn) => Self::Withdrawn,
            Some(Kind::Outcome) => Self::Answered { outcome: fields.outcome(), latency_us: fields.latency_us() },
            Some(Kind::Fault) => Self::Refused { lines: fields.refused_lines() },
            Some(Kind::ServerStart) => Self::ServerStart,
            Some(Kind::ServerEnd) => Self::ServerEnd,
            _ => Self::Other,
        }
    }
}

/// Counts over some facts. `N` keeps how long servers took to answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally<N> {
    servers: Servers,
    /// When the first and the last fact happened, in milliseconds since 1970, UTC.
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

/// What became of some calls.
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

/// What became of a tool's calls.
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

/// What a rule has decided.
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
    /// Nothing counted yet.
    pub fn new(servers: Servers) -> Self {
        Self { servers, ..Self::default() }
    }

    /// Counts one fact.
    pub fn take(&mut self, fact: &Fact<'_>) {
        self.from = self.from.or(fact.time);
        self.to = fact.time.or(self.to);
        if let What::Refused { lines } = fact.what {
            self.refused_lines += lines;
        }
        let Some(name) = fact.tool else { return };
        match fact.what {
            What::Asked { judged } => {
                if self.asked.len() >= MOST {
                    self.asked.pop_first();
                }
                let is_new = self.asked.insert(fact.call);
                self.all.asked += u64::from(is_new);
                let Some(tool) = self.tool(fact.server, name) else { return };
                tool.count.asked += u64::from(is_new);
                tool.judged(judged);
            }
            What::Decided(decided) => {
                self.asked.remove(&fact.call);
                self.all.decided(&decided);
                if let Some(rule) = decided.rule {
                    self.rule(rule, fact.time);
                }
                let Some(tool) = self.tool(fact.server, name) else { return };
                tool.count.decided(&decided);
                tool.last = fact.time.or(tool.last);
                tool.badge = decided.badge;
                tool.identity = decided.identity.map(str::to_owned);
                tool.judged(decided.judged);
            }
            What::Withdrawn => {
                self.all.withdrawn += 1;
                let Some(tool) = self.tool(fact.server, name) else { return };
                tool.count.withdrawn += 1;
            }
            What::Answered { outcome, latency_us } => {
                let Some(tool) = self.tool(fact.server, name) else { return };
                tool.answered += 1;
                tool.failed += u64::from(outcome.is_some_and(Outcome::is_failure));
                if let Some(latency) = latency_us {
                    tool.latency.take(latency);
                }
            }
            What::Refused { .. } | What::ServerStart | What::ServerEnd | What::Other => {}
        }
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
    fn decided(&mut self, decided: &Decided<'_>) {
        self.add(decided.verdict, decided.by, 1);
        if let Some(latency) =
            decided.latency_us.filter(|_| matches!(decided.by, Some(By::Operator | By::Approver | By::Elicitation)))
        {
            self.waited.take(latency);
        }
    }

    /// Counts so many decisions.
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
    fn judged(&mut self, detail: Option<&str>) {
        if let Some(detail) = detail {
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
    /// Counts one fact.
    pub fn take(&mut self, fact: &Fact<'_>) {
        let new = || SessionTally { server: fact.server.to_owned(), first: fact.time, ..SessionTally::default() };
        let Some(session) = bounded(&mut self.0, fact.session, new) else { return };
        session.last = fact.time.or(session.last);
        match fact.what {
            What::Decided(decided) => {
                session.calls += 1;
                session.denied += u64::from(decided.verdict == Some(VerdictWord::Deny));
            }
            What::Answered { outcome, .. } => session.failed += u64::from(outcome.is_some_and(Outcome::is_failure)),
            // The server's name may change after the first record: the second server of a name gets a number.
            What::ServerStart => fact.server.clone_into(&mut session.server),
            What::ServerEnd => session.ended = true,
            What::Asked { .. } | What::Withdrawn | What::Refused { .. } | What::Other => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::numbers::Exact;

    #[test]
    fn a_call_that_is_asked_again_counts_once_and_a_verdict_as_what_it_is() {
        let mut tally = Tally::<Exact>::default();
        let mut take = |what| {
            let call = Call { session: 1, ticket: Some(2) };
            tally.take(&Fact { time: Some(7), server: "git#2", session: "s", tool: Some("push"), call, what });
            tally.clone()
        };
        let decided = |verdict, by| {
            let rule = (by == By::Rule).then_some("r");
            let (verdict, by) = (Some(verdict), Some(by));
            let latency_us = Some(5);
            What::Decided(Decided { verdict, by, rule, latency_us, badge: None, identity: None, judged: None })
        };
        take(What::Asked { judged: Some("{}") });
        assert_eq!(take(What::Asked { judged: None }).all.asked, 1);
        take(decided(VerdictWord::Approve, By::Operator));
        take(decided(VerdictWord::Approve, By::Rule));
        let counted = take(decided(VerdictWord::Deny, By::Rule));
        let all = &counted.all;
        assert_eq!((all.calls(), all.approved(), all.denied(), all.approved_by(By::Rule)), (3, 2, 1, 1));
        assert_eq!((all.waited.median(), counted.rules["r"].hits), (Some(5.0), 2), "only a person takes time");
        assert_eq!(take(What::Withdrawn).all.withdrawn, 1);
        take(What::Answered { outcome: Some(Outcome::ToolError), latency_us: None });
        let counted = take(What::Asked { judged: None });
        assert_eq!(counted.all.asked, 2, "the ticket of another day");
        let tool = counted.of_tool("git", "push").unwrap();
        assert_eq!((tool.answered, tool.failed, tool.count.asked, tool.judged.as_str()), (1, 1, 2, "{}"));
    }
}
