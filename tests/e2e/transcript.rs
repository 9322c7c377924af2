//! What is not held passes byte for byte, in both directions, and equals a run without the wrapper.

use std::path::Path;

use serde_json::{Value, json};

use crate::fake::host::Host;
use crate::fake::server::{Server, reader, says};

/// A server that writes what it reads into a file and answers each line with the next of its own lines.
fn parrot(folder: &Path, lines: &[&[u8]]) -> Vec<String> {
    std::fs::create_dir_all(folder).unwrap();
    for (n, line) in lines.iter().enumerate() {
        std::fs::write(folder.join(format!("line{n}")), line).unwrap();
    }
    let script = "n=0; while IFS= read -r line; do printf '%s\\n' \"$line\" >> \"$0/heard\"; \
                  if [ -f \"$0/line$n\" ]; then cat \"$0/line$n\"; fi; n=$((n+1)); done";
    ["sh", "-c", script, folder.to_str().unwrap()].map(String::from).into()
}

/// Sends each line and takes what comes back for it; what the server heard, and what the host heard.
fn play(mut host: Host, folder: &Path, host_says: &[&str], server_says: &[&[u8]]) -> (Vec<u8>, Vec<u8>) {
    let mut back = Vec::new();
    for (line, reply) in host_says.iter().zip(server_says) {
        host.send_bytes(line.as_bytes());
        let mut wanted = reply.iter().filter(|byte| **byte == b'\n').count();
        while wanted > 0 {
            back.extend(host.line_bytes());
            wanted -= 1;
        }
    }
    host.hang_up();
    assert!(host.wait().success());
    back.extend(host.so_far().concat());
    (std::fs::read(folder.join("heard")).unwrap(), back)
}

#[test]
fn what_is_not_held_equals_a_direct_run() {
    let padding = |bytes: usize| "x".repeat(bytes);
    let long = format!("{{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{{\"text\":\"{}\"}}}}\n", padding(70 << 10));
    let giant = format!("{{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{{\"text\":\"{}\"}}}}\n", padding(5 << 20));
    let from_host = [
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "  {\"jsonrpc\" :\t\"2.0\", \"id\": \"a b\",  \"method\":\"ping\" }  ",
        r#"{"id":9007199254740991,"params":{"z":1,"a":[1.0,1e2,0.10,9007199254740993]},"method":"x/unheard-of","jsonrpc":"2.0","extra":{"k":null}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/made/up","params":{"ü":"ß\u00e9\/"}}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"note:///a"}}"#,
        r#"{"jsonrpc":"2.0","id":"srv-1","result":{"roots":[]}}"#,
        r#"{"jsonrpc":"2.0","id":"srv-2","error":{"code":-1,"message":"no"}}"#,
    ]
    .map(|line| format!("{line}\n"));
    let from_host: Vec<&str> = from_host.iter().map(String::as_str).collect();
    let from_server: [&[u8]; 8] = [
        b"{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"p\",\"version\":\"0\"}}}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":\"srv-1\",\"method\":\"roots/list\"}\n  { \"jsonrpc\":\"2.0\" , \"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"\\u001b\"} }\n",
        b"{\"result\":{},\"id\":\"a b\",\"jsonrpc\":\"2.0\"}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":9007199254740991,\"error\":{\"code\":-32601,\"message\":\"no \\ud83d\\ude00\"}}\r\n",
        long.as_bytes(),
        giant.as_bytes(),
        b"{\"jsonrpc\":\"2.0\",\"id\":\"srv-2\",\"method\":\"sampling/createMessage\",\"params\":{}}\n",
        b"not json at all, but the host may like it\n\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n",
    ];
    let bed = tempfile::tempdir().unwrap();
    let (plain, wrapped) = (bed.path().join("plain"), bed.path().join("wrapped"));
    let direct = play(Host::direct(&parrot(&plain, &from_server)), &plain, &from_host, &from_server);
    let command = parrot(&wrapped, &from_server);
    let host = Host::wrapping(&bed.path().join("home"), &["--name", "parrot"], &command);
    let through = play(host, &wrapped, &from_host, &from_server);
    assert_eq!(String::from_utf8_lossy(&through.0), String::from_utf8_lossy(&direct.0), "what the server heard");
    assert!(through.1 == direct.1, "the host heard {} bytes, not the same {}", through.1.len(), direct.1.len());
    assert_eq!(direct.0, from_host.concat().as_bytes(), "the bed itself loses bytes");
    assert_eq!(direct.1, from_server.concat());
}

#[test]
fn a_call_and_its_long_answer_pass_unchanged() {
    let text = "y".repeat(300 << 10);
    let server = Server::with(&[reader("read")]).on("read", json!({ "answer": { "result": says(&text) } }));
    let home = tempfile::tempdir().unwrap();
    let lines = [
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{ \"name\":\"read\",\"arguments\":{\"title\" : \"\\u0061\"}}}",
        "  {\"params\":{\"arguments\":{},\"name\":\"read\"},\"method\":\"tools/call\",\"id\":\"1\",\"jsonrpc\":\"2.0\"}",
    ];
    let mut answers = Vec::new();
    for wrapped in [false, true] {
        let mut host = match wrapped {
            false => Host::direct(&server.command()),
            true => Host::wrapping(home.path(), &["--name", "s"], &server.command()),
        };
        host.handshake("2025-06-18");
        let mut heard = Vec::new();
        for line in lines {
            host.send(line);
            heard.push(host.line_bytes());
        }
        answers.push(heard);
        host.hang_up();
        assert!(host.wait().success());
    }
    assert_eq!(answers[0], answers[1]);
    let executed = server.executed();
    assert_eq!(executed[..2], executed[2..]);
    assert_eq!(executed[2..], lines.map(|line| format!("{line}\n")));
}

#[test]
fn carriage_returns_of_a_host_are_no_part_of_the_message() {
    let server = Server::with(&[reader("read")]);
    let home = tempfile::tempdir().unwrap();
    let mut host = Host::wrapping(home.path(), &["--name", "s"], &server.command());
    host.handshake("2025-06-18");
    host.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n\r\n");
    assert_eq!(host.answer(1)["result"], json!({}));
    host.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"read\"}}\r\n");
    assert_eq!(host.answer(2)["result"]["content"][0]["text"], "done");
    assert_eq!(server.executed().len(), 1);
}

#[test]
fn nothing_waits_behind_a_held_call() {
    let server = Server::with(&[reader("read"), crate::fake::server::writer("write")]);
    let home = tempfile::tempdir().unwrap();
    let mut host = Host::wrapping(home.path(), &["--name", "s"], &server.command());
    host.handshake("2025-06-18");
    host.call(1, "write", &json!({ "title": "t" }));
    for n in 2..200 {
        host.request(n, "ping", &json!({}));
    }
    let order: Vec<Value> = (2..200).map(|_| host.line()["id"].clone()).collect();
    assert_eq!(order, (2..200).map(Value::from).collect::<Vec<_>>());
    host.call(200, "read", &json!({}));
    assert_eq!(host.answer(200)["result"]["content"][0]["text"], "done");
    assert_eq!(server.executed().len(), 1, "the held call has run");
}
