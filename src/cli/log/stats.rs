//! `mcp-approve log stats`: the log in figures, on a terminal and as JSON. Counts nothing itself.

use std::collections::BTreeMap;
use std::io;
use std::io::Write;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::audit::tally::{Count, Exact, Tally};
use crate::audit::{By, query, query::Detections, rfc3339};
use crate::cli::error::Exit;
use crate::cli::log::named::{self, LogPlace, RecordsWanted};
use crate::cli::look::{Look, json_object, visible};
use crate::text::row::{Row, Tone};
use crate::text::{columns::cell, time};
use crate::wire::{counted, number::grouped};

#[derive(Clone, Debug, clap::Args)]
pub struct StatsOptions {
    #[command(flatten)]
    pub of: RecordsWanted,
    /// At most this many tools, the most called
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

const TITLES: [&str; 8] = ["SERVER", "TOOL", ">CALLS", ">APPROVED", ">DENIED", ">ASKED", ">WITHDRAWN", ">YOUR TIME"];

/// The figures of one tool: server, tool, what became of its calls.
type OfTool<'t> = (&'t str, &'t str, &'t Count);

pub(super) fn run(options: &StatsOptions, place: LogPlace<'_>, look: Look<'_>, out: &mut dyn Write) -> Exit {
    let search = options.of.search(look.clock)?;
    let reader = named::open(place)?;
    let (tally, found) = match &reader {
        Some(reader) => {
            let index = named::index(place, reader)?;
            let found = query::detections(reader, index.as_ref(), &search)?;
            (query::decisions(reader, index.as_ref(), &search)?, found)
        }
        None => Default::default(),
    };
    let mut tools: Vec<OfTool<'_>> = tally
        .tools
        .iter()
        .flat_map(|(server, tools)| tools.iter().map(|(tool, of)| (server.as_str(), tool.as_str(), &of.count)))
        .collect();
    // The sort is stable: the same number stays in the order of names.
    tools.sort_by_key(|(.., count)| std::cmp::Reverse(count.calls()));
    let approved = approved(&tools);
    let more = tools.len().saturating_sub(options.limit);
    tools.truncate(options.limit);
    if options.json {
        json_object(object(&tally, &found, &approved, &tools), out)?;
    } else if reader.is_none() {
        named::no_log(place, look, out)?;
    } else if tally.all.calls() == 0 && tally.all.asked == 0 {
        let hint = look.hint("`mcp-approve log list` shows what else there is");
        writeln!(out, "No call of that kind was decided yet; {hint}.")?;
    } else {
        text(&tally, &found, &approved, &tools, (more, look), out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The tools whose calls operators approved, the most first: by server, tool and how many.
fn approved<'t>(tools: &[OfTool<'t>]) -> Vec<(&'t str, &'t str, u64)> {
    const MOST: usize = 5;
    let of_tool = |(server, tool, count): &OfTool<'t>| (*server, *tool, count.approved_by(By::Operator));
    let mut found: Vec<_> = tools.iter().map(of_tool).filter(|(.., calls)| *calls > 0).collect();
    found.sort_by_key(|(.., calls)| std::cmp::Reverse(*calls));
    found.truncate(MOST);
    found
}

fn object(tally: &Tally<Exact>, found: &Detections, approved: &[(&str, &str, u64)], tools: &[OfTool<'_>]) -> Value {
    let rules: serde_json::Map<_, _> = tally.rules.iter().map(|(rule, of)| (rule.clone(), of.hits.into())).collect();
    let mut object = json!({ "from": tally.from.map(rfc3339), "to": tally.to.map(rfc3339) });
    add(&mut object, &tally.all);
    object["saved_by_rules"] = tally.all.approved_by(By::Rule).into();
    object["refused_lines"] = tally.refused_lines.into();
    object["unreadable"] = tally.unreadable.into();
    object["rules"] = rules.into();
    object["detections"] = json!({
        "hazards": found.hazards,
        "disputed": found.disputed,
        "unexpected_behavior": found.unexpected,
        "schema_violations": found.violations,
        "changed_definitions": found.changed,
        "new_definitions": found.added,
        "likely_confirmed": found.confirmed,
        "likely_refused": found.refused,
    });
    let held = |percent| found.gate.quantile(percent).map(millis);
    object["gate"] = json!({ "median_ms": held(50), "p95_ms": held(95), "p99_ms": held(99) });
    let candidate =
        |(server, tool, calls): &(&str, &str, u64)| json!({ "server": server, "tool": tool, "calls": calls });
    object["asked_then_approved"] = json!({
        "calls": tally.all.approved_by(By::Operator),
        "tools": approved.iter().map(candidate).collect::<Vec<_>>(),
    });
    let of_tool = |(server, tool, count): &OfTool<'_>| {
        let mut row = json!({ "server": server, "tool": tool });
        add(&mut row, count);
        row
    };
    object["tools"] = tools.iter().map(of_tool).collect();
    object
}

fn add(object: &mut Value, count: &Count) {
    object["calls"] = count.calls().into();
    object["asked"] = count.asked.into();
    object["approved"] = count.approved().into();
    object["denied"] = count.denied().into();
    object["withdrawn"] = count.withdrawn.into();
    let by: BTreeMap<&str, u64> = count.by().into_iter().map(|(by, count)| (by.word(), count)).collect();
    object["by"] = json!(by);
    object["median_ms"] = json!(count.median().map(|micros| micros / 1000.0));
}

#[expect(clippy::cast_precision_loss, reason = "that many microseconds are 285 years")]
fn millis(micros: u64) -> f64 {
    micros as f64 / 1000.0
}

fn text(
    tally: &Tally<Exact>,
    found: &Detections,
    approved: &[(&str, &str, u64)],
    tools: &[OfTool<'_>],
    (more, look): (usize, Look<'_>),
    out: &mut dyn Write,
) -> io::Result<()> {
    let all = &tally.all;
    let time = |time: Option<i64>| time.map_or_else(|| "?".to_owned(), |at| time::date(at, look.clock.offset));
    writeln!(out, "{} from {} to {}", counted(all.calls(), "call"), time(tally.from), time(tally.to))?;
    let by = all.by();
    let others: Vec<String> = by.iter().map(|(by, count)| format!("{count} by {}", by.in_words())).collect();
    let saved = all.approved_by(By::Rule);
    let median =
        all.median().map(|took| format!("; your median answer time was {}", time::took(took))).unwrap_or_default();
    writeln!(out, "  approved   {}", all.approved())?;
    writeln!(out, "  denied     {}", all.denied())?;
    writeln!(out, "  decided    {}", if others.is_empty() { "-".to_owned() } else { others.join(", ") })?;
    writeln!(out, "  asked      {}{median}", all.asked)?;
    writeln!(out, "  withdrawn  {}", all.withdrawn)?;
    writeln!(out, "  saved      {}, by rules", counted(saved, "question"))?;
    if saved == 0 && by.contains_key(&By::Operator) {
        let hint = look.hint("`mcp-approve rules --help`: a rule answers the same question for you");
        writeln!(out, "  {:10} ({hint})", "")?;
    }
    let Detections { disputed, unexpected, violations, changed, added, confirmed, refused, hazards, gate } = found;
    if let (Some(half), Some(most)) = (gate.quantile(50), gate.quantile(95)) {
        let (half, most) = (millis(half), millis(most));
        writeln!(out, "  gate       unasked calls were held {half:.1} ms (half of them), {most:.1} ms (95 of 100)")?;
    }
    writeln!(
        out,
        "  detected   {disputed} disputed, {unexpected} of unexpected behavior, {violations} against the schema"
    )?;
    for (at, (kind, calls)) in hazards.iter().enumerate() {
        let label = if at == 0 { "hazards" } else { "" };
        writeln!(out, "  {label:10} {kind}: {}", counted(*calls, "call"))?;
    }
    writeln!(out, "  tools      {changed} changed their definition, {added} new")?;
    writeln!(out, "  PURE?      {confirmed} confirmed as reads, {refused} marked as MUTATES or refused")?;
    for (at, (server, tool, calls)) in approved.iter().enumerate() {
        let label = if at == 0 { "by you" } else { "" };
        let calls = counted(*calls, "call");
        writeln!(out, "  {label:10} approved {calls} of {} / {}", visible(server), visible(tool))?;
    }
    if !approved.is_empty() {
        let hint = look.hint("`mcp-approve tools review` confirms reads, `mcp-approve rules suggest` offers rules");
        writeln!(out, "  {:10} ({hint})", "")?;
    }
    if tally.refused_lines > 0 {
        writeln!(out, "  refused    {} that hosts sent", counted(tally.refused_lines, "line"))?;
    }
    if tally.unreadable > 0 {
        let hint = look.hint("run `mcp-approve log verify`");
        writeln!(out, "  UNREADABLE {}: {hint}", counted(tally.unreadable, "record"))?;
    }
    for (rule, of) in &tally.rules {
        writeln!(out, "  rule       {} by {}", of.hits, visible(rule))?;
    }
    writeln!(out)?;
    let rows = tools.iter().map(|(server, tool, count)| {
        let numbers = [count.calls(), count.approved(), count.denied(), count.asked, count.withdrawn];
        let [calls, approved, denied, asked, withdrawn] = numbers.map(|number| Row::of(Tone::Ours, grouped(number)));
        let median = Row::of(Tone::Ours, count.median().map_or_else(|| "-".to_owned(), time::took));
        let (server, tool) = (cell(Tone::Quiet, server), cell(Tone::Strong, tool));
        [server, tool, calls, approved, denied, asked, withdrawn, median]
    });
    look.list(TITLES, &rows.collect::<Vec<_>>(), out)?;
    if more > 0 {
        writeln!(out, "and {}: --limit {}", counted(more, "more tool"), tools.len() + more)?;
    }
    Ok(())
}
