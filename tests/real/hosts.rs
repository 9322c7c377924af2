//! Real agents in front of the wrapper, with a fake model on loopback behind them: no account, no network but npm's.
//! `.ci/run hosts` runs it and prints one row per agent and case; `AGENTS="codex cline"` chooses some.
//!
//! Whatever an agent does about time and signals: what the model reads is what happened, and nothing runs twice or late.

use std::any::Any;
use std::collections::{BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use mcp_approve::link::message::OperatorVerdict;
use serde_json::Value;

use super::agent::Agent;
use super::bed::bed;
use super::stage::{AFTER, BEFORE, Scene, Stage, Way};
use super::{REASON, content};

/// Tries one thing with an agent, and says what was seen.
type Case = fn(&Stage) -> String;

/// What is tried with every agent.
const CASES: [(&str, Case); 7] = [
    ("a read passes", reads),
    ("an approved write", approved_write),
    ("a denied write", denied_write),
    ("a wait up to the limit of the host", waits_to_the_limit),
    ("a wait past the limit of the host", waits_past_the_limit),
    ("the host is killed while a call waits", killed),
    ("`install`, a moved program, `--repair`, a task, `uninstall`", installed),
];

/// How many agents run at once.
const LANES: usize = 3;

#[test]
#[ignore = "installs a gigabyte of agents; `.ci/run hosts` runs it"]
fn every_agent_is_told_what_happened() {
    bed().agents();
    let wanted = std::env::var("AGENTS").unwrap_or_default();
    let chosen = Agent::ALL.into_iter().filter(|agent| wanted.is_empty() || wanted.contains(agent.program_name()));
    let left = Mutex::new(chosen.collect::<VecDeque<_>>());
    // Some at a time: each agent is several busy processes, and the cases have to do with time.
    let work = || {
        std::iter::from_fn(|| left.lock().unwrap().pop_front()).map(|agent| (agent, rows(agent))).collect::<Vec<_>>()
    };
    let mut agents: Vec<_> = thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES).map(|_| scope.spawn(work)).collect();
        lanes.into_iter().flat_map(|lane| lane.join().unwrap()).collect()
    });
    agents.sort_by_key(|(agent, _)| *agent);
    println!("\n| agent | case | result | time | what was seen |\n|---|---|---|---|---|");
    for row in agents.iter().flat_map(|(_, (rows, _))| rows) {
        println!("{row}");
    }
    println!();
    for (agent, (_, reached)) in &agents {
        println!("{} also asked for: {}", agent.title(), if reached.is_empty() { "nothing" } else { reached });
    }
    let failed = agents.iter().flat_map(|(_, (rows, _))| rows).filter(|row| row.contains("| FAIL |")).count();
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
    } else if stage.agent == Agent::Cline {
        // It does not cancel what it gave up, so only a wrapper that knows the limit can keep a late approval from running.
        assert_eq!((seen.writes(), stage.disk().as_str(), seen.shift.refused.len()), (1, AFTER, 0));
        "gave up WITHOUT cancelling: a later approval ran it, as `help hosts` says; the model reads".to_owned()
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

/// The product's own way in and out, of a file that the agent's own command made where it has one.
fn installed(stage: &Stage) -> String {
    let scene = Scene { way: Way::Install, ..Scene::default() };
    let seen = stage.play(&scene, &[stage.read(), stage.write()]);
    assert_eq!(seen.shift.asked.len(), 1, "{:?}", seen.shift.asked);
    assert_eq!((seen.writes(), stage.disk().as_str()), (0, BEFORE));
    assert!(seen.results[0].contains(BEFORE.trim()), "the model read {:?}", seen.results);
    assert!(seen.results[1].contains(REASON), "the model read {:?}", seen.results);
    let (before, used) = (content(&stage.path("before")), stage.file());
    stage.uninstall();
    let after = stage.file();
    if used == content(&stage.path("installed")) {
        assert_eq!(after, before, "the file is not what it was");
        return "a read passes, a write waits; then the file is what it was, to the byte".into();
    }
    // The agent wrote to its file too: nothing but the servers is set back.
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let (mut expected, key) = (read(&used), if stage.agent == Agent::Opencode { "mcp" } else { "mcpServers" });
    expected[key] = read(&before)[key].clone();
    assert_ne!(expected[key], Value::Null);
    assert_eq!(read(&after), expected);
    "a read passes, a write waits; then the servers are what they were, in a file that the agent changed meanwhile"
        .into()
}
