//! Whether a person sits here, and what they answer.

use std::io::{self, BufRead as _, IsTerminal as _, Write};

use crate::cli::error::Error;

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
