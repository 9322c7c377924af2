//! A tiny process that ends the server's whole group when the wrapper dies without a word, as by SIGKILL.
//!
//! It is forked before the wrapper has a thread, holds nothing but the read end of a pipe, and lives in a session of
//! its own, so that a host that kills the wrapper's group does not kill it too.

#![allow(unsafe_code, reason = "fork, and nothing after it but async-signal-safe calls: there is no safe way to do it")]

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};

use rustix::io::write;
use rustix::pipe::{PipeFlags, pipe_with};

/// The wrapper's end. Dropping it without [`Guardian::dismiss`] lets the guardian end the group.
#[derive(Debug)]
pub struct Guardian {
    pipe: OwnedFd,
    pid: libc::pid_t,
}

/// How long the group has between SIGTERM and SIGKILL, in steps of 20 ms.
const STEPS: u32 = 50;

impl Guardian {
    /// Forks the guardian.
    ///
    /// # Errors
    /// The system's: no process or pipe to be had.
    pub fn start() -> io::Result<Self> {
        let (read_end, write_end) = pipe_with(PipeFlags::CLOEXEC)?;
        // SAFETY: the caller has no thread yet, and the child only makes system calls before `_exit`.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => watch_over(read_end.as_raw_fd()),
            pid => Ok(Self { pipe: write_end, pid }),
        }
    }

    /// Tells which process group to end.
    pub fn watch(&self, group: i32) {
        // A guardian that is gone guards nothing; the wrapper works without it.
        let _ = write(&self.pipe, &group.to_ne_bytes());
    }

    /// Sends it home: the group has ended as it should.
    pub fn dismiss(self) {
        self.watch(0);
        let pid = self.pid;
        drop(self.pipe);
        // SAFETY: waits for our own child; it is about to exit.
        unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
    }
}

/// The guardian's whole life: the last group it was told is ended when the pipe closes; group 0 means nobody.
fn watch_over(pipe: i32) -> ! {
    // SAFETY: system calls only, on values of this function.
    unsafe {
        libc::setsid();
        for fd in 0..1024 {
            if fd != pipe {
                libc::close(fd);
            }
        }
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGPIPE] {
            libc::signal(signal, libc::SIG_IGN);
        }
        let mut group = 0i32;
        loop {
            let mut told = [0u8; 4];
            let n = libc::read(pipe, told.as_mut_ptr().cast(), told.len());
            if n == 4 {
                group = i32::from_ne_bytes(told);
            } else if n == 0 || *errno() != libc::EINTR {
                break;
            }
        }
        if group > 1 {
            libc::kill(-group, libc::SIGTERM);
            for _ in 0..STEPS {
                if libc::kill(-group, 0) != 0 {
                    break;
                }
                libc::usleep(20_000);
            }
            libc::kill(-group, libc::SIGKILL);
        }
        libc::_exit(0)
    }
}

#[cfg(target_os = "linux")]
unsafe fn errno() -> *mut i32 {
    // SAFETY: the location is the thread's own.
    unsafe { libc::__errno_location() }
}

#[cfg(not(target_os = "linux"))]
unsafe fn errno() -> *mut i32 {
    // SAFETY: the location is the thread's own.
    unsafe { libc::__error() }
}
