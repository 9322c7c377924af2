//! Where the lists of signers are, who can change them, and which ssh-keygen may be run. What a list says is `signing`'s.
//!
//! The machine's list counts alone where it is there, also when it cannot be read; the user's own is for machines without one.

use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;

use super::places::{PlaceError, Places, check_owner};
use crate::signing::grade::SignersOwner;
use crate::signing::signers::{LONGEST, LineError, List, Signers};

/// ssh-keygen, where nothing else is named.
pub const KEYGEN: &str = "/usr/bin/ssh-keygen";

/// The signers in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InForce {
    pub file: PathBuf,
    pub owner: SignersOwner,
    pub signers: Signers,
}

/// Why no signature counts here.
#[derive(Debug, thiserror::Error)]
pub enum SignersError {
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error("{} cannot be read: {cause}", path.display())]
    Unreadable { path: PathBuf, cause: io::Error },
    #[error("{}", lines.iter().map(|(path, line)| format!("{}: {line}", path.display())).collect::<Vec<_>>().join("\n"))]
    Lines { lines: Vec<(PathBuf, LineError)> },
}

impl SignersError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Place(place) => place.hint(),
            Self::Unreadable { .. } => "no signature counts before it can be read".to_owned(),
            Self::Lines { .. } => {
                "correct these lines; until then no signature counts (`mcp-approve help signing`)".to_owned()
            }
        }
    }
}

/// Reads the list of allowed signers and the list of revoked keys beside it; `None` where there is no list.
///
/// # Errors
/// [`SignersError`] when one is there and cannot be used.
pub fn load(places: &Places) -> Result<Option<InForce>, SignersError> {
    for folder in [places.system_dir(), places.config_dir().to_owned()] {
        let file = folder.join("allowed_signers");
        let Some(allowed) = read(&file)? else { continue };
        let revoked_file = folder.join("revoked_keys");
        let revoked = read(&revoked_file)?;
        let is_roots =
            [Some(&file), revoked.is_some().then_some(&revoked_file)].into_iter().flatten().all(|file| only_root(file));
        let owner = if is_roots { SignersOwner::Root } else { SignersOwner::User };
        let signers = Signers::read(&allowed, &revoked.unwrap_or_default(), &TimeZone::system());
        let signers = signers.map_err(|errors| SignersError::Lines {
            lines: errors
                .into_iter()
                .map(|error| match error.list {
                    List::Allowed => (file.clone(), error),
                    List::Revoked => (revoked_file.clone(), error),
                })
                .collect(),
        })?;
        return Ok(Some(InForce { file, owner, signers }));
    }
    Ok(None)
}

/// The program that signs, if only root can change it.
///
/// # Errors
/// It is not there, or another user can put another program in its place.
pub fn keygen(named: &Path) -> Result<PathBuf, String> {
    let real = named.canonicalize().map_err(|cause| format!("{} cannot be run: {cause}", named.display()))?;
    match named.is_absolute() && roots(&real) {
        true => Ok(real),
        false => {
            Err(format!("{} is not run: it, or a folder above it, can be changed by others than root", named.display()))
        }
    }
}

/// A whole text of a bounded length; `None` where there is no such file.
fn read(path: &Path) -> Result<Option<String>, SignersError> {
    let unreadable = |cause| SignersError::Unreadable { path: path.into(), cause };
    let found = match fs::metadata(path) {
        Ok(found) => found,
        // A link to nothing is a mistake, not an absence.
        Err(cause) if cause.kind() == ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => return Ok(None),
        Err(cause) => return Err(unreadable(cause)),
    };
    check_owner(path, &found)?;
    // A byte more than the reader takes, so that it says what is too long.
    if !found.is_file() || found.len() > LONGEST as u64 + 1 {
        return Err(unreadable(io::Error::other("it is not a plain file, or very long")));
    }
    fs::read_to_string(path).map(Some).map_err(unreadable)
}

/// Whether root alone can change a file, and the user is not root.
fn only_root(path: &Path) -> bool {
    let me = rustix::process::geteuid().as_raw();
    path.canonicalize().is_ok_and(|real| roots(&real)) && me != 0
}

/// Whether a file and every folder above it belong to root, and no one else may write to them.
fn roots(real: &Path) -> bool {
    let is_roots = |found: &Metadata| found.uid() == 0 && found.mode() & 0o022 == 0;
    real.ancestors().all(|part| fs::symlink_metadata(part).is_ok_and(|found| is_roots(&found)))
}
