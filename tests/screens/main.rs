//! The console's screens as text, and its behaviour key by key.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod cards;
mod desk;
mod frames;
mod keys;
mod plain;
mod previews;
mod together;
