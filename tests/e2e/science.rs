//! The demo's jobs and its laboratory, wrapped: roles, what the server tells while its host does nothing, and what the log has of
//! that.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::fake::BINARY;
use crate::fake::host::Host;
use crate::fake::log;

fn write(place: &Path, text: &str) {
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(place, text).unwrap();
    fs::set_permissions(place, fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn a_job_is_run_by_whoever_may_and_its_events_are_heard() {
    let (home, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::create_dir(work.path().join("jobs")).unwrap();
    write(
        &home.path().join("config/config.toml"),
        "[roles.scientist]\ninherits = \"analyst\"\ncapabilities = [\"jobs:*\"]\n",
    );
    write(
        &home.path().join("config/policy.toml"),
        "version = 1\n[[rule]]\nid = \"jobs\"\ndecision = \"allow\"\ntool = [\"run_job\", \"fetch_artifact\"]\n",
    );
    let server = [BINARY, "demo-server", work.path().to_str().unwrap()];
    let host = |role: &str| {
        let mut host = Host::wrapping(home.path(), &["--name", "lab", "--role", role], &server);
        host.handshake("2025-06-18");
        host
    };
    let job = json!({ "kind": "lammps", "params": { "timestep": 0.002, "skin": 2.0 } });
    let tools = |host: &mut Host| {
        host.request("list", "tools/list", &json!({}));
        let list = host.answer("list");
        let tools = list["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };

    let mut viewer = host("viewer");
    let listed = tools(&mut viewer);
    assert!(listed.contains(&"get_status".to_owned()) && listed.contains(&"fetch_artifact".to_owned()), "{listed:?}");
    for hidden in ["run_job", "write_file", "delete_file", "write_query", "cleanup_sessions"] {
        assert!(!listed.contains(&hidden.to_owned()), "{listed:?}");
    }
    viewer.call(1, "run_job", &job);
    let refused = viewer.answer(1)["error"]["message"].to_string();
    assert!(
        refused.contains("Permission denied: run_job: the role viewer ") && refused.contains("--role"),
        "{refused}"
    );

    let mut scientist = host("scientist");
    let listed = tools(&mut scientist);
    assert!(listed.contains(&"run_job".to_owned()) && !listed.contains(&"delete_file".to_owned()), "{listed:?}");
    scientist.request(1, "logging/setLevel", &json!({ "level": "info" }));
    scientist.answer(1);
    scientist.call(2, "run_job", &job);
    let started = scientist.answer(2)["result"]["structuredContent"].clone();
    assert_eq!(started, json!({ "run_id": "run-1", "workdir": "jobs/run-1" }));
    viewer.call(2, "get_status", &json!({ "run_id": "run-1" }));
    let early = viewer.answer(2)["result"]["structuredContent"].clone();
    assert!(early["state"] == "pending" || early["state"] == "running", "{early}");
    let events: Vec<Value> =
        [scientist.line(), scientist.line()].map(|line| line["params"]["data"]["event"].clone()).into();
    assert_eq!(events, ["on_job_started", "on_job_complete"]);

    viewer.call(3, "get_status", &json!({ "run_id": "run-1" }));
    let status = viewer.answer(3)["result"]["structuredContent"].clone();
    assert_eq!((&status["state"], &status["rc"]), (&json!("finished"), &json!(0)), "{status}");
    assert!(
        status["logs_tail"].as_str().unwrap().ends_with("ns/day") && status["metrics"]["drift_ppm"] == 82.48,
        "{status}"
    );
    for (artifact, holds) in [("metrics.json", "ns_per_day"), ("log.lammps", "TotEng"), ("params.vars", "skin equal 2")]
    {
        viewer.call(artifact, "fetch_artifact", &json!({ "run_id": "run-1", "path": artifact }));
        let text = viewer.answer(artifact)["result"]["content"][0]["text"].to_string();
        assert!(text.contains(holds), "{artifact}: {text}");
    }
    let lost = json!({ "kind": "lammps", "params": { "timestep": 0.005, "skin": 2.0 } });
    scientist.call(3, "run_job", &lost);
    scientist.answer(3);
    scientist.line();
    assert_eq!(scientist.line()["params"]["data"]["event"], "on_job_failed");
    viewer.call(4, "get_status", &json!({ "run_id": "run-2" }));
    let status = viewer.answer(4)["result"]["structuredContent"].clone();
    assert_eq!((&status["state"], &status["rc"]), (&json!("error"), &json!(1)), "{status}");
    // Where a log does not say the speed, it follows from the loop time.
    scientist.call(8, "run_job", &json!({ "kind": "synthetic", "params": { "timestep": 0.002, "skin": 2.0 } }));
    scientist.answer(8);
    scientist.line();
    assert_eq!(scientist.line()["params"]["data"]["run_id"], "run-3");
    viewer.call(8, "get_status", &json!({ "run_id": "run-3" }));
    let slower = viewer.answer(8)["result"]["structuredContent"].clone();
    assert!(!slower["logs_tail"].to_string().contains("ns/day"), "{slower}");
    let speed = slower["metrics"]["ns_per_day"].as_f64().unwrap();
    assert!((speed - 209.52).abs() < 0.1, "{slower}");
    // One that its server did not see end is an error once a server looks again.
    scientist.call(4, "run_job", &job);
    scientist.answer(4);
    scientist.hang_up();
    scientist.wait();
    let mut viewer = host("viewer");
    viewer.call(1, "get_status", &json!({ "run_id": "run-4" }));
    let status = viewer.answer(1)["result"]["structuredContent"].clone();
    assert_eq!((&status["state"], &status["rc"]), (&json!("error"), &json!(-1)), "{status}");
    assert!(status["logs_tail"].as_str().unwrap().contains("interrupted"), "{status}");
    viewer.hang_up();
    viewer.wait();

    // What the server told is in the log, each with its payload, and in the searches.
    let events = events_of(home.path(), "on_job");
    let told: Vec<&Value> = events.iter().map(|record| &record["target"]).collect();
    assert!(told.contains(&&json!("on_job_started")) && told.contains(&&json!("on_job_failed")), "{told:?}");
    let complete = events.iter().find(|record| record["target"] == "on_job_complete").unwrap();
    assert_eq!(complete["arguments"]["data"]["run_id"], "run-1", "{complete}");
    let seq = complete["seq"].to_string();
    let shown = String::from_utf8(log::run(home.path(), &["show", &seq]).stdout).unwrap();
    assert!(shown.contains("on_job_complete") && shown.contains("run-1"), "{shown}");
}

fn events_of(home: &Path, search: &str) -> Vec<Value> {
    let out = log::run(home, &["list", "--json", "--limit", "1000", "--records", "kind:=event", search]);
    serde_json::from_slice(&out.stdout).unwrap()
}

#[test]
fn a_promising_catalyst_is_told_of_and_what_was_read_is_under_the_rules() {
    let (home, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(
        &home.path().join("config/policy.toml"),
        "version = 1\n[[rule]]\nid = \"lab\"\ndecision = \"allow\"\ntool = [\"run_dft\", \"append_notebook_entry\"]\n\
         [[rule]]\nid = \"unpublished\"\ndecision = \"redact\"\nresult = { glob = \"*exp-12*\" }\n",
    );
    let server = [BINARY, "demo-server", work.path().to_str().unwrap()];
    let mut host = Host::wrapping(home.path(), &["--name", "lab"], &server);
    host.handshake("2025-06-18");
    host.request(1, "logging/setLevel", &json!({ "level": "info" }));
    host.answer(1);
    host.request(2, "resources/subscribe", &json!({ "uri": "lab:///notebook.md" }));
    host.answer(2);
    host.request(3, "prompts/get", &json!({ "name": "generate_experiment_plan", "arguments": { "goal": "methanol" } }));
    assert!(host.answer(3)["result"]["messages"][0]["content"]["text"].to_string().contains("Goal: methanol"));
    host.request("trends", "prompts/get", &json!({ "name": "analyze_trends" }));
    let trends = host.answer("trends")["result"]["messages"][0]["content"]["text"].to_string();
    assert!(trends.contains("adsorption energy") && trends.contains("lab:///dft_results"), "{trends}");
    host.request(4, "resources/read", &json!({ "uri": "lab:///catalyst_db.json" }));
    let read = host.answer(4)["result"]["contents"][0]["text"].to_string();
    assert!(read.contains("ZnO") && !read.contains("exp-12") && read.contains("redacted by mcp-approve"), "{read}");
    host.call(5, "run_dft", &json!({ "structure": "NiAl2O3", "adsorbate": "CO2" }));
    assert_eq!(host.answer(5)["result"]["structuredContent"]["adsorption_energy"], -0.87, "above the threshold");
    host.call(6, "run_dft", &json!({ "structure": "CuZnO", "adsorbate": "CO2" }));
    let uri = host.answer(6)["result"]["structuredContent"]["result_uri"].clone();
    let told = host.line()["params"]["data"].clone();
    let payload = json!({ "catalyst": "CuZnO", "adsorption_energy": -1.23, "result_uri": uri });
    assert_eq!(told, json!({ "event": "new_promising_catalyst", "payload": payload }));
    host.call(7, "append_notebook_entry", &json!({ "entry": "exp-47: CuZnO" }));
    host.answer(7);
    assert_eq!(host.line()["method"], "notifications/resources/updated");
    host.request(8, "resources/read", &json!({ "uri": uri }));
    assert!(host.answer(8)["result"]["contents"][0]["text"].to_string().contains("-1.23"));
    host.hang_up();
    host.wait();
    let events = events_of(home.path(), "lab");
    let targets: Vec<&Value> = events.iter().map(|record| &record["target"]).collect();
    assert_eq!(targets, ["new_promising_catalyst", "lab:///notebook.md"]);
    assert_eq!(events[0]["arguments"]["data"]["payload"]["adsorption_energy"], -1.23);
}
