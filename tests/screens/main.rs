//! The console's screens as text, and its behaviour key by key.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod browse;
mod cards;
mod clerk;
mod desk;
mod frames;
mod grants;
mod keys;
mod lists;
mod plain;
mod previews;
mod rulemaker;
mod together;
mod trial;
