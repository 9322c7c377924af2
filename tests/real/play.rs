//! One play: an official client over a recorded wrapper over a recorded server, and the same without the wrapper.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use mcp_approve::link::message::OperatorVerdict;
use serde_json::{Value, json};

use super::bed::{Client, bed};
use super::operator::{Asked, Manner, Operator};

/// One call, by tool and arguments.
pub type Call = (&'static str, Value);

/// What a play left behind.
pub struct Played {
    /// The revision that client and server agreed on.
    pub revision: String,
    /// How many tools the client was told of.
    pub tools: u64,
    /// One object per call, as `drive.mjs` and `drive.py` print them.
    pub answers: Vec<Value>,
    pub asked: Vec<Asked>,
    /// On the host's side of the wrapper.
    pub outside: Transcript,
    /// On the server's side of the wrapper.
    pub inside: Transcript,
}

/// Every byte in both directions of the session that listed tools.
#[derive(Debug, PartialEq, Eq)]
pub struct Transcript {
    pub to: String,
    pub from: String,
}

/// Plays `calls` through the wrapper, with an operator who decides everything by `verdict`.
pub fn wrapped(
    folder: &Path,
    client: Client,
    server: &[String],
    calls: &[Call],
    verdict: OperatorVerdict,
    look: impl Fn() -> String + Send + 'static,
) -> Played {
    wrapped_with(folder, client, &[], server, calls, verdict, look)
}

/// The same, with more options for the wrapper.
pub fn wrapped_with(
    folder: &Path,
    client: Client,
    options: &[&str],
    server: &[String],
    calls: &[Call],
    verdict: OperatorVerdict,
    look: impl Fn() -> String + Send + 'static,
) -> Played {
    let manner = Manner { verdict, after: Duration::ZERO };
    slowly(folder, (client, server), options, calls, (manner, None), look)
}

/// The same with an operator who takes some time, and a client that waits for so many seconds.
pub fn slowly(
    folder: &Path,
    (client, server): (Client, &[String]),
    options: &[&str],
    calls: &[Call],
    (manner, limit): (Manner, Option<u64>),
    look: impl Fn() -> String + Send + 'static,
) -> Played {
    let home = folder.join("home");
    allow_reads(&home);
    let (outside, inside) = (fresh(folder, "outside"), fresh(folder, "inside"));
    let wrapper = [&[env!("CARGO_BIN_EXE_mcp-approve"), "--home", home.to_str().unwrap()], options, &["--"]].concat();
    let wrapper: Vec<String> = wrapper.into_iter().map(String::from).collect();
    let command = [wrapper, bed().recorded(&inside, server)].concat();
    let operator = Operator::attach(&home, manner, look);
    let plan = plan(folder, client, &bed().recorded(&outside, &command), calls, limit);
    let Drove { revision, tools, answers } = drove(folder, client, &plan, calls.len());
    Played {
        revision,
        tools,
        answers,
        asked: operator.leave().asked,
        outside: Transcript::read(&outside),
        inside: Transcript::read(&inside),
    }
}

/// Plays `calls` without the wrapper.
pub fn direct(folder: &Path, client: Client, server: &[String], calls: &[Call]) -> Transcript {
    let records = fresh(folder, "direct");
    drive(folder, client, &bed().recorded(&records, server), calls);
    Transcript::read(&records)
}

/// What a client was told.
pub struct Drove {
    pub revision: String,
    pub tools: u64,
    /// An object per call.
    pub answers: Vec<Value>,
}

/// Has a client play `calls` over a command.
pub fn drive(folder: &Path, client: Client, command: &[String], calls: &[Call]) -> Drove {
    drove(folder, client, &plan(folder, client, command, calls, None), calls.len())
}

fn drove(folder: &Path, client: Client, plan: &Path, calls: usize) -> Drove {
    let said = run_out(bed().driver(client, plan), &folder.join("said"), &[0]);
    let drove = Drove::read(&said);
    assert_eq!(drove.answers.len(), calls, "{said}");
    drove
}

/// Writes what a client is to play, and for how many seconds it waits for a call.
pub fn plan(folder: &Path, client: Client, command: &[String], calls: &[Call], limit: Option<u64>) -> PathBuf {
    let steps: Vec<Value> =
        calls.iter().map(|(tool, arguments)| json!({ "tool": tool, "arguments": arguments })).collect();
    let plan = folder.join("plan.json");
    let text = json!({ "client": client.name(), "command": command, "steps": steps, "limit": limit });
    fs::write(&plan, text.to_string()).unwrap();
    plan
}

impl Drove {
    /// Reads what a driver printed.
    pub fn read(said: &str) -> Self {
        let mut lines = said.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let first = lines.next().unwrap();
        Self {
            revision: first["revision"].as_str().unwrap_or_default().into(),
            tools: first["tools"].as_u64().unwrap(),
            answers: lines.collect(),
        }
    }
}

/// Runs a client to its end, which must be one of `ends`, and takes what it printed. Through files: an orphan that kept the pipe would hang us.
pub fn run_out(mut client: Command, said: &Path, ends: &[i32]) -> String {
    let words = said.with_extension("err");
    let mut running = client
        .stdin(Stdio::null())
        .stdout(File::create(said).unwrap())
        .stderr(File::create(&words).unwrap())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_mins(2);
    let status = loop {
        if let Some(status) = running.try_wait().unwrap() {
            break status;
        }
        if Instant::now() > deadline {
            running.kill().unwrap();
            panic!("the client hangs: {}", fs::read_to_string(words).unwrap());
        }
        thread::sleep(Duration::from_millis(20));
    };
    assert!(
        status.code().is_some_and(|code| ends.contains(&code)),
        "the client failed: {}",
        fs::read_to_string(words).unwrap()
    );
    fs::read_to_string(said).unwrap()
}

/// An empty folder for records.
pub fn fresh(folder: &Path, name: &str) -> PathBuf {
    let records = folder.join(name);
    let _ = fs::remove_dir_all(&records);
    fs::create_dir_all(&records).unwrap();
    records
}

impl Transcript {
    /// The records of the one process that was asked for its tools; a probing sibling was not.
    fn read(records: &Path) -> Self {
        let mut found = Self::all(records);
        found.retain(|(_, transcript)| transcript.to.contains("\"tools/list\""));
        assert_eq!(found.len(), 1, "sessions in {}", records.display());
        found.remove(0).1
    }

    /// The records of every process, with its id.
    pub fn all(records: &Path) -> Vec<(u32, Self)> {
        fs::read_dir(records)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|end| end == "to"))
            .map(|to| {
                let process = to.file_stem().and_then(|stem| stem.to_str()).unwrap().parse().unwrap();
                let from = fs::read_to_string(to.with_extension("from")).unwrap_or_default();
                (process, Self { to: fs::read_to_string(to).unwrap(), from })
            })
            .collect()
    }

    /// The calls of one tool that went to the server.
    pub fn calls_of(&self, tool: &str) -> usize {
        let calls = |line: &&str| {
            let message: Value = serde_json::from_str(line).unwrap_or_default();
            message["method"] == "tools/call" && message["params"]["name"] == tool
        };
        self.to.lines().filter(calls).count()
    }

    /// Whether this side of the wrapper got what the other side sent, byte for byte. A server may still talk when the
    /// host has stopped listening.
    pub fn relays(&self, inside: &Self) -> bool {
        self.to == inside.to && inside.from.starts_with(&self.from)
    }

    /// The same lines in any order: notifications come when they come.
    pub fn sorted(&self) -> [Vec<&str>; 2] {
        [&self.to, &self.from].map(|text| {
            let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
            lines.sort_unstable();
            lines
        })
    }
}

/// What is new in these reads is allowed beforehand: what a call with something new does is tested elsewhere.
fn allow_reads(home: &Path) {
    let (config, file) = (home.join("config"), home.join("config/policy.toml"));
    if file.exists() {
        return;
    }
    fs::create_dir_all(&config).unwrap();
    fs::set_permissions(home, fs::Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(&config, fs::Permissions::from_mode(0o700)).unwrap();
    let tools = r#"["read_note", "get_sum", "get-sum", "get-structured-content", "read_query"]"#;
    fs::write(&file, format!("version = 1\n[[rule]]\nid = \"reads\"\ndecision = \"allow\"\ntool = {tools}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
}
