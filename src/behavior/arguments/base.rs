//! Finds the arguments that may be the base folder of a call's relative paths: where there is one, it is not known
//! which file such a path names. Reads words only, follows no link.

use std::ops::ControlFlow;

use serde_json::Value;

use super::path::{LONGEST, Leads, leads, visit};
use crate::behavior::words;
use crate::wire::fold::{from_pointer, in_pointer};

/// Names of arguments that carry a file's content.
pub const CONTENT: [&str; 8] = ["content", "contents", "file_text", "new_content", "text", "data", "body", "value"];
pub const EDIT_NAMES: [&str; 12] = [
    "edits", "replace_all", "oldText", "newText", "old_text", "new_text", "old_str", "new_str", "old_string",
    "new_string", "search", "replace",
];
/// Why we do not say what is at a relative path.
pub const CHOSEN: &str = "it is relative to a folder that the server chooses";
const MOST: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq)]
enum BaseHint {
    /// Where the others begin: `cwd`, `repo_path`, whatever is absolute.
    Base,
    /// A folder, which the names beside it may be in.
    Folder,
    Nothing,
}

/// What may be the base of a call's relative paths.
#[derive(Debug)]
pub struct Bases(Vec<Base>);

#[derive(Debug)]
struct Base {
    at: Vec<String>,
    path: String,
    is_folder: bool,
}

impl Bases {
    pub fn of(arguments: &Value) -> Self {
        let mut found = Vec::new();
        let _ = visit(arguments, "", &mut String::new(), &mut |pointer, name, value| {
            let says = value.as_str().map_or(BaseHint::Nothing, |text| base(name, text));
            if let Some(path) = value.as_str().filter(|_| says != BaseHint::Nothing) {
                found.push(Base { at: names(pointer), path: path.to_owned(), is_folder: says == BaseHint::Folder });
            }
            ControlFlow::Continue(())
        });
        Self(found)
    }

    /// Whether a path under this JSON Pointer begins at the server's own folder, whatever else the call has.
    pub fn leave(&self, pointer: &str) -> bool {
        self.of_path(pointer).next().is_none()
    }

    fn of_path(&self, pointer: &str) -> impl Iterator<Item = &Base> {
        let own = names(pointer);
        let own_name = own.iter().rev().find(|word| !is_index(word)).map_or(BaseHint::Nothing, |name| says(name));
        self.0.iter().filter(move |base| {
            !are_listed_together(&base.at, &own) && (!base.is_folder || own_name == BaseHint::Nothing)
        })
    }
}

/// Whether a path is relative, so that the server or another argument decides where it begins.
pub fn is_relative(path: &str) -> bool {
    matches!(leads(path), Leads::Below | Leads::Climbs)
}

/// Every path that a server may make of the one under this name or JSON Pointer: as it is, and below each argument that
/// may be its base. `None` where a base is itself relative, or there are too many.
pub fn readings(arguments: &Value, name: &str, path: &str) -> Option<Vec<String>> {
    let mut all = vec![path.to_owned()];
    if is_relative(path) {
        let pointer = match name.starts_with('/') {
            true => name.to_owned(),
            false => format!("/{}", in_pointer(name)),
        };
        for base in Bases::of(arguments).of_path(&pointer) {
            if is_relative(&base.path) || all.len() > MOST {
                return None;
            }
            all.push(format!("{}/{path}", base.path));
        }
    }
    Some(all)
}

fn base(name: &str, text: &str) -> BaseHint {
    if text.is_empty() || is_content(name) {
        return BaseHint::Nothing;
    }
    // A server may take the spaces off, and `/././etc` is as long as somebody likes.
    let text = text.trim();
    if has_option_of_elsewhere(text) {
        return BaseHint::Base;
    }
    if text.contains(['\n', '\r', '\0']) || (text.len() > LONGEST && !text.contains("/.") && !text.contains("//")) {
        return says(name);
    }
    if leads(text) != Leads::Below {
        BaseHint::Base
    } else if text.trim_end_matches('/') == "." {
        // Our own folder, where we begin as well.
        BaseHint::Nothing
    } else {
        says(name)
    }
}

/// Whether an option or a variable gives a place outside of the starting folder: `-xC/etc`, `--git-dir ~/x`, `HOME=../x`.
fn has_option_of_elsewhere(text: &str) -> bool {
    let is_options = text.starts_with('-');
    let is_elsewhere = |value: &str| leads(value.trim_matches(['"', '\'', '@'])) != Leads::Below;
    text.split_whitespace().any(|word| {
        let letters = word.strip_prefix('-').map_or(0, |word| word.bytes().take_while(u8::is_ascii_alphabetic).count());
        is_options && is_elsewhere(word)
            || word.split_once('=').is_some_and(|(_, value)| is_elsewhere(value))
            || letters > 0 && word.get(1 + letters..).is_some_and(is_elsewhere)
    })
}

pub fn is_content(name: &str) -> bool {
    CONTENT.contains(&name) || EDIT_NAMES.contains(&name)
}

/// Whether both are the same place, or in two items of one list: a base in one item does not apply to another.
fn are_listed_together(at: &[String], own: &[String]) -> bool {
    let parts = at.iter().zip(own).find(|(one, other)| one != other);
    parts.map_or(at.len() == own.len(), |(one, other)| is_index(one) && is_index(other))
}

/// Whether a word of a JSON Pointer may be the index of a list's item. `+1` is not: only a member can have that name.
pub fn is_index(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn says(name: &str) -> BaseHint {
    let words = words::of_name(name);
    let has = |known: &str| words.iter().any(|word| words::among(word, known));
    let is_place = has("dir directory folder path");
    if has("cwd root workdir worktree workspace project rootdir basedir prefix")
        || is_place && has("repo repository project workspace working base")
    {
        BaseHint::Base
    } else if has("dir directory folder") {
        BaseHint::Folder
    } else {
        BaseHint::Nothing
    }
}

fn names(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(from_pointer).collect()
}
