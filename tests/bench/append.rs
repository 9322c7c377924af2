//! Times what an automatically allowed call pays for its records: `cargo bench --bench append -- [ROUNDS]`.
//!
//! Figures are of this machine at this moment; only figures taken by turns can be compared.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench tells its figures, and has nobody to report to")]

#[path = "entries.rs"]
mod entries;

use std::path::Path;
use std::time::Instant;

use entries::{decision, outcome};
use mcp_approve::audit::body::write_body;
use mcp_approve::audit::record::Entry;
use mcp_approve::audit::redact::Redactor;
use mcp_approve::audit::store::Store;

fn main() {
    let rounds = std::env::args().find_map(|word| word.parse().ok()).unwrap_or(20_000);
    let folder = tempfile::tempdir().unwrap();
    let redactor = Redactor::new(&[7; 32]);
    bodies(rounds, &redactor);
    for (title, first) in [("one entry", 1), ("two entries", 0)] {
        let db = folder.path().join(format!("{first}/audit.db"));
        appends(title, rounds, &redactor, &db, |n| [outcome(n), decision(n)].into_iter().skip(first).collect());
    }
}

fn bodies(rounds: i64, redactor: &Redactor) {
    let (outcome, decision) = (outcome(1), decision(1));
    for (title, entry) in [("body of an outcome", outcome), ("body of a decision", decision)] {
        let mut out = String::new();
        let times = (0..rounds)
            .map(|_| {
                out.clear();
                let start = Instant::now();
                write_body(&entry, redactor, &mut out);
                start.elapsed().as_nanos()
            })
            .collect();
        tell(title, times);
        println!("    {} bytes", out.len());
    }
}

fn appends(title: &str, rounds: i64, redactor: &Redactor, db: &Path, entries: impl Fn(i64) -> Vec<Entry>) {
    let mut store = Store::open(db, [1; 16]).unwrap();
    let mut journal = store.journal([1; 16]).unwrap();
    let times = (0..rounds)
        .map(|n| {
            let batch: Vec<_> = (0..).zip(entries(n)).collect();
            if journal.has_grown() {
                store.fold(&[&journal.take()]).unwrap();
                let next = store.journal(i128::from(n).to_be_bytes()).unwrap();
                std::mem::replace(&mut journal, next).remove();
            }
            let start = Instant::now();
            journal.record(&batch, redactor).unwrap();
            start.elapsed().as_nanos()
        })
        .collect();
    tell(title, times);
}

fn tell(title: &str, mut times: Vec<u128>) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    println!("{title:24} p10 {:>7} ns   p50 {:>7} ns   p99 {:>7} ns", at(10), at(50), at(99));
}
