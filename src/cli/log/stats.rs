//! `mcp-approve log stats`: the log in figures, on a terminal and as JSON. Counts nothing itself.

use std::io::{self, Write};
use std::path::Path;

use globset::GlobMatcher;
use unicode_width::UnicodeWidthStr as _;

use super::print::{clipped, visible, visible_json};
use super::progress;
use super::{Finding, LogError, glob};
use crate::audit::query::{Filter, Since};
use crate::audit::stats::{self, Count, Stats};
use crate::audit::store::Reader;

/// Which records are counted, and how they are told.
#[derive(Clone, Debug, clap::Args)]
pub struct StatsOptions {
    /// Only this server (a name or a glob)
    #[arg(long, value_name = "NAME", value_parser = glob)]
    pub server: Option<GlobMatcher>,
    /// Only this tool (a name or a glob)
    #[arg(long, value_name = "NAME", value_parser = glob)]
    pub tool: Option<GlobMatcher>,
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

const COLUMNS: [&str; 8] = ["SERVER", "TOOL", "CALLS", "APPROVED", "DENIED", "ASKED", "WITHDRAWN", "MEDIAN"];
const WIDEST: usize = 40;

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Counts and tells.
///
/// # Errors
/// As [`super::run`].
pub(super) fn run(options: &StatsOptions, db: &Path, now: i64, out: &mut dyn Write) -> Result<Finding, LogError> {
    let filter = Filter {
        server: options.server.clone(),
        tool: options.tool.clone(),
        since: options.since.map(|since| since.moment(now)),
        ..Filter::default()
    };
    let reader = Reader::open(db)?;
    let mut stats = match &reader {
        Some(reader) => stats::count(reader, progress::index(db, reader)?.as_ref(), &filter)?,
        None => Stats::default(),
    };
    let more = stats.tools.len().saturating_sub(options.limit);
    stats.tools.truncate(options.limit);
    if options.json {
        let text = serde_json::to_string(&stats).map_err(io::Error::from)?;
        writeln!(out, "{}", visible_json(&text))?;
    } else if reader.is_none() {
        let missing = LogError::NoLog(db.to_path_buf());
        writeln!(out, "{missing}: {}", missing.hint())?;
    } else if stats.all.calls == 0 && stats.all.asked == 0 {
        writeln!(out, "No call of that kind was decided yet; `mcp-approve log list` shows what else there is.")?;
    } else {
        told(&stats, more, out)?;
    }
    Ok(Finding::So)
}

fn told(stats: &Stats, more: usize, out: &mut dyn Write) -> io::Result<()> {
    let all = &stats.all;
    let time = |time: &Option<String>| visible(time.as_deref().unwrap_or("?"));
    writeln!(out, "{} from {} to {}", counted(all.calls, "call"), time(&stats.from), time(&stats.to))?;
    let by = |word: &str| all.by.get(word).copied().unwrap_or(0);
    let others: Vec<String> = all.by.iter().map(|(word, count)| format!("{count} by {}", visible(word))).collect();
    writeln!(out, "  approved   {}", all.approved)?;
    writeln!(out, "  denied     {}", all.denied)?;
    writeln!(out, "  decided    {}", if others.is_empty() { "-".to_owned() } else { others.join(", ") })?;
    writeln!(out, "  asked      {}{}", all.asked, all.median_ms.map_or_else(String::new, median))?;
    writeln!(out, "  withdrawn  {}", all.withdrawn)?;
    writeln!(out, "  saved      {}, by rules", counted(stats.saved_by_rules, "question"))?;
    if stats.saved_by_rules == 0 && by("operator") > 0 {
        writeln!(out, "             (`mcp-approve rules --help`: a rule answers the same question for you)")?;
    }
    if stats.refused_lines > 0 {
        writeln!(out, "  refused    {} lines of hosts", stats.refused_lines)?;
    }
    if stats.unreadable > 0 {
        writeln!(out, "  UNREADABLE {} records: run `mcp-approve log verify`", stats.unreadable)?;
    }
    for (rule, count) in &stats.rules {
        writeln!(out, "  rule       {count} by {}", visible(rule))?;
    }
    writeln!(out)?;
    table(stats, out)?;
    if more > 0 {
        writeln!(out, "and {more} more tools: --limit {}", stats.tools.len() + more)?;
    }
    Ok(())
}

fn median(ms: f64) -> String {
    format!(", the median answer took {}", seconds(ms))
}

fn seconds(ms: f64) -> String {
    if ms < 10_000.0 { format!("{:.1} s", ms / 1000.0) } else { format!("{:.0} s", ms / 1000.0) }
}

fn table(stats: &Stats, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = vec![COLUMNS.map(str::to_owned)];
    for of in &stats.tools {
        let Count { calls, approved, denied, asked, withdrawn, median_ms, .. } = &of.count;
        let name = |text: &str| clipped(&visible(text), WIDEST);
        let [calls, approved, denied, asked, withdrawn] =
            [calls, approved, denied, asked, withdrawn].map(u64::to_string);
        let median = median_ms.map_or_else(|| "-".to_owned(), seconds);
        rows.push([name(&of.server), name(&of.tool), calls, approved, denied, asked, withdrawn, median]);
    }
    let mut widths = [0; 8];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    for row in &rows {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(widths).enumerate() {
            let gap = " ".repeat(width - cell.width());
            // Numbers stand to the right.
            line += &if at < 2 { format!("{cell}{gap}  ") } else { format!("{gap}{cell}  ") };
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
