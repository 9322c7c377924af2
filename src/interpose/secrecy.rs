//! Keeps what this process knows from other processes of the same user: held calls, and what the operator sees.

/// Lets no other process of this user read this one's memory or act as its debugger, and no crash write it to disk.
///
/// On Linux by the "dumpable" mark, which ends with the next exec, so that the wrapped server is left as it would be
/// without us. Elsewhere the system keeps other processes out unless the user grants it. A system that refuses costs
/// this protection and nothing else: it is no part of assurance level 0, which an agent with a shell defeats anyway.
pub fn keep_memory_private() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
            tracing::warn!(%error, "other processes of this user can read our memory");
        }
    }
}
