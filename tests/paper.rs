//! The behavioral identity paper's experiment as tests: its servers' tools, its confusable pairs, its named errors.
//!
//! `fixtures/paper_tools.jsonl` holds the tools of the paper's four servers as they describe themselves today, without
//! annotations, each with the identity that a majority of three readers gave it.

use std::collections::BTreeMap;

use mcp_approve::behavior::conclude::{Behavior, Trust, of_call, of_tool};
use mcp_approve::behavior::taxonomy::{Badge, ContentType};
use mcp_approve::mcp::tool::Tool;
use serde_json::{Value, json};

struct Known {
    tool: Tool,
    behavior: Behavior,
    gold: String,
}

fn tools() -> BTreeMap<String, Known> {
    let known = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("a line of JSON");
        let tool = Tool::read(row["tool"].clone()).expect("a tool");
        let behavior = of_tool(&tool, Trust::Corroborate);
        (tool.name.clone(), Known { behavior, gold: row["gold"].as_str().expect("gold").to_owned(), tool })
    };
    include_str!("fixtures/paper_tools.jsonl").lines().map(known).collect()
}

/// Table 4: severity and pair. Where a server has changed since, the nearest pair of today.
const PAIRS: &[(&str, &str, &str)] = &[
    ("CRITICAL", "read_query", "write_query"),
    ("CRITICAL", "merge_pull_request", "update_pull_request_branch"),
    ("CRITICAL", "create_directory", "list_directory"),
    ("HIGH", "write_file", "edit_file"),
    ("HIGH", "write_file", "move_file"),
    ("HIGH", "add_issue_comment", "update_issue"),
    ("MEDIUM", "search_code", "search_issues"),
    ("MEDIUM", "get_pull_request", "get_pull_request_files"),
    ("MEDIUM", "list_directory", "directory_tree"),
    ("MEDIUM", "read_text_file", "get_file_contents"),
    ("MEDIUM", "git_diff_staged", "git_status"),
    ("MEDIUM", "search_repositories", "search_users"),
    ("MEDIUM", "create_issue", "create_pull_request"),
    ("LOW", "list_issues", "list_pull_requests"),
    ("LOW", "git_log", "git_show"),
];

/// Some pairs are not the paper's own, since its servers have changed: its figure and this one cannot be compared.
#[test]
fn no_critical_or_high_pair_shares_an_identity_and_few_others_do() {
    let tools = tools();
    let identity = |name: &str| tools[name].behavior.identity.hash();
    let mut separated = 0;
    for (severity, one, other) in PAIRS {
        let apart = identity(one) != identity(other);
        separated += u32::from(apart);
        assert!(apart || matches!(*severity, "MEDIUM" | "LOW"), "{severity}: {one} and {other}");
    }
    assert!(separated > 10, "{separated} of {}", PAIRS.len());
}

#[test]
fn the_papers_servers_are_recognised() {
    let tools = tools();
    let (mut whole, mut wrong) = (0, Vec::new());
    for (name, known) in &tools {
        let said = known.behavior.identity.to_string();
        whole += u32::from(said == known.gold);
        if said.split('|').next() != known.gold.split('|').next() {
            wrong.push(format!("{name}: said {said}, gold {}", known.gold));
        }
    }
    assert_eq!(wrong, Vec::<String>::new(), "mutability");
    assert!(whole * 100 >= 80 * u32::try_from(tools.len()).expect("few"), "{whole} of {} whole triples", tools.len());
}

#[test]
fn g02_and_g23_a_write_through_the_reading_tool_is_caught() {
    let tools = tools();
    let known = &tools["read_query"];
    assert_eq!(known.behavior.badge(), Badge::Pure);
    for query in ["DELETE FROM sessions WHERE expired = 1", "UPDATE users SET age = 0 WHERE age < 0"] {
        let arguments = json!({ "query": query });
        let call = of_call(Some(&known.tool), &known.behavior, &arguments);
        assert_eq!(call.badge(), Badge::Mutates, "{query}");
        assert_ne!(call.identity, known.behavior.identity, "{query}");
    }
}

#[test]
fn g15_a_comment_is_not_an_update() {
    let tools = tools();
    assert_ne!(tools["add_issue_comment"].behavior.identity.hash(), tools["update_issue"].behavior.identity.hash());
}

#[test]
fn the_papers_one_uncaught_error_is_caught_by_the_content_type() {
    let tools = tools();
    let content = |name: &str| tools[name].behavior.content_type;
    assert_eq!((content("read_media_file"), content("read_text_file")), (ContentType::Binary, ContentType::Text));
}
