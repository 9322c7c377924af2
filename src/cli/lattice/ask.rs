//! Asks a server for its tools: starts it, shakes hands, reads every page, ends it. Calls no tool.

use std::ffi::{OsStr, OsString};
use std::process::Command;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli::error::Error;
use crate::cli::manifest::Manifest;
use crate::cli::subprocess::Subprocess;
use crate::mcp::tool::Tool;

/// How long a server may take for everything; `npx` fetches a package first.
const TIMEOUT: Duration = Duration::from_secs(120);
/// How many pages are asked for.
const MOST_PAGES: usize = 1_000;
/// How long a line of the server may be, in bytes.
const LONGEST: u64 = 64 << 20;

/// Starts the command and reads its tools. Its stderr is ours.
pub fn manifest(command: &[OsString]) -> Result<Manifest, Error> {
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
        let started = Subprocess::start(Command::new(program).args(arguments), LONGEST);
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
