//! The corpus on disk: servers, tools, labels. Owns reading and the split into folds; counts nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use mcp_approve::behavior::conclude::{Overrides, Trust, of_call, of_tool, of_tool_with};
use mcp_approve::behavior::curated::Curated;
use mcp_approve::behavior::voters::{Vote, description, learned, name};
use mcp_approve::mcp::tool::Tool;
use serde_json::Value;

/// One tool, without what its author declares: who reads it, and what is known of it.
pub struct Labelled {
    pub package: String,
    /// Its definition, annotations and declared fields left out.
    pub tool: Tool,
    /// The author's `readOnlyHint`, or what it was judged to be; `None` without one, or where it is arguable.
    pub read_only: Option<bool>,
    pub destructive: bool,
    /// The majority of the gold readers: mutability, action, output domain.
    pub gold: Option<[String; 3]>,
    pub features: Vec<String>,
    pub name: Vote,
    pub description: Vote,
}

impl Labelled {
    /// The fold of its server: the same on every machine.
    pub fn fold(&self, folds: u64) -> u64 {
        self.hash() % folds
    }

    /// A split that is independent of the first.
    pub fn inner_fold(&self, folds: u64) -> u64 {
        (self.hash() / 1_009) % folds
    }

    fn hash(&self) -> u64 {
        // FNV-1a, and its bits mixed: the low ones of similar names are alike.
        let bytes = self.package.bytes();
        let hash =
            bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        (hash ^ (hash >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24
    }
}

/// All of it.
pub struct Corpus {
    pub tools: Vec<Labelled>,
}

impl Corpus {
    pub fn read(folder: &Path) -> Result<Self, String> {
        let json = |path: &Path| -> Result<Value, String> {
            let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
            serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
        };
        let key = |row: &Value| (text(row, "package"), text(row, "tool"));
        let listed = |name: &str| json(&folder.join(name)).map(|rows| rows.as_array().cloned().unwrap_or_default());
        let labels: BTreeMap<_, _> =
            listed("labels.json").unwrap_or_default().iter().map(|row| (key(row), text(row, "judged"))).collect();
        let gold: BTreeMap<_, _> = listed("gold.json")
            .unwrap_or_default()
            .iter()
            .map(|row| (key(row), [text(row, "mutability"), text(row, "action"), text(row, "output_domain")]))
            .collect();
        let mut files: Vec<_> = std::fs::read_dir(folder.join("dev"))
            .map_err(|error| error.to_string())?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
            .collect();
        files.sort();
        let mut corpus = Self { tools: Vec::new() };
        for file in files {
            let server = json(&file)?;
            let package = text(&server, "package");
            for definition in server["tools"].as_array().into_iter().flatten() {
                let Some(tool) = Tool::read(hidden(definition.clone())) else { continue };
                let id = (package.clone(), tool.name.clone());
                let hint = definition["annotations"]["readOnlyHint"].as_bool();
                let read_only = match labels.get(&id).map(String::as_str) {
                    Some("PURE") => Some(true),
                    Some("MUTATES") => Some(false),
                    Some(_) => None,
                    None => hint,
                };
                corpus.tools.push(Labelled {
                    destructive: hint == Some(false)
                        && definition["annotations"]["destructiveHint"] == Value::Bool(true),
                    read_only: read_only.filter(|_| hint.is_some()),
                    gold: gold.get(&id).cloned(),
                    features: learned::features(&tool),
                    name: name::vote(&tool),
                    description: description::vote(&tool),
                    package: package.clone(),
                    tool,
                });
            }
        }
        Ok(corpus)
    }

    pub fn servers(&self) -> usize {
        self.tools.iter().map(|tool| &tool.package).collect::<BTreeSet<_>>().len()
    }

    /// How many tools bear each hazard of the definition; prints each where `loud`.
    pub fn hazards(&self, loud: bool) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let mut spent = Duration::ZERO;
        for tool in &self.tools {
            let before = Instant::now();
            let behavior = of_tool(&tool.tool, Trust::Corroborate);
            spent += before.elapsed();
            for hazard in behavior.hazards {
                *counts.entry(hazard.kind.word()).or_default() += 1;
                if loud {
                    println!("HAZARD {}\t{}\t{}\t{}", hazard.kind.word(), tool.package, tool.tool.name, hazard.what);
                }
            }
        }
        format!("{counts:?}; concluding took {spent:?} for {} tools", self.tools.len())
    }

    /// The time to describe a server of 500 tools, as its list is learnt: read, digest, our list, conclusion. Median of nine.
    pub fn of_500(&self) -> Duration {
        let list: Vec<Value> = self
            .tools
            .iter()
            .step_by((self.tools.len() / 500).max(1))
            .take(500)
            .map(|tool| tool.tool.definition.clone())
            .collect();
        let mut times: Vec<Duration> = (0..9)
            .map(|_| {
                let before = Instant::now();
                let curated = Curated::of_package("npm:@modelcontextprotocol/server-github");
                for definition in &list {
                    let Some(tool) = Tool::read(definition.clone()) else { continue };
                    let told = Overrides { curated: curated.find(&tool.digest()), ..Overrides::default() };
                    std::hint::black_box(of_tool_with(&tool, Trust::Corroborate, told));
                }
                before.elapsed()
            })
            .collect();
        times.sort();
        times[4]
    }
}

/// The time to conclude about one call of a file tool, mean of many.
pub fn one_call() -> Duration {
    let definition = serde_json::json!({
        "name": "read_text_file",
        "description": "Reads the complete contents of a file as text.",
        "inputSchema": { "properties": { "path": {}, "head": {}, "tail": {}, "pattern": {} } },
    });
    let arguments = serde_json::json!({
        "path": "/home/someone/projects/a-longer-project-name/src/behavior/arguments/mod.rs",
        "head": 200,
        "pattern": "a text of a few words that an agent might look for in a file, and some more words",
    });
    let Some(tool) = Tool::read(definition) else { return Duration::ZERO };
    let described = of_tool(&tool, Trust::Corroborate);
    let rounds = 10_000;
    let before = Instant::now();
    for _ in 0..rounds {
        std::hint::black_box(of_call(Some(&tool), &described, &arguments));
    }
    before.elapsed() / rounds
}

/// The definition without what its author declares.
fn hidden(mut definition: Value) -> Value {
    if let Value::Object(fields) = &mut definition {
        for key in ["annotations", "_meta", "mutability", "action", "output_domain", "content_type"] {
            fields.remove(key);
        }
    }
    definition
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}
