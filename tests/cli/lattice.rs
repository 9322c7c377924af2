//! The lattice commands: what they print of files, of a running server and of the log, and what they say to bad input.

use serde_json::{Value, json};

use super::Home;
use crate::fake::host::Host;
use crate::fake::server::{Server, reader, says};

const WAS: &str = r#"{"tools":[{"name":"read","inputSchema":{"properties":{"path":{"type":"string"}},"required":["path"]}},
    {"name":"gone","inputSchema":{}}]}"#;
const IS: &str = r#"{"tools":[{"name":"read","inputSchema":{"properties":{"path":{"type":"string"},"url":{"type":"string"}},
    "required":["path"]}},{"name":"new","inputSchema":{}}]}"#;

fn file(home: &Home, name: &str, text: &str) -> String {
    home.write(name, text).display().to_string()
}

#[test]
fn capabilities_are_listed_met_joined_and_compared() {
    let home = Home::new();
    let (was, is) = (file(&home, "was.json", WAS), file(&home, "is.json", IS));
    let listed = home.run(&["lattice", "caps", &was]);
    assert_eq!(listed.out, "gone() -> Value\nread(path: String) -> Value\n2 capabilities\n");
    let types = home.run(&["lattice", "caps", "--types", &was]);
    assert_eq!(types.out, "gone : any -> any\nread : {\"path\":string,} -> any\n");
    let met = home.run(&["lattice", "meet", &was, &is]);
    assert_eq!(met.out, "0 capabilities\n", "a wider argument type is another capability");
    let joined: Value = serde_json::from_str(&home.run(&["lattice", "join", "--json", &was, &is]).out).unwrap();
    assert_eq!(joined.as_array().unwrap().len(), 4);
    let differ = home.run(&["lattice", "diff", &was, &is]);
    assert_eq!((differ.code, differ.out.lines().count()), (1, 4));
    assert!(differ.out.contains("~ read(path: String) -> Value\n  read(path: String, url: Option<String>) -> Value\n"));
    let same = home.run(&["lattice", "diff", &was, &was]);
    assert_eq!((same.code, same.out.as_str()), (0, "Both can do the same.\n"));
}

#[test]
fn a_workflow_is_checked_with_its_manifests_beside_it() {
    let home = Home::new();
    file(&home, "files.json", WAS);
    let workflow = "[agent.lead]\nservers = ['files.json']\n[agent.worker]\nservers = ['files.json']\nallow = ['read']\n\
                    [[delegate]]\nfrom = 'lead'\nto = 'worker'\n";
    let path = file(&home, "workflow.toml", workflow);
    let checked = home.run(&["lattice", "check", &path]);
    assert_eq!(checked.code, 1);
    assert_eq!(
        checked.out,
        "worker receives gone, which it may not have\n  by lead → worker\n2 agents: 1 tool is received outside of a list.\n"
    );
    let json: Value = serde_json::from_str(&home.run(&["lattice", "check", "--json", &path]).out).unwrap();
    assert_eq!(json["breaches"][0]["path"], json!(["lead", "worker"]));
    let narrow = file(&home, "narrow.toml", &format!("{workflow}only = ['read']\n"));
    assert_eq!(home.run(&["lattice", "check", &narrow]).code, 0);
}

#[test]
fn what_is_no_manifest_is_said_with_a_way_on() {
    let home = Home::new();
    let (text, missing) = (file(&home, "text.json", "{\"a\": 1}"), home.path("none.json").display().to_string());
    let odd = file(&home, "odd.toml", "[agent.a]\nservers = ['none.json']\n");
    for (args, expected) in [
        (vec!["lattice", "caps", &text], "no list of tools"),
        (vec!["lattice", "caps", &missing], "cannot be read"),
        (vec!["lattice", "caps"], "nothing to read capabilities from"),
        (vec!["lattice", "check", &text], "text.json"),
        (vec!["lattice", "check", &odd], "none.json"),
        (vec!["lattice", "codegen", "--lang", "cobol", &text], "rust csharp"),
        (vec!["lattice", "codegen", "--lang", "csharp", "--typed", &text], "--typed is for Rust"),
        (vec!["lattice", "caps", "--", "true"], "it ended before"),
        (vec!["lattice", "caps", "--", "/no/such/server"], "could not be started"),
        (vec!["lattice", "caps", "--since", "1d", &text], "--from-log"),
    ] {
        let run = home.run(&args);
        assert!(run.code == 2 && run.err.contains(expected), "{args:?}: {run:?}");
    }
}

/// A home in which a server `files` was wrapped, with two tools of which one was used.
fn used(server: &Server, name: &str) -> Home {
    let home = Home::new();
    let mut host = Host::wrapping(&home.path(""), &["--name", name], &server.command());
    host.handshake("2025-06-18");
    host.call(1, "read", &json!({}));
    host.answer(1);
    host.hang_up();
    host.wait();
    home
}

/// Every command of the help topic does what it says.
#[test]
fn the_topic_is_right_about_capabilities() {
    let chapter = include_str!("../../assets/help/capabilities.md");
    let commands = chapter.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let server =
        Server::with(&[reader("read"), reader("list")]).on("read", json!({ "answer": { "result": says("x") } }));
    let home = used(&server, "files");
    let workflow = "[agent.lead]\nservers = ['manifest.json']\n";
    let beside = [file(&home, "manifest.json", WAS), file(&home, "workflow.toml", workflow)];
    assert_eq!(commands.lines().count(), 5);
    for line in commands.lines() {
        let words = line.split('#').next().unwrap().split_whitespace();
        let words: Vec<&str> =
            words.map(|word| beside.iter().find(|file| file.ends_with(word)).map_or(word, String::as_str)).collect();
        assert_eq!(words[0], "mcp-approve", "{line}");
        let run = home.run(&words[1..]);
        assert!(run.code == 0 && run.err.is_empty() && !run.out.is_empty(), "{line}: {run:?}");
    }
}

#[test]
fn a_running_server_is_asked_and_what_was_used_is_the_smallest_scope() {
    let home = Home::new();
    let server =
        Server::with(&[reader("read"), reader("list")]).on("read", json!({ "answer": { "result": says("x") } }));
    let command = server.command();
    let mut args = vec!["lattice", "caps", "--"];
    args.extend(command.iter().map(String::as_str));
    assert!(home.run(&args).out.ends_with("2 capabilities\n"), "{:?}", home.run(&args));

    let home = used(&server, "s");
    let used = home.run(&["lattice", "caps", "--from-log"]);
    assert!(used.out.contains("s: 1 of 2 tools were used"), "{used:?}");
    let scope = home.run(&["lattice", "caps", "--from-log", "--server", "s", "--scope"]).out;
    let scope: Value = serde_json::from_str(&scope).unwrap();
    let names: Vec<&Value> = scope["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["read"]);
    assert!(home.run(&["lattice", "caps", "--from-log", "--server", "other"]).out.contains("No server of that name"));
}
