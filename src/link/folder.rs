//! The runtime folder: one lock and one socket per wrapper, for this user alone; and what can go wrong before wrapper and
//! console exchange messages, each with its hint. Owns no connection.

use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::{fs, io};

use rustix::fs::{FileType, FlockOperation, Mode, OFlags};

use crate::wire::digest::Digest;

/// How many wrappers may share one name.
const MOST_OF_A_NAME: u32 = 999;
/// The longest server name that is used in a file name unchanged.
const PLAIN_STEM: usize = 40;
/// `sun_path`, with its final NUL.
const SOCKET_PATH: usize = if cfg!(target_os = "linux") { 108 } else { 104 };
/// The owner a user namespace shows for a user it does not know.
const UNMAPPED: u32 = 65534;

/// Makes the runtime folder where it is missing, and refuses one that others could change.
pub fn prepare(run: &Path) -> Result<(), LinkError> {
    let unusable = |source| LinkError::Unusable { path: run.to_owned(), source };
    let run = std::path::absolute(run).map_err(unusable)?;
    // A parent that is a link leads to another place, however well that place is protected.
    if let Some(parent) = run.parent().filter(|parent| parent.is_symlink()) {
        return Err(LinkError::Linked { path: parent.to_owned() });
    }
    // What is there already, a link to nowhere included, is checked next.
    if run.symlink_metadata().is_err() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&run).map_err(unusable)?;
    }
    check_itself(&run)?;
    check_above(&run)
}

fn check_itself(run: &Path) -> Result<(), LinkError> {
    let path = run.to_owned();
    let found = fs::symlink_metadata(run).map_err(|source| LinkError::Unusable { path: path.clone(), source })?;
    let mode = found.mode() & 0o7777;
    if found.file_type().is_symlink() {
        Err(LinkError::Linked { path })
    } else if !found.is_dir() {
        Err(LinkError::NotAFolder { path })
    } else if found.uid() != me() {
        Err(LinkError::Foreign { path, owner: found.uid() })
    } else if mode & 0o077 != 0 {
        Err(LinkError::Loose { path, mode, hint: "700" })
    } else {
        Ok(())
    }
}

/// A user who may rename a folder above could put another in our folder's place.
fn check_above(run: &Path) -> Result<(), LinkError> {
    let unusable = |source| LinkError::Unusable { path: run.to_owned(), source };
    let real = run.canonicalize().map_err(unusable)?;
    for above in real.ancestors().skip(1) {
        let found = fs::symlink_metadata(above).map_err(unusable)?;
        let (path, mode, owner) = (above.to_owned(), found.mode() & 0o7777, found.uid());
        if owner != me() && owner != 0 && owner != UNMAPPED {
            return Err(LinkError::Foreign { path, owner });
        }
        // In a sticky folder such as /tmp only the owner renames; group-writable ones are common where each user has an own group.
        if mode & 0o002 != 0 && mode & 0o1000 == 0 {
            return Err(LinkError::Loose { path, mode, hint: "o-w" });
        }
    }
    Ok(())
}

/// A server's name, held by this process until it is dropped or dies.
#[derive(Debug)]
pub struct NameClaim {
    name: String,
    socket: PathBuf,
    /// Open for the lock on it.
    _lock: OwnedFd,
}

impl NameClaim {
    /// Takes `wanted`, or the first of `wanted#2`, `wanted#3`, … that no living wrapper holds.
    pub fn claim(run: &Path, wanted: &str) -> Result<Self, LinkError> {
        prepare(run)?;
        let stem = stem(wanted);
        for number in 1..=MOST_OF_A_NAME {
            let (name, stem) = match number {
                1 => (wanted.to_owned(), stem.clone()),
                n => (format!("{wanted}#{n}"), format!("{stem}#{n}")),
            };
            let socket = run.join(format!("{stem}.sock"));
            check_length(&socket)?;
            if let Some(_lock) = lock(&socket.with_extension("lock"))? {
                return Ok(Self { name, socket, _lock });
            }
        }
        Err(LinkError::NamesTaken { name: wanted.to_owned(), count: MOST_OF_A_NAME })
    }

    /// The name as shown, recorded and matched: `filesystem`, or `filesystem#2`.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn socket(&self) -> &Path {
        &self.socket
    }

    pub(super) fn bind(&self) -> Result<UnixListener, LinkError> {
        listen(&self.socket, &self.socket.with_extension("new"))
    }
}

/// Puts a listening socket in its place, readable for no other process from the first; it is prepared at `draft`.
pub(super) fn listen(socket: &Path, draft: &Path) -> Result<UnixListener, LinkError> {
    let failed = |source| LinkError::Socket { path: socket.to_owned(), source };
    check_length(draft)?;
    clear(socket)?;
    clear(draft)?;
    let listener = UnixListener::bind(draft).map_err(failed)?;
    fs::set_permissions(draft, fs::Permissions::from_mode(0o600)).map_err(failed)?;
    fs::rename(draft, socket).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

/// Makes a socket's place free: what a dead wrapper left is removed, anything else is refused.
fn clear(path: &Path) -> Result<(), LinkError> {
    let failed = |source| LinkError::Socket { path: path.to_owned(), source };
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found.map_err(failed)?,
    };
    let kind = found.file_type();
    let what = match () {
        () if found.uid() != me() => "another user's",
        // Removing never follows a link.
        () if kind.is_socket() || kind.is_symlink() => return fs::remove_file(path).map_err(failed),
        () if kind.is_dir() => "a folder",
        () => "not a socket",
    };
    Err(LinkError::Squatted { path: path.to_owned(), what })
}

/// Whether a socket found in the folder may be talked to; `Err` says what is wrong with it.
pub(super) fn check_socket(found: &fs::Metadata) -> Result<(), &'static str> {
    if !found.file_type().is_socket() {
        Err("is not a socket")
    } else if found.uid() != me() {
        Err("belongs to another user")
    } else if found.mode() & 0o077 != 0 {
        Err("is open to others")
    } else {
        Ok(())
    }
}

/// Locks a lock file; `None` when a living process holds it.
fn lock(path: &Path) -> Result<Option<OwnedFd>, LinkError> {
    let squatted = |what| LinkError::Squatted { path: path.to_owned(), what };
    let unusable = |source: rustix::io::Errno| LinkError::Unusable { path: path.to_owned(), source: source.into() };
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = match rustix::fs::open(path, flags, Mode::from_raw_mode(0o600)) {
        Ok(file) => file,
        Err(rustix::io::Errno::LOOP) => return Err(squatted("a symbolic link")),
        Err(rustix::io::Errno::ISDIR) => return Err(squatted("a folder")),
        Err(rustix::io::Errno::NXIO) => return Err(squatted("a socket")),
        Err(error) => return Err(unusable(error)),
    };
    let found = rustix::fs::fstat(&file).map_err(unusable)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(squatted("not a plain file"));
    }
    if found.st_uid != me() {
        return Err(squatted("another user's"));
    }
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(unusable(error)),
    }
}

/// The part of a file name that represents a server's name: the name itself if it is plain, otherwise its plain
/// characters with a digest, so that two names never share a file.
fn stem(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !name.is_empty() && name.len() <= PLAIN_STEM && !name.starts_with('.') && name.chars().all(plain) {
        return name.to_owned();
    }
    let rest: String = name.chars().filter(char::is_ascii_alphanumeric).take(16).collect();
    format!("{rest}-{}", Digest::of(name.as_bytes()).short())
}

fn check_length(socket: &Path) -> Result<(), LinkError> {
    let (bytes, limit) = (socket.as_os_str().len(), SOCKET_PATH - 1);
    if bytes > limit { Err(LinkError::TooLong { path: socket.to_owned(), bytes, limit }) } else { Ok(()) }
}

pub(super) fn me() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    #[error("the folder {path:?} cannot be used: {source}; make it writable for you, or choose another with --home")]
    Unusable { path: PathBuf, source: io::Error },
    #[error("the folder {path:?} is a symbolic link, so something else decides where it leads; remove the link")]
    Linked { path: PathBuf },
    #[error("{path:?} is not a folder; move it away")]
    NotAFolder { path: PathBuf },
    #[error("the folder {path:?} belongs to user {owner}, not to you; choose another with --home")]
    Foreign { path: PathBuf, owner: u32 },
    #[error("the folder {path:?} is open to others (mode {mode:03o}); run: chmod {hint} {path:?}")]
    Loose { path: PathBuf, mode: u32, hint: &'static str },
    #[error(
        "the socket path {path:?} has {bytes} bytes, but this system takes {limit}; choose a shorter --home or --name"
    )]
    TooLong { path: PathBuf, bytes: usize, limit: usize },
    #[error("{path:?} is {what}; mcp-approve did not make it: look at it, then remove it")]
    Squatted { path: PathBuf, what: &'static str },
    #[error("{count} running servers are called {name:?} already; end some, or choose another --name")]
    NamesTaken { name: String, count: u32 },
    #[error("no console can be reached at {path:?}: {source}; check that its folder is on a local disk")]
    Socket { path: PathBuf, source: io::Error },
    #[error("the consoles' watcher cannot run: {0}; end other programs and try again")]
    Watcher(io::Error),
    #[error("a message could not be written as JSON: {0}; this is a defect, please report it")]
    Unsayable(#[from] serde_json::Error),
    #[error("the link to the wrappers has ended; start the console again")]
    Ended,
}
