//! Judges a corpus by folds over whole servers: what judges a server was fitted without it. Counts nothing.

use mcp_approve::behavior::conclude::{Behavior, Overrides, Trust, of_votes};
use mcp_approve::behavior::voters::learned::{self, LearnedModel};
use mcp_approve::behavior::voters::{Says, Vote};

use super::corpus::{Corpus, Labelled};
use super::train::{Example, fit, text};

/// Of the tools that change something, how many the model may call a read without their verb: of those whose description is
/// explained to its end, of others, and how many it may lean to call one; of those that read, how many it may call a change.
const FALSE_READS: f64 = 0.20;
const FALSE_SURE_READS: f64 = 0.005;
const FALSE_MAY_READ: f64 = 0.22;
const FALSE_CHANGES: f64 = 0.004;

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
        let LearnedModel { reads, surely_reads, may_read, changes, .. } = model;
        let limits =
            format!("reads {reads:.2}, surely {surely_reads:.2}, may read {may_read:.2}, changes {changes:.2}");
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
fn limited(tools: &[&Labelled]) -> LearnedModel {
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
    let limits = [at(true, FALSE_READS, true), at(true, FALSE_SURE_READS, true), at(true, FALSE_MAY_READ, true)];
    if let ([Some(reads), Some(sure), Some(may_read)], Some(changes)) = (limits, at(false, FALSE_CHANGES, false)) {
        (model.reads, model.surely_reads, model.may_read, model.changes) = (reads, sure, may_read, changes);
    }
    model
}

/// What is learnt from: the tools with a hint, and those without of which name and description say the same. The model sees
/// neither verb.
fn examples<'c>(tools: &[&'c Labelled]) -> Vec<Example<'c>> {
    let example = |tool: &&'c Labelled| {
        let agreed = (tool.name.says == tool.description.says).then_some(tool.name.says);
        let changes = match (tool.read_only, agreed) {
            (Some(read_only), _) => !read_only,
            (None, Some(Says::Reads)) => false,
            (None, Some(Says::Changes)) => true,
            (None, _) => return None,
        };
        Some(Example { server: &tool.package, features: &tool.features, changes })
    };
    tools.iter().filter_map(example).collect()
}
