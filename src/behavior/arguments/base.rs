//! Whether something else in a call may be the folder that its relative paths begin at: then what is at them is not known.

use serde_json::Value;

use super::written;
use crate::behavior::arguments::path::{LONGEST, Leads, leads};
use crate::behavior::words;
use crate::gate::data::facts::Facts;

/// Why nothing is said of what is at such a path.
pub const CHOSEN: &str = "it is relative to a folder that the server chooses";

/// What an argument may be to the paths beside it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Says {
    /// Where the others begin: `cwd`, `repo_path`, whatever is absolute.
    Base,
    /// A folder, which the names beside it may be in.
    Folder,
    Nothing,
}

/// Takes back what was found at relative paths where the server may have begun elsewhere than we did.
pub fn forget_relative(arguments: &str, files: &mut [Facts]) {
    let is_relative = |one: &Facts| !one.is_beyond() && matches!(leads(&one.path), Leads::Below | Leads::Climbs);
    if !files.iter().any(is_relative) {
        return;
    }
    let arguments: Value = serde_json::from_str(arguments).unwrap_or(Value::Null);
    let mut bases = Vec::new();
    collect(&arguments, "", &mut Vec::new(), &mut bases);
    for one in files.iter_mut().filter(|one| is_relative(one)) {
        let own = names(&one.argument);
        let own_name = own.iter().rev().find(|word| !is_number(word)).map_or(Says::Nothing, |name| says(name));
        let may_begin = |(at, says): &(Vec<String>, Says)| {
            !are_listed_together(at, &own) && (*says == Says::Base || own_name == Says::Nothing)
        };
        if bases.iter().any(may_begin) {
            *one = Facts::unseen(&one.argument, &one.path, CHOSEN);
        }
    }
}

/// Finds what may be the base of others; `name` is what the value is listed under.
fn collect(value: &Value, name: &str, at: &mut Vec<String>, bases: &mut Vec<(Vec<String>, Says)>) {
    let mut below = |word: String, name: &str, value: &Value| {
        at.push(word);
        collect(value, name, at, bases);
        at.pop();
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, field)| below(name.clone(), name, field)),
        Value::Array(items) => items.iter().enumerate().for_each(|(n, item)| below(n.to_string(), name, item)),
        Value::String(text) => {
            let says = base(name, text);
            if says != Says::Nothing {
                bases.push((at.clone(), says));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn base(name: &str, text: &str) -> Says {
    let is_short = !text.is_empty() && text.len() <= LONGEST && !text.contains(['\n', '\r', '\0']);
    if !is_short || written::is_content(name) {
        return Says::Nothing;
    }
    if matches!(leads(text), Leads::Absolute | Leads::Home) {
        Says::Base
    } else if text.trim_end_matches('/') == "." {
        // Our own folder, where we begin as well.
        Says::Nothing
    } else {
        says(name)
    }
}

/// Whether both are the same, or in two items of one list: each item is for itself.
fn are_listed_together(at: &[String], own: &[String]) -> bool {
    let parts = at.iter().zip(own).find(|(one, other)| one != other);
    parts.map_or(at.len() == own.len(), |(one, other)| is_number(one) && is_number(other))
}

fn is_number(word: &str) -> bool {
    word.parse::<usize>().is_ok()
}

fn says(name: &str) -> Says {
    let words = words::of_name(name);
    let has = |known: &str| words.iter().any(|word| words::among(word, known));
    let is_place = has("dir directory folder path");
    if has("cwd root workdir worktree") || is_place && has("repo repository project workspace working base") {
        Says::Base
    } else if has("dir directory folder") {
        Says::Folder
    } else {
        Says::Nothing
    }
}

/// The words of a JSON Pointer.
fn names(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|word| word.replace("~1", "/").replace("~0", "~")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::gate::data::facts::FileKind;

    #[test]
    fn a_relative_path_is_known_only_where_nothing_else_can_be_its_base() {
        for (arguments, at, path, is_known) in [
            (json!({ "path": "f", "content": "x" }), "/path", "f", true),
            (json!({ "path": "f", "content": "/etc/passwd" }), "/path", "f", true),
            (json!({ "path": "/f", "cwd": "/w" }), "/path", "/f", true),
            (json!({ "path": "f", "cwd": "." }), "/path", "f", true),
            (json!({ "files": ["f", "/g"] }), "/files/0", "f", true),
            (json!({ "files": [{ "path": "f" }, { "path": "/g" }] }), "/files/0/path", "f", true),
            (json!({ "directory": "d" }), "/directory", "d", true),
            (json!({ "repo_path": "/x/repo", "files": ["f"] }), "/files/0", "f", false),
            (json!({ "repo_path": "repo", "files": ["f"] }), "/files/0", "f", false),
            (json!({ "path": "f", "cwd": "w" }), "/path", "f", false),
            (json!({ "path": "../f", "where": "~/w" }), "/path", "../f", false),
            (json!({ "directory": "src", "filename": "f" }), "/filename", "f", false),
            (json!({ "options": { "in": ["/w"] }, "path": "f" }), "/path", "f", false),
            (json!({ "moves": [{ "from": "/a", "to": "./b" }] }), "/moves/0/to", "./b", false),
        ] {
            let mut files = [Facts { kind: FileKind::Missing, unseen: None, ..Facts::unseen(at, path, "") }];
            forget_relative(&arguments.to_string(), &mut files);
            assert_eq!(files[0].kind == FileKind::Missing, is_known, "{arguments}");
        }
    }
}
