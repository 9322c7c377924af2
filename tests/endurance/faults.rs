//! A disk, a limit, a write, a descriptor is missing: no call runs without its record, and the reason can be read.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use mcp_approve::gate::data::event::Side;
use serde_json::{Value, json};

use crate::bed::{Chance, Measured, Run, caught, comes, grouped, in_parallel};
use crate::fake::host::Host;
use crate::fake::server::{Server, reader, writer};
use crate::fake::{BINARY, log};
use crate::kills::{home, unrecorded};
use crate::world::{World, config};

/// What one session with a fault in it came to.
#[derive(Default)]
struct Came {
    ran: usize,
    unrecorded: usize,
    refused: usize,
    /// Answers that refuse and do not say why, or what to do.
    dumb: usize,
}

impl Came {
    fn and(mut self, other: &Self) -> Self {
        self.ran += other.ran;
        self.unrecorded += other.unrecorded;
        self.refused += other.refused;
        self.dumb += other.dumb;
        self
    }

    fn measured(&self, of: u64, what: &str) -> Measured {
        Measured::held(
            self.unrecorded == 0 && self.dumb == 0 && self.refused > 0,
            format!(
                "{} of {}; {} ran, {} were refused in {of} {what}, {} without a reason",
                self.unrecorded,
                grouped((self.ran + self.refused) as u64),
                grouped(self.ran as u64),
                grouped(self.refused as u64),
                self.dumb
            ),
        )
    }
}

/// Calls until one is refused and some more, reads and writes that a rule allows. `find` gives the log as it is read in
/// the end: where there is room for what was recorded and could not be folded any more.
fn session(
    host: &mut Host,
    server: &Server,
    (chance, most, size): (&mut Chance, u64, usize),
    find: impl FnOnce() -> PathBuf,
) -> Came {
    host.handshake("2025-11-25");
    let mut came = Came::default();
    for id in 0..most {
        let tool = *chance.of(&["read", "write"]);
        host.call(id, tool, &json!({ "title": format!("{id}{}", "x".repeat(size)) }));
        let answer = host.answer(id);
        if answer["result"]["isError"] == true {
            came.refused += 1;
            let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
            came.dumb += usize::from(!text.contains("NOT executed") || !text.contains(" doctor`; it says how"));
            if came.refused > 5 {
                break;
            }
        }
    }
    host.request("still", "ping", &json!({}));
    assert_eq!(host.answer("still")["result"], json!({}), "what needs no record does not pass");
    host.hang_up();
    assert!(host.wait().success());
    let executed = server.executed();
    came.ran = executed.len();
    came.unrecorded = unrecorded(&find(), &executed);
    came
}

/// A small file system of its own, given back when dropped.
struct Disk(PathBuf);

impl Disk {
    fn mounted(at: &Path) -> Option<Self> {
        fs::create_dir(at).unwrap();
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs"]).arg(at).output();
        mount.ok()?.status.success().then(|| Self(at.to_owned()))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// R9. The log lies on a disk of 1 MiB that something else has filled, each time to another degree.
pub fn disk_full(run: &Run) -> Measured {
    let rounds = run.of(30);
    let done = in_parallel(2, rounds, |round| {
        let mut chance = run.chance(round);
        let (home, policy) = home();
        let disk = Disk::mounted(&home.path().join("disk"))?;
        let db = disk.0.join("audit.db");
        let mut filler = File::create(disk.0.join("filler")).unwrap();
        filler.write_all(&vec![0; chance.below(900_000)]).unwrap();
        let server = Server::with(&[reader("read"), writer("write")]);
        let options = ["--name", "s", "--policy", policy.to_str().unwrap(), "--audit-db", db.to_str().unwrap()];
        let mut host = Host::wrapping(home.path(), &options, &server.command());
        let elsewhere = home.path().join("elsewhere");
        let find = || {
            let copied = Command::new("cp").arg("-r").arg(&disk.0).arg(&elsewhere).status().unwrap();
            assert!(copied.success());
            elsewhere.join("audit.db")
        };
        let came = session(&mut host, &server, (&mut chance, 3_000, 1_000), find);
        let verify = log::run(home.path(), &["verify", "--audit-db", db.to_str().unwrap()]);
        // Too little room for even an empty log leaves none, or an unfinished one that holds nothing.
        assert!(verify.status.success() || came.ran == 0, "{verify:?}");
        Some(came)
    });
    if done.iter().any(Option::is_none) {
        return Measured::skipped("no small disk could be mounted here (it takes root and tmpfs)");
    }
    done.iter().flatten().fold(Came::default(), Came::and).measured(rounds, "sessions")
}

/// R10. A limit on the size of files, from too small for any log upwards.
pub fn size_limit(run: &Run) -> Measured {
    let rounds = run.of(60);
    let done = in_parallel(3, rounds, |round| {
        let mut chance = run.chance(round);
        let (home, policy) = home();
        let server = Server::with(&[reader("read"), writer("write")]);
        // In blocks of 512 bytes.
        let limit = 16 + round * 480 / rounds + chance.below(9) as u64;
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -f \"$0\"; exec \"$@\"", &limit.to_string(), BINARY, "--home"]).arg(home.path());
        command.args(["--name", "s", "--policy"]).arg(&policy).arg("--").args(server.command());
        let mut host = Host::over(command);
        let db = home.path().join("state/audit.db");
        let came = session(&mut host, &server, (&mut chance, 2_000, 300), || db);
        let verify = log::run(home.path(), &["verify"]);
        assert!(verify.status.success() || came.ran == 0, "{limit}: {verify:?}");
        came
    });
    done.iter().fold(Came::default(), Came::and).measured(rounds, "sessions")
}

/// R11. In the gate: of everything that a busy session records, each entry in turn cannot be written, or each from
/// there on. The world holds the five invariants after every step.
pub fn nth_write(run: &Run) -> Measured {
    let (mut sessions, mut broken) = (0, None);
    let most = run.of(60);
    for nth in 0..most {
        for for_ever in [false, true] {
            for (a, b, c) in [(0, 1, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)] {
                sessions += 1;
                let played = caught(|| busy(nth, for_ever, [a, b, c]));
                broken = broken.or(played.err());
            }
        }
    }
    match broken {
        None => Measured::held(true, format!("0 in {sessions} sessions")),
        Some(why) => Measured::held(false, why),
    }
}

fn busy(nth: u64, for_ever: bool, order: [usize; 3]) {
    let mut world = World::with(config(), "").ready();
    world.log_answers = false;
    let mut written = 0;
    let mut log = |world: &mut World, most: usize| {
        for _ in 0..most {
            if written == nth || for_ever && written > nth {
                world.log_fails();
            } else {
                world.log_takes();
            }
            written += 1;
        }
    };
    for round in 0..4 {
        for part in order {
            let id = round * 10 + part;
            match part {
                0 => drop(world.call(&id.to_string(), "read_file", r#"{"path":"/a"}"#)),
                1 => drop(world.call(&id.to_string(), "write_file", r#"{"path":"/a","content":"x"}"#)),
                _ => drop(world.call(&id.to_string(), "delete_file", r#"{"path":"/a"}"#)),
            }
            log(&mut world, part);
        }
        let cards: Vec<String> = world.gate.snapshots().iter().map(|card| card.ticket.clone()).collect();
        for (at, ticket) in cards.iter().enumerate() {
            if at % 2 == 0 {
                world.approve(ticket);
            } else {
                world.deny(ticket, "no");
            }
            log(&mut world, 1);
        }
        let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":11}}"#;
        world.host(cancel);
        world.server(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[]}}}}"#, round * 10));
        log(&mut world, 3);
    }
    world.close(Side::Host);
    log(&mut world, 30);
    world.finish();
}

/// R12. From none to enough descriptors: the wrapper says why it cannot start, or refuses, or works.
pub fn descriptors(run: &Run) -> Measured {
    let step = if run.part > 1 { 4 } else { 1 };
    let limits: Vec<u64> = (3..=64).step_by(step).collect();
    let done = in_parallel(3, limits.len() as u64, |at| {
        let limit = limits[usize::try_from(at).unwrap()];
        let (home, policy) = home();
        let server = Server::with(&[reader("read"), writer("write")]);
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -n \"$0\"; exec \"$@\"", &limit.to_string(), BINARY, "--home"]).arg(home.path());
        command.args(["--name", "s", "--policy"]).arg(&policy).arg("--").args(server.command());
        let mut host = Host::over(command);
        let spoken = caught(|| {
            host.handshake("2025-11-25");
            let mut came = Came::default();
            for id in 0..20 {
                host.call(id, ["read", "write"][id % 2], &json!({ "title": "x" }));
                let answer: Value = host.answer(id);
                if answer["result"]["isError"] == true {
                    came.refused += 1;
                    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
                    came.dumb += usize::from(!text.contains("NOT executed"));
                }
            }
            came
        });
        host.hang_up();
        let ended = comes(Duration::from_secs(10), || !crate::fake::processes::is_alive(host.pid()));
        assert!(ended, "with {limit} descriptors it hangs");
        host.wait();
        let words = host.last_words();
        let mut came = spoken.unwrap_or_else(|why| {
            let why = why + &words;
            // The loader's own words stand for a program that could not even be loaded.
            let says = why.contains("hint: look at the limits") || why.contains("while loading shared libraries");
            assert!(says && !why.contains("panicked"), "{limit}: {why}");
            Came { refused: 1, ..Came::default() }
        });
        assert!(came.dumb == 0 && !words.contains("panicked"), "{limit}: {words}");
        let executed = server.executed();
        came.ran = executed.len();
        came.unrecorded = unrecorded(&home.path().join("state/audit.db"), &executed);
        came
    });
    done.iter().fold(Came::default(), Came::and).measured(limits.len() as u64, "limits")
}
