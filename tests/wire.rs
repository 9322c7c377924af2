//! Lines, sorting, answers and edits: one line per case, in the words of the protocol. Attacks stand in `attacks/`.

mod call;
mod inputs;
mod line;
mod number;
mod rename;
mod reply;
mod stream;
mod strict;
mod task;

use mcp_approve::wire::Line;
use mcp_approve::wire::id::Id;
use mcp_approve::wire::message::{Gist, Refusal, Sorted, peek, sort};

/// What became of a host's line, in one word and what matters of it.
fn told(content: &str) -> String {
    match sort(Line::new(format!("{content}\n").into_bytes())) {
        Sorted::Call(call) => format!("call {} {}", call.id().raw(), call.name()),
        Sorted::Plain(plain) => gist(plain.gist()),
        Sorted::Blank => "blank".to_owned(),
        Sorted::Refused { refusal, .. } => refused(&refusal),
    }
}

fn gist(gist: &Gist) -> String {
    let raw = |id: &Id| id.raw().to_owned();
    match gist {
        Gist::Request { id, method, modern } => {
            format!("{} {} {method}", if *modern { "modern" } else { "request" }, raw(id))
        }
        Gist::Notification { method, cancels: None } => format!("notification {method}"),
        Gist::Notification { cancels: Some(id), .. } => format!("cancels {}", raw(id)),
        Gist::Response { id, failed } => {
            format!("{} {}", if *failed { "error" } else { "result" }, raw(id))
        }
        Gist::Unreadable => "unreadable".to_owned(),
    }
}

fn refused(refusal: &Refusal) -> String {
    let id = refusal.id.as_ref().map_or("null", Id::raw);
    match refusal.answer {
        true => format!("refused {} id {id}", refusal.code),
        false => format!("refused {} unanswered", refusal.code),
    }
}

#[test]
fn a_host_line_is_sorted() {
    let table = [
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#, "call 1 t"),
        (r#"{"id":"a","params":{"arguments":{},"name":"t"},"method":"tools/call","jsonrpc":"2.0"}"#, r#"call "a" t"#),
        (
            r#" { "jsonrpc" : "2.0" , "id" : -7 , "method" : "tools/call" , "params" : { "name" : "\u00e9" } } "#,
            "call -7 é",
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, "request 1 tools/list"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[1]}"#, "request 1 tools/list"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
            "modern 1 tools/list",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"x/unknown","params":{"Anything":1,"_meta":{"x/Y":1}},"extra":{}}"#,
            "request 1 x/unknown",
        ),
        (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "notification notifications/initialized"),
        (
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"r","reason":"x"}}"#,
            r#"cancels "r""#,
        ),
        (
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7.0}}"#,
            "refused -32600 unanswered",
        ),
        (r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}"#, "notification notifications/cancelled"),
        (r#"{"jsonrpc":"2.0","id":0,"result":{"roots":[]}}"#, "result 0"),
        (r#"{"jsonrpc":"2.0","id":0,"error":{"code":-1,"message":"no"}}"#, "error 0"),
        (r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#, "unreadable"),
        (r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}"#, "unreadable"),
        (r#"{"jsonrpc":"2.0","id":null,"result":{}}"#, "refused -32600 unanswered"),
        (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#, "refused -32600 unanswered"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#, "refused -32600 id 1"),
        (r#"{"jsonrpc":"2.0","id":1}"#, "refused -32600 id 1"),
        (r#"{"id":1,"method":"ping"}"#, "refused -32600 id 1"),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, "refused -32600 id 1"),
        (r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, "refused -32600 id 1"),
        (r#"{"jsonrpc":"2.0","id":1,"method":["tools/call"]}"#, "refused -32600 id 1"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, "refused -32600 id 1"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["t"]}"#, "refused -32600 id 1"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":1}}"#, "refused -32600 id 1"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":[]}}"#,
            "refused -32600 id 1",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":null}}"#,
            "refused -32600 id 1",
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":1}}"#, "refused -32600 id 1"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","requestState":1}}"#,
            "refused -32600 id 1",
        ),
        ("", "blank"),
        (" \t \r", "blank"),
        ("hello", "refused -32700 id null"),
        (r#""tools/call""#, "refused -32600 id null"),
        ("17", "refused -32600 id null"),
    ];
    for (line, expected) in table {
        assert_eq!(told(line), expected, "{line}");
    }
}

/// An error under a response's id would look like the answer to a request of the host's own.
#[test]
fn what_parsers_read_differently_is_answered_only_where_a_request_waits() {
    let table = [
        (r#"{"id":1,"method":"m","x":{"k":1,"k":1}}"#, "refused -32600 id 1"),
        (r#"{"x":{"k":1,"k":1},"method":"m","id":"i"}"#, r#"refused -32600 id "i""#),
        (r#"{"method":"m","x":{"k":1,"k":1}}"#, "refused -32600 unanswered"),
        (r#"{"method":"m","id":null,"x":{"k":1,"k":1}}"#, "refused -32600 id null"),
        (r#"{"id":1,"result":{"k":1,"k":1}}"#, "refused -32600 unanswered"),
        (r#"{"error":{"k":1,"k":1},"id":1}"#, "refused -32600 unanswered"),
        (r#"{"k":1,"k":1}"#, "refused -32600 id null"),
    ];
    for (line, expected) in table {
        assert_eq!(told(line), expected, "{line}");
    }
}

/// PROTOCOL.md 3.6: what at least one real server executes although another does not. Same-id-twice is the gate's.
#[test]
fn no_line_that_parsers_read_differently_is_taken() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#;
    let with = |from: &str, to: &str| call.replacen(from, to, 1);
    let table = [
        ("batch array", format!("[{call}]"), "refused -32600 id null"),
        ("no id", with(r#""id":1,"#, ""), "refused -32600 unanswered"),
        ("id null", with(r#""id":1"#, r#""id":null"#), "refused -32600 id null"),
        ("id 7.0", with(r#""id":1"#, r#""id":7.0"#), "refused -32600 id null"),
        ("id 1e2", with(r#""id":1"#, r#""id":1e2"#), "refused -32600 id null"),
        ("id -0", with(r#""id":1"#, r#""id":-0"#), "refused -32600 id null"),
        ("id 2^53", with(r#""id":1"#, r#""id":9007199254740992"#), "call 9007199254740992 t"),
        ("id 2^53+1", with(r#""id":1"#, r#""id":9007199254740993"#), "refused -32600 id null"),
        ("escaped solidus", with("tools/call", r"tools\/call"), "call 1 t"),
        ("escaped letter", with("tools/call", r"\u0074ools/call"), "call 1 t"),
        ("escaped key", with("method", r"\u006dethod"), "call 1 t"),
        ("duplicate name", with(r#""name":"t""#, r#""name":"s","name":"t""#), "refused -32600 id 1"),
        ("duplicate method", with(r#""method""#, r#""method":"ping","method""#), "refused -32600 id 1"),
        ("duplicate id", with(r#""id":1"#, r#""id":1,"id":2"#), "refused -32600 id null"),
        ("duplicate by escape", with(r#""name":"t""#, r#""name":"s","n\u0061me":"t""#), "refused -32600 id 1"),
        ("CRLF", format!("{call}\r"), "call 1 t"),
        ("byte order mark", format!("\u{feff}{call}"), "refused -32700 id null"),
        ("raw CR between two", format!("{call}\r{call}"), "refused -32700 id null"),
        ("raw CR inside", with(r#","id""#, ",\r\"id\""), "refused -32700 id null"),
        ("two objects", format!("{call}{call}"), "refused -32700 id null"),
        ("two objects apart", format!("{call} {call}"), "refused -32700 id null"),
        ("NaN", with(r#""t""#, r#""t","arguments":{"x":NaN}"#), "refused -32700 id null"),
        ("Infinity", with(r#""t""#, r#""t","arguments":{"x":-Infinity}"#), "refused -32700 id null"),
        ("comment", format!("{call}//"), "refused -32700 id null"),
        ("trailing comma", with(r#""t"}"#, r#""t",}"#), "refused -32700 id null"),
    ];
    for (case, line, expected) in table {
        assert_eq!(told(&line), expected, "{case}");
    }
}

#[test]
fn a_server_line_is_told_tolerantly() {
    let table = [
        (r#"{"jsonrpc":"2.0","id":1,"result":{"Id":2}}"#, "result 1"),
        (r#"{"result":{"id":5,"s":"}\\\""},"jsonrpc":"2.0","id":"x"}"#, r#"result "x""#),
        (r#"{"jsonrpc":"2.0","id":1,"error":{}}"#, "error 1"),
        (r#"{"jsonrpc":"2.0","id":0,"method":"roots/list"}"#, "request 0 roots/list"),
        (r#"{"method":"notifications/tools/list_changed"}"#, "notification notifications/tools/list_changed"),
        (r#"{"method":"notifications/cancelled","params":{"requestId":"s"}}"#, r#"cancels "s""#),
        (r#"{"id":1,"id":2,"result":{}}"#, "unreadable"),
        (r#"{"id":1,"result":{},"error":{}}"#, "unreadable"),
        (r#"{"id":null,"error":{}}"#, "unreadable"),
        (r#"{"id":1.0,"result":{}}"#, "unreadable"),
        (r#"[{"id":1,"result":{}}]"#, "unreadable"),
        (r#"{"id":1,"result":{}"#, "unreadable"),
        (r#"{"id":1,"result":{}} x"#, "unreadable"),
        ("Server listening", "unreadable"),
        ("", "unreadable"),
    ];
    for (line, expected) in table {
        assert_eq!(gist(&peek(line.as_bytes())), expected, "{line}");
    }
}
