//! What is called a danger, counted over calls of real servers that a person labelled first: a danger that is mostly none trains
//! people to press the second key unread.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use mcp_approve::behavior::agreed::Agreements;
use mcp_approve::behavior::arguments::base::{self, Bases};
use mcp_approve::behavior::arguments::key::Said;
use mcp_approve::behavior::arguments::path::path_arguments;
use mcp_approve::behavior::conclude::{Behavior, Overrides, Trust, of_described_call, of_tool_with};
use mcp_approve::behavior::curated::Curated;
use mcp_approve::behavior::shape::{self, Keys, Known, PathStates, Places};
use mcp_approve::gate::call::danger::danger;
use mcp_approve::gate::call::effect_line::effect;
use mcp_approve::gate::data::facts::{Facts, Findings, Look};
use mcp_approve::gate::held::target;
use mcp_approve::interpose::facts::{PathBase, Projects, found};
use mcp_approve::mcp::tool::Tool;
use serde_json::Value;

/// The least share of calls with a danger of one kind that a person calls dangerous, in hundredths.
const LEAST: usize = 80;
/// Kinds with fewer calls than these are shown, and not judged.
const FEW: usize = 3;

/// One labelled call, judged.
struct Judged {
    row: Value,
    behavior: Behavior,
    effect: String,
    /// The danger, one kind each.
    kinds: Vec<String>,
}

impl Judged {
    fn is_dangerous(&self) -> bool {
        self.row["dangerous"] != "no"
    }

    fn line(&self) -> String {
        let wrong = match (self.is_dangerous(), self.kinds.is_empty()) {
            (true, true) => "MISSED",
            (false, false) => "ALARM",
            (true, false) => "ok",
            (false, true) => "",
        };
        let [server, tool] = ["server", "tool"].map(|key| self.row[key].as_str().unwrap());
        let (badge, words) = (self.behavior.badge().word(), self.behavior.identity.words());
        format!("{wrong}\t{server}.{tool}\t{badge}\t{words}\t{}\t{}", self.effect, self.kinds.join("; "))
    }
}

fn fixture(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dangers").join(name)
}

/// The small project that `{work}` is.
fn project(work: &Path) {
    for (name, text) in [
        ("notes/todo.md", "- call Bob\n"),
        ("src/main.rs", "fn main() {}\n"),
        ("src/lib.rs", "pub fn a() {}\n"),
        ("Cargo.toml", "[package]\n"),
        (".env", "TOKEN=x\n"),
        (".git/HEAD", "ref: refs/heads/main\n"),
        ("docs/logo.png", "PNG"),
        ("docs/plan.xlsx", "PK"),
        ("docs/plan.ipynb", "{}"),
        ("charts/Chart.yaml", "name: web\n"),
    ] {
        fs::create_dir_all(work.join(name).parent().unwrap()).unwrap();
        fs::write(work.join(name), text).unwrap();
    }
}

fn judged() -> Vec<Judged> {
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().canonicalize().unwrap();
    project(&work);
    let unpacked = Command::new("gzip").arg("-dc").arg(fixture("definitions.jsonl.gz")).output().unwrap();
    let mut tools = BTreeMap::new();
    for server in String::from_utf8(unpacked.stdout).unwrap().lines() {
        let server: Value = serde_json::from_str(server).unwrap();
        let curated = Curated::of_package(server["package"].as_str().unwrap());
        for definition in server["tools"].as_array().unwrap() {
            let tool = Tool::read(definition.clone()).unwrap();
            let overrides = Overrides { curated: curated.find(&tool.digest()), ..Overrides::default() };
            let described = of_tool_with(&tool, Trust::Corroborate, overrides);
            let given = curated.given(&tool.digest());
            let keys = Keys::of(&tool, described.identity.action, &described.evidence, given.as_ref());
            let name = (server["server"].as_str().unwrap().to_owned(), tool.name.clone());
            tools.insert(name, (tool, described, keys));
        }
    }
    let calls = fs::read_to_string(fixture("calls.jsonl")).unwrap();
    let calls = calls.replace("{work}", work.to_str().unwrap());
    let judge = |row: &str| {
        let row: Value = serde_json::from_str(row).unwrap();
        let name = ["server", "tool"].map(|key| row[key].as_str().unwrap().to_owned());
        let (tool, described, keys) = &tools[&name.into()];
        let arguments = &row["with"];
        let mut behavior = of_described_call(Some(tool), &Said::of(tool), described, arguments).behavior;
        let base = PathBase { home: None, folder: Some(work.clone()) };
        let until = Instant::now() + Duration::from_secs(60);
        let look = |wanted: &Look| found(&base, wanted, &mut Projects::default(), until);
        let (agreed, mut path_states) = (Agreements::default(), PathStates::new());
        let places = Places { folders: vec![work.to_str().unwrap().to_owned()], home: None, own: Vec::new() };
        for _ in 0..2 {
            let known = Known { agreed: &agreed, places: &places, roots: &[], path_states: &path_states };
            behavior.shape = shape::of_call(Some(tool), keys, arguments, known);
            let places = std::mem::take(&mut behavior.shape.wanted).into_iter().collect();
            path_states.extend(look(&Look { places, ..Look::default() }).path_states);
        }
        let files = path_arguments(arguments).paths;
        let mut seen = look(&Look { files, ..Look::default() });
        let bases = Bases::of(arguments);
        for one in seen.files.iter_mut().filter(|one| base::is_relative(&one.path) && !bases.leave(&one.argument)) {
            *one = Facts::unseen(&one.argument, &one.path, base::CHOSEN);
        }
        let seen: Option<&Findings> = Some(&seen);
        let about = target::of(&behavior, arguments);
        let line = effect(&behavior, &tool.name, arguments, about.as_deref(), seen);
        let danger = danger(&behavior, &tool.name, arguments, seen);
        let kinds = danger.iter().flat_map(|danger| danger.split("; ")).map(str::to_owned).collect();
        Judged { row, behavior, effect: line.replace(work.to_str().unwrap(), "{work}"), kinds }
    };
    // The first row is a note on the others.
    calls.lines().skip(1).map(judge).collect()
}

#[test]
fn d10_what_is_called_a_danger_is_one_in_four_calls_of_five() {
    let judged = judged();
    let mut kinds: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for one in &judged {
        println!("{}", one.line());
        for kind in &one.kinds {
            let (all, right) = kinds.entry(kind).or_default();
            *all += 1;
            *right += usize::from(one.is_dangerous());
        }
    }
    let asked = judged.iter().filter(|one| !one.kinds.is_empty());
    let right = asked.clone().filter(|one| one.is_dangerous()).count();
    let dangerous = judged.iter().filter(|one| one.is_dangerous()).count();
    println!("\ncalls\tdangerous\tshare\tkind");
    let share = |right: usize, all: usize| right * 100 / all.max(1);
    for (kind, (all, right)) in &kinds {
        println!("{all}\t{right}\t{} %\t{kind}", share(*right, *all));
    }
    let asked = asked.count();
    println!(
        "{asked}\t{right}\t{} %\tany; {right} of {dangerous} dangerous calls of {}",
        share(right, asked),
        judged.len()
    );
    for (kind, (all, right)) in kinds {
        assert!(all < FEW || share(right, all) >= LEAST, "{kind}: {right} of {all}");
    }
}
