//! Writes `assets/identities/` and its table from manifests and `curate.toml`: `cargo bench --bench curate -- [CORPUS] [MORE]`.
//! Run it after a review; what it writes is data, held to the fixtures by `tests/behavior.rs`. MORE is a folder of manifests
//! beside the corpus, in the same form; the list of a package that neither has stays as it is. A tool's identity is the
//! review's, the gold readers', the former list's for the same definition, or what is concluded, in this order.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench tells what it did, and has nobody to report to")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use mcp_approve::behavior::conclude::{Trust, of_tool};
use mcp_approve::behavior::curated::{List, Reading, Row};
use mcp_approve::behavior::identity::Identity;
use mcp_approve::behavior::taxonomy::Mutability;
use mcp_approve::mcp::tool::Tool;
use serde_json::Value;

/// `curate.toml`.
#[derive(serde::Deserialize)]
struct Review {
    /// By package, as a list names it.
    changing_requires: BTreeMap<String, String>,
    /// By package too.
    keys: BTreeMap<String, Keys>,
    /// By registry, package and tool.
    #[serde(flatten)]
    corrections: BTreeMap<String, BTreeMap<String, BTreeMap<String, String>>>,
}

/// What the review found of the parameters of a package's reading tools. A key is `KEY`, or `TOOL:KEY` for one tool.
#[derive(Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Keys {
    hosts: Vec<String>,
    roles: BTreeMap<String, String>,
    reads: BTreeMap<String, Vec<Value>>,
    /// Keys of which every value that the schema lists reads.
    any: Vec<String>,
    /// By tool.
    dialect: BTreeMap<String, String>,
    /// By tool, of those that change something.
    reading: BTreeMap<String, Reading>,
}

fn main() {
    let mut folders = std::env::args().skip(1).filter(|word| !word.starts_with('-'));
    let corpus = folders.next().unwrap_or("../shared/corpus".to_owned());
    let more = folders.next();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let json = |path: PathBuf| -> Value { serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap() };
    let gold: BTreeMap<(String, String), String> = json(Path::new(&corpus).join("gold.json"))
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let identity = ["mutability", "action", "output_domain"].map(|key| text(row, key)).join("|");
            ((text(row, "package"), text(row, "tool")), identity)
        })
        .collect();
    let Review { changing_requires, keys, corrections: wanted } =
        toml::from_str(&fs::read_to_string(root.join("tests/bench/curate.toml")).unwrap()).unwrap();
    let mut table = String::from(HEAD);
    let mut tools = 0;
    let no_keys = Keys::default();
    for (registry, packages) in &wanted {
        for (package, corrections) in packages {
            let file = format!("{registry}__{}.json", package.trim_start_matches('@').replace('/', "_"));
            let name = format!("{registry}-{}.toml", package.trim_start_matches('@').replace('/', "-"));
            writeln!(table, "    (\"{registry}:{package}\", include_str!(\"identities/{name}\")),").unwrap();
            let known = [Path::new(&corpus).join("dev"), PathBuf::from(more.as_deref().unwrap_or("."))];
            let Some(manifest) = known.into_iter().map(|folder| folder.join(&file)).find(|path| path.is_file()) else {
                println!("no manifest of {registry}:{package}: its list stays as it is");
                continue;
            };
            let server = json(manifest);
            // What was reviewed stays, whatever the recogniser has learnt since.
            let former = fs::read_to_string(root.join("assets/identities").join(&name)).unwrap_or_default();
            let former: Option<List> = toml::from_str(&former).ok();
            let former: BTreeMap<String, Row> =
                former.into_iter().flat_map(|list| list.tools).map(|row| (row.digest.clone(), row)).collect();
            let mut list = format!("package = \"{registry}:{package}\"\nversion = \"{}\"\n", text(&server, "version"));
            if let Some(required) = changing_requires.get(&format!("{registry}:{package}")) {
                writeln!(list, "changing_requires = \"{required}\"").unwrap();
            }
            let given = keys.get(&format!("{registry}:{package}")).unwrap_or(&no_keys);
            if !given.hosts.is_empty() {
                writeln!(list, "hosts = {}", Value::from(given.hosts.clone())).unwrap();
            }
            let all = given.roles.keys().chain(given.reads.keys()).chain(&given.any);
            let mut idle: BTreeSet<String> = all.cloned().collect();
            for definition in server["tools"].as_array().unwrap() {
                let tool = Tool::read(definition.clone()).unwrap();
                let concluded = of_tool(&tool, Trust::Corroborate);
                let said = corrections.get(&tool.name).or_else(|| gold.get(&(package.clone(), tool.name.clone())));
                let former = former.get(&tool.digest().to_string());
                let said = said.or(former.map(|row| &row.identity));
                let identity: Identity = said.map_or(concluded.identity, |said| said.parse().unwrap());
                let content_type = former.and_then(|row| row.content_type).unwrap_or(concluded.content_type);
                write!(
                    list,
                    "\n[[tool]]\nname = {}\ndigest = \"{}\"\nidentity = \"{identity}\"\ncontent_type = \"{}\"\n",
                    Value::from(tool.name.as_str()),
                    tool.digest(),
                    content_type.word(),
                )
                .unwrap();
                tools += 1;
                let reading = given.reading.get(&tool.name);
                if identity.mutability == Mutability::Mutates && reading.is_none() {
                    continue;
                }
                let declared = keys_of(&tool.input_schema);
                // What is said of one tool counts before what is said of all.
                let mut by_key = |name: &str, all: Vec<(&String, Value)>| {
                    let mut lines: BTreeMap<&str, Value> = BTreeMap::new();
                    for of_one in [false, true] {
                        for (whole, value) in all.iter().filter(|(key, _)| key.contains(':') == of_one) {
                            let (of, key) = whole.split_once(':').unwrap_or((&tool.name, whole));
                            if of == tool.name && declared.contains_key(key) {
                                idle.remove(whole.as_str());
                                lines.insert(key, value.clone());
                            }
                        }
                    }
                    let line: Vec<String> =
                        lines.iter().map(|(key, value)| format!("{} = {value}", Value::from(*key))).collect();
                    if !line.is_empty() {
                        writeln!(list, "{name} = {{ {} }}", line.join(", ")).unwrap();
                    }
                };
                by_key("roles", given.roles.iter().map(|(key, role)| (key, role.as_str().into())).collect());
                let listed = |whole: &String| {
                    let key = whole.split_once(':').map_or(whole.as_str(), |(_, key)| key);
                    declared.get(key).cloned().unwrap_or_default().into()
                };
                let any = given.any.iter().map(|key| (key, listed(key)));
                by_key("reads", given.reads.iter().map(|(key, all)| (key, all.clone().into())).chain(any).collect());
                if let Some(dialect) = given.dialect.get(&tool.name) {
                    writeln!(list, "dialect = \"{dialect}\"").unwrap();
                }
                if let Some(Reading { identity, with, without }) = reading {
                    assert!(
                        with.keys().chain(without).all(|key| declared.contains_key(key)),
                        "{package}: {}",
                        tool.name
                    );
                    write!(list, "reading = {{ as = \"{identity}\"").unwrap();
                    let with: Vec<String> =
                        with.iter().map(|(key, is)| format!("{} = {is}", Value::from(&**key))).collect();
                    if !with.is_empty() {
                        write!(list, ", with = {{ {} }}", with.join(", ")).unwrap();
                    }
                    if !without.is_empty() {
                        write!(list, ", without = {}", Value::from_iter(without.iter().map(String::as_str))).unwrap();
                    }
                    writeln!(list, " }}").unwrap();
                }
            }
            assert!(idle.is_empty(), "{package}: no tool that reads has the key {idle:?}");
            fs::write(root.join("assets/identities").join(&name), list).unwrap();
        }
    }
    fs::write(root.join("assets/identities.rs"), table + "]\n").unwrap();
    println!("{tools} tools of {} packages", wanted.values().map(BTreeMap::len).sum::<usize>());
}

const HEAD: &str = "// Package and text of every list. Written by `tests/bench/curate.rs`.\n&[\n";

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

/// Every key that a schema declares, at any depth, with the values that it lists.
fn keys_of(schema: &Value) -> BTreeMap<String, Vec<Value>> {
    let mut found: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut left = vec![schema];
    while let Some(schema) = left.pop() {
        for (key, below) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let known = found.entry(key.clone()).or_default();
            let mut all = vec![below];
            while let Some(below) = all.pop() {
                let listed = below.get("enum").and_then(Value::as_array).into_iter().flatten();
                for value in listed.chain(below.get("const")) {
                    if !known.contains(value) && !value.is_null() {
                        known.push(value.clone());
                    }
                }
                all.extend(below.get("items"));
                let joined = ["anyOf", "oneOf", "allOf"].iter().filter_map(|word| below.get(word)?.as_array());
                all.extend(joined.flatten());
            }
        }
        left.extend(schema.as_object().into_iter().flat_map(|fields| fields.values()));
        left.extend(schema.as_array().into_iter().flatten());
    }
    found
}
