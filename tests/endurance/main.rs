//! The endurance suite: each figure of reliability, measured and held against its target; prints the table.
//!
//! `cargo test --release --test endurance -- --ignored` runs all of it in under ten minutes. Ids choose figures
//! (`-- --ignored R4 R5`), `--part 10` runs a tenth of each, `--seed N` other chances. What cannot be measured on this
//! machine is skipped, and says so. It has a harness of its own: it starts itself as servers, writers and consoles.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a broken test bed fails the figure")]

mod bed;
mod clock;
mod consoles;
#[path = "../fake/mod.rs"]
mod fake;
mod faults;
mod folder;
mod fuzz;
mod histories;
mod judging;
mod kills;
mod memory;
mod noise;
mod parsers;
mod players;
mod tamper;
mod text;
#[path = "../world/mod.rs"]
mod world;
mod writers;

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Instant;

use bed::{Measured, Run, Stands};

/// One row of the table.
struct Figure {
    id: &'static str,
    what: &'static str,
    target: &'static str,
    measure: fn(&Run) -> Measured,
}

const FIGURES: &[Figure] = &[
    figure("R1", "acted upon and not in the log, over SIGKILLs of the wrapper", "0 of >= 1,000", kills::wrapper),
    figure("R2", "server killed in mid-call: one error per call, no hang", "200 of 200", kills::server),
    figure("R3", "console killed in mid-decision: forwards without a verdict", "0 of 300", kills::console),
    figure("R4", "two consoles at once: double forwards, lost denials", "0 of 10,000", consoles::race),
    figure("R5", "100 wrappers x 1,000 calls, one log: lost or busy; worst p99", "0; < 1 s", writers::hundred),
    figure("R6", "malformed messages: panics, unclassified forwards", "0 of 10,000", noise::malformed),
    figure("R7", "accepted calls that JSON parsers read differently", "0", parsers::disagree),
    figure("R8", "peak memory: 1 GiB line from the server; from the host", "<= 16 MiB; refused", memory::long_lines),
    figure("R9", "disk full: calls run without a record", "0, and a reason", faults::disk_full),
    figure("R10", "file-size limit: calls run without a record", "0, and a reason", faults::size_limit),
    figure("R11", "the Nth write fails: calls run without a record", "0", faults::nth_write),
    figure("R12", "no file descriptors: calls run without a record", "0, and a reason", faults::descriptors),
    figure("R13", "stopped server, 1,000 calls queued: memory, deadlocks", "bounded; 0", memory::stopped_server),
    figure("R14", "host that reads a byte at a time: memory, deadlocks", "bounded; 0", memory::slow_host),
    figure("R15", "clock jumps: rules that outlive their time, disorder", "0", clock::jumps),
    figure("R16", "squatted sockets and locks", "12 of 12 refused or replaced", folder::squatters),
    figure("R18", "foreign text shown: decodes back; control bytes", "100 % of 100,000; 0", text::decodes),
    figure("R20", "tampering with the log that verify finds", "2,000 of 2,000", tamper::found),
    figure("R23", "simulated histories; broken invariants", ">= 1,000,000; 0", histories::simulated),
    figure(
        "P10",
        "longest wait of a ping while hostile definitions and calls are judged; end by SIGTERM",
        "<= 250 ms; <= 4 s",
        judging::pings,
    ),
    figure("R25", "fuzzing: lines, JSON, policy, SQL, rendering; crashes", "0", fuzz::crashes),
];

const fn figure(id: &'static str, what: &'static str, target: &'static str, measure: fn(&Run) -> Measured) -> Figure {
    Figure { id, what, target, measure }
}

fn main() -> ExitCode {
    fake::scripted::play_if_asked();
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == players::ROLE) {
        return players::play(&arguments[1..]);
    }
    let wanted = |name: &str| arguments.iter().any(|argument| argument == name);
    if wanted("--list") {
        return ExitCode::SUCCESS;
    }
    if !wanted("--ignored") && !wanted("--include-ignored") {
        say(&format!("{} figures of endurance, not run: add `-- --ignored`", FIGURES.len()));
        return ExitCode::SUCCESS;
    }
    let run = Run { part: number(&mut arguments, "--part", 1), seed: number(&mut arguments, "--seed", 2026) };
    let ids: Vec<&String> = arguments.iter().filter(|argument| argument.starts_with(['R', 'P'])).collect();
    std::panic::set_hook(Box::new(bed::remember));
    say("id   | figure | target | measured | seconds");
    let (mut missed, start) = (0, Instant::now());
    for figure in FIGURES.iter().filter(|figure| ids.is_empty() || ids.iter().any(|id| *id == figure.id)) {
        let began = Instant::now();
        let measured = bed::guarded(|| (figure.measure)(&run));
        let mark = match measured.stands {
            Stands::Met => "",
            Stands::Missed => "MISSED: ",
            Stands::Skipped => "SKIPPED: ",
        };
        missed += usize::from(measured.stands == Stands::Missed);
        say(&format!(
            "{:4} | {} | {} | {mark}{} | {:.1}",
            figure.id,
            figure.what,
            figure.target,
            measured.text,
            began.elapsed().as_secs_f64()
        ));
    }
    let part = if run.part > 1 { format!(" (a {}th of each)", run.part) } else { String::new() };
    say(&format!("{missed} missed, {:.0} s{part}, seed {}", start.elapsed().as_secs_f64(), run.seed));
    if missed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Takes `--name N` out of the arguments.
fn number(arguments: &mut Vec<String>, name: &str, otherwise: u64) -> u64 {
    let Some(at) = arguments.iter().position(|argument| argument == name) else { return otherwise };
    arguments.remove(at);
    if at < arguments.len() { arguments.remove(at).parse().expect("a number") } else { otherwise }
}

fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").expect("somebody reads");
}
