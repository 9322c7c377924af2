//! What is new about one call of a reading tool: what neither the role of a key proves (a role proves only values of its own
//! form) nor the operator agreed to. One walk over the arguments; raises no identity and reads no text for its meaning.

mod address;
pub mod ahead;
mod form;
mod key;
mod place;
mod statement;
mod walk;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

pub use address::decoded;
pub use key::{Given, Role, Roles};
pub use place::{PathKind, PathState, PathStates, Places};
pub use walk::{of_answers, of_call};

use super::agreed::{Agreement, Agreements, What};
use super::arguments::language::{self, Languages, Spoken};
use super::conclude::Behavior;
use super::evidence::Source;
use super::taxonomy::Action;
use crate::mcp::tool::Tool;
use crate::wire::digest::Digest;

/// How many new things of one call are listed one by one, and may be agreed to with one key.
pub const MOST: usize = 8;

/// One thing that is new about a call. Texts in it are foreign, raw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct New {
    /// JSON Pointer into the arguments.
    pub pointer: String,
    /// What it is, in one line: `charge = true`, `the host example.com`.
    pub says: String,
    /// What the operator may agree to, so that it is not new again; `None` where it asks every time.
    pub agree: Option<Agreement>,
    /// Any text under its key, where that may be agreed to.
    pub any: Option<Agreement>,
}

/// What is new about one call, and what makes the rest pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// The first of what is new, in the order of the arguments.
    pub new: Vec<New>,
    /// How many more things are new.
    pub more: usize,
    /// How each leaf that is not new is explained: its pointer, and a closed kind of ours.
    pub explained: Vec<(String, &'static str)>,
    /// What was agreed to and is used here.
    pub used: Vec<Agreement>,
    /// The paths that this depends on: the shell has to look at all of them before it counts.
    pub wanted: Vec<String>,
}

impl Shape {
    /// Whether nothing is new.
    pub fn holds(&self) -> bool {
        self.new.is_empty()
    }

    /// One line on what is new: `charge = true; the host example.com`. Foreign text in it, raw.
    pub fn line(&self) -> String {
        let mut all: Vec<&str> = self.new.iter().map(|one| one.says.as_str()).collect();
        let more = format!("{} more", self.more);
        if self.more > 0 {
            all.push(&more);
        }
        all.join("; ")
    }

    /// What every leaf is, for the record: what is new first.
    pub fn words(&self) -> String {
        let mut words = if self.holds() { String::new() } else { format!("new here: {}", self.line()) };
        for (pointer, kind) in &self.explained {
            words.push_str(if words.is_empty() { "" } else { "; " });
            words.push_str(pointer.strip_prefix('/').unwrap_or(pointer));
            words.push_str(": ");
            words.push_str(kind);
        }
        words
    }

    /// Everything that one key may agree to; `None` where something asks every time, or is not listed.
    pub fn agreements(&self) -> Option<Vec<Agreement>> {
        let all: Option<Vec<Agreement>> = self.new.iter().map(|one| one.agree.clone()).collect();
        all.filter(|all| !all.is_empty() && self.more == 0)
    }

    /// Any text under every key whose text is new; `None` where something else is new too.
    pub fn any_text(&self) -> Option<Vec<Agreement>> {
        let all: BTreeSet<Agreement> = self.new.iter().map(|one| one.any.clone()).collect::<Option<_>>()?;
        (!all.is_empty() && self.more == 0).then(|| all.into_iter().collect())
    }

    /// Adds something that asks every time.
    pub fn asks(&mut self, pointer: &str, says: impl Into<String>) {
        self.add(New { pointer: pointer.to_owned(), says: says.into(), agree: None, any: None });
    }

    fn add(&mut self, new: New) {
        if self.new.len() < MOST {
            self.new.push(new);
        } else {
            self.more += 1;
        }
    }
}

/// What a call is compared with.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    pub agreed: &'a Agreements,
    pub places: &'a Places,
    /// The folders that the host declared, absolute.
    pub roots: &'a [String],
    /// What the shell found of the paths; a path that is not among them is to be looked at.
    pub path_states: &'a PathStates,
}

/// What the definition of a tool says of its keys: read once.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    tool: String,
    nouns: Vec<String>,
    /// It may be given a text to search for.
    searches: bool,
    /// Our list of well-known servers says what the tool is.
    is_curated: bool,
    spoken: Languages,
    /// What our list of well-known servers says of the keys.
    given: Arc<Given>,
    parameters: Vec<Parameter>,
}

/// One declared parameter.
#[derive(Clone, Debug)]
struct Parameter {
    key: String,
    roles: Roles,
    /// The languages that the tool or its own description names.
    spoken: Languages,
    /// SHA-256 of its schema's text: made when something about it is agreed to, or might be.
    schema: OnceLock<String>,
}

impl Keys {
    /// Reads a definition, of which this was concluded, and `given` by our list of well-known servers.
    pub fn of(tool: &Tool, behavior: &Behavior, given: Option<&Arc<Given>>) -> Self {
        let nouns = key::nouns(&tool.name);
        let is_curated = behavior.evidence.iter().any(|one| one.source == Source::Curated);
        let properties = tool.input_schema.get("properties").and_then(Value::as_object);
        let keys = || properties.into_iter().flat_map(|all| all.keys()).take(256);
        let travels = keys().any(|key| key::is_of_journey(key));
        let roles =
            |key: &str| if travels && key::is_goal(key) { Roles::of(Role::Name) } else { key::roles(key, &nouns) };
        let spoken = Spoken::of(tool);
        let parameter = |(key, schema): (&String, &Value)| Parameter {
            roles: roles(key),
            spoken: spoken.with(&[schema]).all(),
            key: key.clone(),
            schema: OnceLock::new(),
        };
        let parameters = properties.into_iter().flatten().take(256).map(parameter).collect();
        Self {
            tool: tool.name.clone(),
            searches: behavior.identity.action == Action::Search || is_curated,
            is_curated,
            spoken: spoken.all(),
            given: given.filter(|_| is_curated).cloned().unwrap_or_default(),
            parameters,
            nouns,
        }
    }

    fn parameter(&self, key: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|one| one.key == key)
    }

    fn roles(&self, key: &str) -> Roles {
        let by_words = || self.parameter(key).map_or_else(|| key::roles(key, &self.nouns), |one| one.roles);
        self.given.roles.get(key).copied().unwrap_or_else(by_words)
    }

    /// Whether this value of a key is known to read.
    fn is_known_read(&self, key: &str, value: &Value) -> bool {
        self.given.reads.get(key).is_some_and(|reads| reads.contains(value))
    }

    /// The digest of the schema of the parameter at the top that this pointer is in; of nothing where it is not declared.
    fn schema(&self, tool: Option<&Tool>, top: &str) -> String {
        let digest = |text: &str| Digest::of(text.as_bytes()).to_string();
        match self.parameter(top) {
            None => digest(""),
            Some(one) => {
                let schema = || tool.and_then(|tool| tool.input_schema.get("properties")?.get(top));
                one.schema.get_or_init(|| digest(&schema().map(Value::to_string).unwrap_or_default())).clone()
            }
        }
    }

    /// The languages that the tool, the parameter at the top or this key names.
    fn languages(&self, top: &str, key: &str) -> Languages {
        let words = crate::behavior::words::of_name(key);
        let spoken = self.parameter(top).map_or(self.spoken, |one| one.spoken);
        words.iter().map(|word| language::in_word(word)).fold(spoken, Languages::with)
    }
}

/// That this tool may run unasked at all, where that has to be agreed to once.
pub fn first_use(tool: &str, definition: Digest) -> Agreement {
    Agreement { tool: tool.to_owned(), schema: definition.to_string(), ..Agreement::of_server(What::Tool, "") }
}
