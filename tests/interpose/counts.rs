//! What the wrappers of one user count together.

use mcp_approve::interpose::counts::Counts;
use mcp_approve::policy::rate::{Counted, LONGEST, MOST};

fn call(tool: &str) -> Counted {
    Counted { server: "s".into(), method: None, tool: tool.into() }
}

#[test]
fn each_wrapper_counts_what_the_others_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counts");
    let wrapper = |session: &str| Counts { path: path.clone(), session: session.to_owned() };
    let (one, other) = (wrapper("one"), wrapper("other"));
    let now = 2 * LONGEST;
    let seen = |by: &Counts, ticket: &str, tool: &str, now: i64| {
        by.note(ticket, &[call(tool)], now).unwrap().count(0, |_, _, tool| tool == "write")
    };
    assert_eq!(seen(&one, "s-1", "write", now), 0, "its own do not count");
    assert_eq!(seen(&other, "s-1", "write", now + 1), 1);
    assert_eq!(seen(&one, "s-2", "write", now + 2), 1);
    assert_eq!(seen(&other, "s-1", "write", now + 3), 2, "the same ticket again is the same call");
    assert_eq!(seen(&one, "s-3", "read", now + 4), 1, "another tool");
    assert_eq!(seen(&wrapper("third"), "s-1", "write", now + 5), 3, "also of those that have ended");
    assert_eq!(seen(&wrapper("fourth"), "s-1", "write", now + 2 + LONGEST), 2, "what no rate can ask for is forgotten");
    for doubt in ["{}\n", "no JSON\n", "\u{0}"] {
        std::fs::write(&path, doubt).unwrap();
        assert!(one.note("s-9", &[call("write")], now).is_err(), "{doubt:?}");
    }
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(folder.path().join("elsewhere"), &path).unwrap();
    assert!(one.note("s-9", &[call("write")], now).is_err(), "a link");
}

#[test]
fn of_each_call_no_more_is_kept_than_a_rate_can_ask_for() {
    let folder = tempfile::tempdir().unwrap();
    let one = Counts { path: folder.path().join("counts"), session: "one".to_owned() };
    let many = vec![call("write"); MOST + 9];
    one.note("s-1", &many, 1).unwrap();
    assert_eq!(std::fs::read_to_string(&one.path).unwrap().lines().count(), MOST);
}
