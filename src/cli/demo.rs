//! `mcp-approve demo`: a real server, a scripted agent and the console in a temporary folder, all processes of this binary,
//! started as a host would: `demo-agent -- mcp-approve -- mcp-approve demo-server`. Only the agent's wishes are simulated.
//! At its end it says what ran, what did not, what became of the workspace, and whether its log verifies.

mod agent;
mod jobs;
mod tools;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::{str, thread};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::console;
use super::error::{Error, Exit, done};
use super::log::verify::VerifyOptions;
use super::log::{self, LogCommand};
use super::look::{Here, Look, visible};
use crate::audit::{By, Fields, Kind, Record, Search, VerdictWord, query};
use crate::home::{places::Places, replace::replace};
use crate::wire::counted;
pub use agent::AgentArgs;
use agent::{END_LIMIT, wait_for};
use jobs::Input;
use tools::{SHOP_FILE, Tools, failed, rows};

/// What the agent reads of the database, statement by statement, passes by this policy.
const POLICY: &str = include_str!("../../assets/demo/policy.toml");

const NEXT: &str = "
To put it in front of the servers that your agent uses already:
    mcp-approve install
and open the console in any terminal:
    mcp-approve";

/// Plays the demo to its closing summary in a folder below `home`; everything it started has ended when it returns.
pub(super) fn run(home: Option<&Path>, now: i64, out: &mut dyn Write) -> Exit {
    if !console::is_here() {
        return Err(Error::wrong(
            "the demo needs a terminal for its console",
            "run it at a terminal: `mcp-approve demo`",
        ));
    }
    let root = folder(&home.map_or_else(std::env::temp_dir, Path::to_path_buf)).map_err(failed)?;
    let (work, places) = (root.join("work"), Places::under(&root.join("home"))?);
    replace(&places.policy_file(), POLICY).map_err(failed)?;
    private(&work).map_err(failed)?;
    tools::furnish(&work)?;
    let before = Workspace::of(&work)?;
    let mut agent = start(&root, &work).map_err(failed)?;
    let shown = Command::new(me()?).arg("--home").arg(root.join("home")).arg("demo-console").status();
    drop(agent.stdin.take());
    let left = wait_for(&mut agent, END_LIMIT).map_err(failed)?;
    let shown = shown.map_err(failed)?;
    if !left.is_some_and(|status| status.success()) {
        let _ = agent.kill();
        let hint = "run `mcp-approve doctor`; agent.err says what the wrapper printed";
        return Err(Error::wrong(format!("the demo's agent did not leave as it should ({})", root.display()), hint));
    }
    let chain = summary(&before, &Workspace::of(&work)?, Here { places: &places, now }, out)?;
    writeln!(out, "\nAll of it stays in {} until you remove it:", root.display())?;
    writeln!(out, "    {}\n{NEXT}", places.command("log list"))?;
    Ok(if shown.success() { chain } else { ExitCode::FAILURE })
}

pub(super) fn serve(work: &Path) -> Exit {
    tools::furnish(work)?;
    let (sender, inputs) = mpsc::channel();
    let mut tools = Tools::over(work, sender.clone())?;
    thread::spawn(move || {
        let lines = io::stdin().lines().map_while(Result::ok).map(Input::Line);
        // The server may have ended already.
        let _ = lines.chain([Input::End]).try_for_each(|input| sender.send(input));
    });
    done(tools::serve(&inputs, io::stdout(), &mut tools))
}

pub(super) fn agent(args: &AgentArgs) -> Exit {
    agent::run(args)
}

/// A folder that this demo alone uses, by its absolute path: the demo's processes work in other folders.
fn folder(around: &Path) -> io::Result<PathBuf> {
    DirBuilder::new().mode(0o700).recursive(true).create(around)?;
    let around = around.canonicalize()?;
    let made = (0..100).map(|number| around.join(format!("mcp-demo-{}-{number}", std::process::id())));
    made.map(|root| private(&root).map(|()| root))
        .find(|made| !matches!(made, Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists))
        .unwrap_or_else(|| Err(io::ErrorKind::AlreadyExists.into()))
}

fn private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)
}

/// Starts the agent in a process group of its own: the terminal's ^C is not for it. It leaves when its stdin ends.
fn start(root: &Path, work: &Path) -> io::Result<Child> {
    let me = std::env::current_exe()?;
    Command::new(&me)
        .args(["demo-agent".as_ref(), "--diary".as_ref(), root.join("agent.log").as_os_str(), "--".as_ref()])
        .args([me.as_os_str(), "--home".as_ref(), root.join("home").as_os_str()])
        // An agent that waits for a reader of this demo has patience.
        .args(["--name", "demo", "--host-timeout", "1h", "--approval-timeout", "1h", "--"])
        .args([me.as_os_str(), "demo-server".as_ref(), work.as_os_str()])
        // Relative paths are the workspace's, for the server and for what the card shows of them.
        .current_dir(work)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(File::create(root.join("agent.err"))?)
        .process_group(0)
        .spawn()
}

fn me() -> Result<PathBuf, Error> {
    std::env::current_exe().map_err(failed)
}

const TABLES: [&str; 3] = ["customers", "orders", "sessions"];

fn summary(before: &Workspace, after: &Workspace, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let db = here.places.audit_db();
    let reader = log::named::open(&db)?.ok_or_else(|| Error::NoLog(db.clone()))?;
    let records = query::last(&reader, None, &Search::default(), usize::MAX)?;
    let mut fields: Vec<Fields<'_>> = records.iter().filter_map(Record::fields).collect();
    fields.sort_by_key(Fields::millis);
    let of_kind = |kind| fields.iter().filter(move |one| one.kind() == Some(kind));
    let denied = |one: &&Fields<'_>| one.verdict() == Some(VerdictWord::Deny);
    let (asked, passed): (Vec<_>, Vec<_>) =
        of_kind(Kind::Decision).partition(|one| one.by() == Some(By::Operator) || denied(one));
    let (denied, ran): (Vec<_>, Vec<_>) = asked.into_iter().partition(denied);
    section("Ran, because it was approved", &ran, out)?;
    section("Denied, and not run", &denied, out)?;
    section("Withdrawn undecided, and not run", &of_kind(Kind::Withdrawn).collect::<Vec<_>>(), out)?;
    writeln!(out, "\nPassed by policy without a question: {}", counted(passed.len(), "call"))?;
    writeln!(out, "\nThe workspace")?;
    let changes = before.changes(after);
    changes.iter().try_for_each(|change| writeln!(out, "  {change}"))?;
    if changes.is_empty() {
        writeln!(out, "  is as it was")?;
    }
    writeln!(out, "\nThe log: {}", counted(records.len(), "record"))?;
    let mut said = Vec::new();
    let verify = LogCommand::Verify(VerifyOptions::default());
    let verified = log::run(&verify, &db, here.places, Look::here(here), &mut said)?;
    // The advice on a log whose end was cut off is left out: this log has just been written.
    let said = str::from_utf8(&said).unwrap_or_default().lines().take_while(|line| !line.starts_with("Not checked: "));
    said.into_iter().try_for_each(|line| writeln!(out, "  {line}"))?;
    Ok(if verified == ExitCode::SUCCESS { verified } else { ExitCode::FAILURE })
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DemoEdit {
    edited_from: Option<IgnoredAny>,
}

fn section(title: &str, calls: &[&Fields<'_>], out: &mut dyn Write) -> io::Result<()> {
    if calls.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{title}")?;
    for call in calls {
        let [ticket, tool, badge, by] =
            [&call.ticket, &call.tool, &call.badge, &call.by].map(|text| text.as_deref().unwrap_or("-"));
        let reason = call.why().reason.filter(|_| call.verdict() == Some(VerdictWord::Deny));
        let remark = match (call.detail::<DemoEdit>().unwrap_or_default().edited_from, reason) {
            (Some(_), _) => ", edited before it ran".to_owned(),
            (None, Some(reason)) => format!(": {}", visible(&reason)),
            (None, None) => String::new(),
        };
        writeln!(out, "  {ticket:<9} {tool:<17} {badge:<8} by {by}{remark}")?;
    }
    Ok(())
}

struct Workspace {
    files: BTreeMap<String, Vec<u8>>,
    tables: [Vec<String>; 3],
}

impl Workspace {
    fn of(work: &Path) -> Result<Self, Error> {
        let mut files = BTreeMap::new();
        collect(work, "", &mut files).map_err(failed)?;
        let mut tables: [Vec<String>; 3] = Default::default();
        for (table, found) in TABLES.iter().zip(&mut tables) {
            let all = rows(work, &format!("SELECT * FROM {table} ORDER BY id")).map_err(failed)?;
            *found = all.iter().map(ToString::to_string).collect();
        }
        Ok(Self { files, tables })
    }

    /// What is different after it: `report.md appears`, `drafts/a.md is gone`, `sessions: 5 rows -> 2`.
    fn changes(&self, after: &Self) -> Vec<String> {
        let names: BTreeSet<&String> = self.files.keys().chain(after.files.keys()).collect();
        let file = |name: &String| match (self.files.get(name), after.files.get(name)) {
            (_, None) => Some(format!("{name} is gone")),
            (None, Some(_)) => Some(format!("{name} appears")),
            (before, now) => (before != now).then(|| format!("{name} changes")),
        };
        let table = |((table, before), now): ((&&str, &Vec<String>), &Vec<String>)| {
            let rows = format!("{table}: {} rows -> {}", before.len(), now.len());
            let said = if before.len() == now.len() { format!("{table}: rows change") } else { rows };
            (before != now).then_some(said)
        };
        let tables = TABLES.iter().zip(&self.tables).zip(&after.tables).filter_map(table);
        names.into_iter().filter_map(file).chain(tables).collect()
    }
}

/// SQLite's files are read through its tables instead.
fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{name}/"), files)?;
        } else if !name.starts_with(SHOP_FILE) {
            files.insert(name, fs::read(entry.path())?);
        }
    }
    Ok(())
}
