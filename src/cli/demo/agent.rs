//! The scripted agent: a real MCP client on the wrapper's pipes that lives the `story` and writes a diary.
//!
//! It reads refusals as a model would and goes on. It stays until its own stdin ends; then it cancels the requests that
//! still wait, closes the pipe and waits for its server to end.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::demo::chain::wait_for;
use crate::cli::demo::server::{CAPABILITIES_KEY, Era, STATELESS, VERSION_KEY};
use crate::cli::demo::{AgentArgs, error};
use crate::cli::error::{Error, Exit};

/// How long the agent stays idle before it reads something; twice as long each time, so that the log of a demo that stays
/// open is not all reads.
const IDLE: Duration = Duration::from_secs(1);
/// How often that doubles: up to about a minute.
const DOUBLINGS: usize = 6;

/// How long it stays idle after so many reads.
fn idle(idle_reads: usize) -> Duration {
    IDLE * (1 << idle_reads.min(DOUBLINGS))
}

/// How long no message must come before it begins the next errand, so that the errands' calls are seen one after the
/// other.
const PAUSE: Duration = Duration::from_millis(200);

/// How long a server may take to end after its pipe closed.
const END_LIMIT: Duration = Duration::from_secs(6);

/// Runs the agent over a wrapped server command until the demo ends it.
pub(super) fn run(args: &AgentArgs) -> Exit {
    let diary = File::create(&args.diary).map_err(|cause| error::io("creating", &args.diary, cause))?;
    let words = diary.try_clone().map_err(|cause| error::io("opening", &args.diary, cause))?;
    let (mut server, to, from) = start(&args.command, words)?;
    let (tell, events) = mpsc::channel();
    listen(from, tell.clone());
    wait_for_leave(tell);
    let work = std::env::current_dir().map_err(error::process)?;
    let ended = Agent::new(to, diary, Story::of(&work)?).live(&events);
    let gone = wait_for(&mut server, END_LIMIT).map_err(error::process)?;
    if gone.is_none() {
        server.kill().map_err(error::process)?;
    }
    let code = ended.map_err(error::process)?;
    Ok(if gone.is_some() { code } else { ExitCode::FAILURE })
}

/// What the agent waits for.
#[derive(Debug)]
enum Event {
    Line(Vec<u8>),
    /// The server's pipe ended.
    Closed,
    /// Its own stdin ended: time to go.
    Leave,
}

/// The client: requests in flight, and errands with how far each has come.
struct Agent<W, D> {
    to: W,
    diary: D,
    next: u64,
    waiting: BTreeMap<u64, Asked>,
    errands: Vec<std::vec::IntoIter<Step>>,
    /// How many errands were begun; `None` before the tools are known.
    begun: Option<usize>,
    /// What it reads in turn while it is idle, and how often it has.
    reads: std::iter::Cycle<std::vec::IntoIter<Step>>,
    idle_reads: usize,
}

/// What a request in flight was for.
enum Asked {
    Handshake,
    List,
    Errand { at: usize, step: Step },
    IdleRead,
}

impl<W: Write, D: Write> Agent<W, D> {
    fn new(to: W, diary: D, story: Story) -> Self {
        Self {
            to,
            diary,
            next: 0,
            waiting: BTreeMap::new(),
            errands: story.errands.into_iter().map(Vec::into_iter).collect(),
            begun: None,
            reads: story.reads.into_iter().cycle(),
            idle_reads: 0,
        }
    }

    /// Does the handshake, begins the errands one by one and stays until it has to leave. It fails if the server ends
    /// first. Dropping the agent closes the pipe.
    fn live(mut self, events: &Receiver<Event>) -> io::Result<ExitCode> {
        self.ask(
            Asked::Handshake,
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": { "name": "demo-agent", "version": env!("CARGO_PKG_VERSION") },
            }),
        )?;
        loop {
            let wait = self.next_errand().map_or_else(|| idle(self.idle_reads), |_| PAUSE);
            match events.recv_timeout(wait) {
                Ok(Event::Line(line)) => self.on_line(&line)?,
                Ok(Event::Closed) => {
                    self.note("The server is gone.")?;
                    return Ok(ExitCode::FAILURE);
                }
                Ok(Event::Leave) | Err(RecvTimeoutError::Disconnected) => return self.leave(),
                Err(RecvTimeoutError::Timeout) => match self.next_errand() {
                    Some(at) => self.begin(at)?,
                    None => self.read_while_idle()?,
                },
            }
        }
    }

    fn on_line(&mut self, line: &[u8]) -> io::Result<()> {
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            return self.note("I received a line that is not JSON.");
        };
        let Some(asked) = message["id"].as_u64().and_then(|id| self.waiting.remove(&id)) else {
            return Ok(());
        };
        let answer = Answer::read(&message);
        match asked {
            Asked::Handshake => {
                self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
                self.ask(Asked::List, "tools/list", &json!({}))
            }
            Asked::List => {
                let tools = message["result"]["tools"].as_array().map_or(0, Vec::len);
                self.note(&format!("The server offers {tools} tools."))?;
                self.begin(0)
            }
            Asked::Errand { at, step } => self.on_answer(at, step, &answer),
            Asked::IdleRead => Ok(()),
        }
    }

    /// Takes the answer to a step and goes on: after a refusal with the step's alternative, if it has one.
    fn on_answer(&mut self, at: usize, step: Step, answer: &Answer) -> io::Result<()> {
        match answer {
            Answer::Done(text) => self.note(&format!("{}: done. {text}", step.tool))?,
            Answer::Refused(text) => {
                self.note(&format!("{}: not done. I read: {text}", step.tool))?;
                if let Some(other) = step.otherwise {
                    return self.take(at, *other);
                }
            }
        }
        self.go_on(at)
    }

    fn next_errand(&self) -> Option<usize> {
        self.begun.filter(|begun| *begun < self.errands.len())
    }

    fn begin(&mut self, at: usize) -> io::Result<()> {
        self.begun = Some(at + 1);
        self.go_on(at)
    }

    fn go_on(&mut self, at: usize) -> io::Result<()> {
        self.errands[at].next().map_or(Ok(()), |step| self.take(at, step))
    }

    fn take(&mut self, at: usize, step: Step) -> io::Result<()> {
        self.note(&format!("{} {}: {}", step.tool, step.arguments, step.why))?;
        let params = call(&step);
        self.ask(Asked::Errand { at, step }, "tools/call", &params)
    }

    /// One read at a time, and only while nothing but errands waits.
    fn read_while_idle(&mut self) -> io::Result<()> {
        if !self.waiting.values().all(|asked| matches!(asked, Asked::Errand { .. })) {
            return Ok(());
        }
        self.idle_reads += 1;
        let Some(step) = self.reads.next() else { return Ok(()) };
        self.ask(Asked::IdleRead, "tools/call", &call(&step))
    }

    /// Cancels the requests that still wait, as a host does that gives up.
    fn leave(mut self) -> io::Result<ExitCode> {
        for (id, asked) in std::mem::take(&mut self.waiting) {
            if let Asked::Errand { step, .. } = asked {
                self.note(&format!("{}: not decided in time; I withdraw it.", step.tool))?;
            }
            let gave_up = json!({
                "jsonrpc": "2.0",
                "method": "notifications/cancelled",
                "params": { "requestId": id, "reason": "the agent leaves" },
            });
            self.send(&gave_up)?;
        }
        self.note("Goodbye.")?;
        Ok(ExitCode::SUCCESS)
    }

    fn ask(&mut self, asked: Asked, method: &str, params: &Value) -> io::Result<()> {
        let id = self.next;
        self.next += 1;
        self.waiting.insert(id, asked);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    }

    fn send(&mut self, message: &Value) -> io::Result<()> {
        self.to.write_all(format!("{message}\n").as_bytes())?;
        self.to.flush()
    }

    fn note(&mut self, words: &str) -> io::Result<()> {
        writeln!(self.diary, "{words}")
    }
}

/// The parameters of a call, in the era the step belongs to.
fn call(step: &Step) -> Value {
    let mut params = json!({ "name": step.tool, "arguments": step.arguments });
    if step.era == Era::Stateless {
        params["_meta"] = json!({
            VERSION_KEY: STATELESS,
            CAPABILITIES_KEY: {},
            "io.modelcontextprotocol/clientInfo": { "name": "demo-agent", "version": env!("CARGO_PKG_VERSION") },
        });
    }
    params
}

/// An answer as a model reads it: its first text, and whether the thing was done.
enum Answer {
    Done(String),
    Refused(String),
}

impl Answer {
    fn read(message: &Value) -> Self {
        if let Some(error) = message.get("error") {
            return Self::Refused(format!("error {}: {}", error["code"], error["message"]));
        }
        let result = &message["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if result["isError"] == true { Self::Refused(text) } else { Self::Done(text) }
    }
}

fn start(command: &[std::ffi::OsString], words: File) -> Result<(Child, ChildStdin, ChildStdout), Error> {
    let [program, arguments @ ..] = command else {
        return Err(Error::wrong("no server command was given", "put the server's command after `--`"));
    };
    let mut server = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(words)
        .spawn()
        .map_err(error::process)?;
    match (server.stdin.take(), server.stdout.take()) {
        (Some(to), Some(from)) => Ok((server, to, from)),
        _ => Err(error::process(io::ErrorKind::BrokenPipe.into())),
    }
}

/// Passes on every line of the server, and then that its pipe ended.
fn listen(from: impl Read + Send + 'static, to: Sender<Event>) {
    thread::spawn(move || {
        let mut lines = BufReader::new(from).split(b'\n');
        while let Some(Ok(line)) = lines.next() {
            if to.send(Event::Line(line)).is_err() {
                return;
            }
        }
        // The agent may have ended already.
        let _ = to.send(Event::Closed);
    });
}

fn wait_for_leave(to: Sender<Event>) {
    thread::spawn(move || {
        // An error on stdin is an end, too.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        let _ = to.send(Event::Leave);
    });
}

const STORY: &str = include_str!("../../../assets/demo/story.json");

/// One call the agent wants to make, and what it does when it is refused.
#[derive(Clone, Debug, Deserialize)]
struct Step {
    why: String,
    tool: String,
    arguments: Value,
    #[serde(default)]
    era: Era,
    /// Another way, once the text of a refusal was read.
    otherwise: Option<Box<Step>>,
}

/// All that it does.
#[derive(Debug, Deserialize)]
struct Story {
    /// Lists of steps that follow each other; the lists run side by side, so that several calls wait together, the plainest
    /// first.
    errands: Vec<Vec<Step>>,
    /// Harmless reads, made now and then while nothing else happens.
    reads: Vec<Step>,
}

impl Story {
    /// The story in the folder `work`. Files are written by their absolute paths, as most agents do: only of these the
    /// wrapper is sure what is there.
    fn of(work: &Path) -> Result<Self, Error> {
        let work = Value::from(work.display().to_string()).to_string();
        error::data(&STORY.replace("\"{work}", work.strip_suffix('"').unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::summary::State;
    use super::super::{server, stage, tools::Tools};
    use super::*;

    #[test]
    fn a_demo_that_stays_open_does_not_fill_the_log_with_reads() {
        assert_eq!([0, 1, 2, 6, 9_999].map(|reads| idle(reads).as_secs()), [1, 2, 4, 64, 64]);
    }

    /// The agent without a wrapper: whatever it asks for, happens.
    #[test]
    fn unguarded_the_agent_does_all_its_harm() {
        let work = tempfile::tempdir().unwrap();
        stage::fill(work.path()).unwrap();
        let story = Story::of(&work.path().canonicalize().unwrap()).unwrap();
        let errands = story.errands.concat().len();
        let before = State::of(work.path()).unwrap();
        let (server_in, to_server) = io::pipe().unwrap();
        let (from_server, server_out) = io::pipe().unwrap();
        let tools = Tools::over(work.path()).unwrap();
        let serving = thread::spawn(move || server::serve(BufReader::new(server_in), server_out, &tools));

        let (tell, events) = mpsc::channel();
        let (sender, hearing) = mpsc::channel();
        listen(from_server, sender);
        let mut diary = Vec::new();
        let written = &mut diary;
        let living = thread::scope(move |scope| {
            let life = scope.spawn(move || Agent::new(to_server, written, story).live(&events));
            // Handshake, list, and every call of every errand.
            let mut answers = 0;
            while answers < 2 + errands {
                match hearing.recv_timeout(Duration::from_secs(20)).unwrap() {
                    Event::Line(line) => {
                        answers += 1;
                        tell.send(Event::Line(line)).unwrap();
                    }
                    other => panic!("{other:?}"),
                }
            }
            tell.send(Event::Leave).unwrap();
            life.join().unwrap()
        });
        assert_eq!(living.unwrap(), ExitCode::SUCCESS);
        serving.join().unwrap().unwrap();
        let changes = before.changes(&State::of(work.path()).unwrap());
        assert_eq!(
            changes,
            [
                "drafts/plan-2024.md is gone", "drafts/todo.md is gone", "notes.md changes", "report.md changes",
                "archive/todo.md appears", "drafts/reply-ada.md appears", "drafts/reply-grace.md appears",
                "jobs/run-1.json appears", "jobs/run-2.json appears", "orders: 5 rows -> 3", "sessions: 5 rows -> 0",
            ],
            "{}",
            String::from_utf8_lossy(&diary)
        );
    }
}
