//! How many calls of a table run unasked: `cargo bench --bench asked -- FILE…`. A row of a table is one JSON object a line:
//! `tool` (a definition) and `arguments`; `before` are calls that were answered with `p` first, `again` is a second call after
//! the first was answered so. Tools count as proven to read, so that only the call can ask. `--own` judges the tools too.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench tells what it did, and has nobody to report to")]

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_approve::behavior::agreed::Agreements;
use mcp_approve::behavior::arguments::memory::Memory;
use mcp_approve::behavior::arguments::said::Said;
use mcp_approve::behavior::conclude::{Behavior, Overrides, Trust, of_described_call, of_tool, of_tool_with};
use mcp_approve::behavior::identity::Identity;
use mcp_approve::behavior::shape::{self, Keys, Known, Places, Stand, StandKind, Stands};
use mcp_approve::behavior::taxonomy::{Action, Mutability, OutputDomain};
use mcp_approve::mcp::meta::unknown_meta;
use mcp_approve::mcp::tool::Tool;
use mcp_approve::policy::decide::{Question, decide};
use mcp_approve::policy::parse::built_in;
use mcp_approve::policy::rule::{Decision, Policy};
use serde_json::Value;

const HOME: &str = "/home/ada";
const FOLDER: &str = "/home/ada/projects/engine";

/// A server's session, as far as a call is judged by it.
struct Session {
    places: Places,
    policy: Policy,
}

/// One call, judged.
struct Outcome {
    runs: bool,
    behavior: Behavior,
    why: String,
}

impl Session {
    /// In the operator's project, with the folders that the command names.
    fn of(command: &[String]) -> Self {
        let named = command.iter().filter(|word| word.starts_with(HOME) && !word.contains("://"));
        let folders = [FOLDER.to_owned()].into_iter().chain(named.cloned()).collect();
        let own = vec![format!("{HOME}/.local/state/mcp-approve"), format!("{HOME}/.config/mcp-approve")];
        Self { places: Places { folders, home: Some(HOME.to_owned()), own }, policy: built_in() }
    }

    fn judge(&self, tool: &Tool, described: &Behavior, arguments: &Value, agreed: &Agreements) -> Outcome {
        let keys = Keys::of(tool, described);
        let said = Said::of(tool);
        let mut behavior = of_described_call(Some(tool), &said, described, arguments, &mut Memory::default()).behavior;
        let mut stands = Stands::new();
        for _ in 0..2 {
            let known = Known { agreed, places: &self.places, roots: &[], stands: &stands };
            behavior.shape = shape::of_call(Some(tool), &keys, arguments, known);
            for path in std::mem::take(&mut behavior.shape.wanted) {
                let stand = Arc::new(stand(&path));
                stands.insert(path, stand);
            }
        }
        let known: Vec<_> = described.hazards.clone();
        behavior.hazards.retain(|hazard| !known.contains(hazard));
        let question = Question {
            method: None,
            server: "server",
            tool: &tool.name,
            behavior: &behavior,
            arguments,
            now: 0,
            recent: None,
        };
        let ruling = decide(&self.policy, &question);
        Outcome { runs: ruling.decision == Decision::Allow, why: ruling.reason.into_owned(), behavior }
    }
}

/// A disk on which everything is that a path names: files with an ending, folders else.
fn stand(path: &str) -> Stand {
    let whole = match path.strip_prefix('~') {
        Some(rest) => format!("{HOME}{rest}"),
        None if path.starts_with('/') => path.to_owned(),
        None => format!("{FOLDER}/{path}"),
    };
    let mut words: Vec<&str> = Vec::new();
    for word in whole.split('/') {
        match word {
            "" | "." => {}
            ".." => drop(words.pop()),
            word => words.push(word),
        }
    }
    let real = format!("/{}", words.join("/"));
    let kind = match words.as_slice() {
        ["dev", ..] | ["proc", ..] | ["sys", ..] => StandKind::Other,
        [.., last] if last.contains('.') => StandKind::File,
        _ => StandKind::Folder,
    };
    let project = match words.as_slice() {
        ["home", "ada", "projects" | "src" | "work", project, ..] => Some(format!("{HOME}/{}/{project}", words[2])),
        _ => None,
    };
    Stand { real: Some(real), kind, project }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| words.iter().any(|word| word == flag);
    for file in words.iter().filter(|word| !word.starts_with("--")) {
        table(file, has("--own"), has("--list"));
    }
}

fn table(file: &str, own: bool, list: bool) {
    let text = std::fs::read_to_string(file).unwrap();
    let mut classes: BTreeMap<String, [usize; 4]> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let row: Value = serde_json::from_str(line).unwrap();
        let tool = Tool::read(row["tool"].clone()).unwrap();
        let word = |word: &Value| word.as_str().map(str::to_owned);
        let command: Vec<String> = row["command"].as_array().into_iter().flatten().filter_map(word).collect();
        let session = Session::of(&command);
        let concluded = of_tool(&tool, Trust::Corroborate);
        let described = if own { concluded } else { pinned(&tool, &concluded) };
        let mut agreed = Agreements::default();
        for before in row["before"].as_array().into_iter().flatten() {
            answer(&session.judge(&tool, &described, before, &agreed), &mut agreed);
        }
        // A row without arguments is about the tool itself: the plainest call of it.
        let plainest = Value::Object(serde_json::Map::new());
        let outcome = session.judge(&tool, &described, row.get("arguments").unwrap_or(&plainest), &agreed);
        let class = row["class"].as_str().unwrap_or_default().to_owned();
        let counts = classes.entry(class.clone()).or_default();
        counts[0] += 1;
        if row.get("arguments").is_none() && outcome.behavior.badge().word() == "PURE" {
            counts[1] += 1;
            if list {
                println!(
                    "PROVEN {class}\t{}\t{}",
                    tool.name,
                    tool.description.as_deref().unwrap_or_default().replace('\n', " ")
                );
            }
            continue;
        }
        let meta = row.get("_meta").is_some_and(|meta| !unknown_meta(meta, None).is_empty());
        let runs = outcome.runs && !meta;
        counts[1] += usize::from(runs);
        if list {
            let word = if runs { "RAN" } else { "ASKED" };
            let arguments: String = row["arguments"].to_string().chars().take(300).collect();
            println!("{word} {class}\t{}\t{arguments}\t{}", tool.name, outcome.why);
        }
        if let Some(again) = row.get("again") {
            counts[2] += 1;
            answer(&outcome, &mut agreed);
            let outcome = session.judge(&tool, &described, again, &agreed);
            counts[3] += usize::from(outcome.runs);
            if list && !outcome.runs {
                let arguments: String = again.to_string().chars().take(300).collect();
                println!("AGAIN {class}\t{}\t{arguments}\t{}", tool.name, outcome.why);
            }
        }
    }
    let mut all = [0; 4];
    for (class, counts) in &classes {
        if !list {
            println!("{class:28} {:4} ran {:4}; again {:4} ran {:4}", counts[0], counts[1], counts[2], counts[3]);
        }
        all.iter_mut().zip(counts).for_each(|(all, count)| *all += count);
    }
    println!("{file}: {} rows, {} ran unasked; {} again, {} ran unasked", all[0], all[1], all[2], all[3]);
}

/// The tool as if somebody trusted had said that it reads.
fn pinned(tool: &Tool, concluded: &Behavior) -> Behavior {
    let action = if concluded.identity.action == Action::Search { Action::Search } else { Action::Read };
    let identity = Identity { mutability: Mutability::Pure, action, output_domain: OutputDomain::Data };
    of_tool_with(tool, Trust::Corroborate, Overrides { pinned: Some(identity), ..Overrides::default() })
}

/// The operator answers with `p`, where that is offered.
fn answer(outcome: &Outcome, agreed: &mut Agreements) {
    if !outcome.runs && outcome.behavior.hazards.is_empty() {
        outcome.behavior.shape.agreements().into_iter().flatten().for_each(|one| agreed.add(one));
    }
}
