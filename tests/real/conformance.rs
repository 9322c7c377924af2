//! The official conformance suite against one server, with and without the wrapper in front of it: it must find the
//! same, whatever it finds. It speaks HTTP, so a bridge stands between; what it says of HTTP is about the bridge.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use mcp_approve::link::message::OperatorVerdict;
use serde_json::Value;

use super::bed::bed;
use super::operator::{Manner, Operator};
use super::play::run_out;

/// One revision of each era.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// What the suite found: the results of every check, by scenario and check.
type Found = BTreeMap<(String, String), Vec<String>>;

#[test]
#[ignore = "installs the suite; `.ci/run full` runs it"]
fn the_official_suite_finds_the_same_with_and_without_the_wrapper() {
    let folder = tempfile::tempdir().unwrap();
    let server = vec!["node".into(), bed().script("conform.mjs")];
    println!("| revision | checks | passed, direct | passed, wrapped | calls that waited | not the same |");
    println!("|---|---|---|---|---|---|");
    let mut differing = Vec::new();
    for revision in REVISIONS {
        let direct = suite(&folder.path().join(format!("direct-{revision}")), revision, &server);
        let home = folder.path().join(format!("home-{revision}"));
        let wrapper = [env!("CARGO_BIN_EXE_mcp-approve"), "--home", home.to_str().unwrap(), "--"].map(String::from);
        let manner = Manner { verdict: OperatorVerdict::Approve { unread: false }, after: Duration::ZERO };
        let operator = Operator::attach(&home, manner, String::new);
        let out = folder.path().join(format!("wrapped-{revision}"));
        let wrapped = suite(&out, revision, &[&wrapper[..], &server].concat());
        let asked = operator.leave().asked.len();
        let differs: Vec<_> =
            direct.keys().chain(wrapped.keys()).filter(|key| direct.get(key) != wrapped.get(key)).collect();
        println!(
            "| {revision} | {} | {} | {} | {asked} | {} |",
            direct.values().map(Vec::len).sum::<usize>(),
            passed(&direct),
            passed(&wrapped),
            differs.len(),
        );
        for key in differs {
            differing.push(format!("{revision} {key:?}: direct {:?}, wrapped {:?}", direct.get(key), wrapped.get(key)));
        }
        let failed = direct.iter().filter(|(_, results)| results.contains(&"FAILURE".into()));
        let failed: Vec<_> = failed.map(|((_, check), _)| check.as_str()).collect();
        println!("in both, of {revision}, failed: {}", failed.join(", "));
        assert!(passed(&direct) > 50 && asked > 10, "the suite did not reach the server");
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

fn passed(found: &Found) -> usize {
    found.values().flatten().filter(|result| *result == "SUCCESS").count()
}

/// Runs the suite's server scenarios of one revision against a server on stdio.
fn suite(out: &Path, revision: &str, server: &[String]) -> Found {
    let mut bridge = bed().bridge(server).stdout(Stdio::piped()).spawn().unwrap();
    let mut port = String::new();
    BufReader::new(bridge.stdout.take().unwrap()).read_line(&mut port).unwrap();
    let mut command = bed().suite();
    command.args(["server", "--suite", "all", "--spec-version", revision, "--output-dir"]).arg(out);
    command.arg("--url").arg(format!("http://127.0.0.1:{}/mcp", port.trim()));
    // It ends with 1 where a check fails.
    run_out(command, &out.with_extension("said"), &[0, 1]);
    bridge.kill().unwrap();
    bridge.wait().unwrap();
    let mut found = Found::new();
    for scenario in fs::read_dir(out).unwrap().map(|entry| entry.unwrap().path()) {
        let name = scenario.file_name().unwrap().to_str().unwrap();
        let name = name[..name.len() - "-2026-07-28T12-00-00-000Z".len()].to_owned();
        for check in checks(&scenario.join("checks.json")) {
            let result = check["status"].as_str().unwrap().into();
            found.entry((name.clone(), check["id"].as_str().unwrap().into())).or_default().push(result);
        }
    }
    found.values_mut().for_each(|results| results.sort_unstable());
    found
}

fn checks(file: &PathBuf) -> Vec<Value> {
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}
