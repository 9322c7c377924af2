//! `rules check|accept|remove|edit|except|undo`: problems of policy files, changes and the way back, and accepting what a
//! change loosens: at a terminal only, so an agent that runs the command accepts nothing.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::capability::names::capital;
use crate::cli::error::{Error, Exit, done};
use crate::cli::look::{Here, JsonForm, json_rows, shown, visible, visible_lines};
use crate::cli::rules::options::{EditOptions, RuleOptions};
use crate::cli::rules::{Site, past};
use crate::cli::{console, hosts};
use crate::home::change::{Draft, Drafted};
use crate::home::layers::{AcceptError, Keeps, Layers};
use crate::home::places::Places;
use crate::home::policy_file::{self, PolicyPlace, Why, load};
use crate::operator::rule_book;
use crate::policy::edit::{self, EditError};
use crate::policy::lint::{Warning, lint};
use crate::policy::{Pending, past::replay, reading::Problem};
use crate::signing::Needs;
use crate::text::plain::{self, block};
use crate::wire::counted;

pub(super) fn remove(options: &RuleOptions, site: &Site<'_>, out: &mut dyn Write) -> Exit {
    let mut removed = String::new();
    let edit = |text: &str| {
        let (text, gone) = edit::remove(text, &options.id)?;
        removed = gone;
        Ok(text)
    };
    let drafted = site.file().draft(edit)?;
    let what = format!("removed rule {}", options.id);
    finish(drafted, &what, &removed, options.dry_run, site, out)
}

pub(super) fn edit(options: &EditOptions, site: &Site<'_>, out: &mut dyn Write) -> Exit {
    let Some(id) = &options.id else {
        return Err(Error::wrong(
            "the id of the rule to change is missing",
            "mcp-approve rules edit ID --set KEY=VALUE",
        ));
    };
    // Under a new id, if that is what was changed.
    let renamed = options.set.iter().find(|(key, _)| key == "id").map(|(_, id)| id.trim_matches(['"', '\'']));
    let edit = |text: &str| {
        let mut text = text.to_owned();
        for (key, value) in &options.set {
            text = edit::set(&text, id, key, Some(value))?;
        }
        for key in &options.unset {
            text = edit::set(&text, id, key, None)?;
        }
        Ok(text)
    };
    changed(id, renamed.unwrap_or(id), edit, options.dry_run, site, out)
}

pub(super) fn changed(
    id: &str,
    now_called: &str,
    edit: impl FnOnce(&str) -> Result<String, EditError>,
    dry_run: bool,
    site: &Site<'_>,
    out: &mut dyn Write,
) -> Exit {
    let drafted = site.file().draft(edit)?;
    let rule = match &drafted {
        Drafted::Sound(draft) => edit::rule(&draft.after, now_called).unwrap_or_default(),
        Drafted::Broken { .. } => String::new(),
    };
    finish(drafted, &format!("changed rule {id}"), &rule, dry_run, site, out)
}

fn finish(drafted: Drafted<'_>, what: &str, text: &str, dry_run: bool, site: &Site<'_>, out: &mut dyn Write) -> Exit {
    let path = site.place.path();
    let Some(draft) = sound(drafted, path, out)? else { return Ok(ExitCode::FAILURE) };
    if !dry_run {
        draft.write(what, site.now)?;
    }
    let title = if dry_run { format!("Would have {what}") } else { capital(what) };
    writeln!(out, "{} in {}:\n\n{}", visible(&title), path.display(), visible_lines(text))?;
    if let Some(calls) = past::since(&site.db, None)? {
        let replayed = replay(&draft.policy, &calls, site.now);
        let (changes, calls) = (counted(replayed.changes.len(), "call"), counted(calls.len(), "past call"));
        let command = site.places.command("rules replay");
        writeln!(out, "Of {calls}, {changes} would be decided differently with these rules ({command}).")?;
    }
    if !dry_run {
        offer(site, out)?;
        writeln!(out, "Take it back with: {}", site.places.command("rules undo"))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn undo(site: &Site<'_>, out: &mut dyn Write) -> Exit {
    let what = site.file().undo(site.now)?;
    writeln!(out, "Taken back in {}: {}", site.place.path().display(), visible(&what))?;
    done(offer(site, out))
}

pub(super) fn accept(layers: &mut Layers, places: &Places, now: i64, out: &mut dyn Write) -> Exit {
    let policy = layers.load(Keeps::Copies);
    if let Some(banner) = policy.banner.as_ref().filter(|_| !policy.allows_count) {
        writeln!(out, "{}", visible(banner))?;
    }
    if policy.pending.is_empty() {
        return done(writeln!(out, "There is nothing to accept: every policy is as you accepted it."));
    }
    if !console::is_here() {
        for one in &policy.pending {
            show_pending(one, out)?;
        }
        return Err(Error::wrong(
            "a policy can be accepted only at a terminal",
            "run `mcp-approve rules accept` in a terminal, or accept it in the console",
        ));
    }
    let mut left = false;
    for one in &policy.pending {
        show_pending(one, out)?;
        if console::ask("Accept this? Type yes:", out)?.as_deref() != Some("yes") {
            writeln!(
                out,
                "Not accepted, because the answer was not yes: the policy that you accepted before still applies."
            )?;
            left = true;
            continue;
        }
        settle(layers, one, places, now, out)?;
    }
    Ok(if left { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Shows what waits after a change and offers to accept it; without a terminal, says how to.
pub(in crate::cli) fn offer(site: &Site<'_>, out: &mut dyn Write) -> Result<(), Error> {
    let layers = &mut Layers::of(site.places, None, &site.place);
    let policy = layers.load(Keeps::Nothing);
    let Some(one) = policy.pending.iter().find(|one| Path::new(&one.file) == site.place.path()) else {
        return Ok(());
    };
    if console::is_here() {
        writeln!(out)?;
        show_pending(one, out)?;
        if console::ask("Accept now? [y/N]", out)?.is_some_and(|answer| matches!(answer.as_str(), "y" | "yes")) {
            return settle(layers, one, site.places, site.now, out);
        }
    }
    let command = site.places.command("rules accept");
    Ok(writeln!(out, "What it newly allows takes effect once you accept it: {command}")?)
}

fn settle(layers: &Layers, one: &Pending, places: &Places, now: i64, out: &mut dyn Write) -> Result<(), Error> {
    let cannot = |error: AcceptError| {
        Error::wrong(error.to_string(), "run it again and read the new diff: mcp-approve rules accept")
    };
    let file = Path::new(&one.file);
    let signed = match one.needs {
        Needs::Nothing => None,
        Needs::Signature => Some(console::sign(Layers::change(file, one.digest), Here { places, now }, out)?),
    };
    let proof = layers.accept(file, one.digest, signed.as_ref(), now).map_err(cannot)?;
    rule_book::record_acceptance(one, places, now, "at a terminal", &proof);
    Ok(writeln!(out, "Accepted: running servers use it within a second.")?)
}

fn show_pending(one: &Pending, out: &mut dyn Write) -> Result<(), Error> {
    writeln!(out, "{} policy {}", one.layer.word(), visible(&one.file))?;
    for line in one.diff.lines() {
        writeln!(out, "  {}", block(line))?;
    }
    writeln!(out, "This allows more than what was accepted:")?;
    for loosens in &one.loosens {
        writeln!(out, "  {}", visible(loosens))?;
    }
    Ok(writeln!(out)?)
}

pub(super) fn check(site: &Site<'_>, layers: &mut Layers, json: bool, out: &mut dyn Write) -> Exit {
    let place = &site.place;
    let files: Vec<PolicyPlace> = match place {
        PolicyPlace::Named(_) => vec![place.clone()],
        PolicyPlace::Usual(_) => layers.present().map(|file| file.place.clone()).collect(),
    };
    let mut rows = Vec::new();
    let mut code = ExitCode::SUCCESS;
    for file in &files {
        if !check_file(file, json, site.now, &mut rows, out)? {
            code = ExitCode::FAILURE;
        }
    }
    if json {
        json_rows(rows, JsonForm::Array, out)?;
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

fn check_file(
    place: &PolicyPlace,
    json: bool,
    now: i64,
    rows: &mut Vec<Value>,
    out: &mut dyn Write,
) -> Result<bool, Error> {
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
                show_problems(path, &policy_file::text(path).unwrap_or_default(), problems, out)?;
            }
            return Ok(false);
        }
    };
    let mut warnings = lint(&policy, now);
    warnings.extend(hosts::otherwise(&policy));
    if json {
        warnings.iter().for_each(|one| row(one.line, one.column, "warning", &one.what, &one.hint));
        return Ok(true);
    }
    for Warning { line, column, what, hint, .. } in &warnings {
        let (path, what, hint) = (shown(path), visible(what), visible(hint));
        writeln!(out, "{path}:{line}:{column}: warning: {what}\n  = {hint}\n")?;
    }
    let rules = counted(policy.all_rules().count(), "rule");
    let off = match policy.disabled.len() {
        0 => String::new(),
        off => format!(", and {off} switched off"),
    };
    writeln!(out, "{}: in order, {rules}{off}", shown(path))?;
    Ok(true)
}

pub(super) fn show_problems(path: &Path, text: &str, problems: &[Problem], out: &mut dyn Write) -> Result<(), Error> {
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

pub(super) fn sound<'p>(
    drafted: Drafted<'p>,
    path: &Path,
    out: &mut dyn Write,
) -> Result<Option<Box<Draft<'p>>>, Error> {
    match drafted {
        Drafted::Sound(draft) => Ok(Some(draft)),
        Drafted::Broken { text, problems } => {
            show_problems(path, &text, &problems, out)?;
            writeln!(out, "Nothing was written.")?;
            Ok(None)
        }
    }
}
