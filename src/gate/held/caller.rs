//! Who asks within the host, from a call's `_meta`: hints for the operator, never a reason to allow.

use serde_json::Value;

use crate::mcp::meta::is_trace;

/// Our word for a key of `_meta` (its last segment, in small letters without `-` and `_`), as hosts write it today.
const KEYS: [(&str, &str); 17] = [
    ("threadid", "thread"),
    ("conversationid", "conversation"),
    ("sessionid", "session"),
    ("agentsessionid", "session"),
    ("turnid", "turn"),
    ("subagent", "sub-agent"),
    ("subagentid", "sub-agent"),
    ("subagenttype", "sub-agent"),
    ("agentid", "agent"),
    ("agentname", "agent"),
    ("agenttype", "agent"),
    ("user", "user"),
    ("userid", "user"),
    ("username", "user"),
    ("enduserid", "user"),
    ("callid", "host's call"),
    ("tooluseid", "host's call"),
];

/// How many characters of a value a card shows.
const SHOWN: usize = 120;

/// What `_meta` says about the caller: our word and the value, each word once, in the order of `KEYS`.
pub fn of(meta: Option<&str>) -> Vec<(String, String)> {
    let Some(Ok(Value::Object(meta))) = meta.map(serde_json::from_str) else {
        return Vec::new();
    };
    let mut found: Vec<(usize, &'static str, String)> = Vec::new();
    let mut take = |key: &str, value: &Value| {
        let Some((at, word)) = known(key) else { return };
        let text = match value {
            Value::String(text) if !text.is_empty() => text.chars().take(SHOWN).collect(),
            Value::Number(number) => number.to_string(),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => return,
        };
        if found.iter().all(|(_, known, _)| *known != word) {
            found.push((at, word, text));
        }
    };
    for (key, value) in &meta {
        match value {
            // One level deeper: hosts wrap what belongs to a turn in an object of its own.
            Value::Object(inner) => inner.iter().for_each(|(key, value)| take(key, value)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => take(key, value),
        }
    }
    found.sort_by_key(|(at, ..)| *at);
    found.into_iter().map(|(_, word, text)| (word.to_owned(), text)).collect()
}

/// Whether a key of `_meta` says who asks: a host that names itself so adds nothing to the call.
pub fn says_who(key: &str) -> bool {
    known(key).is_some()
}

/// Where a key is in the list, and our word for it.
fn known(key: &str) -> Option<(usize, &'static str)> {
    let last = key.rsplit(['/', '.']).next().unwrap_or(key);
    let plain: String = last.chars().filter(|c| !matches!(c, '-' | '_')).collect::<String>().to_lowercase();
    KEYS.iter().enumerate().find(|(_, (known, _))| *known == plain).map(|(at, (_, word))| (at, *word))
}

/// The trace that a call belongs to (W3C Trace Context, as `_meta` has it); `None` if it has another form.
pub fn traceparent(meta: Option<&str>) -> Option<String> {
    let Some(Ok(Value::Object(meta))) = meta.map(serde_json::from_str) else {
        return None;
    };
    let text = meta.get("traceparent")?.as_str()?;
    is_trace(text).then(|| text.to_owned())
}
