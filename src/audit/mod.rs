//! Facts, in order, for good. No update, no delete.

pub mod body;
pub mod chain;
mod lock;
pub mod place;
pub mod query;
pub mod record;
pub mod redact;
pub mod rehearsal;
pub mod search;
pub mod secrets;
pub mod stats;
pub mod store;
