//! What host and server say that they can do, as the handshake has it: revision, names, features, instructions to the model.
//! All of it is foreign text, and bounded here.

use serde_json::{Map, Value, json};

use crate::wire::digest::Digest;
use crate::wire::fold::CLIENT_CAPABILITIES;

/// How many features are kept, and how many characters of each.
const FEATURES: usize = 64;
const LONGEST: usize = 64;
/// How many characters of the instructions are kept; their digest is of all.
const INSTRUCTIONS: usize = 2000;

/// What an answer to `initialize` or `server/discover` says of the server, as one object; `None` for any other answer.
pub fn of_server(content: &[u8]) -> Option<Value> {
    let message: Value = serde_json::from_slice(content).ok()?;
    let result = message.get("result")?;
    let capabilities = result.get("capabilities")?;
    let text = |pointer: &str| Some(bounded(result.pointer(pointer)?.as_str()?, LONGEST));
    let versions = result.get("supportedVersions").and_then(Value::as_array).into_iter().flatten();
    let versions: Vec<&str> = versions.filter_map(Value::as_str).take(FEATURES).collect();
    let revision = text("/protocolVersion").unwrap_or_else(|| bounded(&versions.join(" "), LONGEST));
    let mut said = json!({
        "revision": revision,
        "server": text("/serverInfo/name"),
        "server_version": text("/serverInfo/version"),
        "features": features(capabilities),
    });
    let instructions = result.get("instructions").and_then(Value::as_str);
    if let (Some(text), Some(said)) = (instructions, said.as_object_mut()) {
        let digest = Digest::of(text.as_bytes()).to_string();
        let kept = json!({ "digest": digest, "bytes": text.len(), "text": bounded(text, INSTRUCTIONS) });
        said.insert("instructions".to_owned(), kept);
    }
    Some(said)
}

/// What the host can do, by the params of its `initialize`.
pub fn of_host(content: &[u8]) -> Vec<String> {
    at(content, "/params/capabilities").as_ref().map(features).unwrap_or_default()
}

/// Whether the host says in its `initialize` that it shows forms: `elicitation` with `form` in it, or empty, as the
/// first revision with elicitation says it.
pub fn shows_forms(content: &[u8]) -> bool {
    has_forms(at(content, "/params/capabilities").as_ref())
}

/// Whether a request of the stateless era says the same in its `_meta`, given as its text.
pub fn declares_forms(meta: &str) -> bool {
    let meta: Option<Value> = serde_json::from_str(meta).ok();
    meta.is_some_and(|meta| has_forms(meta.get(CLIENT_CAPABILITIES)))
}

fn at(content: &[u8], pointer: &str) -> Option<Value> {
    let mut message: Value = serde_json::from_slice(content).ok()?;
    message.pointer_mut(pointer).map(Value::take)
}

fn has_forms(capabilities: Option<&Value>) -> bool {
    let said = capabilities.and_then(|capabilities| capabilities.get("elicitation")?.as_object());
    said.is_some_and(|said| said.is_empty() || said.get("form").is_some_and(Value::is_object))
}

/// Whether an answer to `initialize` says that the server makes tasks of calls (2025-11-25).
pub fn makes_tasks(content: &[u8]) -> bool {
    at(content, "/result/capabilities/tasks/requests/tools/call").is_some_and(|said| said.is_object())
}

/// The names of capabilities, and what is switched on in each: `tools`, `tools.listChanged`.
fn features(capabilities: &Value) -> Vec<String> {
    let empty = Map::new();
    let mut found = Vec::new();
    for (name, inner) in capabilities.as_object().unwrap_or(&empty) {
        found.push(bounded(name, LONGEST));
        let switched =
            inner.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null() && **value != false);
        found.extend(switched.map(|(inner, _)| bounded(&format!("{name}.{inner}"), LONGEST)));
    }
    found.truncate(FEATURES);
    found
}

fn bounded(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{of_host, of_server};

    #[test]
    fn a_server_is_what_its_answer_says() {
        let answer = json!({"id": 1, "result": {"protocolVersion": "2025-11-25", "serverInfo": {"name": "s", "version": "2"},
            "capabilities": {"tools": {"listChanged": true}, "logging": {}, "resources": {"subscribe": false}},
            "instructions": "Use the tools."}});
        let said = of_server(answer.to_string().as_bytes()).unwrap();
        assert_eq!(said["features"], json!(["tools", "tools.listChanged", "logging", "resources"]));
        assert_eq!((&said["server"], &said["revision"]), (&json!("s"), &json!("2025-11-25")));
        assert_eq!(
            (&said["instructions"]["bytes"], &said["instructions"]["text"]),
            (&json!(14), &json!("Use the tools."))
        );
        let long = json!({"result": {"capabilities": {}, "instructions": "x".repeat(100_000)}});
        let said = of_server(long.to_string().as_bytes()).unwrap();
        assert_eq!(said["instructions"]["text"].as_str().unwrap().len(), 2000);
        let many: serde_json::Map<_, _> = (0..1000).map(|at| (format!("f{at}"), json!({}))).collect();
        let said = of_server(json!({"result": {"capabilities": many}}).to_string().as_bytes()).unwrap();
        assert_eq!(said["features"].as_array().unwrap().len(), super::FEATURES);
        assert_eq!(of_server(br#"{"id":1,"result":{"tools":[]}}"#), None);
        let params = br#"{"params":{"capabilities":{"sampling":{},"roots":{"listChanged":true}}}}"#;
        assert_eq!(of_host(params), ["sampling", "roots", "roots.listChanged"]);
    }
}
