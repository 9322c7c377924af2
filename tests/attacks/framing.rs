//! C1 to C10: lines made to be read one way here and another way by the server.
//!
//! C8's other half, an id that is live already, needs to know what is in flight: the gate's tests have it.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking, in its helpers too")]

use mcp_approve::wire::id::Id;
use mcp_approve::wire::message::{BeyondCap, Cutter, Piece, Refusal, Sorted, overlong, sort};
use mcp_approve::wire::{Line, reply};

use crate::world::{Did, World};

const CALL: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"path":"a"},"_meta":{}}}"#;

fn sorted(line: impl Into<Vec<u8>>) -> Sorted {
    let mut bytes = line.into();
    bytes.push(b'\n');
    sort(Line::new(bytes))
}

/// The refusal of a line; a line that is taken fails the test.
fn refusal(line: impl Into<Vec<u8>>) -> Refusal {
    let line = line.into();
    match sorted(line.clone()) {
        Sorted::Refused { refusal, .. } => refusal,
        taken => panic!("{} was taken: {taken:?}", String::from_utf8_lossy(&line)),
    }
}

/// The arguments' exact text of a line that must be taken as a call.
fn taken(line: &str) -> String {
    match sorted(line) {
        Sorted::Call(call) => {
            assert_eq!(call.line().content(), line.as_bytes(), "bytes stay as received");
            call.arguments_text().to_owned()
        }
        other => panic!("{line} was not taken: {other:?}"),
    }
}

fn with(from: &str, to: &str) -> String {
    assert!(CALL.contains(from), "{from} stands in the sample");
    CALL.replacen(from, to, 1)
}

/// Every place where a variant of a protocol key may be slipped in, beside the true key or in its stead.
fn assert_shadows(variants: &[(&str, &str)]) {
    for (key, variant) in variants {
        for line in [
            with(&format!("\"{key}\":"), &format!("\"{variant}\":")),
            with(&format!("\"{key}\":"), &format!("\"{variant}\":0,\"{key}\":")),
        ] {
            let refusal = refusal(line.clone());
            assert_eq!(refusal.code, -32600, "{line}");
            assert!(refusal.answer, "{line}");
        }
    }
}

#[test]
fn c1_case_variant_keys_are_refused() {
    assert_shadows(&[
        ("jsonrpc", "JsonRPC"),
        ("id", "ID"),
        ("method", "Method"),
        ("params", "Params"),
        ("name", "Name"),
        ("arguments", "ARGUMENTS"),
        ("_meta", "_Meta"),
    ]);
    let params = r#""params":{"#;
    for key in ["Task", "inputresponses", "RequestState", "requeststate"] {
        refusal(with(params, &format!("{params}\"{key}\":{{}},")));
    }
    for key in
        ["ProgressToken", "progresstoken", "IO.modelcontextprotocol/x", "io.modelcontextprotocol/ProtocolVersion"]
    {
        refusal(with(r#""_meta":{"#, &format!("\"_meta\":{{\"{key}\":1")));
    }
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"Method":"tools/call","method":"ping","params":{"name":"read"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"METHOD":"tools/call","params":{"name":"read"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"Name":"read"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"RequestId":1}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_META":{}}}"#,
    ] {
        assert_eq!(refusal(line).code, -32600, "{line}");
    }
    let trimmed = ["tools/call ", "\\ttools/call", "tools/call\u{a0}", "tools/call\\u0000", "Tools/Call\\u0000x"];
    for method in ["Tools/Call", "TOOLS/CALL", "tool\u{17f}/call", "tools\u{ff0f}call"].into_iter().chain(trimmed) {
        assert_eq!(refusal(with("tools/call", method)).code, -32600, "{method}");
    }
    let free = r#"{"Name":1,"NAME":2,"params":3,"Params":4,"_Meta":5}"#;
    assert_eq!(taken(&with(r#"{"path":"a"}"#, free)), free, "arguments are the tool's own");
}

/// A host that sends nothing but garbage would fill the disk, and then every call would be refused.
#[test]
fn c10_a_flood_of_refused_lines_is_counted_and_answered() {
    use mcp_approve::audit::record::Kind;
    use mcp_approve::gate::data::event::Side;
    let mut world = World::new().ready();
    for n in 0..5_000 {
        let line = if n % 2 == 0 { format!("garbage {n}") } else { format!(r#"[{n}]"#) };
        assert!(matches!(world.host(&line).as_slice(), [Did::Answer(_)]), "{line}");
    }
    let faults = |world: &World| world.entries.iter().filter(|entry| entry.kind == Kind::Fault).count();
    assert!(faults(&world) <= 40, "{}", faults(&world));
    world.wait(11);
    let lines = |world: &World| {
        let count = |entry: &mcp_approve::audit::record::Entry| {
            entry.detail.get("lines").map_or(1, |count| count.as_u64().unwrap())
        };
        world.entries.iter().filter(|entry| entry.kind == Kind::Fault).map(count).sum::<u64>()
    };
    assert_eq!((lines(&world), world.gate.status().refused_lines), (5_000, 5_000));
    // The reason starts anew; what is counted when all ends is in the log as well.
    for n in 0..30 {
        world.host(&format!("garbage {n}"));
    }
    world.close(Side::Server);
    assert_eq!(lines(&world), 5_030);
}

#[test]
fn c2_keys_that_fold_by_unicode_are_refused() {
    assert_shadows(&[
        ("params", "param\u{17f}"),
        ("params", "\u{ff50}arams"),
        ("params", "param\\u017f"),
        ("id", "\u{2170}d"),
        ("jsonrpc", "j\u{17f}onrpc"),
        ("name", "\u{ff4e}ame"),
        ("name", "n\u{1d41a}me"),
        ("name", "\u{1d40d}ame"),
        ("arguments", "argument\u{17f}"),
    ]);
    let line = with(r#""_meta":{"#, "\"_meta\":{\"progressTo\u{212a}en\":1");
    assert_eq!(refusal(line).code, -32600);
    let line = with(r#""_meta":{"#, "\"_meta\":{\"\u{ff49}o.modelcontextprotocol/x\":1");
    assert_eq!(refusal(line).code, -32600);
    taken(&with(r#""_meta":{"#, "\"_meta\":{\"x/\u{e9}\":1,\"traceparent\":\"00\""));
}

#[test]
fn c3_duplicate_keys_are_refused_at_any_depth() {
    for line in [
        with(r#""id":1"#, r#""id":1,"id":1"#),
        with(r#""method":"#, r#""method":"ping","method":"#),
        with(r#""name":"#, r#""name":"write","name":"#),
        with(r#""name":"#, r#""n\u0061me":"write","name":"#),
        with(r#"{"path":"a"}"#, r#"{"path":"a","path":"/etc"}"#),
        with(r#"{"path":"a"}"#, r#"{"deep":[{"deeper":{"k":1,"k":1}}]}"#),
        with(r#""_meta":{}"#, r#""_meta":{"x":1,"x":2}"#),
        with(r#"{"jsonrpc""#, r#"{"other":{"k":1,"\u006b":1},"jsonrpc""#),
    ] {
        assert_eq!(refusal(line.clone()).code, -32600, "{line}");
    }
    let many: Vec<String> = (0..1000).map(|i| format!("\"k{i}\":0")).collect();
    let line = with(r#""path":"a""#, &format!("{},\"k0\":1", many.join(",")));
    assert_eq!(refusal(line).code, -32600);
}

#[test]
fn c4_nul_is_refused_in_keys() {
    let line = with(r#"{"path":"a"}"#, r#"{"path\u0000":"a"}"#);
    assert_eq!(refusal(line).code, -32600);
    let line = with(r#"{"path":"a"}"#, "{\"path\u{0}\":\"a\"}");
    assert_eq!(refusal(line).code, -32700, "a raw NUL is no JSON");
    let value = r#"{"path":"a\u0000b"}"#;
    assert_eq!(taken(&with(r#"{"path":"a"}"#, value)), value, "in values it is a hazard, not a flaw");
}

#[test]
fn c5_numbers_keep_their_text() {
    let odd = r#"{"a":9007199254740993,"b":1.10,"c":1e400,"d":-0,"e":0.1000000000000000055511151231257827}"#;
    assert_eq!(taken(&with(r#"{"path":"a"}"#, odd)), odd);
    for id in ["9007199254740993", "-9007199254740993", "1.0", "1e0", "-0", "01", "99999999999999999999"] {
        refusal(with(r#""id":1"#, &format!("\"id\":{id}")));
    }
}

#[test]
fn c6_batches_are_refused() {
    for line in [format!("[{CALL}]"), format!("[{CALL},{CALL}]"), "[]".to_owned()] {
        let refusal = refusal(line);
        assert_eq!((refusal.code, refusal.id, refusal.answer), (-32600, None, true));
    }
}

#[test]
fn c7_calls_without_an_id_are_refused() {
    let absent = refusal(with(r#""id":1,"#, ""));
    assert!(!absent.answer, "nobody waits for an answer to a notification");
    let null = refusal(with(r#""id":1"#, r#""id":null"#));
    assert!(null.answer);
    for id in ["[1]", "{}", "true"] {
        refusal(with(r#""id":1"#, &format!("\"id\":{id}")));
    }
}

#[test]
fn c8_ids_compare_by_type_and_text() {
    let id = |token: &str| Id::from_token(token).expect("an id");
    assert_ne!(id("1"), id("\"1\""));
    assert_eq!(id(r#""a""#), id(r#""\u0061""#));
    let answer = reply::error(Some(&id(r#""\u0061""#)), -32600, "no");
    assert!(answer.bytes().starts_with(br#"{"jsonrpc":"2.0","id":"\u0061","#));
}

#[test]
fn c9_framing_is_strict() {
    let bytes = |parts: &[&[u8]]| parts.concat();
    let call = CALL.as_bytes();
    let table = [
        (
            "invalid UTF-8",
            with("\"a\"", "\"?\"").into_bytes().iter().map(|byte| if *byte == b'?' { 0xff } else { *byte }).collect(),
        ),
        ("UTF-16", CALL.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ("byte order mark", bytes(&[b"\xef\xbb\xbf", call])),
        ("CR between messages", bytes(&[call, b"\r", call])),
        ("CR as white space", with(",\"id\"", ",\r\"id\"").into_bytes()),
        ("two CRs at the end", bytes(&[call, b"\r\r"])),
        ("two messages", bytes(&[call, call])),
        ("lone surrogate", with("\"a\"", r#""\ud800""#).into_bytes()),
        ("lone surrogate in a key", with("\"path\"", r#""\udc00""#).into_bytes()),
        ("form feed", bytes(&[b"\x0c", call])),
        ("NUL behind", bytes(&[call, b"\0"])),
    ];
    for (case, line) in table {
        let refusal = refusal(line);
        assert_eq!((refusal.code, refusal.id), (-32700, None), "{case}");
    }
    let Sorted::Call(call) = sorted(format!("{CALL}\r")) else {
        panic!("CRLF is a line end");
    };
    assert_eq!(call.line().bytes(), format!("{CALL}\r\n").as_bytes());
    assert_eq!(call.line().content(), CALL.as_bytes());
}

#[test]
fn c10_depth_and_length_are_bounded() {
    // The envelope, `params` and `arguments` are three of the 64.
    let nested = |depth: usize| format!("{{\"x\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    taken(&with(r#"{"path":"a"}"#, &nested(61)));
    let deep = refusal(with(r#"{"path":"a"}"#, &nested(62)));
    assert_eq!((deep.code, deep.id), (-32600, Some(Id::from_token("1").unwrap())));
    refusal("[".repeat(1_000_000));
    refusal("{\"a\":".repeat(1_000_000));

    let mut cutter = Cutter::new(64, BeyondCap::Drop);
    let mut found = Vec::new();
    let long = [CALL.as_bytes(), b"\n", b"{}\n"].concat();
    cutter.feed(&long, &mut |piece| found.push(piece));
    let [Piece::Overlong { head, bytes }, Piece::Line(next)] = &found[..] else {
        panic!("dropped whole, and the next line stands: {found:?}");
    };
    assert_eq!(*bytes, CALL.len() as u64);
    assert_eq!(next.content(), b"{}");
    let refusal = overlong(head, *bytes, 64);
    assert_eq!((refusal.code, refusal.id), (-32600, Some(Id::from_token("1").unwrap())));
}
