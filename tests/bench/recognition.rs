//! Scores the recogniser against a corpus of real servers: `cargo bench --bench recognition -- [FOLDER] [--errors] [--gold] [--unknown] [--silent] [--held]`.
//!
//! The folder holds `dev/*.json` (servers), `labels.json` (hints known to be wrong or arguable, left out) and `gold.json`.
//! A third of the servers, chosen by a hash of their name, is printed apart: rules are tuned on the others only.

#![allow(clippy::print_stdout, reason = "a program for a person at a terminal")]

mod corpus;
mod figures;

use std::path::PathBuf;

use corpus::{Corpus, Part};
use figures::{Recognition, agreement, groups, pairs};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let wants = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let folder =
        arguments.iter().find(|argument| !argument.starts_with("--")).map_or("../shared/corpus", String::as_str);
    let corpus = match Corpus::read(&PathBuf::from(folder)) {
        Ok(corpus) => corpus,
        Err(why) => {
            println!("no corpus in {folder}: {why}");
            return;
        }
    };
    println!("{} servers, {} tools", corpus.servers(), corpus.tools.len());
    let spent = corpus.classifying;
    println!("classified in {spent:?}, {:?} a tool", spent / u32::try_from(corpus.tools.len().max(1)).unwrap_or(1));
    for (title, part) in [("all", Part::All), ("tuned on", Part::Tuned), ("held out", Part::HeldOut)] {
        println!("\n== {title}");
        let figures = Recognition::of(&corpus, part);
        println!("{figures}");
        println!("G5 mixed same-schema groups separated: {}", groups(&corpus, part));
        println!("G6 gold: {}", agreement(&corpus, part));
    }
    println!("\n== five folds by server (false PURE, PURE recall)");
    for fold in 0..5 {
        let figures = Recognition::of(&corpus, Part::Fold(fold));
        println!("fold {fold}: {:.2} %  {:.1} %", 100.0 * figures.false_pure(), 100.0 * figures.recall());
    }
    println!("\nG4 {}", pairs(&corpus));
    println!("\nhazards in definitions: {}", corpus.hazards(wants("--hazards")));
    println!("a server of 500 tools: {:?} (target 50 ms, release)", corpus.of_500());
    println!("one call of 200 bytes: {:?}", corpus::one_call());
    if wants("--errors") {
        corpus.print_errors(if wants("--held") { Part::HeldOut } else { Part::Tuned });
    }
    if wants("--unknown") {
        corpus.print_unknown();
    }
    if wants("--silent") {
        corpus.print_silent();
    }
    if wants("--gold") {
        corpus.print_gold(if wants("--held") { Part::HeldOut } else { Part::Tuned });
    }
}
