//! The behavior layer in tables: identities, how evidence joins, arguments, hazards, danger.

mod agreed;
mod analysers;
mod brought;
mod carried;
mod choices;
mod deceptions;
mod expected;
mod forms;
mod generated;
mod hazards;
mod languages;
mod paths;
mod places;
mod queries;
mod readings;
mod recognised;
mod secrets;
mod shaped;
mod statements;

use mcp_approve::behavior::conclude::{Behavior, Overrides, Replaced, Trust, danger, of_call, of_tool, of_tool_with};
use mcp_approve::behavior::evidence::{Evidence, Source};
use mcp_approve::behavior::hazards::HazardKind;
use mcp_approve::behavior::hazards::lookalike::deceiving;
use mcp_approve::behavior::identity::Identity;
use mcp_approve::behavior::taxonomy::Confidence;
use mcp_approve::behavior::taxonomy::{Action, Badge, ContentType, Mutability, OutputDomain};
use mcp_approve::mcp::tool::Tool;
use serde_json::{Value, json};

fn tool(definition: Value) -> Tool {
    Tool::read(definition).expect("a definition with a name")
}

fn named(name: &str, description: &str) -> Tool {
    tool(json!({ "name": name, "description": description, "inputSchema": { "type": "object" } }))
}

fn concluded(definition: Value) -> Behavior {
    of_tool(&tool(definition), Trust::Corroborate)
}

fn called(tool: &Tool, arguments: &Value) -> Behavior {
    of_call(Some(tool), &of_tool(tool, Trust::Corroborate), arguments)
}

fn kinds(behavior: &Behavior) -> Vec<HazardKind> {
    behavior.hazards.iter().map(|hazard| hazard.kind).collect()
}

#[test]
fn an_identity_is_sixteen_characters_of_the_papers_hash() {
    let write_query =
        Identity { mutability: Mutability::Mutates, action: Action::Overwrite, output_domain: OutputDomain::Data };
    assert_eq!(write_query.to_string(), "MUTATES|OVERWRITE|DATA");
    assert_eq!(write_query.hash(), "38abadc1ae6f83b9");
    let read_query = Identity { mutability: Mutability::Pure, action: Action::Read, ..write_query };
    assert_eq!(read_query.hash(), "b2795a7bb60a9c04");
}

/// Section 4.3 of the behavioral identity paper: who disagrees has the tool looked at.
#[test]
fn a_classifier_only_tightens_what_a_tool_counts_as() {
    let (pure, silent) = (json!({ "readOnlyHint": true }), json!({}));
    let (reads, changes) = ("PURE|SEARCH|MONEY", "MUTATES|DELETE|ACK");
    // name, annotations, trust, what classifiers say, what the operator says; badge, disputed
    let rows = [
        ("get_user", &pure, Trust::Corroborate, &[reads][..], None, Badge::Pure, false),
        ("get_user", &pure, Trust::Corroborate, &[reads, changes], None, Badge::Mutates, true),
        ("get_user", &silent, Trust::Annotations, &[changes], None, Badge::Mutates, true),
        ("get_user", &pure, Trust::Annotations, &[changes], None, Badge::Pure, true),
        ("get_user", &pure, Trust::None, &[changes], None, Badge::Mutates, false),
        ("get_user", &pure, Trust::Corroborate, &[changes], Some("PURE|READ|USER"), Badge::Pure, false),
        ("delete_user", &silent, Trust::Corroborate, &[reads], None, Badge::Mutates, true),
        ("delete_user", &silent, Trust::Annotations, &[reads, reads], None, Badge::Mutates, true),
    ];
    for (name, annotations, trust, outside, pinned, badge, disputed) in rows {
        let tool = tool(json!({ "name": name, "annotations": annotations }));
        let outside = outside.iter().map(|one| one.parse().unwrap()).collect();
        let pinned = pinned.map(|one| one.parse().unwrap());
        let is = of_tool_with(&tool, trust, Overrides { pinned, outside, ..Overrides::default() });
        assert_eq!((is.badge(), is.disputed), (badge, disputed), "{name} {annotations} {trust:?}");
        assert_eq!(is.has(Source::Outside), pinned.is_none(), "what a pin settles is no evidence: {name}");
    }
}

#[test]
fn evidence_joins_to_the_most_cautious() {
    let pure = json!({ "readOnlyHint": true });
    let changing = json!({ "readOnlyHint": false });
    let contradictory = json!({ "readOnlyHint": true, "destructiveHint": true });
    let destructive_only = json!({ "destructiveHint": true });
    let additive_only = json!({ "destructiveHint": false });
    let silent = json!({});
    // name, annotations, trust, badge, disputed
    let rows = [
        ("get_user", &silent, Trust::Corroborate, Badge::Likely, false),
        ("get_user", &pure, Trust::Corroborate, Badge::Pure, false),
        ("get_user", &additive_only, Trust::Corroborate, Badge::Likely, false),
        ("get_user", &changing, Trust::Corroborate, Badge::Mutates, true),
        ("get_user", &destructive_only, Trust::Corroborate, Badge::Mutates, true),
        ("get_user", &contradictory, Trust::Corroborate, Badge::Mutates, true),
        ("get_user", &contradictory, Trust::Annotations, Badge::Mutates, true),
        ("frobnicate", &contradictory, Trust::Corroborate, Badge::Mutates, true),
        ("delete_user", &silent, Trust::Corroborate, Badge::Mutates, false),
        ("delete_user", &pure, Trust::Corroborate, Badge::Mutates, true),
        ("delete_user", &pure, Trust::Annotations, Badge::Pure, true),
        ("get_user", &changing, Trust::Annotations, Badge::Mutates, true),
        ("get_user", &silent, Trust::Annotations, Badge::Likely, false),
        // A hint that no voter supports is one word only.
        ("frobnicate", &pure, Trust::Corroborate, Badge::Mutates, false),
        ("frobnicate", &pure, Trust::Annotations, Badge::Pure, false),
        ("frobnicate", &silent, Trust::Corroborate, Badge::Mutates, false),
        ("get_user", &pure, Trust::None, Badge::Mutates, false),
        ("frobnicate", &pure, Trust::None, Badge::Mutates, false),
        ("delete_user", &pure, Trust::None, Badge::Mutates, true),
    ];
    for (name, annotations, trust, badge, disputed) in rows {
        let behavior = of_tool(&tool(json!({ "name": name, "annotations": annotations })), trust);
        assert_eq!((behavior.badge(), behavior.disputed), (badge, disputed), "{name} {annotations} {trust:?}");
        let reads = matches!(behavior.identity.action, Action::Read | Action::Search);
        assert_eq!(reads, badge != Badge::Mutates, "{name} {annotations}: an action that fits the badge");
    }
}

#[test]
fn a_tool_may_declare_the_fields_itself() {
    let declares = |name: &str, said: &str| {
        let words: Vec<&str> = said.split('|').collect();
        let behavior =
            concluded(json!({ "name": name, "mutability": words[0], "action": words[1], "output_domain": words[2] }));
        (behavior.identity.to_string(), behavior.confidence, behavior.disputed)
    };
    for (name, said, identity, confidence, disputed) in [
        ("find_users", "PURE|SEARCH|USER", "PURE|SEARCH|USER", Confidence::Proven, false),
        // Its own word, and nobody else's.
        ("frobnicate", "PURE|SEARCH|USER", "MUTATES|UNKNOWN|USER", Confidence::None, false),
        ("frobnicate", "MUTATES|OVERWRITE|DATA", "MUTATES|OVERWRITE|DATA", Confidence::None, false),
        ("write_query", "MUTATES|OVERWRITE|DATA", "MUTATES|OVERWRITE|DATA", Confidence::None, false),
        ("execute_sql", "MUTATES|OVERWRITE|DATA", "MUTATES|OVERWRITE|DATA", Confidence::None, false),
        ("get_user", "MUTATES|OVERWRITE|DATA", "MUTATES|OVERWRITE|DATA", Confidence::None, true),
        ("get_user", "PURE|DELETE|ACK", "MUTATES|DELETE|ACK", Confidence::None, true),
        ("frobnicate", "PURE|DELETE|ACK", "MUTATES|DELETE|ACK", Confidence::None, true),
        ("delete_all", "MUTATES|CREATE|ACK", "MUTATES|DELETE|ACK", Confidence::None, false),
    ] {
        assert_eq!(declares(name, said), (identity.to_owned(), confidence, disputed), "{name} {said}");
    }
    let meta = concluded(
        json!({ "name": "frobnicate", "_meta": { "mutability": "MUTATES", "action": "SEND", "content_type": "TEXT" } }),
    );
    assert_eq!((meta.identity.to_string().as_str(), meta.content_type), ("MUTATES|SEND|UNKNOWN", ContentType::Text));
    let liar = concluded(json!({ "name": "delete_all", "mutability": "PURE", "action": "READ" }));
    assert_eq!((liar.badge(), liar.disputed), (Badge::Mutates, true));
    let odd = concluded(json!({ "name": "get_user", "mutability": "harmless" }));
    assert_eq!(odd.badge(), Badge::Likely);
    let noted = odd.evidence.iter().find(|evidence| evidence.source == Source::Declared).expect("noted");
    assert!(noted.span.contains("not in the taxonomy"), "{}", noted.span);
}

#[test]
fn arguments_raise_and_never_lower() {
    let read_query = tool(json!({
        "name": "read_query",
        "description": "Execute a SELECT query on the database",
        "inputSchema": { "type": "object", "properties": { "query": { "type": "string", "description": "SELECT SQL query to execute" } } },
    }));
    let search = named("search_notes", "Searches notes.");
    let fetch = named("fetch_url", "Fetches a page.");
    let write_query = named("write_query", "Executes INSERT, UPDATE or DELETE.");
    let rows = [
        (&read_query, json!({ "query": "SELECT * FROM users" }), "PURE"),
        (&read_query, json!({ "query": "DELETE FROM users" }), "MUTATES DELETE"),
        (&read_query, json!({ "query": "SELECT 1; DROP TABLE users" }), "MUTATES DELETE"),
        (&read_query, json!({ "query": "SELECT 1; SELECT 2" }), "MUTATES EXECUTE"),
        (&read_query, json!({ "query": "no sql at all" }), "PURE"),
        (&search, json!({ "query": "how to delete a user from the table" }), "PURE"),
        (&search, json!({ "query": "drop table users" }), "MUTATES DELETE"),
        (&search, json!({ "filter": { "sql": "TRUNCATE t" } }), "MUTATES DELETE"),
        (&fetch, json!({ "url": "https://example.org", "method": "GET" }), "PURE"),
        (&fetch, json!({ "url": "https://example.org", "method": "DELETE" }), "MUTATES DELETE"),
        (&fetch, json!({ "url": "https://example.org", "method": "post" }), "MUTATES CREATE"),
        (&fetch, json!({ "action": "purge_cache" }), "MUTATES DELETE"),
        (&write_query, json!({ "query": "SELECT 1" }), "MUTATES"),
    ];
    for (tool, arguments, expected) in rows {
        let behavior = called(tool, &arguments);
        let said = format!("{} {}", behavior.badge().word(), behavior.identity.action.word());
        assert!(said.starts_with(expected), "{} {arguments}: {said}", tool.name);
        let raises = |evidence: &Evidence| {
            evidence.source == Source::Arguments && evidence.says.mutability == Some(Mutability::Mutates)
        };
        let shown = behavior.evidence.iter().any(raises);
        assert_eq!(shown, expected.contains(' '), "{} {arguments}: the span that proves it", tool.name);
    }
}

#[test]
fn hazards_of_arguments_are_found_wherever_they_stand() {
    let note = named("read_note", "Reads a note.");
    let rows: &[(Value, Option<HazardKind>)] = &[
        (json!({ "path": "notes/today.md" }), None),
        (json!({ "path": "/home/u/.env" }), Some(HazardKind::SensitiveRead)),
        (json!({ "path": "app/.env.production" }), Some(HazardKind::SensitiveRead)),
        (json!({ "path": "app/.env.example" }), None),
        (json!({ "path": "~/.ssh/config" }), Some(HazardKind::SensitiveRead)),
        (json!({ "deep": [{ "paths": ["a", "C:\\Users\\u\\.aws\\credentials"] }] }), Some(HazardKind::SensitiveRead)),
        (json!({ "path": "/etc/shadow" }), Some(HazardKind::SensitiveRead)),
        (json!({ "path": "/proc/self/environ" }), Some(HazardKind::SensitiveRead)),
        (json!({ "url": "http://169.254.169.254/latest/meta-data" }), Some(HazardKind::SensitiveRead)),
        (json!({ "name": "GITHUB_TOKEN" }), Some(HazardKind::SensitiveRead)),
        (json!({ "name": "server.key" }), Some(HazardKind::SensitiveRead)),
        (json!({ "title": "a key to a shadow environment" }), None),
        (json!({ "title": "a\u{200b}b" }), Some(HazardKind::HiddenCharacters)),
        (json!({ "a\u{202e}b": 1 }), Some(HazardKind::HiddenCharacters)),
        (json!({ "title": "\u{e0041}" }), Some(HazardKind::HiddenCharacters)),
        (json!({ "title": "👩\u{200d}💻 ❤\u{fe0f}" }), None),
        (json!({ "title": "می\u{200c}خواهم" }), None),
        (json!({ "title": "tabs\tand\nlines\r\n" }), None),
        (json!({ "title": "\u{1b}[2J" }), Some(HazardKind::TerminalSequence)),
        (json!({ "title": "\u{9b}2J" }), Some(HazardKind::TerminalSequence)),
        (json!({ "title": "\u{7f}" }), Some(HazardKind::TerminalSequence)),
        (json!({ "title": "a\0b" }), Some(HazardKind::NulCharacter)),
        (json!({ "n": 9_007_199_254_740_992_u64 }), None),
        (json!({ "n": 9_007_199_254_740_993_u64 }), Some(HazardKind::AmbiguousNumber)),
        (json!({ "n": -9_007_199_254_740_993_i64 }), Some(HazardKind::AmbiguousNumber)),
        (serde_json::from_str("{\"n\": 1e400}").expect("json"), Some(HazardKind::AmbiguousNumber)),
        (serde_json::from_str("{\"n\": 1E2}").expect("json"), Some(HazardKind::AmbiguousNumber)),
        (serde_json::from_str("{\"n\": -0}").expect("json"), Some(HazardKind::AmbiguousNumber)),
        (serde_json::from_str("{\"n\": 0.1}").expect("json"), None),
        (serde_json::from_str("{\"n\": 1.5e-3}").expect("json"), None),
    ];
    for (arguments, expected) in rows {
        let behavior = called(&note, arguments);
        assert_eq!(kinds(&behavior), expected.iter().copied().collect::<Vec<_>>(), "{arguments}");
        assert_eq!(behavior.identity.mutability, Mutability::Pure, "a hazard is no change of mutability");
    }
}

#[test]
fn undeclared_arguments_are_named() {
    let strict = tool(json!({ "name": "get_user", "inputSchema": { "type": "object", "properties": { "id": {} } } }));
    let behavior = called(&strict, &json!({ "id": 1, "sudo": true }));
    assert_eq!(kinds(&behavior), [HazardKind::UndeclaredArguments]);
    assert!(behavior.hazards[0].what.contains("sudo"));
}

#[test]
fn tools_that_hand_out_secrets_are_sensitive_reads() {
    for (name, description, sensitive) in [
        ("get-env", "Prints all environment variables.", true),
        ("printenv", "Prints the environment.", true),
        ("get_secret_value", "Gets a secret.", true),
        ("list_api_keys", "Lists API keys.", true),
        ("get_weather", "Gets the weather, using your API key.", false),
        ("get_environment", "Gets a deployment environment.", false),
        ("list_tokens", "Lists design tokens.", false),
    ] {
        let found = kinds(&of_tool(&named(name, description), Trust::Corroborate));
        assert_eq!(found.contains(&HazardKind::SensitiveRead), sensitive, "{name}: {found:?}");
    }
}

#[test]
fn danger_names_its_reasons() {
    let of = |name: &str, description: &str| {
        danger(&of_tool(&named(name, description), Trust::Corroborate), Replaced::Perhaps)
    };
    for (name, word) in [
        ("delete_file", "deletes"),
        ("execute_script", "runs"),
        ("send_mail", "sends"),
        ("merge_branch", "merges"),
        ("overwrite_file", "may replace"),
        ("frobnicate", "unknown"),
    ] {
        assert!(of(name, "").is_some_and(|why| why.contains(word)), "{name}: {:?}", of(name, ""));
    }
    let overwrite = of_tool(&named("overwrite_file", ""), Trust::Corroborate);
    assert_eq!(danger(&overwrite, Replaced::Nothing), None, "there is nothing to replace");
    assert_eq!(of("get_user", "Gets a user."), None);
    assert_eq!(of("create_note", "Creates a note."), None);
    let note = named("read_note", "Reads a note.");
    assert_eq!(
        danger(&called(&note, &json!({ "path": ".env" })), Replaced::Perhaps).as_deref(),
        Some("sensitive-read")
    );
}

#[test]
fn a_call_of_a_tool_nobody_described_is_unknown_with_its_hazards() {
    let arguments = json!({ "path": "~/.ssh/id_rsa" });
    let behavior = of_call(None, &Behavior::unknown(), &arguments);
    assert_eq!(behavior.identity, Identity::UNKNOWN);
    assert_eq!(kinds(&behavior), [HazardKind::SensitiveRead]);
}

#[test]
fn deceiving_characters_are_judged_in_context() {
    let found = |text: &str| deceiving(text).map(|(c, deceit)| (u32::from(c), deceit)).collect::<Vec<_>>();
    assert_eq!(found("plain – ünïcode 中文 🎉"), []);
    assert_eq!(
        found("\u{feff}a\u{ad}b\u{3164}"),
        [
            (0xfeff, HazardKind::HiddenCharacters),
            (0xad, HazardKind::HiddenCharacters),
            (0x3164, HazardKind::HiddenCharacters)
        ]
    );
    assert_eq!(found("a\u{fe0f}"), [(0xfe0f, HazardKind::HiddenCharacters)]);
    assert_eq!(
        found("\u{2028}\0\u{8}"),
        [(0x2028, HazardKind::HiddenCharacters), (0, HazardKind::NulCharacter), (8, HazardKind::TerminalSequence)]
    );
}
