//! Tasks on the wire.

use mcp_approve::wire::id::Id;
use mcp_approve::wire::task::{End, declares, requested, result};
use serde_json::Value;

#[test]
fn a_result_names_its_task_and_stays_as_it_is_written_else() {
    let named = r#""io.modelcontextprotocol/related-task":{"taskId":"t"}"#;
    for (answer, wanted) in [
        ("{}", format!(r#"{{"_meta":{{{named}}}}}"#)),
        (r#"{ "content":[1.0] }"#, format!(r#"{{"_meta":{{{named}}}, "content":[1.0] }}"#)),
        (r#"{"_meta":{},"a":1}"#, format!(r#"{{"_meta":{{{named}}},"a":1}}"#)),
        (r#"{"a":1,"_meta":{"b":2}}"#, format!(r#"{{"a":1,"_meta":{{{named},"b":2}}}}"#)),
        (
            r#"{"_meta":{"b":2,"io.modelcontextprotocol/related-task": {"taskId":"x"}}}"#,
            format!(r#"{{"_meta":{{"b":2,{}}}}}"#, named.replacen(':', ": ", 1)),
        ),
        (r#"{"a":1,"a":2}"#, r#"{"a":1,"a":2}"#.to_owned()),
        (r#"{"_meta":7}"#, r#"{"_meta":7}"#.to_owned()),
    ] {
        let line = result(&Id::from_token("1").expect("an id"), "t", End::Result(answer));
        let wanted = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{wanted}}}");
        assert_eq!(String::from_utf8_lossy(line.content()), wanted);
    }
}

#[test]
fn an_answer_ends_in_a_result_or_an_error() {
    let read = |text: &'static str| End::read(text.as_bytes());
    assert_eq!(read(r#"{"id":1,"result": {"t":"\ud800"} }"#), Some(End::Result(r#"{"t":"\ud800"}"#)));
    assert_eq!(read(r#"{"error":{"code":1}}"#), Some(End::Error(r#"{"code":1}"#)));
    for odd in [r#"{"result":{},"error":{}}"#, r#"{"result":{},"result":{}}"#, r#"{"result":[]}"#, "{}", "x"] {
        assert_eq!(read(odd), None, "{odd}");
    }
}

#[test]
fn a_request_declares_tasks_in_so_many_words() {
    let meta = |extensions: &str| {
        let text = format!(r#"{{"io.modelcontextprotocol/clientCapabilities":{{"extensions":{extensions}}}}}"#);
        serde_json::from_str::<Value>(&text).expect("JSON")
    };
    assert!(declares(&meta(r#"{"io.modelcontextprotocol/tasks":{}}"#)));
    for other in [r#"{"io.modelcontextprotocol/tasks":null}"#, r#"{"io.modelcontextprotocol/ui":{}}"#, "[]"] {
        assert!(!declares(&meta(other)), "{other}");
    }
    assert_eq!([requested("{}"), requested(r#"{"ttl":60000}"#)], [Some(0), Some(60_000)]);
    assert_eq!([requested("null"), requested("true")], [None, None]);
}
