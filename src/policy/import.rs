//! Other programs' permissions as rules, with a report of what could not be carried over. Reads no file.
//!
//! Nothing becomes looser than it was: what does not fit the language is left out and named, and what would be asked or
//! denied there is never allowed here. As documented by each program, and as read in its source, in November 2026.

mod gemini;
mod hosts;

use std::collections::BTreeMap;

use serde_json::Value;

use super::glob::{Glob, escaped};
use super::maker::{Title, entitled, id_for};
use super::rule::Decision;
use super::written;
use crate::capability::names::shortened;
use crate::wire::{json, words::words};

words! {
    Host {
        Claude = "claude",
        Cursor = "cursor",
        Gemini = "gemini",
        Codex = "codex",
        Zed = "zed",
    }
}

/// The glob over every server or tool.
const EVERY: &str = "*";
const OWN_TOOL: &str = "it is about a tool of the program itself, which is not called through MCP";
const DEFAULT: &str = "what no rule matches is up to [defaults] here";
const HIDES_TOOLS: &str = "it hides the other tools, and a rule cannot do that";
/// How much of an entry is shown where it is no plain text.
const SHOWN: usize = 120;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarriedEntry {
    pub decision: Decision,
    /// Globs; `*` means every one.
    pub server: String,
    pub tool: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftEntry {
    /// As that file has it. Foreign text.
    pub what: String,
    pub why: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    pub carried: Vec<CarriedEntry>,
    pub left: Vec<LeftEntry>,
    /// Servers and tools about which something stricter was left out: no allow of them is carried over.
    stricter: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTheirs {
    #[error("it is not {0}: {1}")]
    Unreadable(&'static str, String),
    #[error("it has no permissions in it: {0}")]
    Nothing(&'static str),
}

/// Reads a file of permissions.
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
        let mut groups: BTreeMap<(Decision, &str), Vec<String>> = BTreeMap::new();
        for one in &self.carried {
            groups.entry((one.decision, &one.server)).or_default().push(one.tool.clone());
        }
        let mut used: Vec<String> = Vec::new();
        let mut rules = Vec::new();
        for ((decision, server), tools) in groups {
            let of = if server == EVERY { "any" } else { server };
            let id = id_for(&format!("{}-{}-{of}", host.word(), decision.word()), |id| {
                taken(id) || used.iter().any(|used| used == id)
            });
            let mut body = String::new();
            // Said aloud, since an allow without a server looks like one that was forgotten.
            if server != EVERY || decision == Decision::Allow {
                body.push_str(&format!("server = {}\n", written::text(server)));
            }
            if tools.iter().all(|tool| tool != EVERY) {
                body.push_str(&format!("tool = {}\n", written::texts(&tools)));
            }
            let note = format!("imported from {}", host.word());
            rules.push(entitled(&Title { id: &id, decision, expires: None, note: Some(&note) }, &body));
            used.push(id);
        }
        rules
    }

    fn carry(&mut self, decision: Decision, server: ForeignName<'_>, tool: ForeignName<'_>) {
        if server.is_empty() || tool.is_empty() {
            self.leave(format!("{}: {}", server.text(), tool.text()), "a name in it is empty");
            return;
        }
        if [server, tool].iter().any(|name| matches!(name, ForeignName::Is(name) if name.contains('*'))) {
            let what = format!("{} {}: {}", decision.word(), server.text(), tool.text());
            self.leave(what, "`*` is not a wildcard there, so it matches no tool there either");
            return;
        }
        let carried = CarriedEntry { decision, server: server.glob(), tool: tool.glob() };
        if decision == Decision::Allow && carried.server == EVERY && carried.tool == EVERY {
            self.leave("allow *: *", "it allows every tool of every server; name the servers you mean");
        } else if !self.carried.contains(&carried) {
            self.carried.push(carried);
        }
    }

    fn leave(&mut self, what: impl Into<String>, why: impl Into<String>) {
        let left = LeftEntry { what: what.into(), why: why.into() };
        if !self.left.contains(&left) {
            self.left.push(left);
        }
    }

    /// Leaves an entry out. If it is an ask or a deny, every allow that it may have narrowed is left out with it.
    fn leave_one(&mut self, decision: Decision, what: &str, why: &str, server: ForeignName<'_>, tool: ForeignName<'_>) {
        if decision > Decision::Allow {
            self.stricter.push((server.glob(), tool.glob()));
        }
        self.leave(what, why);
    }

    /// The same where it is not known whom the entry reaches.
    fn leave_unclear(&mut self, decision: Decision, what: &str, why: &str) {
        self.leave_one(decision, what, why, ForeignName::Any, ForeignName::Any);
    }

    fn leave_setting(&mut self, name: &str, value: Option<&Value>, why: &str) {
        if let Some(value) = value {
            self.leave(format!("{name} {}", short(value)), why);
        }
    }

    fn leave_off(&mut self, what: &str, server: &str) {
        let why = "the server is switched off there, and a rule cannot do that";
        self.leave_one(Decision::Deny, what, why, ForeignName::Is(server), ForeignName::Any);
    }

    fn deny_tools(&mut self, name: &str, server: &Value, key: &str) {
        for tool in self.texts(&format!("{name}: {key}"), server.get(key), Decision::Deny) {
            self.carry(Decision::Deny, ForeignName::Is(name), ForeignName::Is(tool));
        }
    }

    /// The texts of a list; what is no text is named. A text alone is a list of one.
    fn texts<'v>(&mut self, key: &str, value: Option<&'v Value>, decision: Decision) -> Vec<&'v str> {
        let items: Vec<&Value> = match value {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(items)) => items.iter().collect(),
            Some(other) => vec![other],
        };
        let mut texts = Vec::new();
        for item in items {
            match item.as_str() {
                Some(text) => texts.push(text),
                None => {
                    let what = format!("{key} {}", short(item));
                    self.leave_unclear(decision, &what, "it is not a text, so its meaning is unknown");
                }
            }
        }
        texts
    }

    /// Names the keys that this reader does not know: they may be permissions all the same.
    fn leave_unknown(&mut self, place: &str, table: Option<&Value>, known: &[&str]) {
        let keys = table.and_then(Value::as_object).into_iter().flat_map(serde_json::Map::keys);
        for key in keys.filter(|key| !known.contains(&key.as_str())) {
            self.leave(format!("{place}{key}"), "this key is not known here");
        }
    }

    /// Drops, and names, each allow that a left-out entry may have narrowed there, or that an ask or a deny covers here.
    fn drop_what_cannot_loosen(&mut self) {
        let left_out = std::mem::take(&mut self.stricter);
        let narrowed = |one: &CarriedEntry| {
            let meets = |(server, tool): &(String, String)| may_meet(server, &one.server) && may_meet(tool, &one.tool);
            one.decision == Decision::Allow && left_out.iter().any(meets)
        };
        self.drop_all(narrowed, "something stricter about it was left out");
        let stricter: Vec<CarriedEntry> =
            self.carried.iter().filter(|one| one.decision > Decision::Allow).cloned().collect();
        let covered = |one: &CarriedEntry| {
            let covers = |wide: &CarriedEntry| covers(&wide.server, &one.server) && covers(&wide.tool, &one.tool);
            one.decision == Decision::Allow && stricter.iter().any(covers)
        };
        self.drop_all(covered, "an ask or a deny covers it, and no allow overrides that here: use its `unless`");
    }

    fn drop_all(&mut self, which: impl Fn(&CarriedEntry) -> bool, why: &str) {
        let (dropped, kept): (Vec<CarriedEntry>, _) = std::mem::take(&mut self.carried).into_iter().partition(which);
        self.carried = kept;
        for one in dropped {
            self.leave(format!("allow {}: {}", one.server, one.tool), why);
        }
    }
}

/// JSON with comments and commas before a closing bracket, as editors' settings have them.
fn json(text: &str) -> Result<Value, NotTheirs> {
    json::relaxed(text).map_err(|error| NotTheirs::Unreadable("JSON", error.to_string()))
}

fn toml(text: &str) -> Result<Value, NotTheirs> {
    toml::from_str(text).map_err(|error| NotTheirs::Unreadable("TOML", error.message().replace('\n', ", ")))
}

fn short(value: &Value) -> String {
    shortened(&value.to_string(), SHOWN).into_owned()
}

/// The fields of an object; none where it is no object.
fn fields(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_object).into_iter().flatten()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ForeignName<'a> {
    Any,
    /// Just this one, whatever characters are in it.
    Is(&'a str),
    /// `*` in it matches any characters.
    Like(&'a str),
}

impl<'a> ForeignName<'a> {
    fn text(self) -> &'a str {
        match self {
            Self::Any => EVERY,
            Self::Is(name) | Self::Like(name) => name,
        }
    }

    fn is_empty(self) -> bool {
        self.text().is_empty()
    }

    fn glob(self) -> String {
        match self {
            Self::Any => EVERY.to_owned(),
            Self::Like(name) if name.chars().all(|c| c == '*') => EVERY.to_owned(),
            Self::Is(name) => escaped(name),
            Self::Like(name) => escaped(name).replace("\\*", "*"),
        }
    }
}

/// The plain name that a glob of ours means; `None` where it has a wildcard.
fn plain(glob: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = glob.chars();
    while let Some(c) = rest.next() {
        match c {
            '*' => return None,
            '\\' => out.extend(rest.next()),
            other => out.push(other),
        }
    }
    Some(out)
}

/// Whether two names can mean the same one.
fn may_meet(one: &str, other: &str) -> bool {
    match (plain(one), plain(other)) {
        (Some(one), Some(other)) => one == other,
        (Some(name), None) => matches(other, &name),
        (None, Some(name)) => matches(one, &name),
        (None, None) => true,
    }
}

/// Whether one glob surely reaches all that another does.
fn covers(wide: &str, narrow: &str) -> bool {
    wide == EVERY || wide == narrow || plain(narrow).is_some_and(|name| matches(wide, &name))
}

/// A text that is no glob counts as matching every name: a match can only drop an allow.
fn matches(glob: &str, name: &str) -> bool {
    Glob::new(glob).map_or(true, |glob| glob.matches(name))
}

/// Every way to part a text into a server and a tool, the shortest server first.
fn splits<'t>(text: &'t str, between: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
    // At every place, also where separators overlap: `a___b` is `a` and `_b`, and `a_` and `b`.
    let parts = text.char_indices().filter_map(move |(at, _)| Some((&text[..at], text[at..].strip_prefix(between)?)));
    parts.filter(|(server, tool)| !server.is_empty() && !tool.is_empty())
}
