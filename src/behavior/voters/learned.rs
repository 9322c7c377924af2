//! Votes by a linear model over what a definition says besides its leading verb: that one the other two voters read. Its
//! weights are the text of `assets/learned.txt`, made by `cargo bench --bench recognition -- train FOLDER`; this file owns no word.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Value;

use super::description::{self, sentences};
use super::{Says, Vote, name};
use crate::behavior::evidence::Source;
use crate::behavior::words;
use crate::mcp::tool::Tool;

/// Which part of what surely reads has to speak for a read where no reader knows the verb (a curve is in `tests/bench/FOLDS.md`).
const SPEAKS: f32 = 0.12;

/// A linear model: a word's weight speaks for a change where it is positive, for a read where it is negative.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LearnedModel {
    pub weights: HashMap<Cow<'static, str>, f32>,
    /// At or below this sum it only reads, where the description is explained to its end.
    pub reads: f32,
    /// The same where it is not.
    pub surely_reads: f32,
    /// At or below this sum it may only read.
    pub may_read: f32,
    /// At or above this sum it changes something.
    pub changes: f32,
}

impl LearnedModel {
    /// Makes a model of weights. It has no bias: what is unknown weighs nothing.
    pub fn new(weights: HashMap<Cow<'static, str>, f32>) -> Self {
        Self { weights, reads: f32::MIN, surely_reads: f32::MIN, may_read: f32::MIN, changes: f32::MAX }
    }

    /// Reads the text of a model: a word and a number a line, `#` begins a comment. A line that does not parse is left out.
    pub fn read(text: &'static str) -> Self {
        let mut model = Self::new(HashMap::new());
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((word, number)) = line.split_once(' ') else { continue };
            let Ok(number) = number.parse::<f32>() else { continue };
            match word {
                "=reads" => model.reads = number,
                "=surely-reads" => model.surely_reads = number,
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

    pub fn vote(&self, tool: &Tool) -> Vote {
        let features = features(tool);
        let sum = self.sum(&features);
        let says = match sum {
            sum if sum >= self.changes => Says::Changes,
            sum if sum > self.may_read || repeats_its_name(tool) => return Vote::silent(Source::Learned),
            sum if sum <= self.surely_reads => Says::Reads,
            // No reader knows the verb: then the rest has to speak for a read.
            sum if sum > self.surely_reads * SPEAKS && !has_known_verb(tool) => return Vote::silent(Source::Learned),
            sum if sum <= self.reads && has_known_verb(tool) && description::unexplained(tool).is_none() => Says::Reads,
            _ => Says::MayRead,
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

/// Whether the definition says nothing besides its name: then there is only the verb that the name voter has read.
fn repeats_its_name(tool: &Tool) -> bool {
    let name = words::of_name(&tool.name);
    let mut sentences = sentences(tool.description.as_deref().unwrap_or_default());
    sentences.next().is_none_or(|sentence| description::repeats(sentence, &name))
}

/// Whether the other voters know what its name or its description opens with. Where they do not, no reader knows the verb.
fn has_known_verb(tool: &Tool) -> bool {
    name::of_name(&words::of_name(&tool.name)).says != Says::Silent || !description::opened(tool).verb.is_empty()
}

/// What a definition says besides the verb of its name and description, as the model knows it: each word with its place, once.
pub fn features(tool: &Tool) -> Vec<String> {
    let named = name::of_name(&words::of_name(&tool.name)).verb;
    let opened = description::opened(tool).verb;
    let telling = |word: &&String| {
        let verb = |verb: &str| words::same(verb, word);
        word.chars().any(char::is_alphabetic) && !verb(&opened) && !named.split('_').any(verb)
    };
    let mut features = Vec::new();
    let mut say = |place: &str, words: &[String]| {
        features.extend(words.iter().filter(telling).map(|word| format!("{place}:{word}")));
    };
    let name: Vec<String> = words::of_name(&tool.name).into_iter().filter(|word| telling(&word)).collect();
    say("name", &name);
    say("first", &name[..name.len().min(1)]);
    say("last", &name[name.len().saturating_sub(1)..]);
    say("title", &words::of_name(tool.title.as_deref().unwrap_or_default()));
    for (at, sentence) in sentences(tool.description.as_deref().unwrap_or_default()).take(8).enumerate() {
        let sentence = words::of_sentence(sentence);
        let place = if at == 0 { "says" } else { "adds" };
        say(place, &sentence[..sentence.len().min(40)]);
    }
    let properties = tool.input_schema.get("properties").and_then(Value::as_object);
    let must = tool.input_schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let must: Vec<&str> = must.filter_map(Value::as_str).collect();
    for (key, schema) in properties.into_iter().flatten().take(40) {
        let key_words = words::of_name(key);
        let kind = schema.get("type").and_then(Value::as_str).unwrap_or("any");
        let head = &key_words[key_words.len().saturating_sub(1)..];
        say("takes", &key_words);
        say(kind, head);
        if must.contains(&key.as_str()) {
            say("must", head);
        }
        let has = ["default", "enum"].into_iter().filter(|word| schema.get(word).is_some());
        let compound = Some(kind).filter(|kind| words::among(kind, "object array"));
        say("has", &has.chain(compound).map(str::to_owned).collect::<Vec<_>>());
    }
    features.push(format!("keys:{}", properties.map_or(0, serde_json::Map::len).min(8)));
    features.push(format!("needs:{}", must.len().min(5)));
    features.sort();
    features.dedup();
    features
}

static MODEL: LazyLock<LearnedModel> =
    LazyLock::new(|| LearnedModel::read(include_str!("../../../assets/learned.txt")));
