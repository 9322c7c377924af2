//! `mcp-approve tools search`: ranks everything ever seen for a task. What may not be used is left out first, whatever it
//! says of itself; then relevance counts, times what a call costs.

use std::collections::HashMap;
use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::json;

use super::list::{NONE, clipped, tag};
use super::observed::{self, Observed};
use super::{memory, print, row, visible};
use crate::behavior::profile::{self, Words};
use crate::behavior::tags;
use crate::behavior::taxonomy::Mutability;
use crate::behavior::words;
use crate::cli::args::{Badge, ToolsSearchOptions};
use crate::cli::places::Places;
use crate::error::Error;
use crate::pins::reading::Known;

struct Hit {
    known: Known,
    relevance: f64,
    cost: f64,
    why: String,
    observed: Observed,
}

impl Hit {
    fn score(&self) -> f64 {
        self.relevance * self.cost
    }
}

/// Searches.
pub(super) fn run(options: &ToolsSearchOptions, places: &Places, out: &mut dyn Write) -> Result<ExitCode, Error> {
    let memory = memory(places)?;
    let tools = super::known(memory.as_ref(), options.server.as_deref())?;
    if tools.is_empty() && !options.output.json && !options.output.jsonl {
        writeln!(out, "{NONE}")?;
        return Ok(ExitCode::SUCCESS);
    }
    let query = options.query.join(" ");
    let relevance: HashMap<i64, f64> = match &memory {
        Some(memory) => memory.search(&query)?.into_iter().collect(),
        None => HashMap::new(),
    };
    let log = observed::observe(&places.audit_db()).map_err(crate::cli::log::LogError::from)?;
    let matching: Vec<Known> = tools.into_iter().filter(|known| relevance.contains_key(&known.id)).collect();
    let found = matching.len();
    let mut hits: Vec<Hit> = matching
        .into_iter()
        .filter_map(|known| {
            if !may_use(options, &known) {
                return None;
            }
            let key = (known.server.name.clone(), known.tool.name.clone());
            let observed = log.get(&key).cloned().unwrap_or_default();
            let relevance = relevance.get(&known.id).copied().unwrap_or_default();
            let (cost, price) = cost(&observed);
            let why = format!("{}; relevance {relevance:.2} × cost {cost:.2} ({price})", matched(&query, &known));
            Some(Hit { known, relevance, cost, why, observed })
        })
        .collect();
    let left_out = found - hits.len();
    hits.sort_by(|a, b| b.score().total_cmp(&a.score()).then_with(|| a.known.tool.name.cmp(&b.known.tool.name)));
    hits.truncate(options.output.limit.unwrap_or(10));
    let rows: Vec<_> = hits.iter().map(json).collect();
    let none = match left_out {
        0 => "No tool fits these words. `mcp-approve tools list` shows them all.".to_owned(),
        _ => format!("No tool that may be used fits these words; {left_out} that fit may not be used."),
    };
    print(options.output, &rows, &none, out, |out| table(&hits, left_out, out))?;
    Ok(ExitCode::SUCCESS)
}

/// The hard gate: badge, tag, and a definition that is trusted.
fn may_use(options: &ToolsSearchOptions, known: &Known) -> bool {
    let badge = match options.badge {
        Some(Badge::Pure) => known.behavior.badge() == Mutability::Pure,
        Some(Badge::Mutates) => known.behavior.badge() == Mutability::Mutates,
        None => true,
    };
    let tags = tags::of(&known.behavior, &known.tool.name);
    let granted = options.capability.is_empty()
        || options.capability.iter().any(|wanted| tags.iter().any(|tag| grants(wanted, tag)));
    badge && granted && known.standing != crate::gate::pins::Standing::Refused
}

/// `files:read` grants itself; `*:read` and `files:*` grant what they leave open.
fn grants(wanted: &str, tag: &str) -> bool {
    let part = |wanted: &str, is: &str| wanted == "*" || wanted == is;
    match (wanted.split_once(':'), tag.split_once(':')) {
        (Some((things, act)), Some((its_things, its_act))) => part(things, its_things) && part(act, its_act),
        _ => false,
    }
}

/// What a call costs, between 0 and 1, and in words: time observed, and calls that came to nothing.
fn cost(observed: &Observed) -> (f64, String) {
    let (Some(p50), Some(errors)) = (observed.percentile(50), observed.error_rate()) else {
        return (0.95, "never called".to_owned());
    };
    let tier = match p50 {
        ..50.0 => 1.0,
        ..500.0 => 0.95,
        ..5_000.0 => 0.85,
        _ => 0.7,
    };
    (tier * (1.0 - errors / 2.0), observed.line())
}

/// Which of the query's words stand where.
fn matched(query: &str, known: &Known) -> String {
    let wanted = profile::asked(query);
    let in_name = words::of_name(&known.tool.name);
    let alike = |a: &str, b: &str| a == b || a.strip_suffix('s') == Some(b) || b.strip_suffix('s') == Some(a);
    let (named, told): (Vec<&String>, Vec<&String>) =
        wanted.iter().partition(|word| in_name.iter().any(|name| alike(word, name)));
    let text = Words::of(&known.tool);
    let text = format!("{} {} {}", text.title, text.description, text.parameters).to_lowercase();
    let told: Vec<&String> = told.into_iter().filter(|word| text.contains(word.trim_end_matches('s'))).collect();
    let list = |words: &[&String]| words.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(" ");
    match (named.is_empty(), told.is_empty()) {
        (false, true) => format!("named {}", list(&named)),
        (true, false) => format!("told {}", list(&told)),
        (false, false) => format!("named {}, told {}", list(&named), list(&told)),
        (true, true) => "related words".to_owned(),
    }
}

fn json(hit: &Hit) -> serde_json::Value {
    let mut row = row::json(&hit.known, Some(&hit.observed));
    row["score"] = json!(round(hit.score()));
    row["relevance"] = json!(round(hit.relevance));
    row["cost"] = json!(round(hit.cost));
    row["why"] = json!(hit.why);
    row
}

fn round(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}

fn table(hits: &[Hit], left_out: usize, out: &mut dyn Write) -> io::Result<()> {
    for hit in hits {
        let known = &hit.known;
        writeln!(
            out,
            "{:7.2}  {:7}  {} / {}  ({})",
            hit.score(),
            known.behavior.badge().word(),
            visible(&known.server.name),
            visible(&known.tool.name),
            visible(&tag(known)),
        )?;
        let first =
            known.tool.description.as_deref().and_then(|text| text.lines().find(|line| !line.trim().is_empty()));
        if let Some(first) = first {
            writeln!(out, "         | {}", clipped(&visible(first.trim()), 100))?;
        }
        writeln!(out, "         why: {}", visible(&hit.why))?;
    }
    if left_out > 0 {
        writeln!(out, "{left_out} more fit, and may not be used (badge, capability, or refused)")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::grants;

    #[test]
    fn a_capability_grants_what_it_names_and_what_it_leaves_open() {
        for wanted in ["files:read", "*:read", "files:*"] {
            assert!(grants(wanted, "files:read"), "{wanted}");
        }
        for other in ["files:write", "issues:read", "files", "*", "file:read", ""] {
            assert!(!grants(other, "files:read"), "{other}");
        }
    }
}
