//! text: columns that fit their room, names that stay apart, times as people say them.

use mcp_approve::text::columns::{NameColumn, fitted, target};
use mcp_approve::text::row::Tone;
use mcp_approve::text::time::{latency, left, nth, of_day, span};

#[test]
fn names_that_differ_look_different_however_narrow_their_column() {
    let shown = |names: &[&str], most: usize| -> Vec<String> {
        let column = NameColumn::of(names.iter().copied(), most);
        names.iter().map(|name| column.cell(Tone::Ours, name).text()).collect()
    };
    assert_eq!(shown(&["git", "filesystem"], 8), ["git", "filesys…"], "the end tells least");
    assert_eq!(shown(&["analytics-eu", "analytics-us"], 8), ["analy…eu", "analy…us"]);
    assert_eq!(shown(&["a-production-a", "a-production-b", "b-production-b"], 5), ["a-p…a", "a-p…b", "b-p…b"]);
    // No cut keeps these apart, so the column grows.
    let [eu, us] = ["production-analytics-eu-replica-one", "production-analytics-us-replica-one"];
    let both = shown(&[eu, us], 8);
    assert!(both[0] != both[1], "{both:?}");
}

#[test]
fn empty_columns_go_first_then_wide_ones_shrink_then_the_least_telling_go() {
    let wants = |median| [(0, 30, 12), (1, 16, 6), (1, 5, 5), (1, median, median)];
    let fit = |room, median| fitted(room, wants(median), &[3, 1, 2]);
    assert_eq!(fit(80, 7), [30, 16, 5, 7]);
    assert_eq!(fit(54, 0), [30, 16, 5, 0], "what is empty takes no room");
    assert_eq!(fit(50, 7), [29, 6, 5, 7], "the last ones shrink first");
    assert_eq!(fit(30, 7), [17, 6, 5, 0], "then the least telling go");
    assert_eq!(fit(20, 7), [14, 0, 5, 0]);
    assert_eq!(fit(10, 7), [12, 0, 0, 0], "the first stays");
}

#[test]
fn a_target_keeps_what_tells_most() {
    for (text, room, ends) in [
        ("notes.md", 12, ["notes.md", "notes.md"]),
        ("src/deep/er/notes.md", 12, ["…er/notes.md", ""]),
        ("old/a/b/c/first.md → new/second.md", 27, ["first.md → ", "second.md"]),
        ("a.md → very/deep/down/in/here/b.md", 22, ["a.md → …", "/here/b.md"]),
        ("one/two/three/a.md → four/five/six/b.md", 20, ["/a.md → …", "/b.md"]),
    ] {
        let shown = target(Tone::Ours, text, room);
        assert!(ends.iter().all(|end| shown.text().contains(end)), "{}", shown.text());
        assert!(shown.width() <= room, "{}", shown.text());
    }
    assert!(target(Tone::Ours, "a → b", 3).width() <= 3);
}

#[test]
fn a_time_is_counted_from_the_second() {
    let said = [0, 1, 2, 3, 4, 11, 12, 21, 103, 113].map(|time| nth(time).unwrap_or_default());
    let wanted = ["", "", "2nd", "3rd", "4th", "11th", "12th", "21st", "103rd", "113th"];
    assert_eq!(said, wanted.map(|nth| if nth.is_empty() { String::new() } else { format!("{nth} time") }));
}

#[test]
fn times_read_as_people_say_them() {
    assert_eq!(of_day(0, 3600), "01:00:00");
    assert_eq!(of_day(-1000, 0), "23:59:59");
    assert_eq!((span(999), span(61_000)), ("0s".into(), "1m".into()));
    assert_eq!((left(150_001), left(-5)), ("2:31".into(), "0:00".into()));
    assert_eq!((latency(640), latency(3_450_000)), ("640µs".into(), "3.4s".into()));
}
