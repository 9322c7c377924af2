//! What a result brings that makes the model's next call out worth a look: a key, an instruction. And which calls leave.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::LazyLock;

use regex::Regex;
use regex::bytes;
use serde_json::Value;

use super::definition;
use crate::behavior::arguments::path::visit;
use crate::behavior::taxonomy::Action;
use crate::behavior::words::{self, among};
use crate::mcp::tool::Tool;
use crate::wire::json;

/// What of an answer's content makes a later call worth a look, in our words. What cannot be read strictly does.
pub fn brought(content: &[u8]) -> Option<String> {
    if PERHAPS.as_ref().is_some_and(|perhaps| !perhaps.is_match(content)) {
        return None;
    }
    // Of two members of one name a host may take the other than we do.
    let Some(message) = str::from_utf8(content).ok().and_then(json::value) else {
        return Some("text that readers may take differently".to_owned());
    };
    let mut found = None;
    let _: ControlFlow<()> = visit(&message, "", &mut String::new(), &mut |_, _, value| {
        found = match value {
            Value::String(text) => in_text(text),
            // A key is as good a place as a value.
            Value::Object(members) => members.keys().find_map(|key| in_text(key)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
        };
        if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found
}

fn in_text(text: &str) -> Option<String> {
    if KEY.as_ref().is_none_or(|key| key.is_match(text)) {
        return Some("a private key".to_owned());
    }
    definition::instruction(text).map(|said| format!("words that address the model: “{said}”"))
}

/// Private keys as programs write them: PEM and OpenPGP, age, PuTTY. If this were broken, every text would be one.
static KEY: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(KEYS).ok());
const KEYS: &str =
    "-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|AGE-SECRET-KEY-1[0-9A-Z]{20}|PuTTY-User-Key-File-[0-9]";

/// Fits every answer that [`brought`] finds something in, and few others: of each phrase a word that MCP's own answers do not
/// have, written plainly. What an escape or an apostrophe in a word stands for is not looked at: it could be any.
static PERHAPS: LazyLock<Option<bytes::Regex>> = LazyLock::new(|| {
    let rare = |phrase: &'static str| {
        let words = phrase.split([' ', '*', '/']).filter(|word| !matches!(*word, "content" | "contents"));
        words.max_by_key(|word| word.len()).unwrap_or_default()
    };
    let words: BTreeSet<String> = definition::instructions().map(rare).map(regex::escape).collect();
    let words = words.into_iter().collect::<Vec<_>>().join("|");
    let escaped = r#"\\[^"\\/nrt]|[^\x00-\x7f]|[a-z]'[a-z]"#;
    bytes::Regex::new(&format!("PRIVATE KEY|AGE-SECRET-KEY|PuTTY-User|(?i-u:{escaped}|{words})")).ok()
});

/// Whether a call takes something out of this machine: it sends, runs a program, reaches an open world, or names an address.
pub fn leaves(action: Action, tool: Option<&Tool>, arguments: &Value) -> bool {
    const NAMES: &str = "url urls uri uris host hosts hostname endpoint domain link links webhook recipient recipients";
    if matches!(action, Action::Send | Action::Execute)
        || tool.is_some_and(|tool| tool.annotations.open_world == Some(true))
    {
        return true;
    }
    visit(arguments, "", &mut String::new(), &mut |_, name, value| {
        let Value::String(text) = value else { return ControlFlow::Continue(()) };
        let is_named = words::of_name(name).iter().any(|word| among(word, NAMES));
        let has_address = || text.contains("://") && !text.starts_with("file://") || text.contains("mailto:");
        if is_named || has_address() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .is_break()
}
