//! Cards: every byte of the arguments is in some row, no row is too wide, and any window shows the same rows.

use std::sync::Arc;

use mcp_approve::audit::record::VerdictWord;
use mcp_approve::console::card::{Card, Details, Folds};
use mcp_approve::console::update::{Command, Msg};
use mcp_approve::gate::data::snapshot::{STILL_WAITS, Snapshot};
use mcp_approve::operator::found::{Before, Finding, LogRequest};
use mcp_approve::text::row::Row;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

use crate::desk::*;
use crate::fake::shown::decode;

fn card(arguments: &str, width: u16) -> Card {
    Card::lay(
        &Arc::new(with_arguments(write("filesystem-12"), arguments)),
        width,
        0,
        Folds::default(),
        Details::default(),
    )
}

fn all(card: &Card) -> Vec<Row> {
    card.window(0, card.rows + 10)
}

fn json() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        3 => "[a-z]{0,8}".prop_map(Value::from),
        2 => "[ -~\\n]{0,200}".prop_map(Value::from),
        1 => any::<String>().prop_map(Value::from),
        1 => "[a-z ]{0,30}".prop_map(|s| Value::from(s.repeat(300))),
    ];
    let leaf =
        prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), any::<i64>().prop_map(Value::from), text,];
    leaf.prop_recursive(4, 60, 8, |inner| {
        let key = prop_oneof!["[a-z_]{1,8}", "[ -~]{0,60}", any::<String>()];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..8).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

#[test]
fn any_window_shows_the_rows_that_were_counted() {
    let mut runner = TestRunner::new(Config { cases: 300, failure_persistence: None, ..Config::default() });
    let cases = (json(), prop_oneof![Just(24_u16), Just(40), Just(79), Just(120)], any::<bool>());
    let result = runner.run(&cases, |(value, width, pretty)| {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let card = card(&text.unwrap(), width);
        let rows = all(&card);
        prop_assert_eq!(rows.len(), card.rows);
        for row in &rows {
            prop_assert!(row.width() <= usize::from(width), "{} columns: {}", row.width(), row.text());
        }
        for from in [0, 1, rows.len() / 3, rows.len() / 2, rows.len().saturating_sub(3)] {
            let wanted = rows.iter().skip(from).take(7).cloned().collect::<Vec<_>>();
            prop_assert_eq!(card.window(from, 7), wanted);
        }
        Ok(())
    });
    result.unwrap();
}

#[test]
fn a_long_text_is_all_there() {
    for (what, text) in [
        ("one line without spaces", "x".repeat(20_000)),
        ("words", "lorem ipsum dolor ".repeat(2_000)),
        ("lines", "let x = 1;\n    let y = 2;\n".repeat(700)),
        ("escapes", "a\u{202e}\u{1b}[2J\t".repeat(900)),
        ("wide letters", "東京タワー".repeat(2_000)),
        ("blank lines", "\n".repeat(3_000)),
        ("spaces", " ".repeat(9_000)),
        ("quotes", "\"a\": \"b\", ".repeat(1_500)),
    ] {
        let arguments = serde_json::json!({ "title": text }).to_string();
        let card = card(&arguments, 60);
        let rows: Vec<String> = all(&card)[..card.arguments_end].iter().map(Row::text).collect();
        let region: String = rows.iter().filter_map(|row| row.strip_prefix(" │ ")).collect();
        assert_eq!(decode(&region).unwrap(), text, "{what}");
    }
}

#[test]
fn sizes_are_told_as_they_are() {
    let rows = |arguments: &str| {
        let card = card(arguments, 79);
        all(&card)[..card.arguments_end].iter().map(|row| row.text().trim_end().to_owned()).collect::<Vec<_>>()
    };
    let has = |arguments: &str, line: &str| {
        let rows = rows(arguments);
        assert!(rows.iter().any(|row| row == line), "{line:?} is not in {rows:#?}");
    };
    has(r#"{"a":"x\ny\n"}"#, " a  text, 4 bytes, 2 lines");
    has(r#"{"a":"\u20ac \"q\""}"#, " a  text, 7 bytes, 1 line");
    has(r#"{"a":[[1],[2]]}"#, " a  ▾ 2 items, 9 bytes");
    has(r#"{"a":{ }}"#, " a  {}");
    has(r#"{"a":1.10}"#, " a  1.10");
    has(r#"{"a":9007199254740993}"#, " a  9007199254740993  ⚠ beyond ±2^53");
    has(r#"{"a":9007199254740992}"#, " a  9007199254740992");
    has(r#"{"a b":1}"#, " \"a b\"  1");
    let long = format!(r#"{{"a":"{}"}}"#, "é".repeat(5_000));
    has(&long, " a  text, 10,000 bytes, 1 line");
}

#[test]
fn arguments_that_are_no_json_stand_as_they_are() {
    let card = card("{\"a\": nope\u{1b}", 79);
    let rows: Vec<String> = all(&card).iter().map(Row::text).collect();
    assert!(rows.iter().any(|row| row.contains("cannot be read as JSON")));
    assert!(rows.iter().any(|row| row == " │ {\"a\": nope␛"));
}

#[test]
fn no_text_however_broken_stops_the_layout() {
    let mut runner = TestRunner::new(Config { cases: 500, failure_persistence: None, ..Config::default() });
    let broken = prop_oneof![any::<String>(), "[\\[\\]{}\",:\\\\u0-9dn a]{0,60}"];
    let result = runner.run(&broken, |text| {
        prop_assert_eq!(all(&card(&text, 40)).len(), card(&text, 40).rows);
        Ok(())
    });
    result.unwrap();
}

#[test]
fn sixteen_mebibytes_are_counted_and_read_at_their_end() {
    let text = "0123456789abcdef".repeat(1 << 20);
    let card = card(&format!(r#"{{"blob":"{text}"}}"#), 80);
    assert!(card.rows > (16 << 20) / 80);
    let last = card.window(card.arguments_end - 1, 1);
    assert!(last[0].text().ends_with("abcdef"));
}

#[test]
fn a_call_that_comes_again_says_which_time_it_is_and_what_it_waits_for() {
    let mut again = own("filesystem-12");
    again.occurrence = 3;
    again.earlier = vec!["filesystem-9, 2 min before: denied by ann (not \u{1b}now)".into()];
    again.runs_after = Some("filesystem-11".into());
    let said: Vec<String> = all(&Card::lay(&Arc::new(again.clone()), 100, 0, Folds::default(), Details::default()))
        .iter()
        .map(Row::text)
        .collect();
    let said = said.join("\n");
    for wanted in [
        "came before ▲ 3rd time, and it has not run",
        "filesystem-9, 2 min before: denied by ann (not ␛now)",
        "order       waits for filesystem-11, which the host sent before it",
    ] {
        assert!(said.contains(wanted), "no {wanted:?} in\n{said}");
    }
    let mut waits = own("filesystem-2");
    (waits.occurrence, waits.earlier) = (2, vec![format!("filesystem-1{STILL_WAITS}")]);
    let said: Vec<String> =
        all(&Card::lay(&Arc::new(waits), 100, 0, Folds::default(), Details::default())).iter().map(Row::text).collect();
    assert!(said.join("\n").contains("▲ 2nd time, and the one before still waits"), "{said:?}");
    let mut desk = Desk::connected(120, 40);
    desk.hold(again);
    let line = desk.line("create_file");
    assert!(line.contains("3rd …") && line.contains("ilesystem-12.md"), "{}", desk.screen());
}

/// The first three rows of the card of a call.
fn top(call: Snapshot, width: u16) -> Vec<String> {
    let card = Card::lay(&Arc::new(call), width, 0, Folds::default(), Details::default());
    card.window(0, 3).iter().map(Row::text).collect()
}

#[test]
fn effect_identity_and_capability_are_on_top_of_every_card_in_two_lines() {
    let [effect, behavior, capability] = &top(write("filesystem-1"), 80)[..] else { panic!("three rows") };
    assert_eq!(effect, " creates notes/today.md (10 bytes)");
    let digits = write("filesystem-1").identity.hash();
    assert!(digits.len() == 16 && *behavior == format!(" ● ADDS  MUTATES|CREATE|ACK · {digits}"), "{behavior}");
    assert_eq!(capability, " create_file(path: String, content: String, mode: Option<i64>) ->… on filesystem");
    // In little room the name and the server are whole, and the digits are among the details.
    let narrow = top(write("filesystem-1"), 40);
    assert_eq!(narrow[1..], [" ● ADDS  MUTATES|CREATE|ACK", " create_file(path: String… on filesystem"]);
    let none = Snapshot { signature: None, ..write("filesystem-1") };
    assert_eq!(top(none, 80)[2], " create_file on filesystem");
    let long = Snapshot {
        tool: "a_tool_of_a_long_name".into(),
        signature: Some("a_tool_of_a_long_name() -> Value".into()),
        ..write("filesystem-1")
    };
    assert_eq!(top(long, 40)[2], " a_tool_of_a_long_name on filesystem", "no half of a type");
}

#[test]
fn help_on_a_card_says_what_its_first_words_mean() {
    let mut desk = Desk::connected(80, 24);
    desk.hold(delete("filesystem-1"));
    desk.look();
    desk.keys("?");
    let shown = desk.screen().split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "This card ◆ DELETES This very call, by its arguments: it removes something. a, then y, approves it.",
        "MUTATES The badge: it changes something, or its effect is not known.",
        "MUTATES|DELETE|ACK The behavioral identity: whether it changes something, what it does, what comes back. ACK: \
         only whether it worked.",
        &format!("{} The identity's digits", delete("x").identity.hash()),
        "tool(…) -> … The capability",
    ] {
        assert!(shown.contains(words), "no {words:?} in\n{shown}");
    }
    desk.keys("?");
    desk.keys("5?");
    assert!(!desk.screen().contains("This card"), "no card is on screen");
}

#[test]
fn one_row_says_what_was_decided_of_the_tool_before() {
    let mut desk = Desk::connected(80, 24);
    let asked = Command::Look(LogRequest::Before { server: "filesystem".into(), tool: "create_file".into() });
    assert!(desk.hold(write("filesystem-1")).contains(&asked));
    assert_eq!(desk.line(" before").trim_end(), " before      …");
    assert!(!desk.hold(own("filesystem-2")).contains(&asked), "it was asked for just now");
    let last = Some((VerdictWord::Deny, "ada (pid 7)".to_owned(), NINE - 180_000));
    let before = Before { server: "filesystem".into(), tool: "create_file".into(), approved: 12, denied: 1, last };
    desk.send(Msg::Found(Finding::Before(before.clone())));
    assert_eq!(desk.line(" before").trim_end(), " before      approved 12×, denied 1× here; you denied 3m ago");
    // What is decided meanwhile counts at once.
    desk.look();
    desk.settle("filesystem-2", VerdictWord::Approve, "b\u{1b}ob (pid 9)");
    assert_eq!(desk.line(" before").trim_end(), " before      approved 13×, denied 1× here; b␛ob approved 0s ago");
    let mut none = Desk::connected(80, 24);
    none.hold(write("filesystem-1"));
    none.send(Msg::Found(Finding::NoLog));
    assert!(none.line(" before").contains("no call of this tool decided"));
    // It is about this tool alone.
    desk.hold(delete("filesystem-3"));
    desk.keys("j");
    assert_eq!(desk.line(" before").trim_end(), " before      …");
    desk.send(Msg::Found(Finding::Before(Before { tool: "delete_folder".into(), last: None, ..before })));
    assert!(desk.line(" before").contains("no call of this tool decided in the last 30 days"));
}

#[test]
fn a_card_says_that_its_approval_is_signed_and_how_many_must_sign() {
    let zero = "0".repeat(64);
    let text = |approvals: u32| {
        let mut call = write("filesystem-1");
        call.signs = Some(
            serde_json::from_value(serde_json::json!({
                "approval": 1, "approvals": approvals, "call": zero, "card": zero, "challenge": zero, "machine": "m",
                "policy": zero, "server": "s", "session": "x", "ticket": "filesystem-1", "user": "ada",
            }))
            .unwrap(),
        );
        let card = Card::lay(&Arc::new(call), 78, 0, Folds::default(), Details::default());
        all(&card).iter().map(Row::text).collect::<Vec<_>>().join("\n")
    };
    assert!(text(1).contains("signature   a has ssh-keygen sign it with your key\n"), "{}", text(1));
    assert!(text(2).contains("with your key: person 1 of 2"), "{}", text(2));
    assert!(!all(&card("{}", 78)).iter().any(|row| row.text().contains("ssh-keygen")));
}
