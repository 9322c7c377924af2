//! Whether a person sits here, what they answer, and the record that they did. Nothing is settled without the record.

use std::io::{self, BufRead as _, IsTerminal as _, Write};
use std::sync::mpsc;
use std::time::Duration;

use crate::audit::record::Entry;
use crate::cli::error::Error;
use crate::home::config;
use crate::home::places::Places;
use crate::interpose::scribe::{Ack, Scribe};

/// How long the log may take.
const PATIENCE: Duration = Duration::from_secs(5);

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
    let (done, acks) = mpsc::channel();
    let mut scribe = Scribe::start(Ok(config::audit_db(places)?), places.redaction_key(), move |work| {
        // Whoever waited may have given up.
        let _ = done.send(work);
    });
    let mut told = scribe.record(0, vec![(1, entry)]);
    while told.is_empty() {
        match acks.recv_timeout(PATIENCE) {
            Ok(work) => told = scribe.done(0, work),
            Err(_) => break,
        }
    }
    let outcome = match told.into_iter().next() {
        Some(Ack::Recorded(_)) => scribe.finish().map_err(|error| error.to_string()),
        Some(Ack::Failed { why, .. }) => Err(why),
        None => Err("the log did not answer".to_owned()),
    };
    outcome.map_err(|why| Error::Failed {
        what: "nothing was changed, because it could not be recorded".to_owned(),
        cause: why.into(),
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
