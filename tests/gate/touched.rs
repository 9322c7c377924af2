//! What a call would change, told by what is there: its line, its diff, and the danger of it.

use mcp_approve::behavior::conclude::Behavior;
use mcp_approve::behavior::identity::Identity;
use mcp_approve::behavior::taxonomy::{Action, ContentType, Mutability, OutputDomain};
use mcp_approve::gate::call::danger::danger;
use mcp_approve::gate::call::touched::change::lines_changed;
use mcp_approve::gate::call::touched::{FileChange, of};
use mcp_approve::gate::data::facts::{Facts, FileKind, Findings};
use serde_json::{Value, json};

#[test]
fn whatever_stands_at_one_of_its_paths_is_seen() {
    let at = |argument: &str, kind: FileKind| Facts { kind, unseen: None, ..Facts::unseen(argument, "/p", "") };
    let new = |argument: &str| at(argument, FileKind::Missing);
    let old = |argument: &str| at(argument, FileKind::File);
    let is_dangerous = |action: Action, arguments: &Value, files: Vec<Facts>| {
        let identity = Identity { mutability: Mutability::Mutates, action, output_domain: OutputDomain::Data };
        let (content_type, evidence, hazards, analyses) = (ContentType::Text, Vec::new(), Vec::new(), Vec::new());
        let behavior = Behavior {
            identity,
            content_type,
            evidence: evidence.into(),
            disputed: false,
            hazards,
            analyses,
            ..Behavior::unknown()
        };
        danger(&behavior, "tool", arguments, Some(&Findings { files, ..Findings::default() })).is_some()
    };
    use Action::{Create, Move};
    let plain = json!({ "path": "/p", "content": "x" });
    let mixed = json!({ "files": [{ "path": "/p", "content": "x" }, { "path": "/p", "base64": "eA==" }] });
    let two = |one: Facts, other: Facts| vec![one, other];
    for (action, arguments, files, expected) in [
        (Create, &plain, vec![new("/path")], false),
        (Create, &plain, vec![old("/path")], true),
        (Create, &plain, two(new("/path"), at("/cwd", FileKind::Folder)), false),
        (Create, &mixed, two(new("/files/0/path"), new("/files/1/path")), false),
        (Create, &mixed, two(new("/files/0/path"), old("/files/1/path")), true),
        (Create, &json!({ "src": "/p", "dst": "/p" }), two(new("/src"), old("/dst")), true),
        (Move, &json!({}), two(old("/from"), new("/to")), false),
        (Move, &json!({}), two(old("/from"), old("/to")), true),
        (Move, &json!({ "workspace": "w" }), two(old("/from"), old("/to")), true),
        (Move, &json!({ "workspace": "w" }), two(old("/from"), new("/to")), false),
        (Move, &json!({}), vec![old("/path"), old("/to"), old("/target")], true),
    ] {
        assert_eq!(is_dangerous(action, arguments, files), expected, "{action:?} {arguments}");
    }
}

#[test]
fn texts_that_are_much_alike_are_compared_and_hostile_ones_cost_no_minutes() {
    let numbered = |word: &str, count: usize| (0..count).map(|n| format!("{word}{n}\n")).collect::<String>();
    let long = numbered("a", 40_000);
    assert_eq!(lines_changed(&long, &format!("x\n{}y\n", long.replace("a20000\n", ""))), Some((2, 1)));
    assert_eq!(lines_changed(&numbered("a", 1_000), &numbered("b", 900)), Some((900, 1_000)));
    assert_eq!(lines_changed("", "a\nb\n"), Some((2, 0)));
    assert_eq!(lines_changed("a\n", ""), Some((0, 1)));
    let start = std::time::Instant::now();
    assert_eq!(lines_changed(&long, &numbered("b", 40_000)), None);
    assert_eq!(lines_changed(&"a\n".repeat(200_000), &"a\n".repeat(190_000)), None);
    assert!(start.elapsed() < std::time::Duration::from_secs(20), "{:?}", start.elapsed());
}

fn file(path: &str, text: &str) -> Facts {
    let size = Some(text.len() as u64);
    Facts { kind: FileKind::File, text: Some(text.into()), size, unseen: None, ..Facts::unseen("/path", path, "") }
}

fn missing(path: &str) -> Facts {
    Facts { kind: FileKind::Missing, unseen: None, ..Facts::unseen("/path", path, "") }
}

fn line(action: Action, arguments: &Value, facts: &[Facts]) -> String {
    of(action, arguments, facts).iter().map(FileChange::line).collect::<Vec<_>>().join("; ")
}

#[test]
fn a_change_is_told_by_what_stands_there() {
    use Action::{Append, Create, Delete, Move, Overwrite, Update};
    let notes = || file("notes.md", "a\nb\nc\n");
    let folder = Facts { kind: FileKind::Folder, entries: Some(2140), ..missing("src") };
    let unseen = Facts::unseen("/path", "/root/x", "not readable");
    #[rustfmt::skip]
    let cases = [
        (Overwrite, json!({"content": "a\nB\nc\nd\n"}), vec![notes()], "overwrites 1 file, 2 lines changed (+2 −1) — notes.md"),
        (Overwrite, json!({"content": "a\nb\nc\n"}), vec![notes()], "overwrites 1 file with the content it has already — notes.md"),
        (Overwrite, json!({"content": "a\nb"}), vec![missing("new.md")], "creates 1 file, 2 lines — new.md"),
        (Create, json!({"content": "x"}), vec![unseen], "overwrites something that could not be seen — /root/x"),
        (Append, json!({"content": "d\n"}), vec![notes()], "adds to 1 file, 1 line changed (+1 −0) — notes.md"),
        (Update, json!({"edits": [{"oldText": "b", "newText": "x"}]}), vec![notes()], "edits 1 file, 1 line changed (+1 −1) — notes.md"),
        (Update, json!({"old_string": "q", "new_string": "x"}), vec![notes()], "edits 1 file, but its old text is not in it — notes.md"),
        (Delete, json!({}), vec![folder], "deletes a folder with 2,140 entries — src"),
        (Delete, json!({}), vec![missing("gone")], "deletes something that is not there — gone"),
        (Move, json!({}), vec![notes(), file("old.md", "x")], "moves 1 file, 6 bytes, replacing 1 file, 1 byte — notes.md → old.md"),
        (Move, json!({}), vec![notes(), missing("b")], "moves 1 file, 6 bytes — notes.md → b"),
        (Overwrite, json!({"content": "x", "repo": "acme/shop"}), vec![notes()], ""),
        (Action::Read, json!({"content": "x"}), vec![notes()], ""),
        // With an argument that the diff does not account for, the change is another one.
        (Overwrite, json!({"path": "notes.md", "content": "x", "encoding": "UTF-8", "append": false, "by": null}), vec![notes()], "overwrites 1 file, 3 lines changed (+1 −3) — notes.md"),
        (Overwrite, json!({"path": "notes.md", "content": "x", "append": true}), vec![notes()], ""),
        (Overwrite, json!({"path": "notes.md", "content": "x", "offset": 3}), vec![notes()], ""),
        (Overwrite, json!({"path": "notes.md", "content": "x", "mode": "a"}), vec![notes()], ""),
        (Overwrite, json!({"path": "notes.md", "content": "x", "whatever": "y"}), vec![notes()], ""),
        (Update, json!({"edits": [{"oldText": "b", "newText": "x"}], "dryRun": true}), vec![notes()], ""),
        (Update, json!({"edits": [{"oldText": "b", "newText": "x", "nth": 2}]}), vec![notes()], ""),
        (Update, json!({"old_string": "b", "new_string": "x", "line": 2}), vec![notes()], ""),
    ];
    for (action, arguments, facts, expected) in cases {
        assert_eq!(line(action, &arguments, &facts), expected, "{action:?} {arguments}");
    }
}
