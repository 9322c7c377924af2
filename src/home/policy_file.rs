//! The policy on disk: read whole and checked for its owner, and what applies when it is missing or broken.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::places::{PlaceError, Places, check_owner};
use super::user;
use crate::policy::parse;
use crate::policy::reading::Problem;
use crate::policy::rule::Policy;
use crate::policy::under::Roots;

/// How many bytes a policy may have: it is text that people write.
const CAP: u64 = 4 << 20;

/// Which file holds the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyPlace {
    /// The usual place: without a file there, the built-in default applies.
    Usual(PathBuf),
    /// Named by an option: it must be there.
    Named(PathBuf),
}

impl PolicyPlace {
    /// The operator's own policy.
    pub fn own(places: &Places) -> Self {
        Self::Usual(places.policy_file())
    }

    /// The path.
    pub fn path(&self) -> &Path {
        match self {
            Self::Usual(path) | Self::Named(path) => path,
        }
    }
}

/// A policy file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the policy {} {why}", path.display())]
pub struct Broken {
    pub path: PathBuf,
    pub why: Why,
}

/// What is wrong with a policy file.
#[derive(Debug, thiserror::Error)]
pub enum Why {
    #[error("cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    #[error("cannot be trusted: {0}")]
    Untrusted(#[from] PlaceError),
    #[error("is not a text file of at most 4 MiB")]
    NoText,
    #[error("has {}", counted(.0))]
    Problems(Vec<Problem>),
}

impl Broken {
    /// What to do next.
    pub fn hint(&self) -> String {
        match &self.why {
            Why::Untrusted(error) => error.hint(),
            Why::Unreadable(_) => "check the path, and that you may read the file".to_owned(),
            Why::NoText => {
                "save it as plain UTF-8 text, or move it away: without a file the built-in default applies".to_owned()
            }
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
///
/// # Errors [`Broken`] when the file cannot be read or trusted, or is not a policy.
pub fn load(place: &PolicyPlace) -> Result<Policy, Broken> {
    let Some(text) = text_at(place)? else { return Ok(parse::built_in()) };
    read(&text).map_err(|problems| Broken { path: place.path().into(), why: Why::Problems(problems) })
}

/// The text of the policy; `None` where the usual place has no file.
///
/// # Errors
/// The file cannot be read or trusted.
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
///
/// # Errors
/// As [`text`].
pub(super) fn text_if_any(path: &Path) -> Result<Option<String>, Why> {
    match text(path) {
        Err(Why::Unreadable(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// Reads a text as the policy that it would be in a file.
///
/// # Errors
/// Every problem in it.
pub fn read(text: &str) -> Result<Policy, Vec<Problem>> {
    parse::parse_at(text, &roots())
}

/// The text of the file, if only its owner could have written it.
///
/// # Errors
/// [`Why`] it cannot be used.
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
