//! Interposer to console: messages, the runtime folder, sockets, peer checks.

pub mod message;
