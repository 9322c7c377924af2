//! Statements have one text: canonical JSON, and nothing else is read.

use mcp_approve::signing::statement::{LONGEST, Said, Statement};
use mcp_approve::wire::digest::Digest;
use serde_json::Value;

use super::bed::{said, statement};

#[test]
fn a_statement_is_one_line_of_sorted_keys_strings_and_integers() {
    let full = Statement {
        said: Said { grants: Some("ü \"\\\n\u{1}/ under ~/a".into()), until: Some(5), ..said() },
        ..statement()
    };
    for statement in [statement(), full] {
        let text = statement.to_json();
        assert_eq!(Statement::read(&text), Ok(statement));
        assert!(!text.contains('\n'), "{text}");
        plain(&serde_json::from_str(&text).unwrap());
        // Sorted by a map of another kind, it is the same text.
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(sorted(&value), text);
    }
    let text = statement().to_json();
    assert!(text.starts_with(r#"{"card":{"approval":1,"approvals":1,"call":""#), "{text}");
    assert!(text.ends_with(r#","signer":"mara@example.com","time":1795773600000,"version":2}"#), "{text}");
    assert_eq!(
        Digest::of(text.as_bytes()).short(),
        "216aa1d95922fc5d",
        "the form of a statement changed: raise its version"
    );
}

fn plain(value: &Value) {
    match value {
        Value::Object(fields) => fields.values().for_each(plain),
        Value::Number(number) => assert!(number.as_i64().is_some(), "{number}"),
        Value::String(_) => {}
        other => panic!("{other} is neither a string nor an integer"),
    }
}

fn sorted(value: &Value) -> String {
    let Value::Object(fields) = value else { return value.to_string() };
    let mut fields: Vec<String> =
        fields.iter().map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), sorted(value))).collect();
    fields.sort();
    format!("{{{}}}", fields.join(","))
}

#[test]
fn another_text_of_the_same_statement_is_not_read() {
    let text = statement().to_json();
    for (what, changed, why) in [
        ("a space", text.replacen(':', ": ", 1), "not canonical"),
        ("a line end", format!("{text}\n"), "not canonical"),
        (
            "another order",
            text.replacen(r#""approval":1,"approvals":1"#, r#""approvals":1,"approval":1"#, 1),
            "not canonical",
        ),
        ("an escape that nothing needs", text.replacen("mara@", "m\\u0061ra@", 1), "not canonical"),
        ("a number with an exponent", text.replacen("\"seq\":41", "\"seq\":41e0", 1), "not the JSON"),
        ("a number with a fraction", text.replacen("\"seq\":41", "\"seq\":41.0", 1), "not the JSON"),
        ("null for what is absent", text.replacen("\"verdict\"", "\"grants\":null,\"verdict\"", 1), "not canonical"),
        (
            "upper-case hex",
            text.replacen(&Digest::of(b"call").to_string(), &Digest::of(b"call").to_string().to_uppercase(), 1),
            "not canonical",
        ),
        ("a key twice", text.replacen("\"time\"", "\"signer\":\"x\",\"time\"", 1), "duplicate field"),
        ("an empty reason", text.replacen("\"verdict\"", "\"reason\":\"\",\"verdict\"", 1), "not canonical"),
        ("a key that is not known", text.replacen("\"time\"", "\"tim\":1,\"time\"", 1), "unknown field"),
        ("a key that is missing", text.replacen(r#""approval":1,"#, "", 1), "missing field"),
        ("a string for a number", text.replacen("\"seq\":41", "\"seq\":\"41\"", 1), "not the JSON"),
        ("another version", text.replacen("\"version\":2", "\"version\":1", 1), "has version 1"),
        ("no version", text.replacen(",\"version\":2", "", 1), "missing field"),
        ("two statements", format!("{text}{text}"), "not the JSON"),
        ("an array around it", format!("[{text}]"), "not the JSON"),
        ("nothing", String::new(), "not the JSON"),
        (
            "a very long one",
            text.replacen("\"signer\":\"", &format!("\"signer\":\"{}", "x".repeat(LONGEST)), 1),
            "longer than",
        ),
    ] {
        assert_ne!(changed, text, "{what}");
        let read = Statement::read(&changed).expect_err(what).to_string();
        assert!(read.contains(why), "{what}: {read}");
    }
}
