//! Answers to calls, by their result type.

use mcp_approve::mcp::result::Answer;

#[test]
fn an_answer_is_read_by_its_result_type() {
    let complete = |is_error, structured: Option<&str>| Answer::Complete {
        is_error,
        structured: structured.map(|text| serde_json::from_str(text).expect("a case is JSON")),
    };
    let needs = |state: Option<&str>, inputs: &[&str]| Answer::InputRequired {
        state: state.map(str::to_owned),
        inputs: inputs.iter().map(|input| (*input).to_owned()).collect(),
    };
    let task = |id: &str| Answer::Task { id: id.to_owned() };
    let table = [
        (r#"{"result":{"content":[]}}"#, complete(false, None)),
        (r#"{"result":{"isError":true,"resultType":"complete"}}"#, complete(true, None)),
        (r#"{"result":{"isError":"true","structuredContent":1.10}}"#, complete(false, Some("1.10"))),
        (r#"{"result":{"structuredContent":null}}"#, complete(false, Some("null"))),
        (
            r#"{"result":{"resultType":"input_required","requestState":"s","inputRequests":{"b":{},"a":{}}}}"#,
            needs(Some("\"s\""), &["a", "b"]),
        ),
        (r#"{"result":{"resultType":"input_required","requestState":"s"}}"#, needs(Some("\"s\""), &[])),
        (r#"{"result":{"resultType":"input_required"}}"#, Answer::Unreadable),
        (r#"{"result":{"resultType":"input_required","inputRequests":[]}}"#, Answer::Unreadable),
        (r#"{"result":{"resultType":"task","taskId":"7"}}"#, task("7")),
        (r#"{"result":{"task":{"taskId":"7","status":"working"}}}"#, task("7")),
        (r#"{"result":{"resultType":"later"}}"#, Answer::Unreadable),
        (r#"{"result":{"resultType":1}}"#, Answer::Unreadable),
        (r#"{"error":{"code":-32602,"message":"no"}}"#, Answer::Failed { code: -32602, message: "no".to_owned() }),
        (r#"{"error":"no"}"#, Answer::Unreadable),
        (r#"{"result":[]}"#, Answer::Unreadable),
        ("", Answer::Unreadable),
    ];
    for (line, answer) in table {
        assert_eq!(Answer::read(line.as_bytes()), answer, "{line}");
    }
    for (length, is_task) in [(1024, true), (1025, false)] {
        let line = format!(r#"{{"result":{{"task":{{"taskId":"{}"}}}}}}"#, "x".repeat(length));
        assert_eq!(matches!(Answer::read(line.as_bytes()), Answer::Task { .. }), is_task, "it is kept for a day");
    }
}
