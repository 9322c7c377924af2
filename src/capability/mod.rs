//! What a server can do: typed signatures, schemas, capability sets. Pure.

mod pattern;
pub mod schema;
pub mod scope;
pub mod types;
pub mod undeclared;
mod work;
