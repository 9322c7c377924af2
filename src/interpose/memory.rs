//! Keeps an idle wrapper small: there is one beside every server. Only with glibc is freed memory given back.
#![allow(unsafe_code)] // mallopt(3) and malloc_trim(3) take numbers only; madvise(2) takes the program's own read-only part.

/// From how many bytes on memory is taken from the system alone, and given back as soon as it is free. By default glibc raises
/// this with what a program frees, and the holes that large buffers leave in the heap stay: half a mebibyte of the start's.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: libc::c_int = 64 << 10;

/// Makes all threads share one heap: otherwise each gets its own, mostly unused, since they rarely work at once.
pub fn share_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: changes settings of the allocator, which any thread may do at any time.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
    }
}

/// Gives back what is not used now: free memory, and the program's own pages. Call it when there is nothing to do.
pub fn give_back() {
    unmap_program();
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: only returns free pages to the system.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Unmaps the program's own pages; those still used are mapped again from the system's cache. Call it when a part of the start is
/// over (command line read, log open, first call recorded): a quarter of the pages is only for that, and timers may come too late.
pub fn unmap_program() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            /// Set by the linker: the first byte of the program, and the one after its code. Nothing between them is written to.
            static __executable_start: u8;
            static etext: u8;
        }
        const PAGE: usize = 4096;
        let (start, end) = (&raw const __executable_start as usize, &raw const etext as usize);
        // SAFETY: only whole pages that are mapped from the program's file and never written to: what is read of them
        // next is the same. A system with larger pages refuses a start that is not on one of its page boundaries.
        unsafe {
            libc::madvise(start as *mut libc::c_void, (end & !(PAGE - 1)).saturating_sub(start), libc::MADV_DONTNEED);
        }
    }
}
