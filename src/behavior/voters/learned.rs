//! Votes by a linear model over the words of name, title, first sentence and parameter names. Its weights are the text of
//! `assets/learned.txt`, made by `cargo bench --bench recognition -- train FOLDER`; this file owns no word.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Value;

use super::description::{repeats, sentences};
use super::{Says, Vote};
use crate::behavior::evidence::Source;
use crate::behavior::words;
use crate::mcp::tool::Tool;

/// A linear model: a word's weight speaks for a change where it is positive, for a read where it is negative.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    pub weights: HashMap<Cow<'static, str>, f32>,
    /// At or below this sum it only reads.
    pub reads: f32,
    /// At or below this sum it may only read.
    pub may_read: f32,
    /// At or above this sum it changes something.
    pub changes: f32,
}

impl Model {
    /// Makes a model of weights. It has no bias: what is unknown weighs nothing.
    pub fn new(weights: HashMap<Cow<'static, str>, f32>) -> Self {
        Self { weights, reads: f32::MIN, may_read: f32::MIN, changes: f32::MAX }
    }

    /// Reads the text of a model: a word and a number a line, `#` begins a comment. A line that does not parse is left out.
    pub fn read(text: &'static str) -> Self {
        let mut model = Self::new(HashMap::new());
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((word, number)) = line.split_once(' ') else { continue };
            let Ok(number) = number.parse::<f32>() else { continue };
            match word {
                "=reads" => model.reads = number,
                "=may-read" => model.may_read = number,
                "=changes" => model.changes = number,
                _ => {
                    model.weights.insert(word.into(), number);
                }
            }
        }
        model
    }

    /// The sum of the weights of what a definition says.
    pub fn sum(&self, features: &[String]) -> f32 {
        features.iter().filter_map(|feature| self.weights.get(feature.as_str())).sum::<f32>()
    }

    /// Votes about a definition.
    pub fn vote(&self, tool: &Tool) -> Vote {
        let features = features(tool);
        let sum = self.sum(&features);
        let says = match sum {
            sum if sum >= self.changes => Says::Changes,
            _ if repeats_its_name(tool) => return Vote::silent(Source::Learned),
            sum if sum <= self.reads => Says::Reads,
            sum if sum <= self.may_read => Says::MayRead,
            _ => return Vote::silent(Source::Learned),
        };
        Vote { voter: Source::Learned, says, action: None, span: self.strongest(&features, sum) }
    }

    /// The words that speak most for the vote.
    fn strongest(&self, features: &[String], sum: f32) -> String {
        let sign = if sum > 0.0 { 1.0 } else { -1.0 };
        let weigh = |feature: &String| Some((sign * self.weights.get(feature.as_str())?, feature.clone()));
        let mut weighed: Vec<(f32, String)> =
            features.iter().filter_map(weigh).filter(|(weight, _)| *weight > 0.0).collect();
        weighed.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
        weighed.into_iter().take(3).map(|(_, feature)| feature).collect::<Vec<_>>().join(", ")
    }
}

/// Votes by the model that ships with this program.
pub fn vote(tool: &Tool) -> Vote {
    MODEL.vote(tool)
}

/// Whether the definition says nothing besides its name. The name voter has read those words: a second vote for a read
/// would count them twice.
pub fn repeats_its_name(tool: &Tool) -> bool {
    let name = words::of_name(&tool.name);
    let description = tool.description.as_deref().unwrap_or_default();
    sentences(description).next().is_none_or(|sentence| repeats(sentence, &name))
}

/// What a definition says, as the model knows it: each word with the place where it is said, each once.
pub fn features(tool: &Tool) -> Vec<String> {
    let telling = |word: &&String| word.chars().any(char::is_alphabetic);
    let name: Vec<String> = words::of_name(&tool.name).into_iter().filter(|word| telling(&word)).collect();
    let mut features: Vec<String> = name.iter().map(|word| format!("name:{word}")).collect();
    features.extend(name.first().map(|word| format!("first:{word}")));
    features.extend(name.last().map(|word| format!("last:{word}")));
    let title = words::of_name(tool.title.as_deref().unwrap_or_default());
    features.extend(title.iter().filter(telling).map(|word| format!("title:{word}")));
    let description = tool.description.as_deref().unwrap_or_default();
    let sentence = sentences(description).next().map(words::of_sentence).unwrap_or_default();
    features.extend(sentence.first().map(|word| format!("opens:{word}")));
    features.extend(sentence.iter().take(40).filter(telling).map(|word| format!("says:{word}")));
    if let Some(Value::Object(properties)) = tool.input_schema.get("properties") {
        let keys = properties.keys().take(40).flat_map(|key| words::of_name(key));
        features.extend(keys.filter(|word| telling(&word)).map(|word| format!("takes:{word}")));
    }
    features.sort();
    features.dedup();
    features
}

static MODEL: LazyLock<Model> = LazyLock::new(|| Model::read(include_str!("../../../assets/learned.txt")));
