//! Other programs' permissions as rules, with a report of what could not be carried over. Reads no file.
//!
//! Nothing becomes looser than it was: what does not fit the language is left out and named, and what would be asked or
//! denied there is never allowed here. As documented by each program, and as read in its source, in November 2026.

mod gemini;
mod hosts;
mod imported;

use std::collections::BTreeMap;

use serde_json::Value;

use super::maker::{Title, entitled, id_for};
use super::rule::Decision;
use super::written;
use crate::wire::json;
use crate::wire::words::words;

pub use imported::{Imported, NotTheirs};

words! {
    /// Whose permissions they are.
    Host {
        Claude = "claude",
        Cursor = "cursor",
        Gemini = "gemini",
        Codex = "codex",
        Zed = "zed",
    }
}

/// Reads a file of permissions.
///
/// # Errors
/// [`NotTheirs`] when it cannot be one of that program's.
pub fn import(host: Host, text: &str) -> Result<Imported, NotTheirs> {
    let text = text.trim_start_matches('\u{feff}');
    let mut found = match host {
        Host::Claude => hosts::claude(&json(text)?)?,
        Host::Cursor => hosts::cursor(&json(text)?)?,
        // The error about a broken file that begins like JSON is the one of JSON.
        Host::Gemini if json::without_comments(text).trim_start().starts_with('{') => gemini::settings(&json(text)?)?,
        Host::Gemini => gemini::policy(&toml(text)?)?,
        Host::Codex => hosts::codex(&toml(text)?)?,
        Host::Zed => hosts::zed(&json(text)?)?,
    };
    found.drop_what_cannot_loosen();
    Ok(found)
}

impl Imported {
    /// The rules as text: one for each decision and server. `taken` says which ids are.
    pub fn rules(&self, host: Host, taken: impl Fn(&str) -> bool) -> Vec<String> {
        let mut groups: BTreeMap<(Decision, Option<&str>), Vec<Option<&str>>> = BTreeMap::new();
        for one in &self.carried {
            groups.entry((one.decision, one.server.as_deref())).or_default().push(one.tool.as_deref());
        }
        let mut used: Vec<String> = Vec::new();
        let mut rules = Vec::new();
        for ((decision, server), tools) in groups {
            let named = format!("{}-{}-{}", host.word(), decision.word(), server.unwrap_or("any"));
            let id = id_for(&named, |id| taken(id) || used.iter().any(|used| used == id));
            let mut body = String::new();
            // Said aloud, since an allow without a server looks like one that was forgotten.
            if let Some(server) = server.or((decision == Decision::Allow).then_some("*")) {
                body.push_str(&format!("server = {}\n", written::text(server)));
            }
            if let Some(tools) = tools.iter().map(|tool| tool.map(str::to_owned)).collect::<Option<Vec<_>>>() {
                body.push_str(&format!("tool = {}\n", written::texts(&tools)));
            }
            let note = format!("imported from {}", host.word());
            rules.push(entitled(&Title { id: &id, decision, expires: None, note: Some(&note) }, &body));
            used.push(id);
        }
        rules
    }
}

/// JSON with comments and commas before a closing bracket, as editors' settings have them.
fn json(text: &str) -> Result<Value, NotTheirs> {
    json::relaxed(text).map_err(|error| NotTheirs::Unreadable("JSON", error.to_string()))
}

fn toml(text: &str) -> Result<Value, NotTheirs> {
    toml::from_str(text).map_err(|error| NotTheirs::Unreadable("TOML", error.message().replace('\n', ", ")))
}
