//! Levels 0 and 1: the house rules, and the pure layers with one line per case.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a broken test bed fails the test")]

mod audit;
mod behavior;
mod capability;
mod paper;
mod policy;
mod tidy;
mod wire;
