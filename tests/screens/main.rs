//! The console's screens as text, and its behaviour key by key.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod browse;
mod cards;
mod clerk;
mod desk;
mod folds;
mod frames;
mod grants;
mod keys;
mod lists;
mod matrix;
mod past;
mod plain;
mod previews;
mod reviews;
mod states;
mod together;
mod words;
