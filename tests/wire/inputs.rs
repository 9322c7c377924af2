//! Requests that a server puts inside its messages.

use mcp_approve::wire::Line;
use mcp_approve::wire::call::{AnswerTo, Call};
use mcp_approve::wire::id::Id;
use mcp_approve::wire::inputs::read;

#[test]
fn requests_inside_a_result_are_read_as_every_reader_reads_them() {
    let asks =
        r#""inputRequests":{"a":{"method":"sampling/createMessage","params":{"x":1}},"b":{"method":"roots\/list"}}"#;
    for line in [format!(r#"{{"id":1,"result":{{{asks}}}}}"#), format!(r#"{{"method":"n","params":{{{asks}}}}}"#)] {
        let found = read(line.as_bytes()).unwrap().unwrap();
        assert_eq!(found.methods().collect::<Vec<_>>(), ["sampling/createMessage", "roots/list"], "{line}");
        let answer = Line::new(line.clone().into_bytes());
        let held = Call::inside(answer, Id::from_token("1").unwrap(), found, AnswerTo::Call, None);
        assert_eq!(held.questions().next(), Some(("sampling/createMessage", r#"{"x":1}"#)));
        assert!(held.arguments_text().starts_with(r#"{"a":"#));
    }
    for none in [
        r#"{"id":1,"result":{}}"#,
        r#"{"id":1,"result":[1]}"#,
        r#"{"id":1,"result":{"inputRequests":null}}"#,
        r#"{"id":1,"result":{"inputRequests":{}}}"#,
        r#"{"id":1,"result":{"structuredContent":{"inputRequests":{"a":{}}}}}"#,
        r#"{"id":1,"error":{"data":{"inputRequests":{"a":{}}}}}"#,
    ] {
        assert_eq!(read(none.as_bytes()), Ok(None), "{none}");
    }
}

#[test]
fn what_readers_could_differ_on_is_no_request() {
    for odd in [
        r#"{"result":{"InputRequests":{}}}"#,
        r#"{"result":{"inputRequests":[]}}"#,
        r#"{"result":{"inputRequests":true}}"#,
        r#"{"result":{"inputRequests":{"a":1}}}"#,
        r#"{"result":{"inputRequests":{"a":{}}}}"#,
        r#"{"result":{"inputRequests":{"a":{"method":1}}}}"#,
        r#"{"result":{"inputRequests":{"a":{"method":"x","METHOD":"y"}}}}"#,
        r#"{"result":{"inputRequests":{"a":{"method":"x","method":"y"}}}}"#,
        r#"{"result":{"inputRequests":{},"inputRequests":{}}}"#,
        r#"{"result":{}"#,
    ] {
        assert!(read(odd.as_bytes()).is_err(), "{odd}");
    }
}
