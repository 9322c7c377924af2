//! Real agents in front of the wrapper, with a fake model on loopback behind them: no account, no network but npm's.
//! `.ci/run hosts` runs it and prints one row per agent and case.
//!
//! Whatever an agent does about time and signals: what the model reads is what happened, and nothing runs twice or late.

use std::any::Any;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use mcp_approve::link::message::OperatorVerdict;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::agent::{Agent, SERVER};
use super::bed::{bed, run};
use super::operator::{Manner, Operator, Shift};
use super::play::{Transcript, fresh};
use super::{REASON, content};

/// Tries one thing with an agent, and says what was seen.
type Case = fn(&Stage) -> String;

/// What is tried with every agent.
const CASES: [(&str, Case); 6] = [
    ("a read passes", reads),
    ("an approved write", approved_write),
    ("a denied write", denied_write),
    ("a wait up to the limit of the host", waits_to_the_limit),
    ("a wait past the limit of the host", waits_past_the_limit),
    ("the host is killed while a call waits", killed),
];

const BEFORE: &str = "as it was\n";
const AFTER: &str = "as it is\n";
/// How long an agent may take for one task on a busy machine.
const PATIENCE: Duration = Duration::from_mins(3);
/// How long the model thinks between two calls where a late decision must find the wrapper alive, in seconds.
const PAUSE: u64 = 12;

#[test]
#[ignore = "installs a gigabyte of agents; `.ci/run hosts` runs it"]
fn every_agent_is_told_what_happened() {
    bed().agents();
    let agents: Vec<_> = Agent::ALL.map(|agent| thread::spawn(move || rows(agent))).into_iter().collect();
    let agents: Vec<_> = agents.into_iter().map(|agent| agent.join().unwrap()).collect();
    println!("\n| agent | case | result | time | what was seen |\n|---|---|---|---|---|");
    for row in agents.iter().flat_map(|(rows, _)| rows) {
        println!("{row}");
    }
    println!();
    for (agent, (_, reached)) in Agent::ALL.iter().zip(&agents) {
        println!("{} also asked for: {}", agent.title(), if reached.is_empty() { "nothing" } else { reached });
    }
    let failed = agents.iter().flat_map(|(rows, _)| rows).filter(|row| row.contains("| FAIL |")).count();
    assert_eq!(failed, 0, "rows failed");
}

/// All cases with one agent, as rows; and what it wanted of the network.
fn rows(agent: Agent) -> (Vec<String>, String) {
    let mut reached = BTreeSet::new();
    let rows = CASES.iter().map(|(name, case)| {
        let (stage, start) = (Stage::new(agent), Instant::now());
        let (result, seen) = match catch_unwind(AssertUnwindSafe(|| case(&stage))) {
            Ok(seen) => ("pass", seen),
            Err(cause) => ("FAIL", format!("{} ({})", said(&*cause), stage.last_words())),
        };
        reached.extend(stage.reached());
        let seen = seen.replace('\n', " ").replace('|', "\\|");
        format!("| {} | {name} | {result} | {} s | {seen} |", agent.title(), start.elapsed().as_secs())
    });
    (rows.collect(), Vec::from_iter(reached).join(", "))
}

fn said(cause: &(dyn Any + Send)) -> String {
    let text = cause.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("it panicked").into()
}

fn reads(stage: &Stage) -> String {
    let seen = stage.play(&Scene::default(), &[stage.read()]);
    assert!(seen.shift.asked.is_empty(), "the read asked: {:?}", seen.shift.asked);
    assert!(seen.results[0].contains(BEFORE.trim()), "the model read {:?}", seen.results);
    for (_, outside) in &seen.outside {
        assert!(seen.inside.iter().any(|(_, inside)| outside.relays(inside)), "the wrapper altered bytes");
    }
    let lines: usize = seen.outside.iter().map(|(_, side)| side.to.lines().count() + side.from.lines().count()).sum();
    assert_ne!(lines, 0);
    format!("unasked; {lines} lines in {} processes, byte for byte", seen.outside.len())
}

fn approved_write(stage: &Stage) -> String {
    let verdict = OperatorVerdict::Approve { unread: false };
    let seen = stage.play(&Scene { verdict, ..Scene::default() }, &[stage.write()]);
    assert_eq!(seen.shift.asked.len(), 1, "{:?}", seen.shift.asked);
    assert_eq!(seen.shift.asked[0].disk, BEFORE, "it ran before the approval");
    assert_eq!((seen.writes(), stage.disk().as_str()), (1, AFTER), "the model read {:?}", seen.results);
    assert!(seen.results[0].contains("Successfully wrote"), "the model read {:?}", seen.results);
    "ran once, after the approval; the model reads the answer".into()
}

fn denied_write(stage: &Stage) -> String {
    let seen = stage.play(&Scene::default(), &[stage.write()]);
    assert_eq!(seen.shift.asked.len(), 1, "{:?}", seen.shift.asked);
    assert_eq!((seen.writes(), stage.disk().as_str()), (0, BEFORE));
    assert!(seen.results[0].contains(REASON), "the model read {:?}", seen.results);
    "did not run; the model reads the reason".into()
}

/// The wrapper knows the limit: it answers first, and a later approval finds nothing.
fn waits_to_the_limit(stage: &Stage) -> String {
    let verdict = OperatorVerdict::Approve { unread: false };
    let scene = Scene { verdict, after: 15, limit: Some(16), known: true, ..Scene::default() };
    let seen = stage.play(&scene, &[stage.write(), stage.read()]);
    assert_eq!(seen.shift.asked.len(), 1, "{:?}", seen.shift.asked);
    assert_eq!((seen.writes(), stage.disk().as_str()), (0, BEFORE));
    assert!(seen.results[0].contains("did NOT execute the tool"), "the model read {:?}", seen.results);
    assert_eq!(seen.shift.refused.len(), 1, "a late approval was not refused");
    "answered before the limit; a later approval is refused and runs nothing".into()
}

/// The wrapper does not know the limit: the host gives up on its own, unless progress keeps it waiting.
fn waits_past_the_limit(stage: &Stage) -> String {
    let verdict = OperatorVerdict::Approve { unread: false };
    let scene = Scene { verdict, after: 14, limit: Some(8), ..Scene::default() };
    let seen = stage.play(&scene, &[stage.write(), stage.read()]);
    assert_eq!(seen.shift.asked.len(), 1, "{:?}", seen.shift.asked);
    let told = &seen.results[0];
    let what = if told.contains("Successfully wrote") {
        assert_eq!((seen.writes(), stage.disk().as_str()), (1, AFTER));
        "progress kept it waiting: approved after the limit, ran once; the model reads".to_owned()
    } else {
        assert_eq!((seen.writes(), stage.disk().as_str()), (0, BEFORE), "the model read {told:?}");
        assert_eq!(seen.shift.refused.len(), 1, "a late approval was not refused");
        "gave up; a later approval is refused and runs nothing; the model reads".to_owned()
    };
    format!("{what} {:?}", told.chars().take(160).collect::<String>())
}

fn killed(stage: &Stage) -> String {
    let verdict = OperatorVerdict::Approve { unread: false };
    let scene = Scene { verdict, after: 5, kill: true, ..Scene::default() };
    let seen = stage.play(&scene, &[stage.write()]);
    assert_eq!((seen.writes(), stage.disk().as_str()), (0, BEFORE));
    assert_eq!(seen.shift.refused.len(), 1, "a late approval was not refused");
    "withdrawn; a later approval is refused; wrapper and server are gone".into()
}

/// How one task is played.
struct Scene {
    verdict: OperatorVerdict,
    /// How many seconds the operator takes.
    after: u64,
    /// After how many seconds the host gives up, as its configuration says.
    limit: Option<u64>,
    /// Whether the wrapper was told of that limit.
    known: bool,
    /// Whether the host is killed once a call waits.
    kill: bool,
}

impl Default for Scene {
    fn default() -> Self {
        let verdict = OperatorVerdict::Deny { reason: REASON.into() };
        Self { verdict, after: 0, limit: None, known: false, kill: false }
    }
}

/// What one task left behind.
struct Seen {
    shift: Shift,
    /// What the model read of each call, in the end.
    results: Vec<String>,
    /// By process, on the host's side of the wrapper, and on the server's side.
    outside: Vec<(u32, Transcript)>,
    inside: Vec<(u32, Transcript)>,
}

impl Seen {
    /// How many writes reached a server.
    fn writes(&self) -> usize {
        self.inside.iter().map(|(_, transcript)| transcript.calls_of("write_file")).sum()
    }
}

/// One agent with a home, a working folder and a file, all temporary.
struct Stage {
    agent: Agent,
    folder: TempDir,
}

impl Stage {
    fn new(agent: Agent) -> Self {
        let stage = Self { agent, folder: tempfile::tempdir().unwrap() };
        fs::create_dir(stage.path("home")).unwrap();
        fs::create_dir(stage.path("work")).unwrap();
        fs::write(stage.path("work/a.txt"), BEFORE).unwrap();
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn disk(&self) -> String {
        content(&self.path("work/a.txt"))
    }

    fn read(&self) -> Value {
        let arguments = json!({ "path": self.path("work/a.txt") });
        json!({ "server": SERVER, "tool": "read_text_file", "arguments": arguments, "pause": 0 })
    }

    fn write(&self) -> Value {
        let arguments = json!({ "path": self.path("work/a.txt"), "content": AFTER });
        json!({ "server": SERVER, "tool": "write_file", "arguments": arguments })
    }

    /// Has the agent do what the model wants, to the agent's end and to that of everything it started.
    fn play(&self, scene: &Scene, steps: &[Value]) -> Seen {
        let (home, work) = (self.path("home"), self.path("work"));
        let (outside, inside) = (fresh(self.folder.path(), "outside"), fresh(self.folder.path(), "inside"));
        let mut steps = steps.to_vec();
        if let Some(later) = steps.get_mut(1) {
            later["pause"] = json!(PAUSE);
        }
        let model = Model::start(self.folder.path(), &steps);
        let limit = scene.limit.filter(|_| scene.known).map(|seconds| format!("--host-timeout={seconds}s"));
        let wrapper = [env!("CARGO_BIN_EXE_mcp-approve"), "--home", home.to_str().unwrap(), "--name", SERVER];
        let wrapper: Vec<String> = wrapper.map(String::from).into_iter().chain(limit).chain(["--".into()]).collect();
        let mut server = bed().npm("server-filesystem");
        server.push(work.to_str().unwrap().into());
        let command = [&wrapper[..], &bed().recorded(&inside, &server)].concat();
        // A recorder between host and wrapper would take the blow of a killed host.
        let command = if scene.kill { command } else { bed().recorded(&outside, &command) };
        self.agent.configure(&home, model.port, &command, scene.limit);

        let file = work.join("a.txt");
        let manner = Manner { verdict: scene.verdict.clone(), after: Duration::from_secs(scene.after) };
        let operator = Operator::attach(&home, manner, move || content(&file));
        let mut host = Host::start(self.agent.command(&home, &work, model.port), &self.path("said"));
        if scene.kill {
            let wrapper = operator.asked().wrapper;
            kill_ancestors(wrapper);
            gone(wrapper);
        } else {
            host.ends();
        }
        let shift = operator.leave();
        let seen = Seen {
            shift,
            results: model.results(),
            outside: Transcript::all(&outside),
            inside: Transcript::all(&inside),
        };
        for (process, _) in seen.outside.iter().chain(&seen.inside) {
            gone(*process);
        }
        assert_eq!(seen.results.len(), if scene.kill { 0 } else { steps.len() }, "{:?}", seen.results);
        run(Command::new(env!("CARGO_BIN_EXE_mcp-approve")).arg("--home").arg(home).args(["log", "verify"]));
        seen
    }

    /// What the agent wanted of the network beyond the model.
    fn reached(&self) -> Vec<String> {
        let text = content(&self.path("model.log"));
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.filter_map(|line| line["reached"].as_str().map(String::from)).collect()
    }

    /// The end of what the agent printed.
    fn last_words(&self) -> String {
        let text = content(&self.path("said")) + &content(&self.path("said.err"));
        text.chars().skip(text.chars().count().saturating_sub(400)).collect()
    }
}

/// The fake model, for one task.
struct Model {
    process: Child,
    port: u16,
    log: PathBuf,
}

impl Model {
    fn start(folder: &Path, steps: &[Value]) -> Self {
        let (script, log) = (folder.join("steps.json"), folder.join("model.log"));
        fs::write(&script, json!(steps).to_string()).unwrap();
        let mut process = bed().model().arg(script).arg(&log).stdout(Stdio::piped()).spawn().unwrap();
        let mut port = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Self { process, port: port.trim().parse().unwrap(), log }
    }

    /// What the model read of each call, in the longest conversation.
    fn results(&self) -> Vec<String> {
        let log = content(&self.log);
        let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let results = lines.filter_map(|line| line["results"].as_array().cloned()).max_by_key(Vec::len);
        results.unwrap_or_default().iter().map(|result| result.as_str().unwrap().into()).collect()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A running agent with all that it starts: one process group, ended with it.
struct Host(Child);

impl Host {
    fn start(mut command: Command, said: &Path) -> Self {
        use std::os::unix::process::CommandExt;
        let (out, err) = (File::create(said).unwrap(), File::create(said.with_extension("err")).unwrap());
        Self(command.process_group(0).stdin(Stdio::null()).stdout(out).stderr(err).spawn().unwrap())
    }

    fn ends(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        while self.0.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "the agent did not end");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        let _ = self.0.wait();
    }
}

/// Kills every process between this test and `process`: the host, however many processes it is.
fn kill_ancestors(process: u32) {
    let mut ancestors = Vec::new();
    let mut at = parent(process);
    while at != std::process::id() && at > 1 {
        ancestors.push(at);
        at = parent(at);
    }
    assert_eq!(at, std::process::id(), "the wrapper is not below this test");
    for host in ancestors {
        let _ = kill_process(Pid::from_raw(i32::try_from(host).unwrap()).unwrap(), Signal::KILL);
    }
}

/// The state of a process and its parent, while there is one.
fn stat(process: u32) -> Option<(String, u32)> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut words = text.rsplit_once(')')?.1.split_whitespace();
    Some((words.next()?.into(), words.next()?.parse().ok()?))
}

fn parent(process: u32) -> u32 {
    stat(process).map_or(0, |(_, parent)| parent)
}

/// Waits until a process is gone, or a zombie that its parent has not buried.
fn gone(process: u32) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while stat(process).is_some_and(|(state, _)| state != "Z") {
        assert!(Instant::now() < deadline, "process {process} was left behind");
        thread::sleep(Duration::from_millis(20));
    }
}
