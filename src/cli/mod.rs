//! One file per command; all wording of --help.

pub mod log;
pub mod tools;
