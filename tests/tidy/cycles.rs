//! Imports between files, and between rooms inside a layer, form no cycle, but for the mutual recursions listed here; neither do
//! the methods of one type that stand in several files.

use std::collections::{BTreeMap, BTreeSet};

use super::{check, code, sources};

/// The layers that are read so.
const LAYERS: [&str; 18] = [
    "wire", "signing", "text", "mcp", "capability", "behavior", "policy", "audit", "gate", "pins", "home", "link",
    "hosts", "operator", "desk", "console", "interpose", "cli",
];

/// Files or rooms that import each other, and why that is as it should be.
const RECURSIONS: [(&[&str], &str); 9] = [
    (
        &[
            "behavior::arguments", "behavior::arguments::key", "behavior::arguments::sql",
            "behavior::arguments::sql::gate", "behavior::arguments::sql::outline", "behavior::arguments::walk",
        ],
        UNDER_PARENT,
    ),
    (&["policy::import", "policy::import::gemini", "policy::import::hosts"], UNDER_PARENT),
    (
        &[
            "behavior::voters",
            "behavior::voters::description",
            "behavior::voters::description::clauses",
            "behavior::voters::description::sentence",
            "behavior::voters::learned",
            "behavior::voters::name",
        ],
        UNDER_PARENT,
    ),
    (
        &[
            "capability::codegen", "capability::codegen::csharp", "capability::codegen::plan",
            "capability::codegen::rust",
        ],
        UNDER_PARENT,
    ),
    (
        &[
            "cli", "cli::doctor", "cli::doctor::desk", "cli::doctor::listed", "cli::rules", "cli::rules::add",
            "cli::rules::alter", "cli::rules::edit", "cli::rules::explain", "cli::rules::past", "cli::tools",
            "cli::tools::list", "cli::tools::review", "cli::tools::search", "cli::tools::show",
            "cli::tools::take_over", "cli::tools::transfer", "cli::demo", "cli::demo::agent", "cli::lattice",
            "cli::lattice::caps",
        ],
        UNDER_PARENT,
    ),
    (
        &[
            "console::update", "console::update::card", "console::update::findings", "console::update::maker",
            "console::update::rules", "console::update::typing", "console::update::wrappers",
        ],
        UNDER_PARENT,
    ),
    (&["home::config", "home::config::scope"], UNDER_PARENT),
    (&["home::name", "home::name::package"], UNDER_PARENT),
    (&["operator::log_reader", "operator::log_reader::slices"], UNDER_PARENT),
];

/// Found when this check learnt to see a call of a child without `use`: the children take types or functions from the file
/// above them. Each goes once what they share stands in a file of its own (issue 25, item 11).
const UNDER_PARENT: &str = "the children take what they share from the file above them";

/// A module by its path: `["gate", "call", "held"]`.
type Module = Vec<String>;

#[test]
fn imports_form_no_cycle() {
    let files: Vec<(Module, String)> = sources().iter().map(|(name, text)| (module(name), code(text))).collect();
    let known: BTreeSet<&Module> = files.iter().map(|(module, _)| module).collect();
    let (mut by_file, mut by_room): (Graph, Graph) = (Graph::default(), Graph::default());
    for (from, text) in &files {
        let named = paths(text).into_iter().filter_map(|path| resolve(&path, from, &known));
        for to in named.chain(children(text, from, &known)) {
            let layer = &from[0];
            if !LAYERS.contains(&layer.as_str()) || to[0] != *layer || to == *from {
                continue;
            }
            by_file.entry(from.join("::")).or_default().insert(to.join("::"));
            // The layer's own file ties its rooms together; it belongs to none.
            if let (Some(one), Some(other)) = (from.get(1), to.get(1))
                && one != other
            {
                by_room.entry(format!("{layer}::{one}")).or_default().insert(format!("{layer}::{other}"));
            }
        }
    }
    let mut complaints = Vec::new();
    for cycle in cycles(&by_file).into_iter().chain(cycles(&by_room)) {
        let is_listed = |listed: &[&str]| cycle.iter().all(|name| listed.contains(&name.as_str()));
        if !RECURSIONS.iter().any(|(listed, _)| is_listed(listed)) {
            let names: Vec<&str> = cycle.iter().map(String::as_str).collect();
            complaints.push(format!("these import each other: {}", names.join(", ")));
        }
    }
    complaints.sort();
    complaints.dedup();
    check(&complaints);
}

/// `self.f()` from file to file is an import that no `use` shows: the files of one type call each other one way.
#[test]
fn methods_of_one_type_form_no_cycle_across_files() {
    let files: Vec<(String, String)> = sources().iter().map(|(name, text)| (name.clone(), code(text))).collect();
    let complaints: Vec<String> = method_cycles(&files)
        .into_iter()
        .map(|(owner, files)| format!("methods of {owner} call each other across {}", files.join(", ")))
        .collect();
    check(&complaints);
}

#[test]
fn a_cycle_of_methods_is_seen() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let there = file("gate/a.rs", "impl<'a> Gate<'a> {\n    fn one(&self) {\n        self.two();\n    }\n}\n");
    let back = file("gate/b.rs", "impl Gate<'_> {\n    fn two(&self) {\n        Self::one(self);\n    }\n}\n");
    let other = file("gate/b.rs", "impl Gate<'_> {\n    fn two(&self) {\n        other.one();\n    }\n}\n");
    assert_eq!(method_cycles(&[there.clone(), back]).len(), 1);
    assert!(method_cycles(&[there, other]).is_empty());
}

#[test]
fn a_parent_that_calls_its_child_without_use_is_seen() {
    let (parent, child) = (module("gate/call/mod.rs"), module("gate/call/ask.rs"));
    let known = BTreeSet::from([&parent, &child]);
    let seen = |text: &str| children(text, &parent, &known);
    assert_eq!(seen("fn f() {\n    ask::take();\n}"), std::slice::from_ref(&child));
    assert!(seen("fn f() {\n    task::take(), other::ask::take(), ask.take();\n}").is_empty());
}

type Graph = BTreeMap<String, BTreeSet<String>>;

/// The files whose methods of one type call each other in a circle, by type.
fn method_cycles(files: &[(String, String)]) -> Vec<(String, Vec<String>)> {
    // By layer and type: each file's methods, and the code of its blocks.
    let mut types: BTreeMap<(String, String), BTreeMap<&str, (BTreeSet<String>, String)>> = BTreeMap::new();
    for (name, text) in files {
        let layer = name.split('/').next().unwrap_or_default();
        for (owner, block) in impl_blocks(text) {
            let rows = types.entry((layer.to_owned(), owner)).or_default();
            let (methods, code) = rows.entry(name).or_default();
            methods.extend(block.split("fn ").skip(1).map(|rest| word(rest).to_owned()));
            code.push_str(block);
        }
    }
    let mut found = Vec::new();
    for ((layer, owner), rows) in types.into_iter().filter(|(_, rows)| rows.len() > 1) {
        let mut graph = Graph::default();
        for (from, (own, code)) in &rows {
            let starts = ["self.", "Self::"].iter().flat_map(|start| code.split(start).skip(1));
            let called: BTreeSet<&str> = starts
                .filter(|rest| rest[word(rest).len()..].starts_with(['(', ':']))
                .map(word)
                .filter(|called| !own.contains(*called))
                .collect();
            let to = rows.iter().filter(|(_, (methods, _))| methods.iter().any(|one| called.contains(one.as_str())));
            graph.insert((*from).to_owned(), to.map(|(to, _)| (*to).to_owned()).collect());
        }
        let cycles = cycles(&graph).into_iter().map(|cycle| cycle.into_iter().collect());
        found.extend(cycles.map(|files| (format!("{layer}::{owner}"), files)));
    }
    found
}

/// The inherent `impl` blocks of a file: the type, and the block.
fn impl_blocks(text: &str) -> Vec<(String, &str)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("\nimpl").chain(text.starts_with("impl").then_some((0, ""))) {
        let rest = &text[at..];
        let (Some((head, _)), Some(end)) = (rest.split_once('{'), rest.find("\n}")) else { continue };
        if head.contains(" for ") {
            continue;
        }
        let head = head.trim().trim_start_matches("impl");
        // Past the parameters of the block itself: `impl<'a, T> Name<'a, T>`.
        let head = if head.starts_with('<') { head.split_once("> ").map_or(head, |(_, name)| name) } else { head };
        found.push((word(head.trim()).to_owned(), &rest[..end]));
    }
    found
}

/// The identifier that a text begins with.
fn word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// The modules below a file that its code calls by their bare names, without `use`.
fn children(text: &str, from: &Module, known: &BTreeSet<&Module>) -> Vec<Module> {
    let mut found = Vec::new();
    for child in known.iter().filter(|module| module.len() == from.len() + 1 && module.starts_with(from)) {
        let start = format!("{}::", child.last().map(String::as_str).unwrap_or_default());
        for (at, _) in text.match_indices(&start) {
            if text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            let path: String = text[at..].chars().take_while(|c| c.is_alphanumeric() || "_:".contains(*c)).collect();
            let path: Vec<String> = path.split("::").map(str::to_owned).collect();
            found.extend(resolve(&path, from, known));
        }
    }
    found
}

fn module(name: &str) -> Module {
    let name = name.strip_suffix(".rs").unwrap_or(name);
    let name = name.strip_suffix("/mod").unwrap_or(name);
    name.split('/').map(str::to_owned).collect()
}

/// Every path that a file names: those it uses, their braces taken apart, and those in its code.
fn paths(text: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    // How far a name can be seen is no import.
    let text = text.replace("pub(in crate::", "pub(in ");
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("use ") {
        let is_word = before.chars().next_back().is_none_or(|c| c.is_whitespace());
        let Some((tree, then)) = after.split_once(';').filter(|_| is_word) else {
            rest = after;
            continue;
        };
        expand(tree, &mut Vec::new(), &mut found);
        rest = then;
    }
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in text.match_indices(start) {
            if text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            let path: String =
                text[at..].chars().take_while(|c| c.is_alphanumeric() || *c == '_' || *c == ':').collect();
            // A tree in braces was taken apart above: it names what is in it, and not all of what is before it.
            if !text[at + path.len()..].starts_with('{') {
                found.push(path.split("::").map(str::to_owned).collect());
            }
        }
    }
    found
}

/// Takes a use tree apart: `a::{b, c::{d, e}}` names `a::b`, `a::c::d`, `a::c::e`.
fn expand(tree: &str, before: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    let tree = tree.trim();
    let (path, inside) = match tree.split_once('{') {
        Some((path, inside)) => (path, inside.rsplit_once('}').map(|(inside, _)| inside)),
        None => (tree.split(" as ").next().unwrap_or_default(), None),
    };
    let length = before.len();
    before
        .extend(path.split("::").map(str::trim).filter(|word| !word.is_empty() && *word != "self").map(str::to_owned));
    match inside {
        None => found.push(before.clone()),
        Some(inside) => {
            let (mut depth, mut start) = (0, 0);
            for (at, c) in inside.char_indices().chain([(inside.len(), ',')]) {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    ',' if depth == 0 => {
                        if !inside[start..at].trim().is_empty() {
                            expand(&inside[start..at], before, found);
                        }
                        start = at + 1;
                    }
                    _ => {}
                }
            }
        }
    }
    before.truncate(length);
}

/// The file that a path leads to, where it is one of ours.
fn resolve(path: &[String], from: &Module, known: &BTreeSet<&Module>) -> Option<Module> {
    let mut here = from.clone();
    let mut rest = path;
    match rest.first().map(String::as_str) {
        Some("crate") => {
            here.clear();
            rest = &rest[1..];
        }
        Some("super") => {
            while rest.first().is_some_and(|word| word == "super") {
                here.pop();
                rest = &rest[1..];
            }
        }
        Some("self") => rest = &rest[1..],
        _ => {
            // `use child::Thing`: a module of this very file, or another crate.
            let first = rest.first()?;
            here.push(first.clone());
            if !known.contains(&here) {
                return None;
            }
            rest = &rest[1..];
        }
    }
    let mut whole: Module = here;
    whole.extend(rest.iter().cloned());
    while !whole.is_empty() {
        if known.contains(&whole) {
            return Some(whole);
        }
        whole.pop();
    }
    None
}

/// The groups of more than one that all reach each other.
fn cycles(graph: &Graph) -> BTreeSet<BTreeSet<String>> {
    let reach = |from: &String| {
        let (mut seen, mut todo) = (BTreeSet::new(), vec![from]);
        while let Some(one) = todo.pop() {
            for next in graph.get(one).into_iter().flatten() {
                if seen.insert(next.clone()) {
                    todo.push(next);
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<String>> = graph.keys().map(|one| (one, reach(one))).collect();
    let in_circle = |one: &String, other: &String| {
        reached.get(one).is_some_and(|set| set.contains(other))
            && reached.get(other).is_some_and(|set| set.contains(one))
    };
    let group = |one: &String| graph.keys().filter(|other| in_circle(one, other)).cloned().collect::<BTreeSet<_>>();
    graph.keys().map(group).filter(|group| group.len() > 1).collect()
}
