//! Interposer to console: messages, the runtime folder, sockets, peer checks.

pub mod folder;
pub mod message;
pub mod peer;
pub mod server;
