//! Rules, policies and suggestions tried on a real log: what matched, what would change, what gives way to what.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use mcp_approve::audit::index::Index;
use mcp_approve::audit::record::{By, Entry, Kind, VerdictWord};
use mcp_approve::audit::redact::Redactor;
use mcp_approve::audit::store::{Reader, Store};
use mcp_approve::behavior::taxonomy::Badge;
use mcp_approve::home::layers::{Keeps, Layers};
use mcp_approve::home::places::Places;
use mcp_approve::home::policy_file::PolicyPlace;
use mcp_approve::operator::Sources;
use mcp_approve::operator::found::Finding;
use mcp_approve::operator::trial::start;
use mcp_approve::operator::tried::{Coverage, Examined, Matched, Replayed, Suggested, Trial, Tried, Which};
use mcp_approve::policy::past::Ended;
use mcp_approve::policy::rule::{Decision, Layer};
use mcp_approve::policy::under::Roots;
use mcp_approve::wire::digest::Digest;

use crate::desk::NINE;

/// A write that was asked and then decided: two records, the arguments in the first.
fn asked(n: i64, server: &str, tool: &str, path: &str, verdict: VerdictWord, by: By) -> [Entry; 2] {
    let entry = |kind| {
        let mut entry = Entry::new(NINE + n, kind, &Arc::from(server), &Arc::from("files"));
        entry.ticket = Some(format!("{server}-{n}").into());
        entry.tool = Some(tool.into());
        entry.ruling = Some(Decision::Ask);
        entry
    };
    let mut asked = entry(Kind::DecisionAsked).with("words", "MUTATES|CREATE|ACK");
    asked.arguments = Some(serde_json::json!({ "path": path, "content": "x" }).to_string().parse().unwrap());
    let mut decision = entry(Kind::Decision);
    (decision.verdict, decision.by) = (Some(verdict), Some(by));
    [asked, decision]
}

/// A read that passed at once: one record, arguments and all.
fn passed(n: i64) -> [Entry; 1] {
    let mut entry = Entry::new(NINE + n, Kind::Decision, &Arc::from("filesystem"), &Arc::from("files"));
    entry = entry.with("words", "PURE|READ|CONTENT");
    entry.badge = Some(Badge::Pure);
    (entry.ticket, entry.tool) = (Some(format!("filesystem-{n}").into()), Some("read_file".into()));
    (entry.ruling, entry.verdict, entry.by) = (Some(Decision::Allow), Some(VerdictWord::Approve), Some(By::Default));
    entry.arguments = Some(r#"{"path":"/home/ada/a"}"#.parse().unwrap());
    [entry]
}

fn append(db: &Path, entries: Vec<Entry>) {
    let mut store = Store::open(db, [1; 16]).unwrap();
    let batch: Vec<_> = (1..).zip(entries).collect();
    for batch in batch.chunks(500) {
        store.append(batch, &Redactor::new(&[7; 32])).unwrap();
    }
}

/// Six writes under one folder of which one was denied and one expired, two elsewhere, one on another server.
fn writes(from: i64) -> Vec<Entry> {
    use VerdictWord::{Approve, Deny};
    let write = |n: i64, path: &str, verdict, by| asked(from + n, "filesystem", "write_file", path, verdict, by);
    [
        write(1, "/home/ada/notes/1.md", Approve, By::Operator),
        write(2, "/home/ada/notes/2.md", Deny, By::Operator),
        write(3, "/home/ada/notes/3.md", Approve, By::Operator),
        asked(from + 4, "filesystem#2", "write_file", "/home/ada/notes/4.md", Approve, By::Observe),
        write(5, "/home/ada/notes/5.md", Deny, By::Expiry),
        write(6, "/home/ada/notes/6.md", Approve, By::Operator),
        write(7, "/home/ada/other/7.md", Approve, By::Operator),
        write(8, "/home/ada/other/8.md", Approve, By::Operator),
        asked(from + 9, "backup", "write_file", "/home/ada/notes/9.md", Approve, By::Operator),
    ]
    .concat()
}

struct Trials {
    ask: Sender<Trial>,
    told: Receiver<Finding>,
}

impl Trials {
    fn over(db: &Path) -> Self {
        let (tell, told) = mpsc::channel();
        let places = Places::under(db.parent().unwrap()).unwrap();
        let sources = Sources { log: db.to_path_buf(), places, now: || NINE + 86_400_000 };
        Self { ask: start(sources, move |finding| drop(tell.send(finding))).unwrap(), told }
    }

    fn hear(&self) -> Tried {
        match self.told.recv_timeout(Duration::from_secs(60)).expect("the trial says something") {
            Finding::Tried(tried) => tried,
            other => panic!("{other:?}"),
        }
    }

    fn rules(&self, id: u64, rules: &[&str]) {
        let rules = rules.iter().map(|rule| format!("[[rule]]\nid = 'x'\ndecision = 'allow'\n{rule}")).collect();
        let (server, tool) = ("filesystem".to_owned(), "write_file".to_owned());
        self.ask.send(Trial::Rules { id, server, tool, roots: Roots::default(), rules }).unwrap();
    }

    /// What comes of the trial of this number in the end.
    fn matched(&self, of: u64) -> (Arc<Vec<Matched>>, Examined) {
        loop {
            match self.hear() {
                Tried::Rules { id, matched, examined } if id == of && examined.coverage != Coverage::Counting => {
                    return (matched, examined);
                }
                Tried::Rules { .. } => {}
                other => panic!("{other:?}"),
            }
        }
    }

    fn replayed(&self, which: Which) -> (Arc<Replayed>, Examined) {
        self.ask.send(Trial::Policy { id: 1, which }).unwrap();
        loop {
            match self.hear() {
                Tried::Policy { replayed, examined, .. } if examined.coverage != Coverage::Counting => {
                    return (replayed, examined);
                }
                Tried::Policy { .. } => {}
                other => panic!("{other:?}"),
            }
        }
    }

    fn suggested(&self) -> Arc<Suggested> {
        self.ask.send(Trial::Suggestions { id: 3 }).unwrap();
        match self.hear() {
            Tried::Suggestions { id: 3, found } => found,
            other => panic!("{other:?}"),
        }
    }
}

const NOTES: &str = "when = [{ arg = 'path', under = '/home/ada/notes' }]";

#[test]
fn each_rule_tells_the_past_calls_of_its_tool_those_denied_first() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("audit.db");
    append(&db, writes(0));
    let trials = Trials::over(&db);
    trials.rules(1, &[NOTES, "", "when = [{ arg = 'path', eq = '/home/ada/other/7.md' }]", "tool = 'read_file'"]);
    let (matched, examined) = trials.matched(1);
    // The other server's call is none of this tool's.
    assert_eq!(examined, Examined { calls: 8, coverage: Coverage::Whole });
    let counts: Vec<_> = matched.iter().map(|one| (one.calls, one.asked, one.denied)).collect();
    assert_eq!(counts, [(6, 6, 1), (8, 8, 1), (1, 1, 0), (0, 0, 0)]);
    let lines: Vec<_> = matched[0].lines.iter().map(|one| (one.target.as_str(), one.ended)).collect();
    let [denied, newest, .., oldest] = lines.as_slice() else { panic!("{lines:?}") };
    assert_eq!(*denied, ("/home/ada/notes/2.md", Ended::Refused));
    assert_eq!((newest.0, oldest.0), ("/home/ada/notes/6.md", "/home/ada/notes/1.md"));
    assert!(lines.contains(&("/home/ada/notes/5.md", Ended::Unanswered)));
}

#[test]
fn a_log_with_an_index_tells_the_same_as_one_without() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("audit.db");
    append(&db, writes(0).into_iter().chain((100..9_100).flat_map(passed)).chain(writes(10_000)).collect());
    let trials = Trials::over(&db);
    trials.rules(1, &[NOTES]);
    let (without, examined) = trials.matched(1);
    assert_eq!((examined.calls, examined.coverage), (16, Coverage::Whole));
    assert_eq!((without[0].calls, without[0].denied), (12, 2));
    assert_eq!(without[0].lines.iter().map(|line| line.ended).take(3).collect::<Vec<_>>()[..2], [Ended::Refused; 2]);
    let reader = Reader::open(&db).unwrap().expect("a log");
    let index = Index::brought_on(&db, &reader, &mut |_| {}).unwrap().expect("an index");
    assert!(index.upto() > 8_000, "{}", index.upto());
    trials.rules(2, &[NOTES]);
    assert_eq!(trials.matched(2), (without, examined));
}

#[test]
fn a_policy_is_played_against_the_log_and_one_servers_against_its_own_calls() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("audit.db");
    append(&db, writes(0).into_iter().chain((100..103).flat_map(passed)).collect());
    let rules = format!("version = 1\n[[rule]]\nid = 'notes'\ndecision = 'allow'\n{NOTES}\n");
    let places = Places::under(folder.path()).unwrap();
    let file = places.policy_file();
    std::fs::create_dir(places.config_dir()).unwrap();
    std::fs::write(&file, "version = 1\n").unwrap();
    Layers::of(&places, None, &PolicyPlace::Usual(file.clone())).load(Keeps::Copies);
    std::fs::write(&file, &rules).unwrap();
    let trials = Trials::over(&db);
    let accepted = |server: Option<&str>| Which::Accepted {
        layer: Layer::User,
        file: file.display().to_string(),
        digest: Digest::of(rules.as_bytes()),
        server: server.map(str::to_owned),
    };
    let (replayed, examined) = trials.replayed(accepted(None));
    assert_eq!((examined, replayed.changed), (Examined { calls: 12, coverage: Coverage::Whole }, 7));
    assert_eq!(replayed.counts, [(Decision::Ask, Decision::Allow, 7)]);
    let (line, now, rule) = &replayed.changes[0];
    assert_eq!((line.target.as_str(), *now, rule.as_str()), ("/home/ada/notes/9.md", Decision::Allow, "notes"));
    let (replayed, examined) = trials.replayed(accepted(Some("filesystem#3")));
    assert_eq!((examined.calls, replayed.changed), (11, 6));
    // Another rule is in force by now, and would rule five of these calls otherwise than they were: no doing of this change.
    let in_force = "version = 1\n[[rule]]\nid = 'no'\ndecision = 'deny'\ntool = 'write_file'\nwhen = [{ arg = 'path', under = '/home/ada/other' }]\n";
    std::fs::remove_dir_all(places.accepted_dir()).unwrap();
    std::fs::write(&file, in_force).unwrap();
    Layers::of(&places, None, &PolicyPlace::Usual(file.clone())).load(Keeps::Copies);
    let both = format!("{in_force}{}", rules.strip_prefix("version = 1\n").unwrap());
    std::fs::write(&file, &both).unwrap();
    let which = Which::Accepted {
        layer: Layer::User,
        file: file.display().to_string(),
        digest: Digest::of(both.as_bytes()),
        server: None,
    };
    let (replayed, _) = trials.replayed(which);
    assert_eq!(replayed.counts, [(Decision::Ask, Decision::Allow, 7)], "{replayed:?}");
    assert_eq!(trials.replayed(Which::Written).0.counts.len(), 2, "against the past itself both count");
    std::fs::write(&file, "version = 1\nrules = 3\n").unwrap();
    trials.ask.send(Trial::Policy { id: 5, which: Which::Written }).unwrap();
    assert!(matches!(trials.hear(), Tried::Failed { id: 5, why } if why.contains("policy.toml:2")));
}

#[test]
fn the_log_suggests_what_would_have_saved_questions_and_never_what_was_denied() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("audit.db");
    append(&db, writes(0));
    let found = Trials::over(&db).suggested();
    assert_eq!(found.calls, 9);
    assert!(!found.rules.is_empty());
    for rule in &found.rules {
        assert!(mcp_approve::policy::parse::parse(&format!("version = 1\n\n{}", rule.toml)).is_ok(), "{}", rule.toml);
        assert!(!rule.toml.contains("/notes\"") || rule.server == "backup", "{}", rule.toml);
    }
    // Whoever is `ada` reads `~/other`.
    let other = found.rules.iter().find(|rule| rule.scope.says().ends_with("/other")).expect("two like writes");
    assert_eq!((other.saves, other.lines.len(), other.tool.as_str()), (2, 2, "write_file"));
    assert!(other.toml.contains("expires = "), "{}", other.toml);
}

#[test]
fn no_log_is_no_trouble_and_no_log_at_all_is() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("audit.db");
    let trials = Trials::over(&db);
    trials.rules(1, &[NOTES]);
    assert_eq!(
        trials.matched(1),
        (Arc::new(vec![Matched::default()]), Examined { calls: 0, coverage: Coverage::Whole })
    );
    std::fs::write(&db, "this is no database, and long enough to be read as one; it is not ".repeat(40)).unwrap();
    trials.rules(2, &[NOTES]);
    assert!(matches!(trials.hear(), Tried::Failed { id: 2, why } if why.contains(';')));
}

/// The panel's question does not wait for suggestions, and the newest of its kind is answered.
/// A server names its tools: none of them hides its calls by how a search or JSON would write its name.
#[test]
fn a_tool_of_an_odd_name_has_its_past_calls_all_the_same() {
    for tool in
        ["a\"b", "a\\b", "a b", "a\u{a0}b", "\u{212a}ey", "=x", "//x", "a*", "\u{130}", "\n", "-x", "a:b", "a,b"]
    {
        let home = tempfile::tempdir().unwrap();
        let db = home.path().join("audit.db");
        append(&db, asked(1, "filesystem", tool, "/a", VerdictWord::Deny, By::Operator).to_vec());
        let trials = Trials::over(&db);
        let (rules, server) = (vec!["[[rule]]\nid = 'x'\ndecision = 'allow'\n".to_owned()], "filesystem".to_owned());
        let roots = Roots::default();
        trials.ask.send(Trial::Rules { id: 1, server, tool: tool.to_owned(), roots, rules }).unwrap();
        let (matched, examined) = trials.matched(1);
        assert_eq!((examined.calls, matched[0].denied), (1, 1), "{tool:?}");
    }
}

#[test]
fn what_somebody_looks_at_comes_first() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("audit.db");
    append(&db, (0..9_000).flat_map(passed).chain(writes(10_000)).collect());
    let trials = Trials::over(&db);
    trials.ask.send(Trial::Suggestions { id: 3 }).unwrap();
    // They have begun, and are given up for the panel.
    std::thread::sleep(Duration::from_millis(100));
    for id in 10..14 {
        trials.rules(id, &[NOTES]);
    }
    let mut heard = Vec::new();
    while !heard.contains(&3) {
        let (id, over) = match trials.hear() {
            Tried::Rules { id, examined, .. } => (id, examined.coverage != Coverage::Counting),
            Tried::Suggestions { id, .. } => (id, true),
            other => panic!("{other:?}"),
        };
        if over {
            heard.push(id);
        }
    }
    let last = heard.iter().position(|id| *id == 13).expect("the newest is answered");
    assert!(last < heard.len() - 1, "before the suggestions: {heard:?}");
}
