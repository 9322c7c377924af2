//! What the console hears from the link. The sockets are the link's; here stands only its word for them.

pub use crate::link::client::ClientEvent;
