//! What a server can do: typed signatures, schemas, capability sets. Pure.
//! `tests/tables/seeds.toml` has a test for each section of the papers it is built from.

pub mod codegen;
pub mod names;
pub mod schema;
pub mod scope;
pub mod set;
pub mod shape;
pub mod types;
pub mod undeclared;
mod work;
pub mod workflow;
