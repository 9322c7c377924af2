//! The strict reader against tables, and against serde_json: what it takes, serde_json takes with the same meaning.

use mcp_approve::mcp::lifecycle::Lifecycle;
use mcp_approve::mcp::result::Answer;
use mcp_approve::mcp::tool::Page;
use mcp_approve::wire::message::{Sorted, overlong, peek, sort};
use mcp_approve::wire::strict::{DEPTH, Flaw, Reader};
use mcp_approve::wire::{Line, json};
use proptest::prelude::*;
use serde_json::Value;

/// Reads a text whole: its value, as the strict reader alone makes it.
fn read(text: &[u8]) -> Result<Value, Flaw> {
    let whole = || {
        let mut reader = Reader::new(text)?;
        reader.skip()?;
        reader.end()
    };
    let value = std::str::from_utf8(text).ok().and_then(json::value);
    match whole() {
        Ok(()) => Ok(value.expect("what the strict reader takes has a value")),
        Err(fault) => {
            assert_eq!(value, None, "what the strict reader refuses has none");
            Err(fault.flaw)
        }
    }
}

#[test]
fn json_is_read_strictly() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let refused = [
        ("", Flaw::Syntax),
        ("{", Flaw::Syntax),
        ("{]", Flaw::Syntax),
        ("{,}", Flaw::Syntax),
        (r#"{"a"}"#, Flaw::Syntax),
        (r#"{"a":}"#, Flaw::Syntax),
        (r#"{"a":1,}"#, Flaw::Syntax),
        (r#"{"a":1 "b":2}"#, Flaw::Syntax),
        (r#"{a:1}"#, Flaw::Syntax),
        (r#"{'a':1}"#, Flaw::Syntax),
        ("[1,]", Flaw::Syntax),
        ("[1 2]", Flaw::Syntax),
        ("01", Flaw::Trailing),
        ("-", Flaw::Syntax),
        ("+1", Flaw::Syntax),
        (".5", Flaw::Syntax),
        ("1.", Flaw::Syntax),
        ("1e", Flaw::Syntax),
        ("0x1", Flaw::Trailing),
        ("NaN", Flaw::Syntax),
        ("nul", Flaw::Syntax),
        ("True", Flaw::Syntax),
        (r#""\x41""#, Flaw::Syntax),
        (r#""\u12""#, Flaw::Syntax),
        (r#""\u+123""#, Flaw::Syntax),
        (r#""open"#, Flaw::Syntax),
        ("\"tab\there\"", Flaw::ControlCharacter),
        ("\"eight by\0\"", Flaw::ControlCharacter),
        ("[1,\r2]", Flaw::ControlCharacter),
        ("[1,\n2]", Flaw::ControlCharacter),
        ("\u{a0}1", Flaw::Syntax),
        ("\u{feff}1", Flaw::ByteOrderMark),
        (r#""\ud83d""#, Flaw::LoneSurrogate),
        (r#""\ud83dx""#, Flaw::LoneSurrogate),
        (r#""\ud83d\n""#, Flaw::LoneSurrogate),
        (r#""\ud83d\ud83d""#, Flaw::LoneSurrogate),
        (r#""\ude00""#, Flaw::LoneSurrogate),
        (r#"{"a\u0000":1}"#, Flaw::NulInKey),
        (r#"[{"$serde_json::private::Number":"1"}]"#, Flaw::ReservedKey),
        (r#"{"a":1,"\u0024serde_json::private::RawValue":"1"}"#, Flaw::ReservedKey),
        (r#"{"a":1,"a":1}"#, Flaw::DuplicateKey),
        (r#"{"a":1,"\u0061":1}"#, Flaw::DuplicateKey),
        (r#"[{"x":{"😀":1,"\ud83d\ude00":1}}]"#, Flaw::DuplicateKey),
        ("1 2", Flaw::Trailing),
        ("{}}", Flaw::Trailing),
        (&nested(DEPTH + 1), Flaw::TooDeep),
    ];
    for (text, flaw) in refused {
        assert_eq!(read(text.as_bytes()), Err(flaw), "{text}");
    }
    let taken = [
        "{}",
        "[]",
        " [ 1 , -0 , 0.5e-7 , 1E+400 , 18446744073709551616 ] ",
        "\t\"\"",
        "null",
        "{\"a\":1,\"A\":2,\"\u{e1}\":3,\"a\u{301}\":4}",
        r#"{"":{"":{"":[]}}}"#,
        r#""\"\\\/\b\f\n\r\t\u0000\u00e9\ud83d\ude00é😀""#,
        "\"\u{7f}\u{2028}\u{85}\"",
        &nested(DEPTH),
        &format!("[{}{{}}]", "[[]],{\"a\":{}},".repeat(DEPTH)),
    ];
    for text in taken {
        let meaning: Value = serde_json::from_str(text).expect("a case serde_json takes");
        assert_eq!(read(text.as_bytes()), Ok(meaning), "{text}");
    }
    assert_eq!(read(b"\"\xff\""), Err(Flaw::NotUtf8));
    assert_eq!(read(b"\"\xed\xa0\x80\""), Err(Flaw::NotUtf8), "a surrogate written as UTF-8");
}

#[test]
fn a_twin_is_found_among_many_keys() {
    let key = |i: usize| format!("\"key{i}\":0");
    for count in [2, 11, 12, 13, 14, 100, 5000] {
        let mut keys: Vec<String> = (0..count).map(key).collect();
        assert!(read(format!("{{{}}}", keys.join(",")).as_bytes()).is_ok(), "{count} keys");
        for twin in ["\"key0\":1", "\"k\\u0065y1\":1"] {
            keys.push(twin.to_owned());
            let text = format!("{{{}}}", keys.join(","));
            assert_eq!(read(text.as_bytes()), Err(Flaw::DuplicateKey), "{count} keys and {twin}");
            keys.pop();
        }
    }
}

#[test]
fn keys_of_one_object_do_not_meet_those_of_another() {
    let text = r#"{"a":{"a":{"b":1},"b":{"a":2}},"b":[{"a":1},{"a":2}]}"#;
    assert!(read(text.as_bytes()).is_ok());
}

/// JSON text as hosts of all kinds write it: spacing, escapes, odd numbers, now and then the same key twice.
fn json() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => "[a-c]{0,2}", 1 => any::<String>(),
    ]
    .prop_map(|text| Value::from(text).to_string());
    let escaped = prop_oneof![
        Just(r#""\u0061""#.to_owned()),
        Just(r#""\ud83d\ude00""#.to_owned()),
        Just(r#""\/\u0000""#.to_owned()),
    ];
    let text = prop_oneof![4 => word, 1 => escaped].boxed();
    let number = "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,4})?([eE][+-]?[0-9]{1,3})?";
    let leaf = prop_oneof![
        text.clone(),
        number.prop_map(|number| number),
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
    ];
    let space = || prop_oneof![4 => Just(""), 1 => Just(" "), 1 => Just("\t")];
    leaf.prop_recursive(4, 32, 8, move |inner| {
        let item = (space(), inner.clone()).prop_map(|(space, item)| format!("{space}{item}"));
        let member = (text.clone(), space(), inner).prop_map(|(key, space, value)| format!("{key}{space}:{value}"));
        prop_oneof![
            prop::collection::vec(item, 0..6).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec(member, 0..16).prop_map(|members| format!("{{{} }}", members.join(", "))),
        ]
    })
}

/// Messages to begin from: every kind of value, escape and envelope that sorting looks at.
const SOUND: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":[1,-2.5e3,{"b":null}],"\u00e9":"\ud83d\ude00 \\"}}}"#,
    r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"t","_meta":{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28"},"requestState":"s"}}"#,
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"h","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"é\n"}}"#,
    r#"{"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}],"nextCursor":""},"jsonrpc":"2.0","id":0}"#,
    r#"{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":10,"k":11,"l":12,"m":13,"n":14,"o":true}"#,
];

/// A message with a few bytes changed, dropped or added.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let odd = prop_oneof![any::<u8>(), prop::sample::select(b"{}[]\",:\\u0e-.\r\n\t d8".to_vec())];
    let change = (any::<prop::sample::Index>(), 0..3_u8, odd);
    (prop::sample::select(SOUND), prop::collection::vec(change, 0..5)).prop_map(|(text, changes)| {
        let mut bytes = text.as_bytes().to_vec();
        for (index, kind, byte) in changes {
            let at = index.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_taken_means_the_same_to_serde_json(text in json()) {
        match read(text.as_bytes()) {
            Ok(meaning) => {
                let other: Value = serde_json::from_str(&text).expect("serde_json takes what we take");
                prop_assert_eq!(meaning, other);
            }
            // The generator writes nothing else that is wrong.
            Err(flaw) => prop_assert!(matches!(flaw, Flaw::DuplicateKey | Flaw::NulInKey), "{} {}", flaw, text),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn garbage_never_panics_and_never_passes(bytes in mutated()) {
        let _ = (peek(&bytes), Answer::read(&bytes), Page::read(&bytes), overlong(&bytes, 1, 1));
        if let Ok(meaning) = read(&bytes) {
            prop_assert_eq!(Ok(meaning), serde_json::from_slice::<Value>(&bytes).map_err(|_| ()));
        }
        match sort(Line::new(bytes.clone())) {
            Sorted::Call(call) => {
                let other: Value = serde_json::from_slice(call.line().content()).expect("taken twice");
                prop_assert_eq!(other.pointer("/method"), Some(&Value::from("tools/call")));
                prop_assert_eq!(other.pointer("/params/name"), Some(&Value::from(call.name())));
            }
            Sorted::Plain(plain) => {
                let other: Value = serde_json::from_slice(plain.line().content()).expect("taken twice");
                prop_assert_ne!(other.pointer("/method"), Some(&Value::from("tools/call")));
                let mut lifecycle = Lifecycle::default();
                lifecycle.on_host_line(plain.gist(), &bytes);
                lifecycle.on_server_line(plain.gist(), &bytes);
            }
            Sorted::Refused { .. } | Sorted::Blank => {}
        }
    }
}
