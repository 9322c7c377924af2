//! Where all files are, and whether only their owner can change them. Owns no file's content.
//!
//! The user database or `--home` decides; no environment variable does, because hosts clear them and agents set them.

use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use super::user;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// What `--home` named; `None` for the user's own home.
    root: Option<PathBuf>,
    config: PathBuf,
    state: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    #[error(transparent)]
    NoHome(#[from] user::Unknown),
    #[error("{} belongs to user {owner}, not to you", path.display())]
    Foreign { path: PathBuf, owner: u32 },
    #[error("others than you may write to {} (mode {mode:04o})", path.display())]
    Loose { path: PathBuf, mode: u32 },
    #[error("{} is not a plain folder: {found}", path.display())]
    NoFolder { path: PathBuf, found: &'static str },
    #[error("{} cannot be used: {cause}", path.display())]
    Io { path: PathBuf, cause: io::Error },
}

/// A hint of ours, with `--home` in every command line in it.
pub fn under(home: Option<&Path>, hint: &str) -> String {
    const OURS: &str = "mcp-approve ";
    let Some(home) = home else { return hint.to_owned() };
    let home = word(&home.display().to_string());
    let hint = hint.replace("`mcp-approve`", &format!("`{OURS}--home {home}`"));
    let mut pieces = hint.split(OURS);
    let mut named = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let word = piece.split(|c: char| !c.is_ascii_lowercase()).next().unwrap_or_default();
        named.push_str(OURS);
        if COMMANDS.contains(&word) || ["-- ", "--desk"].iter().any(|begins| piece.starts_with(begins)) {
            named.push_str(&format!("--home {home} "));
        }
        named.push_str(piece);
    }
    named
}

/// The commands that work under a home.
pub const COMMANDS: &[&str] = &[
    "wrap", "demo", "log", "rules", "tools", "lattice", "doctor", "waiting", "desk", "signers", "install", "uninstall",
];

impl PlaceError {
    pub fn hint(&self) -> String {
        match self {
            Self::NoHome(_) => "name a folder with --home DIR".to_owned(),
            Self::Foreign { path, .. } => {
                format!("take it over (`chown`) if you trust what is in it, or move it away: {}", path.display())
            }
            Self::Loose { path, .. } => format!("chmod go-w {}", quoted(&path.display().to_string())),
            Self::NoFolder { path, .. } => format!("move {} away", path.display()),
            Self::Io { .. } => {
                "check that the folder exists, and that you may write to it; or use --home DIR".to_owned()
            }
        }
    }
}

impl Places {
    /// The places under the home that the user database names.
    pub fn of_user() -> Result<Self, PlaceError> {
        let home = user::current()?.home;
        Ok(Self { root: None, config: home.join(".config/mcp-approve"), state: home.join(".local/state/mcp-approve") })
    }

    pub fn under(dir: &Path) -> Result<Self, PlaceError> {
        let root = std::path::absolute(dir).map_err(|cause| PlaceError::Io { path: dir.into(), cause })?;
        Ok(Self { config: root.join("config"), state: root.join("state"), root: Some(root) })
    }

    /// The folder that `--home` named, to be passed on to our own processes.
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// A command line of ours, as the operator types it to work on these places: `mcp-approve rules undo`.
    pub fn command(&self, words: &str) -> String {
        under(self.root(), &format!("mcp-approve {words}"))
    }

    /// How the operator opens the console on these places: `mcp-approve`, and `--home` where it was given.
    pub fn console(&self) -> String {
        let root = self.root().map(|root| format!(" --home {}", word(&root.display().to_string())));
        format!("mcp-approve{}", root.unwrap_or_default())
    }

    pub fn config_dir(&self) -> &Path {
        &self.config
    }

    pub fn state_dir(&self) -> &Path {
        &self.state
    }

    /// `config.toml`: options of `wrap`.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    pub fn policy_file(&self) -> PathBuf {
        self.config.join("policy.toml")
    }

    /// The folder of what the machine's administrator writes.
    pub fn system_dir(&self) -> PathBuf {
        self.root.as_ref().map_or_else(|| PathBuf::from("/etc/mcp-approve"), |root| root.join("etc"))
    }

    pub fn system_policy_file(&self) -> PathBuf {
        self.system_dir().join("policy.toml")
    }

    /// Checks owner and mode of the configuration folder, where there is one.
    pub fn check_config(&self) -> Result<(), PlaceError> {
        self.check_root()?;
        check_folder(&self.config, fs::metadata(&self.config))
    }

    /// Checks owner and mode of the state folders that exist.
    pub fn check_state(&self) -> Result<(), PlaceError> {
        self.check_root()?;
        self.state_dirs().iter().try_for_each(|dir| check_folder(dir, fs::symlink_metadata(dir)))
    }

    /// Makes the state folders (0700) where they are missing, and checks them.
    pub fn create_state(&self) -> Result<(), PlaceError> {
        self.check_root()?;
        // Each is checked before the next is made: below a link, a folder would be made in another place.
        for dir in self.state_dirs() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&dir)
                .or_else(|cause| if fs::symlink_metadata(&dir).is_ok() { Ok(()) } else { Err(cause) })
                .map_err(|cause| PlaceError::Io { path: dir.clone(), cause })?;
            check_folder(&dir, fs::symlink_metadata(&dir))?;
        }
        Ok(())
    }

    fn check_root(&self) -> Result<(), PlaceError> {
        self.root.iter().try_for_each(|root| check_folder(root, fs::metadata(root)))
    }

    fn state_dirs(&self) -> [PathBuf; 3] {
        [self.state.clone(), self.log_dir(), self.run_dir()]
    }
}

/// A method for each file or folder in the state folder.
macro_rules! in_state {
    ($($(#[$doc:meta])* $method:ident: $name:literal,)*) => {
        impl Places {
            $($(#[$doc])* pub fn $method(&self) -> PathBuf { self.state.join($name) })*
        }
    };
}

in_state! {
    /// `accepted/`: the policies as the operator has last accepted them.
    accepted_dir: "accepted",
    audit_db: "audit.db",
    /// `desk/`: what operators have signed for many machines.
    desk_dir: "desk",
    /// `counts`: what ran lately under rules with a rate.
    counts: "counts",
    /// `pins.db`: what is remembered of servers and tools.
    pins_db: "pins.db",
    /// `installed/`: what hosts' files were before servers in them were wrapped.
    installed_dir: "installed",
    /// `redaction.key`: what redacted values are hashed with.
    redaction_key: "redaction.key",
    /// `tour-seen`: there once the operator has dismissed the console's tour.
    tour_seen: "tour-seen",
    log_dir: "log",
    /// `run/`: the sockets of running wrappers.
    run_dir: "run",
}

/// Checks that only the user (or root) can change a file or folder.
pub fn check_owner(path: &Path, found: &Metadata) -> Result<(), PlaceError> {
    let (path, owner, mode) = (path.to_path_buf(), found.uid(), found.mode() & 0o7777);
    match owner {
        _ if ![rustix::process::geteuid().as_raw(), 0].contains(&owner) => Err(PlaceError::Foreign { path, owner }),
        _ if mode & 0o022 != 0 => Err(PlaceError::Loose { path, mode }),
        _ => Ok(()),
    }
}

/// A missing folder is fine; one that is there must be a folder of the user's own.
fn check_folder(path: &Path, found: io::Result<Metadata>) -> Result<(), PlaceError> {
    let no_folder = |found| Err(PlaceError::NoFolder { path: path.into(), found });
    match found {
        Ok(found) if found.is_symlink() => no_folder("it is a link"),
        Ok(found) if found.is_dir() => check_owner(path, &found),
        Ok(_) => no_folder("it is a file"),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(cause) => Err(PlaceError::Io { path: path.into(), cause }),
    }
}

/// A text as one word of a shell's command line, quoted where it must be.
pub fn word(text: &str) -> String {
    let is_plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b"/._-+@%,=:".contains(&b));
    if is_plain && !text.is_empty() { text.to_owned() } else { quoted(text) }
}

pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
