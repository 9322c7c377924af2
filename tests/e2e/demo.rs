//! The demo, decided by a scripted operator beside its console: each decision has its effect, and nothing else happens.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use mcp_approve::audit::record::VerdictWord;
use mcp_approve::link::client::ClientEvent;
use mcp_approve::link::message::{ActivityKind, FromWrapper};
use portable_pty::CommandBuilder;
use rusqlite::Connection;
use serde_json::Value;

use crate::fake::operator::{Asked, Operator};
use crate::fake::terminal::Terminal;
use crate::fake::{BINARY, until};

/// What the operator does with a call.
#[derive(Clone, Copy, Debug)]
enum Act {
    Approve,
    Deny(&'static str),
    /// Changes the arguments, then approves the changed card.
    Edit(&'static str),
    LetBe,
}
use Act::{Approve, Deny, Edit, LetBe};

/// Each call that waits, by its tool and what its arguments show, what becomes of it, and all that changes in the
/// workspace. Any other call that waits is a fault: so this also says which calls must not ask.
const CUES: [(&str, &str, Act, &[&str]); 14] = [
    ("write_file", "reply-ada", Approve, &["drafts/reply-ada.md appears"]),
    ("write_file", "reply-grace", Approve, &["drafts/reply-grace.md appears"]),
    ("write_file", "/report.md\"", Approve, &["report.md changes"]),
    ("write_file", "/notes.md\"", Deny("These notes are written by hand. Put your version beside them."), &[]),
    ("write_file", "notes-suggestion.md", Approve, &["notes-suggestion.md appears"]),
    ("move_file", "archive/", Approve, &["archive/todo.md appears", "drafts/todo.md is gone"]),
    ("read_query", "DELETE", Deny("This deletes rows through the read tool."), &[]),
    (
        "cleanup_sessions",
        "idle_days",
        Edit(r#"{"idle_days": 30}"#),
        &["sessions 3 is gone", "sessions 4 is gone", "sessions 5 is gone"],
    ),
    ("write_query", "UPDATE", Approve, &["orders 1003 changes"]),
    ("run_job", "0.002", Approve, &[]),
    ("run_dft", "CuZnO", Approve, &["lab/dft_results/CuZnO_CO2.json appears"]),
    ("append_notebook_entry", "exp-47", Approve, &["lab/notebook.md changes"]),
    ("get_environment", "", Deny("The agent has no business with credentials."), &[]),
    ("delete_file", "plan-2024.md", LetBe, &[]),
];

#[test]
fn each_decision_of_the_demo_has_its_effect_and_nothing_else_happens() {
    let home = tempfile::tempdir().unwrap();
    let mut command = CommandBuilder::new(BINARY);
    command.args(["--home".as_ref(), home.path().as_os_str(), "demo".as_ref()]);
    let mut terminal = Terminal::running(command, (120, 40));
    let stage = until("the demo's wrapper", || {
        let folders = fs::read_dir(home.path()).ok()?.flatten().map(|entry| entry.path());
        folders.into_iter().find(|folder| folder.join("home/state/run").is_dir())
    });
    let (own, work) = (stage.join("home"), stage.join("work"));
    let mut state = look(&work);
    let mut operator = Operator::attach(&own, "scripted operator");
    operator.meets("demo");
    let mut cues = CUES.to_vec();
    let mut dealt: Vec<(String, Act)> = Vec::new();
    while !cues.is_empty() {
        let mut asked = held(&mut operator, &|asked| dealt.iter().all(|(ticket, _)| *ticket != asked.call.ticket));
        let call = &asked.call;
        let cue = cues.iter().position(|(tool, shows, ..)| *tool == call.tool && call.arguments.contains(shows));
        let cue = cue.unwrap_or_else(|| panic!("{} {} waits, but no such call should", call.tool, call.arguments));
        let (_, _, act, effects) = cues.remove(cue);
        let ticket = call.ticket.clone();
        dealt.push((ticket.clone(), act));
        match act {
            Approve => operator.approve(&asked),
            Deny(reason) => operator.deny(&asked, reason),
            Edit(arguments) => {
                operator.edit(&asked, arguments);
                asked = held(&mut operator, &|one| one.call.ticket == ticket && one.call.edited_from.is_some());
                operator.approve(&asked);
            }
            LetBe => {}
        }
        let wanted = match act {
            Approve | Edit(_) => Some(VerdictWord::Approve),
            Deny(_) => Some(VerdictWord::Deny),
            LetBe => None,
        };
        if wanted.is_some() {
            assert_eq!(operator.settled(&ticket).verdict, wanted, "{ticket}");
        }
        if wanted == Some(VerdictWord::Approve) {
            operator.hear("its answer", |event| match event {
                ClientEvent::Said { message: FromWrapper::Activity(one), .. } => {
                    (one.kind == ActivityKind::Outcome && one.ticket.as_ref() == Some(&ticket)).then_some(())
                }
                _ => None,
            });
        }
        let now = look(&work);
        assert_eq!(changes(&state, &now), effects, "{ticket} {act:?}");
        state = now;
    }
    let telemetry = until("the end of the tuning", || {
        let lines = fs::read_to_string(stage.join("telemetry.jsonl")).ok()?;
        lines.contains(r#""stops":true"#).then_some(lines)
    });
    let rounds: Vec<Value> = telemetry.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let drift = |round: &Value| round["metrics"]["drift_ppm"].as_f64().unwrap();
    assert_eq!(rounds.len(), 3, "run, status, artifact, parse, adapt, until it is enough: {telemetry}");
    assert!(drift(&rounds[0]) > 50.0 && drift(&rounds[2]) <= 50.0, "{telemetry}");
    assert!(work.join("jobs/run-3/log.lammps").exists());
    // The console may be slower than the operator: before this call another one may have waited alone.
    terminal.shows(&["1 waiting", "plan-2024.md"]);
    terminal.types("q");
    terminal.shows(&["Leave the console?"]);
    terminal.types("y");
    assert!(terminal.wait().success(), "{}", terminal.screen());
    until("the summary", || (terminal.wrote("The chain holds") == 1).then_some(()));
    assert_eq!(changes(&state, &look(&work)), [""; 0], "after the last decision");
    let mut list = Command::new(BINARY);
    let list = list.arg("--home").arg(&own).args(["log", "list", "--json", "--limit", "10000"]).output().unwrap();
    let records: Vec<Value> = serde_json::from_slice(&list.stdout).unwrap();
    for (ticket, act) in dealt {
        let of = |kind: &str| {
            records.iter().filter(|row| row["ticket"] == *ticket && row["kind"] == kind).collect::<Vec<_>>()
        };
        let verdicts: Vec<&Value> = of("decision").iter().map(|row| &row["verdict"]).collect();
        match act {
            Approve | Edit(_) => assert_eq!(verdicts, ["approve"], "{ticket}"),
            Deny(_) => assert_eq!(verdicts, ["deny"], "{ticket}"),
            LetBe => assert!(verdicts.is_empty() && of("withdrawn").len() == 1, "{ticket}"),
        }
        let is_edited = of("decision").iter().any(|row| row["detail"]["edited_from"].is_string());
        assert_eq!(is_edited, matches!(act, Edit(_)), "{ticket}");
    }
}

/// The next card that is as wanted; one that arrives while a console attaches may be told twice.
fn held(operator: &mut Operator, wanted: &dyn Fn(&Asked) -> bool) -> Asked {
    operator.hear("a call that waits", |event| match event {
        ClientEvent::Said { session, message: FromWrapper::Held { call } } => {
            Some(Asked { session: session.clone(), call: (**call).clone() }).filter(wanted)
        }
        _ => None,
    })
}

/// Every file and every table's row of the workspace, by its name.
fn look(work: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    files(work, "", &mut found);
    let shop = Connection::open(work.join("shop.db")).unwrap();
    for table in ["customers", "orders", "sessions"] {
        let mut rows = shop.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = rows.column_count();
        let row = |row: &rusqlite::Row<'_>| {
            let cells: Vec<rusqlite::types::Value> = (0..columns).map(|at| row.get_unwrap(at)).collect();
            Ok((format!("{table} {}", row.get_unwrap::<_, i64>(0)), format!("{cells:?}").into_bytes()))
        };
        found.extend(rows.query_map([], row).unwrap().map(Result::unwrap));
    }
    found
}

fn files(folder: &Path, before: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = format!("{before}{}", entry.file_name().display());
        if entry.path().is_dir() {
            files(&entry.path(), &format!("{name}/"), found);
        } else if !name.starts_with("shop.db") && !name.starts_with("jobs/run-") {
            // Jobs go on by themselves; they are looked at when all of them have ended.
            found.insert(name, fs::read(entry.path()).unwrap());
        }
    }
}

/// What is different now, in the order of the names.
fn changes(before: &BTreeMap<String, Vec<u8>>, now: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let names: std::collections::BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let change = |name: &String| match (before.get(name), now.get(name)) {
        (None, _) => Some(format!("{name} appears")),
        (_, None) => Some(format!("{name} is gone")),
        (Some(one), Some(other)) => (one != other).then(|| format!("{name} changes")),
    };
    names.into_iter().filter_map(change).collect()
}
