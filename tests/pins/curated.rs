//! The lists of well-known packages: each parses, is whole, and means exactly the definitions that were reviewed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use mcp_approve::behavior::agreed::Agreements;
use mcp_approve::behavior::arguments::choice;
use mcp_approve::behavior::conclude::{Overrides, Trust, of_tool_with};
use mcp_approve::behavior::curated::{Curated, Entitlement, LISTS, List, of_any_package};
use mcp_approve::behavior::evidence::Source;
use mcp_approve::behavior::identity::Identity;
use mcp_approve::behavior::shape::{self, Keys, Known, PathStates, Places, Role, Roles};
use mcp_approve::behavior::taxonomy::{Action, Badge, Mutability};
use mcp_approve::behavior::words;
use mcp_approve::mcp::tool::Tool;
use mcp_approve::wire::digest::Digest;
use serde_json::{Value, json};

/// The manifest that stands under tests/, as its server described itself.
fn manifest() -> Vec<Value> {
    let text = include_str!("../fixtures/manifest_sqlite.json");
    serde_json::from_str::<Value>(text).unwrap()["tools"].as_array().unwrap().clone()
}

#[test]
fn every_list_parses_and_contradicts_nothing() {
    assert!(LISTS.len() >= 80, "{} packages", LISTS.len());
    let mut packages = BTreeSet::new();
    for (package, list) in lists() {
        assert_eq!(list.package, package);
        assert!(packages.insert(package), "{package} stands twice");
        let curated = Curated::of_package(package);
        let mut names = BTreeSet::new();
        for row in list.tools {
            assert!(names.insert(row.name.clone()), "{package} {} stands twice", row.name);
            let identity: Identity = row.identity.parse().unwrap_or_else(|_| panic!("{package} {}", row.name));
            let reads = matches!(identity.action, Action::Read | Action::Search);
            assert_eq!(reads, identity.mutability == Mutability::Pure, "{package} {}: {identity}", row.name);
            let digest: Digest = row.digest.parse().unwrap_or_else(|_| panic!("{package} {}", row.name));
            let found = curated.find(&digest).unwrap();
            assert_eq!(found.identity, identity, "{package} {}", row.name);
            let required = list.changing_requires.filter(|_| !reads);
            assert_eq!(found.requires, required, "{package} {}", row.name);
            let given = curated.given(&digest).unwrap();
            assert_eq!(given.hosts[..], list.hosts[..], "{package}");
            assert_eq!(given.roles.len(), row.roles.len(), "{package} {}", row.name);
            let says_nothing = row.roles.is_empty() && row.reads.is_empty() && row.dialect.is_none();
            assert!(
                says_nothing || reads || row.reading.is_some(),
                "{package} {}: its parameters prove nothing",
                row.name
            );
        }
    }
}

#[test]
fn the_table_is_the_folder() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/identities");
    let files: BTreeSet<String> =
        fs::read_dir(folder).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
    let embedded: BTreeSet<String> = LISTS.iter().map(|(_, text)| (*text).to_owned()).collect();
    assert!(files == embedded, "run `cargo bench --bench curate`");
}

#[test]
fn a_tool_is_on_the_list_for_exactly_its_definition() {
    let curated = Curated::of_package("pypi:mcp-server-sqlite");
    for definition in manifest() {
        let tool = Tool::read(definition.clone()).unwrap();
        let found = curated.find(&tool.digest()).unwrap_or_else(|| panic!("{} fell out", tool.name));
        assert_eq!(of_any_package(&tool.digest()), Some(found));
        let mut changed = definition;
        changed["description"] = format!("{} ", changed["description"].as_str().unwrap()).into();
        assert_eq!(curated.find(&Tool::read(changed).unwrap().digest()), None, "{}", tool.name);
    }
    assert_eq!(Curated::of_package("pypi:mcp-server-sqlite2").find(&Digest::of(b"")), None);
}

#[test]
fn where_the_corpus_is_at_hand_every_entry_is_in_it() {
    let Ok(folder) = fs::read_dir("../shared/corpus/dev") else { return };
    let mut seen = BTreeSet::new();
    let mut packages = BTreeSet::new();
    for entry in folder {
        let server: Value = serde_json::from_str(&fs::read_to_string(entry.unwrap().path()).unwrap()).unwrap();
        let text = |key: &str| server[key].as_str().unwrap().to_owned();
        packages.insert(format!("{}:{}", text("registry"), text("package")));
        for definition in server["tools"].as_array().into_iter().flatten() {
            seen.extend(Tool::read(definition.clone()).map(|tool| tool.digest().to_string()));
        }
    }
    // The others were asked where they were installed.
    for (package, text) in LISTS.iter().filter(|(package, _)| packages.contains(*package)) {
        let list: List = toml::from_str(text).unwrap();
        assert!(list.tools.iter().all(|row| seen.contains(&row.digest)), "{package}");
    }
}

#[test]
fn pinned_beats_curated_beats_the_rest_and_without_trust_curated_lowers_nothing() {
    let definition = manifest().into_iter().find(|tool| tool["name"] == "list_tables").unwrap();
    let mut vague = definition;
    vague["name"] = "do_it".into();
    vague["description"] = "Does it.".into();
    let tool = Tool::read(vague).unwrap();
    let reads: Identity = "PURE|READ|STRUCTURE".parse().unwrap();
    let curated = Curated::of_package("pypi:mcp-server-sqlite");
    let reviewed = manifest()
        .into_iter()
        .filter_map(|tool| curated.find(&Tool::read(tool)?.digest()))
        .find(|found| found.identity == reads);
    let concluded = |trust, pinned: Option<&str>| {
        let told = Overrides {
            pinned: pinned.map(|text| text.parse().unwrap()),
            curated: reviewed.clone(),
            outside: Vec::new(),
        };
        of_tool_with(&tool, trust, told)
    };
    assert_eq!(concluded(Trust::Corroborate, None).identity, reads);
    assert_eq!(concluded(Trust::None, None).badge(), Badge::Mutates);
    let written = manifest().into_iter().map(|tool| Tool::read(tool).unwrap()).find(|tool| tool.name == "write_query");
    let written = written.unwrap();
    let told = Overrides { curated: curated.find(&written.digest()), ..Overrides::default() };
    assert_eq!(of_tool_with(&written, Trust::None, told).requires, Some(Entitlement::Databases), "whatever is trusted");
    let pinned = concluded(Trust::None, Some("PURE|SEARCH|DATA"));
    assert_eq!(pinned.identity.to_string(), "PURE|SEARCH|DATA");
    let sources: Vec<Source> = pinned.evidence.iter().map(|evidence| evidence.source).take(2).collect();
    assert_eq!(sources, [Source::Pinned, Source::Curated]);
}

/// Tools that read although a word of their name is firmly an act, and why.
const READ_ALL_THE_SAME: &[(&str, &str)] = &[
    ("pypi:awslabs-cloudwatch-mcp-server execute_log_insights_query", "the language of log queries has no act"),
    ("pypi:awslabs-cloudwatch-mcp-server execute_promql_query", "PromQL has no act"),
    ("pypi:awslabs-cloudwatch-mcp-server execute_promql_range_query", "PromQL has no act"),
    ("pypi:mcp-atlassian jira_get_create_fields", "the fields of the form for new issues"),
    ("pypi:prometheus-mcp-server execute_query", "PromQL has no act"),
    ("pypi:prometheus-mcp-server execute_range_query", "PromQL has no act"),
];

fn lists() -> impl Iterator<Item = (&'static str, List)> {
    LISTS
        .iter()
        .map(|(package, text)| (*package, toml::from_str(text).unwrap_or_else(|error| panic!("{package}: {error}"))))
}

#[test]
fn a_tool_that_reads_is_not_named_for_an_act() {
    let mut found = Vec::new();
    for (package, list) in lists() {
        for row in list.tools {
            let identity: Identity = row.identity.parse().unwrap();
            let acts = words::of_name(&row.name).iter().any(|word| choice::is_firm_change(word));
            if acts && identity.mutability == Mutability::Pure {
                found.push(format!("{package} {}", row.name));
            }
        }
    }
    let known: Vec<&str> = READ_ALL_THE_SAME.iter().map(|(tool, _)| *tool).collect();
    assert_eq!(found, known);
}

#[test]
fn a_key_that_says_what_acts_has_no_role() {
    const ACTS: &str = "to recipient recipients cc bcc destination output out save code command script program shell \
                        exec webhook callback password secret filename";
    // Named for an end of a span, a way or a comparison, or for a person to filter by.
    const KNOWN: &[&str] = &[
        "npm:@amap/amap-maps-mcp-server destination",
        "npm:@azure-devops/mcp assignedTo",
        "npm:@modelcontextprotocol/server-google-maps destination",
        "npm:@modelcontextprotocol/server-google-maps destinations",
        "npm:@zereight/mcp-gitlab to",
    ];
    for (package, list) in lists() {
        for row in list.tools {
            for (key, role) in &row.roles {
                let acts = words::of_name(key).iter().any(|word| words::among(word, ACTS));
                let is_harmless =
                    Roles::from_words(role).is_some_and(|roles| roles.has(Role::Time) || roles.has(Role::Switch));
                let is_known = KNOWN.contains(&&*format!("{package} {key}"));
                assert!(!acts || is_harmless || is_known, "{package} {} {key}", row.name);
            }
        }
    }
}

#[test]
fn what_a_list_gives_counts_in_a_call() {
    assert_eq!(Roles::from_words("id|name|nothing"), None);
    let definition = json!({"name": "get_thing", "description": "Gets a thing.", "inputSchema": {"type": "object"}});
    let tool = Tool::read(definition).unwrap();
    let row = "name = 'get_thing'\ndigest = 'DIGEST'\nidentity = 'PURE|READ|DATA'\ndialect = 'sqlite'\n\
               roles = { zorb = 'id|name' }\nreads = { mode = ['fast'], dryRun = [true] }";
    let list = format!("package = 'npm:x'\nversion = '1'\nhosts = ['docs.example.com']\n[[tool]]\n{row}");
    let curated = Curated::read("npm:x", &list.replace("DIGEST", &tool.digest().to_string()));
    let told = Overrides { curated: curated.find(&tool.digest()), ..Overrides::default() };
    let behavior = of_tool_with(&tool, Trust::Corroborate, told);
    let (agreed, places, path_states) = (Agreements::default(), Places::default(), PathStates::new());
    let known = Known { agreed: &agreed, places: &places, roots: &[], path_states: &path_states };
    for (arguments, passes) in [
        (json!({"zorb": "a-1"}), true),
        (json!({"zorb": "$(id)"}), false),
        (json!({"mode": "fast", "dryRun": true}), true),
        (json!({"mode": "purge"}), false),
        (json!({"dryRun": false}), false),
        (json!({"url": "https://docs.example.com/guide"}), true),
        (json!({"url": "https://x.docs.example.com/guide"}), false),
        (json!({"url": "https://docs.example.com/delete"}), false),
        (json!({"sql": "SELECT a FROM b"}), true),
        (json!({"sql": "DELETE FROM b"}), false),
    ] {
        let keys =
            Keys::of(&tool, behavior.identity.action, &behavior.evidence, curated.given(&tool.digest()).as_ref());
        assert_eq!(shape::of_call(Some(&tool), &keys, &arguments, known).holds(), passes, "{arguments}");
        let keys = Keys::of(&tool, behavior.identity.action, &behavior.evidence, None);
        assert!(!shape::of_call(Some(&tool), &keys, &arguments, known).holds(), "{arguments}: not given");
    }
}
