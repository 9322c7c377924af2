//! What a JSON Schema says, as a closed set of types: the ground that signatures, capability sets and generated code share.
//!
//! A schema may say more than a type can (patterns, bounds, `not`, `if`). What is left out makes the type wider, never
//! narrower: whatever fits the schema fits the type.

mod read;
mod show;
mod types;

pub use show::{ShownShape, fields, shown};
pub use types::{Doc, Field, Record, Shape, Tagged, TextFormat, Type, is_within};
