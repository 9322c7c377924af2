//! What a server can do: typed signatures, schemas, capability sets. Pure.

pub mod codegen;
pub mod names;
mod pattern;
pub mod schema;
pub mod scope;
pub mod set;
pub mod shape;
pub mod typed;
pub mod types;
pub mod undeclared;
mod work;
pub mod workflow;
