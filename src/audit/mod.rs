//! Facts, in order, for good. No update, no delete.

pub mod chain;
pub mod query;
pub mod record;
pub mod redact;
pub mod rehearsal;
pub mod store;
