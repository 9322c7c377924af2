//! The shell around the gate: tokio, processes, threads, the clock. `start` is the way in, `wrapper` the loop.

pub mod child;
pub mod clock;
pub mod consoles;
pub mod counts;
pub mod facts;
pub mod guardian;
pub mod host;
pub mod longline;
pub mod memory;
pub mod notice;
pub mod pin_writer;
pub mod programs;
pub mod reload;
pub mod scribe;
pub mod server;
pub mod signals;
pub mod start;
pub mod stdio;
pub mod threads;
pub mod watch;
pub mod wrapper;
