//! What the parts of `desk run` have in common.

use std::convert::Infallible;
use std::path::PathBuf;
use std::time::Duration;

use crate::desk::engine::EngineError;
use crate::home::places::Places;

/// How often the tables are read although nothing woke us: a wake can be lost, a row cannot.
pub const UNWOKEN: Duration = Duration::from_secs(2);

/// How soon the tables are read again at the earliest: whoever has a role can wake us as often as they like.
pub const SOONEST: Duration = Duration::from_millis(50);

/// What one part returns: it goes on until the connection is of no use.
pub type Served = Result<Infallible, EngineError>;

/// Where this user's files are.
#[derive(Clone, Debug)]
pub struct Site {
    pub places: Places,
    /// The log that is sent.
    pub log: PathBuf,
}

/// Milliseconds since 1970, UTC.
pub fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
