//! Draws the calls of a working day from `tests/fixtures/session/workload.toml`: the same ones for the same day, on every machine.
//! The file says how a call is written. Judges nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::judging::{FOLDER, HOME};

const SEED: u64 = 24;

/// One call as the agent makes it.
pub struct Call {
    pub server: String,
    pub tool: String,
    pub arguments: Value,
    /// It changes something, so a question about it is right.
    pub changes: bool,
}

/// `workload.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Workload {
    call: Vec<Template>,
    lists: BTreeMap<String, List>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Template {
    tool: String,
    times: Times,
    #[serde(default)]
    changes: bool,
    with: Map<String, Value>,
    /// Optional arguments: in how many of a hundred calls, and what.
    #[serde(default)]
    some: BTreeMap<String, (u64, Value)>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Times {
    EachDay(usize),
    ByDay([usize; 2]),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum List {
    Even(Vec<Value>),
    Falling { falling: Vec<Value> },
    ByDay { first: Vec<Value>, second: Vec<Value> },
}

/// SplitMix64.
pub struct Chance(pub u64);

impl Chance {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    }
}

/// The calls of both days, and every file that is on the disk.
pub fn days() -> ([Vec<Call>; 2], BTreeSet<String>) {
    let text = include_str!("../fixtures/session/workload.toml");
    let workload: Workload = toml::from_str(text).unwrap();
    let mut files = BTreeSet::new();
    let days = [0, 1].map(|day| {
        let chance = Chance(SEED + day as u64);
        let mut draw = Draw { lists: &workload.lists, day, chance, records: BTreeMap::new(), files: &mut files };
        let mut calls: Vec<Call> = workload.call.iter().flat_map(|template| draw.calls(template)).collect();
        // In any order: an agent does not read all files before it looks at the first branch.
        for at in (1..calls.len()).rev() {
            calls.swap(at, draw.chance.below(at + 1));
        }
        calls
    });
    (days, files)
}

/// What is drawn for one day.
struct Draw<'a> {
    lists: &'a BTreeMap<String, List>,
    day: usize,
    chance: Chance,
    /// The records that the call at hand has drawn: `{library.id}` and `{library.name}` are of one library.
    records: BTreeMap<String, Value>,
    files: &'a mut BTreeSet<String>,
}

impl Draw<'_> {
    fn calls(&mut self, template: &Template) -> Vec<Call> {
        let times = match template.times {
            Times::EachDay(times) => times,
            Times::ByDay(times) => times[self.day],
        };
        (0..times).map(|_| self.call(template)).collect()
    }

    fn call(&mut self, template: &Template) -> Call {
        self.records.clear();
        let mut arguments: Map<String, Value> =
            template.with.iter().map(|(key, value)| (key.clone(), self.value(value))).collect();
        for (key, (percent, value)) in &template.some {
            if self.chance.below(100) < usize::try_from(*percent).unwrap() {
                arguments.insert(key.clone(), self.value(value));
            }
        }
        let (server, tool) = template.tool.split_once('.').unwrap();
        let arguments = Value::Object(arguments);
        // What the agent reads or edits with these is on the disk.
        if ["filesystem", "git"].contains(&server) {
            self.keep(&arguments);
        }
        Call { server: server.to_owned(), tool: tool.to_owned(), arguments, changes: template.changes }
    }

    fn keep(&mut self, value: &Value) {
        match value {
            Value::String(text) if text.starts_with(HOME) || text.starts_with("/tmp/") => {
                self.files.insert(text.clone());
            }
            Value::Array(items) => items.iter().for_each(|item| self.keep(item)),
            Value::Object(fields) => fields.values().for_each(|field| self.keep(field)),
            _ => {}
        }
    }

    fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => fields.iter().map(|(key, field)| (key.clone(), self.value(field))).collect(),
            other => other.clone(),
        }
    }

    /// A text with what is drawn in it; a text that is one drawing alone becomes what was drawn.
    fn text(&mut self, text: &str) -> Value {
        let mut made = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('{') {
            made.push_str(&rest[..at]);
            let inner = rest[at + 1..].split('}').next().unwrap();
            let is_drawn =
                !inner.is_empty() && inner.chars().all(|one| one.is_ascii_alphanumeric() || "_.:-".contains(one));
            if !is_drawn {
                made.push('{');
                rest = &rest[at + 1..];
                continue;
            }
            let drawn = self.drawn(inner);
            if inner.len() + 2 == text.len() {
                return drawn;
            }
            made.push_str(drawn.as_str().map(str::to_owned).unwrap_or(drawn.to_string()).as_str());
            rest = &rest[at + inner.len() + 2..];
        }
        made.push_str(rest);
        Value::String(made)
    }

    fn drawn(&mut self, what: &str) -> Value {
        let (name, more) = what.split_once([':', '.']).unwrap_or((what, ""));
        match name {
            "int" => {
                let (low, high) = range(more);
                Value::from(low + self.chance.below(high - low + 1))
            }
            "hex" | "HEX" => {
                let digits = if name == "hex" { b"0123456789abcdef" } else { b"0123456789ABCDEF" };
                let count: usize = more.parse().unwrap();
                Value::String((0..count).map(|_| char::from(digits[self.chance.below(16)])).collect())
            }
            "some" => {
                let (count, list) = more.split_once(':').unwrap();
                let (low, high) = range(count);
                let count = low + self.chance.below(high - low + 1);
                (0..count).map(|_| self.from_list(list)).collect()
            }
            _ if more.is_empty() => self.from_list(name),
            record => {
                let known = self.records.get(record).cloned();
                let known = known.unwrap_or_else(|| self.from_list(record));
                self.records.insert(record.to_owned(), known.clone());
                known[more].clone()
            }
        }
    }

    fn from_list(&mut self, name: &str) -> Value {
        let list = self.lists.get(name).unwrap_or_else(|| panic!("no list {name}"));
        let of = match list {
            List::Even(of) | List::Falling { falling: of } => of,
            List::ByDay { first, second } => [first, second][self.day],
        };
        let end = if matches!(list, List::Falling { .. }) { self.falling(of.len()) } else { of.len() };
        let at = self.chance.below(end);
        let drawn = self.value(&of[at]);
        if let Some(file) = drawn.as_str().filter(|_| name == "own_file") {
            self.files.insert(format!("{FOLDER}/{file}"));
        }
        drawn
    }

    /// Each item is among those that are drawn from more rarely than the one before it.
    fn falling(&mut self, items: usize) -> usize {
        self.chance.below(items) + 1
    }
}

fn range(text: &str) -> (usize, usize) {
    let (low, high) = text.split_once('-').unwrap();
    (low.parse().unwrap(), high.parse().unwrap())
}
