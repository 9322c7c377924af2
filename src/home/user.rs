//! The one door to the user database: who runs this, and where home is. Never asks the environment.

#![allow(
    unsafe_code,
    reason = "getpwuid_r has no safe wrapper among our dependencies, and $HOME is for the agent's host to choose"
)]

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    pub id: u32,
    pub name: String,
    pub home: PathBuf,
}

/// The database does not know the user of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the user database has no home for user {0}")]
pub struct Unknown(pub u32);

pub fn current() -> Result<User, Unknown> {
    let id = rustix::process::geteuid().as_raw();
    // Entries are short, except perhaps those of a directory service.
    [1 << 12, 1 << 16, 1 << 20]
        .into_iter()
        .find_map(|size| entry(id, size))
        .filter(|user| user.home.is_absolute())
        .ok_or(Unknown(id))
}

/// How records call the user of this process: by name, or by why there is none.
pub fn name() -> String {
    current().map_or_else(|unknown| unknown.to_string(), |user| user.name)
}

pub fn machine() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Reads the entry with a buffer of `size` bytes; `None` when there is none, or it needs more.
fn entry(id: u32, size: usize) -> Option<User> {
    let mut record = std::mem::MaybeUninit::<libc::passwd>::uninit();
    let mut buffer = vec![0; size];
    let mut found = std::ptr::null_mut();
    // SAFETY: all pointers are valid for the call, and the length is the buffer's.
    let code = unsafe { libc::getpwuid_r(id, record.as_mut_ptr(), buffer.as_mut_ptr(), buffer.len(), &raw mut found) };
    if code != 0 || found.is_null() {
        return None;
    }
    // SAFETY: success with a result means that `record` is filled in, with pointers into `buffer`, which still lives.
    let record = unsafe { record.assume_init() };
    if record.pw_name.is_null() || record.pw_dir.is_null() {
        return None;
    }
    // SAFETY: both are strings with a NUL at their end, in `buffer`.
    let (name, home) = unsafe { (CStr::from_ptr(record.pw_name), CStr::from_ptr(record.pw_dir)) };
    Some(User {
        id,
        name: name.to_string_lossy().into_owned(),
        home: PathBuf::from(OsStr::from_bytes(home.to_bytes())),
    })
}
