//! The policy on disk: read whole and checked for its owner, what applies when it is missing or broken, and the text that
//! the operator has last accepted: a copy in the state folder. Judges nothing.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::home::places::{PlaceError, Places, check_owner};
use crate::home::replace::replace;
use crate::home::user;
use crate::policy::{Policy, Roots, parse, reading::Problem};
use crate::signing::statement::Evidence;
use crate::wire::Digest;

/// How many bytes a policy may have: it is text that people write.
const CAP: u64 = 4 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyPlace {
    /// The usual place: without a file there, the built-in default applies.
    Usual(PathBuf),
    /// Named by an option: it must be there.
    Named(PathBuf),
}

impl PolicyPlace {
    pub fn own(places: &Places) -> Self {
        Self::Usual(places.policy_file())
    }

    pub fn path(&self) -> &Path {
        match self {
            Self::Usual(path) | Self::Named(path) => path,
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the policy {} {why}", path.display())]
pub struct Broken {
    pub path: PathBuf,
    pub why: Why,
}

#[derive(Debug, thiserror::Error)]
pub enum Why {
    #[error("cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    #[error("cannot be trusted: {0}")]
    Untrusted(#[from] PlaceError),
    #[error("is not a text file of at most 4 MiB")]
    NoText,
    #[error("sets [operator] ssh_keygen, which only the machine's policy may")]
    Program,
    #[error("has {}", counted(.0))]
    Problems(Vec<Problem>),
}

impl Broken {
    pub fn hint(&self) -> String {
        match &self.why {
            Why::Untrusted(error) => error.hint(),
            Why::Unreadable(_) => "check the path, and that you may read the file".to_owned(),
            Why::NoText => {
                "save it as plain UTF-8 text, or move it away: without a file the built-in default applies".to_owned()
            }
            Why::Program => "take that line out: who can name the program that signs can sign".to_owned(),
            Why::Problems(_) => "`mcp-approve rules check` shows every line to fix".to_owned(),
        }
    }

    /// One line for the operator: file, line and hint.
    pub fn banner(&self) -> String {
        match &self.why {
            Why::Problems(problems) if let [first, rest @ ..] = problems.as_slice() => {
                let more = match rest.len() {
                    0 => String::new(),
                    more => format!(" ({more} more: mcp-approve rules check)"),
                };
                format!("{}:{}: {}; {}{more}", self.path.display(), first.line, first.what, first.hint)
            }
            _ => format!("{self}; {}", self.hint()),
        }
    }
}

fn counted(problems: &[Problem]) -> String {
    match problems {
        [one] => format!("an error in line {}", one.line),
        many => format!("{} errors, the first in line {}", many.len(), many.first().map_or(1, |first| first.line)),
    }
}

/// Reads the policy; the built-in default where the usual place has no file.
pub fn load(place: &PolicyPlace) -> Result<Policy, Broken> {
    let Some(text) = text_at(place)? else { return Ok(parse::built_in()) };
    read(&text).map_err(|problems| Broken { path: place.path().into(), why: Why::Problems(problems) })
}

/// The text of the policy; `None` where the usual place has no file.
pub(super) fn text_at(place: &PolicyPlace) -> Result<Option<String>, Broken> {
    match text(place.path()) {
        // A link to nowhere is a policy that got lost, not one that never was.
        Err(Why::Unreadable(error))
            if error.kind() == io::ErrorKind::NotFound
                && matches!(place, PolicyPlace::Usual(path) if path.symlink_metadata().is_err()) =>
        {
            Ok(None)
        }
        read => read.map(Some).map_err(|why| Broken { path: place.path().into(), why }),
    }
}

/// The text of a file that may be missing.
pub fn text_if_any(path: &Path) -> Result<Option<String>, Why> {
    match text(path) {
        Err(Why::Unreadable(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// Reads a text as the policy that it would be in a file.
pub fn read(text: &str) -> Result<Policy, Vec<Problem>> {
    parse::parse_at(text, &roots())
}

/// The text of the file, if only its owner could have written it.
pub fn text(path: &Path) -> Result<String, Why> {
    // Checked before it is opened: opening a pipe would wait for a writer.
    if !fs::metadata(path)?.is_file() {
        return Err(Why::NoText);
    }
    let file = File::open(path)?;
    let found = file.metadata()?;
    check_owner(path, &found)?;
    if found.len() > CAP {
        return Err(Why::NoText);
    }
    let mut bytes = Vec::new();
    file.take(CAP).read_to_end(&mut bytes)?;
    String::from_utf8(bytes).map_err(|_| Why::NoText)
}

/// Where `~` and relative paths start: the user's home, and the folder a wrapped server inherits from this process.
pub fn roots() -> Roots {
    let text = |path: PathBuf| path.into_os_string().into_string().ok();
    Roots {
        home: user::current().ok().and_then(|user| text(user.home)),
        folder: std::env::current_dir().ok().and_then(text),
        ..Roots::default()
    }
}

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
    pub const HINT: &str = "run `mcp-approve rules accept`";
}

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

    pub fn copy(&self, policy: &Path) -> PathBuf {
        let name = Digest::of(policy.as_os_str().as_encoded_bytes()).to_string();
        self.dir.join(format!("{}.toml", &name[..name.len().min(32)]))
    }

    /// The signature that a text was accepted with, not checked; `None` where there is none that can be read.
    pub fn signature(&self, policy: &Path) -> Option<Evidence> {
        serde_json::from_str(&text_if_any(&self.signature_file(policy)).ok()??).ok()
    }

    /// Keeps the signature of a text that is about to be accepted.
    pub fn sign(&self, policy: &Path, evidence: &Evidence) -> io::Result<()> {
        replace(&self.signature_file(policy), &serde_json::to_string(evidence)?)
    }

    fn signature_file(&self, policy: &Path) -> PathBuf {
        self.copy(policy).with_extension("signature.json")
    }

    pub fn text(&self, policy: &Path) -> Result<Option<String>, Why> {
        text_if_any(&self.copy(policy))
    }

    /// Changes a policy for the operator, and accepts the result if its former text was accepted; otherwise it waits.
    ///
    /// Only the text that was written, made from the text that was read, is accepted: what others write meanwhile is not.
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
    pub fn accept(&self, policy: &Path, text: Option<&str>) -> io::Result<()> {
        replace(&self.copy(policy), text.unwrap_or_default())
    }
}
