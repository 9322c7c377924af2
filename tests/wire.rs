//! Lines, sorting, answers and edits: one line per case, in the words of the protocol. Attacks stand in `attacks/`.

#[path = "wire/stream.rs"]
mod stream;
#[path = "wire/strict.rs"]
mod strict;

use mcp_approve::wire::call::Call;
use mcp_approve::wire::digest::Digest;
use mcp_approve::wire::id::Id;
use mcp_approve::wire::line::{Beyond, Cutter, Line, Piece};
use mcp_approve::wire::message::{Gist, Refusal, Sorted, overlong, peek, sort};
use mcp_approve::wire::reply;

/// What became of a host's line, in one word and what matters of it.
fn told(content: &str) -> String {
    match sort(Line::new(format!("{content}\n").into_bytes())) {
        Sorted::Call(call) => format!("call {} {}", call.id().raw(), call.name()),
        Sorted::Plain(plain) => gist(plain.gist()),
        Sorted::Blank => "blank".to_owned(),
        Sorted::Refused(refusal) => refused(&refusal),
    }
}

fn gist(gist: &Gist) -> String {
    let raw = |id: &Id| id.raw().to_owned();
    match gist {
        Gist::Request { id, method, modern } => {
            format!(
                "{} {} {method}",
                if *modern { "modern" } else { "request" },
                raw(id)
            )
        }
        Gist::Notification {
            method,
            cancels: None,
        } => format!("notification {method}"),
        Gist::Notification {
            cancels: Some(id), ..
        } => format!("cancels {}", raw(id)),
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

fn call(content: &str) -> Call {
    match sort(Line::new(format!("{content}\n").into_bytes())) {
        Sorted::Call(call) => *call,
        other => panic!("no call: {other:?}"),
    }
}

#[test]
fn a_host_line_is_sorted() {
    let table = [
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#,
            "call 1 t",
        ),
        (
            r#"{"id":"a","params":{"arguments":{},"name":"t"},"method":"tools/call","jsonrpc":"2.0"}"#,
            r#"call "a" t"#,
        ),
        (
            r#" { "jsonrpc" : "2.0" , "id" : -7 , "method" : "tools/call" , "params" : { "name" : "\u00e9" } } "#,
            "call -7 é",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            "request 1 tools/list",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[1]}"#,
            "request 1 tools/list",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
            "modern 1 tools/list",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"x/unknown","params":{"Anything":1,"_meta":{"x/Y":1}},"extra":{}}"#,
            "request 1 x/unknown",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            "notification notifications/initialized",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"r","reason":"x"}}"#,
            r#"cancels "r""#,
        ),
        (
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7.0}}"#,
            "refused -32600 unanswered",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}"#,
            "notification notifications/cancelled",
        ),
        (
            r#"{"jsonrpc":"2.0","id":0,"result":{"roots":[]}}"#,
            "result 0",
        ),
        (
            r#"{"jsonrpc":"2.0","id":0,"error":{"code":-1,"message":"no"}}"#,
            "error 0",
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#,
            "unreadable",
        ),
        (
            r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}"#,
            "unreadable",
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
            "refused -32600 unanswered",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
            "refused -32600 unanswered",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
            "refused -32600 id 1",
        ),
        (r#"{"jsonrpc":"2.0","id":1}"#, "refused -32600 id 1"),
        (r#"{"id":1,"method":"ping"}"#, "refused -32600 id 1"),
        (
            r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
            "refused -32600 id 1",
        ),
        (
            r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#,
            "refused -32600 id 1",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":["tools/call"]}"#,
            "refused -32600 id 1",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
            "refused -32600 id 1",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["t"]}"#,
            "refused -32600 id 1",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":1}}"#,
            "refused -32600 id 1",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":[]}}"#,
            "refused -32600 id 1",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":null}}"#,
            "refused -32600 id 1",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":1}}"#,
            "refused -32600 id 1",
        ),
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

/// PROTOCOL.md 3.6: what at least one real server executes although another does not. Same-id-twice is the gate's.
#[test]
fn no_line_that_parsers_read_differently_is_taken() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#;
    let with = |from: &str, to: &str| call.replacen(from, to, 1);
    let table = [
        ("batch array", format!("[{call}]"), "refused -32600 id null"),
        ("no id", with(r#""id":1,"#, ""), "refused -32600 unanswered"),
        (
            "id null",
            with(r#""id":1"#, r#""id":null"#),
            "refused -32600 id null",
        ),
        (
            "id 7.0",
            with(r#""id":1"#, r#""id":7.0"#),
            "refused -32600 id null",
        ),
        (
            "id 1e2",
            with(r#""id":1"#, r#""id":1e2"#),
            "refused -32600 id null",
        ),
        (
            "id -0",
            with(r#""id":1"#, r#""id":-0"#),
            "refused -32600 id null",
        ),
        (
            "id 2^53",
            with(r#""id":1"#, r#""id":9007199254740992"#),
            "call 9007199254740992 t",
        ),
        (
            "id 2^53+1",
            with(r#""id":1"#, r#""id":9007199254740993"#),
            "refused -32600 id null",
        ),
        (
            "escaped solidus",
            with("tools/call", r"tools\/call"),
            "call 1 t",
        ),
        (
            "escaped letter",
            with("tools/call", r"\u0074ools/call"),
            "call 1 t",
        ),
        ("escaped key", with("method", r"\u006dethod"), "call 1 t"),
        (
            "duplicate name",
            with(r#""name":"t""#, r#""name":"s","name":"t""#),
            "refused -32600 id 1",
        ),
        (
            "duplicate method",
            with(r#""method""#, r#""method":"ping","method""#),
            "refused -32600 id 1",
        ),
        (
            "duplicate id",
            with(r#""id":1"#, r#""id":1,"id":2"#),
            "refused -32600 id null",
        ),
        (
            "duplicate by escape",
            with(r#""name":"t""#, r#""name":"s","n\u0061me":"t""#),
            "refused -32600 id 1",
        ),
        ("CRLF", format!("{call}\r"), "call 1 t"),
        (
            "byte order mark",
            format!("\u{feff}{call}"),
            "refused -32700 id null",
        ),
        (
            "raw CR between two",
            format!("{call}\r{call}"),
            "refused -32700 id null",
        ),
        (
            "raw CR inside",
            with(r#","id""#, ",\r\"id\""),
            "refused -32700 id null",
        ),
        (
            "two objects",
            format!("{call}{call}"),
            "refused -32700 id null",
        ),
        (
            "two objects apart",
            format!("{call} {call}"),
            "refused -32700 id null",
        ),
        (
            "NaN",
            with(r#""t""#, r#""t","arguments":{"x":NaN}"#),
            "refused -32700 id null",
        ),
        (
            "Infinity",
            with(r#""t""#, r#""t","arguments":{"x":-Infinity}"#),
            "refused -32700 id null",
        ),
        ("comment", format!("{call}//"), "refused -32700 id null"),
        (
            "trailing comma",
            with(r#""t"}"#, r#""t",}"#),
            "refused -32700 id null",
        ),
    ];
    for (case, line, expected) in table {
        assert_eq!(told(&line), expected, "{case}");
    }
}

#[test]
fn a_call_keeps_the_exact_text_of_its_parts() {
    let line = r#"{"jsonrpc":"2.0","id":"\u0061","method":"tools/call","params":{"_meta":{"progressToken":"p\u0031","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"h","version":"1"}},"requestState":"\u0053","inputResponses":{"k":{}},"name":"t","arguments":{"n": 1.10e+2, "N":1}}}"#;
    let call = call(line);
    assert_eq!(call.id(), &Id::text("a", r#""a""#));
    assert_eq!(call.id().raw(), r#""\u0061""#);
    assert_eq!(call.arguments_text(), r#"{"n": 1.10e+2, "N":1}"#);
    assert_eq!(call.request_state_text(), Some(r#""\u0053""#));
    assert_eq!(call.input_responses_text(), Some(r#"{"k":{}}"#));
    assert!(call.is_modern());
    assert_eq!(call.meta().client, Some(("h".to_owned(), "1".to_owned())));
    assert_eq!(call.meta().progress_token.as_deref(), Some(r#""p\u0031""#));
    assert!(
        call.meta_text()
            .is_some_and(|meta| meta.starts_with(r#"{"progressToken""#))
    );
    assert_eq!(call.digest(), Digest::of(line.as_bytes()));
    assert!(
        call.carries_state(Some(r#""S""#)),
        "a host may write the state anew"
    );
    assert!(!call.carries_state(Some(r#""s""#)));
    assert!(!call.carries_state(None));
    assert_eq!(call.into_line().bytes(), format!("{line}\n").as_bytes());
}

#[test]
fn an_edit_changes_the_arguments_and_nothing_else() {
    let with = |params: &str| {
        call(&format!(
            r#"{{"jsonrpc":"2.0", "id":1,"method":"tools/call","params":{params}}}"#
        ))
    };
    let edited = |params: &str, arguments: &str| match with(params).with_arguments(arguments) {
        Ok(call) => String::from_utf8_lossy(call.line().content()).into_owned(),
        Err(refusal) => refused(&refusal),
    };
    let whole = |params: &str| {
        format!(r#"{{"jsonrpc":"2.0", "id":1,"method":"tools/call","params":{params}}}"#)
    };
    let table = [
        (
            r#"{"name":"t","arguments":{"a":1},"task":{}}"#,
            r#"{"b":2}"#,
            whole(r#"{"name":"t","arguments":{"b":2},"task":{}}"#),
        ),
        (
            r#"{ "name":"t"}"#,
            r#"{"b":2}"#,
            whole(r#"{"arguments":{"b":2}, "name":"t"}"#),
        ),
        (
            r#"{"name":"t"}"#,
            "{\n\"b\":\r\n2}",
            whole(r#"{"arguments":{ "b":  2},"name":"t"}"#),
        ),
        (
            r#"{"name":"t"}"#,
            r#"{"b":1,"b":2}"#,
            "refused -32600 id 1".to_owned(),
        ),
        (r#"{"name":"t"}"#, r#"[]"#, "refused -32600 id 1".to_owned()),
        (r#"{"name":"t"}"#, r#"{"#, "refused -32600 id 1".to_owned()),
        (
            r#"{"name":"t"}"#,
            r#"{},"task":{}"#,
            "refused -32600 id 1".to_owned(),
        ),
        (
            r#"{"name":"t"}"#,
            r#"{}}"#,
            "refused -32600 id 1".to_owned(),
        ),
    ];
    for (params, arguments, expected) in table {
        assert_eq!(edited(params, arguments), expected, "{arguments}");
    }
    let (before, edit) = (with(r#"{"name":"t"}"#), r#"{"b":2}"#);
    let after = before.with_arguments(edit).expect("an edit");
    assert_ne!(before.digest(), after.digest());
    assert_eq!(after.line().bytes().last(), Some(&b'\n'));
}

#[test]
fn a_server_line_is_told_tolerantly() {
    let table = [
        (r#"{"jsonrpc":"2.0","id":1,"result":{"Id":2}}"#, "result 1"),
        (
            r#"{"result":{"id":5,"s":"}\\\""},"jsonrpc":"2.0","id":"x"}"#,
            r#"result "x""#,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"error":{}}"#, "error 1"),
        (
            r#"{"jsonrpc":"2.0","id":0,"method":"roots/list"}"#,
            "request 0 roots/list",
        ),
        (
            r#"{"method":"notifications/tools/list_changed"}"#,
            "notification notifications/tools/list_changed",
        ),
        (
            r#"{"method":"notifications/cancelled","params":{"requestId":"s"}}"#,
            r#"cancels "s""#,
        ),
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

#[test]
fn our_answers_are_one_line_each() {
    let id = Id::text("a", r#""\u0061""#);
    let hostile = "no\n\"\u{1b}\u{2028}";
    let escaped = "no\\n\\\"\\u001b\u{2028}";
    let meta = r#"{"progressToken":1,"x":1.0}"#;
    let table = [
        (reply::error(None, -32700, "no"), r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#.to_owned()),
        (reply::error(Some(&id), -32600, hostile), format!(r#"{{"jsonrpc":"2.0","id":"\u0061","error":{{"code":-32600,"message":"{escaped}"}}}}"#)),
        (reply::tool_error(&id, hostile, false), format!(r#"{{"jsonrpc":"2.0","id":"\u0061","result":{{"content":[{{"type":"text","text":"{escaped}"}}],"isError":true}}}}"#)),
        (reply::tool_error(&Id::integer("7"), "no", true), r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"no"}],"isError":true,"resultType":"complete"}}"#.to_owned()),
        (reply::progress("3", 0.001, "waiting"), r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":3,"progress":0.001,"message":"waiting"}}"#.to_owned()),
        (reply::progress(r#""p""#, f64::NAN, "w"), r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":0,"message":"w"}}"#.to_owned()),
        (reply::list_tools("m-1", None, None), r#"{"jsonrpc":"2.0","id":"m-1","method":"tools/list","params":{}}"#.to_owned()),
        (reply::list_tools("m-1", Some(""), Some(meta)), r#"{"jsonrpc":"2.0","id":"m-1","method":"tools/list","params":{"cursor":"","_meta":{"x":1.0}}}"#.to_owned()),
    ];
    for (line, expected) in table {
        assert_eq!(
            String::from_utf8_lossy(line.bytes()),
            format!("{expected}\n")
        );
        assert!(serde_json::from_slice::<serde_json::Value>(line.content()).is_ok());
    }
}

#[test]
fn a_line_beyond_the_cap_is_answered_where_it_can_be() {
    let table = [
        (
            r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"x":"aaa"#,
            "refused -32600 id 5",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"tools/call","params":{"x":"aaa"#,
            "refused -32600 id null",
        ),
        (r#"{"result":{"x":"aaa"#, "refused -32600 unanswered"),
        (r#"{"id":5,"result":{"x":"aaa"#, "refused -32600 unanswered"),
        ("aaaa", "refused -32600 id null"),
    ];
    for (head, expected) in table {
        assert_eq!(
            refused(&overlong(head.as_bytes(), 99, 10)),
            expected,
            "{head}"
        );
    }
}

/// The pieces of a transcript in words; a streamed line's pieces joined, since where they part is the chunks' doing.
fn cut(chunks: &[&[u8]], cap: usize, beyond: Beyond) -> Vec<String> {
    let (mut words, mut streamed) = (Vec::new(), None::<Vec<u8>>);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut cutter = Cutter::new(cap, beyond);
    for chunk in chunks {
        cutter.feed(chunk, &mut |piece| match piece {
            Piece::Line(line) => words.push(format!("line {:?}", text(line.bytes()))),
            Piece::Overlong { head, bytes } => {
                words.push(format!("overlong {bytes} {}", text(&head)))
            }
            Piece::Start(bytes) => assert!(streamed.replace(bytes).is_none(), "one line at a time"),
            Piece::More { bytes, last } => {
                let mut line = streamed.take().expect("a start before more");
                line.extend_from_slice(bytes);
                if last {
                    words.push(format!("streamed {:?}", text(&line)));
                } else {
                    streamed = Some(line);
                }
            }
        });
    }
    words.extend(cutter.finish().map(|tail| format!("tail {}", text(&tail))));
    words
}

#[test]
fn chunks_do_not_change_what_is_cut() {
    let transcript = b"one\n\ntwelve chars\r\nexactly-ten\n0123456789\ntail";
    let table = [
        (
            Beyond::Drop,
            vec![
                r#"line "one\n""#,
                r#"line "\n""#,
                "overlong 13 twelve chars\r",
                "overlong 11 exactly-ten",
                r#"line "0123456789\n""#,
                "tail tail",
            ],
        ),
        (
            Beyond::Stream,
            vec![
                r#"line "one\n""#,
                r#"line "\n""#,
                r#"streamed "twelve chars\r\n""#,
                r#"streamed "exactly-ten\n""#,
                r#"line "0123456789\n""#,
                "tail tail",
            ],
        ),
    ];
    for (beyond, expected) in table {
        assert_eq!(cut(&[transcript], 10, beyond), expected);
        for first in 0..=transcript.len() {
            for second in first..=transcript.len() {
                let chunks = [
                    &transcript[..first],
                    &transcript[first..second],
                    &transcript[second..],
                ];
                assert_eq!(
                    cut(&chunks, 10, beyond),
                    expected,
                    "split at {first} and {second}"
                );
            }
        }
        let bytes: Vec<&[u8]> = transcript.chunks(1).collect();
        assert_eq!(cut(&bytes, 10, beyond), expected);
    }
}

#[test]
fn a_dropped_line_leaves_its_head_only() {
    let long = [b"x".repeat(9000), b"\n".to_vec()].concat();
    let mut found = Vec::new();
    let mut cutter = Cutter::new(100, Beyond::Drop);
    for chunk in long.chunks(70) {
        cutter.feed(chunk, &mut |piece| {
            if let Piece::Overlong { head, bytes } = piece {
                found.push((head.len(), bytes));
            }
        });
    }
    assert_eq!(found, [(4096, 9000)]);
}
