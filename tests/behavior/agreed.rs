//! What was agreed to: its line for people, when it lapses, the digest of its record.

use mcp_approve::behavior::agreed::{Agreement, LAPSES_AFTER, What, day_of, has_lapsed};

#[test]
fn what_is_agreed_to_is_one_line_for_people() {
    let of = |what, key: &str, value: &str| {
        Agreement { tool: "weather".into(), key: key.into(), ..Agreement::of_server(what, value) }.says()
    };
    assert_eq!(of(What::Value, "/city", "\"Oslo\""), "city = Oslo");
    assert_eq!(of(What::Value, "/charge", "true"), "charge = true");
    assert_eq!(of(What::Value, "/charge", "\"true\""), "charge = \"true\"", "a text is no switch");
    assert_eq!(of(What::Value, "/a~1b/*/c", "\"\""), "a/b.*.c = \"\"");
    assert_eq!(of(What::Kind, "/city", "word"), "any word under city");
    assert_eq!(of(What::Kind, "/file", "path"), "any path in an agreed place under file");
    assert_eq!(of(What::Text, "/query", ""), "any text under query");
    assert_eq!(of(What::Tool, "", ""), "runs unasked");
    assert_eq!(of(What::Outline, "/sql", "SQL: SELECT on users"), "SQL: SELECT on users");
    assert_eq!(of(What::Folder, "", "/src/x"), "the folder /src/x");
    assert_eq!(of(What::Host, "", "example.com"), "the host example.com");
    assert_eq!(of(What::Meta, "vendor/x", "some-host"), "vendor/x in _meta from some-host");
}

#[test]
fn it_lapses_on_the_day_after_ninety_without_use() {
    let (day, used) = (24 * 60 * 60 * 1000, day_of(5));
    assert_eq!((used, day_of(-1), day_of(day), day_of(day - 1)), (0, -1, 1, 0));
    assert!(!has_lapsed(used, used + LAPSES_AFTER) && has_lapsed(used, used + LAPSES_AFTER + 1));
    assert!(!has_lapsed(used + 1000, used), "a clock that was put back takes nothing away");
    assert!(!has_lapsed(i64::MAX, i64::MIN) && has_lapsed(i64::MIN, i64::MAX));
}

#[test]
fn no_two_agreements_have_one_digest() {
    let one = Agreement { tool: "ab".into(), key: "c".into(), ..Agreement::of_server(What::Value, "1") };
    let other = Agreement { tool: "a".into(), key: "bc".into(), ..one.clone() };
    assert_ne!(one.digest("x"), other.digest("x"));
    assert_ne!(one.digest("x"), one.digest("y"), "it holds for this server alone");
    let meta = Agreement { key: "vendor/x".into(), ..Agreement::of_server(What::Meta, "some-host") };
    assert_eq!(meta.digest("x"), meta.digest("y"), "what a host program sends is the same for every server");
}
