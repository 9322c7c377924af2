//! Writes `assets/identities/` and its table from the corpus and `curate.toml`: `cargo bench --bench curate -- [CORPUS]`.
//! Run it after a review; what it writes is data, held to the fixtures by `tests/behavior.rs`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench tells what it did, and has nobody to report to")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use mcp_approve::behavior::conclude::{Trust, of_tool};
use mcp_approve::behavior::identity::Identity;
use mcp_approve::mcp::tool::Tool;
use serde_json::Value;

/// `curate.toml`.
#[derive(serde::Deserialize)]
struct Review {
    /// By package, as a list names it.
    changing_requires: BTreeMap<String, String>,
    /// By registry, package and tool.
    #[serde(flatten)]
    corrections: BTreeMap<String, BTreeMap<String, BTreeMap<String, String>>>,
}

fn main() {
    let corpus = std::env::args().skip(1).find(|word| !word.starts_with('-')).unwrap_or("../shared/corpus".to_owned());
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
    let Review { changing_requires, corrections: wanted } =
        toml::from_str(&fs::read_to_string(root.join("tests/bench/curate.toml")).unwrap()).unwrap();
    let mut table = String::from(HEAD);
    let mut tools = 0;
    for (registry, packages) in &wanted {
        for (package, corrections) in packages {
            let file = format!("{registry}__{}.json", package.trim_start_matches('@').replace('/', "_"));
            let server = json(Path::new(&corpus).join("dev").join(file));
            let mut list = format!("package = \"{registry}:{package}\"\nversion = \"{}\"\n", text(&server, "version"));
            if let Some(required) = changing_requires.get(&format!("{registry}:{package}")) {
                writeln!(list, "changing_requires = \"{required}\"").unwrap();
            }
            for definition in server["tools"].as_array().unwrap() {
                let tool = Tool::read(definition.clone()).unwrap();
                let concluded = of_tool(&tool, Trust::Corroborate);
                let said = corrections.get(&tool.name).or_else(|| gold.get(&(package.clone(), tool.name.clone())));
                let identity: Identity = said.map_or(concluded.identity, |said| said.parse().unwrap());
                write!(
                    list,
                    "\n[[tool]]\nname = {}\ndigest = \"{}\"\nidentity = \"{identity}\"\ncontent_type = \"{}\"\n",
                    Value::from(tool.name.as_str()),
                    tool.digest(),
                    concluded.content_type.word(),
                )
                .unwrap();
                tools += 1;
            }
            let name = format!("{registry}-{}.toml", package.trim_start_matches('@').replace('/', "-"));
            fs::write(root.join("assets/identities").join(&name), list).unwrap();
            writeln!(table, "    (\"{registry}:{package}\", include_str!(\"../../../assets/identities/{name}\")),")
                .unwrap();
        }
    }
    fs::write(root.join("src/behavior/curated/table.rs"), table + "];\n").unwrap();
    println!("{tools} tools of {} packages", wanted.values().map(BTreeMap::len).sum::<usize>());
}

const HEAD: &str =
    "//! The lists themselves, embedded: which package has which file. Written by `tests/bench/curate.rs`.

/// Package and text of every list.
#[rustfmt::skip]
pub const LISTS: &[(&str, &str)] = &[
";

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}
