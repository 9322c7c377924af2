//! One query language: what is typed on the Log screen and what `log list` is given find the same rows, or are the same mistake.

use std::path::Path;
use std::sync::Arc;

use clap::Parser as _;
use mcp_approve::audit::record::{By, Entry, Kind, VerdictWord};
use mcp_approve::audit::redact::Redactor;
use mcp_approve::audit::store::Store;
use mcp_approve::behavior::taxonomy::Badge;
use mcp_approve::cli::args::{Cli, Command as Told};
use mcp_approve::cli::log::run;
use mcp_approve::cli::look::Look;
use mcp_approve::console::update::{Command, Msg};
use mcp_approve::operator::found::{Finding, LogRequest};
use serde_json::json;

use crate::desk::NINE;
use crate::screens::log_reader::Desk;

const HOUR: i64 = 3_600_000;
const CALLS: i64 = 120;

/// Two hours lie between two calls: they reach ten days back.
fn write(db: &Path) {
    let mut store = Store::open(db, [1; 16]).unwrap();
    let mut entries = Vec::new();
    for n in 0..CALLS {
        let server: Arc<str> = if n % 4 == 0 { "github" } else { "filesystem" }.into();
        let entry = |kind| {
            let mut entry = Entry::new(NINE - (CALLS - n) * 2 * HOUR, kind, &server, &"one".into());
            entry.ticket = Some(format!("{server}-{n}").into());
            entry.tool = Some(if n % 2 == 0 { "write_file" } else { "read_file" }.into());
            entry.target =
                Some(if n % 6 == 0 { "/srv/Read Me.md".into() } else { format!("/srv/notes/{n}.md").into() });
            entry.badge = Some(if n % 2 == 0 { Badge::Mutates } else { Badge::Pure });
            let agent = if n % 10 == 0 { "planner" } else { "writer" };
            entry.with("caller", json!({ "agent": agent, "user": "ada" }))
        };
        entries.push(entry(Kind::DecisionAsked));
        if n % 11 == 0 {
            entries.push(entry(Kind::Withdrawn));
            continue;
        }
        let mut decision = entry(Kind::Decision);
        decision.verdict = Some(if n % 5 == 0 { VerdictWord::Deny } else { VerdictWord::Approve });
        decision.by = Some(if n % 7 == 0 {
            By::Rule
        } else if n % 3 == 0 {
            By::Default
        } else {
            By::Operator
        });
        decision.rule = (n % 7 == 0).then(|| "scratch".to_owned());
        entries.push(decision.with("operator", "ada (pid 7)").with("reason", format!("because of {n}")));
        entries.push(entry(Kind::Forward));
        entries.push(entry(Kind::Outcome).with("result", "ok"));
    }
    store.append(&(1..).zip(entries).collect::<Vec<_>>(), &Redactor::new(&[7; 32])).unwrap();
}

/// The rows of `log list`, or its mistake.
fn listed(db: &Path, find: &str) -> Result<Vec<u64>, String> {
    let line = ["mcp-approve", "log", "list", "--utc", "--limit", "10000", "--"].into_iter().chain([find]);
    let Some(Told::Log { command: Some(command), .. }) = Cli::try_parse_from(line).unwrap().command else { panic!() };
    let mut out = Vec::new();
    run(
        &command,
        db,
        &mcp_approve::home::places::Places::under(db.parent().unwrap()).unwrap(),
        Look::plain(NINE),
        &mut out,
    )
    .map_err(|error| error.to_string())?;
    let out = String::from_utf8(out).unwrap();
    let mut rows: Vec<u64> = out.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect();
    rows.reverse();
    Ok(rows)
}

/// The rows of the Log screen once this is typed there, or the mistake that it names. It reads by what the console asks.
fn typed(log: &Desk, find: &str) -> Result<Vec<u64>, String> {
    let mut desk = crate::desk::Desk::connected(100, 40);
    // No time passes: both count from now.
    let asked = desk.types(&format!("3/{find}\n"), 0);
    if let Some(problem) = &desk.model.log.list.problem {
        return Err(problem.clone());
    }
    let page = asked.into_iter().rev().find_map(|asked| match asked {
        Command::Look(LogRequest::Page(wanted)) => Some(wanted),
        _ => None,
    });
    log.ask.send(LogRequest::Page(page.unwrap())).unwrap();
    while desk.model.log.window.awaits.is_some() {
        if let Finding::Page(page) = log.hear() {
            desk.send(Msg::Found(Finding::Page(page)));
        }
    }
    Ok(desk.model.log.window.lines.iter().map(|line| line.seq).collect())
}

#[test]
fn the_log_screen_and_the_command_line_understand_the_same_words() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("audit.db");
    write(&db);
    let log = Desk::over(&db);
    let found = [
        "", "verdict:deny", "verdict:denied", "verdict:allow", "verdict:allowed", "verdict:approve", "-verdict:deny",
        "by:rule", "by:default", "by:policy", "by:operator", "rule:scratch", "rule:scr*", "rule:=scratch",
        "server:git", "server:=github", "server:*hub", "-server:github", "tool:write", "tool:=read_file", "tool:WRITE",
        "target:notes", "target:/srv/notes/7", "notes/11", "NOTES", "\"read me\"", "target:\"read me\"", "-notes",
        "agent:planner", "agent:writer/ada", "-agent:planner", "operator:ada", "reason:because", "\"because of 9\"",
        "badge:pure", "badge:mutates", "ticket:=github-8", "ticket:github", "kind:=decision", "kind:withdrawn",
        "session:one", "since:yesterday", "since:today", "until:yesterday", "since:yesterday until:yesterday",
        "since:2d", "since:13h", "until:36h", "since:1w verdict:deny tool:write", "since:2026-11-18",
        "since:2026-11-18 until:2026-11-19", "since:2026-11-18T12:00:00Z", "until:2026-11-15T08:30:00", "since:02:00",
    ];
    for find in found {
        let listed = listed(&db, find).unwrap();
        assert_eq!(typed(&log, find), Ok(listed.clone()), "{find}");
        assert!(!listed.is_empty(), "{find} finds nothing, and so tells nothing");
    }
    for find in ["verdict:deny by:rule agent:nobody", "no such words", "since:1s", "until:2020-01-01"] {
        assert_eq!((listed(&db, find), typed(&log, find)), (Ok(Vec::new()), Ok(Vec::new())), "{find}");
    }
    for find in ["verdict:perhaps", "sever:github", "since:tomorrow", "until:2026-13-01", "by:nobody", "tool:[a"] {
        let mistake = listed(&db, find).unwrap_err();
        assert_eq!(typed(&log, find), Err(mistake.clone()), "{find}");
        assert!(mistake.contains("; "), "{find} says what to do: {mistake}");
    }
}
