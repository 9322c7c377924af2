//! A tool as its server describes it, and pages of them. Everything in it is the server's word: untrusted.

use serde_json::{Map, Value};

use crate::wire::digest::Digest;

/// One entry of `tools/list`.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The name on the wire: arbitrary Unicode, case-sensitive.
    pub name: String,
    /// Display name: `title`, else `annotations.title`.
    pub title: Option<String>,
    /// The server's description, for a model.
    pub description: Option<String>,
    /// `inputSchema`; `true` (anything) where missing or not a schema.
    pub input_schema: Value,
    /// `outputSchema`.
    pub output_schema: Option<Value>,
    /// The hints.
    pub annotations: Annotations,
    /// The whole definition as read, for declared fields, pins and display.
    pub definition: Value,
}

/// MCP's tool annotations; `None` where the server did not say. Defaults are the specification's:
/// not read-only, destructive, not idempotent, open world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    pub read_only: Option<bool>,
    pub destructive: Option<bool>,
    pub idempotent: Option<bool>,
    pub open_world: Option<bool>,
}

/// One page of `tools/list`.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub tools: Vec<Tool>,
    /// The opaque cursor of the next page; an empty string is a valid cursor.
    pub next_cursor: Option<String>,
}

impl Tool {
    /// Reads one definition; `None` when it has no `name`.
    pub fn read(definition: Value) -> Option<Self> {
        let text = |key: &str| definition.get(key).and_then(text_of);
        let hints = definition.get("annotations");
        let hint = |key: &str| hints?.get(key)?.as_bool();
        let hinted_title = || hints?.get("title").and_then(text_of);
        let schema = |key: &str| {
            let is_schema = |value: &&Value| value.is_object() || value.is_boolean();
            definition.get(key).filter(is_schema).cloned()
        };
        Some(Self {
            name: text("name")?,
            title: text("title").or_else(hinted_title),
            description: text("description"),
            input_schema: schema("inputSchema").unwrap_or(Value::Bool(true)),
            output_schema: schema("outputSchema"),
            annotations: Annotations {
                read_only: hint("readOnlyHint"),
                destructive: hint("destructiveHint"),
                idempotent: hint("idempotentHint"),
                open_world: hint("openWorldHint"),
            },
            definition,
        })
    }

    /// The digest of the canonical definition: keys sorted, annotations included.
    ///
    /// Canonical is compact JSON with every object's keys in byte order and every number as its text, so that a server
    /// may write the same definition in another order or spacing without a change.
    pub fn digest(&self) -> Digest {
        let mut text = String::new();
        write_canonical(&self.definition, &mut text);
        Digest::of(text.as_bytes())
    }
}

impl Page {
    /// Reads the line content of a successful `tools/list` response. `None` when it is no such thing.
    ///
    /// Entries without a name are left out: nobody can call them.
    pub fn read(content: &[u8]) -> Option<Self> {
        let mut message: Value = serde_json::from_slice(content).ok()?;
        let result = message.get_mut("result")?;
        let Value::Array(tools) = result.get_mut("tools")?.take() else {
            return None;
        };
        Some(Self {
            tools: tools.into_iter().filter_map(Tool::read).collect(),
            next_cursor: result.get("nextCursor").and_then(text_of),
        })
    }
}

fn text_of(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => write_members(members, out),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            out.push_str(&value.to_string());
        }
    }
}

fn write_members(members: &Map<String, Value>, out: &mut String) {
    let mut members: Vec<(&String, &Value)> = members.iter().collect();
    members.sort_unstable_by_key(|(key, _)| *key);
    out.push('{');
    for (i, (key, value)) in members.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        out.push_str(&Value::from(key.as_str()).to_string());
        out.push(':');
        write_canonical(value, out);
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use super::{Annotations, Page, Tool};

    fn tool(definition: &str) -> Option<Tool> {
        Tool::read(serde_json::from_str(definition).expect("a case is JSON"))
    }

    #[test]
    fn a_definition_is_read_as_far_as_it_can_be() {
        let read = tool(
            r#"{"name":"t","description":"d","inputSchema":{"type":"object"},"outputSchema":true,
                "annotations":{"title":"T","readOnlyHint":true,"destructiveHint":"no","openWorldHint":false}}"#,
        )
        .expect("it has a name");
        assert_eq!((read.name.as_str(), read.title.as_deref()), ("t", Some("T")));
        assert_eq!(read.description.as_deref(), Some("d"));
        assert_eq!(read.output_schema, Some(true.into()));
        let hints = Annotations { read_only: Some(true), open_world: Some(false), ..Annotations::default() };
        assert_eq!(read.annotations, hints, "a hint that is no boolean is not said");

        let bare =
            tool(r#"{"name":"t","title":"A","annotations":{"title":"B"},"inputSchema":[]}"#).expect("it has a name");
        assert_eq!(bare.title.as_deref(), Some("A"));
        assert_eq!(bare.input_schema.as_bool(), Some(true), "no schema takes anything");
        assert_eq!(bare.output_schema, None);
        for nameless in ["{}", r#"{"name":1}"#, "[]", "null"] {
            assert_eq!(tool(nameless), None, "{nameless}");
        }
    }

    #[test]
    fn a_digest_is_of_the_definition_not_of_its_writing() {
        let digest = |definition| tool(definition).expect("a tool").digest();
        let pinned = digest(r#"{"name":"t","annotations":{"readOnlyHint":true,"title":"\u00e9"},"n":[1.0,2]}"#);
        assert_eq!(pinned, digest(r#"{ "n": [1.0, 2], "annotations":{"title":"é","readOnlyHint":true}, "name":"t" }"#));
        for changed in [
            r#"{"name":"t","annotations":{"readOnlyHint":false,"title":"é"},"n":[1.0,2]}"#,
            r#"{"name":"t","annotations":{"readOnlyHint":true,"title":"é"},"n":[1,2]}"#,
            r#"{"name":"t","annotations":{"readOnlyHint":true,"title":"é"},"n":[2,1.0]}"#,
            r#"{"name":"t","annotations":{"readOnlyHint":true,"title":"é"},"n":[1.0,2],"_meta":{}}"#,
        ] {
            assert_ne!(pinned, digest(changed), "{changed}");
        }
    }

    #[test]
    fn a_page_is_a_successful_list() {
        let page = Page::read(br#"{"id":1,"result":{"tools":[{"name":"a"},{},{"name":"b"}],"nextCursor":""}}"#)
            .expect("a page");
        let names: Vec<&str> = page.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(page.next_cursor.as_deref(), Some(""), "an empty cursor is a cursor");
        for other in ["", "{}", r#"{"result":{}}"#, r#"{"result":{"tools":{}}}"#, r#"{"error":{}}"#] {
            assert_eq!(Page::read(other.as_bytes()), None, "{other}");
        }
    }
}
