//! `mcp-approve log stats`: the log in figures, on a terminal and as JSON. Counts nothing itself.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};

use super::{Finding, LogError, Of, progress, search};
use crate::audit::moment::{Since, rfc3339};
use crate::audit::numbers::Exact;
use crate::audit::query;
use crate::audit::record::By;
use crate::audit::store::Reader;
use crate::audit::tally::{Count, Tally};
use crate::cli::print::{self, Column, visible, visible_json};

/// Which records are counted, and how they are told.
#[derive(Clone, Debug, clap::Args)]
pub struct StatsOptions {
    #[command(flatten)]
    pub of: Of,
    /// Only since then: 30d, 1h, 5m, or a time like 2026-11-21T10:00:00Z
    #[arg(long, value_name = "WHEN")]
    pub since: Option<Since>,
    /// At most so many tools, the most called
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

const TITLES: [&str; 8] = ["SERVER", "TOOL", "CALLS", "APPROVED", "DENIED", "ASKED", "WITHDRAWN", "MEDIAN"];
const NAME: Column = Column::LEFT.at_most(40);
const NUMBER: Column = Column::RIGHT;
const COLUMNS: [Column; 8] = [NAME, NAME, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER];

/// The figures of one tool: server, tool, what became of its calls.
type OfTool<'t> = (&'t str, &'t str, &'t Count<Exact>);

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Counts and tells.
///
/// # Errors
/// As [`super::run`].
pub(super) fn run(options: &StatsOptions, db: &Path, now: i64, out: &mut dyn Write) -> Result<Finding, LogError> {
    let search = search(&options.of, options.since, now);
    let reader = Reader::open(db)?;
    let tally = match &reader {
        Some(reader) => query::decisions(reader, progress::index(db, reader)?.as_ref(), &search)?,
        None => Tally::default(),
    };
    let mut tools: Vec<OfTool<'_>> = tally
        .tools
        .iter()
        .flat_map(|(server, tools)| tools.iter().map(|(tool, of)| (server.as_str(), tool.as_str(), &of.count)))
        .collect();
    // The sort is stable: the same number stays in the order of names.
    tools.sort_by_key(|(.., count)| std::cmp::Reverse(count.calls()));
    let more = tools.len().saturating_sub(options.limit);
    tools.truncate(options.limit);
    if options.json {
        writeln!(out, "{}", visible_json(&object(&tally, &tools).to_string()))?;
    } else if reader.is_none() {
        let missing = LogError::NoLog(db.to_path_buf());
        writeln!(out, "{missing}: {}", missing.hint())?;
    } else if tally.all.calls() == 0 && tally.all.asked == 0 {
        writeln!(out, "No call of that kind was decided yet; `mcp-approve log list` shows what else there is.")?;
    } else {
        text(&tally, &tools, more, out)?;
    }
    Ok(Finding::So)
}

fn object(tally: &Tally<Exact>, tools: &[OfTool<'_>]) -> Value {
    let rules: serde_json::Map<_, _> = tally.rules.iter().map(|(rule, of)| (rule.clone(), of.hits.into())).collect();
    let mut object = json!({ "from": tally.from.map(rfc3339), "to": tally.to.map(rfc3339) });
    add(&mut object, &tally.all);
    object["saved_by_rules"] = tally.all.approved_by(By::Rule).into();
    object["refused_lines"] = tally.refused_lines.into();
    object["unreadable"] = tally.unreadable.into();
    object["rules"] = rules.into();
    let of_tool = |(server, tool, count): &OfTool<'_>| {
        let mut row = json!({ "server": server, "tool": tool });
        add(&mut row, count);
        row
    };
    object["tools"] = tools.iter().map(of_tool).collect();
    object
}

fn add(object: &mut Value, count: &Count<Exact>) {
    object["calls"] = count.calls().into();
    object["asked"] = count.asked.into();
    object["approved"] = count.approved().into();
    object["denied"] = count.denied().into();
    object["withdrawn"] = count.withdrawn.into();
    object["by"] = json!(count.by());
    object["median_ms"] = json!(median_ms(count));
}

fn median_ms(count: &Count<Exact>) -> Option<f64> {
    count.waited.median().map(|micros| micros / 1000.0)
}

fn text(tally: &Tally<Exact>, tools: &[OfTool<'_>], more: usize, out: &mut dyn Write) -> io::Result<()> {
    let all = &tally.all;
    let time = |time: Option<i64>| time.map_or_else(|| "?".to_owned(), rfc3339);
    writeln!(out, "{} from {} to {}", counted(all.calls(), "call"), time(tally.from), time(tally.to))?;
    let by = all.by();
    let others: Vec<String> = by.iter().map(|(word, count)| format!("{count} by {word}")).collect();
    let saved = all.approved_by(By::Rule);
    let median = median_ms(all).map(|ms| format!(", the median answer took {}", seconds(ms))).unwrap_or_default();
    writeln!(out, "  approved   {}", all.approved())?;
    writeln!(out, "  denied     {}", all.denied())?;
    writeln!(out, "  decided    {}", if others.is_empty() { "-".to_owned() } else { others.join(", ") })?;
    writeln!(out, "  asked      {}{median}", all.asked)?;
    writeln!(out, "  withdrawn  {}", all.withdrawn)?;
    writeln!(out, "  saved      {}, by rules", counted(saved, "question"))?;
    if saved == 0 && by.contains_key(By::Operator.word()) {
        writeln!(out, "             (`mcp-approve rules --help`: a rule answers the same question for you)")?;
    }
    if tally.refused_lines > 0 {
        writeln!(out, "  refused    {} lines of hosts", tally.refused_lines)?;
    }
    if tally.unreadable > 0 {
        writeln!(out, "  UNREADABLE {} records: run `mcp-approve log verify`", tally.unreadable)?;
    }
    for (rule, of) in &tally.rules {
        writeln!(out, "  rule       {} by {}", of.hits, visible(rule))?;
    }
    writeln!(out)?;
    let rows = tools.iter().map(|(server, tool, count)| {
        let numbers = [count.calls(), count.approved(), count.denied(), count.asked, count.withdrawn];
        let [calls, approved, denied, asked, withdrawn] = numbers.map(|number| number.to_string());
        let median = median_ms(count).map_or_else(|| "-".to_owned(), seconds);
        [visible(server), visible(tool), calls, approved, denied, asked, withdrawn, median]
    });
    print::table(&COLUMNS, 2, std::iter::once(TITLES.map(str::to_owned)).chain(rows), out)?;
    if more > 0 {
        writeln!(out, "and {more} more tools: --limit {}", tools.len() + more)?;
    }
    Ok(())
}

fn seconds(ms: f64) -> String {
    if ms < 10_000.0 { format!("{:.1} s", ms / 1000.0) } else { format!("{:.0} s", ms / 1000.0) }
}
