//! `mcp-approve rules …`: shows, checks, explains, changes and tries the policy. Owns the choice of file.

mod accept;
mod add;
mod alter;
pub mod append;
mod change;
mod explain;
mod import;
mod list;
pub mod options;
mod past;
mod replay;
mod suggest;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;

use super::args::RulesCommand;
use super::layers::{Keeps, Layers};
use super::places::Places;
use super::policy_file::{self, PolicyPlace, Why, load};
use crate::error::Error;
use crate::policy::lint::{Warning, lint};
use crate::policy::reading::Problem;
use crate::policy::rule::Policy;

/// The JSON Schema of a policy.
pub const SCHEMA: &str = include_str!("../../assets/policy.schema.json");

/// What options named; `None` is the usual place.
#[derive(Clone, Debug, Default)]
pub struct Named {
    pub policy: Option<PathBuf>,
    pub db: Option<PathBuf>,
}

/// Where a command works.
struct Site<'a> {
    place: PolicyPlace,
    places: &'a Places,
    db: PathBuf,
    /// Milliseconds since 1970, UTC.
    now: i64,
}

/// Runs one command on the policy of `places`, or the one that was named. `now` is milliseconds since 1970, UTC.
///
/// # Errors
/// The policy, the call or the log cannot be read, the policy cannot be written, or the output cannot.
pub fn run(
    command: &RulesCommand,
    named: Named,
    places: &Places,
    now: i64,
    out: &mut dyn Write,
) -> Result<ExitCode, Error> {
    let place = match named.policy {
        Some(path) => PolicyPlace::Named(path),
        None => PolicyPlace::Usual(places.policy_file()),
    };
    match command {
        RulesCommand::Path => {
            writeln!(out, "{}", place.path().display())?;
            return Ok(ExitCode::SUCCESS);
        }
        RulesCommand::Schema => {
            write!(out, "{SCHEMA}")?;
            return Ok(ExitCode::SUCCESS);
        }
        _ => places.check_config()?,
    }
    let folder = std::env::current_dir().ok();
    let mut layers = Layers::of(places, folder.as_deref(), &place);
    let site = Site { place, places, db: named.db.unwrap_or_else(|| places.audit_db()), now };
    match command {
        RulesCommand::Path | RulesCommand::Schema => Ok(ExitCode::SUCCESS),
        RulesCommand::List { json } => list::run(&standing(&mut layers)?, &layers, *json, out),
        RulesCommand::Explain { call, record, json } => {
            let call = match (call, record) {
                (_, Some(record)) => explain::Call::of_record(record, &site.db)?,
                (call, None) => explain::Call::of_file(call.as_deref().unwrap_or(Path::new("-")))?,
            };
            explain::run(&standing(&mut layers)?, &call, *json, now, out)
        }
        RulesCommand::Accept => accept::run(&mut layers, places, now, out),
        RulesCommand::Check { json } => check(&site.place, *json, now, out),
        RulesCommand::Add(options) => add::run(options, &site, out),
        RulesCommand::Remove(options) => alter::remove(options, &site, out),
        RulesCommand::Edit(options) => alter::edit(options, &site, out),
        RulesCommand::Except(options) => alter::except(options, &site, out),
        RulesCommand::Undo => alter::undo(&site, out),
        RulesCommand::Replay(options) => replay::run(options, &site, out),
        RulesCommand::Suggest(options) => suggest::run(options, &site, out),
        RulesCommand::Import(options) => import::run(options, &site, out),
    }
}

/// The policy as a wrapper in this folder would have it.
///
/// # Errors
/// The first file that cannot be used.
fn standing(layers: &mut Layers) -> Result<Policy, Error> {
    for file in layers.files() {
        load(&file.place)?;
    }
    Ok(layers.load(Keeps::Nothing))
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
                "file": path.display().to_string(), "line": warning.line, "column": warning.column, "severity": "warning",
                "what": warning.what, "mend": warning.mend,
            })
        };
        writeln!(out, "{:#}", warnings.iter().map(row).collect::<serde_json::Value>())?;
        return Ok(ExitCode::SUCCESS);
    }
    for warning in &warnings {
        warn(path, warning, out)?;
    }
    if path.exists() {
        let rules = policy.rules.len();
        writeln!(out, "{}: in order, {rules} {}", path.display(), if rules == 1 { "rule" } else { "rules" })?;
    } else {
        writeln!(out, "{}: no file, so the built-in default applies (mcp-approve rules list)", path.display())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn warn(path: &Path, warning: &Warning, out: &mut dyn Write) -> Result<(), Error> {
    let Warning { line, column, what, mend, .. } = warning;
    writeln!(out, "{}:{line}:{column}: warning: {}\n  = {mend}\n", path.display(), visible(what))?;
    Ok(())
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
