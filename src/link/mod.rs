//! Interposer to console: messages, the runtime folder, sockets, peer checks.

pub mod client;
mod console_task;
pub mod delegation;
pub mod desktop;
pub mod error;
pub mod event;
pub mod folder;
mod job;
pub mod message;
mod outbox;
pub mod peek;
mod peer;
mod reader;
pub mod server;
mod watcher;

pub use error::LinkError;
