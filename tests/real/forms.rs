//! An official client that shows forms, before the wrapper with `--unattended elicit`: its user's answer decides.

use std::fs;

use serde_json::{Value, json};

use super::bed::{Client, bed};
use super::play::run_out;

#[test]
#[ignore = "installs real servers and clients; .ci/run runs it"]
fn an_official_client_asks_its_user_and_the_answer_decides() {
    println!("| the user | what the client reads |\n|---|---|");
    for (form, expected) in [
        (json!({ "action": "accept", "content": { "approve": true } }), "created urgent"),
        (json!({ "action": "accept", "content": { "approve": false } }), "NOT executed"),
        (json!({ "action": "decline" }), "NOT executed"),
        (json!({ "action": "cancel" }), "NOT executed"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let wrapper = [env!("CARGO_BIN_EXE_mcp-approve"), "--home", &path("home"), "--unattended", "elicit", "--"];
        let server = ["node", &bed().script("serve.mjs"), "ts1", &path(""), "labels"];
        let command = [&wrapper[..], &server[..]].concat();
        let plan = json!({
            "client": Client::Ts1.name(),
            "command": command,
            "steps": [{ "tool": "create_label", "arguments": { "name": "urgent" } }],
            "form": form,
        });
        let file = folder.path().join("plan.json");
        fs::write(&file, plan.to_string()).unwrap();
        let said = run_out(bed().driver(Client::Ts1, &file), &folder.path().join("said"), &[0]);
        let said: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let shown = said.iter().find_map(|line| line["form"].as_str()).expect("a form was shown");
        assert!(shown.contains(r#"arguments: {"name":"urgent"}"#), "{shown}");
        let text = said.last().and_then(|line| line["text"].as_str()).unwrap();
        assert!(text.contains(expected), "{form}: {text}");
        println!("| {form} | {} |", text.chars().take(60).collect::<String>());
    }
}
