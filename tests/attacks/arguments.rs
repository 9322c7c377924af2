//! Section F, F1 to F7: tools that read like reads, and what hides in the arguments of one that is proven to. None of it runs
//! unasked.

use mcp_approve::behavior::conclude::{Overrides, Trust, of_call, of_tool_with};
use mcp_approve::behavior::identity::Identity;
use mcp_approve::behavior::taxonomy::{Action, Mutability, OutputDomain};
use mcp_approve::mcp::tool::Tool;
use serde_json::{Value, json};

/// Whether a call of a tool that an operator pinned PURE runs unasked.
fn runs(description: &str, arguments: &Value) -> bool {
    let definition = json!({ "name": "read_things", "description": description, "inputSchema": { "type": "object" } });
    let tool = Tool::read(definition).expect("a definition");
    let pinned =
        Some(Identity { mutability: Mutability::Pure, action: Action::Read, output_domain: OutputDomain::Data });
    let described = of_tool_with(&tool, Trust::Corroborate, Overrides { pinned, ..Overrides::default() });
    of_call(Some(&tool), &described, arguments).runs_unasked()
}

fn asks(description: &str, all: &[Value]) {
    let ran: Vec<String> = all.iter().filter(|one| runs(description, one)).map(Value::to_string).collect();
    assert!(ran.is_empty(), "{ran:#?}");
}

#[test]
fn f1_a_definition_that_reads_like_a_read_is_not_proven() {
    let runs = |name: &str, description: &str, hints: Value| {
        let definition = json!({ "name": name, "description": description, "inputSchema": { "type": "object" }, "annotations": hints });
        of_tool_with(&Tool::read(definition).expect("a definition"), Trust::Corroborate, Overrides::default())
            .runs_unasked()
    };
    assert!(runs("list_orders", "Lists all orders of a customer.", json!({})));
    for (name, description) in [
        ("monitor_delete", "Monitor Delete"),
        ("monitorDelete", "Monitor Delete"),
        ("interest", "Express interest in a listing."),
        ("archive", "Archive (soft-delete) a project."),
        ("configuration", "Loads a configuration, replacing the current one."),
        ("get_and_purge", "Gets the entries. The entries are then purged."),
    ] {
        for hints in
            [json!({}), json!({ "readOnlyHint": true }), json!({ "readOnlyHint": true, "destructiveHint": true })]
        {
            assert!(!runs(name, description, hints.clone()), "{name} {hints}");
        }
    }
}

#[test]
fn f2_options_of_a_program_are_not_explained() {
    assert!(runs("Shows a commit.", &json!({ "revision": "main~3", "path": "src/main.rs", "count": -5 })));
    asks(
        "Shows a commit.",
        &[
            json!({ "revision": "--output=/etc/passwd" }),
            json!({ "revision": " -o/tmp/x" }),
            json!({ "revision": "main -o /tmp/x" }),
            json!({ "paths": ["a", "--", "--ext-diff"] }),
            json!({ "args": ["status"] }),
            json!({ "flags": "verbose" }),
            json!({ "options": { "output": "x" } }),
            json!({ "extra_args": "a" }),
            json!({ "remote": "ext::sh -c id" }),
            json!({ "name": "core.editor=id" }),
            json!({ "--output": "x" }),
        ],
    );
}

#[test]
fn f3_a_statement_that_no_reader_read_is_not_explained() {
    assert!(runs("Runs SQL.", &json!({ "rawSql": "SELECT name FROM users" })));
    assert!(runs("Runs Cypher.", &json!({ "query_text": "MATCH (n) RETURN n.name LIMIT 5" })));
    asks(
        "Reads things.",
        &[
            json!({ "aql": "FOR u IN users RETURN u" }),
            json!({ "luaScript": "return 1" }),
            json!({ "RAWSQL": "CALL refresh()" }),
            json!({ "cypherQuery": "MATCH (n) DETACH DELETE n" }),
            json!({ "query": "FOR u IN users REMOVE u IN users" }),
            json!({ "query": "g.V().drop()" }),
            json!({ "statement": ".drop table T" }),
            json!({ "name": "DROP TABLE users" }),
        ],
    );
    asks("Runs SQL, or Cypher.", &[json!({ "query": "MATCH (n) SET n.a = 1" }), json!({ "query": "DELETE FROM t" })]);
}

#[test]
fn f4_a_description_switches_no_reader_off() {
    let mut words = vec!["graphql", "redis", "mongodb", "cypher", "plain text only", "never SQL"];
    words.push("a search over documents; the query is always natural language");
    for word in words {
        let description = format!("Runs a SQL query. Supports {word}.");
        asks(
            &description,
            &[json!({ "query": "DELETE FROM users" }), json!({ "sql": "SELECT pg_terminate_backend(1)" })],
        );
    }
}

#[test]
fn f5_what_is_not_read_to_its_end_is_not_explained() {
    let statements = |last: &str| {
        let mut all = vec!["SELECT 1"; 64];
        all.push(last);
        json!({ "statements": all })
    };
    let inside =
        |text: &str, times: usize| (0..times).fold(text.to_owned(), |inner, _| json!({ "a": inner }).to_string());
    let deep = (0..70).fold(json!("x"), |inner, _| json!([inner]));
    assert!(runs("Runs SQL.", &json!({ "statements": ["SELECT 1", "SELECT 2"] })));
    asks(
        "Runs SQL.",
        &[
            statements("SELECT 1"),
            statements("DROP TABLE t"),
            json!({ "sql": format!("SELECT '{}'", "x".repeat(70_000)) }),
            json!({ "notes": vec!["words to read"; 30_000] }),
            json!({ "numbers": vec![1; 200_000] }),
            json!({ "body": inside("a", 9) }),
            json!({ "deep": deep }),
            json!({ "value": [{ "any": ["a; b"] }] }),
            json!({ "body": "{\"method\":\"DELETE\",\"method\":\"GET\"}" }),
        ],
    );
}

#[test]
fn f6_other_methods_and_schemes_are_not_explained() {
    assert!(runs("Fetches a page.", &json!({ "url": "https://example.org/a?b=c", "method": "GET" })));
    asks(
        "Fetches a page.",
        &[
            json!({ "method": "BREW" }),
            json!({ "url": "https://example.org/?_method=DELETE" }),
            json!({ "url": "https://example.org/?%5Fmethod=DELETE" }),
            json!({ "url": "https://example.org/?X-HTTP-Method-Override=PUT" }),
            json!({ "url": "https://example.org/?action=delete" }),
            json!({ "url": "https://u:p@example.org/" }),
            json!({ "url": "https://example.org/%0d%0aX: y" }),
            json!({ "url": "https://example.org/%250d%250a" }),
            json!({ "url": "file:///etc/passwd" }),
            json!({ "url": "gopher://example.org/" }),
            json!({ "url": "data:text/html,x" }),
            json!({ "url": "JavaScript:alert" }),
            json!({ "headers": { "X_HTTP_METHOD_OVERRIDE": "DELETE" } }),
            json!({ "headers": ["Accept: a", "X-HTTP-Method: DELETE"] }),
            json!({ "headers": "Accept: a\nX-Method-Override: DELETE" }),
            json!({ "headers": [{ "name": "X-Do", "value": "delete" }] }),
            json!({ "body": { "_method": "delete" } }),
        ],
    );
}

#[test]
fn f7_shell_and_template_shapes_are_not_plain_words() {
    assert!(runs(
        "Finds notes.",
        &json!({ "title": "Fish & chips? No: AT&T, R&D (2026) \"and more\"".replace("& c", "and c") })
    ));
    for shape in [
        "; rm -rf x", "| sh", "&& id", "& id", "$(id)", "`id`", "> /etc/x", "< /etc/x", "${x}", "{{x}}", "<%= x %>",
        "\nid",
    ] {
        for key in ["title", "path", "name", "query", "url", "pattern", "id"] {
            asks("Finds notes.", &[json!({ key: format!("a {shape}") }), json!({ key: format!("a{shape}b") })]);
        }
    }
}
