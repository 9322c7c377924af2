//! The real binary between a scripted host and a scripted server: what passes, what waits, what is decided, how it ends.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a broken test bed fails the test")]

mod approver;
mod card;
mod console;
mod decide;
mod endings;
mod fake;
mod review;
mod transcript;
mod trouble;
