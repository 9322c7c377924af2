//! Whether a person sits here, what they answer, and the record that they did. Nothing is settled without the record.

use std::io::{self, BufRead as _, IsTerminal as _, Write};

use crate::audit::record::Entry;
use crate::audit::recording::Recording;
use crate::cli::error::Error;
use crate::home::config;
use crate::home::places::Places;

/// Whether stdin and stdout are a terminal.
pub(super) fn is_here() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Asks, and gives the answer's first word in lower case; `None` at the end of the input.
pub(super) fn ask(question: &str, out: &mut dyn Write) -> Result<Option<String>, Error> {
    write!(out, "{question} ")?;
    out.flush()?;
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line)?;
    Ok((read > 0).then(|| line.trim().to_lowercase()))
}

/// Writes one entry to the log that `config.toml` names.
///
/// # Errors
/// The log could not take it; then it must not be done.
pub(super) fn record(places: &Places, entry: Entry) -> Result<(), Error> {
    places.create_state()?;
    let log = config::audit_db(places)?;
    let recorded = Recording::open(&log, &places.redaction_key()).and_then(|mut log| log.record(&[(1, entry)]));
    recorded.map_err(|why| Error::Failed {
        what: "nothing was changed, because it could not be recorded".to_owned(),
        cause: why.to_string().into(),
        hint: "`mcp-approve doctor` tells what is wrong with the log".to_owned(),
    })
}

/// [`record`] for the console: the error with its hint, as a sentence.
pub(super) fn record_or_say(places: &Places, entry: Entry) -> Result<(), String> {
    record(places, entry).map_err(|error| match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    })
}
