//! The policies as the operator has last accepted them: a copy of each text, in the state folder. Judges nothing.

use std::io;
use std::path::{Path, PathBuf};

use super::places::Places;
use super::policy_file::{Why, text_if_any};
use super::replace::replace;
use crate::wire::digest::Digest;

/// The text of the policy before a change (`None`: there was no file), and the one that was written.
#[derive(Debug)]
pub struct Written {
    pub before: Option<String>,
    pub after: String,
}

/// A change was written and not accepted.
#[derive(Debug, thiserror::Error)]
#[error("the rule is written, but its acceptance could not be kept: {0}")]
pub struct NotKept(io::Error);

impl NotKept {
    /// What to do next.
    pub const HINT: &str = "run `mcp-approve rules accept`";
}

/// The folder of the copies.
#[derive(Clone, Debug)]
pub struct Accepted {
    dir: PathBuf,
    /// Files that a wrapper leaves in the state folder: once they exist, it has kept its copies.
    traces: [PathBuf; 2],
}

impl Accepted {
    /// The copies in the state folder; their own folder is made with the first of them.
    pub fn of(places: &Places) -> Self {
        Self { dir: places.accepted_dir(), traces: [places.audit_db(), places.pins_db()] }
    }

    /// Whether a wrapper has run here: then a missing copy was removed, and no text counts as the first one.
    pub fn is_expected(&self) -> bool {
        self.traces.iter().any(|trace| trace.exists())
    }

    /// Where the copy of a policy's text is.
    pub fn copy(&self, policy: &Path) -> PathBuf {
        let name = Digest::of(policy.as_os_str().as_encoded_bytes()).to_string();
        self.dir.join(format!("{}.toml", &name[..name.len().min(32)]))
    }

    /// The text that was accepted; `None` where none was.
    ///
    /// # Errors
    /// There is a copy that cannot be read or trusted.
    pub fn text(&self, policy: &Path) -> Result<Option<String>, Why> {
        text_if_any(&self.copy(policy))
    }

    /// Changes a policy for the operator, and accepts the result if the text before it was accepted. Otherwise all of
    /// it waits for `rules accept`.
    ///
    /// Only the text that was written is accepted, which was made from the text that was read: what another program
    /// writes at the same time is not.
    ///
    /// # Errors
    /// The error of the change itself, or [`NotKept`].
    pub fn with<E: From<NotKept>>(&self, policy: &Path, change: impl FnOnce() -> Result<Written, E>) -> Result<(), E> {
        let kept = self.text(policy);
        let Written { before, after } = change()?;
        let was_accepted = match kept {
            Ok(None) => before.is_none() || !self.is_expected(),
            Ok(Some(kept)) => kept == before.unwrap_or_default(),
            Err(_) => false,
        };
        if was_accepted {
            self.accept(policy, Some(&after)).map_err(NotKept)?;
        }
        Ok(())
    }

    /// Accepts a text; `None` accepts that there is no file any more. Atomic: a reader sees the old copy or the new one.
    ///
    /// A copy is never removed, only emptied: otherwise the next text would count as the first one, and be trusted.
    ///
    /// # Errors
    /// The state folder cannot be written.
    pub fn accept(&self, policy: &Path, text: Option<&str>) -> io::Result<()> {
        replace(&self.copy(policy), text.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_operators_own_change_is_accepted_unless_something_else_waits() {
        let home = tempfile::tempdir().unwrap();
        let policy = home.path().join("policy.toml");
        let accepted = Accepted::of(&Places::under(home.path()).unwrap());
        let write = |text: &str| {
            let before = fs::read_to_string(&policy).ok();
            fs::write(&policy, text).map_err(NotKept)?;
            Ok::<_, NotKept>(Written { before, after: text.to_owned() })
        };
        let kept = || accepted.text(&policy).unwrap();
        accepted.with(&policy, || write("one")).unwrap();
        assert_eq!(kept().as_deref(), Some("one"));
        accepted.with(&policy, || write("two")).unwrap();
        assert_eq!(kept().as_deref(), Some("two"));
        let raced = || {
            fs::write(&policy, "sneaked").unwrap();
            write("sneaked and three")
        };
        accepted.with(&policy, raced).unwrap();
        assert_eq!(kept().as_deref(), Some("two"), "what was sneaked in rides along with nothing");
        accepted.accept(&policy, Some("sneaked and three")).unwrap();
        let overtaken = || write("four").inspect(|_| fs::write(&policy, "four and sneaked").unwrap());
        accepted.with(&policy, overtaken).unwrap();
        assert_eq!(kept().as_deref(), Some("four"), "nor what comes right after");
        accepted.accept(&policy, None).unwrap();
        assert_eq!(kept().as_deref(), Some(""), "a removed policy was one: the next text is not the first");
        assert!(accepted.with(&policy, || Err(NotKept(io::Error::other("no")))).is_err());
        // The copies are gone, and a wrapper has run: what is there was not accepted.
        fs::remove_dir_all(&accepted.dir).unwrap();
        fs::write(&accepted.traces[0], "").unwrap();
        accepted.with(&policy, || write("five")).unwrap();
        assert_eq!(kept(), None);
    }
}
