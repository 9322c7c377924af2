//! Writes one entry into the operator's log, on a decision made outside of a wrapper. Nothing is settled without it.

use super::config::{self, ConfigError};
use super::places::Places;
use crate::audit::record::Entry;
use crate::audit::recording::{Recording, RecordingError};

/// Why an entry was not recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("nothing was changed, because it could not be recorded: {0}")]
    Log(#[from] RecordingError),
}

impl RecordError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Config(error) => error.hint(),
            Self::Log(_) => "`mcp-approve doctor` says what is wrong with the log".to_owned(),
        }
    }
}

/// Writes an entry to the log that `config.toml` names.
///
/// # Errors
/// The log could not take the entry; then what it says must not be done.
pub fn record(places: &Places, entry: Entry) -> Result<(), RecordError> {
    record_all(places, vec![entry])
}

/// Writes entries to the log that `config.toml` names: all, or none.
///
/// # Errors
/// As [`record`].
pub fn record_all(places: &Places, entries: Vec<Entry>) -> Result<(), RecordError> {
    places.create_state().map_err(ConfigError::from)?;
    let log = config::audit_db(places)?;
    let entries: Vec<_> = (1..).zip(entries).collect();
    Ok(Recording::open(&log, &places.redaction_key())?.record(&entries)?)
}

/// Writes an entry to the log that `config.toml` names, where there is one. Before the first server is wrapped there is
/// none, and a log made then would look like the trace of one.
///
/// # Errors
/// As [`record`].
pub fn record_if_begun(places: &Places, entry: Entry) -> Result<(), RecordError> {
    if config::audit_db(places)?.exists() { record(places, entry) } else { Ok(()) }
}
