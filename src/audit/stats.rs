//! The log in figures: what was asked, approved and denied, by whom, how fast, and what rules saved. Reads only.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use serde::Serialize;

use super::counted::{self, Askings, Call, Counted};
use super::index::{Fact, Index, SEGMENT};
use super::query::{self, Fields, Filter};
use super::record::{Kind, VerdictWord};
use super::sketch::number_of;
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

/// What figures need of a record, from its body or from the index.
struct Told<'a> {
    time: Cow<'a, str>,
    kind: &'a str,
    server: &'a str,
    tool: Option<&'a str>,
    verdict: Option<&'a str>,
    by: Option<&'a str>,
    rule: Option<&'a str>,
    latency_ms: Option<f64>,
    /// Numbers of session and ticket.
    call: Call,
    refused_lines: u64,
}

impl<'a> Told<'a> {
    fn of_body(fields: &'a Fields<'_>) -> Self {
        Self {
            time: Cow::Borrowed(&fields.time),
            kind: &fields.kind,
            server: &fields.server,
            tool: fields.tool.as_deref(),
            verdict: fields.verdict.as_deref(),
            by: fields.by.as_deref(),
            rule: fields.rule.as_deref(),
            latency_ms: fields.latency_ms.and_then(|json| json.get().parse().ok()),
            call: counted::call_of(fields),
            refused_lines: if fields.kind == Kind::Fault.word() { refused_lines(fields) } else { 0 },
        }
    }

    /// `None` where the index does not say all of it.
    fn of_index(index: &'a Index, fact: &Fact) -> Option<Self> {
        let told = fact.told?;
        let (shape, session) = (index.shape(told.shape)?, index.session(told.session)?);
        let is_fault = shape.kind == Kind::Fault.word();
        Some(Self {
            time: Cow::Owned(query::rfc3339(told.time)),
            kind: &shape.kind,
            server: &shape.server,
            tool: shape.tool.as_deref(),
            verdict: shape.verdict.as_deref(),
            by: shape.by.as_deref(),
            rule: shape.rule.as_deref(),
            // Exact: no latency has more than 53 bits of microseconds.
            #[allow(clippy::cast_precision_loss, reason = "that many microseconds are 285 years")]
            latency_ms: told.figure.filter(|_| !is_fault).map(|us| us as f64 / 1000.0),
            call: (number_of(session), told.ticket),
            refused_lines: told.figure.filter(|_| is_fault).unwrap_or(0),
        })
    }
}

/// Figures while records are still counted.
#[derive(Default)]
struct Counting {
    stats: Stats,
    tools: BTreeMap<String, BTreeMap<String, Count>>,
    askings: Askings,
}

impl Counting {
    fn take(&mut self, told: &Told<'_>) {
        let stats = &mut self.stats;
        stats.from.get_or_insert_with(|| told.time.to_string());
        stats.to.get_or_insert_default().replace_range(.., &told.time);
        stats.refused_lines += told.refused_lines;
        let Some(tool) = told.tool else { return };
        let counted = self.askings.count(told.kind, told.verdict, told.by, || told.call);
        let Some(counted) = counted else { return };
        if !self.tools.contains_key(told.server) {
            self.tools.insert(told.server.to_owned(), BTreeMap::new());
        }
        let Some(of_server) = self.tools.get_mut(told.server) else { return };
        if !of_server.contains_key(tool) {
            of_server.insert(tool.to_owned(), Count::default());
        }
        let Some(of_tool) = of_server.get_mut(tool) else { return };
        for count in [&mut stats.all, of_tool] {
            match counted {
                Counted::Decided { .. } => count.decided(told, counted),
                Counted::Withdrawn => count.withdrawn += 1,
                Counted::Asked => count.asked += 1,
            }
        }
        if let (Counted::Decided { .. }, Some(rule)) = (counted, told.rule) {
            *stats.rules.entry(rule.to_owned()).or_default() += 1;
        }
        stats.saved_by_rules += u64::from(counted.saved_by_a_rule());
    }

    fn read(&mut self, body: &[u8]) {
        match serde_json::from_slice::<Fields<'_>>(body) {
            Ok(fields) => self.take(&Told::of_body(&fields)),
            Err(_) => self.stats.unreadable += 1,
        }
    }

    fn finish(self) -> Stats {
        let mut stats = self.stats;
        stats.all.finish();
        let of_server = |(server, tools): (String, BTreeMap<String, Count>)| {
            tools.into_iter().map(move |(tool, mut count)| {
                count.finish();
                OfTool { server: server.clone(), tool, count }
            })
        };
        stats.tools = self.tools.into_iter().flat_map(of_server).collect();
        // The sort is stable: the same number stays in the order of names.
        stats.tools.sort_by_key(|of| std::cmp::Reverse(of.count.calls));
        stats
    }
}

impl Count {
    fn decided(&mut self, told: &Told<'_>, counted: Counted) {
        self.calls += 1;
        self.approved += u64::from(told.verdict == Some(VerdictWord::Approve.word()));
        self.denied += u64::from(told.verdict == Some(VerdictWord::Deny.word()));
        let Some(by) = told.by else { return };
        match self.by.get_mut(by) {
            Some(count) => *count += 1,
            None => drop(self.by.insert(by.to_owned(), 1)),
        }
        if counted.by_a_person() {
            self.times.extend(told.latency_ms);
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

/// Counts the records that the filter wants. What the index covers is counted by its columns, and only odd records there
/// are read.
///
/// # Errors
/// Why the log could not be read.
pub fn count(reader: &Reader, index: Option<&Index>, filter: &Filter) -> Result<Stats, StoreError> {
    let mut counting = Counting::default();
    let mut upto = 0;
    if let Some(index) = index {
        let ask = index.ask_filter(filter);
        for segment in 0..index.upto() / SEGMENT {
            let Some(facts) = index.facts(segment) else { return count(reader, None, filter) };
            for (seq, fact) in (upto + 1..).zip(facts) {
                match Told::of_index(index, &fact) {
                    Some(told) if ask.wants(&fact) => counting.take(&told),
                    Some(_) => {}
                    None => query::one(reader, filter, seq, &mut |row| counting.read(row.body))?,
                }
            }
            upto += SEGMENT;
        }
    }
    query::each_after(reader, filter, upto, &mut |row| {
        counting.read(row.body);
        ControlFlow::Continue(())
    })?;
    Ok(counting.finish())
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
