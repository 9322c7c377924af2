//! Keeps an idle wrapper small: there is one beside every server. glibc holds on to what was freed; other allocators are left alone.
#![allow(unsafe_code)] // mallopt(3) and malloc_trim(3) take numbers only.

use std::time::Duration;

/// By then a server has started and was asked for its tools; what that took is free again.
const SETTLED: Duration = Duration::from_secs(3);

/// Has all threads share one heap. Each would get its own, of which little is used: the threads rarely work at once.
pub fn share_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: changes a setting of the allocator, which any thread may do at any time.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Gives back what the start took, once it is over. Later growth stays: whoever needed it will need it again.
pub async fn give_back() {
    tokio::time::sleep(SETTLED).await;
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: only returns free pages to the system.
    unsafe {
        libc::malloc_trim(0);
    }
}
