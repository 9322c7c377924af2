//! What the log says of tools, rules, sessions and of deciding, counted record by record. Bounded; reads nothing itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::audit::counted::{self, Askings, Counted};
use crate::audit::query::Fields;
use crate::audit::record::{By, VerdictWord};

use super::found::{latency, millis};

/// Counts of the log up to some record.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    /// The number of the last record counted.
    pub upto: u64,
    /// The number of the newest record when it was last looked.
    pub newest: u64,
    /// By server and tool.
    #[serde(with = "pairs")]
    pub tools: BTreeMap<(String, String), ToolTally>,
    pub rules: BTreeMap<String, RuleTally>,
    pub sessions: BTreeMap<String, SessionTally>,
    pub figures: Figures,
    /// What was asked and is not decided yet.
    pub askings: Askings,
}

/// Entries that a log of foreign names could make without end.
const MOST: usize = 20_000;

/// What became of a tool's calls.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ToolTally {
    pub calls: u64,
    pub denied: u64,
    pub failed: u64,
    /// Of answers, in microseconds.
    pub latency: Spread,
    /// Milliseconds since 1970, UTC.
    pub last: Option<i64>,
    pub badge: Option<String>,
    pub identity: Option<String>,
    /// The details of the newest record that tells its evidence, as JSON.
    pub detail: String,
}

/// What a rule has decided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleTally {
    pub hits: u64,
    pub last: Option<i64>,
}

/// One run of a wrapper.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SessionTally {
    pub server: String,
    pub first: Option<i64>,
    pub last: Option<i64>,
    pub calls: u64,
    pub denied: u64,
    pub failed: u64,
    pub ended: bool,
}

/// Figures of deciding.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Figures {
    pub decided: u64,
    /// Calls that were put before an operator.
    pub asked: u64,
    pub approved: u64,
    pub denied: u64,
    /// Approved by a rule: questions that were not asked.
    pub by_rule: u64,
    pub by_default: u64,
    pub expired: u64,
    /// How long a person took, in microseconds.
    pub waited: Spread,
}

impl Tally {
    /// Counts one record. What cannot be read counts as nothing.
    pub fn take(&mut self, seq: u64, fields: Option<&Fields<'_>>) {
        self.upto = seq;
        let Some(fields) = fields else { return };
        let time = millis(&fields.time);
        self.session(fields, time);
        if fields.tool.is_some() {
            let (verdict, by) = (fields.verdict.as_deref(), fields.by.as_deref());
            match self.askings.count(&fields.kind, verdict, by, || counted::call_of(fields)) {
                Some(Counted::Asked) => self.figures.asked += 1,
                Some(decided @ Counted::Decided { .. }) => self.decision(fields, time, decided),
                Some(Counted::Withdrawn) | None => {}
            }
        }
        if fields.kind == "outcome" {
            self.outcome(fields);
        }
        if let (Some(tool), Some(detail)) = (&fields.tool, fields.detail)
            && detail.get().contains("\"evidence\"")
            && let Some(tally) = self.tool(&fields.server, tool)
        {
            tally.detail.clear();
            tally.detail.push_str(detail.get());
        }
    }

    fn decision(&mut self, fields: &Fields<'_>, time: Option<i64>, decided: Counted) {
        let Counted::Decided { verdict, by } = decided else { return };
        let figures = &mut self.figures;
        figures.decided += 1;
        figures.approved += u64::from(verdict == Some(VerdictWord::Approve));
        figures.denied += u64::from(verdict == Some(VerdictWord::Deny));
        figures.by_rule += u64::from(decided.saved_by_a_rule());
        figures.by_default += u64::from(verdict == Some(VerdictWord::Approve) && by == Some(By::Default));
        figures.expired += u64::from(by == Some(By::Expiry));
        if decided.by_a_person()
            && let Some(waited) = latency(fields)
        {
            figures.waited.take(waited);
        }
        if let Some(rule) = &fields.rule
            && (self.rules.len() < MOST || self.rules.contains_key(rule))
        {
            let tally = self.rules.entry(rule.clone()).or_default();
            tally.hits += 1;
            tally.last = time.or(tally.last);
        }
        let Some(tool) = &fields.tool else { return };
        let denied = verdict == Some(VerdictWord::Deny);
        if let Some(tally) = self.tool(&fields.server, tool) {
            tally.calls += 1;
            tally.denied += u64::from(denied);
            tally.last = time.or(tally.last);
            tally.badge.clone_from(&fields.badge);
            tally.identity.clone_from(&fields.identity);
        }
    }

    fn outcome(&mut self, fields: &Fields<'_>) {
        let failed = fields.detail.is_some_and(|detail| {
            ["\"result\":\"error\"", "\"result\":\"tool-error\"", "\"result\":\"unreadable\""]
                .iter()
                .any(|word| detail.get().contains(word))
        });
        if let Some(session) = self.sessions.get_mut(fields.session.as_ref()) {
            session.failed += u64::from(failed);
        }
        let Some(tool) = &fields.tool else { return };
        if let Some(tally) = self.tool(&fields.server, tool) {
            tally.failed += u64::from(failed);
            if let Some(micros) = latency(fields) {
                tally.latency.take(micros);
            }
        }
    }

    fn session(&mut self, fields: &Fields<'_>, time: Option<i64>) {
        if !self.sessions.contains_key(fields.session.as_ref()) {
            if self.sessions.len() >= MOST {
                return;
            }
            let new = SessionTally { server: fields.server.to_string(), first: time, ..SessionTally::default() };
            self.sessions.insert(fields.session.to_string(), new);
        }
        let Some(session) = self.sessions.get_mut(fields.session.as_ref()) else { return };
        session.last = time.or(session.last);
        match fields.kind.as_ref() {
            "decision" => {
                session.calls += 1;
                session.denied += u64::from(fields.verdict.as_deref() == Some("deny"));
            }
            "server-end" => session.ended = true,
            // The name may become another after the first record: the second of a name is numbered.
            "server-start" => fields.server.as_ref().clone_into(&mut session.server),
            _ => {}
        }
    }

    fn tool(&mut self, server: &str, tool: &str) -> Option<&mut ToolTally> {
        // `filesystem#2` is another run of the same server.
        let server = server.split('#').next().unwrap_or_default();
        let key = (server.to_owned(), tool.to_owned());
        if self.tools.len() >= MOST && !self.tools.contains_key(&key) {
            return None;
        }
        Some(self.tools.entry(key).or_default())
    }
}

/// A map whose keys JSON would not take, as a list of pairs.
mod pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<K: Serialize, V: Serialize, S: Serializer>(of: &BTreeMap<K, V>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(of)
    }

    pub fn deserialize<'de, K, V, D>(from: D) -> Result<BTreeMap<K, V>, D::Error>
    where
        K: Deserialize<'de> + Ord,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Ok(Vec::<(K, V)>::deserialize(from)?.into_iter().collect())
    }
}

/// Numbers counted by size, four steps to a doubling: a quantile is right to a fifth.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    /// Empty until the first number.
    counts: Vec<u32>,
    pub all: u64,
}

const STEPS: u32 = 4;

impl Spread {
    /// Counts one number.
    pub fn take(&mut self, number: u64) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_tells_the_middle_to_a_fifth() {
        let mut spread = Spread::default();
        assert_eq!(spread.quantile(50), None);
        for number in 0..10_000 {
            spread.take(number);
        }
        for percent in [10, 50, 95, 100] {
            let (told, is) = (spread.quantile(percent).unwrap(), percent * 100);
            assert!(told <= is && told * 5 >= is * 4, "{percent}%: {told} for {is}");
        }
    }
}
