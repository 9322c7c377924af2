//! Lists of capabilities that may be used: what is one, and which tools it has.

use mcp_approve::capability::scope::Listed;
use serde_json::{Value, json};

use super::tool;

#[test]
fn a_scope_is_read_from_any_list_of_tools() {
    for text in [
        r#"["read", "list"]"#,
        r#"[{"name":"read"}, "list"]"#,
        r#"{"tools":[{"name":"list","inputSchema":{}},{"name":"read"}]}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"list"},{"name":"read"}]}}"#,
    ] {
        let listed = Listed::read(text).unwrap();
        assert!(listed.names("read") && listed.names("list") && listed.count() == 2, "{text}");
        let json = serde_json::to_value(&listed).unwrap();
        assert_eq!(serde_json::from_value::<Listed>(json).unwrap(), listed, "{text}");
    }
    assert!(Listed::read("[]").unwrap().count() == 0, "nothing may be used");
    let listed = Listed::read(r#"{"resources":["note:///*"],"prompts":["p"]}"#).unwrap();
    assert!(listed.count() == 0 && listed.names_prompt("p") && !listed.names_prompt("q"));
    assert_eq!(listed.resources().collect::<Vec<_>>(), ["note:///*"]);
    let json = serde_json::to_value(&listed).unwrap();
    assert_eq!(serde_json::from_value::<Listed>(json).unwrap(), listed);
    for text in [
        "",
        "read",
        r#"{"read":1}"#,
        r#"["read", 7]"#,
        r#"[{"title":"read"}]"#,
        r#"{"tools":"read"}"#,
        r#"["read", {"name":"read","inputSchema":{}}]"#,
        r#"{"tools":["read"],"resources":"note:///a"}"#,
        r#"{"tools":["read"],"prompts":[7]}"#,
    ] {
        assert!(Listed::read(text).is_err(), "{text}");
    }
}

#[test]
fn a_tool_that_grew_since_the_list_was_made_is_not_in_it() {
    let schema = |properties: Value| json!({ "type": "object", "properties": properties });
    let now =
        |input: Value, output: Value| tool(json!({ "name": "read", "inputSchema": input, "outputSchema": output }));
    let path = schema(json!({ "path": { "type": "string" } }));
    let more = schema(json!({ "path": { "type": "string" }, "recursive": { "type": "boolean" } }));
    let result = schema(json!({ "text": { "type": "string" } }));
    let typed = json!([{ "name": "read", "inputSchema": path, "outputSchema": result }]);
    let listed = Listed::read(&typed.to_string()).unwrap();
    assert_eq!(listed.lacks("read", Some(&now(path.clone(), result.clone()))), None);
    assert_eq!(listed.lacks("read", Some(&now(schema(json!({ "path": { "enum": ["a"] } })), result.clone()))), None);
    for (name, tool) in [
        ("write", Some(now(path.clone(), result.clone()))),
        ("read", Some(now(more.clone(), result))),
        ("read", Some(now(path.clone(), Value::Null))),
        ("read", Some(now(path, more))),
        ("read", None),
    ] {
        assert!(listed.lacks(name, tool.as_ref()).is_some(), "{name} {tool:?}");
    }
    let by_name = Listed::read(r#"["read"]"#).unwrap();
    assert_eq!(by_name.lacks("read", None), None, "a name alone gives no type to compare");
}
