//! The corpus on disk, and what the recogniser makes of it. Owns reading and the split; counts nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use mcp_approve::behavior::conclude::{Overrides, Trust, of_call, of_tool, of_tool_with};
use mcp_approve::behavior::curated::Curated;
use mcp_approve::cli::tools::{Hints, classify};
use mcp_approve::mcp::tool::Tool;
use serde_json::Value;

/// One tool: what its author and its readers say, and what the recogniser says.
pub struct Judged {
    pub package: String,
    pub name: String,
    pub definition: Value,
    /// The author's `readOnlyHint`; `None` without one, or where it is known to be wrong or arguable.
    pub read_only: Option<bool>,
    pub destructive: bool,
    /// The majority of the gold readers: mutability, action, output domain.
    pub gold: Option<[String; 3]>,
    pub said: [String; 3],
    pub evidence: String,
}

/// All of it.
pub struct Corpus {
    pub tools: Vec<Judged>,
    pub classifying: Duration,
}

/// Which servers count.
#[derive(Clone, Copy)]
pub enum Part {
    All,
    Tuned,
    HeldOut,
    Fold(u64),
}

impl Part {
    pub fn has(self, package: &str) -> bool {
        // FNV-1a: the same split on every machine.
        let hash = package
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        let hash = hash >> 17;
        match self {
            Self::All => true,
            Self::Tuned => !hash.is_multiple_of(3),
            Self::HeldOut => hash.is_multiple_of(3),
            Self::Fold(fold) => hash % 5 == fold,
        }
    }
}

impl Corpus {
    pub fn read(folder: &Path) -> Result<Self, String> {
        let json = |path: &Path| -> Result<Value, String> {
            let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
            serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
        };
        let key = |row: &Value| (text(row, "package"), text(row, "tool"));
        let listed = |name: &str| json(&folder.join(name)).map(|rows| rows.as_array().cloned().unwrap_or_default());
        let left_out: BTreeSet<_> = listed("labels.json").unwrap_or_default().iter().map(key).collect();
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
        let mut corpus = Self { tools: Vec::new(), classifying: Duration::ZERO };
        for file in files {
            let server = json(&file)?;
            let package = text(&server, "package");
            let input = serde_json::json!({ "tools": server["tools"] }).to_string();
            let before = Instant::now();
            let output = classify(&input, Hints::Hidden).map_err(|error| error.to_string())?;
            corpus.classifying += before.elapsed();
            let rows: Vec<Value> = serde_json::from_str(&output).map_err(|error| error.to_string())?;
            let definitions = server["tools"].as_array().into_iter().flatten().filter(|tool| tool["name"].is_string());
            for (definition, row) in definitions.zip(rows) {
                let name = text(definition, "name");
                let id = (package.clone(), name.clone());
                let hints = &definition["annotations"];
                corpus.tools.push(Judged {
                    read_only: hints["readOnlyHint"].as_bool().filter(|_| !left_out.contains(&id)),
                    destructive: hints["destructiveHint"] == Value::Bool(true),
                    gold: gold.get(&id).cloned(),
                    said: [text(&row, "mutability"), text(&row, "action"), text(&row, "output_domain")],
                    evidence: pieces(&row),
                    package: package.clone(),
                    name,
                    definition: definition.clone(),
                });
            }
        }
        Ok(corpus)
    }

    pub fn servers(&self) -> usize {
        self.tools.iter().map(|tool| &tool.package).collect::<BTreeSet<_>>().len()
    }

    pub fn part(&self, part: Part) -> impl Iterator<Item = &Judged> {
        self.tools.iter().filter(move |tool| part.has(&tool.package))
    }

    /// How many tools bear each hazard of the definition; prints each where `loud`.
    pub fn hazards(&self, loud: bool) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let mut spent = Duration::ZERO;
        for tool in &self.tools {
            let Some(read) = Tool::read(tool.definition.clone()) else { continue };
            let before = Instant::now();
            let behavior = of_tool(&read, Trust::Corroborate);
            spent += before.elapsed();
            for hazard in behavior.hazards {
                *counts.entry(hazard.kind.word()).or_default() += 1;
                if loud {
                    println!("HAZARD {}\t{}\t{}\t{}", hazard.kind.word(), tool.package, tool.name, hazard.what);
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
            .map(|tool| tool.definition.clone())
            .collect();
        let mut times: Vec<Duration> = (0..9)
            .map(|_| {
                let before = Instant::now();
                let curated = Curated::of_package("npm:@modelcontextprotocol/server-github");
                for definition in &list {
                    let Some(tool) = Tool::read(definition.clone()) else { continue };
                    let told = Overrides { pinned: None, curated: curated.find(&tool.digest()) };
                    std::hint::black_box(of_tool_with(&tool, Trust::Corroborate, told));
                }
                before.elapsed()
            })
            .collect();
        times.sort();
        times[4]
    }

    pub fn print_errors(&self, part: Part) {
        for tool in self.part(part) {
            let kind = match (tool.read_only, tool.said[0].as_str()) {
                (Some(false), "PURE") if tool.destructive => "FALSE PURE!!",
                (Some(false), "PURE") => "FALSE PURE",
                (Some(true), "MUTATES") => "missed",
                _ => continue,
            };
            println!("{kind}\t{}\t{}", tool.package, tool.shown());
        }
    }

    /// Prints what the recogniser knows nothing of.
    pub fn print_unknown(&self) {
        for tool in self.tools.iter().filter(|tool| tool.said[1] == "UNKNOWN") {
            println!("UNKNOWN {:?}\t{}\t{}", tool.read_only, tool.package, tool.shown());
        }
    }

    /// Prints what the recogniser calls PURE though its author says nothing: where a false PURE would hide.
    pub fn print_silent(&self) {
        for tool in self.tools.iter().filter(|tool| tool.read_only.is_none() && tool.said[0] == "PURE") {
            println!("SILENT PURE\t{}\t{}", tool.package, tool.shown());
        }
    }

    pub fn print_gold(&self, part: Part) {
        for tool in self.part(part) {
            if let Some(gold) = &tool.gold
                && *gold != tool.said
            {
                println!("GOLD {} said {}\t{}\t{}", gold.join("|"), tool.said.join("|"), tool.package, tool.shown());
            }
        }
    }
}

impl Judged {
    fn shown(&self) -> String {
        let description: String = text(&self.definition, "description").chars().take(220).collect();
        format!("{}\t{description:?}\t<{}>", self.name, self.evidence)
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
    let text = arguments.to_string();
    let described = of_tool(&tool, Trust::Corroborate);
    let rounds = 10_000;
    let before = Instant::now();
    for _ in 0..rounds {
        std::hint::black_box(of_call(Some(&tool), &described, &text, &arguments));
    }
    before.elapsed() / rounds
}

fn pieces(row: &Value) -> String {
    let piece = |piece: &Value| format!("{}={}", text(piece, "span"), text(piece, "says"));
    row["evidence"].as_array().into_iter().flatten().map(piece).collect::<Vec<_>>().join("; ")
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}
