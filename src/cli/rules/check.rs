//! `rules check`: every problem of every policy file that applies here, and what is hardly meant. Changes nothing.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use super::{Site, called};
use crate::cli::error::{Error, Exit};
use crate::cli::print::{shown, visible};
use crate::home::change::{Draft, Drafted};
use crate::home::layers::{Keeps, Layers};
use crate::home::policy_file::{self, PolicyPlace, Why, load};
use crate::policy::lint::{Warning, lint, otherwise};
use crate::policy::reading::Problem;
use crate::text::plain;
use crate::wire::number::counted;

/// Checks the file that was named, or else all that apply in this folder; exit code 1 if one has an error.
pub(super) fn run(site: &Site<'_>, layers: &mut Layers, json: bool, out: &mut dyn Write) -> Exit {
    let place = &site.place;
    let files: Vec<PolicyPlace> = match place {
        PolicyPlace::Named(_) => vec![place.clone()],
        PolicyPlace::Usual(_) => layers.present().map(|file| file.place.clone()).collect(),
    };
    let mut rows = Vec::new();
    let mut code = ExitCode::SUCCESS;
    for file in &files {
        if !check(file, json, site.now, &mut rows, out)? {
            code = ExitCode::FAILURE;
        }
    }
    if json {
        writeln!(out, "{:#}", Value::from(rows))?;
        return Ok(code);
    }
    if files.is_empty() {
        let path = shown(place.path());
        writeln!(out, "{path}: no file, so the built-in default applies ({})", site.places.command("rules list"))?;
    }
    for one in &layers.load(Keeps::Nothing).pending {
        let count = one.loosens.len();
        let things = if count == 1 {
            "1 change that allows more waits"
        } else {
            &format!("{count} changes that allow more wait")
        };
        writeln!(out, "{}: {things} until accepted ({})", visible(&one.file), site.places.command("rules accept"))?;
    }
    Ok(code)
}

/// What to do about a rule that reads otherwise than before.
const HINT: &str =
    "see whether it still says what you mean: `mcp-approve rules replay` shows past verdicts that change";

/// Checks one file; whether it is in order.
fn check(place: &PolicyPlace, json: bool, now: i64, rows: &mut Vec<Value>, out: &mut dyn Write) -> Result<bool, Error> {
    let path = place.path();
    let mut row = |line: usize, column: usize, severity: &str, what: &str, hint: &str| {
        rows.push(json!({
            "file": path.display().to_string(), "line": line, "column": column, "severity": severity,
            "what": what, "mend": hint,
        }));
    };
    let policy = match load(place) {
        Ok(policy) => policy,
        Err(broken) => {
            let Why::Problems(problems) = &broken.why else {
                return Err(broken.into());
            };
            if json {
                problems.iter().for_each(|one| row(one.line, one.column, "error", &one.what, &one.hint));
            } else {
                show(path, &policy_file::text(path).unwrap_or_default(), problems, out)?;
            }
            return Ok(false);
        }
    };
    let mut warnings = lint(&policy, now);
    warnings.extend(called::otherwise(&policy));
    if json {
        warnings.iter().for_each(|one| row(one.line, one.column, "warning", &one.what, &one.hint));
        for change in otherwise(&policy) {
            let what = |id: &str| format!("rule {id} reads otherwise than before: {}", change.what);
            change.rules.iter().for_each(|(id, line)| row(*line, 1, "note", &what(id), HINT));
        }
        return Ok(true);
    }
    for Warning { line, column, what, hint, .. } in &warnings {
        let (path, what, hint) = (shown(path), visible(what), visible(hint));
        writeln!(out, "{path}:{line}:{column}: warning: {what}\n  = {hint}\n")?;
    }
    for change in otherwise(&policy) {
        let rules: Vec<String> = change.rules.iter().map(|(id, line)| format!("{id} (line {line})")).collect();
        let (path, rules) = (shown(path), rules.join(", "));
        writeln!(out, "{path}: note: these rules read otherwise than before: {rules}\n  = {}\n", change.what)?;
    }
    let rules = counted(policy.rules.len(), "rule");
    let off = match policy.disabled.len() {
        0 => String::new(),
        off => format!(", and {off} switched off"),
    };
    writeln!(out, "{}: in order, {rules}{off}", shown(path))?;
    Ok(true)
}

/// Shows each problem with its line, a caret and its hint.
pub(super) fn show(path: &Path, text: &str, problems: &[Problem], out: &mut dyn Write) -> Result<(), Error> {
    for problem in problems {
        let source = text.lines().nth(problem.line - 1).unwrap_or_default();
        let before: String = source.chars().take(problem.column - 1).collect();
        let (number, indent) = (problem.line, plain::block(&before).chars().count());
        let margin = " ".repeat(number.to_string().len());
        writeln!(out, "{}:{number}:{}: {}", shown(path), problem.column, visible(&problem.what))?;
        writeln!(out, "  {number} | {}", plain::block(source))?;
        writeln!(out, "  {margin} | {}^", " ".repeat(indent))?;
        writeln!(out, "  {margin} = {}\n", visible(&problem.hint))?;
    }
    Ok(writeln!(out, "{} in {}", counted(problems.len(), "error"), shown(path))?)
}

/// The draft where it is sound; else shows what is wrong with it.
pub(super) fn sound<'p>(
    drafted: Drafted<'p>,
    path: &Path,
    out: &mut dyn Write,
) -> Result<Option<Box<Draft<'p>>>, Error> {
    match drafted {
        Drafted::Sound(draft) => Ok(Some(draft)),
        Drafted::Broken { text, problems } => {
            show(path, &text, &problems, out)?;
            writeln!(out, "Nothing was written.")?;
            Ok(None)
        }
    }
}
