//! Judges the rows of tables of calls as the gate does, with a disk that is not there. Decides nothing of what a table must show.
//!
//! A row is one JSON object a line: `tool` (a definition) and `arguments`; `before` are calls that were answered with `p` first,
//! `again` is a second call after the first was answered so. Or tools come in lines of their own, and calls name theirs by number: `of`.

#![allow(dead_code, reason = "each program that has this module uses a part of it")]

use std::collections::BTreeSet;
use std::sync::Arc;

use mcp_approve::behavior::agreed::Agreements;
use mcp_approve::behavior::arguments::key::Said;
use mcp_approve::behavior::conclude::{Behavior, Overrides, Trust, of_described_call, of_tool, of_tool_with};
use mcp_approve::behavior::hazards::{Hazard, HazardKind};
use mcp_approve::behavior::identity::Identity;
use mcp_approve::behavior::shape::{self, Given, Keys, Known, PathKind, PathState, PathStates, Places};
use mcp_approve::behavior::taxonomy::{Action, Mutability, OutputDomain};
use mcp_approve::capability::schema::{Fits, Schema};
use mcp_approve::mcp::request::unknown_meta;
use mcp_approve::mcp::tool::Tool;
use mcp_approve::policy::decide::{Question, decide};
use mcp_approve::policy::parse::built_in;
use mcp_approve::policy::rule::{Decision, Policy};
use serde_json::{Map, Value};

pub const HOME: &str = "/home/ada";
pub const FOLDER: &str = "/home/ada/projects/engine";

/// A server's session, as far as a call is judged by it.
pub struct Session {
    places: Places,
    policy: Policy,
    disk: Disk,
}

/// What is on the disk.
enum Disk {
    /// Everything that a path names: files with an ending, folders else. No name has brackets in it.
    Everything,
    /// These files, and their folders.
    Files(BTreeSet<String>),
}

/// One call, judged.
pub struct Outcome {
    pub runs: bool,
    pub behavior: Behavior,
    pub why: String,
}

impl Session {
    /// In the operator's project, with the folders that the command names.
    pub fn of(command: &[String]) -> Self {
        let named = command.iter().filter(|word| word.starts_with(HOME) && !word.contains("://"));
        let folders = [FOLDER.to_owned()].into_iter().chain(named.cloned()).collect();
        let own = vec![format!("{HOME}/.local/state/mcp-approve"), format!("{HOME}/.config/mcp-approve")];
        let places = Places { folders, home: Some(HOME.to_owned()), own };
        Self { places, policy: built_in(), disk: Disk::Everything }
    }

    /// The same, with no more on the disk than these files.
    pub fn with_files(self, files: BTreeSet<String>) -> Self {
        Self { disk: Disk::Files(files), ..self }
    }

    pub fn judge(&self, tool: &Tool, described: &Behavior, arguments: &Value, agreed: &Agreements) -> Outcome {
        self.judge_given(tool, described, None, arguments, agreed)
    }

    /// A call of a tool of whose keys our list of well-known servers says something.
    pub fn judge_given(
        &self,
        tool: &Tool,
        described: &Behavior,
        given: Option<&Arc<Given>>,
        arguments: &Value,
        agreed: &Agreements,
    ) -> Outcome {
        let keys = Keys::of(tool, described.identity.action, &described.evidence, given);
        let said = Said::of(tool);
        let mut behavior = of_described_call(Some(tool), &said, described, arguments).behavior;
        let mut path_states = PathStates::new();
        for _ in 0..2 {
            let known = Known { agreed, places: &self.places, roots: &[], path_states: &path_states };
            behavior.shape = shape::of_call(Some(tool), &keys, arguments, known);
            for path in std::mem::take(&mut behavior.shape.wanted) {
                let path_state = Arc::new(path_state(&path, &self.disk));
                path_states.insert(path, path_state);
            }
        }
        let known: Vec<_> = described.hazards.clone();
        behavior.hazards.retain(|hazard| !known.contains(hazard));
        // What does not fit the schema is refused, or asks.
        if Schema::compile(&tool.input_schema).is_ok_and(|schema| matches!(schema.check(arguments), Fits::No(_))) {
            let what = "does not fit the schema".to_owned();
            behavior.hazards.push(Hazard { kind: HazardKind::SchemaMismatch, what });
        }
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

/// What is at the end of a path; of links there is `link-to-home` alone.
fn path_state(path: &str, disk: &Disk) -> PathState {
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
            "link-to-home" => words = HOME.split('/').skip(1).collect(),
            word => words.push(word),
        }
    }
    let real = format!("/{}", words.join("/"));
    let looks_like_file = words.last().is_some_and(|last| last.contains('.'));
    let tops = "bin boot etc home lib mnt opt root run srv tmp usr var work";
    let kind = match (words.as_slice(), disk) {
        (["dev", ..] | ["proc", ..] | ["sys", ..], _) => PathKind::Other,
        (_, Disk::Files(files)) if files.contains(&real) && looks_like_file => PathKind::File,
        (_, Disk::Files(files)) if !is_above(&real, files) => PathKind::Missing,
        (_, Disk::Files(_)) => PathKind::Folder,
        ([first, ..], Disk::Everything) if !tops.split(' ').any(|top| top == *first) => PathKind::Missing,
        (_, Disk::Everything) if path.contains('(') => PathKind::Missing,
        (_, Disk::Everything) if looks_like_file => PathKind::File,
        (_, Disk::Everything) => PathKind::Folder,
    };
    let project = match words.as_slice() {
        ["home", "ada", "projects" | "src" | "work", project, ..] => Some(format!("{HOME}/{}/{project}", words[2])),
        ["home", "ada", ".cargo", "registry", "src", _, _, ..] => Some(format!("/{}", words[..7].join("/"))),
        _ => None,
    };
    PathState { real: Some(real), kind, project }
}

/// Whether a path is one of these or a folder above one.
fn is_above(path: &str, files: &BTreeSet<String>) -> bool {
    let inside = format!("{}/", path.trim_end_matches('/'));
    files.contains(path) || files.range(inside.clone()..).next().is_some_and(|file| file.starts_with(&inside))
}

/// The tool as if somebody trusted had said that it reads, so that only the call can ask.
pub fn pinned(tool: &Tool) -> Behavior {
    let concluded = of_tool(tool, Trust::Corroborate);
    let action = if concluded.identity.action == Action::Search { Action::Search } else { Action::Read };
    let identity = Identity { mutability: Mutability::Pure, action, output_domain: OutputDomain::Data };
    of_tool_with(tool, Trust::Corroborate, Overrides { pinned: Some(identity), ..Overrides::default() })
}

/// The operator answers with `p`, where that is offered.
pub fn answer(outcome: &Outcome, agreed: &mut Agreements) {
    if !outcome.runs && outcome.behavior.hazards.is_empty() {
        outcome.behavior.shape.agreements().into_iter().flatten().for_each(|one| _ = agreed.insert(one));
    }
}

/// How the tools of a table count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tools {
    /// Proven to read.
    Pinned,
    /// As they are concluded about.
    Judged,
}

/// One row of a table, judged.
pub struct Row {
    pub class: String,
    pub severity: String,
    pub tool: Tool,
    pub arguments: Option<Value>,
    pub outcome: Outcome,
    /// Whether it ran, or, for a row about a tool alone, whether that is proven to read.
    pub ran: bool,
    /// The second call and what came of it.
    pub again: Option<(Value, Outcome)>,
    /// Whether the very same call runs once the first was answered.
    pub same: bool,
}

impl Row {
    /// The row for people.
    pub fn shown(&self) -> String {
        let arguments: String = self.arguments.iter().map(Value::to_string).collect();
        format!("{}\t{}\t{}\t{}", self.class, self.tool.name, cut(&arguments), cut(&self.outcome.why))
    }
}

/// A text as a list shows it.
pub fn cut(text: &str) -> String {
    text.chars().take(300).collect()
}

/// Judges every row of a table on a new home.
pub fn table(text: &str, tools: Tools) -> Vec<Row> {
    table_after(text, tools, &Agreements::default())
}

/// Judges every row of a table where all this was agreed to.
pub fn table_after(text: &str, tools: Tools, agreed: &Agreements) -> Vec<Row> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let lines = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut listed: Vec<Value> = Vec::new();
    let mut rows = Vec::new();
    for mut line in lines {
        let of = line.get("of").and_then(Value::as_u64).map(|at| listed[usize::try_from(at).unwrap()].clone());
        if let Some(tool) = of {
            line["tool"] = tool;
        } else if line.as_object().is_some_and(|fields| fields.len() == 1) {
            listed.push(line["tool"].take());
            continue;
        }
        rows.push(row(&line, tools, agreed.clone()));
    }
    rows
}

fn row(line: &Value, tools: Tools, mut agreed: Agreements) -> Row {
    let tool = Tool::read(line["tool"].clone()).unwrap();
    let word = |word: &Value| word.as_str().map(str::to_owned);
    let command: Vec<String> = line["command"].as_array().into_iter().flatten().filter_map(word).collect();
    let session = Session::of(&command);
    let described = match tools {
        Tools::Judged => of_tool(&tool, Trust::Corroborate),
        Tools::Pinned => pinned(&tool),
    };
    for before in line["before"].as_array().into_iter().flatten() {
        answer(&session.judge(&tool, &described, before, &agreed), &mut agreed);
    }
    // A row without arguments is about the tool itself: the plainest call of it.
    let arguments = line.get("arguments").map(whole);
    let plainest = Value::Object(Map::new());
    let outcome = session.judge(&tool, &described, arguments.as_ref().unwrap_or(&plainest), &agreed);
    let is_meta_new = line.get("_meta").is_some_and(|meta| !unknown_meta(meta, None).is_empty());
    let ran = match arguments {
        None => outcome.behavior.badge().word() == "PURE",
        Some(_) => outcome.runs && !is_meta_new,
    };
    answer(&outcome, &mut agreed);
    let same = arguments.as_ref().is_some_and(|same| session.judge(&tool, &described, same, &agreed).runs);
    let again = line.get("again").map(|again| (again.clone(), session.judge(&tool, &described, again, &agreed)));
    let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
    Row { class: text("class"), severity: text("severity"), tool, arguments, outcome, ran, again, same }
}

/// Long texts are in the tables as their pieces: `{"repeated": ["SELECT ", ["x", 70000]]}`.
fn whole(value: &Value) -> Value {
    match value {
        Value::Object(fields) => match fields.get("repeated").and_then(Value::as_array) {
            Some(pieces) => Value::String(pieces.iter().map(piece).collect()),
            None => Value::Object(fields.iter().map(|(name, field)| (name.clone(), whole(field))).collect()),
        },
        Value::Array(items) => Value::Array(items.iter().map(whole).collect()),
        other => other.clone(),
    }
}

fn piece(piece: &Value) -> String {
    match piece {
        Value::String(text) => text.clone(),
        run => run[0].as_str().unwrap().repeat(usize::try_from(run[1].as_u64().unwrap()).unwrap()),
    }
}
