//! The console's screens as text, and its behaviour key by key.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a broken test bed fails the test")]

mod cards;
mod desk;
mod frames;
mod keys;
mod plain;
