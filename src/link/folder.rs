//! The runtime folder: whose it is, which wrapper has which name, where its socket stands.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;

/// The longest path a socket address holds, less its closing NUL (macOS; Linux has four more).
const LONGEST: usize = 103;
/// How many wrappers of one name may run at once.
const MOST: u32 = 1000;

/// What is wrong with the runtime folder or a name in it.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It cannot be made or read.
    #[error("the runtime folder {path} cannot be used: {cause}")]
    Unusable { path: PathBuf, cause: io::Error },
    /// It is a link, or a file.
    #[error("the runtime folder {0} is no plain folder; remove it, and it is made anew")]
    NotAFolder(PathBuf),
    /// Somebody else's.
    #[error("the runtime folder {0} belongs to another user; remove it, or use --home with a folder of your own")]
    Foreign(PathBuf),
    /// Open to others.
    #[error("others may enter the runtime folder {path} (mode {mode:o}); run: chmod 700 {path}")]
    Loose { path: PathBuf, mode: u32 },
    /// A socket there would have too long a name.
    #[error("the path {path} is {length} bytes long, and a socket's may have {LONGEST}; use a shorter --home")]
    TooLong { path: PathBuf, length: usize },
    /// Something that is no socket stands where one should be.
    #[error("{0} is in the way and is no socket of ours; remove it")]
    InTheWay(PathBuf),
    /// A thousand wrappers of one name.
    #[error("no free name for `{0}`: a thousand wrappers of it are running")]
    NoName(String),
}

/// A checked runtime folder.
#[derive(Clone, Debug)]
pub struct RuntimeFolder {
    path: PathBuf,
}

/// A name that this wrapper has and no other, for as long as this value lives.
#[derive(Debug)]
pub struct NameClaim {
    name: String,
    socket: PathBuf,
    /// Its lock goes with it, even by SIGKILL.
    _lock: File,
}

impl RuntimeFolder {
    /// Makes the folder where it is missing, and checks that it is ours alone.
    ///
    /// # Errors
    /// [`FolderError`] where it is not.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        let unusable = |cause| FolderError::Unusable { path: path.to_owned(), cause };
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(unusable)?;
        let found = fs::symlink_metadata(path).map_err(unusable)?;
        if !found.is_dir() {
            return Err(FolderError::NotAFolder(path.to_owned()));
        }
        if found.uid() != geteuid().as_raw() {
            return Err(FolderError::Foreign(path.to_owned()));
        }
        let mode = found.mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(FolderError::Loose { path: path.to_owned(), mode });
        }
        Ok(Self { path: path.to_owned() })
    }

    /// Takes the first free one of `NAME`, `NAME#2`, `NAME#3`, …
    ///
    /// # Errors
    /// [`FolderError`], when the folder takes no lock or the socket's path would be too long.
    pub fn claim(&self, base: &str) -> Result<NameClaim, FolderError> {
        for number in 1..=MOST {
            let name = if number == 1 { base.to_owned() } else { format!("{base}#{number}") };
            if let Some(claim) = self.try_claim(name)? {
                return Ok(claim);
            }
        }
        Err(FolderError::NoName(base.to_owned()))
    }

    fn try_claim(&self, name: String) -> Result<Option<NameClaim>, FolderError> {
        let path = self.path.join(format!("{name}.lock"));
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&path)
            .map_err(|cause| FolderError::Unusable { path, cause })?;
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Ok(None);
        }
        let socket = self.path.join(format!("{name}.sock"));
        let length = socket.as_os_str().len();
        if length > LONGEST {
            return Err(FolderError::TooLong { path: socket, length });
        }
        Ok(Some(NameClaim { name, socket, _lock: lock }))
    }

    /// The sockets in the folder that are ours, by name.
    ///
    /// # Errors
    /// [`FolderError::Unusable`] when it cannot be read.
    pub fn sockets(&self) -> Result<Vec<PathBuf>, FolderError> {
        let unusable = |cause| FolderError::Unusable { path: self.path.clone(), cause };
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(unusable)? {
            let path = entry.map_err(unusable)?.path();
            if path.extension().is_some_and(|ext| ext == "sock") && is_our_socket(&path) {
                found.push(path);
            }
        }
        found.sort();
        Ok(found)
    }
}

impl NameClaim {
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where its socket stands; what an earlier wrapper of the name left there is removed.
    ///
    /// # Errors
    /// [`FolderError::InTheWay`] for anything but a socket of ours.
    pub fn free_socket(&self) -> Result<&Path, FolderError> {
        match fs::symlink_metadata(&self.socket) {
            Err(_) => Ok(&self.socket),
            Ok(_) if is_our_socket(&self.socket) => {
                fs::remove_file(&self.socket)
                    .map_err(|cause| FolderError::Unusable { path: self.socket.clone(), cause })?;
                Ok(&self.socket)
            }
            Ok(_) => Err(FolderError::InTheWay(self.socket.clone())),
        }
    }
}

impl Drop for NameClaim {
    fn drop(&mut self) {
        if is_our_socket(&self.socket) {
            // The next wrapper of the name removes what we cannot.
            let _ = fs::remove_file(&self.socket);
        }
    }
}

fn is_our_socket(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket() && found.uid() == geteuid().as_raw())
}
