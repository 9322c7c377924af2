//! `mcp-approve rules list|check|explain|path`: shows the policy as it stands. Changes nothing.

pub mod append;
mod explain;
mod list;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;

use super::args::RulesCommand;
use super::places::Places;
use super::policy_file::{self, PolicyPlace, Why, load};
use crate::error::Error;
use crate::policy::lint::{Warning, lint};
use crate::policy::reading::Problem;

/// Runs one command on the policy of `places`, or the one that `named` names. `now` is milliseconds since 1970, UTC.
///
/// # Errors
/// The policy or the call cannot be read, or the output cannot be written.
pub fn run(
    command: &RulesCommand,
    named: Option<PathBuf>,
    places: &Places,
    now: i64,
    out: &mut dyn Write,
) -> Result<ExitCode, Error> {
    let place = match named {
        Some(path) => PolicyPlace::Named(path),
        None => PolicyPlace::Usual(places.policy_file()),
    };
    if let RulesCommand::Path = command {
        writeln!(out, "{}", place.path().display())?;
        return Ok(ExitCode::SUCCESS);
    }
    places.check_config()?;
    match command {
        RulesCommand::Path => Ok(ExitCode::SUCCESS),
        RulesCommand::List { json } => list::run(&load(&place)?, &place, *json, out),
        RulesCommand::Explain { call, json } => explain::run(&load(&place)?, call, *json, now, out),
        RulesCommand::Check { json } => check(&place, *json, now, out),
    }
}

/// Tells every problem of the file; exit code 1 if there is one.
fn check(place: &PolicyPlace, json: bool, now: i64, out: &mut dyn Write) -> Result<ExitCode, Error> {
    let path = place.path();
    let policy = match load(place) {
        Ok(policy) => policy,
        Err(broken) => match broken.why {
            Why::Problems(problems) => {
                let text = policy_file::text(path).unwrap_or_default();
                show(path, &text, &problems, json, out)?;
                return Ok(ExitCode::FAILURE);
            }
            Why::Unreadable(_) | Why::Untrusted(_) | Why::NoText => return Err(broken.into()),
        },
    };
    let warnings = lint(&policy, now);
    if json {
        let row = |warning: &Warning| {
            json!({
                "file": path.display().to_string(), "line": warning.line, "column": 1, "severity": "warning",
                "what": warning.what, "mend": warning.mend,
            })
        };
        writeln!(out, "{:#}", warnings.iter().map(row).collect::<serde_json::Value>())?;
        return Ok(ExitCode::SUCCESS);
    }
    for Warning { line, what, mend, .. } in &warnings {
        writeln!(out, "{}:{line}: warning: {what}\n  = {mend}\n", path.display())?;
    }
    if path.exists() {
        let rules = policy.rules.len();
        writeln!(out, "{}: in order, {rules} {}", path.display(), if rules == 1 { "rule" } else { "rules" })?;
    } else {
        writeln!(out, "{}: no file, so the built-in default applies (mcp-approve rules list)", path.display())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows each problem with its line, a caret and its mend.
fn show(path: &Path, text: &str, problems: &[Problem], json: bool, out: &mut dyn Write) -> Result<(), Error> {
    if json {
        let row = |problem: &Problem| {
            json!({
                "file": path.display().to_string(), "line": problem.line, "column": problem.column, "severity": "error",
                "what": problem.what, "mend": problem.mend,
            })
        };
        writeln!(out, "{:#}", problems.iter().map(row).collect::<serde_json::Value>())?;
        return Ok(());
    }
    for problem in problems {
        let source = text.lines().nth(problem.line - 1).unwrap_or_default();
        let before: String = source.chars().take(problem.column - 1).collect();
        let (number, indent) = (problem.line, visible(&before).chars().count());
        let margin = " ".repeat(number.to_string().len());
        writeln!(out, "{}:{number}:{}: {}", path.display(), problem.column, problem.what)?;
        writeln!(out, "  {number} | {}", visible(source))?;
        writeln!(out, "  {margin} | {}^", " ".repeat(indent))?;
        writeln!(out, "  {margin} = {}\n", problem.mend)?;
    }
    let count = problems.len();
    writeln!(out, "{count} {} in {}", if count == 1 { "error" } else { "errors" }, path.display())?;
    Ok(())
}

/// Text of a file, fit for a terminal: what does not print is escaped.
fn visible(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars() {
        match c {
            '"' | '\'' | '\\' => shown.push(c),
            other => shown.extend(other.escape_debug()),
        }
    }
    shown
}
