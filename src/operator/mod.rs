//! What an operator looks up, tries and settles, in the console or by a command, as values. Draws and prints nothing.

pub mod found;
pub mod log_reader;
mod pin_book;
pub mod pinned;
pub mod record_row;
pub mod rule_book;
pub mod settle;
pub mod sign;
pub mod trial;
pub mod tried;

use std::path::PathBuf;

use crate::home::places::Places;

/// Where the log reader and the trials look.
#[derive(Clone, Debug)]
pub struct Sources {
    pub log: PathBuf,
    pub places: Places,
    /// Milliseconds since 1970.
    pub now: fn() -> i64,
}
