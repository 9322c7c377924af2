//! The scripted host: spawns a command with piped stdio, sends lines as given, expects lines as they come.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use serde_json::{Value, json};

use super::{BINARY, DEADLINE};

/// A host with its one server (usually the wrapper).
pub struct Host {
    /// `None` when somebody else started the command.
    child: Option<Child>,
    to: Option<Box<dyn Write>>,
    from: Receiver<Vec<u8>>,
    words: Option<JoinHandle<String>>,
}

impl Host {
    /// Wraps `server` with `options` in front of the `--`, under `home`.
    pub fn wrapping<S: AsRef<OsStr>>(home: &Path, options: &[&str], server: &[S]) -> Self {
        let mut command = Command::new(BINARY);
        command.arg("--home").arg(home).args(options).arg("--").args(server);
        Self::over(command)
    }

    /// Talks to a server without a wrapper.
    pub fn direct<S: AsRef<OsStr>>(server: &[S]) -> Self {
        let mut command = Command::new(&server[0]);
        command.args(&server[1..]);
        Self::over(command)
    }

    /// Spawns any command.
    pub fn over(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let to = child.stdin.take().unwrap();
        let out = child.stdout.take().unwrap();
        let mut err = child.stderr.take().unwrap();
        let words = thread::spawn(move || {
            let mut words = Vec::new();
            let _ = err.read_to_end(&mut words);
            String::from_utf8_lossy(&words).into_owned()
        });
        let mut host = Self::at(to, out);
        (host.child, host.words) = (Some(child), Some(words));
        host
    }

    /// Talks over pipes to a command that somebody else started.
    pub fn at(to: impl Write + 'static, out: impl Read + Send + 'static) -> Self {
        let (tell, from) = mpsc::channel();
        thread::spawn(move || {
            let mut out = BufReader::new(out);
            let mut line = Vec::new();
            while out.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                if tell.send(std::mem::take(&mut line)).is_err() {
                    return;
                }
            }
        });
        Self { child: None, to: Some(Box::new(to)), from, words: None }
    }

    /// The process id of the command.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("a command of ours").id()
    }

    /// Sends bytes exactly as they are.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let to = self.to.as_mut().expect("stdin is open");
        to.write_all(bytes).unwrap();
        to.flush().unwrap();
    }

    /// Sends one line; the line end is added.
    pub fn send(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes());
    }

    /// The next line with its line end, as it came.
    pub fn line_bytes(&mut self) -> Vec<u8> {
        match self.from.recv_timeout(DEADLINE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => panic!("no line came"),
            Err(RecvTimeoutError::Disconnected) => {
                panic!("the pipe ended; stderr: {}", self.last_words())
            }
        }
    }

    /// The next line as JSON.
    pub fn line(&mut self) -> Value {
        let line = self.line_bytes();
        serde_json::from_slice(&line).unwrap_or_else(|_| panic!("no JSON: {}", String::from_utf8_lossy(&line)))
    }

    /// The answer with this id; other lines on the way are dropped.
    pub fn answer(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into();
        let deadline = Instant::now() + DEADLINE;
        while Instant::now() < deadline {
            let line = self.line();
            if line["id"] == id && line.get("method").is_none() {
                return line;
            }
        }
        panic!("no answer to {id}");
    }

    /// What has come already, without waiting.
    pub fn so_far(&mut self) -> Vec<Vec<u8>> {
        self.from.try_iter().collect()
    }

    /// Everything to the end of the pipe; call it once the command has ended.
    pub fn rest(&mut self) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| self.from.recv_timeout(DEADLINE).ok()).collect()
    }

    /// Sends a request.
    pub fn request(&mut self, id: impl Into<Value>, method: &str, params: &Value) {
        let id = id.into();
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
    }

    /// Sends a `tools/call`.
    pub fn call(&mut self, id: impl Into<Value>, tool: &str, arguments: &Value) {
        self.request(id, "tools/call", &json!({ "name": tool, "arguments": arguments }));
    }

    /// The legacy handshake under id `"hello"`, to its end.
    pub fn handshake(&mut self, revision: &str) -> Value {
        let params = json!({
            "protocolVersion": revision,
            "capabilities": {},
            "clientInfo": { "name": "scripted-host", "version": "1" },
        });
        self.request("hello", "initialize", &params);
        let answer = self.answer("hello");
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        answer
    }

    /// Closes the pipe to the command.
    pub fn hang_up(&mut self) {
        self.to = None;
    }

    /// Sends a signal by its name: `KILL`, `TERM`, `INT`, `HUP`.
    pub fn signal(&self, name: &str) {
        let number = match name {
            "HUP" => libc::SIGHUP,
            "INT" => libc::SIGINT,
            "TERM" => libc::SIGTERM,
            "KILL" => libc::SIGKILL,
            other => panic!("no such signal here: {other}"),
        };
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.pid()).unwrap()).unwrap();
        let signal = rustix::process::Signal::from_named_raw(number).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Waits for the end of the command.
    pub fn wait(&mut self) -> ExitStatus {
        super::until("the command ends", || self.child.as_mut().expect("a command of ours").try_wait().unwrap())
    }

    /// Everything the command wrote to stderr; call it once it has ended.
    pub fn last_words(&mut self) -> String {
        self.words.take().map_or_else(String::new, |words| words.join().unwrap())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.hang_up();
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
