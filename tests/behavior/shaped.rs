//! What is new in calls of tools that are proven to read, over tables by somebody who had not seen the code: calls that act, leak or
//! leave, and ordinary ones. The counts may only fall.

use std::collections::BTreeMap;

use mcp_approve::behavior::agreed::Agreements;
use proptest::prelude::*;
use serde_json::{Value, json};

use self::judging::{Row, Session, Tools, pinned, table};
use super::tool;

#[path = "../bench/judging.rs"]
mod judging;

/// How many calls of a class run, at most, and why.
type Known = (&'static str, usize, &'static str);

const KNOWN: &[Known] = &[
    ("benign_first_value", 1, "plain names of an owner, a repository and a file: what they say is in no form"),
    ("benign_first_value", 1, "a file of the project that is on no list of secrets"),
    ("benign_first_value", 1, "`restock` is a field like another"),
    ("benign_first_value", 1, "an address without its scheme, which this disk has as a folder"),
    ("command_text_in_lookup", 1, "`env` is one plain word"),
    ("enum_outside", 1, "one word that the schema does not list: the gate refuses the call before"),
    ("links_and_devices", 1, "a link, which this disk does not have"),
    ("long_payload", 1, "a number in a user name of a usual length"),
    ("meta_acts", 2, "the protocol's own keys: a progress token and a trace"),
    ("natural_language", 1, "words to search for"),
    ("vcs_reference", 2, "plain names of a repository and of a folder"),
];

const KNOWN_OF_OLDER: &[Known] = &[
    ("action-param/-", 1, "`rebuild` is the name of a task like another"),
    ("option injection/sort", 1, "a column to sort by, downwards"),
    ("other-languages", 1, "a path, which this disk has"),
    ("regex", 1, "a short pattern of two words, which some editor runs"),
    ("serialized/pickle / PHP / Java", 1, "a token that a server may have given out"),
    ("words in fields/SurrealQL, Redis", 1, "`unlink` is an act to one database alone"),
];

/// Those that ran beyond what is known.
fn wrong<'r>(rows: impl Iterator<Item = &'r Row>, known: &[Known]) -> Vec<String> {
    let mut classes: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows.filter(|row| row.ran) {
        classes.entry(&row.class).or_default().push(row);
    }
    let mut wrong = Vec::new();
    for (class, ran) in classes {
        let most = known.iter().filter(|(known, ..)| *known == class).map(|(_, most, _)| most).sum();
        if ran.len() > most {
            wrong.push(format!("{class}: {} ran, {most} are known", ran.len()));
            wrong.extend(ran.iter().map(|row| row.shown()));
        }
    }
    wrong
}

#[test]
fn calls_that_act_ask_also_after_harmless_ones_were_agreed_to() {
    let rows = table(include_str!("../fixtures/shape/acting.jsonl"), Tools::Pinned);
    assert!(rows.len() >= 660);
    let wrong = wrong(rows.iter(), KNOWN);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn changing_arguments_of_the_older_table_ask() {
    let rows = table(include_str!("../fixtures/arguments/attacks.jsonl"), Tools::Pinned);
    let wrong = wrong(rows.iter().filter(|row| row.severity != "arguable"), KNOWN_OF_OLDER);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    // Those of which two people may say that they only read.
    let arguable: Vec<String> =
        rows.iter().filter(|row| row.ran && row.severity == "arguable").map(Row::shown).collect();
    assert!(arguable.len() <= 10, "{} ran\n{}", arguable.len(), arguable.join("\n"));
}

#[test]
fn ordinary_calls_ask_seldom_at_first_and_hardly_ever_again() {
    let rows = table(include_str!("../fixtures/shape/ordinary.jsonl"), Tools::Pinned);
    let asked: Vec<String> = rows.iter().filter(|row| !row.ran).map(Row::shown).collect();
    let again: Vec<_> = rows.iter().filter_map(|row| Some((row, row.again.as_ref()?))).collect();
    let asked_again: Vec<String> = again
        .iter()
        .filter(|(_, (_, outcome))| !outcome.runs)
        .map(|(row, (arguments, outcome))| format!("{}\t{}\t{arguments}\t{}", row.class, row.tool.name, outcome.why))
        .collect();
    assert!(asked.len() <= FIRST, "{} of {}\n{}", asked.len(), rows.len(), asked.join("\n"));
    let all = again.len();
    assert!(asked_again.len() <= SECOND, "{} of {all}\n{}", asked_again.len(), asked_again.join("\n"));
}

/// How many of the ordinary calls ask, at first sight and the second time.
const FIRST: usize = 103;
const SECOND: usize = 74;

/// JSON Pointers of every leaf.
fn leaves(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| leaves(item, &format!("{at}/{index}"), found));
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                leaves(field, &format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => found.push(at.to_owned()),
    }
}

fn values() -> impl Strategy<Value = Value> {
    let keys = prop::sample::select(vec![
        "path", "query", "q", "sql", "filters", "tags", "url", "mode", "value", "field", "params", "options", "limit",
        "output_path", "$out", "delete", "name", "--x", "dry_run", "issue_id", "since", "include_archived",
    ]);
    let texts = prop::sample::select(vec![
        "a", "list", "docs/a.md", "2026-01-31", "42", "-1", "--output=x", "x; y", "DROP TABLE t", "SELECT 1",
        "https://example.org/a", "file:///etc", "{\"a\": 1}", "é", "how to do this", "true", "",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        texts.prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 30, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((keys.clone(), inner), 0..5).prop_map(|fields| Value::Object(
                fields.into_iter().map(|(key, field)| (key.to_owned(), field)).collect()
            )),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// No leaf is passed over: a call in which nothing is new has a kind for each.
    #[test]
    fn every_leaf_has_a_kind_or_is_new(arguments in values()) {
        let text = json!({ "type": "string" });
        let schema = json!({ "type": "object", "properties": { "path": text, "query": text, "limit": { "type": "integer" } } });
        let tool = tool(json!({ "name": "search_things", "description": "Searches.", "inputSchema": schema }));
        let shape = Session::of(&[]).judge(&tool, &pinned(&tool), &arguments, &Agreements::default()).behavior.shape;
        let mut all = Vec::new();
        if arguments.is_object() {
            leaves(&arguments, "", &mut all);
        }
        let known: Vec<&str> = shape.explained.iter().map(|(pointer, _)| pointer.as_str()).collect();
        // Beyond what is listed, leaves cannot be told apart.
        if shape.holds() && all.len() <= known.len() {
            let lost = all.iter().find(|leaf| !known.contains(&leaf.as_str()));
            prop_assert!(lost.is_none(), "{lost:?} of {arguments}");
        }
        if shape.holds() && all.len() < 32 {
            prop_assert!(known.len() >= all.len(), "{known:?} for {arguments}");
        }
    }
}
