//! Bytes to JSON-RPC and back: lines, strict reading, sorting, digests, the answers we write ourselves. Pure.

#![warn(clippy::wildcard_enum_match_arm, clippy::indexing_slicing)]

pub mod call;
pub mod digest;
mod envelope;
pub mod fold;
pub mod id;
pub mod inputs;
pub mod json;
pub mod message;
pub mod number;
pub mod rename;
pub mod reply;
pub mod stream;
pub mod strict;
pub mod task;
pub mod wildcards;
pub mod words;

pub(crate) use strict::plain_run;

// What most layers above use, under one name.
pub use call::{Call, Origin};
pub use digest::{Digest, Hasher, Line};
pub use envelope::Meta;
pub use id::Id;
pub use message::{Gist, Plain, Refusal};
pub use number::counted;
