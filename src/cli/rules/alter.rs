//! `rules remove|edit|except|undo`: changes of rules that are there, and the way back.

use std::io::Write;
use std::process::ExitCode;

use super::check::sound;
use super::options::{EditOptions, RemoveOptions};
use super::{Site, accept, past};
use crate::capability::names::capital;
use crate::cli::error::{Error, Exit, done};
use crate::cli::print::{visible, visible_lines};
use crate::home::change::Drafted;
use crate::policy::edit::{self, EditError};
use crate::policy::past::replay;
use crate::wire::number::counted;

/// Removes a rule, and shows what was removed.
pub(super) fn remove(options: &RemoveOptions, site: &Site<'_>, out: &mut dyn Write) -> Exit {
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

/// Changes keys of a rule, and shows the rule as it is now.
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

/// Changes the rule `id`, and shows it as it is `now_called`.
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

/// Shows a change and its consequences, and writes it.
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
        writeln!(out, "Of {calls}, {changes} would be decided differently now ({command}).")?;
    }
    if !dry_run {
        accept::offer(site, out)?;
        writeln!(out, "Take it back with: {}", site.places.command("rules undo"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Takes the last change back.
pub(super) fn undo(site: &Site<'_>, out: &mut dyn Write) -> Exit {
    let what = site.file().undo(site.now)?;
    writeln!(out, "Taken back in {}: {}", site.place.path().display(), visible(&what))?;
    done(accept::offer(site, out))
}
