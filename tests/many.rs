//! Many machines and one desk, on a real PostgreSQL.

mod engine;
mod log;
mod roles;
