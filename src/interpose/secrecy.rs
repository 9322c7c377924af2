//! Keeps what this process knows from other processes of the same user: held calls, and what the operator sees.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// A limit on core files: the wrapped server gets the one that we were given.
#[derive(Clone, Copy, Debug)]
pub struct CoreLimit(Rlimit);

impl CoreLimit {
    /// This process's current limit.
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

/// Lets no other process of this user read this one's memory or act as its debugger, and no crash write it to disk.
/// Returns the limit on core files as it was.
///
/// On Linux by the "dumpable" mark, which ends with the next exec, so that the wrapped server is left as it would be
/// without us, and everywhere by a limit of zero on core files, which lasts: it is restored for a server. Only the soft
/// limit is set, which can be raised again. If the system refuses, only this protection is lost: it is not part of
/// assurance level 0, which an agent with a shell defeats anyway.
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
