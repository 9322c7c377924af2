//! Hazards by their names: paths that climb, names that look alike, tables of passwords.

use mcp_approve::behavior::hazards::HazardKind;
use mcp_approve::behavior::hazards::lookalike::{deceives, disguised, within};
use serde_json::{Value, json};

use super::{called, kinds, named};

#[test]
fn a_path_that_climbs_asks_even_of_a_tool_that_reads() {
    let read = named("read_file", "Reads a file.");
    let rows: &[(Value, bool)] = &[
        (json!({ "path": "../other/a.txt" }), true),
        (json!({ "path": "a/../../b.txt" }), true),
        (json!({ "paths": ["a", "..%2f..%2fb"] }), true),
        (json!({ "options": { "file": "..\\b" } }), true),
        (json!({ "path": "a/../b.txt" }), false),
        (json!({ "path": "/srv/a.txt" }), false),
        (json!({ "note": "../../etc/passwd" }), true),
        (json!({ "ids": [{ "value": "%2e%2e/x" }] }), true),
        (json!({ "title": "up by ../ one climbs" }), false),
        (json!({ "title": "a\n../b" }), false),
        (json!({ "source": "HEAD~2..main" }), false),
    ];
    for (arguments, climbs) in rows {
        let found = kinds(&called(&read, arguments)).contains(&HazardKind::PathTraversal);
        assert_eq!(found, *climbs, "{arguments}");
    }
}

#[test]
fn a_name_that_looks_like_another_of_its_server_or_like_a_plain_one_is_named() {
    for (one, other) in [("re\u{430}d_file", "read_file"), ("read_fi1e", "read_file"), ("get_rnodern", "get_modern")] {
        assert!(within(one, other).is_some(), "{one} {other}");
    }
    for (one, other) in [("read_file", "read_file"), ("read_file", "read_files"), ("get_a", "get_b")] {
        assert!(within(one, other).is_none(), "{one} {other}");
    }
    assert!(disguised("re\u{430}d_file").is_some_and(|hazard| hazard.what.contains("U+0430")));
    for honest in ["read_file", "прочитать", "größe_lesen", "读取文件", "read_文件"] {
        assert!(disguised(honest).is_none(), "{honest}");
    }
}

#[test]
fn a_read_of_passwords_in_a_database_is_a_sensitive_read() {
    let query = named("read_query", "Execute a SELECT query");
    for sql in
        ["SELECT * FROM pg_shadow", "select rolpassword from pg_catalog.pg_authid", "SELECT * FROM sys.sql_logins"]
    {
        assert!(kinds(&called(&query, &json!({ "query": sql }))).contains(&HazardKind::SensitiveRead), "{sql}");
    }
}

#[test]
fn every_kind_has_its_name_and_stands_in_its_help_topic() {
    let topic = include_str!("../../assets/help/hazards.md");
    for kind in HazardKind::ALL {
        assert!(topic.contains(&format!("| `{}` |", kind.word())), "{} is not in the topic's table", kind.word());
        assert_eq!(serde_json::to_value(kind).expect("a word"), kind.word(), "one name in files and messages");
    }
}

#[test]
fn the_less_plain_or_later_of_two_that_look_alike_deceives() {
    for (name, other, later, is) in [
        ("re\u{430}d_file", "read_file", false, true),
        ("read_file", "re\u{430}d_file", true, false),
        ("read_file", "read_file", true, false),
        ("read_fi1e", "read_file", true, true),
        ("read_fi1e", "read_file", false, false),
        ("ｒead_file", "read_file", false, true),
        ("read_file", "write_file", true, false),
        ("get_modern", "get_rnodern", true, true),
    ] {
        assert_eq!(deceives(name, other, later), is, "{name} beside {other}");
    }
}
