//! Many machines: PostgreSQL carries cards, verdicts and logs between machines and operators. It decides nothing: each wrapper checks
//! what comes from here, and none of this runs in a wrapper's process.

mod by_role;
pub mod columns;
pub mod daily;
pub mod engine;
pub mod init;
pub mod log;
pub mod operator;
pub mod overview;
pub mod own;
pub mod run;
pub mod standing;
mod tls;
pub mod told;
pub mod verify;
mod withheld;
pub mod witness;
