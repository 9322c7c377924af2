//! One test per row of the threat table, same id. The table opens this file.

mod binding;
mod framing;
mod human;
mod process;
mod screen;
mod server_words;
#[path = "../world/mod.rs"]
mod world;
