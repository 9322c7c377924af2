//! How many calls of a table run unasked: `cargo bench --bench asked -- FILE…`. `judging.rs` says what a table is. Tools count
//! as proven to read, so that only the call can ask; `--own` judges the tools too, `--list` prints every row.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench tells what it did, and has nobody to report to")]

mod judging;

use std::collections::BTreeMap;

use judging::{Row, Tools, cut};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| words.iter().any(|word| word == flag);
    let tools = if has("--own") { Tools::Judged } else { Tools::Pinned };
    for file in words.iter().filter(|word| !word.starts_with("--")) {
        let rows = judging::table(&std::fs::read_to_string(file).unwrap(), tools);
        if has("--list") {
            rows.iter().for_each(list);
        }
        count(file, &rows);
    }
}

fn list(row: &Row) {
    let word = match (row.ran, &row.arguments) {
        (true, None) => "PROVEN",
        (true, Some(_)) => "RAN",
        (false, _) => "ASKED",
    };
    println!("{word} {}", row.shown());
    if let Some((again, outcome)) = row.again.as_ref().filter(|(_, outcome)| !outcome.runs) {
        println!("AGAIN {}\t{}\t{}\t{}", row.class, row.tool.name, cut(&again.to_string()), outcome.why);
    }
}

fn count(file: &str, rows: &[Row]) {
    let mut classes: BTreeMap<&str, [usize; 5]> = BTreeMap::new();
    for row in rows {
        let again = row.again.as_ref().map(|(_, outcome)| outcome.runs);
        let counts = [true, row.ran, row.same, again.is_some(), again == Some(true)].map(usize::from);
        for name in [row.class.as_str(), "\u{10ffff}"] {
            classes.entry(name).or_default().iter_mut().zip(counts).for_each(|(all, count)| *all += count);
        }
    }
    for (class, [all, ran, same, again, ran_again]) in classes {
        let class = if class == "\u{10ffff}" { file } else { class };
        println!(
            "{class:28} {all:4} rows, ran {ran:4}; the same once answered, ran {same:4}; others of its kind {again:4}, ran {ran_again:4}"
        );
    }
}
