//! `mcp-approve doctor` on the hosts' lists, and `install --repair`: what is not wrapped, what wraps it, and how that is mended.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use mcp_approve::audit::store::Store;
use serde_json::{Value, json};

use super::{Home, Run};
use crate::fake::BINARY;
use crate::fake::host::Host;
use crate::fake::server::{Server, reader, writer};

impl Home {
    fn list(&self, file: &str, servers: &Value) {
        self.write(&format!("user/{file}"), &format!("{:#}\n", json!({ "mcpServers": servers })));
    }

    fn doctor(&self, options: &[&str]) -> Run {
        let user = self.path("user").display().to_string();
        self.run(&[&["doctor", "--hosts-home", &user], options].concat())
    }

    /// What doctor says of hosts, each with its state.
    fn hosts_of(&self, options: &[&str]) -> (i32, Vec<(String, String, Value)>) {
        let run = self.doctor(&[options, &["--json"]].concat());
        let rows: Vec<Value> = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{run:?}"));
        let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let hosts = rows.iter().filter(|row| row["about"] == "hosts");
        (run.code, hosts.map(|row| (text(row, "state"), text(row, "what"), row["fix"].clone())).collect())
    }

    fn program(&self, name: &str, text: &[u8]) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    }
}

fn wrapped(program: &str, home: &Home) -> Value {
    json!({ "command": program, "args": ["--home", home.path("."), "--name", "s", "--", "npx", "-y", "some-server"] })
}

#[test]
fn what_is_not_wrapped_is_named_and_strict_fails_unless_it_is_allowed() {
    let home = Home::new();
    assert_eq!((home.doctor(&[]).code, home.doctor(&["--strict"]).code), (0, 1), "there is no such folder");
    home.list(".cursor/mcp.json", &json!({}));
    assert_eq!(home.hosts_of(&["--strict"]).0, 0);
    for (name, entry, says) in [
        ("git", json!({ "command": "git-mcp" }), "git of Cursor (HOME/user/.cursor/mcp.json) is NOT wrapped"),
        ("odd", json!({ "command": 5 }), "odd of Cursor (HOME/user/.cursor/mcp.json) is NOT wrapped"),
        ("web", json!({ "url": "https://example.com/mcp" }), "is reached over the network, and NOT wrapped"),
        // Several hosts prefer the address, whatever command is beside it.
        (
            "both",
            json!({ "command": BINARY, "args": ["--", "x"], "url": "https://example.com/mcp" }),
            "is reached over",
        ),
    ] {
        home.list(".cursor/mcp.json", &json!({ name: entry }));
        let (code, said) = home.hosts_of(&[]);
        assert!(code == 0 && said[0].0 == "note" && said[0].1.contains(says), "{said:?}");
        let (code, said) = home.hosts_of(&["--strict"]);
        assert!(code == 1 && said[0].0 == "broken", "{said:?}");
        home.write("config/config.toml", &format!("allow-unwrapped = [\"{name}\"]\n"));
        let (code, said) = home.hosts_of(&["--strict"]);
        assert!(code == 0 && said[0].1.contains("`allow-unwrapped`"), "{said:?}");
        home.write("config/config.toml", "");
    }
    home.list(".cursor/mcp.json", &json!({ "seen": { "command": BINARY, "args": ["--observe", "--", "x"] } }));
    assert!(home.hosts_of(&[]).1.iter().any(|one| one.1.contains("only observed")));
    home.write("user/.cursor/mcp.json", "{ not JSON");
    let (code, said) = home.hosts_of(&["--strict"]);
    assert!(code == 1 && said[0].1.contains("the list of Cursor cannot be read"), "{said:?}");
}

/// `lattice check --hosts`.
#[test]
fn every_server_is_told_with_what_it_may_do_unasked() {
    let home = Home::new();
    let user = home.path("user").display().to_string();
    let check = || home.run(&["lattice", "check", "--hosts", "--hosts-home", &user]);
    fs::create_dir(home.path("user")).unwrap();
    assert!(check().out.starts_with("No host on this machine lists a server"), "{:?}", check());
    let rule = "[[rule]]\nid = \"notes\"\ndecision = \"allow\"\ntool = \"write\"\n\
                when = [{ arg = \"title\", eq = \"a\" }]\n[[rule]]\nid = \"no\"\ndecision = \"deny\"\ntool = \"drop\"\n";
    home.write("config/policy.toml", &format!("version = 1\n{rule}"));
    let server = Server::with(&[reader("read"), writer("write"), writer("change"), writer("drop")]);
    let mut host = Host::wrapping(home.0.path(), &["--name", "files"], &server.command());
    host.handshake("2025-06-18");
    // A list is read once the host has it; when the second is there, the first was.
    for id in [1, 2] {
        host.request(id, "tools/list", &json!({}));
        host.answer(id);
    }
    host.hang_up();
    host.wait();
    let start = json!({ "command": BINARY, "args": ["--home", home.path("."), "--name", "files", "--", "x"] });
    home.list(
        ".cursor/mcp.json",
        &json!({
            "git": { "command": "git-mcp" }, "files": start, "ne\u{202e}w": wrapped(BINARY, &home),
            "web": { "url": "https://example.com/mcp" },
        }),
    );
    let run = check();
    assert_eq!(run.code, 1, "{run:?}");
    assert_eq!(
        run.out,
        "Cursor (HOME/user/.cursor/mcp.json)\n  git: NOT wrapped: everything runs unasked, and is not recorded\n  files: \
         wrapped; 4 tools: 1 unasked, 1 unasked for some arguments, 1 asked, 1 denied\n    unasked: read\n    write by rule \
         notes, for some arguments\n  ne⟨U+202E⟩w: wrapped; it was not started yet, so its tools are not known\n  web: reached \
         over the network: mcp-approve does not see it\n"
    );
}

#[test]
fn a_bundle_is_named_as_not_covered_and_never_changed() {
    let home = Home::new();
    let file = ".config/Claude/Claude Extensions/ant.dir.files/manifest.json";
    let text = json!({ "name": "files", "display_name": "Files", "server": { "mcp_config": { "command": "node" } } });
    home.write(&format!("user/{file}"), &text.to_string());
    let (code, said) = home.hosts_of(&["--strict"]);
    assert!(code == 1 && said[0].1.starts_with("Files of Claude Desktop") && said[0].1.contains(".mcpb"), "{said:?}");
    let user = home.path("user").display().to_string();
    home.run(&["install", "--all", "--hosts-home", &user]);
    assert_eq!(fs::read_to_string(home.path("user").join(file)).unwrap(), text.to_string());
}

#[test]
fn a_wrapper_that_is_gone_moved_or_another_program_is_found_and_repaired() {
    let home = Home::new();
    let old = home.program("old/mcp-approve", b"#!/bin/sh\n");
    fs::remove_file(&old).unwrap();
    let other = home.program("other/mcp-approve", b"\x7fELF..\x01mcp-approve\x02..\x01mcp-approve\x020.0.9\x03..");
    let foreign = home.program("foreign/mcp-approve", b"#!/bin/sh\nexec \"$@\"\n");
    let servers = json!({
        "gone": wrapped(&old, &home), "other": wrapped(&other, &home), "foreign": wrapped(&foreign, &home),
        "good": wrapped(BINARY, &home), "bare": { "command": "git-mcp" },
    });
    home.list(".cursor/mcp.json", &servers);
    let (code, said) = home.hosts_of(&[]);
    let of = |name: &str| said.iter().find(|one| one.1.starts_with(&format!("{name} of"))).cloned();
    assert_eq!(code, 1, "{said:?}");
    for (name, state, says) in [
        ("gone", "broken", "old/mcp-approve is gone"),
        ("other", "note", "another build (HOME/other/mcp-approve, version 0.0.9;"),
        ("foreign", "broken", "has the name of mcp-approve, and is not it"),
    ] {
        let found = of(name).unwrap_or_else(|| panic!("{name}: {said:?}"));
        assert!(found.0 == state && found.1.contains(says), "{found:?}");
        assert!(found.2.as_str().unwrap().contains("install --repair"), "{found:?}");
    }
    assert_eq!(of("good"), None, "{said:?}");
    let user = home.path("user").display().to_string();
    let repair = |options: &[&str]| {
        home.run(&[&["install", "--repair", "--program", BINARY, "--hosts-home", &user], options].concat())
    };
    let dry = repair(&["--dry-run"]);
    assert!(dry.out.contains("gone: would be repaired") && dry.out.contains("changes 3 servers"), "{dry:?}");
    let done = repair(&[]);
    assert!(done.code == 0 && done.out.contains("Repaired 3 servers"), "{done:?}");
    let mut wanted = servers;
    for name in ["gone", "other", "foreign"] {
        wanted[name]["command"] = BINARY.into();
    }
    let now: Value = serde_json::from_str(&fs::read_to_string(home.path("user/.cursor/mcp.json")).unwrap()).unwrap();
    assert_eq!(now["mcpServers"], wanted, "nothing else changed");
    assert!(repair(&[]).out.contains("Nothing to repair"));
}

/// As a package manager does that puts each version into a folder of its own.
#[test]
fn after_a_repair_a_file_comes_back_byte_for_byte() {
    let home = Home::new();
    let text = "{\n  // mine\n  \"mcpServers\": { \"s\": { \"command\": \"npx\", \"args\": [\"-y\", \"x\"] } }\n}\n";
    home.write("user/.cursor/mcp.json", text);
    let old = home.program("v1/mcp-approve", &fs::read(BINARY).unwrap());
    let user = home.path("user").display().to_string();
    let hosts = |words: &[&str]| home.run(&[words, &["--hosts-home", &user]].concat());
    assert_eq!(hosts(&["install", "--all", "--program", &old]).code, 0);
    assert!(home.hosts_of(&["--strict"]).1[0].1.contains("every server they start is wrapped"));
    fs::rename(home.path("v1"), home.path("v2")).unwrap();
    assert_eq!(home.hosts_of(&[]).0, 1);
    let new = home.path("v2/mcp-approve").display().to_string();
    assert_eq!(hosts(&["install", "--repair", "--program", &new]).code, 0);
    assert_eq!(home.hosts_of(&["--strict"]).0, 0);
    assert_eq!(hosts(&["uninstall", "--all"]).code, 0);
    assert_eq!(fs::read_to_string(home.path("user/.cursor/mcp.json")).unwrap(), text);
}

#[test]
fn a_wrapper_with_another_home_policy_or_log_is_a_finding() {
    let home = Home::new();
    let at = home.path(".").display().to_string();
    for (options, says) in [
        (vec!["--home", "/elsewhere"], "keeps its records, and takes its rules, under /elsewhere"),
        (vec![], "has no --home"),
        (vec!["--home", &at, "--policy", "/p.toml"], "is decided by /p.toml"),
        (vec!["--home", &at, "--audit-db=/a.db"], "is recorded in /a.db"),
    ] {
        let args = [&options[..], &["--", "x"]].concat();
        home.list(".cursor/mcp.json", &json!({ "s": { "command": BINARY, "args": args } }));
        let (code, said) = home.hosts_of(&["--strict"]);
        assert!(code == 1 && said.len() == 1 && said[0].1.contains(says), "{options:?}: {said:?}");
    }
}

/// Whoever can write the configuration can have wrappers write elsewhere for a while.
#[test]
fn the_log_that_the_configuration_names_is_checked_beside_the_usual_one() {
    let home = Home::new();
    let [usual, other] = ["state/audit.db", "elsewhere/audit.db"].map(|name| home.path(name));
    let begin = |log: &std::path::Path| drop(Store::open(log, [7; 16]).unwrap());
    let logs = || {
        let rows: Vec<Value> = serde_json::from_str(&home.doctor(&["--json"]).out).unwrap();
        let of_log = rows.into_iter().filter(|row| row["about"] == "audit log");
        of_log.map(|row| row["what"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    begin(&usual);
    assert!(matches!(&logs()[..], [one] if one.contains("state/audit.db")), "{:?}", logs());
    home.write("config/config.toml", &format!("audit-db = {other:?}\n"));
    begin(&other);
    let said = logs();
    assert!(said[0].contains("elsewhere/audit.db"), "{said:?}");
    assert!(said[1].contains("state/audit.db is a log too, and is not written") && said.len() == 3, "{said:?}");
}
