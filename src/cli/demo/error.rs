//! What can stop the demo, each with what to do about it.

use std::io;
use std::path::Path;

use super::database::ShopError;
use crate::cli::error::Error;

/// Something could not be done with a file or folder.
pub(super) fn io(doing: &'static str, path: &Path, cause: io::Error) -> Error {
    room(format!("{doing} {}", path.display()), cause)
}

/// A process of the demo could not be started, asked or awaited.
pub(super) fn process(cause: io::Error) -> Error {
    Error::Failed {
        what: "the demo's own processes could not be run".to_owned(),
        cause: cause.into(),
        hint: "run `mcp-approve doctor`, then try again".to_owned(),
    }
}

/// Something between the demo's processes went wrong.
pub(super) fn between(what: impl Into<String>) -> Error {
    let hint = "run `mcp-approve doctor`; the agent's diary says what the wrapper printed";
    Error::Wrong { what: what.into(), hint: hint.to_owned() }
}

impl From<ShopError> for Error {
    fn from(cause: ShopError) -> Self {
        room("the demo's database failed".to_owned(), cause)
    }
}

fn room(what: String, cause: impl std::error::Error + Send + Sync + 'static) -> Error {
    let hint = "check that the temporary folder is writable and has room".to_owned();
    Error::Failed { what, cause: cause.into(), hint }
}
