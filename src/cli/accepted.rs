//! The policies as the operator has last accepted them: a copy of each text, in the state folder. Judges nothing.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::policy_file::{Why, text};
use crate::wire::digest::Digest;

/// The folder of the copies.
#[derive(Clone, Debug)]
pub struct Accepted {
    dir: PathBuf,
}

impl Accepted {
    /// The copies in this folder; it is made with the first of them.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Where the copy of a policy's text is.
    pub fn copy(&self, policy: &Path) -> PathBuf {
        let name = Digest::of(policy.as_os_str().as_encoded_bytes()).to_string();
        self.dir.join(format!("{}.toml", &name[..name.len().min(32)]))
    }

    /// The text that was accepted; `None` where none was.
    ///
    /// # Errors
    /// There is one, and it is not to be read or not to be trusted.
    pub fn text(&self, policy: &Path) -> Result<Option<String>, Why> {
        match text(&self.copy(policy)) {
            Ok(text) => Ok(Some(text)),
            Err(Why::Unreadable(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(why) => Err(why),
        }
    }

    /// Accepts a text; `None` accepts that there is no file any more. Atomic: a reader sees the old copy or the new one.
    ///
    /// # Errors
    /// The state folder cannot be written.
    pub fn accept(&self, policy: &Path, text: Option<&str>) -> io::Result<()> {
        let copy = self.copy(policy);
        let Some(text) = text else {
            return match fs::remove_file(copy) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                Ok(()) | Err(_) => Ok(()),
            };
        };
        DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
        let new = copy.with_extension(format!("{}.new", std::process::id()));
        let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(new, copy)
    }
}
