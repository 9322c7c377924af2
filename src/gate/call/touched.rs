//! What a call would change of what stands on this machine: from its action, its arguments and the shell's facts. Reads
//! nothing itself, and claims nothing where the facts may be about another machine.

pub mod alike;
mod written;

use std::borrow::Cow;

use serde_json::Value;

use crate::behavior::taxonomy::Action;
use crate::gate::data::facts::{Facts, FileKind, TEXT};
use alike::lines_changed;
use written::{Writing, is_listed};

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub enum Change<'a> {
    /// Content for a path: `old` is what stands there, where that was seen.
    Content {
        target: &'a Facts,
        how: How,
        old: Option<Cow<'a, str>>,
        new: String,
    },
    /// An edit whose old text is not in the file as it stands: the server will refuse it, or do something else.
    NoMatch {
        target: &'a Facts,
        edit: usize,
        edits: usize,
    },
    Move {
        from: &'a Facts,
        to: Option<&'a Facts>,
    },
    Delete {
        target: &'a Facts,
    },
}

/// How content comes to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Whole,
    Edited,
    Appended,
}

/// Arguments that say that a path is a place elsewhere, whatever stands here under the same name.
const ELSEWHERE: [&str; 13] = [
    "repo",
    "repository",
    "owner",
    "project",
    "project_id",
    "bucket",
    "branch",
    "url",
    "host",
    "hostname",
    "drive",
    "site",
    "workspace",
];
/// What would change, in the order of the arguments; nothing where that cannot be told.
///
/// `moves: [{ from, to }]` and `files: [{ path, content }]` are read one by one: each object with what is in it.
pub fn of<'a>(action: Action, arguments: &Value, facts: &'a [Facts]) -> Vec<Change<'a>> {
    let is_elsewhere = |value: &Value| ELSEWHERE.iter().any(|name| value.get(name).is_some());
    if !arguments.is_object() || is_elsewhere(arguments) {
        return Vec::new();
    }
    let groups = groups(arguments, facts).into_iter().filter(|group| !is_elsewhere(group.object));
    match action {
        Action::Delete => groups.flat_map(|group| group.facts).map(|target| Change::Delete { target }).collect(),
        Action::Move => groups.flat_map(|group| moves(&group.facts)).collect(),
        Action::Overwrite | Action::Create | Action::Update | Action::Append | Action::Unknown => {
            let mut writing = Writing::of(action);
            groups.flat_map(|group| writing.group(group.object, &group.facts)).collect()
        }
        Action::Read | Action::Search | Action::Merge | Action::Execute | Action::Send => Vec::new(),
    }
}

/// The paths that stand in one object of the arguments, in lists under it too.
struct Group<'v, 'a> {
    object: &'v Value,
    facts: Vec<&'a Facts>,
}

fn groups<'v, 'a>(arguments: &'v Value, facts: &'a [Facts]) -> Vec<Group<'v, 'a>> {
    let mut groups: Vec<Group<'v, 'a>> = Vec::new();
    for one in facts {
        let mut pointer = one.argument.as_str();
        let object = loop {
            pointer = pointer.rsplit_once('/').map_or("", |(above, _)| above);
            match arguments.pointer(pointer) {
                Some(object @ Value::Object(_)) => break object,
                _ if pointer.is_empty() => break arguments,
                _ => {}
            }
        };
        match groups.last_mut().filter(|group| std::ptr::eq(group.object, object)) {
            Some(group) => group.facts.push(one),
            None => groups.push(Group { object, facts: vec![one] }),
        }
    }
    groups
}

/// Where the paths of one object come from and go to: the last goes by its name, or by being the second of two.
fn moves<'a>(facts: &[&'a Facts]) -> Vec<Change<'a>> {
    let name = |one: &Facts| {
        one.argument.rsplit('/').find(|word| word.parse::<usize>().is_err()).unwrap_or_default().to_lowercase()
    };
    let goes = |one: &&&'a Facts| {
        let name = name(one);
        ["dest", "dst", "to", "target", "new"].iter().any(|word| name.starts_with(word)) && !name.ends_with('s')
    };
    let (to, from): (Vec<&'a Facts>, Vec<&'a Facts>) = match facts {
        [from, to] if !(is_listed(from) && is_listed(to)) => (vec![to], vec![from]),
        _ => facts.iter().copied().filter(|one| name(one) != "cwd").partition(|one| goes(&one)),
    };
    let to = if let [to] = to.as_slice() { Some(*to) } else { None };
    from.into_iter().map(|from| Change::Move { from, to }).collect()
}

impl<'a> Change<'a> {
    /// Where content would come to.
    pub fn content_target(&self) -> Option<&'a Facts> {
        match self {
            Self::Content { target, .. } | Self::NoMatch { target, .. } => Some(*target),
            Self::Move { .. } | Self::Delete { .. } => None,
        }
    }

    /// Whether it is about this path.
    pub fn concerns(&self, one: &Facts) -> bool {
        let is = |other: &Facts| std::ptr::eq(one, other);
        match self {
            Self::Content { target, .. } | Self::NoMatch { target, .. } | Self::Delete { target } => is(target),
            Self::Move { from, to } => is(from) || to.is_some_and(is),
        }
    }

    /// Where something would be moved to.
    pub fn destination(&self) -> Option<&'a Facts> {
        match self {
            Self::Move { to, .. } => *to,
            Self::Content { .. } | Self::NoMatch { .. } | Self::Delete { .. } => None,
        }
    }

    /// Our line on it: `overwrites 1 file, 12 lines changed (+8 −4) — notes.md`. The path in it is foreign text, raw.
    pub fn line(&self) -> String {
        match self {
            Self::Content { target, how, old, new } => {
                let does = content(target, *how, old.as_deref(), new);
                format!("{does} — {}{}", target.path, led(target))
            }
            Self::NoMatch { target, edit, edits } => {
                let which = if *edits == 1 {
                    "its old text".to_owned()
                } else {
                    format!("the old text of edit {edit} of {edits}")
                };
                format!("edits 1 file, but {which} is not in it as it stands — {}", target.path)
            }
            Self::Move { from, to } => moved(from, *to),
            Self::Delete { target } => {
                let what = match (&target.link, target.kind) {
                    (Some(_), _) => "deletes a link (not what it leads to, unless the server follows it)".to_owned(),
                    (None, FileKind::Missing) => "deletes something that is not there".to_owned(),
                    (None, _) => format!("deletes {}", thing(target)),
                };
                format!("{what} — {}", target.path)
            }
        }
    }
}

fn content(target: &Facts, how: How, old: Option<&str>, new: &str) -> String {
    let verb = match how {
        How::Whole => "overwrites",
        How::Edited => "edits",
        How::Appended => "adds to",
    };
    match (target.kind, old) {
        (FileKind::Missing, _) => {
            let where_to = if target.lacks.is_some() { ", in a folder that does not stand yet" } else { "" };
            format!("creates 1 file, {}{where_to}", counted(new.lines().count(), "line"))
        }
        (FileKind::Folder, _) => "writes to a path where a folder stands".to_owned(),
        (FileKind::Other, _) => "writes to a device, pipe or socket".to_owned(),
        (FileKind::Unseen, _) => format!("{verb} something that could not be seen"),
        (FileKind::File, Some(old)) if old == new => format!("{verb} 1 file with what stands there already"),
        (FileKind::File, Some(old)) => match lines_changed(old, new) {
            Some((more, less)) => {
                format!("{verb} 1 file, {} changed (+{more} −{less})", counted(more.max(less), "line"))
            }
            None => format!("{verb} 1 file; too long to compare line by line"),
        },
        (FileKind::File, None) => format!("{verb} {}; {}", thing(target), blind(target)),
    }
}

/// Where content goes that is written through a link: not to the path that the arguments name.
fn led(target: &Facts) -> String {
    let goal = target.link.as_ref().map(|link| target.real.as_ref().unwrap_or(link));
    goal.map_or_else(String::new, |goal| format!(", a link to {goal}"))
}

/// Why nothing is known of what changes in a file.
pub fn blind(target: &Facts) -> &'static str {
    match (&target.unseen, target.size) {
        (None, Some(size)) if target.digest.is_some() && size <= u64::from(TEXT) => "what stands there is no text",
        (None, Some(_)) if target.digest.is_some() => "it is too large to be compared line by line",
        _ => "what changes in it could not be seen",
    }
}

fn moved(from: &Facts, to: Option<&Facts>) -> String {
    let what = match from.kind {
        FileKind::Missing => "something that is not there".to_owned(),
        FileKind::File | FileKind::Folder | FileKind::Other | FileKind::Unseen => thing(from),
    };
    let Some(to) = to else {
        return format!("moves {what} — {}", from.path);
    };
    let over = match to.kind {
        FileKind::Missing => String::new(),
        FileKind::Folder => ", into or over a folder that stands there".to_owned(),
        FileKind::Unseen => "; whether that replaces something could not be seen".to_owned(),
        FileKind::File | FileKind::Other => format!(", replacing {}", thing(to)),
    };
    format!("moves {what}{over} — {} → {}", from.path, to.path)
}

/// `1 file, 1,204 bytes`, `a folder with 214 entries`.
pub fn thing(facts: &Facts) -> String {
    match facts.kind {
        FileKind::Missing => "nothing".to_owned(),
        FileKind::Unseen => "something that could not be seen".to_owned(),
        FileKind::Other => "a device, pipe or socket".to_owned(),
        FileKind::File => match facts.size {
            Some(size) => format!("1 file, {}", counted(usize::try_from(size).unwrap_or(usize::MAX), "byte")),
            None => "1 file".to_owned(),
        },
        FileKind::Folder => match facts.entries {
            Some(0) => "an empty folder".to_owned(),
            Some(1) => "a folder with 1 entry".to_owned(),
            Some(n) => format!("a folder with {} entries", grouped(n)),
            None => "a folder whose entries could not be counted".to_owned(),
        },
    }
}

fn counted(n: usize, word: &str) -> String {
    format!("{} {word}{}", grouped(n as u64), if n == 1 { "" } else { "s" })
}

fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn file(path: &str, text: &str) -> Facts {
        let size = Some(text.len() as u64);
        Facts { kind: FileKind::File, text: Some(text.into()), size, unseen: None, ..Facts::unseen("/path", path, "") }
    }

    fn missing(path: &str) -> Facts {
        Facts { kind: FileKind::Missing, unseen: None, ..Facts::unseen("/path", path, "") }
    }

    fn line(action: Action, arguments: &Value, facts: &[Facts]) -> String {
        of(action, arguments, facts).iter().map(Change::line).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn a_change_is_told_by_what_stands_there() {
        use Action::{Append, Create, Delete, Move, Overwrite, Update};
        let notes = || file("notes.md", "a\nb\nc\n");
        let folder = Facts { kind: FileKind::Folder, entries: Some(2140), ..missing("src") };
        let unseen = Facts::unseen("/path", "/root/x", "not readable");
        #[rustfmt::skip]
        let cases = [
            (Overwrite, json!({"content": "a\nB\nc\nd\n"}), vec![notes()], "overwrites 1 file, 2 lines changed (+2 −1) — notes.md"),
            (Overwrite, json!({"content": "a\nb\nc\n"}), vec![notes()], "overwrites 1 file with what stands there already — notes.md"),
            (Overwrite, json!({"content": "a\nb"}), vec![missing("new.md")], "creates 1 file, 2 lines — new.md"),
            (Create, json!({"content": "x"}), vec![unseen], "overwrites something that could not be seen — /root/x"),
            (Append, json!({"content": "d\n"}), vec![notes()], "adds to 1 file, 1 line changed (+1 −0) — notes.md"),
            (Update, json!({"edits": [{"oldText": "b", "newText": "x"}]}), vec![notes()], "edits 1 file, 1 line changed (+1 −1) — notes.md"),
            (Update, json!({"old_string": "q", "new_string": "x"}), vec![notes()], "edits 1 file, but its old text is not in it as it stands — notes.md"),
            (Delete, json!({}), vec![folder], "deletes a folder with 2,140 entries — src"),
            (Delete, json!({}), vec![missing("gone")], "deletes something that is not there — gone"),
            (Move, json!({}), vec![notes(), file("old.md", "x")], "moves 1 file, 6 bytes, replacing 1 file, 1 byte — notes.md → old.md"),
            (Move, json!({}), vec![notes(), missing("b")], "moves 1 file, 6 bytes — notes.md → b"),
            (Overwrite, json!({"content": "x", "repo": "acme/shop"}), vec![notes()], ""),
            (Action::Read, json!({"content": "x"}), vec![notes()], ""),
        ];
        for (action, arguments, facts, expected) in cases {
            assert_eq!(line(action, &arguments, &facts), expected, "{action:?} {arguments}");
        }
    }
}
