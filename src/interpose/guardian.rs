//! A tiny process that outlives the wrapper by a second, to end the server's process group when nothing else can; and what keeps
//! this process's memory from others of the same user: held calls, and what the operator sees.
//!
//! After `kill -9` a wrapper cannot end anything, and servers have children of their own (`npx`). So before it has any
//! thread, the wrapper forks a process that holds only one end of a pipe. When that pipe ends without a goodbye, the
//! wrapper is dead, and the group it last named is ended: SIGTERM, a second at most, SIGKILL.
//!
//! It is forked twice, so it does not descend from the wrapper: hosts that end a wrapper with all its children miss it.
#![allow(unsafe_code)] // fork, and the few calls that are allowed after it.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::mem;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What the wrapper writes instead of a group's number, which is never negative.
const GOODBYE: i32 = -1;
/// Steps of a hundredth of a second between SIGTERM and SIGKILL.
const PATIENCE: u32 = 100;
/// The most descriptors closed one by one where the system cannot close them all at once.
const MOST_DESCRIPTORS: RawFd = 65536;

/// The wrapper's end. Dropping it without [`Guardian::dismiss`] ends the watched group.
#[derive(Debug)]
pub struct Guardian {
    pipe: PipeWriter,
}

impl Guardian {
    /// Forks the guardian. Call it before any thread is started.
    pub fn start() -> io::Result<Self> {
        let (reader, pipe) = io::pipe()?;
        let child = fork_twice(&reader)?;
        let mut status = 0;
        // SAFETY: waits for our own child, which ends at once; `status` outlives the call.
        while unsafe { libc::waitpid(child, &raw mut status, 0) } == -1 {
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        match status {
            0 => Ok(Self { pipe }),
            _ => Err(io::Error::other("no process could be made for the guardian")),
        }
    }

    /// Lets a command name its process as the group between fork and exec, so that no moment is unwatched, and takes our own former
    /// limit on core files. The command must lead its own group, and start while this guardian lives.
    pub fn enlist(&self, command: &mut Command, core: CoreLimit) {
        let pipe = self.pipe.as_raw_fd();
        // SAFETY: the closure runs between fork and exec and calls only setrlimit, getpid and write, which are safe there.
        // The descriptor is the guardian's pipe, which the child has as a copy until it execs.
        unsafe {
            command.pre_exec(move || {
                core.restore();
                let word = libc::getpid().to_ne_bytes();
                match libc::write(pipe, word.as_ptr().cast(), word.len()) {
                    -1 => Err(io::Error::last_os_error()),
                    _ => Ok(()),
                }
            });
        }
    }

    /// Ends the guardian without ending the group.
    pub fn dismiss(self) -> io::Result<()> {
        // Four bytes into a pipe are written whole or not at all.
        (&self.pipe).write_all(&GOODBYE.to_ne_bytes())
    }
}

/// Forks a child that forks the guardian and ends; returns the child.
fn fork_twice(reader: &PipeReader) -> io::Result<libc::pid_t> {
    // SAFETY: no other thread exists (see `start`), and even if one did, everything the children do below is
    // async-signal-safe: they neither allocate nor take a lock, and leave by `_exit` alone.
    let child = unsafe { libc::fork() };
    match child {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            // SAFETY: as above.
            match unsafe { libc::fork() } {
                -1 => leave(1),
                0 => guard(reader),
                _ => leave(0),
            }
        }
        _ => Ok(child),
    }
}

fn guard(mut reader: &PipeReader) -> ! {
    settle(reader.as_raw_fd());
    let mut group = 0;
    let mut word = [0; mem::size_of::<i32>()];
    // `read_exact` on a pipe is `read` in a loop, which goes on after a signal.
    while reader.read_exact(&mut word).is_ok() {
        match i32::from_ne_bytes(word) {
            GOODBYE => leave(0),
            named => group = named,
        }
    }
    // Group 1 would mean every process: kill(-1).
    if group > 1 {
        end(group);
    }
    leave(0)
}

/// Gives up everything of the wrapper's: session, terminal, folder, name, descriptors, signals.
fn settle(keep: RawFd) {
    // SAFETY: plain calls on our own process, all async-signal-safe; a failure of any leaves us no worse.
    unsafe {
        libc::setsid();
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM, libc::SIGPIPE] {
            libc::signal(signal, libc::SIG_IGN);
        }
        libc::chdir(c"/".as_ptr());
    }
    close_but(keep);
    #[cfg(target_os = "linux")]
    // SAFETY: names this process, for lists of processes.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, c"mcp-guardian".as_ptr());
    }
}

/// Closes every descriptor but one: the host must see the end of its pipes when the wrapper is gone.
fn close_but(keep: RawFd) {
    #[cfg(target_os = "linux")]
    if let Some(below) = keep.unsigned_abs().checked_sub(1) {
        let close = |first: u32, last: u32| {
            // SAFETY: closes descriptors of this process, none of which is used again but `keep`.
            unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) == 0 }
        };
        if close(0, below) && close(below + 2, u32::MAX) {
            return;
        }
    }
    // SAFETY: asks for a number.
    let open = unsafe { libc::sysconf(libc::_SC_OPEN_MAX) };
    for descriptor in 0..RawFd::try_from(open).map_or(MOST_DESCRIPTORS, |open| open.clamp(256, MOST_DESCRIPTORS)) {
        if descriptor != keep {
            // SAFETY: as above.
            unsafe { libc::close(descriptor) };
        }
    }
}

fn end(group: i32) {
    // SAFETY: signals and sleeps; `group` is greater than one.
    unsafe {
        libc::kill(-group, libc::SIGTERM);
        for _ in 0..PATIENCE {
            if libc::kill(-group, 0) == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH) {
                return;
            }
            libc::usleep(10_000);
        }
        libc::kill(-group, libc::SIGKILL);
    }
}

fn leave(code: i32) -> ! {
    // SAFETY: ends this process without running anything of the wrapper's.
    unsafe { libc::_exit(code) }
}

/// A limit on core files: the wrapped server gets the one that we were given.
#[derive(Clone, Copy, Debug)]
pub struct CoreLimit(Rlimit);

impl CoreLimit {
    pub fn now() -> Self {
        Self(getrlimit(Resource::Core))
    }

    /// Sets the limit again, for a program about to be run. Only a system call, so it may run between fork and exec.
    ///
    /// A system that refuses leaves the server without core files, which is no reason not to run it.
    pub fn restore(self) {
        let _ = setrlimit(Resource::Core, self.0);
    }
}

/// Lets no other process of this user read or debug this one, and no crash write it to disk. Returns the former core limit.
///
/// On Linux by the "dumpable" mark, which ends with the next exec, and everywhere by a soft limit of zero on core files, which is
/// restored for a server. If the system refuses, only this protection is lost: it is not part of assurance level 0, which an agent
/// with a shell defeats anyway.
pub fn keep_memory_private() -> CoreLimit {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
            tracing::warn!(%error, "other processes of this user can read our memory");
        }
    }
    let given = CoreLimit::now();
    if let Err(error) = setrlimit(Resource::Core, Rlimit { current: Some(0), ..given.0 }) {
        tracing::warn!(%error, "a crash may write our memory to a core file");
    }
    given
}
