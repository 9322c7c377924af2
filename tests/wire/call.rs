//! A call's parts keep their bytes; an edit changes the arguments and nothing else.

use mcp_approve::wire::Line;
use mcp_approve::wire::call::Call;
use mcp_approve::wire::digest::Digest;
use mcp_approve::wire::id::Id;
use mcp_approve::wire::message::{Sorted, sort};

use super::refused;

fn call(content: &str) -> Call {
    match sort(Line::new(format!("{content}\n").into_bytes())) {
        Sorted::Call(call) => *call,
        other => panic!("no call: {other:?}"),
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
    assert!(call.meta_text().is_some_and(|meta| meta.starts_with(r#"{"progressToken""#)));
    assert_eq!(call.digest(), Digest::of(line.as_bytes()));
    assert!(call.carries_state(Some(r#""S""#)), "a host may write the state anew");
    assert!(!call.carries_state(Some(r#""s""#)));
    assert!(!call.carries_state(None));
    assert_eq!(call.into_line().bytes(), format!("{line}\n").as_bytes());
}

#[test]
fn an_edit_changes_the_arguments_and_nothing_else() {
    let with = |params: &str| call(&format!(r#"{{"jsonrpc":"2.0", "id":1,"method":"tools/call","params":{params}}}"#));
    let edited = |params: &str, arguments: &str| match with(params).with_arguments(arguments) {
        Ok(call) => String::from_utf8_lossy(call.line().content()).into_owned(),
        Err(refusal) => refused(&refusal),
    };
    let whole = |params: &str| format!(r#"{{"jsonrpc":"2.0", "id":1,"method":"tools/call","params":{params}}}"#);
    let table = [
        (
            r#"{"name":"t","arguments":{"a":1},"task":{}}"#,
            r#"{"b":2}"#,
            whole(r#"{"name":"t","arguments":{"b":2},"task":{}}"#),
        ),
        (r#"{ "name":"t"}"#, r#"{"b":2}"#, whole(r#"{"arguments":{"b":2}, "name":"t"}"#)),
        (r#"{"name":"t"}"#, "{\n\"b\":\r\n2}", whole(r#"{"arguments":{ "b":  2},"name":"t"}"#)),
        (r#"{"name":"t"}"#, r#"{"b":1,"b":2}"#, "refused -32600 id 1".to_owned()),
        (r#"{"name":"t"}"#, r#"[]"#, "refused -32600 id 1".to_owned()),
        (r#"{"name":"t"}"#, r#"{"#, "refused -32600 id 1".to_owned()),
        (r#"{"name":"t"}"#, r#"{},"task":{}"#, "refused -32600 id 1".to_owned()),
        (r#"{"name":"t"}"#, r#"{}}"#, "refused -32600 id 1".to_owned()),
    ];
    for (params, arguments, expected) in table {
        assert_eq!(edited(params, arguments), expected, "{arguments}");
    }
    let (before, edit) = (with(r#"{"name":"t"}"#), r#"{"b":2}"#);
    let after = before.with_arguments(edit).expect("an edit");
    assert_ne!(before.digest(), after.digest());
    assert_eq!(after.line().bytes().last(), Some(&b'\n'));
}
