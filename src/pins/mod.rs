//! What is remembered of servers and their tools between sessions: pinned definitions, programs, the operator's word.
//!
//! The audit log has no update and no delete, so pins are in another database beside it (`pins.db`). The gate decides
//! what follows from them ([`crate::gate::data::pin`]).

pub mod agreed;
pub mod columns;
pub mod diff;
pub mod launch;
pub mod page;
pub mod reading;
pub mod store;

pub use launch::Launch;
pub use store::{PinStore, PinsError, Program};
