//! `mcp-approve -- URL`: the bridge it starts, what of the headers is seen, and what is refused. The real bridge is
//! tried in `tests/real/`.

use std::fs;
use std::process::Command;

use serde_json::json;

use super::Home;
use crate::fake::host::Host;
use crate::fake::server::{Server, reader, says};
use crate::fake::{BINARY, program};

const SECRET: &str = "s3cret-of-ada";

/// Every file below a folder that has these bytes in it.
fn holding(folder: &std::path::Path, bytes: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(holding(&entry, bytes));
        } else if fs::read(&entry).is_ok_and(|text| text.windows(bytes.len()).any(|part| part == bytes.as_bytes())) {
            found.push(entry.display().to_string());
        }
    }
    found
}

#[test]
fn a_url_is_reached_through_the_bridge_and_no_header_is_shown() {
    let home = Home::new();
    let beside = tempfile::tempdir().unwrap();
    let server = Server::with(&[reader("read")]).on("read", json!({ "answer": { "result": says("done") } }));
    // Stands for npx: notes how it was called, and is the server.
    let npx = beside.path().join("npx");
    let words: Vec<String> = server.command().iter().map(|word| format!("'{word}'")).collect();
    let here = beside.path().display();
    let script = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >{here}/words\nenv >{here}/env\nexec {}\n", words.join(" "));
    program(&npx, &script);
    for (at, form) in [&["--url", "http://localhost:9/mcp"][..], &["--", "http://localhost:9/mcp"]].iter().enumerate() {
        let mut command = Command::new(BINARY);
        command.arg("--home").arg(home.path("")).args(["--header", "Authorization: Bearer ${ADAS}"]).args(*form);
        command.env("PATH", format!("{here}:/usr/bin:/bin")).env("ADAS", SECRET);
        let mut host = Host::over(command);
        host.handshake("2025-06-18");
        host.call(1, "read", &json!({}));
        host.answer(1);
        host.hang_up();
        host.wait();
        let words = fs::read_to_string(beside.path().join("words")).unwrap();
        let expected = "-y\nmcp-remote@0.15.1\nhttp://localhost:9/mcp\n--allow-http\n--header\nAuthorization:${MCP_APPROVE_HEADER_1}\n";
        assert_eq!(words, expected, "{at}");
        let environment = fs::read_to_string(beside.path().join("env")).unwrap();
        assert!(environment.contains(&format!("MCP_APPROVE_HEADER_1=Bearer {SECRET}\n")), "{environment}");
    }
    assert_eq!(holding(&home.path(""), SECRET), Vec::<String>::new());
    let log = home.run(&["log", "list", "--json"]).out;
    assert!(log.contains("\"localhost-9\"") || log.contains("localhost-9-"), "the name is the host's: {log}");
}

#[test]
fn what_cannot_be_reached_says_what_to_do() {
    let home = Home::new();
    for (args, says) in [
        (&["--", "http://example.com/mcp"][..], "use https://; http:// is only for this machine"),
        (&["--url", "https://ada:pw@example.com/"], "give it as a header"),
        (&["--url", "example.com"], "write it whole: https://"),
        (
            &["--header", "Authorization: ${NO_SUCH_VARIABLE}", "--", "https://example.com"],
            "NO_SUCH_VARIABLE, which is not set",
        ),
        (&["--header", "A: b", "--", "true"], "--header is only for a server's URL"),
        (&["--", "https://example.com", "--debug"], "a server's URL must be the last argument"),
        (&["--url", "https://example.com", "--", "true"], "cannot be used with"),
        (&["--url", "https://example.com", "log", "list"], "--url belongs to wrapping a server"),
    ] {
        let run = home.run(args);
        assert!(run.code == 2 && run.out.is_empty() && run.err.contains(says), "{args:?}: {}", run.err);
    }
    let mut command = Command::new(BINARY);
    command.arg("--home").arg(home.path("")).args(["--url", "https://example.com/mcp"]).env("PATH", home.path("none"));
    let output = command.output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(127) && told.contains("needs Node.js"), "{told}");
}
