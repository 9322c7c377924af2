//! The FileManager of the capability lattice, from its definitions to a call: its server and an agent of it are generated,
//! compiled and run, with the gate between them.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::console::arms;
use crate::fake::host::Host;
use crate::fake::libraries::{libraries, rustc};
use crate::fake::operator::Operator;
use crate::fake::terminal::Terminal;
use crate::fake::{BINARY, log};

const DEFINITIONS: &str = "tests/fixtures/lattice/file_manager.json";
const PROGRAMS: [&str; 2] =
    ["tests/fixtures/lattice/file_manager_server.rs", "tests/fixtures/lattice/file_manager_client.rs"];

/// Generates, and compiles the two programs around what is generated. It is used only in part by each.
fn build(folder: &Path) {
    let code = Command::new(BINARY).args(["lattice", "codegen", "--lang", "rust", "--typed", DEFINITIONS]).output();
    let code = String::from_utf8(code.unwrap().stdout).unwrap();
    fs::write(folder.join("file_manager.rs"), format!("#![allow(dead_code)]\n{code}")).unwrap();
    fs::copy(DEFINITIONS, folder.join("file_manager.json")).unwrap();
    let libraries = libraries("whole", &["serde", "serde_json", "thiserror", "tokio", "data_encoding"]);
    let compilers = PROGRAMS.map(|program| {
        let file = folder.join(Path::new(program).file_name().unwrap());
        fs::copy(program, &file).unwrap();
        let mut rustc = rustc();
        rustc.args(["-D", "warnings", "--out-dir"]).arg(folder).args(&libraries).arg(file);
        rustc.spawn().unwrap()
    });
    for mut compiler in compilers {
        assert!(compiler.wait().unwrap().success(), "it compiles without a warning");
    }
}

#[test]
fn a_client_calls_the_generated_server_through_the_gate() {
    let folder = tempfile::tempdir().unwrap();
    let (home, root) = (folder.path().join("home"), folder.path().join("root"));
    fs::create_dir(&root).unwrap();
    fs::write(root.join("notes.txt"), "a note").unwrap();
    fs::write(folder.path().join("secret.txt"), "a secret").unwrap();
    build(folder.path());
    let program = |name: &str| folder.path().join(name).display().to_string();
    let server = [program("file_manager_server"), root.display().to_string()];

    let mut command = Command::new(program("file_manager_client"));
    command.arg(BINARY).arg("--home").arg(&home).args(["--name", "files", "--"]).args(&server);
    let mut client = Host::over(command);
    let said = |client: &mut Host| String::from_utf8(client.line_bytes()).unwrap().trim_end().to_owned();
    // What reads asks once, at the console; from then on it passes.
    let read = r#"Ok(ReadFileSuccess { content: "a note", size_bytes: Some(6) })"#;
    client.send(r#"["read", "notes.txt", null]"#);
    let mut console = Terminal::console(&home, (100, 40), &[]);
    console.shows(&["readFile", "p remember", "armed"]);
    arms(&console);
    console.types("p");
    assert_eq!(said(&mut client), read);
    console.types("q");
    let mut operator = Operator::attach(&home, "ada");
    let mut told = |client: &mut Host, line: Value, asked: Option<&str>| {
        client.send(&line.to_string());
        if let Some(tool) = asked {
            let asked = operator.asked(tool);
            operator.approve(&asked);
        }
        said(client)
    };
    assert_eq!(told(&mut client, json!(["read", "notes.txt", null]), None), read);
    let written = "Ok(WriteFileSuccess { bytes_written: 5 })";
    assert_eq!(told(&mut client, json!(["write", "out.txt", "hello"]), Some("writeFile")), written);
    assert_eq!(fs::read_to_string(root.join("out.txt")).unwrap(), "hello");
    // The agent's own guardrail, before the gate.
    let blocked = told(&mut client, json!(["read", "../secret.txt", null]), None);
    assert_eq!(blocked, r#"the guardrail refused: ../secret.txt has ".." in it"#);
    // What no program that keeps to the types sends: the gate answers.
    let unknown = told(&mut client, json!(["call", "deleteFile", {}]), None);
    assert!(unknown.starts_with("Err(InvalidParams(\"") && unknown.contains("deleteFile"), "{unknown}");
    let wrong = told(&mut client, json!(["call", "readFile", { "path": 7 }]), None);
    assert!(wrong.starts_with("Err(Internal(\"") && wrong.contains("path"), "{wrong}");
    // What fits the schema and not the server's own rule: the server answers, through the gate.
    let outside = told(&mut client, json!(["call", "readFile", { "path": "../secret.txt" }]), Some("readFile"));
    assert_eq!(outside, r#"Err(PermissionDenied("Permission denied: ../secret.txt"))"#);
    client.hang_up();
    assert!(client.wait().success(), "{}", client.last_words());
    assert_eq!(log::decisions(&home, "readFile").len(), 4, "{:#?}", log::records(&home));
    log::verifies(&home);

    // Without the gate the generated dispatcher answers both, with the error of its own.
    let mut direct = Host::direct(&server);
    direct.handshake("2025-06-18");
    for (tool, arguments, error) in [
        ("deleteFile", json!({}), json!({ "code": -32601, "message": "Tool not found: deleteFile" })),
        ("readFile", json!({}), json!({ "code": -32602, "message": "Invalid params: missing field `path`" })),
    ] {
        direct.call(1, tool, &arguments);
        assert_eq!(direct.answer(1)["error"], error);
    }
}
