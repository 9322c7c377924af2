//! The paths that a call names, by the names of its parameters. Reads arguments only; looks at no disk.

use serde_json::Value;

use crate::behavior::words;
use crate::wire::fold::in_pointer;

/// At most this many paths of one call are looked at: what is beyond counts as not seen, and the call says so.
pub const MOST: usize = 64;
/// How many values, and how deep, we search for paths.
const MOST_VALUES: usize = 20_000;
const DEEPEST: usize = 64;
/// A longer text is no path.
const LONGEST: usize = 4096;

/// Paths of a call that are not looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LeftOut {
    #[default]
    None,
    /// It names more than [`MOST`] paths, or is too large to be read for them.
    Some,
}

/// The paths that a call names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// JSON Pointer of the argument, and the path in it; in the order of the arguments.
    pub paths: Vec<(String, String)>,
    pub left_out: LeftOut,
}

/// The paths among the arguments, by the names of their parameters, at any depth: `moves: [{ from, to }]`.
///
/// A server elsewhere may mean a place of its own by them; whoever shows what was found says that it is of this machine.
pub fn path_arguments(arguments: &Value) -> Named {
    named_by(arguments, is_path)
}

/// The same, and every other argument that could be a path or an address, for callers that must not miss one.
pub fn possible_paths(arguments: &Value) -> Named {
    named_by(arguments, may_be_path)
}

fn named_by(arguments: &Value, is_path: fn(&str, Said) -> bool) -> Named {
    let mut walk = Walk { is_path, named: Named::default(), pointer: String::new(), values: 0 };
    walk.value(Said::Nothing, arguments, 0);
    walk.named
}

struct Walk {
    is_path: fn(&str, Said) -> bool,
    named: Named,
    /// Where we are.
    pointer: String,
    values: usize,
}

impl Walk {
    fn value(&mut self, said: Said, value: &Value, depth: usize) {
        self.values += 1;
        if self.values > MOST_VALUES || depth > DEEPEST {
            self.named.left_out = LeftOut::Some;
            return;
        }
        match value {
            Value::String(text) if (self.is_path)(text, said) => match self.named.paths.len() < MOST {
                // No system takes it as it is, but programs shorten paths.
                _ if text.len() > LONGEST => self.named.left_out = LeftOut::Some,
                true => self.named.paths.push((self.pointer.clone(), text.clone())),
                false => self.named.left_out = LeftOut::Some,
            },
            Value::Object(fields) => {
                for (name, field) in fields {
                    self.below(&in_pointer(name), says_path(name), field, depth);
                }
            }
            // The items of a list have the name of the list.
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.below(&at.to_string(), said, item, depth);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn below(&mut self, word: &str, said: Said, value: &Value, depth: usize) {
        if self.values > MOST_VALUES {
            return;
        }
        // Every path is listed with its pointer: a name of megabytes would be repeated as often.
        if self.pointer.len() + word.len() > LONGEST {
            self.named.left_out = LeftOut::Some;
            return;
        }
        let end = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(word);
        self.value(said, value, depth + 1);
        self.pointer.truncate(end);
    }
}

/// What a parameter's name says of its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    Path,
    /// It may be one: `source`, `target`.
    Perhaps,
    Nothing,
}

fn says_path(name: &str) -> Said {
    let words = words::of_name(name);
    let is = |known: &str| words.iter().any(|word| words::among(word, known));
    if is("path paths filepath file files filename folder dir directory directories") {
        Said::Path
    } else if is("source sources src from old destination dest dst to target targets new output input location cwd") {
        Said::Perhaps
    } else {
        Said::Nothing
    }
}

fn is_path(text: &str, said: Said) -> bool {
    let plain = !text.is_empty() && !text.contains(['\0', '\n', '\r']) && !text.contains("://");
    let looks = looks_like_path(text);
    // A longer text of this name may be what a file holds.
    let fits = text.len() <= LONGEST;
    plain && (said == Said::Path && (fits || looks) || said == Said::Perhaps && looks)
}

fn looks_like_path(text: &str) -> bool {
    text.starts_with(['/', '~']) || text.starts_with("./") || text.starts_with("../")
}

/// Whether some program could take a text for a path or an address; not if all of it is prose or code.
fn may_be_path(text: &str, said: Said) -> bool {
    let text = text.trim();
    let is_word = !text.contains(char::is_whitespace);
    let is_address = text.split_once(':').is_some_and(|(scheme, rest)| {
        rest.starts_with('/') && !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    let begins = looks_like_path(text) || text.starts_with(['$', '%', '\\']) || is_address;
    !text.is_empty() && (said == Said::Path || begins || is_word && text.contains(['/', '\\']))
}
