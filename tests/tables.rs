//! Levels 0 and 1: the house rules, and the pure layers with one line per case.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::type_complexity,
    reason = "a broken test bed fails the test; what it prints is its report; tables are tuples"
)]

mod audit;
mod behavior;
mod capability;
mod gate;
mod home;
mod hosts;
mod mcp;
mod paper;
mod policy;
mod signing;
mod text;
mod tidy;
mod wire;
