//! Fits the learned voter's model: logistic regression by AdaGrad, the same weights on every machine. Reads no file.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use mcp_approve::behavior::voters::learned::LearnedModel;

/// One labelled definition.
pub struct Example<'a> {
    pub server: &'a str,
    pub features: &'a [String],
    pub changes: bool,
}

/// A word counts when this many servers use it.
const SERVERS: usize = 7;
const ROUNDS: usize = 40;
const RATE: f32 = 0.3;
const DECAY: f32 = 0.02;

/// Fits a model. A server of many tools weighs as the square root of their number.
pub fn fit(examples: &[Example<'_>]) -> LearnedModel {
    let mut used: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut sizes: HashMap<&str, f32> = HashMap::new();
    for example in examples {
        *sizes.entry(example.server).or_default() += 1.0;
        for feature in example.features {
            used.entry(feature).or_default().insert(example.server);
        }
    }
    let known: Vec<&str> = used.iter().filter(|(_, by)| by.len() >= SERVERS).map(|(feature, _)| *feature).collect();
    let index: HashMap<&str, usize> = known.iter().enumerate().map(|(at, feature)| (*feature, at)).collect();
    let rows: Vec<Vec<usize>> = examples
        .iter()
        .map(|example| example.features.iter().filter_map(|feature| index.get(feature.as_str()).copied()).collect())
        .collect();
    let mut weights = vec![0.0_f32; known.len()];
    let mut squares = vec![1e-6_f32; known.len()];
    let mut order: Vec<usize> = (0..examples.len()).collect();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..ROUNDS {
        for at in (1..order.len()).rev() {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            order.swap(at, usize::try_from((random >> 33) % (at as u64 + 1)).unwrap_or(0));
        }
        for &at in &order {
            let (example, row) = (&examples[at], &rows[at]);
            let sum = row.iter().map(|&feature| weights[feature]).sum::<f32>();
            let wanted = if example.changes { 1.0 } else { 0.0 };
            let error = 1.0 / (1.0 + (-sum).exp()) - wanted;
            let error = error / sizes[example.server].sqrt();
            for &feature in row {
                let slope = error + DECAY * weights[feature];
                squares[feature] += slope * slope;
                weights[feature] -= RATE * slope / squares[feature].sqrt();
            }
        }
    }
    LearnedModel::new(known.iter().map(|feature| (*feature).to_owned().into()).zip(weights).collect())
}

/// The text of a model, sorted, small weights left out.
pub fn text(model: &LearnedModel) -> String {
    let told = model.weights.iter().filter(|(_, weight)| weight.abs() >= 0.02);
    let mut lines: Vec<String> = told.map(|(word, weight)| format!("{word} {weight:.2}\n")).collect();
    lines.sort();
    let limits = [
        ("=reads", model.reads),
        ("=surely-reads", model.surely_reads),
        ("=may-read", model.may_read),
        ("=changes", model.changes),
    ];
    limits.iter().map(|(word, number)| format!("{word} {number:.2}\n")).chain(lines).collect()
}
