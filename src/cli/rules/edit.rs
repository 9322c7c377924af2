//! `rules edit`: the policy in the operator's editor, checked on return, and shown before it is written. At a terminal only.
//!
//! A private copy is edited: a wrapper that reads the policy never sees it half done. The file is locked for the writing,
//! not for the editing; who else changed it meanwhile is found by its text.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cli::console;
use crate::cli::error::{Error, Exit, done};
use crate::cli::look::{shown, visible, visible_lines};
use crate::cli::rules::alter::{self, show_problems};
use crate::cli::rules::{Site, options::EditOptions, past};
use crate::console::outside;
use crate::home::change::{ChangeError, Drafted};
use crate::home::{layers::diff, policy_file};
use crate::policy::{Policy, edit, lint::lint, parse::BUILT_IN};

/// Editors that take `+LINE` before the file.
const TAKE_A_LINE: [&str; 9] = ["vi", "vim", "nvim", "nano", "emacs", "emacsclient", "micro", "kak", "joe"];

pub(super) fn run(options: &EditOptions, site: &Site<'_>, out: &mut dyn Write) -> Exit {
    if !console::is_here() {
        return Err(Error::wrong(
            "an editor needs a terminal",
            "run it in one, or change keys: mcp-approve rules edit ID --set KEY=VALUE",
        ));
    }
    let path = site.place.path();
    let before = site.file().text()?;
    let old = before.as_deref().unwrap_or(BUILT_IN);
    let line = options.id.as_deref().map(|id| line_of(old, id, path)).transpose()?;
    let copy = Copy::write(site, old)?;
    let mut at = line.flatten();
    loop {
        let after = match copy.edited(at) {
            Ok(after) => after,
            Err(error) => {
                if fs::read_to_string(&copy.path).is_ok_and(|text| text == old) {
                    copy.done();
                } else {
                    copy.tell(out)?;
                }
                return Err(error);
            }
        };
        if after == old {
            copy.done();
            writeln!(out, "Nothing was changed in {}.", shown(path))?;
            return done(writeln!(
                out,
                "An editor that returns at once needs its option to wait, as in EDITOR=\"code --wait\"."
            ));
        }
        let again = match policy_file::read(&after) {
            Err(problems) => {
                show_problems(path, &after, &problems, out)?;
                at = problems.first().map(|first| first.line);
                console::ask("Edit again? [Y/n]", out)?.is_some_and(|answer| !answer.starts_with('n'))
            }
            Ok(policy) => {
                tell(&policy, old, &after, site, out)?;
                if options.dry_run {
                    copy.done();
                    return done(writeln!(out, "Nothing was written: this was a dry run."));
                }
                let answer = console::ask("Write this? [y]es, [e]dit again, [N]o:", out)?.unwrap_or_default();
                if answer.starts_with('y') {
                    match write(&after, before.as_deref(), site, out) {
                        Ok(()) => copy.done(),
                        Err(error) => {
                            copy.tell(out)?;
                            return Err(error);
                        }
                    }
                    return Ok(ExitCode::SUCCESS);
                }
                answer.starts_with('e')
            }
        };
        if !again {
            writeln!(out, "Nothing was written.")?;
            copy.tell(out)?;
            return Ok(ExitCode::FAILURE);
        }
    }
}

/// Writes the text, unless the file is another than the one that was edited, and offers to accept what it loosens.
fn write(after: &str, before: Option<&str>, site: &Site<'_>, out: &mut dyn Write) -> Result<(), Error> {
    let path = site.place.path();
    let draft = match site.file().draft(|_| Ok(after.to_owned()))? {
        Drafted::Sound(draft) if draft.before.as_deref() == before => draft,
        Drafted::Sound(_) | Drafted::Broken { .. } => return Err(ChangeError::Meanwhile(path.into()).into()),
    };
    draft.write("edited the policy", site.now)?;
    drop(draft);
    writeln!(out, "Written to {}", shown(path))?;
    alter::offer(site, out)?;
    Ok(writeln!(out, "Take it back with: {}", site.places.command("rules undo"))?)
}

fn tell(policy: &Policy, before: &str, after: &str, site: &Site<'_>, out: &mut dyn Write) -> Result<(), Error> {
    writeln!(out, "\n{}", visible_lines(&diff(before, after)))?;
    for warning in lint(policy, site.now) {
        writeln!(out, "warning: line {}: {}; {}", warning.line, visible(&warning.what), warning.hint)?;
    }
    if let Some(calls) = past::since(&site.db, None)?.filter(|calls| !calls.is_empty()) {
        past::tell_replayed(&crate::policy::past::replay(policy, &calls, site.now), 5, out)?;
        writeln!(out)?;
    }
    Ok(())
}

/// The line of a rule; `None` where the file is broken, so that its own problem comes first.
fn line_of(text: &str, id: &str, path: &Path) -> Result<Option<usize>, Error> {
    if !edit::ids(text).iter().any(|known| known == id) {
        return Err(Error::wrong(
            format!("{} has no rule {}", path.display(), visible(id)),
            "`mcp-approve rules list` names the rules",
        ));
    }
    Ok(policy_file::read(text)
        .ok()
        .and_then(|policy| policy.all_rules().find(|rule| rule.id == id).map(|rule| rule.line)))
}

/// The text that is edited: private, and kept where it is not written.
struct Copy {
    path: PathBuf,
}

impl Copy {
    fn write(site: &Site<'_>, text: &str) -> Result<Self, Error> {
        site.places.create_state()?;
        let path = site.places.state_dir().join(format!("policy-edit-{}.toml", std::process::id()));
        let write = || {
            // A file that an earlier process with our id, or another program, left there.
            let _ = fs::remove_file(&path);
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?.write_all(text.as_bytes())
        };
        write().map_err(|cause| ChangeError::Unwritable { path: path.clone(), cause })?;
        Ok(Self { path })
    }

    fn edited(&self, line: Option<usize>) -> Result<String, Error> {
        let editor = outside::editor();
        let program = editor.split_whitespace().next().map(Path::new).and_then(Path::file_name);
        let takes = program.and_then(|name| name.to_str()).is_some_and(|name| TAKE_A_LINE.contains(&name));
        let line = line.filter(|_| takes).map(|line| format!(" +{line}")).unwrap_or_default();
        let what = match outside::run_editor(&format!("{editor}{line}"), &self.path) {
            Ok(status) if status.success() => {
                return fs::read_to_string(&self.path)
                    .map_err(|cause| Error::Unreadable { path: self.path.clone(), cause });
            }
            Ok(status) => format!("the editor ({}) ended with {status}; nothing was written", visible(&editor)),
            Err(error) => format!("the editor ({}) cannot be started: {error}", visible(&editor)),
        };
        Err(Error::wrong(what, "set VISUAL or EDITOR to an editor that is there, like EDITOR=nano"))
    }

    fn tell(&self, out: &mut dyn Write) -> Result<(), Error> {
        Ok(writeln!(out, "Your text is kept in {}", shown(&self.path))?)
    }

    fn done(&self) {
        // The copy is private: it does no harm if it cannot be removed.
        let _ = fs::remove_file(&self.path);
    }
}
