//! The servers in a host's file: what each is called, how the host starts it, how long it waits for a call, and which program it
//! starts by the name of mcp-approve: this one, another build, or only a namesake. Runs nothing.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::hosts::table::{Host, Unit};
use crate::hosts::tree::{Field, Node, Refusal, Value};

/// The keys by which hosts give an address.
pub(super) const ADDRESSES: [&str; 4] = ["url", "httpUrl", "serverUrl", "uri"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Through mcp-approve.
    Wrapped,
    /// Through mcp-approve, which lets every call pass and only records.
    Observed,
    /// By its own command: no call is held.
    Unwrapped,
    /// By a command that its entry does not hold, or not in a form that we read: no call is held, and nothing can be put in front.
    Elsewhere,
    /// Over the network: there is no pipe to hold calls on.
    Remote,
    /// From a bundle that the host installed: nothing can be put in front.
    Bundle,
}

/// A server in a file. Names are foreign text.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    pub host: &'static Host,
    /// The project it is for, where the file holds several.
    pub project: Option<&'a str>,
    pub name: &'a str,
    /// What holds its command or address: the whole entry, or the `transport` in it.
    pub node: &'a Node,
    pub whole: &'a Node,
    /// The keys above it, as the table of hosts has them.
    pub list: &'static [&'static str],
    /// Whether the host starts it: a file may switch a server off.
    pub on: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrapping {
    /// What the host starts: mcp-approve by its path or name, or what fetches it from a registry.
    pub program: String,
    pub options: Vec<String>,
    /// The server's own command line.
    pub server: Vec<String>,
}

impl Wrapping {
    /// What an option of ours says, where it is given: `--name NAME` or `--name=NAME`.
    pub fn option(&self, option: &str) -> Option<&str> {
        let beside = self.options.iter().skip_while(|word| *word != option).nth(1);
        let within = || self.options.iter().find_map(|word| word.strip_prefix(option)?.strip_prefix('='));
        beside.map(String::as_str).or_else(within)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Command<'a> {
    /// A program, and its arguments in a list beside it.
    Parted { program: &'a Field, words: Option<&'a Node>, within: &'a Node },
    /// One list.
    Whole(&'a [Node]),
}

/// Every server of a file.
/// Errors: a list is written in a way that hides its servers from us.
pub fn entries<'a>(host: &'static Host, root: &'a Node) -> Result<Vec<Entry<'a>>, Refusal> {
    let mut found: Vec<Entry<'a>> = Vec::new();
    for path in &host.lists {
        let mut lists = vec![(None, root)];
        for key in path {
            let below = |(project, node): (Option<&'a str>, &'a Node)| -> Vec<(Option<&'a str>, &'a Node)> {
                let wanted = node.fields().iter().filter(|field| *key == "*" || field.key == *key);
                wanted
                    .map(|field| (if *key == "*" { Some(field.key.as_str()) } else { project }, &field.node))
                    .collect()
            };
            lists = lists.into_iter().flat_map(below).collect();
        }
        for (project, list) in lists {
            let listed = |node: &Node| found.iter().any(|one| std::ptr::eq(one.node, node));
            let named: Vec<(&str, &Node)> = match &list.value {
                Value::Table(fields) => {
                    // A field that holds servers already found is a list within this list, not a server.
                    let server = fields.iter().filter(|field| !field.node.fields().iter().any(|one| listed(&one.node)));
                    server.map(|field| (field.key.as_str(), &field.node)).collect()
                }
                Value::List(items) => {
                    let name = |item: &'a Node| (item.get("name").and_then(Node::text).unwrap_or_default(), item);
                    items.iter().map(name).collect()
                }
                Value::Shared(_) => return Err(format!("`{}` is written with anchors or tags", path.join(".")).into()),
                Value::Text(_) | Value::Other(_) => Vec::new(),
            };
            let entries = named.into_iter().map(|(name, whole)| {
                let holds = |node: &&Node| ["command", "url"].iter().any(|key| node.get(key).is_some());
                let node = whole.get("transport").filter(holds).unwrap_or(whole);
                Entry { host, project, name, node, whole, list: path, on: is_on(whole) }
            });
            let server: Vec<_> = entries.filter(Entry::is_server).collect();
            found.extend(server);
        }
    }
    Ok(found)
}

impl<'a> Entry<'a> {
    fn is_server(&self) -> bool {
        let outside = match &self.node.value {
            Value::Table(_) => match self.node.get("type").and_then(Node::text) {
                // Built into the host.
                Some("builtin" | "platform" | "frontend" | "inline_python") => self.command().is_some(),
                _ => true,
            },
            value => matches!(value, Value::Shared(_)),
        };
        // An entry without a command or address only changes one that is listed elsewhere.
        let overlays = self.host.word == "opencode" || (self.host.word == "codex" && self.project.is_some());
        let overlay = overlays && self.node.get("command").is_none() && self.address().is_none();
        outside && !overlay
    }

    pub(super) fn command_field(&self) -> Option<&'a Field> {
        self.node.field("command").or_else(|| self.node.field("cmd"))
    }

    pub(super) fn command(&self) -> Option<Command<'a>> {
        let program = self.command_field()?;
        match &program.node.value {
            Value::Text(_) => Some(Command::Parted { program, words: self.node.get("args"), within: self.node }),
            Value::List(words) => Some(Command::Whole(words)),
            // Zed wrote the program and its arguments into one object.
            Value::Table(_) => {
                let (within, words) = (&program.node, program.node.get("args"));
                let program = within.field("path").filter(|path| path.node.text().is_some())?;
                Some(Command::Parted { program, words, within })
            }
            Value::Other(_) | Value::Shared(_) => None,
        }
    }

    /// The whole command line; `None` where it has none, or holds what is no text.
    pub fn words(&self) -> Option<Vec<&'a str>> {
        if let Command::Parted { words: Some(words), .. } = self.command()?
            && !matches!(&words.value, Value::List(_))
            && !matches!(&words.value, Value::Other(nothing) if matches!(nothing.as_str(), "null" | "~" | ""))
        {
            return None;
        }
        let word = |node: &'a Node| match &node.value {
            Value::Text(text) | Value::Other(text) => Some(text.as_str()),
            Value::List(_) | Value::Table(_) | Value::Shared(_) => None,
        };
        self.command_nodes().into_iter().map(word).collect()
    }

    /// Where each word of the command line is written.
    pub(super) fn command_nodes(&self) -> Vec<&'a Node> {
        match self.command() {
            Some(Command::Whole(words)) => words.iter().collect(),
            Some(Command::Parted { program, words, .. }) => {
                let words = match words.map(|words| &words.value) {
                    Some(Value::List(words)) => words.as_slice(),
                    _ => &[],
                };
                std::iter::once(&program.node).chain(words).collect()
            }
            None => Vec::new(),
        }
    }

    /// The address, where it is reached over the network.
    pub fn address(&self) -> Option<&'a str> {
        if self.command().is_some() {
            return None;
        }
        self.address_field().map(|field| field.node.text().unwrap_or_default())
    }

    /// Whether it has both a command and an address: several hosts prefer the address.
    pub(super) fn is_ambiguous(&self) -> bool {
        self.command().is_some() && self.address_field().is_some_and(|field| field.node.text() != Some(""))
    }

    pub(super) fn address_field(&self) -> Option<&'a Field> {
        ADDRESSES.iter().find_map(|key| self.node.field(key))
    }

    /// By the program that is started: a word further on may be anything.
    pub fn start(&self) -> Start {
        if self.address().is_some() {
            return Start::Remote;
        }
        let Some(words) = self.words() else { return Start::Elsewhere };
        match ours(&words) {
            Some(_) if self.is_ambiguous() => Start::Remote,
            Some((_, options)) if options.contains(&"--observe") => Start::Observed,
            Some(_) => Start::Wrapped,
            None => Start::Unwrapped,
        }
    }

    pub fn wrapping(&self) -> Option<Wrapping> {
        let words = self.words()?;
        let (program, options) = ours(&words)?;
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let server = words.iter().skip_while(|word| **word != "--").skip(1).copied().collect::<Vec<_>>();
        Some(Wrapping { program: program.to_owned(), options: owned(&options), server: owned(&server) })
    }

    /// How long the host waits for a call, in milliseconds, where the file says so.
    pub fn limit(&self) -> Option<u64> {
        let limit = self.host.limit?;
        let Value::Other(written) = &inmost(self.whole.get(limit.key)?).value else { return None };
        let written: f64 = written.parse().ok().filter(|written| *written > 0.0 && *written < 1e9)?;
        let milliseconds = if limit.unit == Unit::Seconds { written * 1000.0 } else { written };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and 1e12")]
        let milliseconds = milliseconds as u64;
        (milliseconds >= limit.least.max(1)).then_some(milliseconds)
    }
}

/// The value of a limit for calls: one host's newer files have a table here, with a limit for the start as well.
pub(super) fn inmost(limit: &Node) -> &Node {
    limit.get("request").unwrap_or(limit)
}

fn is_on(node: &Node) -> bool {
    let says =
        |key: &str, word: &str| matches!(node.get(key).map(|one| &one.value), Some(Value::Other(one)) if one == word);
    !says("disabled", "true") && !says("enabled", "false")
}

/// What a command line starts that starts mcp-approve, and the options of our own in it; `None` for any other.
pub(super) fn ours<'w>(words: &[&'w str]) -> Option<(&'w str, Vec<&'w str>)> {
    let mut rest = words.iter().copied().peekable();
    if rest.peek().is_some_and(|word| is(word, "env")) {
        rest.next();
        while rest.next_if(|word| word.contains('=') && !word.starts_with('-')).is_some() {}
    }
    let program = rest.next()?;
    // Straight from a package registry.
    if is(program, "npx") || is(program, "uvx") {
        while rest.next_if(|word| matches!(*word, "-y" | "--yes" | "-q" | "--quiet")).is_some() {}
        let package = rest.next()?;
        if package != "mcp-approve" && !package.starts_with("mcp-approve@") {
            return None;
        }
    } else if !is(program, "mcp-approve") {
        return None;
    }
    Some((program, rest.take_while(|word| *word != "--").collect()))
}

/// Whether mcp-approve, or what fetches it, is the first word.
pub(super) fn begins_with_ours(words: &[&str]) -> bool {
    ours(words).is_some() && !words.first().is_some_and(|word| is(word, "env"))
}

fn is(program: &str, name: &str) -> bool {
    Path::new(program).file_name().is_some_and(|base| base == name)
}

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
