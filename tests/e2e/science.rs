//! The demo's jobs under roles: who only looks sees how they stand and what they left; who may run one hears of its events.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::fake::BINARY;
use crate::fake::host::Host;

fn write(place: &std::path::Path, text: &str) {
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
    let job = json!({ "kind": "synthetic", "params": { "timestep": 0.002, "skin": 2.0 } });
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
    assert_eq!(scientist.answer(2)["result"]["structuredContent"]["run_id"], "run-1");
    let events: Vec<Value> =
        [scientist.line(), scientist.line()].map(|line| line["params"]["data"]["event"].clone()).into();
    assert_eq!(events, ["on_job_started", "on_job_complete"]);

    viewer.call(2, "get_status", &json!({ "run_id": "run-1" }));
    assert_eq!(viewer.answer(2)["result"]["structuredContent"]["state"], "done");
    viewer.call(3, "fetch_artifact", &json!({ "run_id": "run-1", "path": "metrics.json" }));
    let artifact = viewer.answer(3);
    assert!(artifact["result"]["content"][0]["text"].as_str().unwrap().contains("energy"), "{artifact}");
}
