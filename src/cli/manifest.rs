//! Lists of tools, from a file or a server that is started for it; and the program behind it, one JSON value a line.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli::error::Error;
use crate::mcp::tool::Tool;

/// How long a manifest may be, in bytes.
const LONGEST: u64 = 64 << 20;

/// What a server can do, and how it names itself. Foreign text.
#[derive(Clone, Debug)]
pub struct Manifest {
    pub name: Option<String>,
    pub tools: Vec<Tool>,
}

/// The text of a file, `-` for standard input.
pub fn text(file: &Path) -> Result<String, Error> {
    let unreadable = |cause| Error::Unreadable { path: file.to_path_buf(), cause };
    let mut text = String::new();
    let read = if file == Path::new("-") {
        io::stdin().take(LONGEST + 1).read_to_string(&mut text)
    } else {
        std::fs::File::open(file).and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text))
    };
    if read.map_err(unreadable)? as u64 > LONGEST {
        return Err(unreadable(io::Error::other("it is longer than 64 MiB")));
    }
    Ok(text)
}

/// Of a `tools/list` response, an object with `tools`, or an array; and the server's name where the text has it.
pub fn definitions(text: &str) -> Result<(Option<String>, Vec<Value>), Error> {
    let wrong = |why: &str| {
        let what = format!("{why}. Give the answer of tools/list, an object with `tools`, or an array of tools");
        Error::wrong(what, "`mcp-approve tools classify --help` shows an example")
    };
    let mut input: Value = serde_json::from_str(text).map_err(|error| wrong(&format!("this is not JSON: {error}")))?;
    if let Value::Array(list) = &mut input {
        return Ok((None, std::mem::take(list)));
    }
    let named = |value: &Value| Some(value.get("name")?.as_str()?.to_owned());
    let name = input.get("serverInfo").and_then(named).or_else(|| named(&input));
    let holder = if input.get("result").is_some() { &mut input["result"] } else { &mut input };
    match holder.get_mut("tools") {
        Some(Value::Array(list)) => Ok((name, std::mem::take(list))),
        _ => Err(wrong("no list of tools in this JSON")),
    }
}

impl Manifest {
    /// Named after the file where it does not name its server; entries without a name are left out: no call can name them.
    pub fn of_file(file: &Path) -> Result<Self, Error> {
        let (name, definitions) = definitions(&text(file)?).map_err(|error| {
            Error::wrong(
                format!("{}: {error}", file.display()),
                "`mcp-approve lattice caps -- CMD` asks a server for its tools",
            )
        })?;
        let stem = || Some(file.file_stem()?.to_str()?.to_owned());
        Ok(Self { name: name.or_else(stem), tools: definitions.into_iter().filter_map(Tool::read).collect() })
    }
}

/// How long a server may take for everything; `npx` fetches a package first.
const TIMEOUT: Duration = Duration::from_secs(120);
const MOST_PAGES: usize = 1_000;
/// How long a line of the server may be, in bytes.
const LONGEST_LINE: u64 = 64 << 20;

pub fn of_server(command: &[OsString]) -> Result<Manifest, Error> {
    let mut server = Server::start(command)?;
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "mcp-approve", "version": env!("CARGO_PKG_VERSION") } });
    let answer = server.request(1, "initialize", &hello)?;
    let name = answer.pointer("/serverInfo/name").and_then(Value::as_str).map(str::to_owned);
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
    let mut tools = Vec::new();
    let mut cursor: Option<Value> = None;
    for page in 0..MOST_PAGES {
        let params = cursor.take().map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
        let mut answer = server.request(2 + page as u64, "tools/list", &params)?;
        let Value::Array(listed) = answer["tools"].take() else { return Err(server.wrong("it lists no tools")) };
        tools.extend(listed.into_iter().filter_map(Tool::read));
        cursor = answer.get("nextCursor").filter(|cursor| cursor.is_string()).cloned();
        if cursor.is_none() {
            return Ok(Manifest { name, tools });
        }
    }
    Err(server.wrong("its list of tools has no end"))
}

/// A running server; it is ended with this.
struct Server {
    name: String,
    process: Subprocess,
    until: Instant,
}

impl Server {
    fn start(command: &[OsString]) -> Result<Self, Error> {
        let (program, arguments) = command.split_first().map_or((OsStr::new(""), &[][..]), |(one, rest)| (one, rest));
        let name = program.to_string_lossy().into_owned();
        let started = Subprocess::start(Command::new(program).args(arguments), LONGEST_LINE);
        let failed =
            |cause| Error::failed(format!("{name} could not be started"), cause, "check the command after `--`");
        let process = started.map_err(failed)?;
        Ok(Self { name, process, until: Instant::now() + TIMEOUT })
    }

    fn send(&mut self, message: &Value) -> Result<(), Error> {
        self.process.write(message).map_err(|_| self.wrong("it ended before it was asked"))
    }

    /// Sends a request and waits for its answer; whatever else the server says meanwhile is passed over.
    fn request(&mut self, id: u64, method: &str, params: &Value) -> Result<Value, Error> {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let left = self.until.saturating_duration_since(Instant::now());
            let line = self.process.next(left).map_err(|error| match error {
                RecvTimeoutError::Timeout => {
                    self.wrong(&format!("it did not answer {method} within {} s", TIMEOUT.as_secs()))
                }
                RecvTimeoutError::Disconnected => self.wrong(&format!("it ended before it answered {method}")),
            })?;
            let Ok(mut answer) = serde_json::from_str::<Value>(&line) else { continue };
            if answer.get("id") != Some(&id.into()) || answer.get("method").is_some() {
                continue;
            }
            if let Some(error) = answer.get("error") {
                return Err(self.wrong(&format!("it answered {method} with the error {error}")));
            }
            return Ok(answer["result"].take());
        }
    }

    fn wrong(&self, what: &str) -> Error {
        Error::wrong(
            format!("{}: {what}", self.name),
            "run the server's command by itself: it says on stderr what it needs (an argument, a key)",
        )
    }
}

pub(super) struct Subprocess {
    child: Child,
    input: ChildStdin,
    lines: mpsc::Receiver<String>,
}

impl Subprocess {
    /// Starts it. A line of it that has more than `longest` bytes, or is no UTF-8, is the last that is read.
    pub(super) fn start(command: &mut Command, longest: u64) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("it has no stdin or stdout"));
        };
        let (sender, lines) = mpsc::sync_channel(64);
        thread::spawn(move || {
            let (mut output, mut line) = (BufReader::new(output), String::new());
            while matches!(output.by_ref().take(longest).read_line(&mut line), Ok(1..)) {
                let is_whole = line.ends_with('\n');
                if sender.send(std::mem::take(&mut line)).is_err() || !is_whole {
                    break;
                }
            }
        });
        Ok(Self { child, input, lines })
    }

    pub(super) fn write(&mut self, line: &Value) -> io::Result<()> {
        self.input.write_all(format!("{line}\n").as_bytes())
    }

    pub(super) fn next(&self, within: Duration) -> Result<String, RecvTimeoutError> {
        self.lines.recv_timeout(within)
    }
}

impl Drop for Subprocess {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
