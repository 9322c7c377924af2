//! Other programs' permissions as rules, with a report of what could not be carried over. Reads no file.
//!
//! Nothing becomes looser than it was: what does not fit the language is left out and named, and what would be asked or
//! denied there is never allowed here.

mod hosts;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::wire::relaxed;

use super::rule::Decision;
use super::written;

/// Whose permissions they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    Claude,
    Cursor,
    Gemini,
    Codex,
    Zed,
}

impl Host {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Claude, Self::Cursor, Self::Gemini, Self::Codex, Self::Zed];

    /// The word on the command line and in ids.
    pub fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Cursor => "cursor",
            Self::Gemini => "gemini",
            Self::Codex => "codex",
            Self::Zed => "zed",
        }
    }
}

/// One entry that could be carried over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    pub decision: Decision,
    /// A glob; `None` means every server.
    pub server: Option<String>,
    /// A glob; `None` means every tool.
    pub tool: Option<String>,
}

/// One entry that could not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// As it stands there. Foreign text.
    pub what: String,
    pub why: String,
}

/// What became of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    pub carried: Vec<Carried>,
    pub left: Vec<Left>,
    /// Servers and tools about which something stricter was left out: no allow of them is carried over.
    stricter: Vec<(Option<String>, Option<String>)>,
}

/// A text that is no file of that program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTheirs {
    #[error("it is neither JSON nor TOML: {0}")]
    Unreadable(String),
    #[error("it has no permissions in it: {0}")]
    Nothing(&'static str),
}

/// Reads a file of permissions.
///
/// # Errors
/// [`NotTheirs`] when it cannot be one of that program's.
pub fn import(host: Host, text: &str) -> Result<Imported, NotTheirs> {
    let mut found = match host {
        Host::Claude => hosts::claude(&json(text)?)?,
        Host::Cursor => hosts::cursor(&json(text)?)?,
        Host::Gemini => match json(text) {
            Ok(settings) => hosts::gemini_settings(&settings)?,
            Err(_) => hosts::gemini_policy(&toml(text)?)?,
        },
        Host::Codex => hosts::codex(&toml(text)?)?,
        Host::Zed => hosts::zed(&json(text)?)?,
    };
    found.drop_what_cannot_loosen();
    Ok(found)
}

impl Imported {
    fn carry(&mut self, decision: Decision, server: Option<&str>, tool: Option<&str>) {
        let named = |name: Option<&str>| name.filter(|name| *name != "*").map(star_only);
        let carried = Carried { decision, server: named(server), tool: named(tool) };
        if !self.carried.contains(&carried) {
            self.carried.push(carried);
        }
    }

    fn leave(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.left.push(Left { what: what.into(), why: why.into() });
    }

    /// Leaves out an ask or a deny of this server and tool, and with it every allow that it may have narrowed.
    fn leave_stricter(&mut self, what: String, why: String, server: Option<&str>, tool: Option<&str>) {
        self.stricter.push((server.map(star_only), tool.map(star_only)));
        self.leave(what, why);
    }

    /// An allow under a wider ask or deny comes to nothing here: it is named instead of being written.
    fn drop_what_cannot_loosen(&mut self) {
        let stricter: Vec<Carried> =
            self.carried.iter().filter(|one| one.decision > Decision::Allow && one.tool.is_none()).cloned().collect();
        let covered = |one: &Carried| {
            one.decision == Decision::Allow
                && stricter.iter().any(|wide| wide.server.is_none() || wide.server == one.server)
        };
        let may_meet = |one: &Option<String>, other: &Option<String>| match (one, other) {
            (Some(one), Some(other)) => one == other || one.contains('*') || other.contains('*'),
            _ => true,
        };
        let left_out = std::mem::take(&mut self.stricter);
        let narrowed = |one: &Carried| {
            let meets = |(server, tool): &(_, _)| may_meet(server, &one.server) && may_meet(tool, &one.tool);
            one.decision == Decision::Allow && left_out.iter().any(meets)
        };
        let (narrowed, kept) = std::mem::take(&mut self.carried).into_iter().partition(narrowed);
        self.carried = kept;
        self.leave_all(narrowed, "something stricter about it was left out");
        let (dropped, kept) = std::mem::take(&mut self.carried).into_iter().partition(covered);
        self.carried = kept;
        self.leave_all(
            dropped,
            "allowed there under a wider ask or deny, which no allow loosens here: use its `unless`",
        );
    }

    fn leave_all(&mut self, all: Vec<Carried>, why: &str) {
        for one in all {
            let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "*".to_owned());
            self.leave(format!("{}: {}", name(&one.server), name(&one.tool)), why);
        }
    }

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
            let id = super::maker::id_for(&named, |id| taken(id) || used.iter().any(|used| used == id));
            let mut text =
                format!("[[rule]]\nid = {}\ndecision = {}\n", written::text(&id), written::text(decision.word()));
            if let Some(server) = server {
                text.push_str(&format!("server = {}\n", written::text(server)));
            }
            if let Some(tools) = tools.iter().map(|tool| tool.map(str::to_owned)).collect::<Option<Vec<_>>>() {
                text.push_str(&format!("tool = {}\n", written::texts(&tools)));
            }
            text.push_str(&format!("note = {}\n", written::text(&format!("imported from {}", host.word()))));
            used.push(id);
            rules.push(text);
        }
        rules
    }
}

/// Their globs know only `*`.
fn star_only(name: &str) -> String {
    super::maker::escaped(name).replace("\\*", "*")
}

/// JSON with comments and commas before a closing bracket, as editors' settings have them.
fn json(text: &str) -> Result<Value, NotTheirs> {
    relaxed::json(text).map_err(|error| NotTheirs::Unreadable(error.to_string()))
}

fn toml(text: &str) -> Result<Value, NotTheirs> {
    toml::from_str(text).map_err(|error| NotTheirs::Unreadable(error.message().replace('\n', ", ")))
}
