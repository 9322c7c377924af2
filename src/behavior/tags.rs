//! Capability tags of a tool or call, in lower case: what comes back and what is done (`content:read`, `issue:create`), and
//! the things that the tool's name speaks of (`files:read`, `documents:delete`). Owns no evidence.

use super::conclude::Behavior;
use super::taxonomy::{Action, OutputDomain};
use super::voters::name;
use super::words::{self, among};

/// The tags of a tool of this name; none where its action is unknown.
///
/// The second is a role's word for it: its act is one of read, write, delete, execute, send. Foreign words in it.
pub fn of(behavior: &Behavior, tool: &str) -> Vec<String> {
    let identity = behavior.identity;
    let act = match identity.action {
        Action::Read | Action::Search => "read",
        Action::Delete => "delete",
        Action::Execute => "execute",
        Action::Send => "send",
        Action::Create | Action::Update | Action::Merge | Action::Overwrite | Action::Append | Action::Move => "write",
        Action::Unknown => return Vec::new(),
    };
    match identity.output_domain {
        OutputDomain::Unknown => Vec::new(),
        domain => vec![
            format!("{}:{}", domain.word(), identity.action.word()).to_ascii_lowercase(),
            format!("{}:{act}", things(tool, domain)),
        ],
    }
}

/// What a name speaks of, in the plural: `read_text_file` of files, `create_issue` of issues.
fn things(tool: &str, domain: OutputDomain) -> String {
    const AFTER: &str = "by for in from with to on of at as into and or via";
    const MUTE: &str = "by for in from with to on of id ids info details detail data v1 v2 v3 all many batch bulk";
    let words = words::of_name(tool);
    let object = name::of_name(&words).object;
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
