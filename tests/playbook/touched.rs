//! What a call would touch: looked at before it is judged or asked, when it is approved, and once more before it runs.

use mcp_approve::audit::record::{By, Kind, VerdictWord};
use mcp_approve::behavior::taxonomy::Action;
use mcp_approve::gate::call::touched::{self, FileChange};
use mcp_approve::gate::data::event::Event;
use mcp_approve::gate::data::facts::{Facts, FileKind, LeftOut, Look, MOST};
use mcp_approve::gate::{Config, Mode};
use serde_json::json;

use crate::world::{Did, World, config, word};

const SCRATCH: &str = r#"version = 1
[[rule]]
id = "scratch"
decision = "allow"
tool = "write_file"
when = [{ arg = "path", under = "/scratch" }]
[[rule]]
id = "keys"
decision = "deny"
when = [{ arg = "path", under = "/keys" }]
"#;
const IN_SCRATCH: &str = r#"{"path":"/scratch/a","content":"x"}"#;

fn leads(world: &mut World, path: &str, real: &str) {
    world.disk.insert(path.into(), (real.into(), "old".into()));
}

fn last_decision(world: &World) -> (Option<VerdictWord>, Option<By>, Option<String>) {
    let entry = world.entries.iter().rev().find(|entry| entry.kind == Kind::Decision).unwrap();
    (entry.verdict, entry.by, entry.rule.clone())
}

#[test]
fn a_call_that_no_rule_and_no_card_wants_looked_at_costs_no_look() {
    let mut world = World::with(config(), SCRATCH).ready();
    world.call("1", "read_file", r#"{"path":5}"#);
    assert_eq!(world.looked, 0, "no path, no look");
    let rule = "version = 1\n[[rule]]\nid = 'read'\ndecision = 'allow'\ntool = 'read_file'\n";
    let mut world = World::with(config(), rule).ready();
    assert!(matches!(world.call("1", "read_file", r#"{"path":"/a"}"#).as_slice(), [Did::Forward(_)]));
    let mut observing = World::with(Config { mode: Mode::Observe, ..config() }, "").ready();
    assert!(matches!(observing.call("1", "write_file", IN_SCRATCH).as_slice(), [Did::Forward(_)]));
    assert_eq!((world.looked, observing.looked), (0, 0));
}

#[test]
fn an_allow_under_a_folder_holds_for_the_words_and_for_where_they_lead() {
    let mut world = World::with(config(), SCRATCH).ready();
    assert!(matches!(world.call("1", "write_file", IN_SCRATCH).as_slice(), [Did::Forward(_)]));
    assert_eq!(world.looked, 2, "before the ruling, and before the forward");
    assert_eq!(last_decision(&world), (Some(VerdictWord::Approve), Some(By::Rule), Some("scratch".into())));
    leads(&mut world, "/scratch/link", "/etc/passwd");
    assert_eq!(
        world.call("2", "write_file", r#"{"path":"/scratch/link","content":"x"}"#),
        [Did::Ask("files-2".into())],
        "the words are in the folder, the file is not"
    );
    leads(&mut world, "/elsewhere", "/scratch/b");
    assert_eq!(
        world.call("3", "write_file", r#"{"path":"/elsewhere","content":"x"}"#),
        [Did::Ask("files-3".into())],
        "the file is in the folder, the words are not"
    );
    leads(&mut world, "/innocent", "/keys/id");
    let did = world.call("4", "read_file", r#"{"path":"/innocent"}"#);
    assert!(matches!(did.as_slice(), [Did::Settle(_), Did::Answer(text)] if text.contains("keys")), "{did:?}");
    leads(&mut world, "/scratch/inner/a", "/scratch/b/a");
    assert_eq!(
        world.call("5", "write_file", r#"{"path":"/scratch/inner/a","content":"x"}"#),
        [Did::Ask("files-5".into())],
        "both are in the folder, and a link on the way may lead out of it a moment later"
    );
    world.finish();
}

#[test]
fn what_could_not_be_looked_at_is_asked() {
    let allow = SCRATCH.split("[[rule]]\nid = \"keys\"").next().unwrap();
    let mut world = World::with(config(), allow).ready();
    world.disk_answers = false;
    assert_eq!(world.call("1", "write_file", IN_SCRATCH), []);
    // The rule's look, then the card's.
    assert_eq!(world.disk_hangs(), []);
    assert_eq!(world.disk_hangs(), [Did::Ask("files-1".into())]);
    assert_eq!(world.cards["files-1"].facts[0].kind, FileKind::Unseen);
    world.disk_answers = true;
    world.finish();
    let mut world = World::with(config(), SCRATCH).ready();
    world.disk_answers = false;
    assert_eq!(world.call("2", "read_file", r#"{"path":"/a"}"#), [], "a deny speaks of it");
    let did = world.disk_hangs();
    assert!(matches!(did.as_slice(), [Did::Settle(_), Did::Answer(_)]), "undecided matches a deny: {did:?}");
    world.finish();
}

#[test]
fn a_call_that_is_looked_at_until_its_deadline_is_denied() {
    let mut world = World::with(config(), SCRATCH).ready();
    world.disk_answers = false;
    world.call("1", "write_file", IN_SCRATCH);
    let did = world.wait(301);
    assert!(matches!(did.as_slice(), [Did::Settle(_), Did::Answer(text)] if text.contains("NOT execute")), "{did:?}");
    assert_eq!(world.disk_shows(), [], "too late");
    world.finish();
}

#[test]
fn the_card_shows_what_stands_there_and_the_approval_is_for_that() {
    let mut world = World::new().ready();
    leads(&mut world, "/a", "/a");
    world.call("1", "write_file", r#"{"path":"/a","content":"x"}"#);
    let facts = &world.cards["files-1"].facts[0];
    assert_eq!((facts.argument.as_str(), facts.kind, facts.size), ("/path", FileKind::File, Some(3)));
    let asked = world.entries.iter().find(|entry| entry.kind == Kind::DecisionAsked).unwrap();
    assert!(asked.detail.get("touches").is_some_and(|value| value[0]["kind"] == "file"));

    world.disk.insert("/a".into(), ("/a".into(), "grown since".into()));
    let did = world.approve("files-1");
    assert!(matches!(did.as_slice(), [Did::Ask(_), Did::Refuse(why)] if why.contains("another size")), "{did:?}");
    let card = &world.cards["files-1"];
    assert!(card.asked_again.as_deref().is_some_and(|why| why.contains("another size")));
    assert_eq!(card.facts[0].size, Some(11), "shown as it is now");
    let did = world.approve("files-1");
    assert!(matches!(did.as_slice(), [Did::Settle(_), Did::Forward(_)]), "{did:?}");
    world.finish();
}

#[test]
fn a_card_on_screen_is_shown_anew_where_its_files_changed() {
    let mut world = World::new().ready();
    leads(&mut world, "/a", "/a");
    world.call("1", "write_file", r#"{"path":"/a","content":"x"}"#);
    let looks = |world: &mut World| {
        let digest = world.cards["files-1"].digest;
        world.step(Event::Looked { ticket: "files-1".into(), digest })
    };
    assert_eq!(looks(&mut world), [], "all is as it was shown");
    let before = world.cards["files-1"].clone();
    world.disk.insert("/a".into(), ("/a".into(), "grown since".into()));
    assert_eq!(looks(&mut world), [Did::Ask("files-1".into())]);
    let card = &world.cards["files-1"];
    // Of one card something can be withheld from the desk, and of the other nothing.
    assert!(card.salt.is_some() && card.salt != before.salt && card.digest == before.digest);
    assert_eq!(
        (card.facts[0].size, card.asked_again.as_deref()),
        (Some(11), Some("what it would touch has another size"))
    );
    // A verdict does not wait for a look, and what the look finds then is nothing to it.
    world.disk_answers = false;
    assert_eq!(looks(&mut world), []);
    assert_eq!(looks(&mut world), [], "one look at a time");
    assert_eq!(world.looks_open(), 1);
    world.approve("files-1");
    assert_eq!(world.disk_hangs(), [], "the earlier look: it is not the one that the approval waits for");
    world.disk_answers = true;
    let did = world.disk_shows();
    assert!(matches!(did.as_slice(), [Did::Settle(_), Did::Forward(_)]), "{did:?}");
    world.finish();
}

#[test]
fn a_deadline_moves_as_far_as_the_host_waits() {
    const SECOND: u64 = 1_000_000;
    let config = Config { approval_timeout: 10 * SECOND, host_timeout: Some(40 * SECOND), ..config() };
    let mut world = World::with(config, "").ready();
    world.call("1", "write_file", r#"{"path":"/a","content":"x"}"#);
    let extends = |world: &mut World| {
        let digest = world.cards["files-1"].digest;
        world.step(Event::Extended(word("files-1", digest)))
    };
    let first = world.cards["files-1"].deadline.unwrap();
    world.wait(8);
    assert_eq!(extends(&mut world), [Did::Ask("files-1".into())]);
    assert!((7_900..8_100).contains(&(world.cards["files-1"].deadline.unwrap() - first)));
    assert_eq!(world.wait(8), [], "it waits on");
    for _ in 0..3 {
        extends(&mut world);
        world.wait(6);
    }
    // The host gives up at 40 s, and is answered five before.
    assert_eq!(world.cards["files-1"].deadline.unwrap() - first, 25_000);
    let did = extends(&mut world);
    assert!(matches!(did.as_slice(), [Did::Refuse(why)] if why.contains("gives up")), "{did:?}");
    let did = world.wait(2);
    assert!(matches!(did.as_slice(), [Did::Settle(_), Did::Answer(_)]), "{did:?}");
    world.finish();
}

#[test]
fn a_whole_content_is_dangerous_only_where_something_stands_or_could_not_be_seen() {
    let danger = |world: &World, ticket: &str| world.cards[ticket].danger.clone();
    let mut world = World::new().ready();
    leads(&mut world, "/old", "/old");
    world.call("1", "write_file", r#"{"path":"/new","content":"x"}"#);
    assert_eq!(danger(&world, "files-1"), None, "one key may create");
    world.call("2", "write_file", r#"{"path":"/old","content":"x"}"#);
    assert_eq!(danger(&world, "files-2").as_deref(), Some("it replaces the whole file"));
    world.disk_answers = false;
    world.call("3", "write_file", r#"{"path":"/hidden","content":"x"}"#);
    world.disk_hangs();
    assert_eq!(danger(&world, "files-3").as_deref(), Some("it may replace what is there"));
    let effects = ["files-1", "files-2", "files-3"].map(|ticket| world.cards[ticket].effect.as_str());
    assert_eq!(effects, ["creates a file — /new", "replaces a file — /old", "writes a file — /hidden"]);
    world.disk_answers = true;

    leads(&mut world, "/new", "/new");
    let did = world.approve("files-1");
    assert!(matches!(did.as_slice(), [Did::Ask(_), Did::Refuse(why)] if why.contains("exists already")), "{did:?}");
    assert!(danger(&world, "files-1").is_some(), "it is a replacement by now");
    world.finish();
}

#[test]
fn what_changes_while_the_log_is_written_does_not_run() {
    let mut world = World::new().ready();
    leads(&mut world, "/a", "/a");
    world.call("1", "write_file", r#"{"path":"/a","content":"x"}"#);
    world.log_answers = false;
    assert_eq!(world.approve("files-1"), []);
    leads(&mut world, "/a", "/etc/passwd");
    let did = world.log_takes();
    assert!(
        matches!(did.as_slice(), [Did::Settle(_), Did::Answer(text)]
            if text.contains("a path in it leads elsewhere since") && text.contains("NOT executed")),
        "{did:?}"
    );
    assert_eq!(last_decision(&world).0, Some(VerdictWord::Approve), "the decision stands");
    let end = world.entries.iter().find(|entry| entry.kind == Kind::Withdrawn).unwrap();
    assert_eq!(end.by, Some(By::Fault));
    world.log_answers = true;
    // The same holds for what a rule has allowed.
    let mut world = World::with(config(), SCRATCH).ready();
    world.log_answers = false;
    assert_eq!(world.call("1", "write_file", IN_SCRATCH), []);
    leads(&mut world, "/scratch/a", "/etc/passwd");
    let mut did = Vec::new();
    for _ in 0..30 {
        did.extend(world.log_takes());
    }
    assert!(matches!(did.as_slice(), [Did::Settle(_), Did::Answer(_)]), "{did:?}");
    world.log_answers = true;
    world.finish();
}

#[test]
fn a_second_verdict_while_the_first_is_checked_comes_to_nothing() {
    let mut world = World::new().ready();
    world.call("1", "write_file", r#"{"path":"/a","content":"x"}"#);
    world.disk_answers = false;
    assert_eq!(world.approve("files-1"), []);
    let did = world.deny("files-1", "no");
    assert!(matches!(did.as_slice(), [Did::Refuse(why)] if why.contains("ann has decided it already")), "{did:?}");
    let did = world.disk_shows();
    assert_eq!(did, [], "the approval is in the log; the last look is on its way");
    assert!(matches!(world.disk_shows().as_slice(), [Did::Settle(_), Did::Forward(_)]));
    world.finish();
}

#[test]
fn an_edit_is_looked_at_anew_and_always_shown() {
    let mut world = World::with(config(), SCRATCH).ready();
    leads(&mut world, "/b", "/b");
    world.call("1", "write_file", r#"{"path":"/a","content":"x"}"#);
    assert_eq!(world.edit("files-1", r#"{"path":"/b","content":"x"}"#), [Did::Ask("files-1".into())]);
    assert_eq!(world.cards["files-1"].facts[0].kind, FileKind::File);
    assert_eq!(world.edit("files-1", IN_SCRATCH), [Did::Ask("files-1".into())], "a rule allows it, and it is shown");
    let did = world.approve("files-1");
    assert!(matches!(did.as_slice(), [Did::Settle(_), Did::Forward(_)]), "{did:?}");
    world.finish();
}

#[test]
fn each_object_of_a_list_is_told_with_what_is_in_it() {
    use Action::{Create, Delete, Move, Overwrite, Update};
    let at = |argument: &str, facts: Facts| Facts { argument: argument.into(), ..facts };
    let missing = |path: &str| Facts { kind: FileKind::Missing, unseen: None, ..Facts::unseen("/path", path, "") };
    let file = |path: &str, text: &str| {
        let size = Some(text.len() as u64);
        Facts { kind: FileKind::File, text: Some(text.into()), size, ..missing(path) }
    };
    let notes = |argument: &str| at(argument, file("notes.md", "a\nb\n"));
    let beyond = Look { left_out: LeftOut::Some, ..Default::default() };
    let beyond = beyond.beyond().unwrap();
    #[rustfmt::skip]
    let cases = [
        (Move, json!({"moves": [{"from": "notes.md", "to": "b"}, {"from": "c", "to": "d"}]}),
         vec![notes("/moves/0/from"), at("/moves/0/to", missing("b")), at("/moves/1/from", file("c", "x")), at("/moves/1/to", file("d", "y"))],
         "moves 1 file, 4 bytes — notes.md → b; moves 1 file, 1 byte, replacing 1 file, 1 byte — c → d"),
        (Move, json!({"paths": ["a", "c"], "destination": "d"}),
         vec![at("/paths/0", file("a", "x")), at("/paths/1", file("c", "x")), at("/destination", missing("d"))],
         "moves 1 file, 1 byte — a → d; moves 1 file, 1 byte — c → d"),
        (Move, json!({"paths": ["a", "c"]}), vec![at("/paths/0", file("a", "x")), at("/paths/1", file("c", "x"))],
         "moves 1 file, 1 byte — a; moves 1 file, 1 byte — c"),
        (Overwrite, json!({"files": [{"path": "notes.md", "content": "a\n"}, {"path": "n", "content": "x"}]}),
         vec![notes("/files/0/path"), at("/files/1/path", missing("n"))],
         "overwrites 1 file, 1 line changed (+0 −1) — notes.md; creates 1 file, 1 line — n"),
        (Create, json!({"paths": ["m", "n"], "content": "x"}), vec![at("/paths/0", missing("m")), at("/paths/1", missing("n"))],
         "creates 1 file, 1 line — m; creates 1 file, 1 line — n"),
        // The second edit meets what the first leaves.
        (Update, json!({"edits": [{"file_path": "notes.md", "old_str": "a", "new_str": "x"}, {"file_path": "notes.md", "old_str": "x", "new_str": "y"}]}),
         vec![notes("/edits/0/file_path"), notes("/edits/1/file_path")],
         "edits 1 file, 1 line changed (+1 −1) — notes.md; edits 1 file, 1 line changed (+1 −1) — notes.md"),
        (Overwrite, json!({"files": [{"path": "notes.md", "content": "a", "repo": "x/y"}]}), vec![notes("/files/0/path")], ""),
        (Delete, json!({"paths": ["n"]}), vec![at("/paths/0", missing("n")), beyond],
         "deletes something that is not there — n; deletes something that could not be seen — more paths than these"),
    ];
    for (action, arguments, facts, expected) in cases {
        let lines: Vec<String> = touched::of(action, &arguments, &facts).iter().map(FileChange::line).collect();
        let lines = lines.join("; ");
        assert_eq!(lines, expected, "{action:?} {arguments}");
    }
}

#[test]
fn paths_in_objects_and_lists_are_looked_at_and_those_beyond_the_bound_are_told() {
    let mut world = World::new().ready();
    leads(&mut world, "/b", "/b");
    world.call(
        "1",
        "write_file",
        r#"{"path":"/c","content":"","files":[{"path":"/a","content":"x"},{"path":"/b","content":"new"}]}"#,
    );
    let card = &world.cards["files-1"];
    let seen: Vec<_> = card.facts.iter().map(|facts| (facts.argument.as_str(), facts.kind)).collect();
    assert_eq!(
        seen,
        [("/path", FileKind::Missing), ("/files/0/path", FileKind::Missing), ("/files/1/path", FileKind::File)]
    );
    world.disk.insert("/b".into(), ("/b".into(), "other".into()));
    let did = world.approve("files-1");
    assert!(
        matches!(did.as_slice(), [Did::Ask(_), Did::Refuse(why)] if why.contains("since the card was shown")),
        "{did:?}"
    );

    let many: Vec<_> = (0..=MOST).map(|n| json!({ "path": format!("/f{n}"), "content": "x" })).collect();
    world.call("2", "write_file", &json!({ "path": "/c", "content": "", "files": many }).to_string());
    let card = &world.cards["files-2"];
    let last = card.facts.last().unwrap();
    assert_eq!((card.facts.len(), last.kind), (MOST + 1, FileKind::Unseen));
    assert!(
        card.danger.as_deref().is_some_and(|why| why.contains("more paths than mcp-approve looks at")),
        "{:?}",
        card.danger
    );
    world.finish();
}

/// What other wrappers ran counts with what this one ran. While that is not known, no allow with a rate matches.
#[test]
fn a_rate_counts_what_others_ran_too() {
    let rule = "version = 1\n[[rule]]\nid = 'few'\ndecision = 'allow'\ntool = 'write_file'\n\
        when = [{ rate = { most = 2, per = '1h' } }]\n[[rule]]\nid = 'read'\ndecision = 'allow'\ntool = 'read_file'\n";
    let started = |others: usize| {
        let mut world = World::with(config(), rule).ready();
        (0..others).for_each(|_| world.others.note("files", None, "write_file", world.now.wall));
        world
    };
    let mut world = started(1);
    assert!(matches!(world.call("1", "write_file", IN_SCRATCH).as_slice(), [Did::Forward(_)]));
    assert_eq!(world.looked, 2, "before the ruling, and before the forward");
    assert_eq!(world.call("2", "write_file", IN_SCRATCH), [Did::Ask("files-2".into())], "one of them, one of its own");
    world.approve("files-2");
    world.finish();
    let mut world = started(0);
    world.disk_answers = false;
    assert_eq!(world.call("1", "write_file", IN_SCRATCH), []);
    assert_eq!(world.disk_hangs(), [Did::Ask("files-1".into())], "it is not known how many ran");
    world.disk_answers = true;
    world.finish();
    // A call that no rate counts is not looked at.
    let mut world = started(9);
    assert!(matches!(world.call("1", "read_file", r#"{"path":"/a"}"#).as_slice(), [Did::Forward(_)]));
    assert_eq!(world.looked, 0);
    world.finish();
}
