//! Two consoles that decide at once: one verdict counts, the other is told, a denial never runs.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use serde_json::Value;

use crate::bed::{Measured, Run, comes, grouped, in_parallel};
use crate::fake::host::Host;
use crate::fake::log;
use crate::fake::server::{Server, writer};
use crate::kills::{decisions, digest, home};
use crate::players::{self, Console, Told};

/// Calls that wait together.
const TOGETHER: u64 = 250;
const WRAPPERS: u64 = 2;

/// R4. On each call both consoles say something of their own, as soon as they see it.
pub fn race(run: &Run) -> Measured {
    let rounds = run.of(10_000).div_ceil(TOGETHER * WRAPPERS);
    let done = in_parallel(WRAPPERS, WRAPPERS, |worker| {
        let (home, _) = home();
        let server = Server::with(&[writer("ask")]);
        let mut host = Host::wrapping(home.path(), &["--name", "s"], &server.command());
        host.handshake("2025-11-25");
        let consoles = [1, 2].map(|console| {
            let mut chance = run.chance(worker * 10 + console);
            Console::open(home.path(), move |_| {
                Some(if chance.one_in(2) { players::approve() } else { players::deny() })
            })
        });
        let (mut id, mut answers) = (0_u64, HashMap::new());
        for _ in 0..rounds {
            for _ in 0..TOGETHER {
                id += 1;
                host.call(id, "ask", &serde_json::json!({ "title": format!("{worker} {id}") }));
            }
            let all = comes(Duration::from_secs(60), || {
                for line in host.so_far() {
                    let answer: Value = serde_json::from_slice(&line).unwrap();
                    if let Some(id) = answer["id"].as_u64() {
                        *answers.entry(id).or_insert(0) += 1;
                    }
                }
                answers.len() as u64 == id
            });
            assert!(all, "{} answers to {id} calls", answers.len());
        }
        // Both hear of every end; who came second hears that it was.
        let told = comes(Duration::from_secs(20), || {
            consoles.iter().all(|console| {
                let told = console.told.lock().unwrap();
                told.values().filter(|told| told.iter().any(|one| matches!(one, Told::Settled(_)))).count() as u64 == id
            })
        });
        assert!(told, "a console was not told of every end");
        host.hang_up();
        host.wait();
        let executed = server.executed();
        let once: HashSet<&String> = executed.iter().collect();
        let doubles = executed.len() - once.len() + answers.values().filter(|count| **count != 1).count();
        let decisions = decisions(&home.path().join("state/audit.db"));
        assert_eq!(decisions.len() as u64, id, "one decision per call");
        let ran: HashSet<String> = executed.iter().map(|line| digest(line)).collect();
        let lost = decisions.iter().filter(|(digest, (verdict, _))| (verdict == "approve") != ran.contains(*digest));
        let refused: usize = consoles
            .iter()
            .map(|console| {
                let told = console.told.lock().unwrap();
                told.values().flatten().filter(|one| matches!(one, Told::Refused(_))).count()
            })
            .sum();
        log::verifies(home.path());
        (id, doubles, lost.count(), refused, executed.len())
    });
    let calls: u64 = done.iter().map(|one| one.0).sum();
    let doubles: usize = done.iter().map(|one| one.1).sum();
    let lost: usize = done.iter().map(|one| one.2).sum();
    let refused: usize = done.iter().map(|one| one.3).sum();
    let ran: usize = done.iter().map(|one| one.4).sum();
    Measured::held(
        doubles == 0 && lost == 0 && calls >= run.of(10_000) && refused > 0 && ran > 0,
        format!(
            "{doubles} double, {lost} lost of {}; {} ran, {} verdicts came second and were told so",
            grouped(calls),
            grouped(ran as u64),
            grouped(refused as u64)
        ),
    )
}
