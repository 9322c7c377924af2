//! Opens a file once and says who could have put it there: each folder on its way is opened through the one above it, and what is
//! read is what was looked at. A link that changes meanwhile leads nowhere else.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path};

use rustix::fs::{CWD, Mode, OFlags, openat, readlinkat};
use rustix::io::Errno;

use crate::signing::grade::Owner;

const MOST_LINKS: u32 = 40;

/// How a folder is opened that may be passed and not listed.
#[cfg(target_os = "linux")]
const PASS: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const PASS: OFlags = OFlags::RDONLY;

#[derive(Debug)]
pub struct Opened {
    pub file: File,
    pub found: Metadata,
    /// [`Owner::Root`] where root alone can change the file, each folder on the way to it, and each link that was followed.
    pub owner: Owner,
}

/// Opens a file to read it, by its absolute path.
/// Errors: as opening does; `InvalidInput` for a relative path.
pub fn open(path: &Path) -> io::Result<Opened> {
    if !path.is_absolute() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path is not absolute"));
    }
    let mut owner = Owner::Root;
    let mut left = names(path);
    let mut links = 0;
    let root = || openat(CWD, "/", PASS | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let mut folder = root()?;
    loop {
        owner = owner.and(of(&File::from(folder.try_clone()?).metadata()?));
        let Some(name) = left.pop() else { return Err(Errno::ISDIR.into()) };
        let is_last = left.is_empty();
        match enter(&folder, &name, is_last) {
            Ok(entered) if is_last => {
                let file = File::from(entered);
                let found = file.metadata()?;
                let owner = owner.and(of(&found));
                return Ok(Opened { file, found, owner });
            }
            Ok(entered) => folder = entered,
            // A link: where it leads is read from the folder that was looked at, which root alone can change or not.
            Err(error) => {
                let Ok(target) = readlinkat(&folder, &name, Vec::new()) else { return Err(error.into()) };
                links += 1;
                if links > MOST_LINKS {
                    return Err(Errno::LOOP.into());
                }
                let target = OsString::from_vec(target.into_bytes());
                if Path::new(&target).is_absolute() {
                    folder = root()?;
                }
                left.extend(names(Path::new(&target)));
            }
        }
    }
}

fn enter(folder: &OwnedFd, name: &OsStr, is_last: bool) -> rustix::io::Result<OwnedFd> {
    // A pipe must not wait for its writer.
    let last = OFlags::RDONLY | OFlags::NONBLOCK;
    let flags = if is_last { last } else { PASS | OFlags::DIRECTORY };
    openat(folder, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

/// The names on a way, the last one first.
fn names(path: &Path) -> Vec<OsString> {
    let named = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    });
    let mut named: Vec<OsString> = named.collect();
    named.reverse();
    named
}

fn of(found: &Metadata) -> Owner {
    if found.uid() == 0 && found.mode() & 0o022 == 0 { Owner::Root } else { Owner::User }
}
