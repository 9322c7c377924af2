//! The paths that a call names, by the names of its parameters. Reads arguments only; looks at no disk.

use std::ops::ControlFlow;

use serde_json::Value;

use crate::behavior::words;
use crate::wire::fold::in_pointer;

/// At most this many paths of one call are looked at: what is beyond counts as not seen, and the call says so.
pub const MOST: usize = 64;
const MOST_VALUES: usize = 20_000;
const DEEPEST: usize = 64;
const LONGEST: usize = 4096;

/// Paths of a call that are not looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LeftOut {
    #[default]
    None,
    /// It names more than [`MOST`] paths, or is too large to be read for them.
    Some,
}

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

fn named_by(arguments: &Value, is_path: fn(&str, PathHint) -> bool) -> Named {
    let (mut named, mut values) = (Named::default(), 0);
    let ended = visit(arguments, "", &mut String::new(), &mut |pointer, name, value| {
        values += 1;
        if values > MOST_VALUES {
            return ControlFlow::Break(());
        }
        if let Some(text) = value.as_str().filter(|text| is_path(text, says_path(name))) {
            // No system takes a longer one as it is, but programs shorten paths; and each is listed with its pointer, where a name
            // of megabytes would be repeated as often.
            let is_far = pointer.len() > LONGEST || pointer.matches('/').count() > DEEPEST;
            if text.len() > LONGEST || is_far || named.paths.len() >= MOST {
                named.left_out = LeftOut::Some;
            } else {
                named.paths.push((pointer.to_owned(), text.to_owned()));
            }
        }
        ControlFlow::Continue(())
    });
    if ended.is_break() {
        named.left_out = LeftOut::Some;
    }
    named
}

/// Shows every value to `see`, from the top: its JSON Pointer, and the nearest name, which items have from their list.
pub fn visit<'v>(
    value: &'v Value,
    name: &'v str,
    pointer: &mut String,
    see: &mut impl FnMut(&str, &'v str, &'v Value) -> ControlFlow<()>,
) -> ControlFlow<()> {
    see(pointer, name, value)?;
    let mut below = |word: &str, name: &'v str, value: &'v Value| {
        let end = pointer.len();
        pointer.push('/');
        pointer.push_str(word);
        let ended = visit(value, name, pointer, see);
        pointer.truncate(end);
        ended
    };
    match value {
        Value::Object(fields) => fields.iter().try_for_each(|(name, field)| below(&in_pointer(name), name, field)),
        Value::Array(items) => items.iter().enumerate().try_for_each(|(at, item)| below(&at.to_string(), name, item)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => ControlFlow::Continue(()),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PathHint {
    Path,
    /// It may be one: `source`, `target`.
    Perhaps,
    Nothing,
}

fn says_path(name: &str) -> PathHint {
    let words = words::of_name(name);
    let is = |known: &str| words.iter().any(|word| words::among(word, known));
    if is("path paths filepath file files filename folder dir directory directories") {
        PathHint::Path
    } else if is("source sources src from old destination dest dst to target targets new output input location cwd") {
        PathHint::Perhaps
    } else {
        PathHint::Nothing
    }
}

fn is_path(text: &str, said: PathHint) -> bool {
    let plain = !text.is_empty() && !text.contains(['\0', '\n', '\r']) && !text.contains("://");
    let looks = looks_like_path(text);
    // A longer text of this name may be what a file holds.
    let fits = text.len() <= LONGEST;
    plain && (said == PathHint::Path && (fits || looks) || said == PathHint::Perhaps && looks)
}

fn looks_like_path(text: &str) -> bool {
    text.starts_with(['/', '~']) || text.starts_with("./") || text.starts_with("../")
}

/// Whether some program could take a text for a path or an address; not if all of it is prose or code.
fn may_be_path(text: &str, said: PathHint) -> bool {
    let text = text.trim();
    let is_word = !text.contains(char::is_whitespace);
    let is_address = text.split_once(':').is_some_and(|(scheme, rest)| {
        rest.starts_with('/') && !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    let begins = looks_like_path(text) || text.starts_with(['$', '%', '\\']) || is_address;
    !text.is_empty() && (said == PathHint::Path || begins || is_word && text.contains(['/', '\\']))
}
