//! What an operator looks up, tries and settles, whether in the console or by a command: the log, the rules, what is
//! remembered of tools. Everything is returned as values; nothing here draws or prints.

mod footprint;
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
    /// The operator's files: policies, pins, whether the tour was seen.
    pub places: Places,
    /// Milliseconds since 1970.
    pub now: fn() -> i64,
}
