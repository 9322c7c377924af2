//! Where each host keeps its list of servers, and which of them it starts without mcp-approve. Reads only; a host that
//! keeps its list elsewhere is not seen.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::wire::relaxed;

/// The longest list that is read, in bytes.
const LONGEST: u64 = 32 << 20;

/// How a host writes its list.
#[derive(Clone, Copy)]
enum Form {
    /// JSON: the servers by name under this key.
    Json(&'static str),
    /// As `Json("mcpServers")`, and again for each project under `projects`.
    ClaudeCode,
    /// TOML: `[mcp_servers.NAME]`.
    Codex,
}

/// A host, whose file it is (the user's or a project's), and where below that folder it lies.
const LISTS: &[(&str, Whose, &str, Form)] = &[
    ("Claude Code", Whose::Users, ".claude.json", Form::ClaudeCode),
    ("Claude Code", Whose::Projects, ".mcp.json", Form::Json("mcpServers")),
    ("Claude Desktop", Whose::Users, ".config/Claude/claude_desktop_config.json", Form::Json("mcpServers")),
    (
        "Claude Desktop",
        Whose::Users,
        "Library/Application Support/Claude/claude_desktop_config.json",
        Form::Json("mcpServers"),
    ),
    ("Cursor", Whose::Users, ".cursor/mcp.json", Form::Json("mcpServers")),
    ("Cursor", Whose::Projects, ".cursor/mcp.json", Form::Json("mcpServers")),
    ("Codex", Whose::Users, ".codex/config.toml", Form::Codex),
    ("Codex", Whose::Projects, ".codex/config.toml", Form::Codex),
    ("Gemini CLI", Whose::Users, ".gemini/settings.json", Form::Json("mcpServers")),
    ("Gemini CLI", Whose::Projects, ".gemini/settings.json", Form::Json("mcpServers")),
    ("VS Code", Whose::Users, ".config/Code/User/mcp.json", Form::Json("servers")),
    ("VS Code", Whose::Users, "Library/Application Support/Code/User/mcp.json", Form::Json("servers")),
    ("VS Code", Whose::Projects, ".vscode/mcp.json", Form::Json("servers")),
    ("Zed", Whose::Users, ".config/zed/settings.json", Form::Json("context_servers")),
    ("Zed", Whose::Projects, ".zed/settings.json", Form::Json("context_servers")),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    Users,
    Projects,
}

/// A server in a host's list. Names are foreign text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub host: &'static str,
    pub file: PathBuf,
    pub name: String,
    /// The project it is listed for, where the file holds several.
    pub project: Option<String>,
    pub start: Start,
}

/// How a host starts a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Through mcp-approve.
    Wrapped,
    /// Through mcp-approve, which lets every call pass and only records.
    Observed,
    /// By its own command: no call is held.
    Unwrapped,
    /// Over the network: there is no pipe to stand on.
    Remote,
}

/// A list that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    pub host: &'static str,
    pub file: PathBuf,
    pub why: String,
}

/// Everything that hosts list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    pub servers: Vec<Listed>,
    pub unread: Vec<Unread>,
    /// How many lists there are.
    pub files: usize,
}

/// Reads the lists of every known host: the user's below `home`, a project's in `folder`.
pub fn lists(home: &Path, folder: Option<&Path>) -> Lists {
    let mut lists = Lists::default();
    let mut seen = Vec::new();
    for (host, whose, place, form) in LISTS {
        let Some(below) = (if *whose == Whose::Users { Some(home) } else { folder }) else { continue };
        let file = below.join(place);
        // In the home folder itself, a user's list is the project's.
        if seen.contains(&file) {
            continue;
        }
        seen.push(file.clone());
        match text(&file) {
            Ok(None) => continue,
            Ok(Some(text)) => match servers(*form, &text) {
                Ok(found) => lists.servers.extend(found.into_iter().map(|(project, name, start)| Listed {
                    host,
                    file: file.clone(),
                    name,
                    project,
                    start,
                })),
                Err(why) => lists.unread.push(Unread { host, file, why }),
            },
            Err(why) => lists.unread.push(Unread { host, file, why }),
        }
        lists.files += 1;
    }
    lists
}

/// `None` where there is no such file.
fn text(file: &Path) -> Result<Option<String>, String> {
    // Not waiting for the writer of a pipe.
    let opened = match OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(file) {
        Ok(opened) => opened,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    if !opened.metadata().is_ok_and(|found| found.is_file()) {
        return Err("it is no file".to_owned());
    }
    let mut text = String::new();
    match opened.take(LONGEST + 1).read_to_string(&mut text) {
        Ok(_) if text.len() as u64 > LONGEST => Err("it is too long".to_owned()),
        Ok(_) => Ok(Some(text)),
        Err(error) => Err(error.to_string()),
    }
}

type Entry = (Option<String>, String, Start);

fn servers(form: Form, text: &str) -> Result<Vec<Entry>, String> {
    let json = |text: &str| match text.trim() {
        "" => Ok(Value::Null),
        text => relaxed::json(text).map_err(|error| error.to_string()),
    };
    let (all, key) = match form {
        Form::Json(key) => (json(text)?, key),
        Form::ClaudeCode => (json(text)?, "mcpServers"),
        Form::Codex => {
            let table = toml::from_str(text).map_err(|error: toml::de::Error| error.message().replace('\n', ", "))?;
            (table, "mcp_servers")
        }
    };
    let mut found = listed(&all, key, None);
    if let (Form::ClaudeCode, Some(projects)) = (form, all.get("projects").and_then(Value::as_object)) {
        found.extend(projects.iter().flat_map(|(project, one)| listed(one, key, Some(project))));
    }
    Ok(found)
}

fn listed(of: &Value, key: &str, project: Option<&str>) -> Vec<Entry> {
    let all = of.get(key).and_then(Value::as_object);
    let on = all.into_iter().flatten().filter_map(|(name, entry)| {
        let entry = entry.as_object()?;
        let off =
            entry.get("disabled") == Some(&Value::Bool(true)) || entry.get("enabled") == Some(&Value::Bool(false));
        (!off).then(|| (project.map(str::to_owned), name.clone(), start(entry)))
    });
    on.collect()
}

/// By the program that is started: a word further on may be anything.
fn start(entry: &Map<String, Value>) -> Start {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let (program, inner) = match entry.get("command") {
        // Zed wrote the program and its arguments into one object.
        Some(Value::Object(command)) => (command.get("path").and_then(text), command.get("args")),
        Some(command) => (text(command), entry.get("args")),
        None => (None, None),
    };
    let remote = ["url", "httpUrl", "serverUrl"].iter().any(|key| entry.contains_key(*key));
    let Some(program) = program else {
        return if remote { Start::Remote } else { Start::Unwrapped };
    };
    let args = inner.and_then(Value::as_array).into_iter().flatten().filter_map(text);
    let mut words = std::iter::once(program).chain(args).peekable();
    if words.peek().is_some_and(|word| is(word, "env")) {
        words.next();
        while words.next_if(|word| word.contains('=') && !word.starts_with('-')).is_some() {}
    }
    match words.next() {
        Some(program) if is(&program, "mcp-approve") => {
            let observes = words.take_while(|word| word != "--").any(|word| word == "--observe");
            if observes { Start::Observed } else { Start::Wrapped }
        }
        Some(_) | None => Start::Unwrapped,
    }
}

fn is(program: &str, name: &str) -> bool {
    Path::new(program).file_name().is_some_and(|base| base == name)
}
