//! One test per row of the threat table, same id. The table opens this file.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a broken test bed fails the test")]

mod binding;
mod framing;
mod human;
mod process;
mod screen;
mod server_words;
#[path = "../world/mod.rs"]
mod world;
