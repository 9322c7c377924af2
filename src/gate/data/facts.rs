//! What a call would touch, as the shell saw it on the disk: data for policy, card and record. Looks at nothing itself.
//!
//! Facts are taken when a call is asked and again just before it is forwarded. What remains is the moment between that
//! last look and the server's own: who can change a path in it can still send the server elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::behavior::words;
use crate::wire::digest::Digest;

/// At most so many paths of one call are looked at: what is beyond counts as not seen, and the call says so.
pub const MOST: usize = 64;
/// At most so many values are read for paths, and so deep.
const MOST_VALUES: usize = 20_000;
const DEEPEST: usize = 64;
/// A longer text is no path.
const LONGEST: usize = 4096;

/// How much text of all files of one call goes to the card, in bytes.
pub const TEXT: u32 = 256 << 10;

/// What the shell is asked to look at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Paths whose links are followed, for the policy.
    pub real: BTreeSet<String>,
    /// Paths that are looked into as well, for the card: JSON Pointer of the argument, and the path in it.
    pub files: Vec<(String, String)>,
    /// Paths beyond those that are looked into.
    pub left_out: LeftOut,
}

/// Paths of a call that nobody looks at.
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

/// What the shell has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Where each path of [`Look::real`] leads: absolute, links followed. `None` where that could not be told in time.
    pub real: BTreeMap<String, Option<String>>,
    /// One for each of [`Look::files`], in their order.
    pub files: Vec<Facts>,
}

/// One path that a call names, as it stands on this machine. All texts are foreign, raw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The JSON Pointer of the argument: `/path`.
    pub argument: String,
    /// The path as the argument gives it.
    pub path: String,
    /// Where it leads: absolute, links followed. `None` where that could not be told.
    pub real: Option<String>,
    /// What the last part of the path, being a link, says. `None` when it is no link.
    pub link: Option<String>,
    pub kind: FileKind,
    /// Bytes, of a file.
    pub size: Option<u64>,
    /// Of the content; `None` where it was not read to its end.
    pub digest: Option<Digest>,
    /// Inode and time of change, which stand for the digest where there is none.
    pub stamp: Option<String>,
    /// Of a path where nothing stands: the first folder on its way that does not stand either.
    #[serde(default)]
    pub lacks: Option<String>,
    /// How many entries a folder has; counting stops at 10,000.
    pub entries: Option<u64>,
    /// The content of a file of at most 256 KiB of UTF-8.
    pub text: Option<String>,
    /// Why something of this is missing: too large, not readable, no time.
    pub unseen: Option<String>,
}

/// What stands at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// Nothing: a call could make it.
    Missing,
    File,
    Folder,
    /// A device, a pipe, a socket: not looked into.
    Other,
    /// It could not be told.
    Unseen,
}

impl FileKind {
    /// The word in records.
    pub fn word(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::File => "file",
            Self::Folder => "folder",
            Self::Other => "other",
            Self::Unseen => "unseen",
        }
    }
}

impl Look {
    /// Whether there is nothing to look at.
    pub fn is_empty(&self) -> bool {
        self.real.is_empty() && self.files.is_empty()
    }

    /// Whether everything that `other` asks for was asked for here.
    pub fn covers(&self, other: &Self) -> bool {
        other.real.is_subset(&self.real)
            && other.files.iter().all(|file| self.files.contains(file))
            && (other.left_out == LeftOut::None || self.left_out == LeftOut::Some)
    }

    /// What is told in the place of the paths that are left out: that nothing was seen of them.
    pub fn beyond(&self) -> Option<Facts> {
        let why = || format!("at most {MOST} paths of a call are looked at");
        (self.left_out == LeftOut::Some).then(|| Facts::unseen("", "more paths than these", &why()))
    }

    /// What the shell says when it cannot look, or not in time: nothing is known, so nothing is allowed by it.
    pub fn unseen(&self, why: &str) -> Found {
        Found {
            real: self.real.iter().map(|path| (path.clone(), None)).collect(),
            files: self.files.iter().map(|(argument, path)| Facts::unseen(argument, path, why)).collect(),
        }
    }
}

impl Facts {
    /// Whether it stands for paths that nobody looks at.
    pub fn is_beyond(&self) -> bool {
        self.argument.is_empty()
    }

    /// A path of which nothing could be told.
    pub fn unseen(argument: &str, path: &str, why: &str) -> Self {
        Self {
            argument: argument.to_owned(),
            path: path.to_owned(),
            real: None,
            link: None,
            kind: FileKind::Unseen,
            size: None,
            digest: None,
            stamp: None,
            lacks: None,
            entries: None,
            text: None,
            unseen: Some(why.to_owned()),
        }
    }

    /// What is another thing than before, in our words.
    fn difference(&self, again: &Self) -> Option<&'static str> {
        use FileKind::{Missing, Unseen};
        Some(match (self.kind, again.kind) {
            _ if self.real != again.real || self.link != again.link => "a path in it leads elsewhere",
            (Missing, Missing) => return None,
            (_, Unseen) | (Unseen, _) if self.kind != again.kind => {
                "what it would touch can no longer be seen as it was"
            }
            (Missing, _) => "what it would make exists already",
            (_, Missing) => "what it would touch is gone",
            (was, is) if was != is => "what it would touch is another kind of thing",
            _ if self.size != again.size || self.entries != again.entries => "what it would touch has another size",
            _ if self.digest.is_some() && self.digest == again.digest => return None,
            _ if self.digest != again.digest => "what it would touch has another content",
            _ if self.stamp != again.stamp => "what it would touch was changed",
            _ => return None,
        })
    }
}

impl Found {
    /// What is another thing now than it was before; `None` when all is as it was.
    pub fn difference(&self, again: &Self) -> Option<&'static str> {
        if self.real != again.real {
            return Some("a path in it leads elsewhere");
        }
        if self.files.len() != again.files.len() {
            return Some("what it would touch is another");
        }
        self.files.iter().zip(&again.files).find_map(|(one, other)| one.difference(other))
    }
}

/// The paths among the arguments, by the names of their parameters, at any depth: `moves: [{ from, to }]`.
///
/// A server elsewhere may mean a place of its own by them; whoever shows what was found says that it is of this machine.
pub fn path_arguments(arguments: &Value) -> Named {
    let mut walk = Walk { named: Named::default(), pointer: String::new(), values: 0 };
    walk.value(Said::Nothing, arguments, 0);
    walk.named
}

struct Walk {
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
            Value::String(text) if is_path(text, said) => match self.named.paths.len() < MOST {
                true => self.named.paths.push((self.pointer.clone(), text.clone())),
                false => self.named.left_out = LeftOut::Some,
            },
            Value::Object(fields) => {
                for (name, field) in fields {
                    self.below(&name.replace('~', "~0").replace('/', "~1"), says_path(name), field, depth);
                }
            }
            // What is listed under a name is under that name.
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
        // Every path is told with its pointer: a name of megabytes would be told as often.
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
    let plain =
        !text.is_empty() && text.len() <= LONGEST && !text.contains(['\0', '\n', '\r']) && !text.contains("://");
    let looks = text.starts_with(['/', '~']) || text.starts_with("./") || text.starts_with("../");
    plain && (said == Said::Path || (said == Said::Perhaps && looks))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_are_told_by_their_parameters() {
        for (arguments, paths) in [
            (json!({ "path": "a.txt", "content": "/etc/passwd" }), vec![("/path", "a.txt")]),
            (json!({ "file_path": "~/a", "to": "ann@example.org" }), vec![("/file_path", "~/a")]),
            (json!({ "source": "/a", "destination": "./b" }), vec![("/source", "/a"), ("/destination", "./b")]),
            (json!({ "paths": ["/a", 1, "/b"] }), vec![("/paths/0", "/a"), ("/paths/2", "/b")]),
            (json!({ "a/b~file": "x" }), vec![("/a~1b~0file", "x")]),
            (
                json!({ "moves": [{ "from": "/a", "to": "/b" }, { "from": "/c", "to": "mail" }] }),
                vec![("/moves/0/from", "/a"), ("/moves/0/to", "/b"), ("/moves/1/from", "/c")],
            ),
            (
                json!({ "files": [{ "path": "a", "content": "/etc/passwd" }, "b"], "options": { "deep": { "cwd": "/w" } } }),
                vec![("/files/0/path", "a"), ("/files/1", "b"), ("/options/deep/cwd", "/w")],
            ),
            (json!({ "sources": ["/a", "b"], "tags": ["/c"] }), vec![("/sources/0", "/a")]),
            (json!({ "path": "https://example.org/a", "file": "a\nb" }), vec![]),
            (json!([1]), vec![]),
        ] {
            let found = path_arguments(&arguments).paths;
            let found: Vec<(&str, &str)> = found.iter().map(|(at, path)| (at.as_str(), path.as_str())).collect();
            assert_eq!(found, paths, "{arguments}");
            assert!(found.iter().all(|(at, path)| arguments.pointer(at).is_some_and(|value| value == path)));
        }
    }

    #[test]
    fn paths_beyond_the_bound_are_left_out_and_that_is_said() {
        let files = |count: usize| json!({ "files": (0..count).map(|n| json!({ "path": format!("/f{n}") })).collect::<Vec<_>>() });
        let at_most = path_arguments(&files(MOST));
        assert_eq!((at_most.paths.len(), at_most.left_out), (MOST, LeftOut::None));
        let beyond = path_arguments(&files(MOST + 1));
        assert_eq!((beyond.paths.len(), beyond.left_out), (MOST, LeftOut::Some));
        let numbers: Vec<Value> = (0..MOST_VALUES).map(Value::from).collect();
        let behind = json!({ "numbers": numbers, "path": "/behind" });
        assert_eq!(path_arguments(&behind), Named { paths: Vec::new(), left_out: LeftOut::Some });
        let long = "k".repeat(LONGEST + 1);
        let named = path_arguments(&json!({ (long): [{ "path": "/a" }, { "path": "/b" }], "path": "/c" }));
        assert_eq!((named.paths.len(), named.left_out), (1, LeftOut::Some), "a pointer is no longer than a path");
        let deep = (0..DEEPEST + 1).fold(json!({ "path": "/deep" }), |inner, _| json!({ "in": inner }));
        assert_eq!(path_arguments(&deep).left_out, LeftOut::Some);
    }

    #[test]
    fn any_change_of_what_is_touched_is_a_difference() {
        let file = Facts {
            kind: FileKind::File,
            real: Some("/a".into()),
            size: Some(1),
            digest: Some(Digest::of(b"a")),
            stamp: Some("1".into()),
            unseen: None,
            ..Facts::unseen("/path", "/a", "")
        };
        let touched = Facts { stamp: Some("2".into()), text: Some("a".into()), ..file.clone() };
        assert_eq!(file.difference(&touched), None, "the content is the same");
        for other in [
            Facts { real: Some("/b".into()), ..file.clone() },
            Facts { link: Some("b".into()), ..file.clone() },
            Facts { kind: FileKind::Missing, size: None, digest: None, ..file.clone() },
            Facts { kind: FileKind::Folder, ..file.clone() },
            Facts { size: Some(2), ..file.clone() },
            Facts { digest: Some(Digest::of(b"b")), ..file.clone() },
            Facts { digest: None, ..file.clone() },
            Facts::unseen("/path", "/a", "no time"),
        ] {
            assert!(file.difference(&other).is_some() && other.difference(&file).is_some(), "{other:?}");
        }
        let large = Facts { digest: None, ..file };
        assert!(large.difference(&Facts { stamp: Some("2".into()), ..large.clone() }).is_some());
    }
}
