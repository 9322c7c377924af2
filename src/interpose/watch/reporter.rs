//! Reports of changed files by inotify(7) on Linux; elsewhere files are polled. Owns which file systems report all changes.

use std::ffi::OsString;

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::Reporter;
#[cfg(target_os = "linux")]
pub(super) use linux::Reporter;

/// What identifies the file of a report: the name of an entry of a folder, or the number of a watched file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Mark {
    Name(OsString),
    Number(i32),
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsStr;
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::Path;
    use std::sync::Arc;

    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    use crate::interpose::watch::reporter::Mark;

    /// File systems that only this kernel writes, by statfs(2): ext2 to ext4, xfs, btrfs, f2fs, zfs, bcachefs, tmpfs, ramfs, overlayfs.
    const LOCAL: [u32; 9] = [
        0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0x2FC1_2FC1, 0xCA45_1A4E, 0x0102_1994, 0x8584_58F6, 0x794C_7630,
    ];

    /// One queue of reports, which threads add files to and the loop reads.
    #[derive(Clone, Debug)]
    pub struct Reporter(Arc<AsyncFd<OwnedFd>>);

    impl Reporter {
        #[allow(deprecated, reason = "its successor is unsafe; an OwnedFd always gives the same descriptor")]
        pub fn new() -> io::Result<Self> {
            let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
            Ok(Self(Arc::new(AsyncFd::with_interest(queue, Interest::READABLE)?)))
        }

        /// Adds a folder on the way to a file, of which only a move or removal counts. Returns whether that is reported.
        pub fn add_way(&self, folder: &Path) -> bool {
            // A folder that we may not read belongs to another user, who does not move it.
            self.watch(folder, WatchFlags::ONLYDIR)
                .map_or_else(|error| error.kind() == io::ErrorKind::PermissionDenied, |_| true)
        }

        /// Adds the names in a folder. Returns whether every change of them is reported.
        pub fn add_folder(&self, folder: &Path) -> bool {
            let names = WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::MOVE | WatchFlags::ONLYDIR;
            self.watch(folder, names).is_ok() && is_local(folder)
        }

        /// Adds the content and the permissions of a file. Returns its number, and whether every change of it is reported.
        pub fn add_file(&self, file: &Path) -> (Option<i32>, bool) {
            let content = WatchFlags::MODIFY | WatchFlags::CLOSE_WRITE | WatchFlags::ATTRIB;
            let number = self.watch(file, content | WatchFlags::DONT_FOLLOW).ok();
            // The file may be a mount on another disk than its folder.
            (number, number.is_some() && is_local(file))
        }

        fn watch(&self, path: &Path, what: WatchFlags) -> io::Result<i32> {
            let end = WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF;
            Ok(inotify::add_watch(self.0.get_ref(), path, what | end | WatchFlags::MASK_ADD)?)
        }

        pub async fn readable(&self) {
            // An error concerns the queue itself; the next read finds it.
            let _ = self.0.readable().await;
        }

        /// Passes each report to `take`: the mark of its file (`None`: any file), and whether its watch has ended.
        pub fn reports(&self, mut take: impl FnMut(Option<Mark>, bool)) -> io::Result<()> {
            let mut room = [MaybeUninit::uninit(); 4096];
            let read = self.0.try_io(Interest::READABLE, |queue| -> io::Result<()> {
                let mut reader = Reader::new(queue, &mut room);
                loop {
                    let report = reader.next()?;
                    let is_last = report.events().contains(ReadFlags::IGNORED);
                    match report.file_name() {
                        Some(name) => take(Some(Mark::Name(OsStr::from_bytes(name.to_bytes()).to_owned())), is_last),
                        None if report.events().contains(ReadFlags::QUEUE_OVERFLOW) => take(None, false),
                        None => take(Some(Mark::Number(report.wd())), is_last),
                    }
                }
            });
            read.or_else(|error| if error.kind() == io::ErrorKind::WouldBlock { Ok(()) } else { Err(error) })
        }
    }

    /// Whether only this system's kernel writes to the path's file system.
    fn is_local(path: &Path) -> bool {
        rustix::fs::statfs(path).is_ok_and(|found| u32::try_from(found.f_type).is_ok_and(|kind| LOCAL.contains(&kind)))
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::io;
    use std::path::Path;

    use crate::interpose::watch::reporter::Mark;

    #[derive(Clone, Debug)]
    pub enum Reporter {}

    impl Reporter {
        pub fn new() -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub fn add_way(&self, _: &Path) -> bool {
            match *self {}
        }

        pub fn add_folder(&self, _: &Path) -> bool {
            match *self {}
        }

        pub fn add_file(&self, _: &Path) -> (Option<i32>, bool) {
            match *self {}
        }

        pub async fn readable(&self) {
            match *self {}
        }

        pub fn reports(&self, _: impl FnMut(Option<Mark>, bool)) -> io::Result<()> {
            match *self {}
        }
    }
}
