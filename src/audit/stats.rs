//! The log in figures: what was asked, approved and denied, by whom, how fast, and what rules saved. Reads only.

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;

use serde::Serialize;

use super::query::{self, Fields, Filter};
use super::record::{By, Kind, VerdictWord};
use super::store::{Reader, StoreError};

/// Figures over some records. Names are foreign text; times are RFC 3339, UTC.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Of the first and last record counted; `None` when there is none.
    pub from: Option<String>,
    pub to: Option<String>,
    #[serde(flatten)]
    pub all: Count,
    /// Calls that ran without a question because a rule allowed them.
    pub saved_by_rules: u64,
    /// Lines of hosts that were no acceptable message.
    pub refused_lines: u64,
    /// Records that are none: something else was written there.
    pub unreadable: u64,
    /// How often each rule decided.
    pub rules: BTreeMap<String, u64>,
    /// By server and tool, the most called first.
    pub tools: Vec<OfTool>,
}

/// Figures of one tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OfTool {
    pub server: String,
    pub tool: String,
    #[serde(flatten)]
    pub count: Count,
}

/// What became of some calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Count {
    /// Calls that were decided.
    pub calls: u64,
    /// Calls that were put before an operator.
    pub asked: u64,
    pub approved: u64,
    pub denied: u64,
    /// Calls that ended before, or instead of, their verdict.
    pub withdrawn: u64,
    /// Verdicts by who gave them: `default`, `rule`, `operator`, ….
    pub by: BTreeMap<String, u64>,
    /// The median of the operators' times to decide.
    pub median_ms: Option<f64>,
    #[serde(skip)]
    times: Vec<f64>,
}

impl Count {
    fn decided(&mut self, fields: &Fields<'_>) {
        self.calls += 1;
        self.approved += u64::from(fields.verdict.as_deref() == Some(VerdictWord::Approve.word()));
        self.denied += u64::from(fields.verdict.as_deref() == Some(VerdictWord::Deny.word()));
        let Some(by) = &fields.by else { return };
        *self.by.entry(by.clone()).or_default() += 1;
        if [By::Operator, By::Approver].iter().any(|one| one.word() == by)
            && let Some(ms) = fields.latency_ms.and_then(|json| json.get().parse().ok())
        {
            self.times.push(ms);
        }
    }

    fn finish(&mut self) {
        self.times.sort_by(f64::total_cmp);
        let middle = self.times.len() / 2;
        self.median_ms = match self.times.len() {
            0 => None,
            odd if odd % 2 == 1 => Some(self.times[middle]),
            _ => Some(f64::midpoint(self.times[middle - 1], self.times[middle])),
        };
    }
}

/// Counts the records that the filter wants.
///
/// # Errors
/// Why the log could not be read.
pub fn count(reader: &Reader, filter: &Filter) -> Result<Stats, StoreError> {
    let mut stats = Stats::default();
    let mut tools: BTreeMap<(String, String), Count> = BTreeMap::new();
    // An edited call is asked again, under the same ticket.
    let mut asked = HashSet::new();
    query::each(reader, filter, &mut |row| {
        let Some(fields) = serde_json::from_slice::<Fields<'_>>(row.body).ok() else {
            stats.unreadable += 1;
            return ControlFlow::Continue(());
        };
        stats.from.get_or_insert_with(|| fields.time.to_string());
        stats.to = Some(fields.time.to_string());
        let is = |kind: Kind| fields.kind == kind.word();
        if is(Kind::Fault) {
            stats.refused_lines += refused_lines(&fields);
        }
        let Some(tool) = &fields.tool else { return ControlFlow::Continue(()) };
        let key = (fields.server.to_string(), tool.clone());
        if is(Kind::Decision) {
            stats.all.decided(&fields);
            tools.entry(key).or_default().decided(&fields);
            if let Some(rule) = &fields.rule {
                *stats.rules.entry(rule.clone()).or_default() += 1;
                let approved = fields.verdict.as_deref() == Some(VerdictWord::Approve.word());
                stats.saved_by_rules += u64::from(approved && fields.by.as_deref() == Some(By::Rule.word()));
            }
        } else if is(Kind::DecisionAsked) && asked.insert((fields.session.to_string(), fields.ticket.clone())) {
            stats.all.asked += 1;
            tools.entry(key).or_default().asked += 1;
        } else if is(Kind::Withdrawn) {
            stats.all.withdrawn += 1;
            tools.entry(key).or_default().withdrawn += 1;
        }
        ControlFlow::Continue(())
    })?;
    stats.all.finish();
    stats.tools = tools
        .into_iter()
        .map(|((server, tool), mut count)| {
            count.finish();
            OfTool { server, tool, count }
        })
        .collect();
    // The sort is stable: the same number stays in the order of names.
    stats.tools.sort_by_key(|of| std::cmp::Reverse(of.count.calls));
    Ok(stats)
}

/// How many refused lines a fault stands for.
pub(super) fn refused_lines(fields: &Fields<'_>) -> u64 {
    let detail = fields.detail.and_then(|json| serde_json::from_str::<serde_json::Value>(json.get()).ok());
    let Some(detail) = detail else { return 0 };
    match detail["what"].as_str() {
        Some("refused a line from the host") => 1,
        Some("refused more lines from the host") => detail["lines"].as_u64().unwrap_or(0),
        Some(_) | None => 0,
    }
}
