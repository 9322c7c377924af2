//! What can stop the demo, each with what to do about it.

use std::io;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::cli::error::Error;

/// Something could not be done with a file or folder.
pub(super) fn io(doing: &'static str, path: &Path, cause: io::Error) -> Error {
    room(format!("{doing} {}", path.display()), cause)
}

/// Reads what this program brings with it.
pub(super) fn data<T: DeserializeOwned>(json: &str) -> Result<T, Error> {
    let hint = "this build is broken; please report it";
    serde_json::from_str(json).map_err(|cause| Error::failed("the demo's own data is not readable", cause, hint))
}

/// A process of the demo could not be started, asked or awaited.
pub(super) fn process(cause: io::Error) -> Error {
    Error::failed("the demo's own processes could not be run", cause, "run `mcp-approve doctor`, then try again")
}

/// Something between the demo's processes went wrong.
pub(super) fn between(what: impl Into<String>) -> Error {
    let hint = "run `mcp-approve doctor`; the agent's diary says what the wrapper printed";
    Error::wrong(what, hint)
}

pub(super) fn room(what: String, cause: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::failed(what, cause, "check that the temporary folder is writable and has room")
}
