//! Messages under another id, token or text.

use mcp_approve::wire::Line;
use mcp_approve::wire::id::Id;
use mcp_approve::wire::rename::{with_id, with_param, with_text};

fn text(line: Option<Line>) -> Option<String> {
    line.map(|line| String::from_utf8(line.into_bytes()).expect("text"))
}

#[test]
fn an_answer_is_the_same_but_for_its_id() {
    let id = Id::from_token("\"b\"").expect("an id");
    for (line, wanted) in [
        ("{\"id\":7,\"result\":{\"id\":7}}\n", Some("{\"id\":\"b\",\"result\":{\"id\":7}}\n")),
        (
            "{\"result\":{\"t\":\"\\ud800\",\"a\":1,\"a\":2} , \"id\" :\"x\\\"y\" }\r\n",
            Some("{\"result\":{\"t\":\"\\ud800\",\"a\":1,\"a\":2} , \"id\" :\"b\" }\r\n"),
        ),
        ("{\"error\":{},\"\\u0069d\": 12}", Some("{\"error\":{},\"\\u0069d\": \"b\"}")),
        ("{\"id\":1,\"id\":2,\"result\":{}}", None),
        ("{\"result\":{\"id\":1}}", None),
    ] {
        assert_eq!(text(with_id(&Line::new(line.into()), &id)).as_deref(), wanted, "{line}");
    }
}

#[test]
fn a_member_of_params_is_replaced_and_nothing_else() {
    let line =
        "{\"method\":\"m\",\"params\":{ \"progressToken\" : 7 ,\"x\":{\"progressToken\":7}},\"progressToken\":7}\n";
    let wanted = line.replacen(" : 7 ,", " : \"t\" ,", 1);
    assert_eq!(text(with_param(&Line::new(line.into()), "progressToken", "\"t\"")), Some(wanted));
    assert_eq!(text(with_param(&Line::new(b"{\"params\":[7]}".to_vec()), "progressToken", "1")), None);
    let line = Line::new(b"{\"result\":{\"a\" : {\"t\": \"\\u0078\" },\"t\":\"x\"}}\n".to_vec());
    let wanted = "{\"result\":{\"a\" : {\"t\": \"y\\\"\" },\"t\":\"x\"}}\n";
    assert_eq!(text(with_text(&line, &["result", "a", "t"], "x", "y\"")).as_deref(), Some(wanted));
    assert_eq!(text(with_text(&line, &["result", "a", "t"], "z", "y")), None, "another text");
    assert_eq!(text(with_text(&line, &["result", "t", "t"], "x", "y")), None, "no object");
}
