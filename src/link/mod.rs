//! Interposer to console: messages, the runtime folder, sockets, peer checks.

pub mod client;
mod console_task;
pub mod delegation;
pub mod desktop;
pub mod folder;
pub mod message;
mod peer;
pub mod server;
mod watcher;

pub use folder::LinkError;
