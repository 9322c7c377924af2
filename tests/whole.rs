//! Level 5: the real binary between a scripted host and a scripted server, its processes, and its command line.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a broken test bed fails the test; what it prints is its report"
)]

mod cli;
mod desk;
mod e2e;
mod fake;
mod many;
mod postgres;
mod process;
#[allow(dead_code, reason = "the tables use the rest of it")]
#[path = "signing/bed.rs"]
mod signing_bed;
