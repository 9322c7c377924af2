//! Imports between files, and between rooms inside a layer, form no cycle, but for the mutual recursions listed here.

use std::collections::{BTreeMap, BTreeSet};

use super::{check, code, sources};

/// The layers that are read so.
const LAYERS: [&str; 17] = [
    "wire", "signing", "text", "mcp", "capability", "behavior", "policy", "audit", "gate", "pins", "home", "link",
    "hosts", "operator", "console", "interpose", "cli",
];

/// Files or rooms that import each other, and why that is as it should be.
const RECURSIONS: [(&[&str], &str); 0] = [];

/// A module by its path: `["gate", "call", "held"]`.
type Module = Vec<String>;

#[test]
fn imports_form_no_cycle() {
    let files: Vec<(Module, String)> = sources().iter().map(|(name, text)| (module(name), code(text))).collect();
    let known: BTreeSet<&Module> = files.iter().map(|(module, _)| module).collect();
    let (mut by_file, mut by_room): (Graph, Graph) = (Graph::default(), Graph::default());
    for (from, text) in &files {
        for to in paths(text).iter().filter_map(|path| resolve(path, from, &known)) {
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

type Graph = BTreeMap<String, BTreeSet<String>>;

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
            found.push(path.split("::").map(str::to_owned).collect());
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
