//! The scripted agent: a real MCP client on the wrapper's pipes that lives the `story` and writes a diary. It reads refusals
//! as a model would and goes on. When its own stdin ends it cancels the requests that still wait, and closes the pipe.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::demo::jobs::{Metrics, Params};
use crate::cli::demo::tools::failed;
use crate::cli::error::{Error, Exit};

#[derive(Clone, Debug, clap::Args)]
pub struct AgentArgs {
    #[arg(long)]
    pub diary: PathBuf,
    /// The server command, usually a wrapped one.
    #[arg(last = true, required = true)]
    pub command: Vec<OsString>,
}

/// How long the agent may take to end: it waits for the wrapper, which waits for the server, each within its own limit.
pub(super) const END_LIMIT: Duration = Duration::from_secs(10);

const STORY: &str = include_str!("../../../assets/demo/story.json");

/// How long no message must come before it begins the next errand, so that the errands' calls are seen one by one.
const PAUSE: Duration = Duration::from_millis(200);

/// Twice as long each time, up to a minute, so that the log of a demo that stays open is not all reads.
fn idle(reads: u32) -> Duration {
    Duration::from_secs(1 << reads.min(6))
}

#[derive(Debug, Deserialize)]
struct Story {
    /// Lists of steps that follow each other; the lists run side by side, the plainest first.
    errands: Vec<Vec<Step>>,
    /// Harmless reads, made now and then while nothing else happens.
    reads: Vec<Step>,
}

/// One call it wants to make, and another way once it has read the text of a refusal.
#[derive(Clone, Debug, Deserialize)]
struct Step {
    why: String,
    tool: String,
    arguments: Value,
    otherwise: Option<Box<Step>>,
    /// It is part of the tuning of a simulation: which round it is.
    tunes: Option<u32>,
}

/// A job that the agent waits for: the errand that it is of, the step that started it.
struct Started {
    run_id: String,
    at: usize,
    step: Step,
}

/// How many rounds a simulation is tuned for at most.
const ROUNDS: u32 = 6;

enum DemoEvent {
    Line(String),
    Closed,
    /// Its own stdin ended: time to go.
    Leave,
}

pub(super) fn run(args: &AgentArgs) -> Exit {
    let diary = File::create(&args.diary).map_err(failed)?;
    let work = std::env::current_dir().map_err(failed)?;
    let story = story(&work)?;
    let mut server = Command::new(&args.command[0]);
    let server = server.args(&args.command[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = server.stderr(diary.try_clone().map_err(failed)?).spawn().map_err(failed)?;
    let (Some(to), Some(from)) = (server.stdin.take(), server.stdout.take()) else {
        return Err(failed("the server has no pipes"));
    };
    let (sender, events) = mpsc::channel();
    let leave = sender.clone();
    thread::spawn(move || {
        let lines = BufReader::new(from).lines().map_while(Result::ok);
        // The agent may have ended already.
        let _ = lines.map(DemoEvent::Line).chain([DemoEvent::Closed]).try_for_each(|event| sender.send(event));
    });
    thread::spawn(move || {
        // An error on stdin is an end, too.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        let _ = leave.send(DemoEvent::Leave);
    });
    let telemetry = File::create(args.diary.with_file_name("telemetry.jsonl")).map_err(failed)?;
    let (waiting, errands, started) = (BTreeMap::new(), Vec::new(), Vec::new());
    let lived = DemoAgent { to, diary, next: 0, waiting, errands, begun: 0, started, telemetry }.live(story, &events);
    if wait_for(&mut server, END_LIMIT).map_err(failed)?.is_none() {
        server.kill().map_err(failed)?;
        return Ok(ExitCode::FAILURE);
    }
    lived.map_err(failed)
}

pub(super) fn wait_for(process: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let deadline = Instant::now() + limit;
    loop {
        match process.try_wait()? {
            None if Instant::now() < deadline => thread::sleep(Duration::from_millis(10)),
            status => return Ok(status),
        }
    }
}

/// Files are written by their absolute paths, as most agents do: only of these the wrapper is sure what is there.
fn story(work: &Path) -> Result<Story, Error> {
    let work = Value::from(work.display().to_string()).to_string();
    let text = STORY.replace("\"{work}", work.strip_suffix('"').unwrap_or_default());
    serde_json::from_str(&text).map_err(failed)
}

struct DemoAgent {
    to: ChildStdin,
    diary: File,
    next: u64,
    /// By id: the step of which errand it is, where it is one.
    waiting: BTreeMap<u64, Option<(usize, Step)>>,
    errands: Vec<std::vec::IntoIter<Step>>,
    begun: usize,
    started: Vec<Started>,
    /// A line of JSON for each round.
    telemetry: File,
}

impl DemoAgent {
    /// Fails if the server ends first. Dropping the agent closes the pipe.
    fn live(mut self, story: Story, events: &Receiver<DemoEvent>) -> io::Result<ExitCode> {
        let client = json!({ "name": "demo-agent", "version": env!("CARGO_PKG_VERSION") });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        self.ask(None, "initialize", &hello)?;
        let mut reads = story.reads.into_iter().cycle();
        let mut read = 0;
        loop {
            let has_more = self.begun < self.errands.len();
            match events.recv_timeout(if has_more { PAUSE } else { idle(read) }) {
                Ok(DemoEvent::Line(line)) => {
                    let message: Value = serde_json::from_str(&line)?;
                    match message["id"].as_u64().and_then(|id| Some((id, self.waiting.remove(&id)?))) {
                        Some((0, _)) => {
                            self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
                            self.ask(None, "tools/list", &json!({}))?;
                            // So that it hears of jobs, and need not ask again and again.
                            self.ask(None, "logging/setLevel", &json!({ "level": "info" }))?;
                        }
                        Some((1, _)) => {
                            let tools = message["result"]["tools"].as_array().map_or(0, Vec::len);
                            self.note(&format!("The server offers {tools} tools."))?;
                            self.errands = story.errands.iter().cloned().map(Vec::into_iter).collect();
                        }
                        Some((_, Some((at, step)))) => self.hear(at, step, &message)?,
                        Some((_, None)) => {}
                        None => self.hear_event(&message["params"]["data"])?,
                    }
                }
                Ok(DemoEvent::Closed) => {
                    self.note("The server is gone.")?;
                    return Ok(ExitCode::FAILURE);
                }
                Ok(DemoEvent::Leave) | Err(RecvTimeoutError::Disconnected) => return self.leave(),
                Err(RecvTimeoutError::Timeout) if has_more => {
                    self.begun += 1;
                    self.go_on(self.begun - 1)?;
                }
                // One read at a time, and only once it knows the tools.
                Err(RecvTimeoutError::Timeout) if self.begun > 0 && self.waiting.values().all(Option::is_some) => {
                    read += 1;
                    if let Some(step) = reads.next() {
                        self.ask(None, "tools/call", &json!({ "name": step.tool, "arguments": step.arguments }))?;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn hear(&mut self, at: usize, step: Step, message: &Value) -> io::Result<()> {
        let (error, result) = (&message["error"], &message["result"]);
        let text = error["message"].as_str().or(result["content"][0]["text"].as_str()).unwrap_or_default();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if error.is_null() && result["isError"] != true {
            self.note(&format!("{}: done. {text}", step.tool))?;
            return match step.tunes {
                Some(round) => self.tune(at, step, round, result),
                None => self.go_on(at),
            };
        }
        self.note(&format!("{}: not done. I read: {text}", step.tool))?;
        match step.otherwise {
            Some(other) => self.take(at, *other),
            None => self.go_on(at),
        }
    }

    /// A job has ended: its state comes next.
    fn hear_event(&mut self, data: &Value) -> io::Result<()> {
        let (event, run_id) = (data["event"].as_str().unwrap_or_default(), &data["run_id"]);
        if !matches!(event, "on_job_complete" | "on_job_failed") {
            return Ok(());
        }
        let Some(nth) = self.started.iter().position(|one| *run_id == one.run_id) else { return Ok(()) };
        let Started { run_id, at, step } = self.started.remove(nth);
        self.note(&format!("I hear {event} of {run_id}."))?;
        let arguments = json!({ "run_id": run_id });
        self.take(at, Step { why: "asking how it ended".into(), tool: "get_status".into(), arguments, ..step })
    }

    /// Run, status, artifact, parse, adapt, and again until the metrics are good enough.
    fn tune(&mut self, at: usize, step: Step, round: u32, result: &Value) -> io::Result<()> {
        let said = &result["structuredContent"];
        match step.tool.as_str() {
            "run_job" => {
                let run_id = said["run_id"].as_str().unwrap_or_default().to_owned();
                self.started.push(Started { run_id, at, step });
                Ok(())
            }
            "get_status" if said["state"] == "finished" => {
                let arguments = json!({ "run_id": step.arguments["run_id"], "path": "log.lammps" });
                self.take(at, Step { why: "fetching its log".into(), tool: "fetch_artifact".into(), arguments, ..step })
            }
            "fetch_artifact" => {
                let log = result["content"][0]["text"].as_str().unwrap_or_default();
                let params = Params::of(log)?;
                let metrics = Metrics::of(log, params);
                let is_last = metrics.is_enough() || round >= ROUNDS;
                let run_id = &step.arguments["run_id"];
                let line =
                    json!({ "round": round, "run_id": run_id, "params": params, "metrics": metrics, "stops": is_last });
                writeln!(self.telemetry, "{line}")?;
                if is_last {
                    return self.go_on(at);
                }
                let arguments = json!({ "kind": "lammps", "params": params.next(metrics) });
                let why = "running it again with other parameters".to_owned();
                self.take(at, Step { why, tool: "run_job".into(), arguments, tunes: Some(round + 1), ..step })
            }
            // It failed.
            _ => self.go_on(at),
        }
    }

    fn go_on(&mut self, at: usize) -> io::Result<()> {
        self.errands[at].next().map_or(Ok(()), |step| self.take(at, step))
    }

    fn take(&mut self, at: usize, step: Step) -> io::Result<()> {
        self.note(&format!("{} {}: {}", step.tool, step.arguments, step.why))?;
        if step.tool.contains('/') {
            let (method, params) = (step.tool.clone(), step.arguments.clone());
            return self.ask(Some((at, step)), &method, &params);
        }
        let params = json!({ "name": step.tool, "arguments": step.arguments });
        self.ask(Some((at, step)), "tools/call", &params)
    }

    fn leave(mut self) -> io::Result<ExitCode> {
        for (id, asked) in std::mem::take(&mut self.waiting) {
            if let Some((_, step)) = asked {
                self.note(&format!("{}: not decided in time; I withdraw it.", step.tool))?;
            }
            let params = json!({ "requestId": id, "reason": "the agent leaves" });
            self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }))?;
        }
        self.note("Goodbye.")?;
        Ok(ExitCode::SUCCESS)
    }

    fn ask(&mut self, asked: Option<(usize, Step)>, method: &str, params: &Value) -> io::Result<()> {
        let id = self.next;
        self.next += 1;
        self.waiting.insert(id, asked);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    }

    fn send(&mut self, message: &Value) -> io::Result<()> {
        self.to.write_all(format!("{message}\n").as_bytes())
    }

    fn note(&mut self, words: &str) -> io::Result<()> {
        writeln!(self.diary, "{words}")
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_demo_that_stays_open_does_not_fill_the_log_with_reads() {
        assert_eq!([0, 1, 2, 6, 9_999].map(|reads| super::idle(reads).as_secs()), [1, 2, 4, 64, 64]);
    }
}
