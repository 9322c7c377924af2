//! Whether a person sits here, what they answer, and the record that they did. Nothing is settled without the record.

use std::io::{self, BufRead as _, IsTerminal as _, Write};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::audit::record::{Entry, Kind};
use crate::cli::config;
use crate::cli::error::Error;
use crate::home::places::Places;
use crate::home::user;
use crate::interpose::scribe::{Ack, Scribe};
use crate::pins::reading::Server;
use crate::wire::digest::Digest;

/// How long the log may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether stdin and stdout are a terminal.
pub(in crate::cli) fn is_here() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Asks, and gives the answer's first word in lower case; `None` at the end of the input.
pub(in crate::cli) fn ask(question: &str, out: &mut dyn Write) -> Result<Option<String>, Error> {
    write!(out, "{question} ")?;
    out.flush()?;
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line)?;
    Ok((read > 0).then(|| line.trim().to_lowercase()))
}

/// Records what was settled of a server or one of its tools, before it is.
///
/// # Errors
/// The log could not take it; then it must not be done.
pub(in crate::cli) fn record(
    places: &Places,
    now: i64,
    server: &Server,
    tool: Option<(&str, Digest)>,
    what: &str,
) -> Result<(), Error> {
    places.create_state()?;
    let (done, acks) = mpsc::channel();
    let key = places.state_dir().join("redaction.key");
    let mut scribe = Scribe::start(Ok(config::audit_db(places)?), key, move |work| {
        // Whoever waited may have given up.
        let _ = done.send(work);
    });
    let mut entry = Entry::new(now, Kind::Tools, &Arc::from(server.name.as_str()), &Arc::from("review"));
    if let Some((tool, definition)) = tool {
        entry.tool = Some(tool.to_owned());
        entry.digest = Some(definition);
    }
    let operator = user::current().map_or_else(|error| error.to_string(), |user| user.name);
    let entry = entry.with("review", what).with("operator", operator).with("fingerprint", server.fingerprint.as_str());
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
