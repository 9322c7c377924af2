//! Judges a corpus by folds over whole servers: what judges a server was fitted without it. Counts nothing.

use mcp_approve::behavior::conclude::{Behavior, Overrides, Trust, of_votes};
use mcp_approve::behavior::voters::Vote;
use mcp_approve::behavior::voters::learned::{self, Model};

use super::corpus::{Corpus, Labelled};
use super::train::{Example, fit, text};

/// Of the tools that change something, how many the model may call a read, and how many it may lean to call one; of those
/// that read, how many it may call a change.
const FALSE_READS: f64 = 0.02;
const FALSE_MAY_READ: f64 = 0.08;
const FALSE_CHANGES: f64 = 0.008;

/// A tool as the three voters judged it.
pub struct Judged<'c> {
    pub tool: &'c Labelled,
    pub votes: [Vote; 3],
    pub behavior: Behavior,
}

/// The servers of one fold.
pub struct Fold<'c> {
    pub number: u64,
    pub limits: String,
    pub judged: Vec<Judged<'c>>,
}

/// Judges each fold with a model fitted to the others.
pub fn judged(corpus: &Corpus, folds: u64) -> impl Iterator<Item = Fold<'_>> {
    (0..folds).map(move |number| {
        let (tested, fitted): (Vec<_>, Vec<_>) = corpus.tools.iter().partition(|tool| tool.fold(folds) == number);
        let model = limited(&fitted);
        let judged = tested.into_iter().map(|tool| judge(tool, model.vote(&tool.tool))).collect();
        let limits = format!("reads {:.2}, may read {:.2}, changes {:.2}", model.reads, model.may_read, model.changes);
        Fold { number, limits, judged }
    })
}

/// Judges all with the model that ships.
pub fn with_shipped(corpus: &Corpus) -> Vec<Judged<'_>> {
    corpus.tools.iter().map(|tool| judge(tool, learned::vote(&tool.tool))).collect()
}

/// The text of a model fitted to everything, its limits chosen on folds.
pub fn shipped(corpus: &Corpus) -> String {
    let all: Vec<&Labelled> = corpus.tools.iter().collect();
    let head = "# The learned voter's weights: where a word is said, the word, and how much it speaks for a change (below zero: for a\n\
                # read). The limits are chosen on folds over servers. Made by `cargo bench --bench recognition -- train FOLDER`.\n";
    format!("{head}{}", text(&limited(&all)))
}

fn judge(tool: &Labelled, learned: Vote) -> Judged<'_> {
    let votes = [tool.name.clone(), tool.description.clone(), learned];
    let behavior = of_votes(&tool.tool, &votes, Trust::Corroborate, Overrides::default());
    Judged { tool, votes, behavior }
}

/// A model fitted to these tools, with limits that hold on folds of them.
fn limited(tools: &[&Labelled]) -> Model {
    let mut model = fit(&examples(tools));
    let mut sums: Vec<(f32, bool)> = Vec::new();
    for fold in 0..5 {
        let (tested, fitted): (Vec<&Labelled>, Vec<&Labelled>) =
            tools.iter().partition(|tool| tool.inner_fold(5) == fold);
        let without = fit(&examples(&fitted));
        let sum = |tool: &&Labelled| Some((without.sum(&tool.features), !tool.read_only?));
        sums.extend(tested.iter().filter_map(sum));
    }
    sums.sort_by(|one, other| one.0.total_cmp(&other.0));
    let at = |changes: bool, share: f64, from_below: bool| {
        let of: Vec<f32> = sums.iter().filter(|(_, one)| *one == changes).map(|(sum, _)| *sum).collect();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
        let index = (of.len() as f64 * share) as usize;
        of.get(if from_below { index } else { of.len().saturating_sub(index + 1) }).copied()
    };
    if let (Some(reads), Some(may_read), Some(changes)) =
        (at(true, FALSE_READS, true), at(true, FALSE_MAY_READ, true), at(false, FALSE_CHANGES, false))
    {
        (model.reads, model.may_read, model.changes) = (reads, may_read.min(-0.5), changes);
    }
    model
}

fn examples<'c>(tools: &[&'c Labelled]) -> Vec<Example<'c>> {
    let example = |tool: &&'c Labelled| {
        Some(Example { server: &tool.package, features: &tool.features, changes: !tool.read_only? })
    };
    tools.iter().filter_map(example).collect()
}
