//! The shell around the gate: tokio, processes, threads, the clock.

pub mod scribe;
