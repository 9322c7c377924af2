//! Plays two days of an engineer's agent on ten servers: `cargo bench --bench session`. How many calls that change nothing are
//! asked about, when the operator answers each question with `p`? `workload.rs` draws the calls; they are judged as the gate does.
//!
//! `--list` prints each question; `--then FILE…` judges tables of calls (`judging.rs`) on what the session left agreed to, and
//! prints what runs unasked there and not on a new home. Five servers are ours; five are drawn from the curated ones.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench tells what it did, and has nobody to report to"
)]

mod judging;
mod workload;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use judging::{Outcome, Session, Tools, answer, cut};
use mcp_approve::behavior::agreed::{Agreements, What};
use mcp_approve::behavior::conclude::{Behavior, Overrides, Trust, of_tool_with};
use mcp_approve::behavior::curated::{Curated, LISTS};
use mcp_approve::behavior::shape::{Given, New};
use mcp_approve::behavior::taxonomy::Mutability;
use mcp_approve::capability::schema::{Fits, Schema};
use mcp_approve::mcp::tool::Tool;
use serde_json::Value;
use workload::{Call, Chance};

/// The definitions, as each server published them: five of ours, five drawn, and those beside the ten.
#[rustfmt::skip]
const SERVERS: [(&str, &str); 12] = [
    ("filesystem", include_str!("../fixtures/session/filesystem.json")),
    ("git", include_str!("../fixtures/session/git.json")),
    ("github", include_str!("../fixtures/session/github.json")),
    ("context7", include_str!("../fixtures/session/context7.json")),
    ("postgres", include_str!("../fixtures/session/postgres.json")),
    ("fetch", include_str!("../fixtures/session/fetch.json")),
    ("map", include_str!("../fixtures/session/map.json")),
    ("amap", include_str!("../fixtures/session/amap.json")),
    ("obsidian", include_str!("../fixtures/session/obsidian.json")),
    ("calculator", include_str!("../fixtures/session/calculator.json")),
    ("ripgrep", include_str!("../fixtures/session/ripgrep.json")),
    ("playwright", include_str!("../fixtures/session/playwright.json")),
];
/// Played beside the ten and counted apart: searches by pattern, and looks at a browser.
const BESIDE: [&str; 2] = ["ripgrep", "playwright"];

/// The issue that asked for this bench: any other number would have done.
const DRAWN_WITH: u64 = 24;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (files, flags): (Vec<&String>, Vec<&String>) = words.iter().partition(|word| !word.starts_with("--"));
    let lists = flags.iter().any(|flag| *flag == "--list");
    let (days, on_disk) = workload::days();
    let mut servers: BTreeMap<&str, Server> =
        SERVERS.iter().map(|(name, text)| (*name, Server::of(text, &on_disk))).collect();
    check_drawn(&servers);
    let played = days.map(|calls| calls.iter().map(|call| play(call, &mut servers)).collect::<Vec<_>>());
    for (name, day) in ["day one", "day two"].into_iter().zip(&played) {
        tell(name, day);
        if lists {
            day.iter().filter(|one| one.asked.is_some()).for_each(|one| println!("  {}", one.shown));
        }
    }
    for (name, day, wanted) in [("day one", &played[0], 5), ("day two", &played[1], 1)] {
        let counts = Counts::of(day.iter().filter(|one| !one.changes && !one.is_beside()));
        println!("{name}: {} (wanted: at most {wanted} %)", counts.line());
    }
    if flags.iter().any(|flag| *flag == "--then") {
        let agreed: Agreements = servers.values().flat_map(|server| server.agreed.iter().cloned()).collect();
        println!("\n{} agreements are left", agreed.len());
        files.iter().for_each(|file| then(file, &agreed));
    }
}

/// One server of the session.
struct Server {
    package: String,
    tools: BTreeMap<String, Known>,
    session: Session,
    agreed: Agreements,
}

struct Known {
    tool: Tool,
    described: Behavior,
    given: Option<Arc<Given>>,
    input: Schema,
}

impl Server {
    fn of(text: &str, on_disk: &BTreeSet<String>) -> Self {
        let server: Value = serde_json::from_str(text).unwrap();
        let package = server["package"].as_str().unwrap().to_owned();
        let command: Vec<String> = serde_json::from_value(server["command"].clone()).unwrap();
        let curated = Curated::of_package(&package);
        let known = |definition: &Value| {
            let tool = Tool::read(definition.clone()).unwrap();
            let digest = tool.digest();
            let told = Overrides { curated: curated.find(&digest), ..Overrides::default() };
            let described = of_tool_with(&tool, Trust::Corroborate, told);
            let input = Schema::compile(&tool.input_schema).unwrap();
            (tool.name.clone(), Known { described, given: curated.given(&digest), input, tool })
        };
        let tools: BTreeMap<String, Known> = server["tools"].as_array().unwrap().iter().map(known).collect();
        let not_curated = tools.values().filter(|known| known.given.is_none()).count();
        if not_curated > 0 {
            println!("{package}: {not_curated} of these definitions are not on our list");
        }
        let session = Session::of(&command).with_files(on_disk.clone());
        Self { package, tools, session, agreed: Agreements::default() }
    }
}

/// Says so if other servers would be drawn than are played.
fn check_drawn(servers: &BTreeMap<&str, Server>) {
    let mut chance = Chance(DRAWN_WITH);
    let mut left: Vec<&str> = LISTS.iter().map(|(package, _)| *package).collect();
    let drawn: BTreeSet<&str> = (0..5).map(|_| left.remove(chance.below(left.len()))).collect();
    let played: BTreeSet<&str> = SERVERS[5..10].iter().map(|(name, _)| servers[name].package.as_str()).collect();
    if drawn != played {
        println!("the curated servers are others now: {drawn:?} would be drawn, and {played:?} are played");
    }
}

/// One call, answered.
struct Played {
    server: String,
    changes: bool,
    /// What the question was about; `None` where it ran unasked.
    asked: Option<Asked>,
    shown: String,
}

struct Asked {
    /// Each thing that is new, as it is counted.
    groups: BTreeSet<String>,
    of: Of,
}

/// What a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    /// Nothing is new but hosts, or hosts and folders.
    Host,
    Folder,
    Value,
}

fn play(call: &Call, servers: &mut BTreeMap<&str, Server>) -> Played {
    let server = servers.get_mut(call.server.as_str()).unwrap();
    let known = server.tools.get(&call.tool).unwrap_or_else(|| panic!("{} has no {}", call.server, call.tool));
    let fits = known.input.check(&call.arguments);
    assert!(fits == Fits::Yes, "{} {} {}: {fits:?}", call.server, call.tool, call.arguments);
    let Known { tool, described, given, .. } = known;
    let outcome = server.session.judge_given(tool, described, given.as_ref(), &call.arguments, &server.agreed);
    let asked = (!outcome.runs).then(|| asked(call, &outcome));
    let reads = outcome.behavior.identity.mutability == Mutability::Pure;
    if reads && !outcome.behavior.disputed {
        answer(&outcome, &mut server.agreed);
    }
    let shown = format!(
        "{}{} {} {}\t{}",
        if call.changes { "CHANGES " } else { "" },
        call.server,
        call.tool,
        cut(&call.arguments.to_string()),
        cut(&outcome.why)
    );
    Played { server: call.server.clone(), changes: call.changes, asked, shown }
}

fn asked(call: &Call, outcome: &Outcome) -> Asked {
    let behavior = &outcome.behavior;
    let tool = format!("{} {}", call.server, call.tool);
    let reads = behavior.identity.mutability == Mutability::Pure;
    // A file's name that is taken for a host is no new host.
    let is_address = |new: &New| {
        call.arguments.pointer(&new.pointer).and_then(Value::as_str).is_some_and(|text| text.contains("://"))
    };
    let is_of = |new: &New| match new.agree.as_ref().map(|agree| agree.what) {
        Some(What::Host) if is_address(new) => Of::Host,
        Some(What::Folder | What::File) => Of::Folder,
        _ => Of::Value,
    };
    let kinds: Vec<Of> = behavior.shape.new.iter().map(is_of).collect();
    let is_plain = behavior.hazards.is_empty() && reads && !kinds.contains(&Of::Value);
    let of = match kinds.contains(&Of::Host) {
        _ if !is_plain => Of::Value,
        true => Of::Host,
        false => Of::Folder,
    };
    let group = |(new, of): (&New, &Of)| match (of, new.agree.as_ref()) {
        (Of::Host, _) => "a new host".to_owned(),
        (Of::Folder, _) => "a new folder".to_owned(),
        (Of::Value, Some(agree)) => format!("{tool} {} ({})", without_index(&new.pointer), agree.what.word()),
        (Of::Value, None) => format!("{tool} {} (asks every time)", without_index(&new.pointer)),
    };
    let mut groups: BTreeSet<String> = match reads {
        true => behavior.shape.new.iter().zip(&kinds).map(group).collect(),
        false => [format!("{tool} (said to change something)")].into(),
    };
    groups.extend(behavior.hazards.iter().map(|hazard| format!("{tool} (hazard: {:?})", hazard.kind)));
    Asked { groups, of }
}

fn without_index(pointer: &str) -> String {
    let is_index = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    pointer
        .split('/')
        .map(|part| if !part.is_empty() && is_index(&part) { "*" } else { part })
        .collect::<Vec<_>>()
        .join("/")
}

#[derive(Default)]
struct Counts {
    calls: usize,
    asked: usize,
    hosts: usize,
    folders: usize,
}

impl Counts {
    fn of<'a>(all: impl Iterator<Item = &'a Played>) -> Self {
        let mut counts = Self::default();
        for one in all {
            counts.calls += 1;
            let Some(asked) = &one.asked else { continue };
            counts.asked += 1;
            counts.hosts += usize::from(asked.of == Of::Host);
            counts.folders += usize::from(asked.of == Of::Folder);
        }
        counts
    }

    fn line(&self) -> String {
        let Self { calls, asked, hosts, folders } = self;
        let rest = asked - hosts - folders;
        let share = |part: usize| 100.0 * part as f64 / (*calls).max(1) as f64;
        format!(
            "{calls:4} calls that change nothing, asked {asked:3} ({:4.1} %): new hosts {hosts:2}, folders {folders:2}, the rest {rest:3} ({:4.1} %)",
            share(*asked),
            share(rest)
        )
    }
}

impl Played {
    fn is_beside(&self) -> bool {
        BESIDE.contains(&self.server.as_str())
    }
}

fn tell(name: &str, day: &[Played]) {
    println!("{name}");
    for (server, _) in SERVERS {
        let counts = Counts::of(day.iter().filter(|one| one.server == server && !one.changes));
        let beside = if BESIDE.contains(&server) { " (beside the ten)" } else { "" };
        println!("  {server:11} {}{beside}", counts.line());
    }
    let changes: Vec<&Played> = day.iter().filter(|one| one.changes).collect();
    let unasked = changes.iter().filter(|one| one.asked.is_none());
    println!("  calls that change something: {}, of them unasked {}", changes.len(), unasked.clone().count());
    unasked.for_each(|one| println!("    UNASKED {}", one.shown));
    let mut groups: BTreeMap<(bool, &str), usize> = BTreeMap::new();
    for one in day.iter().filter(|one| !one.changes) {
        for group in one.asked.iter().flat_map(|asked| &asked.groups) {
            *groups.entry((one.is_beside(), group)).or_default() += 1;
        }
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|((is_beside, group), count)| (*is_beside, std::cmp::Reverse(*count), *group));
    println!("  questions by what is new");
    for ((is_beside, group), count) in groups {
        println!("    {count:3} {group}{}", if is_beside { " (beside the ten)" } else { "" });
    }
    println!();
}

/// What of a table runs on the session's home, and not on a new one.
fn then(file: &str, agreed: &Agreements) {
    let text = std::fs::read_to_string(file).unwrap();
    let (new, after) = (judging::table(&text, Tools::Pinned), judging::table_after(&text, Tools::Pinned, agreed));
    let ran = |rows: &[judging::Row]| rows.iter().filter(|row| row.ran).count();
    println!("{file}: {} rows, on a new home {} run unasked, on the session's {}", new.len(), ran(&new), ran(&after));
    let only_after = after.iter().zip(&new).filter(|(after, new)| after.ran && !new.ran);
    only_after.for_each(|(row, _)| println!("  RAN {}", row.shown()));
}
