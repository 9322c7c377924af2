//! mcp-approve: consent integrity on the MCP stdio pipe. (map to come)

pub mod audit;
pub mod behavior;
pub mod capability;
pub mod cli;
pub mod console;
pub mod error;
pub mod gate;
pub mod interpose;
pub mod link;
pub mod mcp;
pub mod policy;
pub mod wire;
