//! The shell around the gate: tokio, processes, threads, the clock. `start` is the way in, `wrapper` the loop.

pub mod adopted;
pub mod approver;
pub mod child;
pub mod clock;
pub mod consoles;
pub mod facts;
pub mod guardian;
pub mod host;
pub mod ledger;
pub mod longline;
pub mod memory;
pub mod notice;
pub mod outbox;
pub mod pin_writer;
pub mod reload;
pub mod scribe;
pub mod secrecy;
pub mod server;
pub mod signals;
pub mod stall;
pub mod start;
pub mod stdio;
pub mod stopping;
pub mod trace;
pub mod watch;
pub mod wrapper;
