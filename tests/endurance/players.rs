//! What this program plays in processes of its own, so that it can be killed or starved: a console, a server that gushes,
//! a server that writes down all it hears. And the console that decides by itself, in a thread.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::{self, BufRead as _, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::thread;

use mcp_approve::audit::record::VerdictWord;
use mcp_approve::gate::data::snapshot::Snapshot;
use mcp_approve::link::client::{ClientEvent, Clients, Me};
use mcp_approve::link::message::{FromConsole, FromWrapper, OperatorVerdict};
use serde_json::{Value, json};

/// The word before a role and its arguments.
pub const ROLE: &str = "--play";

/// A command that plays a role.
pub fn role(words: &[&str]) -> Vec<String> {
    let me = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    [&[me.as_str(), ROLE], words].concat().into_iter().map(str::to_owned).collect()
}

/// A role as a process to be started.
pub fn process(words: &[&str]) -> Command {
    let words = role(words);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}

/// Plays a role to its end.
pub fn play(words: &[String]) -> ExitCode {
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["console", home, seed] => {
            let mut seed: u64 = seed.parse().unwrap();
            let _console = Console::open(Path::new(home), move |_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                Some(if seed >> 62 == 0 { deny() } else { approve() })
            });
            loop {
                thread::park();
            }
        }
        ["gush", bytes] => gush(bytes.parse().unwrap()),
        ["listener", file] => listen(Path::new(file)),
        other => panic!("no such role: {other:?}"),
    }
    ExitCode::SUCCESS
}

/// Answers the handshake, and each call with a result of so many bytes on one line.
fn gush(bytes: usize) {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap_or_default();
        if let Some(reply) = plain_answer(&message) {
            writeln!(out, "{reply}").unwrap();
        } else if message["method"] == "tools/call" {
            let id = &message["id"];
            write!(out, r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":""#).unwrap();
            let chunk = vec![b'x'; 1 << 20];
            let mut left = bytes;
            while left > 0 {
                let now = left.min(chunk.len());
                out.write_all(&chunk[..now]).unwrap();
                left -= now;
            }
            writeln!(out, r#""}}]}}}}"#).unwrap();
        }
        out.flush().unwrap();
    }
}

/// Writes every line it hears into a file, and answers what is a request.
fn listen(file: &Path) {
    let mut heard = OpenOptions::new().create(true).append(true).open(file).unwrap();
    let mut input = io::stdin().lock();
    let (mut line, mut out) = (Vec::new(), io::stdout().lock());
    while input.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        heard.write_all(&line).unwrap();
        let message: Value = serde_json::from_slice(&line).unwrap_or_default();
        let reply = plain_answer(&message).or_else(|| {
            let id = message.get("id").filter(|_| message.get("method").is_some())?;
            Some(json!({ "jsonrpc": "2.0", "id": id, "result": {} }).to_string())
        });
        if let Some(reply) = reply {
            writeln!(out, "{reply}").unwrap();
            out.flush().unwrap();
        }
        line.clear();
    }
}

fn plain_answer(message: &Value) -> Option<String> {
    let result = match message["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "player", "version": "1" },
        }),
        "tools/list" => json!({ "tools": [crate::fake::server::reader("read"), crate::fake::server::writer("write")] }),
        "ping" => json!({}),
        _ => return None,
    };
    Some(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string())
}

pub fn approve() -> OperatorVerdict {
    OperatorVerdict::Approve { unread: false }
}

pub fn deny() -> OperatorVerdict {
    OperatorVerdict::Deny { reason: "not this one".into() }
}

/// What a console was told of a call it decided on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    Settled(Option<VerdictWord>),
    Refused(String),
}

/// A console that decides by itself, as fast as it is asked.
pub struct Console {
    _clients: Arc<Clients>,
    /// By ticket, in order.
    pub told: Arc<Mutex<HashMap<String, Vec<Told>>>>,
}

impl Console {
    /// Attaches to every wrapper under `home`; `decide` says what becomes of a call, or leaves it.
    pub fn open(home: &Path, mut decide: impl FnMut(&Snapshot) -> Option<OperatorVerdict> + Send + 'static) -> Self {
        let (tell, events) = mpsc::channel();
        let me = Me { operator: "endless".into(), version: env!("CARGO_PKG_VERSION").into(), pid: std::process::id() };
        let tell: Sender<ClientEvent> = tell;
        let on = move |event| drop(tell.send(event));
        let clients = Arc::new(Clients::watch(&home.join("state/run"), me, on).unwrap());
        let told: Arc<Mutex<HashMap<String, Vec<Told>>>> = Arc::default();
        let (speaker, heard) = (Arc::downgrade(&clients), Arc::clone(&told));
        thread::spawn(move || {
            for event in events {
                let ClientEvent::Said { session, message } = event else { continue };
                match message {
                    FromWrapper::Held { call } => {
                        if let (Some(verdict), Some(clients)) = (decide(&call), speaker.upgrade()) {
                            let (ticket, digest) = (call.ticket, call.digest);
                            let _ =
                                clients.send(&session, &FromConsole::Decide { ticket, digest, verdict, signed: None });
                        }
                    }
                    FromWrapper::Settled(end) => {
                        heard.lock().unwrap().entry(end.ticket).or_default().push(Told::Settled(end.verdict));
                    }
                    FromWrapper::Refused { ticket, why } => {
                        heard.lock().unwrap().entry(ticket).or_default().push(Told::Refused(why));
                    }
                    _ => {}
                }
            }
        });
        Self { _clients: clients, told }
    }
}
