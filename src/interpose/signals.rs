//! The signals that end a wrapper: catches them and reports their names. And that of a child that ended: reaps the processes
//! that the server's own processes left behind, which become the wrapper's children. Decides nothing, ends none.
//!
//! A server that forks, starts a session and forks again would escape every check of parents and groups, and could then
//! pose as a console. If its orphans become children of the wrapper, instead of the system's first process, their
//! descent can be seen (`link/peer`). Only Linux can do that; elsewhere such a process passes for one of the user's.
#![allow(unsafe_code)] // waitid(2) tells which child has ended without taking its status from whoever waits for it.

use std::sync::Arc;
use std::{future, io};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Notify, mpsc};

/// The signals that end a wrapper, caught from [`Signals::catch`] on.
#[derive(Debug)]
pub struct Signals(mpsc::UnboundedReceiver<&'static str>);

impl Signals {
    /// Catches them. Call it before the server starts, so that no signal ends the wrapper without its cleanup.
    pub fn catch() -> io::Result<Self> {
        let (tell, told) = mpsc::unbounded_channel();
        let signals = [
            (SignalKind::terminate(), "SIGTERM"),
            (SignalKind::interrupt(), "SIGINT"),
            (SignalKind::hangup(), "SIGHUP"),
        ];
        for (kind, name) in signals {
            let (mut signal, tell) = (signal(kind)?, tell.clone());
            // Each on a separate task: the loop polls one queue, several times per call, and not three signals.
            tokio::spawn(async move { while signal.recv().await.is_some() && tell.send(name).is_ok() {} });
        }
        Ok(Self(told))
    }

    /// The name of the next one that comes.
    pub async fn next(&mut self) -> &'static str {
        match self.0.recv().await {
            Some(name) => name,
            None => future::pending().await,
        }
    }
}

/// Reports of children that ended (SIGCHLD).
#[derive(Debug)]
pub struct Adopted {
    ended: Signal,
    /// Told of each report: the server may be among those that ended.
    pub reported: Arc<Notify>,
}

impl Adopted {
    /// Makes this process the parent of all orphans among its descendants. Call it after the guardian was forked, which
    /// must not become our child, and before the server is started.
    pub fn start() -> io::Result<Self> {
        let ended = signal(SignalKind::child())?;
        #[cfg(target_os = "linux")]
        if let Err(error) = rustix::process::set_child_subreaper(Some(rustix::process::getpid())) {
            tracing::warn!(%error, "orphans of the server cannot be distinguished from other processes");
        }
        Ok(Self { ended, reported: Arc::default() })
    }

    /// Reaps adopted processes as they end, for as long as the wrapper lives; `server` is left to [`super::child`].
    pub async fn reap(mut self, server: u32) {
        let server = libc::pid_t::try_from(server).ok();
        while self.ended.recv().await.is_some() {
            while let Some(pid) = ended_child() {
                if Some(pid) == server || is_of_our_own(pid) {
                    // The next signal finds the children behind this one.
                    break;
                }
                // SAFETY: takes the status of a child that has ended and that no other process waits for.
                unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::WNOHANG) };
            }
            self.reported.notify_one();
        }
    }
}

/// A child that has ended and was not reaped yet; this does not reap it.
fn ended_child() -> Option<libc::pid_t> {
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: all zeros is a valid siginfo_t; waitid(2) fills it and leaves the child as it is.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        if libc::waitid(libc::P_ALL, 0, &raw mut info, options) == -1 {
            return None;
        }
        Some(pid_of(&info)).filter(|pid| *pid > 0)
    }
}

/// # Safety
/// `info` was filled by waitid(2).
#[cfg(target_os = "linux")]
unsafe fn pid_of(info: &libc::siginfo_t) -> libc::pid_t {
    // SAFETY: the caller's promise.
    unsafe { info.si_pid() }
}

/// # Safety
/// None needed: the field is plain here.
#[cfg(not(target_os = "linux"))]
unsafe fn pid_of(info: &libc::siginfo_t) -> libc::pid_t {
    info.si_pid
}

/// Whether the wrapper itself waits for a child (the inline console's editor): it is in our group, no process of the server is.
fn is_of_our_own(pid: libc::pid_t) -> bool {
    // SAFETY: both only ask for a number.
    unsafe { libc::getpgid(pid) == libc::getpgrp() }
}
