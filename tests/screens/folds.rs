//! The tree of arguments: what folds, what the keys do to it, and that what is folded was not read.

use std::sync::Arc;

use mcp_approve::console::card::{Card, Details, Fold, Folds, Paged, Writing};
use mcp_approve::console::keymap::Key;
use mcp_approve::console::update::Msg;
use mcp_approve::link::message::OperatorVerdict;
use mcp_approve::text::row::Row;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::desk::*;
use crate::fake::shown::decode;
use crate::screens::frames::at_every_size;

/// A list that is longer than a screen, one that is not, and an object deeper than four levels.
fn arguments() -> String {
    let rows: Vec<Value> = (0..50).map(|i| json!({ "id": i, "name": format!("row {i}") })).collect();
    json!({
        "table": "users",
        "rows": rows,
        "tags": [{ "name": "bug" }],
        "deep": { "a": { "b": { "c": { "d": { "e\u{202e}vil": true, "other": [1, 2] } } } } },
    })
    .to_string()
}

fn desk(call: mcp_approve::gate::data::snapshot::Snapshot) -> Desk {
    let mut desk = Desk::connected(80, 40);
    desk.hold(with_arguments(call, &arguments()));
    desk.look();
    desk.press(Key::Enter);
    desk.look();
    desk
}

#[test]
fn what_is_deep_or_long_is_one_line_that_says_what_is_in_it() {
    at_every_size("folded", |desk| {
        desk.hold(with_arguments(delete("filesystem-12"), &arguments()));
        desk.look();
        desk.press(Key::Enter);
        desk.press(Key::End);
        desk.look();
    });
    at_every_size("unfolded", |desk| {
        desk.hold(with_arguments(delete("filesystem-12"), &arguments()));
        desk.look();
        desk.press(Key::Enter);
        desk.keys("Z");
        desk.press(Key::End);
        desk.look();
    });
    let mut desk = desk(write("filesystem-12"));
    assert_eq!(desk.line("rows").trim_end(), " rows   ▸ 50 items, 1,281 bytes folded");
    assert_eq!(desk.line("tags").trim_end(), " tags   ▾ 1 item, 16 bytes");
    assert_eq!(desk.line("c  ▾").trim_end(), "       c  ▾ 1 key, 36 bytes");
    // Keys are foreign text on a folded line, too.
    assert_eq!(desk.line("d  ▸").trim_end(), "         d  ▸ 2 keys, 30 bytes folded: \"e⟨U+202E⟩vil\", other");
}

#[test]
fn the_keys_turn_the_part_at_the_cursor_and_all_of_them() {
    let mut desk = desk(write("filesystem-12"));
    let folded = |desk: &Desk| desk.model.card.laid.as_ref().unwrap().folded();
    assert_eq!(folded(&desk), 2);
    // The first that is folded is at the cursor.
    desk.keys("z");
    assert_eq!(folded(&desk), 1);
    assert!(desk.line("rows").contains("▾ 50 items"));
    desk.keys("z");
    assert_eq!(folded(&desk), 2);
    // Tab goes on from there; what is open folds as well.
    desk.press(Key::Tab);
    desk.keys("z");
    assert_eq!(folded(&desk), 3);
    assert!(desk.line("tags").contains("▸ 1 item, 16 bytes folded"));
    desk.keys("Z");
    assert_eq!(folded(&desk), 0);
    desk.line("3 parts unfolded.");
    // Through a list longer than the screen, to the next part, and around the end.
    desk.press(Key::Home);
    let rows = |desk: &Desk| desk.model.fold_cursor().unwrap().row;
    let mut seen = vec![rows(&desk)];
    for _ in 0..60 {
        desk.press(Key::Tab);
        seen.push(rows(&desk));
    }
    let (first, last) = (seen[0], *seen.iter().max().unwrap());
    assert!(last > first + 150 && seen.iter().filter(|row| **row == first).count() == 2, "{seen:?}");
    desk.keys("Z");
    assert_eq!(folded(&desk), 2);
    desk.line("2 parts folded again.");
    // A narrower screen keeps what was unfolded.
    desk.keys("Z");
    desk.resize(70, 30);
    assert_eq!(folded(&desk), 0);
}

#[test]
fn a_click_on_its_line_folds() {
    let mut desk = desk(write("filesystem-12"));
    let at = desk.screen().lines().position(|line| line.starts_with(" tags ")).unwrap();
    desk.send(Msg::Click(3, u16::try_from(at).unwrap()));
    assert!(desk.line("tags").contains("▸ 1 item, 16 bytes folded"));
    desk.send(Msg::Click(3, u16::try_from(at - 3).unwrap()));
    assert!(desk.line("tags").contains("▸ 1 item"), "no other line folds");
}

#[test]
fn what_is_folded_was_not_read() {
    let mut desk = desk(delete("filesystem-12"));
    desk.press(Key::End);
    desk.press(Key::End);
    desk.look();
    assert!(verdicts(&desk.keys("ya")).is_empty());
    desk.line("Not read yet: 2 parts are folded. Z unfolds them");
    assert!(desk.line("2 parts folded, not read: Z").contains("▸"));
    // Unfolding alone does not read it either.
    desk.keys("Z");
    assert!(verdicts(&desk.keys("ay")).is_empty());
    desk.press(Key::End);
    desk.line("rows skipped · armed");
    desk.press(Key::Home);
    for _ in 0..6 {
        desk.press(Key::PageDown);
    }
    desk.line("all shown · armed");
    desk.keys("a");
    desk.line("Approve this dangerous call?");
    let sent = verdicts(&desk.keys("y"));
    assert!(matches!(sent.as_slice(), [(_, _, _, OperatorVerdict::Approve { unread: false })]), "{sent:?}");
}

#[test]
fn approved_with_folded_parts_is_approved_unread() {
    let mut desk = desk(delete("filesystem-12"));
    desk.press(Key::End);
    desk.press(Key::End);
    desk.keys("A");
    desk.line("UNREAD?");
    let sent = verdicts(&desk.keys("y"));
    assert!(matches!(sent.as_slice(), [(_, _, _, OperatorVerdict::Approve { unread: true })]), "{sent:?}");
}

#[test]
fn words_in_a_folded_part_are_found() {
    let mut desk = desk(write("filesystem-12"));
    desk.keys("/row 41");
    desk.press(Key::Enter);
    desk.line("\"row 41\"");
}

#[test]
fn nothing_is_lost_between_folds() {
    let mut runner = TestRunner::new(Config { cases: 200, failure_persistence: None, ..Config::default() });
    let leaf = prop_oneof![any::<String>().prop_map(Value::from), any::<i32>().prop_map(Value::from)];
    let values = leaf.prop_recursive(7, 120, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 1..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    });
    let result = runner.run(&(values, any::<u64>(), 24_u16..130), |(value, choice, width)| {
        let snapshot = Arc::new(with_arguments(write("filesystem-12"), &json!({ "top": value }).to_string()));
        let brief = Card::lay(&snapshot, width, 0, Folds::default(), Details::default());
        let mut folds = Folds::open();
        let all = Card::lay(&snapshot, width, 0, folds.clone(), Details::Shown);
        prop_assert_eq!(all.folded(), 0);
        let anchors = all.anchors(0, all.rows);
        for (i, anchor) in anchors.iter().enumerate().filter(|(i, _)| choice >> (i % 64) & 1 == 1) {
            prop_assert_eq!(anchor.fold, Fold::Open, "{}", i);
            folds.turn(anchor.at);
        }
        let some = Card::lay(&snapshot, width, 0, folds, Details::Folded);
        let text = |card: &Card| card.window(0, card.rows + 1).iter().map(Row::text).collect::<Vec<_>>();
        for card in [&brief, &all, &some] {
            let rows = text(card);
            prop_assert_eq!(rows.len(), card.rows);
            prop_assert!(rows.iter().all(|row| decode(row).is_ok()));
            let shown = card.anchors(0, card.rows);
            prop_assert!(shown.iter().all(|anchor| rows[anchor.row].contains(['▸', '▾']) || width < 60));
            let closed = shown.iter().filter(|anchor| anchor.fold == Fold::Closed).count();
            prop_assert_eq!(closed, card.folded());
            // A window's anchors are those of the whole.
            let part: Vec<_> = shown.iter().filter(|anchor| (3..9).contains(&anchor.row)).copied().collect();
            prop_assert_eq!(card.anchors(3, 6), part);
        }
        Ok(())
    });
    result.unwrap();
}

/// The rows of this text that are marked as undeclared, with these keys undeclared.
fn undeclared(text: &str, keys: &[&str]) -> Vec<String> {
    let keys = keys.iter().copied().map(str::to_owned).collect();
    let paged = Paged::lay(text, keys, Writing::Json, Row::default(), 60, Folds::open());
    let rows = paged.window(text, 0, 60).into_iter().map(|row| row.text());
    rows.filter(|row| row.contains("(undeclared)")).collect()
}

#[test]
fn a_key_is_marked_by_its_way_and_by_no_other() {
    let text = r#"{"force": {"force": 1}, "a": {"c": 2, "cc": 3, "list": [{"x": 4}, {"x": 5, "y": 51}, {"x": 6}, 0, 0, 0,
        0, 0, 0, 0, {"x": 7}]}, "a b": 8, "s/l~t": 9, "c": 10, "x": 11}"#;
    let marked = undeclared(text, &["/force", "/a b", "/a/c", "/a/list/1/x", "/a/list/10/x", "/s~1l~0t"]);
    let ends: Vec<&str> = marked.iter().filter_map(|row| row.split_whitespace().last()).collect();
    assert_eq!(ends, ["bytes", "2", "5", "7", "8", "9"], "{marked:?}");
    assert!(marked[0].contains("force (undeclared)"), "{marked:?}");
    let text = r#"{"force": 0, "edits": [{"force": 1}, {"to": 2, "force": 3}], "deep": {"force": 4}}"#;
    let marked = undeclared(text, &["/deep/force", "/edits/1/force"]);
    assert!(marked.len() == 2 && marked[0].ends_with('3') && marked[1].ends_with('4'), "{marked:?}");
}

#[test]
fn a_folded_row_says_that_undeclared_keys_are_in_it() {
    let text = r#"{"plain": {"a": 1}, "deep": {"force": 4}, "own": {"b": 1}}"#;
    let mut folds = Folds::open();
    for at in [r#"{"a""#, r#"{"force""#, r#"{"b""#] {
        folds.turn(text.find(at).unwrap());
    }
    let keys = vec!["/deep/force".to_owned(), "/own".to_owned()];
    let paged = Paged::lay(text, keys, Writing::Json, Row::default(), 90, folds);
    let rows: Vec<String> = paged.window(text, 0, 20).iter().map(Row::text).collect();
    let told: Vec<bool> = rows.iter().map(|row| row.contains("undeclared keys in it")).collect();
    assert_eq!(told, [false, true, false], "{rows:?}");
}
