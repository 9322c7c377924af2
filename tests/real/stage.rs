//! One agent at work on one task: its temporary home, the fake model, the wrapper by hand or by `install`, the operator,
//! and what all of them left behind. Owns no case; `hosts.rs` has those.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use mcp_approve::link::message::OperatorVerdict;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::agent::{Agent, SERVER, Server};
use super::bed::{bed, run};
use super::operator::{Manner, Operator, Shift};
use super::play::{Transcript, fresh};
use super::{REASON, content};

/// What the file says before and after the write.
pub const BEFORE: &str = "as it was\n";
pub const AFTER: &str = "as it is\n";
/// How long an agent may take for one task on a busy machine.
const PATIENCE: Duration = Duration::from_mins(3);
/// How long the model thinks between two calls where a late decision must find the wrapper alive, in seconds.
const PAUSE: u64 = 12;

/// How the wrapper gets in front of the server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The agent's file names it.
    Hand,
    /// `install` changes the agent's file.
    Install,
}

/// How one task is played.
pub struct Scene {
    pub way: Way,
    pub verdict: OperatorVerdict,
    /// How many seconds the operator takes.
    pub after: u64,
    /// After how many seconds the host gives up, as its configuration says.
    pub limit: Option<u64>,
    /// Whether the wrapper was told of that limit.
    pub known: bool,
    /// Whether the host is killed once a call waits.
    pub kill: bool,
}

impl Default for Scene {
    fn default() -> Self {
        let verdict = OperatorVerdict::Deny { reason: REASON.into() };
        Self { way: Way::Hand, verdict, after: 0, limit: None, known: false, kill: false }
    }
}

/// What one task left behind.
pub struct Seen {
    pub shift: Shift,
    /// What the model read of each call, in the end.
    pub results: Vec<String>,
    /// By process, on the host's side of the wrapper, and on the server's side.
    pub outside: Vec<(u32, Transcript)>,
    pub inside: Vec<(u32, Transcript)>,
}

impl Seen {
    /// How many writes reached a server.
    pub fn writes(&self) -> usize {
        self.inside.iter().map(|(_, transcript)| transcript.calls_of("write_file")).sum()
    }
}

/// One agent with a home, a working folder and a file, all temporary.
pub struct Stage {
    pub agent: Agent,
    folder: TempDir,
}

impl Stage {
    /// An agent that has not run yet.
    pub fn new(agent: Agent) -> Self {
        let stage = Self { agent, folder: tempfile::tempdir().unwrap() };
        fs::create_dir(stage.path("home")).unwrap();
        fs::create_dir(stage.path("work")).unwrap();
        fs::write(stage.path("work/a.txt"), BEFORE).unwrap();
        stage
    }

    /// A path in its temporary folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What the file of the tasks says.
    pub fn disk(&self) -> String {
        content(&self.path("work/a.txt"))
    }

    /// The call that reads the file.
    pub fn read(&self) -> Value {
        let arguments = json!({ "path": self.path("work/a.txt") });
        json!({ "server": SERVER, "tool": "read_text_file", "arguments": arguments, "pause": 0 })
    }

    /// The call that replaces it.
    pub fn write(&self) -> Value {
        let arguments = json!({ "path": self.path("work/a.txt"), "content": AFTER });
        json!({ "server": SERVER, "tool": "write_file", "arguments": arguments })
    }

    /// Has the agent do what the model wants, to the agent's end and to that of everything it started.
    pub fn play(&self, scene: &Scene, steps: &[Value]) -> Seen {
        let (home, work) = (self.path("home"), self.path("work"));
        let (outside, inside) = (fresh(self.folder.path(), "outside"), fresh(self.folder.path(), "inside"));
        let mut steps = steps.to_vec();
        if let Some(later) = steps.get_mut(1).filter(|_| scene.after > 0) {
            later["pause"] = json!(PAUSE);
        }
        let model = Model::start(self.folder.path(), &steps);
        let limit = scene.limit.filter(|_| scene.known).map(|seconds| format!("--host-timeout={seconds}s"));
        let wrapper = [env!("CARGO_BIN_EXE_mcp-approve"), "--home", home.to_str().unwrap(), "--name", SERVER];
        let wrapper: Vec<String> = wrapper.map(String::from).into_iter().chain(limit).chain(["--".into()]).collect();
        let mut server = bed().npm("server-filesystem");
        server.push(work.to_str().unwrap().into());
        let command = [&wrapper[..], &bed().recorded(&inside, &server)].concat();
        let configure = |command: &[String]| {
            self.agent.configure(&home, model.port, Some(&Server { command, limit: scene.limit }));
        };
        match scene.way {
            Way::Install => {
                let command = bed().recorded(&inside, &server);
                match self.agent.adds(&home, &command) {
                    Some(mut adds) => {
                        self.agent.configure(&home, model.port, None);
                        run(adds.current_dir(&work));
                    }
                    None => configure(&command),
                }
                fs::write(self.path("before"), self.file()).unwrap();
                self.install_and_move();
            }
            // A recorder between host and wrapper would take the blow of a killed host.
            Way::Hand if scene.kill => configure(&command),
            Way::Hand => configure(&bed().recorded(&outside, &command)),
        }

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

    /// The agent's file of servers.
    pub fn file(&self) -> String {
        content(&self.path("home").join(self.agent.file()))
    }

    /// Installs twice, moves the program away as an update does, and repairs what that breaks.
    fn install_and_move(&self) {
        let (old, new) = (self.path("v1").join("mcp-approve"), self.path("v2").join("mcp-approve"));
        fs::create_dir(self.path("v1")).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_mcp-approve"), &old).unwrap();
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let mut install = vec!["install".to_owned(), "--all".into(), "--program".into(), text(&old)];
        // It would ask a second time about what comes from a server of the user's, and here there is nobody to answer.
        install.extend((self.agent == Agent::Codex).then(|| "--codex-approve".to_owned()));
        self.product(&install);
        let installed = self.file();
        assert!(installed.contains(&text(&old)), "{installed}");
        self.product(&install);
        assert_eq!(self.file(), installed, "a second `install` changed the file");
        fs::rename(self.path("v1"), self.path("v2")).unwrap();
        let doctor = self.command(&["doctor".to_owned()]).output().unwrap();
        let said = String::from_utf8(doctor.stdout).unwrap();
        assert!(doctor.status.code() == Some(1) && said.contains("is gone"), "{said}");
        self.product(&["install".to_owned(), "--repair".into(), "--program".into(), text(&new)]);
        assert_eq!(self.file(), installed.replace(&text(&old), &text(&new)));
        fs::write(self.path("installed"), self.file()).unwrap();
    }

    /// Unwraps all servers of this home.
    pub fn uninstall(&self) {
        self.product(&["uninstall".to_owned(), "--all".into()]);
        assert!(!self.file().contains(self.path("v2").to_str().unwrap()), "uninstalled, and still there");
    }

    fn product(&self, words: &[String]) {
        run(&mut self.command(words));
    }

    /// The product's command on the hosts of this home.
    fn command(&self, words: &[String]) -> Command {
        let home = self.path("home");
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-approve"));
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).current_dir(self.path("work"));
        command.args(words).arg("--home").arg(&home).arg("--hosts-home").arg(&home);
        command
    }

    /// What the agent wanted of the network beyond the model.
    pub fn reached(&self) -> Vec<String> {
        let text = content(&self.path("model.log"));
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.filter_map(|line| line["reached"].as_str().map(String::from)).collect()
    }

    /// The end of what the agent printed.
    pub fn last_words(&self) -> String {
        let text = content(&self.path("said")) + &content(&self.path("said.err"));
        text.chars().skip(text.chars().count().saturating_sub(400)).collect()
    }
}

/// What an agent left running beside itself (Cline starts a daemon) ends with its home.
impl Drop for Stage {
    fn drop(&mut self) {
        let home = format!("HOME={}", self.path("home").display());
        for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let is_of_this = fs::read(process.path().join("environ"))
                .is_ok_and(|variables| variables.split(|byte| *byte == 0).any(|one| one == home.as_bytes()));
            let id = process.file_name().to_str().and_then(|name| Pid::from_raw(name.parse().ok()?));
            if let Some(id) = id.filter(|_| is_of_this) {
                let _ = kill_process(id, Signal::KILL);
            }
        }
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
