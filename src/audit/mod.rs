//! The audit log: facts, in order, kept for good. Nothing in it is ever updated or deleted.

pub mod agreed;
pub mod body;
pub mod chain;
pub mod detail;
pub mod detections;
pub mod error;
pub mod fact;
pub mod fields;
pub mod index;
mod key;
mod lock;
pub mod moment;
pub mod numbers;
pub mod past;
pub mod place;
pub mod query;
pub mod record;
pub mod recording;
pub mod redact;
#[cfg(test)]
pub(crate) mod rehearsal;
mod sealed;
pub mod search;
pub mod store;
pub mod tally;
pub mod verified;
pub mod walk;
