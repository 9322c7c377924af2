//! Whoever is killed, and whenever: the log has every call that ran, every call is answered once, nobody hangs.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use mcp_approve::audit::fields::{Field, Record};
use mcp_approve::audit::query;
use mcp_approve::audit::record::Kind;
use mcp_approve::audit::search::Search;
use mcp_approve::audit::store::Reader;
use mcp_approve::wire::digest::Digest;
use serde_json::{Value, json};

use crate::bed::{Measured, Run, grouped, in_parallel};
use crate::fake::host::Host;
use crate::fake::server::{Server, reader, writer};
use crate::fake::{log, processes};
use crate::players::{self, Console};

/// Wrappers at work at the same time.
const SIDE_BY_SIDE: u64 = 6;

/// Lets one of the two writing tools run unasked, so that synced decisions are among those that a kill hits.
pub const POLICY: &str = "version = 1\n[[rule]]\nid = \"free\"\ndecision = \"allow\"\ntool = \"write\"\n";

/// A home with a policy file in it.
pub fn home() -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let policy = home.path().join("test-policy.toml");
    fs::write(&policy, POLICY).unwrap();
    (home, policy)
}

/// The digest of a line as the log has it.
pub fn digest(line: &str) -> String {
    Digest::of(line.trim_end_matches('\n').as_bytes()).to_string()
}

/// What the log says of decisions: digest to verdict and who gave it.
pub fn decisions(db: &Path) -> HashMap<String, (String, String)> {
    let Some(reader) = Reader::open(db).unwrap() else { return HashMap::new() };
    let search = Search::default().with(Field::Kind, Some(Kind::Decision.word()));
    let found = query::last(&reader, None, &search, usize::MAX).unwrap();
    let decision = |row: &Record| {
        let fields = row.fields()?;
        Some((fields.digest?, (fields.verdict?, fields.by?)))
    };
    found.iter().map(|row| decision(row).expect("a decision")).collect()
}

/// How many of the lines that ran have no approval in the log.
pub fn unrecorded(db: &Path, executed: &[String]) -> usize {
    let decisions = decisions(db);
    executed.iter().filter(|line| decisions.get(&digest(line)).is_none_or(|(verdict, _)| verdict != "approve")).count()
}

fn call(id: u64, tool: &str, text: &str) -> String {
    let params = json!({ "name": tool, "arguments": { "text": text } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string() + "\n"
}

const HANDSHAKE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":"l","method":"tools/list"}"#,
    "\n"
);

/// R1. Each worker has a home of its own with a console that approves; each of its wrappers is killed in the middle.
pub fn wrapper(run: &Run) -> Measured {
    let each = run.of(1_002).div_ceil(SIDE_BY_SIDE);
    let done = in_parallel(SIDE_BY_SIDE, SIDE_BY_SIDE, |worker| {
        let mut chance = run.chance(worker);
        let (home, policy) = home();
        let db = home.path().join("state/audit.db");
        let server = Server::with(&[reader("read"), writer("write"), writer("ask")]);
        let _console = Console::open(home.path(), |_| Some(players::approve()));
        let (mut kills, mut rounds, mut id, mut missing, mut acted) = (0, 0_u64, 0, 0, 0);
        while kills < each {
            rounds += 1;
            assert!(rounds < each * 5, "the kills come too late: {kills} of {rounds} hit a call in flight");
            let options = ["--name", "s", "--policy", policy.to_str().unwrap()];
            let mut host = Host::wrapping(home.path(), &options, &server.command());
            let mut text = HANDSHAKE.to_owned();
            let (first, calls) = (id, 1 + chance.below(40) as u64);
            for _ in 0..calls {
                id += 1;
                let tool = ["read", "read", "write", "ask"][chance.below(4)];
                text += &call(id, tool, &format!("{worker} {id}"));
            }
            host.send_bytes(text.as_bytes());
            // Now and then at any moment; else a moment after some answer, however busy the machine is.
            let mut lines = Vec::new();
            if chance.one_in(5) {
                thread::sleep(Duration::from_millis(3) + chance.millis(40));
            } else {
                let seen = 1 + chance.below(usize::try_from(calls).unwrap());
                let until = Instant::now() + Duration::from_secs(2);
                while lines.len() < seen && Instant::now() < until {
                    lines.extend(host.so_far());
                    thread::sleep(Duration::from_micros(200));
                }
                thread::sleep(chance.millis(3));
            }
            host.signal("KILL");
            host.wait();
            // The server shares our pipe for words: they end with it, and so does its list.
            let _ = host.last_words();
            lines.extend(host.rest());
            let answered: HashSet<u64> =
                lines.iter().filter_map(|line| serde_json::from_slice::<Value>(line).ok()?["id"].as_u64()).collect();
            let in_flight = (first + 1..=id).filter(|id| !answered.contains(id)).count();
            kills += u64::from(in_flight > 0);
            // Killed early enough, none has made a log yet; then nothing may have run either.
            if rounds.is_multiple_of(40) && db.exists() {
                log::verifies(home.path());
            }
        }
        let executed = server.executed();
        acted += executed.len();
        missing += unrecorded(&db, &executed);
        if db.exists() {
            log::verifies(home.path());
        }
        (kills, acted, missing)
    });
    let kills: u64 = done.iter().map(|(kills, ..)| kills).sum();
    let acted: usize = done.iter().map(|(_, acted, _)| acted).sum();
    let missing: usize = done.iter().map(|(.., missing)| missing).sum();
    let text = format!("{missing} of {} kills; {} calls acted upon", grouped(kills), grouped(acted as u64));
    Measured::held(missing == 0 && kills >= run.of(1_000) && acted > 0, format!("{text}; every chain verifies"))
}

/// R2. A server that never answers is killed while calls wait for it, are being decided, or are on their way.
pub fn server(run: &Run) -> Measured {
    let rounds = run.of(200);
    let done = in_parallel(4, rounds, |round| {
        let mut chance = run.chance(round);
        let (home, policy) = home();
        let server = Server::with(&[reader("read"), writer("write")]).silent("*");
        let pids = home.path().join("pids");
        let script = "echo $$ > \"$0\"; exec \"$@\"";
        let mut command = Command::new(crate::fake::BINARY);
        command.arg("--home").arg(home.path()).args(["--name", "s", "--policy"]).arg(&policy);
        command.args(["--", "sh", "-c", script]).arg(&pids).args(server.command());
        let mut host = Host::over(command);
        host.handshake("2025-11-25");
        let calls = 1 + chance.below(12) as u64;
        let text: String =
            (1..=calls).map(|id| call(id, ["read", "write"][chance.below(2)], &format!("{id}"))).collect();
        host.send_bytes(text.as_bytes());
        thread::sleep(chance.millis(12));
        let killed = Instant::now();
        processes::kill(processes::awaits(&pids, 1)[0]);
        host.wait();
        let took = killed.elapsed();
        let mut answers: BTreeMap<u64, usize> = BTreeMap::new();
        for line in host.rest() {
            let answer: Value = serde_json::from_slice(&line).unwrap();
            if let Some(id) = answer["id"].as_u64() {
                assert!(answer["result"]["isError"] == true || answer.get("error").is_some(), "{answer}");
                *answers.entry(id).or_default() += 1;
            }
        }
        let once = (1..=calls).all(|id| answers.get(&id) == Some(&1)) && answers.len() as u64 == calls;
        let unrecorded = unrecorded(&home.path().join("state/audit.db"), &server.executed());
        let what = format!("{calls} calls, answers {answers:?}, {unrecorded} unrecorded, {}", host.last_words().trim());
        (once && unrecorded == 0, took, what)
    });
    let good = done.iter().filter(|(good, ..)| *good).count() as u64;
    let slowest = done.iter().map(|(_, took, _)| *took).max().unwrap_or_default();
    let met = good == rounds && slowest < Duration::from_secs(4);
    let bad = done.iter().find(|(good, ..)| !good).map_or_else(String::new, |(.., what)| format!("; {what}"));
    Measured::held(met, format!("{good} of {rounds}; the slowest end took {:.2} s{bad}", slowest.as_secs_f64()))
}

/// R3. Consoles in processes of their own decide, and are killed while they do; the wrapper goes on with the next.
pub fn console(run: &Run) -> Measured {
    const WORKERS: u64 = 3;
    let each = run.of(300).div_ceil(WORKERS);
    let done = in_parallel(WORKERS, WORKERS, |worker| {
        let mut chance = run.chance(worker);
        let (home, _) = home();
        let server = Server::with(&[writer("ask")]);
        let mut host = Host::wrapping(home.path(), &["--name", "s"], &server.command());
        host.handshake("2025-11-25");
        let (mut id, mut answered, mut busy) = (0, 0, 0);
        for round in 0..each {
            let mut console = players::process(&["console", home.path().to_str().unwrap(), &round.to_string()]);
            let mut console = console.spawn().unwrap();
            let text: String = (0..1 + chance.below(20))
                .map(|_| {
                    id += 1;
                    call(id, "ask", &format!("{worker} {id}"))
                })
                .collect();
            host.send_bytes(text.as_bytes());
            // From the start of a console to the middle of its decisions.
            thread::sleep(Duration::from_millis(5) + chance.millis(40));
            console.kill().unwrap();
            console.wait().unwrap();
            answered += answers(&mut host);
            busy += u64::from(answered < id && answered > 0);
        }
        let _last = Console::open(home.path(), |_| Some(players::deny()));
        let all = crate::bed::comes(Duration::from_secs(30), || {
            answered += answers(&mut host);
            answered >= id
        });
        assert!(all && answered == id, "{answered} answers to {id} calls");
        host.hang_up();
        host.wait();
        let executed = server.executed();
        let once: HashSet<&String> = executed.iter().collect();
        let decisions = decisions(&home.path().join("state/audit.db"));
        let by_operator = |line: &&String| {
            decisions.get(&digest(line)).is_some_and(|(verdict, by)| verdict == "approve" && by == "operator")
        };
        let bad = executed.len() - executed.iter().filter(by_operator).count() + executed.len() - once.len();
        log::verifies(home.path());
        (bad, executed.len(), busy)
    });
    let bad: usize = done.iter().map(|(bad, ..)| bad).sum();
    let ran: usize = done.iter().map(|(_, ran, _)| ran).sum();
    let busy: u64 = done.iter().map(|(.., busy)| busy).sum();
    let kills = each * WORKERS;
    Measured::held(
        bad == 0 && kills >= run.of(300) && ran > 0,
        format!("{bad} of {kills}; {ran} calls ran, {busy} kills with decisions open"),
    )
}

fn answers(host: &mut Host) -> u64 {
    let lines = host.so_far();
    lines.iter().filter(|line| serde_json::from_slice::<Value>(line).unwrap()["id"].is_u64()).count() as u64
}
