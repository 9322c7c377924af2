//! The analysers of arguments, on any text: no panic, no deep stack, and a bound on what they read.

use mcp_approve::behavior::arguments::effect::{Effect, Language};
use mcp_approve::behavior::arguments::sql::{Dialect, plainly_changes, read};
use mcp_approve::behavior::arguments::{found, grammar, graphql, path, shell};
use mcp_approve::behavior::taxonomy::Action;
use proptest::prelude::*;
use serde_json::json;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Judgement {
    Read,
    NotRead,
}

fn judge(text: &str, dialect: Option<Dialect>) -> Judgement {
    let meaning = read(text, dialect).meaning;
    assert_eq!(meaning.effect.reads(), meaning.action == Action::Read, "{text}");
    if meaning.effect.reads() { Judgement::Read } else { Judgement::NotRead }
}

const DIALECTS: [Option<Dialect>; 5] =
    [None, Some(Dialect::Sqlite), Some(Dialect::PostgreSql), Some(Dialect::MySql), Some(Dialect::MsSql)];

/// Pieces that mean something to one analyser or another, and some that mean nothing.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "SELECT", "a", " ", "1", "'", "''", "\"", "`", "[", "]", "(", ")", ",", ";", "--", "\n", "\r", "/*", "*/", "!",
        "#", "$$", "$a$", "\\", "FROM t", "WITH x AS", "DELETE FROM t", "UNION ALL", "CASE WHEN", "END", "::int", "@",
        "@@", ":=", "IS NULL", "BETWEEN", "AND", "NOT", "-", "+", "é", "ſ", "\u{a0}", "\0", "{", "}", "query",
        "mutation", "...", ":", "|", "&&", ">", "<(", "$(", "rm -rf /", "sudo", "sh -c", "db.", "delete", "%2e", "../",
        "~", "E'", "0x", "1e", "EXPLAIN", "PRAGMA", "=",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn all(text: &str) {
    for dialect in DIALECTS {
        let statement = read(text, dialect);
        assert!(statement.meaning.says.len() < 70_000);
    }
    plainly_changes(text);
    graphql::read(text);
    shell::read(text);
    shell::plainly_changes(text);
    path::leads(text);
    for language in [Language::MongoDb, Language::Redis, Language::Cypher] {
        grammar::change(language, text);
    }
    for key in ["query", "sql", "command", "method", "url", "body", "pipeline"] {
        for analysis in found(None, &json!({ key: text, "list": [text, { key: [text] }] })) {
            assert!(!analysis.says.contains('\n') && analysis.says.chars().count() <= 121, "{analysis:?}");
            assert!(analysis.span.chars().count() <= 80, "{analysis:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_survived(text in any::<String>()) {
        all(&text);
    }

    #[test]
    fn any_pieces_are_survived(text in pieces()) {
        all(&text);
    }

    /// What stands behind a semicolon is a statement of its own, whatever was before it.
    #[test]
    fn no_prefix_hides_a_second_statement(before in pieces()) {
        for dialect in DIALECTS {
            let text = format!("SELECT 1 {before} ;\n DROP TABLE users");
            if judge(&text, dialect) == Judgement::Read {
                // Then the prefix opened a string or a comment that swallowed the rest.
                let opened = ["'", "\"", "`", "[", "--", "/*", "$", "#"].iter().any(|open| before.contains(open));
                prop_assert!(opened, "{dialect:?} {text:?}");
                prop_assert_eq!(judge(&format!("{text} x'\"`]*/$$$a$"), dialect) == Judgement::Read, false, "{:?} {:?}", dialect, text);
            }
        }
    }

    /// A fingerprint leaves literals out and nothing else.
    #[test]
    fn a_fingerprint_knows_no_literal(number in 0_u32.., text in "[a-z ]{0,12}") {
        let of = |sql: &str, dialect| read(sql, dialect).meaning.fingerprint;
        for dialect in DIALECTS {
            let one = of(&format!("SELECT a FROM t WHERE b = {number} AND c = '{text}' AND d IN (1, {number})"), dialect);
            let other = of("select  a\nFROM t /* x */ where b=2 and c='' and d in (7)", dialect);
            prop_assert_eq!(&one, &other);
            prop_assert_eq!(one.as_deref(), Some("SELECT a FROM t WHERE b = ? AND c = ? AND d IN (?)"));
        }
    }
}

#[test]
fn a_fingerprint_keeps_what_quotes_mean_and_what_a_text_runs() {
    let of = |sql: &str| read(sql, None).meaning.fingerprint;
    let quoted = [r#"SELECT "a" FROM t"#, "SELECT 'a' FROM t", "SELECT `a` FROM t", "SELECT a FROM t"].map(of);
    for (at, one) in quoted.iter().enumerate() {
        assert!(one.is_some() && !quoted[..at].contains(one), "{quoted:?}");
    }
    assert_ne!(of("SELECT [a] FROM t"), of(r#"SELECT "a" FROM t"#));
    for (one, other) in [
        ("EXEC('SELECT 1')", "EXEC('DROP TABLE t')"),
        ("COPY t FROM PROGRAM 'true'", "COPY t FROM PROGRAM 'rm -r /'"),
        ("ATTACH 'a' AS b", "ATTACH 'c' AS b"),
    ] {
        assert!(of(one).is_none() || of(one) != of(other), "{one}");
    }
    let body = |text: &str| read(&format!("DO $$ {text} $$"), Some(Dialect::PostgreSql)).meaning.fingerprint;
    assert_ne!(body("BEGIN END"), body("BEGIN DROP TABLE t; END"));
}

#[test]
fn several_statements_do_what_each_of_them_does() {
    let read = read("SELECT 1; UPDATE t SET a = 1; DELETE FROM t", None);
    for action in [Action::Update, Action::Delete] {
        assert!(read.meaning.also.contains(&action), "{read:?}");
    }
}

#[test]
fn depth_and_length_are_bounded() {
    let many = |piece: &str, times: usize| piece.repeat(times);
    let texts = [
        format!("SELECT {}1{}", many("(", 5_000), many(")", 5_000)),
        format!("SELECT {}1", many("(", 60)),
        format!("SELECT 1{}", many("+1", 2_900)),
        format!("SELECT a{}", many("::int", 1_400)),
        format!("SELECT a{}", many(" IS NULL", 2_000)),
        format!("SELECT {}a", many("NOT ", 5_000)),
        format!("SELECT {}1", many("- ", 5_000)),
        format!("SELECT 1{}", many("!", 5_000)),
        format!("SELECT 1{}", many(" GLOB 1", 2_000)),
        format!("SELECT 1{} GLOB 1", many("+1", 2_800)),
        format!("SELECT 1{} GLOB 1", many("+1", 1_400)),
        format!("SELECT 1{}{}", many("+1", 520), many(" DIV 1", 60)),
        format!("SELECT * FROM t{}{}", many(" JOIN t", 50), many(" ON 1", 50)),
        format!("SELECT 1{}", many(" UNION SELECT 1", 1_900)),
        format!("SELECT {}1{}", many("CASE WHEN 1 THEN ", 1_000), many(" END", 1_000)),
        format!("SELECT * FROM {}t{}", many("(", 2_000), many(")", 2_000)),
        format!("SELECT * FROM t{}", many(" JOIN t", 2_000)),
        format!("{}SELECT 1{}", many("WITH x AS (", 1_000), many(")", 1_000)),
        format!("{}SELECT 1", many("EXPLAIN ", 3_000)),
        format!("SELECT a{}", many("[1", 2_000)),
        format!("SELECT a IN ({}1)", many("1,", 2_900)),
        format!("SELECT ARRAY{}1", many("[", 2_000)),
        format!("SELECT '{}'", many("x", 100_000)),
        many("{a", 20_000),
        format!("query {}", many("{a", 20_000)),
        format!("query {{a(b: {}1)}}", many("[", 20_000)),
        many("$(", 20_000),
        format!("bash -c {}", many("'bash -c ", 3_000)),
        many("sudo ", 5_000),
        many("env ", 5_000),
        many("`", 10_000),
        many("%25", 20_000),
        many("../", 20_000),
    ];
    for text in &texts {
        let start = std::time::Instant::now();
        all(text);
        // A hundred readings, without optimisation, on a busy machine: what is not linear takes minutes.
        assert!(start.elapsed().as_secs() < 20, "{} took {:?}", &text[..40], start.elapsed());
    }
}

#[test]
fn what_is_too_long_to_be_read_is_unknown() {
    let long = format!("SELECT '{}'", "x".repeat(70_000));
    assert_ne!(judge(&long, Some(Dialect::Sqlite)), Judgement::Read);
    let many: Vec<String> = (0..20).map(|_| format!("SELECT '{}'", "x".repeat(20_000))).collect();
    let effects: Vec<Effect> = found(None, &json!({ "statements": many })).iter().map(|one| one.effect).collect();
    assert!(effects.contains(&Effect::Unknown), "{effects:?}");
}
