//! Scores the voters and the degrees against a corpus of real servers, hints hidden, on folds over whole servers, and fits the
//! learned voter's model: `cargo bench --bench recognition -- [FOLDER] [--folds N] [--wrong] [--gold] [--hazards]`, and
//! `cargo bench --bench recognition -- train [FOLDER]`, which writes `assets/learned.txt`.
//!
//! The folder holds `dev/*.json` (servers), `labels.json` (hints known to be wrong or arguable) and `gold.json`. The model of a
//! fold, its limits too, is fitted without that fold's servers; the lists of the other two voters are those of the source.

#![allow(clippy::print_stdout, reason = "a program for a person at a terminal")]

mod analysers;
mod corpus;
mod figures;
mod folds;
mod train;

use std::path::{Path, PathBuf};

use corpus::Corpus;
use figures::Figures;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let wants = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let folds =
        arguments.iter().skip_while(|argument| *argument != "--folds").nth(1).and_then(|number| number.parse().ok());
    let is_word =
        |argument: &&String| !argument.starts_with("--") && *argument != "train" && argument.parse::<u64>().is_err();
    let folder = arguments.iter().find(is_word).map_or("../shared/corpus", String::as_str);
    let corpus = match Corpus::read(&PathBuf::from(folder)) {
        Ok(corpus) => corpus,
        Err(why) => {
            println!("no corpus in {folder}: {why}");
            return;
        }
    };
    println!("{} servers, {} tools", corpus.servers(), corpus.tools.len());
    if wants("train") {
        let asset = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/learned.txt");
        let text = folds::shipped(&corpus);
        println!("{} weights, {} bytes", text.lines().count(), text.len());
        if let Err(error) = std::fs::write(&asset, text) {
            println!("{}: {error}", asset.display());
        }
        return;
    }
    let mut all = Figures::default();
    for fold in folds::judged(&corpus, folds.unwrap_or(5)) {
        println!("\n== fold {}, limits {}\n{}", fold.number, fold.limits, Figures::of(&fold.judged));
        for judged in &fold.judged {
            all.add(judged);
            judged.print(wants("--wrong"), wants("--gold"));
        }
    }
    println!("\n== all folds\n{all}");
    println!("\n== the model that ships, on the servers it was fitted to");
    let shipped = folds::with_shipped(&corpus);
    println!("{}", Figures::of(&shipped));
    println!("G5 mixed same-schema groups separated: {}", figures::groups(&shipped));
    println!("\nhazards in definitions: {}", corpus.hazards(wants("--hazards")));
    println!("a server of 500 tools: {:?} (target 50 ms, release)", corpus.of_500());
    println!("one call of 200 bytes: {:?}", corpus::one_call());
    println!("{}", analysers::ten_kibibytes());
}
