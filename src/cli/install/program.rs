//! Which file hosts are to start: an absolute path of mcp-approve that lasts.

use std::env;
use std::path::{Component, Path, PathBuf};

use crate::cli::error::Error;

/// What `--program` names, or the program that runs now.
pub(super) fn path(named: Option<&Path>) -> Result<String, Error> {
    let path = match named {
        Some(named) => std::path::absolute(named).map_err(|cause| Error::Unreadable { path: named.into(), cause })?,
        None => lasting(env::current_exe().map_err(|cause| Error::Unreadable { path: "mcp-approve".into(), cause })?)?,
    };
    if !path.is_file() {
        return Err(wrong(format!("{} is not a file", path.display())));
    }
    // Reading hosts' lists, we know our wrapper by this name: under any other, its server counts as unwrapped.
    if path.file_name().is_none_or(|name| name != "mcp-approve") {
        return Err(wrong(format!("{} is not named mcp-approve", path.display())));
    }
    text(&path)
}

/// A path as hosts' files hold it.
pub(super) fn text(path: &Path) -> Result<String, Error> {
    path.to_str().map(str::to_owned).ok_or_else(|| wrong(format!("{} is not UTF-8", path.display())))
}

fn wrong(what: String) -> Error {
    let hint = "install mcp-approve at a lasting place (npm install -g, uv tool install or cargo install), or name one with --program FILE";
    Error::wrong(what, hint)
}

/// The program's path as the PATH has it, if it does: that path stays when a package manager puts a new version
/// elsewhere.
fn lasting(program: PathBuf) -> Result<PathBuf, Error> {
    let paths = env::var_os("PATH").unwrap_or_default();
    let is_it = |one: &PathBuf| one.is_absolute() && one.canonicalize().is_ok_and(|one| one == program);
    let path = env::split_paths(&paths).map(|folder| folder.join("mcp-approve")).find(is_it).unwrap_or(program);
    let cache =
        |part: Component<'_>| matches!(part.as_os_str().to_str(), Some("_npx" | "archive-v0" | "environments-v2"));
    if path.components().any(cache) {
        return Err(wrong(format!("{} lies in a cache, and is gone when that is emptied", path.display())));
    }
    Ok(path)
}
