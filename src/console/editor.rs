//! Runs the operator's editor on a private file. The screen is suspended meanwhile; `update` uses the result.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use super::model::Edit;

/// The operator's editor: VISUAL, EDITOR or `vi`.
pub fn named() -> String {
    let named = |name| std::env::var(name).ok().filter(|editor| !editor.trim().is_empty());
    named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| "vi".to_owned())
}

/// Runs an editor, with its options, on a file.
///
/// # Errors
/// It cannot be started.
pub fn run(editor: &str, file: &Path) -> std::io::Result<ExitStatus> {
    // A shell splits $EDITOR as every other program does; the file's name is an argument, not part of the command.
    Command::new("sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(file).status()
}

/// Opens `text` with `editor` (a command line as in `$EDITOR`) in a file of mode 0600 under `folder`.
pub fn edit(editor: &str, folder: &Path, text: &str) -> Edit {
    let file = match Draft::write(folder, text) {
        Ok(file) => file,
        Err(error) => {
            return Edit::Failed(format!("The editor's file could not be written in {}: {error}.", folder.display()));
        }
    };
    match run(editor, &file.path) {
        Ok(status) if status.success() => {}
        Ok(status) => {
            return Edit::Failed(format!("The editor ended with {status}; nothing was sent."));
        }
        Err(error) => {
            return Edit::Failed(format!(
                "The editor could not be started: {error}. Set EDITOR to an editor that can."
            ));
        }
    }
    match std::fs::read_to_string(&file.path) {
        Ok(after) if after == text => Edit::Unchanged,
        Ok(after) => Edit::Text(after),
        Err(error) => Edit::Failed(format!("The edited file could not be read back: {error}; nothing was sent.")),
    }
}

/// A file that is removed when the editing is over.
struct Draft {
    path: PathBuf,
}

impl Draft {
    fn write(folder: &Path, text: &str) -> std::io::Result<Self> {
        let mut number = 0_u32;
        loop {
            let path = folder.join(format!("mcp-approve-{}-{number}.json", std::process::id()));
            let open = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
            match open {
                Ok(mut file) => {
                    let draft = Self { path };
                    file.write_all(text.as_bytes())?;
                    return Ok(draft);
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && number < 100 => number += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // If the file cannot be removed, nothing more can be done; it is private and in a temporary folder.
        let _ = std::fs::remove_file(&self.path);
    }
}
