//! mcp: what the protocol says on the wire, one line per case.

mod lifecycle;
mod meta;
mod request;
mod result;
mod tool;
