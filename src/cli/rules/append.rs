//! Adds one rule's text at the end of the policy file: read strictly before it is written, and written whole or not at all.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::cli::policy_file::{self, PolicyPlace, Why};

/// Adds a rule.
///
/// # Errors
/// Why nothing was written, and what to do next.
pub fn append(path: &Path, rule: &str) -> Result<(), String> {
    let failed = |what: &str, error: &io::Error| format!("{} could not be {what}: {error}", path.display());
    // A link stays a link: the file it leads to is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let before = match policy_file::text(&target) {
        Ok(text) => text,
        Err(Why::Unreadable(error)) if error.kind() == io::ErrorKind::NotFound => "version = 1\n".to_owned(),
        Err(why) => return Err(format!("the policy {} {why}", path.display())),
    };
    let gap = if before.ends_with('\n') { "\n" } else { "\n\n" };
    let after = format!("{before}{gap}{rule}");
    let folder = target.parent().map(Path::to_path_buf).unwrap_or_default();
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)
        .map_err(|error| failed("made room for", &error))?;
    let draft = Draft::write(&folder, &after).map_err(|error| failed("written", &error))?;
    // The very text that would stand there is loaded as a wrapper would load it.
    policy_file::load(&PolicyPlace::Named(draft.path.clone())).map_err(|broken| match &broken.why {
        Why::Problems(problems) => match problems.first() {
            Some(first) => format!("line {}: {}; {}", first.line, first.what, first.mend),
            None => broken.to_string(),
        },
        _ => format!("{broken}; {}", broken.hint()),
    })?;
    fs::rename(&draft.path, &target).map_err(|error| failed("replaced", &error))
}

/// The new text beside the old file; removed when it does not take its place.
struct Draft {
    path: PathBuf,
}

impl Draft {
    fn write(folder: &Path, text: &str) -> io::Result<Self> {
        let path = folder.join(format!(".policy.toml.{}", std::process::id()));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let draft = Self { path };
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        Ok(draft)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After a rename nothing is there any more.
        let _ = fs::remove_file(&self.path);
    }
}
