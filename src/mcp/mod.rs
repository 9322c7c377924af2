//! What MCP says on the wire, per protocol revision: lifecycle, tool definitions, results. Pure.

pub mod lifecycle;
pub mod request;
pub mod result;
pub mod tool;

// What most layers above use, under one name.
pub use lifecycle::{InSession, Phase, Revision};
pub use result::Answer;
pub use tool::Tool;
