//! Where the log lies: its folder and files made private, network file systems refused, its lock file, by which one wrapper writes
//! at a time; and why it cannot be written or read. Knows nothing of SQLite or of what is written.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// Makes folder (0700) and file (0600) where they are missing.
///
/// The file is created before SQLite sees it, because SQLite would leave its mode to the umask. An existing file is
/// not opened here: closing it would drop the locks SQLite holds on it in this process (fcntl(2)).
/// Errors: the folder or file cannot be made, lies on a network file system, or is not ours alone.
pub(super) fn prepare(db: &Path) -> Result<(), StoreError> {
    let folder = folder(db);
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| failed(folder, &error))?;
    if let Some(kind) = network(folder) {
        return Err(StoreError::Network { path: folder.to_path_buf(), kind });
    }
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(db);
    match made {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let found = std::fs::symlink_metadata(db).map_err(|error| failed(db, &error))?;
            let path = db.to_path_buf();
            if !found.is_file() && !found.is_symlink() {
                return Err(StoreError::NotALog { path, why: "it is not a plain file".to_owned() });
            }
            check_own(&found).map_err(|why| StoreError::Exposed { path, why })
        }
        Err(error) => Err(failed(db, &error)),
    }
}

/// Opens a file of ours to read. Errors: The system's; it is a link, or another could have written it.
pub fn open_own(path: &Path) -> io::Result<File> {
    // Without NONBLOCK a pipe in its place would keep us waiting.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(linked)?;
    check_own(&file.metadata()?).map_err(io::Error::other)?;
    Ok(file)
}

/// The error that NOFOLLOW gives for a symbolic link, in words.
pub(super) fn linked(error: io::Error) -> io::Error {
    if error.raw_os_error() == Some(libc::ELOOP) { io::Error::other("it is a link") } else { error }
}

/// Whether a file is one of ours, which no one but we and root can have changed.
fn check_own(found: &Metadata) -> Result<(), String> {
    let (owner, mode) = (found.uid(), found.mode() & 0o7777);
    if found.is_symlink() {
        Err("it is a link".to_owned())
    } else if !found.is_file() {
        Err("it is not a plain file".to_owned())
    } else if owner != rustix::process::geteuid().as_raw() && owner != 0 {
        Err(format!("it belongs to user {owner}, not to you"))
    } else if mode & 0o022 != 0 {
        Err(format!("others than you may write to it (mode {mode:04o})"))
    } else {
        Ok(())
    }
}

/// Which file a path names: device and inode.
pub(super) type Identity = (u64, u64);

pub(super) fn identity(path: &Path) -> Option<Identity> {
    // A link put in its place is another file, wherever it leads.
    let metadata = std::fs::symlink_metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// Whether a path names this open file.
pub(super) fn is_named(file: &File, path: &Path) -> bool {
    file.metadata().is_ok_and(|file| identity(path) == Some((file.dev(), file.ino())))
}

/// The path with something added to its last name: `audit.db-wal`.
pub(super) fn beside(db: &Path, suffix: &str) -> PathBuf {
    let mut name = db.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Lets a write beyond the file size limit fail with an error instead of ending the process (setrlimit(2)).
///
/// A handler that does nothing, not `SIG_IGN`: the wrapped server would inherit that one through exec.
#[allow(
    unsafe_code,
    reason = "no safe interface to signal(2) is among the dependencies; the handler does nothing at all"
)]
pub fn survive_size_limit() {
    extern "C" fn nothing(_signal: libc::c_int) {}
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handler touches nothing, so it may run at any moment on any thread.
        unsafe {
            libc::signal(libc::SIGXFSZ, nothing as extern "C" fn(libc::c_int) as libc::sighandler_t);
        }
    });
}

/// What an error of the file system means for the log.
pub(super) fn failed(path: &Path, error: &io::Error) -> StoreError {
    let (path, why) = (path.to_path_buf(), error.to_string());
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly { path, why },
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => StoreError::Full { path, why },
        _ => StoreError::Io { path, why },
    }
}

fn folder(db: &Path) -> &Path {
    match db.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The kind of network file system a folder lies on. There SQLite's shared memory does not work across machines, and
/// locks cannot be trusted; a folder of unknown kind is left to SQLite.
#[cfg(target_os = "linux")]
fn network(folder: &Path) -> Option<String> {
    /// Magic numbers of statfs(2).
    const KINDS: &[(i128, &str)] = &[
        (0x6969, "nfs"),
        (0xFF53_4D42, "cifs"),
        (0xFE53_4D42, "smb"),
        (0x517B, "smb"),
        (0x0102_1997, "9p"),
        (0x00C3_6400, "ceph"),
        (0x5346_414F, "afs"),
        (0x0BD0_0BD0, "lustre"),
    ];
    const FUSE: i128 = 0x6573_5546;
    // The field's type differs between machines; its low 32 bits are the number.
    let magic = i128::from(rustix::fs::statfs(folder).ok()?.f_type) & 0xFFFF_FFFF;
    if magic == FUSE {
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
        let device = std::fs::metadata(folder).ok()?.dev();
        let device = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
        return remote_fuse(&mounts, &device);
    }
    let (_, kind) = KINDS.iter().find(|(known, _)| *known == magic)?;
    Some((*kind).to_owned())
}

#[cfg(not(target_os = "linux"))]
fn network(folder: &Path) -> Option<String> {
    let flags = rustix::fs::statfs(folder).ok()?.f_flags;
    let local = u32::try_from(libc::MNT_LOCAL).ok()?;
    (flags & local == 0).then(|| "network file system".to_owned())
}

/// The type of the FUSE mount with this device number, when it is one that reaches another machine.
#[cfg(target_os = "linux")]
fn remote_fuse(mountinfo: &str, device: &str) -> Option<String> {
    const REMOTE: &[&str] = &[
        "fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.glusterfs", "fuse.davfs", "fuse.curlftpfs", "fuse.gcsfuse",
        "fuse.ceph", "fuse.juicefs",
    ];
    mountinfo.lines().find_map(|line| {
        // proc_pid_mountinfo(5): the third field is the device; the type follows the lone dash.
        let (place, kind) = line.split_once(" - ")?;
        let kind = kind.split(' ').next()?;
        (place.split(' ').nth(2)? == device && REMOTE.contains(&kind)).then(|| kind.to_owned())
    })
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("the audit log {path} cannot be written: {why}")]
    ReadOnly { path: PathBuf, why: String },
    #[error("the audit log {path} cannot grow: {why}")]
    Full { path: PathBuf, why: String },
    #[error("{path} is not an audit log: {why}")]
    NotALog { path: PathBuf, why: String },
    #[error("the audit log {path} is not used: {why}")]
    Exposed { path: PathBuf, why: String },
    #[error("the audit log {path} has format {found}; this program knows another")]
    Version { path: PathBuf, found: i64 },
    #[error("the audit log cannot be in {path}: it is on a network file system ({kind})")]
    Network { path: PathBuf, kind: String },
    #[error("the audit log stayed locked by another process: {path}")]
    Busy { path: PathBuf },
    #[error("the audit log {path} is damaged: {why}")]
    Damaged { path: PathBuf, why: String },
    #[error("the audit log {path} lost records while this process wrote to it: {why}")]
    Lost { path: PathBuf, why: String },
    #[error("the audit log {path} failed: {why}")]
    Io { path: PathBuf, why: String },
    #[error("{why}")]
    Desk { why: String, hint: &'static str },
}

impl StoreError {
    pub fn hint(&self) -> &'static str {
        match self {
            Self::ReadOnly { .. } => {
                "make its folder writable for your user, or choose another with --home or --audit-db"
            }
            Self::Full { .. } => "free some space, or raise the file size limit (ulimit -f)",
            Self::NotALog { .. } => "move that file away, or choose another with --audit-db",
            Self::Exposed { .. } => {
                "find out who did that; then make it a file of your own (chmod go-w), or move it away, or choose another with --audit-db"
            }
            Self::Version { .. } => {
                "use the version of mcp-approve that wrote it, or move it and its audit.head away to begin a new log"
            }
            Self::Network { .. } => "choose a local folder with --home or --audit-db",
            Self::Busy { .. } => {
                "look for a stopped mcp-approve process that holds the lock, and end it; if there is none, the disk is too slow"
            }
            Self::Damaged { .. } => "keep a copy, and move it and its audit.head away to begin a new log",
            Self::Lost { .. } => {
                "find out who removed or replaced it (mcp-approve log verify), then start this server again"
            }
            Self::Io { .. } => "look at the disk and the folder, then try again",
            Self::Desk { hint, .. } => hint,
        }
    }
}

/// How long to wait for the other writers. A wrapper that was stopped while it held the lock must not
/// keep all others from answering their hosts, which commonly give up on a call after sixty seconds.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long to wait before each try. SQLite's own waiting sleeps ever longer, and lets a writer starve among busy ones.
const AGAIN: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(super) struct Lock(PathBuf);

/// The lock, held until dropped; the kernel frees it when this process dies.
pub(super) struct Held(File);

impl Lock {
    /// The lock of the log at `db`: `audit.lock` beside it.
    pub(super) fn of(db: &Path) -> Self {
        Self(db.with_extension("lock"))
    }

    /// Takes the lock, waiting for other writers.
    pub(super) fn hold(&self) -> Result<Held, StoreError> {
        self.hold_within(PATIENCE)
    }

    pub(super) fn hold_within(&self, patience: Duration) -> Result<Held, StoreError> {
        let (file, until) = (self.open()?, Instant::now() + patience);
        while !self.is_taken(&file)? {
            if Instant::now() >= until {
                return Err(StoreError::Busy { path: self.0.clone() });
            }
            thread::sleep(AGAIN);
        }
        Ok(Held(file))
    }

    /// Takes the lock when no one has it; `None` at once when another does.
    pub(super) fn try_hold(&self) -> Result<Option<Held>, StoreError> {
        let file = self.open()?;
        Ok(self.is_taken(&file)?.then(|| Held(file)))
    }

    fn is_taken(&self, file: &File) -> Result<bool, StoreError> {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(false),
            Err(error) => Err(failed(&self.0, &error.into())),
        }
    }

    fn open(&self) -> Result<File, StoreError> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        options.open(&self.0).map_err(|error| failed(&self.0, &linked(error)))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Closing the file is not enough: a process that is being started may have it as well. This can only fail for a
        // closed descriptor, and then the lock is released too.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use crate::audit::place::remote_fuse;

    #[test]
    fn a_fuse_mount_is_remote_only_by_its_type() {
        let mounts = "36 25 0:45 / /home/u/far rw,nosuid - fuse.sshfs u@far:/ rw\n\
                      37 25 0:46 / /home/u/near rw - fuse.gocryptfs /crypt rw\n";
        assert_eq!(remote_fuse(mounts, "0:45").as_deref(), Some("fuse.sshfs"));
        assert_eq!(remote_fuse(mounts, "0:46"), None);
        assert_eq!(remote_fuse(mounts, "0:47"), None);
    }
}
