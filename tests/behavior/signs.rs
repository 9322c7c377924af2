//! What a reader is not asked for want of its signs, it would not have taken: over every text of the corpora, and over any.

use mcp_approve::behavior::arguments::explain::key::Role;
use mcp_approve::behavior::arguments::explain::{name, pattern, prose, text as kinds};
use mcp_approve::behavior::arguments::http;
use mcp_approve::behavior::signs::{Needs, Signs, WORDS, signs};
use proptest::prelude::*;
use serde_json::Value;

type Reader = (&'static str, Needs, fn(&str) -> bool);

const READERS: [Reader; 7] = [
    ("a number", name::NUMBER, name::is_number),
    ("a version", name::VERSION, name::is_version),
    ("an email address", name::EMAIL, name::is_email),
    ("an identifier", name::IDENTIFIER, name::is_identifier),
    ("identifiers", name::IDENTIFIERS, name::are_identifiers),
    ("a path", name::A_PATH, name::is_path),
    ("a declaration", pattern::DECLARATION, pattern::is_declaration),
];

/// The readers that would take a text that they are not asked for.
fn missed(text: &str) -> Vec<&'static str> {
    let found = Signs::of(text);
    let takes = |(_, needs, takes): &&Reader| !found.may_be(*needs) && takes(text);
    let mut missed: Vec<&str> = READERS.iter().filter(takes).map(|(name, ..)| *name).collect();
    let assigns = http::overriding_line(text).is_some()
        || http::method_of_query(text).is_some()
        || http::act_of_form(text).is_some()
        || http::code(text).is_some();
    if assigns && !found.has(http::ASSIGNS) {
        missed.push("an assignment");
    }
    if !found.may_control() && text.chars().any(char::is_control) {
        missed.push("a control character");
    }
    missed
}

#[test]
fn no_text_of_the_corpora_is_kept_from_a_reader_that_would_take_it() {
    fn texts(value: &Value, out: &mut Vec<String>) {
        match value {
            Value::String(text) => out.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| texts(item, out)),
            Value::Object(fields) => {
                for (name, field) in fields {
                    out.push(name.clone());
                    texts(field, out);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let lines =
        [include_str!("../fixtures/arguments/ordinary.jsonl"), include_str!("../fixtures/arguments/attacks.jsonl")];
    let mut all = Vec::new();
    for line in lines.into_iter().flat_map(str::lines) {
        texts(&serde_json::from_str(line).unwrap(), &mut all);
    }
    assert!(all.len() > 10_000, "{}", all.len());
    // The pieces of a text are of other kinds than the whole.
    for text in all.iter().flat_map(|text| std::iter::once(text.as_str()).chain(text.split(' ')).chain(text.split('"')))
    {
        assert_eq!(missed(text), Vec::<&str>::new(), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_is_kept_from_a_reader_that_would_take_it(
        text in prop_oneof![
            "[a-z0-9/\\\\.*~:@#+_=^!,% ()<>-]{0,16}", "\\PC{0,12}", any::<String>(), "[C-Z]:[\\\\/][a-z.]{1,8}(:[0-9]{1,3})?",
            "(pub )?(fn|def) [a-z]{1,4}\\([a-z:, ]{0,8}\\)( -> [A-Z][a-z<>]{0,5})?", "[vV^~]?[0-9]{1,2}(\\.[0-9x*]{1,2}){0,2}",
        ],
    ) {
        prop_assert_eq!(missed(&text), Vec::<&str>::new());
    }

    #[test]
    fn letters_with_spaces_between_them_are_plain_words(text in "[a-zA-Z0-9_,? ]{0,60}") {
        prop_assert!(Signs::of(&text).are_all(WORDS | signs(b" _,?")));
        // With a full stop they are read one by one.
        prop_assert_eq!(prose::is_plain(&text), prose::is_plain(&format!("{text} .")));
    }

    #[test]
    fn spaces_around_a_text_explain_nothing_else(text in prop_oneof!["[a-z0-9/.:,@+-]{1,12}", "[ -~]{1,16}"]) {
        for role in [Role::Plain, Role::Open, Role::Identifier, Role::Pattern, Role::Names] {
            let bare = text.trim_matches(' ');
            prop_assert_eq!(kinds::of(&format!(" {bare}  "), role, 0), kinds::of(bare, role, 0));
        }
    }
}
