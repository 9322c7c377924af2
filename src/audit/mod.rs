//! Facts, in order, for good. No update, no delete.

pub mod body;
pub mod chain;
pub mod counted;
pub mod index;
mod key;
mod lock;
pub mod past;
pub mod place;
pub mod query;
pub mod record;
pub mod recording;
pub mod redact;
pub mod rehearsal;
mod sealed;
pub mod search;
pub mod secrets;
mod sketch;
pub mod stats;
pub mod store;
