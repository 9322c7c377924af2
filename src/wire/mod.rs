//! Bytes to JSON-RPC and back: lines, strict reading, sorting, digests, the answers we write ourselves. Pure.

pub mod call;
pub mod digest;
pub mod id;
pub mod line;
pub mod message;
pub mod reply;
pub mod strict;
