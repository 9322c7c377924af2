//! `mcp-approve log hash`: by what hashes a log names a text, for whoever has the log's key. Reads no log.

use std::io::{Read as _, Write};
use std::path::Path;

use crate::audit::recording;
use crate::cli::error::{Error, Exit, done};
use crate::wire::Line;

/// Prints the hashes of what comes on stdin.
pub(super) fn run(key: &Path, out: &mut dyn Write) -> Exit {
    let mut bytes = Vec::new();
    let read = std::io::stdin().read_to_end(&mut bytes);
    read.map_err(|cause| Error::failed("stdin cannot be read".to_owned(), cause, "mcp-approve log hash < FILE"))?;
    let redactor = recording::redactor(key)
        .map_err(|error| Error::wrong(error.to_string(), "`mcp-approve doctor` says what is wrong"))?;
    let line = Line::new(bytes);
    let mark = redactor.mark(line.content());
    let (plain, keyed) = (line.digest(), line.keyed(redactor.key()).digest());
    done(write!(out, "as a secret  {mark}\nas a call    {plain}\nwith secrets {keyed}\n"))
}
