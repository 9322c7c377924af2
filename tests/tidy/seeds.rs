//! The four documents that the product is built from: each of their sections, and each item of the issue that closes what was
//! missing, has a test that runs what it says. `tests/tables/seeds.toml` is the table.

use std::collections::BTreeMap;
use std::fs;

use serde::Deserialize;

use super::{check, files, root};

/// The sections of each document, by number or by heading, in its order; and the items of issue 28.
const SECTIONS: [(&str, &str); 5] = [
    (
        "001",
        "1|2|2.1|2.2|2.3|3|3.1|3.2|3.3|4|4.1|4.2|4.3|4.4|5|5.1|5.2|5.3|6|7|8|8.1|8.2|8.3|8.4|8.5|8.6|9|\
         8.1 Guardrail Tokens|8.2 UncheckedInvocation|8.3 Three-Layer Safety Predicate",
    ),
    (
        "002",
        "Curriculum 1|Curriculum 2|Curriculum 3|Curriculum 4|Curriculum 5|Curriculum 6|Curriculum 7|Curriculum 8|\
         Readings|Today's journey|Motivation|Getting LLMs to calculate|Issues/requirements|\
         Evolution of remote procedure call|Bridging between models and tools|Model Context Protocol 1|\
         Model Context Protocol 2|Model Context Protocol 3|Model Context Protocol (MCP)|\
         Simulating a chemical reaction 1|Simulating a chemical reaction 2|Example capabilities message|Model request|\
         Schema validation|Execution binding|Result serialization|Finally|\
         Model learned tool calling conventions through fine-tuning|Toolformer|Prompt to generate training data|\
         Exemplary ToolFormer predictions|How a request is mapped to a call|A preference manipulation attack|\
         Other MCP capabilities|Notifications|Value of notifications|Trust, safety, and security advice|\
         Frameworks|Function-calling loop 1|Function-calling loop 2|Function-calling loop 3|Function-calling loop 4|\
         Function-calling loop 5|More about context|Shared context for collaborative agents|\
         Race conditions with shared context|Bottlenecks with shared context|Simulation agent example|\
         The sample system: Structure|The sample system: Physics and dynamics|What happens during simulation|\
         An agentic application|Minimal implementation|LAMMPS input|Runner|LAMMPS output|Parser|Policy + Stop|\
         Agent Loop|An example run|Possible extensions|Thompson sampling|Bandit policies|In our application|\
         How about an MCP interface?|Creating an MCP interface|JSON schema for run_job|Tiny MCP server 1|\
         Tiny MCP server 2|Catalyst screening workflow|Data resources may be created in various ways|\
         Another example prompt|Retrieve a resource|Perform computations|Store results|Record provenance|\
         Analyze results|Notify collaborators|Tools, prompts, and resources all guide the model|\
         Summary: MCP's rich capabilities",
    ),
    ("003", "1|2|2.1|2.2|2.3|3|3.1|3.2|3.3|3.4|4|4.1|4.2|4.3|4.4|4.5|4.6|5|6|7.1|7.2|7.3|7.4|7.5|7.6|8|9|A"),
    (
        "004",
        "Versioned Capability Vector|Routing Function|Mapping FoA to MCP|Tool Capability Profile|Semantic Tool Search|\
         Usage Example|Architecture Comparison|Recommendation|What We Implemented",
    ),
    (
        "issue 28",
        "1 dispatcher|1 guardrail callbacks|1 bound token|1 closed sets|1 not required|1 tied traits|1 async|\
         1 C# for the SDK|1 misuse|1 beside the seed|2 roles|2 document's example|2 profiles|2 tags|2 search|2 discover|\
         3 pairs|3 prompts|3 who catches it|3 verifiers|3 hazards counted|3 latency and detections|3 uncorroborated|\
         4 jobs|4 closed loop|4 catalyst|4 server events|4 added tool|4 context|4 turns|5 conditions|5 ask|5 redact|\
         5 size|5 after reading|6 codes|6 words|done FileManager|done search|done pairs|done stories",
    ),
];

/// Tests of texts that we wrote ourselves: they prove that we say it, not that it is so.
const OUR_WORDS: [&str; 4] = ["tidy::", "cli::help::", "cli::man::", "to_the_letter"];

#[derive(Deserialize)]
struct Row {
    /// What the section says, in one sentence.
    claim: String,
    /// Tests by their path below `tests/`.
    tests: Vec<String>,
}

#[derive(Deserialize)]
struct Table {
    rows: BTreeMap<String, BTreeMap<String, Row>>,
    /// Sections that say nothing a program can do, and why.
    background: BTreeMap<String, BTreeMap<String, String>>,
}

/// Every test function below `tests/`, and whether `cargo test` runs it.
fn tests() -> BTreeMap<String, bool> {
    let folder = root().join("tests");
    let mut found = BTreeMap::new();
    for path in files(&folder) {
        let file = path.strip_prefix(&folder).expect("below tests").with_extension("");
        let module = file.to_string_lossy().replace('/', "::");
        let (mut is_test, mut runs) = (false, true);
        for line in fs::read_to_string(&path).expect("readable").lines().map(str::trim) {
            is_test |= line == "#[test]" || line.starts_with("#[tokio::test");
            runs &= !line.starts_with("#[ignore");
            let Some(rest) = line.strip_prefix("async fn ").or_else(|| line.strip_prefix("fn ")) else { continue };
            if std::mem::take(&mut is_test) {
                let name = rest.split('(').next().unwrap_or_default();
                found.insert(format!("{module}::{name}"), std::mem::replace(&mut runs, true));
            }
        }
    }
    found
}

#[test]
fn every_section_of_the_four_documents_has_a_test_that_runs_it() {
    let Table { rows, background } =
        toml::from_str(include_str!("../tables/seeds.toml")).unwrap_or_else(|fault| panic!("{fault}"));
    let tests = tests();
    assert!(tests.len() > 1_000, "{} tests were found", tests.len());
    let mut complaints = Vec::new();
    let documents: Vec<&str> = SECTIONS.iter().map(|(document, _)| *document).collect();
    for document in rows.keys().chain(background.keys()).filter(|document| !documents.contains(&document.as_str())) {
        complaints.push(format!("{document} is no document"));
    }
    for (document, sections) in SECTIONS {
        let sections: Vec<&str> = sections.split('|').collect();
        let ours = rows.get(document).into_iter().flatten();
        let others = background.get(document).into_iter().flatten();
        let named: Vec<&str> =
            ours.map(|(name, _)| name).chain(others.map(|(name, _)| name)).map(String::as_str).collect();
        for section in &sections {
            match named.iter().filter(|name| *name == section).count() {
                1 => {}
                times => complaints.push(format!("{document}, {section}: named {times} times")),
            }
        }
        complaints.extend(
            named.iter().filter(|name| !sections.contains(name)).map(|name| format!("{document} has no {name:?}")),
        );
    }
    for (document, section, why) in background.iter().flat_map(|(d, all)| all.iter().map(move |(s, why)| (d, s, why))) {
        if document != "002" || why.len() < 30 {
            complaints.push(format!(
                "{document}, {section}: only the lecture has slides that nothing can run, each with its reason"
            ));
        }
    }
    for (document, section, row) in rows.iter().flat_map(|(d, all)| all.iter().map(move |(s, row)| (d, s, row))) {
        let place = format!("{document}, {section}");
        if !row.claim.ends_with('.') || row.claim.len() < 30 {
            complaints.push(format!("{place}: one whole sentence says what is claimed"));
        }
        if !row.tests.iter().any(|name| tests.get(name) == Some(&true)) {
            complaints.push(format!("{place}: `cargo test` runs none of its tests"));
        }
        for name in &row.tests {
            if !tests.contains_key(name) {
                complaints.push(format!("{place}: there is no test {name}"));
            }
            if OUR_WORDS.iter().any(|ours| name.contains(ours)) {
                complaints.push(format!("{place}: {name} is about our own words"));
            }
        }
    }
    check(&complaints);
}
