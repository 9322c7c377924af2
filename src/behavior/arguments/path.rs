//! The paths that a call names, by the names of its parameters; where they start, and whether they climb. Reads no disk.

use std::borrow::Cow;
use std::ops::ControlFlow;

use percent_encoding::percent_decode_str;
use serde_json::Value;

use crate::behavior::words;
use crate::wire::fold::in_pointer;

/// The longest path that Linux takes, in bytes: a longer text is no path.
pub const LONGEST: usize = 4096;

/// Where a path leads, judged by its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leads {
    Below,
    /// `..` climbs out of its starting folder, or out of the root it names.
    Climbs,
    /// To a place of its own: `/etc`, `C:\`, `\\host\share`.
    Absolute,
    /// Into a home: `~/…`, `$HOME/…`.
    Home,
}

/// Where `path` leads. Percent escapes and both slashes count, since somebody on the way may read them.
pub fn leads(path: &str) -> Leads {
    let plain = plainer(path);
    let path = plain.strip_prefix("file://").unwrap_or(&plain);
    let bytes = path.as_bytes();
    let drive = matches!(bytes, [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    let absolute = drive || matches!(bytes.first(), Some(b'/' | b'\\'));
    let is_home = |text: &str| ["~", "$HOME", "${HOME}"].iter().any(|home| text.starts_with(home));
    let mut depth = 0_i32;
    for (at, word) in path.split(['/', '\\']).enumerate() {
        match word.trim_end_matches([' ', '.']) {
            // Dots and spaces at the end of a word are cut by some systems: `.. ` and `...` are looked at as `..`.
            "" if word.trim_end() == ".." || (word.starts_with("..") && word.trim_end().len() == 2) => {
                depth -= 1;
                if depth < 0 {
                    return Leads::Climbs;
                }
            }
            "" => {}
            word if drive && word.ends_with(':') => {}
            word if at == 0 && is_home(word) => {}
            _ => depth += 1,
        }
    }
    if is_home(path) || path.starts_with("%USERPROFILE%") {
        Leads::Home
    } else if absolute {
        Leads::Absolute
    } else {
        Leads::Below
    }
}

/// Whether `..` is in a text as a word of a path, whatever the path: between slashes of either kind, or at an end.
pub fn climbs(text: &str) -> bool {
    let is_up = |word: &str| word.trim_end() == "..";
    // Decoding copies the text: only where an escape could hide a dot or a slash.
    (text.contains("..") || text.contains('%')) && plainer(text).split(['/', '\\']).any(is_up)
}

/// Whether an argument of this name holds a path, or several.
pub fn is_path_key(key: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    let holds =
        ["path", "file", "folder", "director", "cwd", "dest", "source", "root"].iter().any(|part| lower.contains(part));
    holds && !lower.contains("content") && !lower.contains("profile")
}

/// The path with its percent escapes decoded, as many times as programs on the way might.
fn plainer(path: &str) -> Cow<'_, str> {
    let mut plain = Cow::Borrowed(path);
    for _ in 0..3 {
        if !plain.contains('%') {
            break;
        }
        let lower = plain.to_ascii_lowercase();
        if !lower.contains("%2") && !lower.contains("%5c") {
            break;
        }
        plain = lower.replace("%25", "%").replace("%2e", ".").replace("%2f", "/").replace("%5c", "\\").into();
    }
    plain
}

/// The text with all percent escapes decoded; `None` where that shows a control character, or takes more rounds than programs make.
pub fn decoded(text: &str) -> Option<String> {
    let mut plain = text.to_owned();
    for _ in 0..4 {
        if plain.chars().any(char::is_control) {
            return None;
        }
        if !plain.contains('%') {
            return Some(plain);
        }
        let next = percent_decode_str(&plain).decode_utf8().ok()?;
        if next == plain {
            return Some(plain);
        }
        plain = next.into_owned();
    }
    None
}

/// At most this many paths of one call are looked at: what is beyond counts as not seen, and the call says so.
pub const MOST: usize = 64;
const MOST_VALUES: usize = 20_000;
const DEEPEST: usize = 64;

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
