//! The shell around the gate: tokio, processes, threads, the clock.

pub mod child;
pub mod clock;
pub mod guardian;
pub mod stdio;
pub mod trace;
