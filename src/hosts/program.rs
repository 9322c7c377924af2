//! Which program a host's entry starts by the name of mcp-approve: this one, another build, or only a namesake. Runs nothing.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// It is in every build, between marks that no text around it has: by it a build tells another build, and its version.
static MARK: &str = concat!("\u{1}mcp-approve\u{2}", env!("CARGO_PKG_VERSION"), "\u{3}");

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    This,
    /// Whatever a registry has: `npx mcp-approve`, `uvx mcp-approve`, or the launcher of the npm package.
    Fetched,
    Gone(String),
    /// A name without a path, which is not on this PATH.
    NotFound(String),
    Other {
        path: String,
        version: String,
    },
    /// It has only the name.
    Foreign(String),
}

impl Program {
    /// Whether `install --repair` puts this program in its place.
    pub fn is_wrong(&self) -> bool {
        !matches!(self, Self::This | Self::Fetched)
    }
}

pub fn program(named: &str) -> Program {
    let path = Path::new(named);
    if path.file_name().is_some_and(|name| name == "npx" || name == "uvx") {
        return Program::Fetched;
    }
    let found = if named.contains('/') { Some(path.to_path_buf()) } else { on_path(named) };
    let Some(found) = found else { return Program::NotFound(named.to_owned()) };
    let shown = found.display().to_string();
    let is_run = rustix::fs::access(&found, rustix::fs::Access::EXEC_OK).is_ok() && found.is_file();
    let Some(real) = found.canonicalize().ok().filter(|_| is_run) else { return Program::Gone(shown) };
    let Ok(bytes) = fs::read(&real) else { return Program::Foreign(shown) };
    let this = env::current_exe().and_then(|this| this.canonicalize());
    if this.is_ok_and(|this| this == real || fs::read(this).is_ok_and(|this| this == bytes)) {
        return Program::This;
    }
    match version(&bytes) {
        Some(version) => Program::Other { path: shown, version },
        None if is_launcher(&real) => Program::Fetched,
        None => Program::Foreign(shown),
    }
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|one| one.is_file())
}

/// The version that a build of ours says of itself.
fn version(bytes: &[u8]) -> Option<String> {
    let (prefix, _) = MARK.split_once('\u{2}')?;
    let prefix = format!("{prefix}\u{2}");
    memchr::memmem::find_iter(bytes, prefix.as_bytes()).find_map(|at| {
        let rest = bytes.get(at + prefix.len()..)?;
        let end = rest.iter().take(32).position(|byte| *byte == 3)?;
        let version = std::str::from_utf8(rest.get(..end)?).ok()?;
        version.starts_with(|first: char| first.is_ascii_digit()).then(|| version.to_owned())
    })
}

/// Whether a script is the npm package's launcher.
fn is_launcher(script: &Path) -> bool {
    let manifest = script.parent().and_then(|folder| fs::read_to_string(folder.join("package.json")).ok());
    let manifest = manifest.and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
    script.ends_with("launcher.js") && manifest.is_some_and(|manifest| manifest["name"] == "mcp-approve")
}
