//! What is remembered of servers and their tools between sessions: pinned definitions, programs, the operator's word.
//!
//! The audit log has no update and no delete, so this has a database of its own beside it (`pins.db`). What follows from
//! it is the gate's business ([`crate::gate::data::pin`]).

mod columns;
pub mod diff;
pub mod launch;
pub mod reading;
pub mod review;
pub mod store;

pub use launch::Launch;
pub use store::{Memory, PinsError, Program};
