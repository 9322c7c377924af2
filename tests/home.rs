//! home: names of servers, `config.toml`, what is given to others as a file, acceptance of policies.

mod acceptance;
mod agreed_file;
mod changes;
mod config;
mod names;
mod remote;
mod signers;
mod taken_over;
