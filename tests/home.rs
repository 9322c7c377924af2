//! home: names of servers, `config.toml`, what was agreed to as a file, acceptance of policies.

mod acceptance;
mod agreed_file;
mod changes;
mod config;
mod names;
mod remote;
mod signers;
