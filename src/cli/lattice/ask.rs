//! Asks a server for its tools: starts it, shakes hands, reads every page, ends it. Calls no tool.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli::error::Error;
use crate::cli::manifest::Manifest;
use crate::mcp::tool::Tool;

/// So long a server may take for everything; `npx` fetches a package first.
const PATIENCE: Duration = Duration::from_secs(120);
/// As many pages as are asked for.
const MOST_PAGES: usize = 1_000;
/// No line is longer, in bytes.
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
    child: Child,
    input: ChildStdin,
    lines: mpsc::Receiver<String>,
    until: Instant,
}

impl Server {
    fn start(command: &[OsString]) -> Result<Self, Error> {
        let (program, arguments) = command.split_first().map_or((None, &[][..]), |(first, rest)| (Some(first), rest));
        let program = program.cloned().unwrap_or_default();
        let name = program.to_string_lossy().into_owned();
        let failed = |cause: std::io::Error| Error::Failed {
            what: format!("{name} could not be started"),
            cause: Box::new(cause),
            hint: "check the command after `--`".to_owned(),
        };
        let mut child = Command::new(&program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed(std::io::Error::other("it has no stdin or stdout")));
        };
        let (sender, lines) = mpsc::sync_channel(64);
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut line = String::new();
            // A line that is longer, or no UTF-8, ends the conversation.
            while matches!(output.by_ref().take(LONGEST).read_line(&mut line), Ok(1..)) && line.ends_with('\n') {
                if sender.send(std::mem::take(&mut line)).is_err() {
                    break;
                }
            }
        });
        Ok(Self { name, child, input, lines, until: Instant::now() + PATIENCE })
    }

    fn send(&mut self, message: &Value) -> Result<(), Error> {
        writeln!(self.input, "{message}").map_err(|_| self.wrong("it ended before it was asked"))
    }

    /// Sends a request and waits for its answer; whatever else the server says meanwhile is passed over.
    fn request(&mut self, id: u64, method: &str, params: &Value) -> Result<Value, Error> {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let left = self.until.saturating_duration_since(Instant::now());
            let line = match self.lines.recv_timeout(left) {
                Ok(line) => line,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    return Err(self.wrong(&format!("it did not answer {method} within {} s", PATIENCE.as_secs())));
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    return Err(self.wrong(&format!("it ended before it answered {method}")));
                }
            };
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
        Error::Wrong {
            what: format!("{}: {what}", self.name),
            hint: "run the server's command by itself: it says on stderr what it needs (an argument, a key)".to_owned(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
