//! The tool capability profile: tags such as `documents:read`, side effects, idempotence, and the words a search looks
//! through. What was observed of a tool is not here: that stands in the log.

use serde_json::Value;

use super::identity::Identity;
use super::reading;
use super::taxonomy::{Action, Mutability, OutputDomain};
use super::words::{self, among};
use crate::mcp::tool::Tool;

/// What calling a tool leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideEffects {
    None,
    Write,
    Delete,
}

/// Whether calling a tool twice with the same arguments is as good as once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idempotence {
    /// It changes nothing, or leaves the same thing behind.
    Yes,
    No,
    /// Its server says so; nothing confirms it.
    Said,
    Unknown,
}

/// What a tool can do, as a role would name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// `THINGS:ACT`, the act one of read, write, delete, execute, send, unknown. Foreign words in it, lower case.
    pub tag: String,
    pub side_effects: SideEffects,
    pub idempotence: Idempotence,
}

impl Profile {
    /// The profile of a tool that is known to be this.
    pub fn of(tool: &Tool, identity: Identity) -> Self {
        let act = match (identity.mutability, identity.action) {
            (Mutability::Pure, _) => "read",
            (Mutability::Mutates, Action::Delete) => "delete",
            (Mutability::Mutates, Action::Execute) => "execute",
            (Mutability::Mutates, Action::Send) => "send",
            (Mutability::Mutates, Action::Unknown) => "unknown",
            (Mutability::Mutates, _) => "write",
        };
        Self {
            tag: format!("{}:{act}", things(&tool.name, identity.output_domain)),
            side_effects: match (identity.mutability, identity.action) {
                (Mutability::Pure, _) => SideEffects::None,
                (Mutability::Mutates, Action::Delete) => SideEffects::Delete,
                (Mutability::Mutates, _) => SideEffects::Write,
            },
            idempotence: match (identity.mutability, identity.action, tool.annotations.idempotent) {
                (Mutability::Pure, _, _) => Idempotence::Yes,
                (_, _, Some(false)) | (_, Action::Append | Action::Send | Action::Execute, _) => Idempotence::No,
                (_, Action::Overwrite | Action::Delete, _) => Idempotence::Yes,
                (_, _, Some(true)) => Idempotence::Said,
                (_, Action::Create, None) => Idempotence::No,
                (_, _, None) => Idempotence::Unknown,
            },
        }
    }
}

impl SideEffects {
    /// The word in listings.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Write => "write",
            Self::Delete => "delete",
        }
    }
}

impl Idempotence {
    /// The word in listings.
    pub fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Said => "says its server",
            Self::Unknown => "unknown",
        }
    }
}

/// What a name speaks of, in the plural: `read_text_file` of files, `create_issue` of issues.
fn things(name: &str, domain: OutputDomain) -> String {
    const AFTER: &str = "by for in from with to on of at as into and or via";
    const MUTE: &str = "by for in from with to on of id ids info details detail data v1 v2 v3 all many batch bulk";
    let words = words::of_name(name);
    let object = reading::of_name(&words).map(|act| act.object).unwrap_or(words);
    let end = object.iter().skip(1).position(|word| among(word, AFTER)).map_or(object.len(), |at| at + 1);
    let head = object[..end].iter().rev().find(|word| !among(word, MUTE) && word.chars().any(char::is_alphabetic));
    head.map_or_else(|| domain.word().to_ascii_lowercase(), |head| plural(head))
}

fn plural(word: &str) -> String {
    match word.strip_suffix('y') {
        _ if word.ends_with('s') || !word.is_ascii() => word.to_owned(),
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ if word.ends_with(['x', 'z']) || word.ends_with("ch") || word.ends_with("sh") => format!("{word}es"),
        _ => format!("{word}s"),
    }
}

/// The words of a query that tell anything.
pub fn asked(query: &str) -> Vec<String> {
    const MUTE: &str =
        "a an the of to in on at for from with by and or is are that this it its my me all some any i want";
    let words = words::of_name(query);
    let telling: Vec<String> = words.iter().filter(|word| !among(word, MUTE)).cloned().collect();
    if telling.is_empty() { words } else { telling }
}

/// The words of a definition, for a full-text search. Foreign text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// The name, and the same cut into words.
    pub name: String,
    pub title: String,
    pub description: String,
    /// Names and descriptions of the parameters.
    pub parameters: String,
}

impl Words {
    /// Takes the words out of a definition.
    pub fn of(tool: &Tool) -> Self {
        let mut parameters = String::new();
        if let Some(Value::Object(properties)) = tool.input_schema.get("properties") {
            for (key, schema) in properties {
                parameters.push_str(&words::of_name(key).join(" "));
                parameters.push(' ');
                parameters.push_str(schema.get("description").and_then(Value::as_str).unwrap_or_default());
                parameters.push('\n');
            }
        }
        Self {
            name: format!("{} {}", tool.name, words::of_name(&tool.name).join(" ")),
            title: tool.title.clone().unwrap_or_default(),
            description: tool.description.clone().unwrap_or_default(),
            parameters,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{OutputDomain, things};

    #[test]
    fn a_name_speaks_of_things() {
        for (name, spoken) in [
            ("read_text_file", "files"),
            ("listDirectory", "directories"),
            ("create_issue", "issues"),
            ("search_requirements", "requirements"),
            ("get_user_by_id", "users"),
            ("delete_branch", "branches"),
            ("query", "data"),
            ("send-message-to-channel", "messages"),
        ] {
            assert_eq!(things(name, OutputDomain::Data), spoken, "{name}");
        }
    }
}
