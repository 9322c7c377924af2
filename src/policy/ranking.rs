//! Which tools fit a task, the best first: relevance × gate × cost (tool capability profiles). Owns the one order of `tools search`
//! and of the search tool that `--discover` gives an agent; the gate, what may be used at all, is asked of its caller.

use std::collections::{BTreeSet, HashMap};

use rust_stemmers::{Algorithm, Stemmer};
use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::behavior::words::{self, among, section};
use crate::mcp::tool::Tool;
use crate::policy::role::{CostTier, Profile};

/// A tool that a search may find. Its definition is foreign text.
#[derive(Debug)]
pub struct Candidate<'t> {
    /// The name of its server, where that helps to find it.
    pub server: &'t str,
    pub tool: &'t Tool,
    pub profile: Profile,
    /// How its calls were answered so far, if that is known.
    pub observed: Option<Observed>,
}

#[derive(Clone, Debug)]
pub struct Observed {
    /// The median, in milliseconds.
    pub latency_ms: f64,
    /// Between 0 and 1.
    pub error_rate: f64,
    pub words: String,
}

#[derive(Debug)]
pub struct Hit {
    pub at: usize,
    pub relevance: f64,
    /// The factor for what a call costs, from 0 to 1 where 1 is free.
    pub cost: f64,
    /// Where the words matched, and what it costs.
    pub why: String,
}

impl Hit {
    pub fn score(&self) -> f64 {
        self.relevance * self.cost
    }
}

/// The candidates that fit a query and may be used, and those that fit and may not, each the best first. Any one word is enough.
/// `barred` says what keeps one out, whatever it is worth otherwise.
pub fn rank<B>(
    query: &str,
    candidates: &[Candidate<'_>],
    barred: impl Fn(usize) -> Option<B>,
) -> (Vec<Hit>, Vec<(Hit, B)>) {
    let relevance = relevances(query, candidates);
    let (mut hits, mut out) = (Vec::new(), Vec::new());
    for (at, (candidate, relevance)) in candidates.iter().zip(relevance).enumerate() {
        if relevance == 0.0 {
            continue;
        }
        let (cost, price) = cost(candidate);
        let why = format!("{}; relevance {relevance:.2} × cost {cost:.2} ({price})", matched(query, candidate.tool));
        let hit = Hit { at, relevance, cost, why };
        match barred(at) {
            None => hits.push(hit),
            Some(why) => out.push((hit, why)),
        }
    }
    let name = |hit: &Hit| candidates.get(hit.at).map(|one| &one.tool.name);
    let order = |a: &Hit, b: &Hit| b.score().total_cmp(&a.score()).then_with(|| name(a).cmp(&name(b)));
    hits.sort_by(order);
    out.sort_by(|(a, _), (b, _)| order(a, b));
    (hits, out)
}

fn asked(query: &str) -> Vec<String> {
    const MUTE: &str =
        "a an the of to in on at for from with by and or is are that this it its my me all some any i want";
    const MOST: usize = 64;
    let mut words = words::of_name(query);
    words.truncate(MOST);
    let telling: Vec<String> = words.iter().filter(|word| !among(word, MUTE)).cloned().collect();
    if telling.is_empty() { words } else { telling }
}

/// Words that mean about the same as this one.
fn alike(word: &str) -> impl Iterator<Item = &'static str> {
    const ROWS: &str = section(include_str!("../../assets/words/synonyms.txt"), "alike");
    let word = word.to_owned();
    let rows = ROWS.lines().filter(move |row| among(&word, row) || among(word.trim_end_matches('s'), row));
    rows.flat_map(str::split_ascii_whitespace)
}

/// What a word counts that only means about the same as the one that was asked for.
const ALIKE: f64 = 0.5;
/// How many words of a text are looked through, so that one long description costs no more than many short ones.
const WORDS: usize = 1_000;

/// How often a definition has each stem: once in the name counts as much as eight times in a parameter.
#[derive(Default)]
struct Stems {
    counts: HashMap<String, f64>,
    length: f64,
}

impl Stems {
    fn of(candidate: &Candidate<'_>, stemmer: &Stemmer) -> Self {
        let tool = candidate.tool;
        let mut stems = Self::default();
        let mut add = |text: &str, weight: f64| {
            for word in tokens(text).take(WORDS) {
                *stems.counts.entry(stemmed(stemmer, word)).or_default() += weight;
                stems.length += 1.0;
            }
        };
        add(&tool.name, 8.0);
        add(&words::of_name(&tool.name).join(" "), 8.0);
        add(candidate.server, 4.0);
        add(tool.title.as_deref().unwrap_or_default(), 4.0);
        add(tool.description.as_deref().unwrap_or_default(), 2.0);
        add(&parameters(tool), 1.0);
        stems
    }
}

/// Okapi BM25 (k1 = 1.2, b = 0.75) over the fields, for each word of the query its best form.
fn relevances(query: &str, candidates: &[Candidate<'_>]) -> Vec<f64> {
    const K1: f64 = 1.2;
    const B: f64 = 0.75;
    let stemmer = Stemmer::create(Algorithm::English);
    let stems: Vec<Stems> = candidates.iter().map(|one| Stems::of(one, &stemmer)).collect();
    #[expect(clippy::cast_precision_loss, reason = "tens of thousands of tools at most")]
    let all = stems.len() as f64;
    let mean = stems.iter().map(|one| one.length).sum::<f64>() / all.max(1.0);
    let mut found = vec![0.0_f64; stems.len()];
    for word in asked(query).into_iter().collect::<BTreeSet<_>>() {
        let mut of_word = vec![0.0_f64; stems.len()];
        for (form, factor) in std::iter::once((word.as_str(), 1.0)).chain(alike(&word).map(|one| (one, ALIKE))) {
            let stem = stemmed(&stemmer, form);
            let count = |one: &Stems| one.counts.get(&stem).copied().unwrap_or_default();
            #[expect(clippy::cast_precision_loss, reason = "tens of thousands of tools at most")]
            let having = stems.iter().filter(|one| count(one) > 0.0).count() as f64;
            // Never next to nothing: in a small catalogue every word that fits is in half of the tools.
            let rarity = 1.0 + ((all + 1.0) / (having + 1.0)).ln();
            for (best, one) in of_word.iter_mut().zip(&stems) {
                let count = count(one);
                let weight = count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * one.length / mean.max(1.0)));
                *best = best.max(weight * factor * rarity);
            }
        }
        found.iter_mut().zip(of_word).for_each(|(sum, one)| *sum += one);
    }
    found
}

fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && !is_combining_mark(c)).filter(|word| !word.is_empty())
}

/// In lower case, without accents, without its ending: `Überprüfungen` to `uberprufungen`, `listing` to `list`.
fn stemmed(stemmer: &Stemmer, word: &str) -> String {
    let plain: String = match word.is_ascii() {
        true => word.to_ascii_lowercase(),
        false => word.nfd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).collect(),
    };
    stemmer.stem(&plain).into_owned()
}

fn parameters(tool: &Tool) -> String {
    let mut text = String::new();
    for (key, schema) in tool.input_schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        text.push_str(&words::of_name(key).join(" "));
        text.push(' ');
        text.push_str(schema.get("description").and_then(Value::as_str).unwrap_or_default());
        text.push('\n');
    }
    text
}

/// The factor for what a call costs, and the same in words: by the latency and errors observed, and what its server says.
fn cost(Candidate { observed, profile: says, .. }: &Candidate<'_>) -> (f64, String) {
    let factor = |tier: CostTier| match tier {
        CostTier::Free => 1.0,
        CostTier::Low => 0.95,
        CostTier::Medium => 0.85,
        CostTier::High => 0.7,
    };
    let of_time = |ms: f64| match ms {
        ..50.0 => CostTier::Free,
        ..500.0 => CostTier::Low,
        ..5_000.0 => CostTier::Medium,
        _ => CostTier::High,
    };
    // Price and latency are separate costs: the higher counts. Observed latency goes before declared latency.
    let Some(Observed { latency_ms, error_rate, words }) = observed else {
        let said = says.said().map_or_else(String::new, |(said, author)| format!(", {said}, {}", author.says()));
        #[expect(clippy::cast_precision_loss, reason = "which of four tiers it is")]
        let tier = says.cost.max(says.latency_ms.map(|ms| of_time(ms as f64)));
        return (tier.map_or(0.95, factor), format!("never called{said}"));
    };
    let tier = says.cost.max(Some(of_time(*latency_ms))).unwrap_or(CostTier::High);
    (factor(tier) * (1.0 - error_rate / 2.0), words.clone())
}

fn matched(query: &str, tool: &Tool) -> String {
    let wanted = asked(query);
    let in_name = words::of_name(&tool.name);
    let is_same = |a: &str, b: &str| a == b || a.strip_suffix('s') == Some(b) || b.strip_suffix('s') == Some(a);
    let (named, described): (Vec<&String>, Vec<&String>) =
        wanted.iter().partition(|word| in_name.iter().any(|name| is_same(word, name)));
    let text = [tool.title.as_deref(), tool.description.as_deref(), Some(&parameters(tool))];
    let text = text.map(Option::unwrap_or_default).join(" ").to_lowercase();
    let described: Vec<&String> =
        described.into_iter().filter(|word| text.contains(word.trim_end_matches('s'))).collect();
    let list = |words: &[&String]| words.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(" ");
    let named = (!named.is_empty()).then(|| format!("name has {}", list(&named)));
    let described = (!described.is_empty()).then(|| format!("description has {}", list(&described)));
    let both: Vec<String> = named.into_iter().chain(described).collect();
    if both.is_empty() { "related words".to_owned() } else { both.join(", ") }
}
