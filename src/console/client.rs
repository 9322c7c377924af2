//! What the console hears from the link. The sockets are the link's; here stands only its word for them.

use crate::link::message::{FromWrapper, Wrapper};

/// One thing heard. Stands here until `link::client` has it; then this file is `pub use crate::link::client::ClientEvent`.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientEvent {
    /// A wrapper speaks our protocol.
    Connected(Wrapper),
    /// A connected wrapper said something.
    Said { session: String, message: FromWrapper },
    /// A wrapper of another version: it can neither be shown nor decided.
    Incompatible { name: String, protocol: u32, version: String },
    /// A wrapper has ended.
    Gone { session: String },
    /// Something is wrong with the link itself.
    Trouble(String),
}
