//! What a call would change of what stands on this machine: from its action, its arguments and the shell's facts. Reads
//! nothing itself, and claims nothing where the facts may be about another machine.

use std::borrow::Cow;

use serde_json::{Map, Value};
use similar::{ChangeTag, TextDiff};

use super::facts::{Facts, FileKind, TEXT};
use crate::behavior::taxonomy::Action;

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

/// Names of arguments that carry a file's content.
const CONTENT: [&str; 8] = ["content", "contents", "file_text", "new_content", "text", "data", "body", "value"];
/// Names of an edit's old and new text.
const EDITS: [(&str, &str); 5] = [
    ("oldText", "newText"),
    ("old_text", "new_text"),
    ("old_str", "new_str"),
    ("old_string", "new_string"),
    ("search", "replace"),
];
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
/// More than this is not compared line by line, in bytes of both texts.
const COMPARED: usize = 1 << 20;
/// Nor what needs more steps to tell that it is much alike: texts without a common line cost the square of their lines.
const STEPS: usize = 4 << 20;
/// How many lines may come and go.
const CHANGED: usize = 4_000;

/// What would change, in the order of the arguments; nothing where that cannot be told.
pub fn of<'a>(action: Action, arguments: &Value, facts: &'a [Facts]) -> Vec<Change<'a>> {
    let Some(fields) = arguments.as_object() else {
        return Vec::new();
    };
    if ELSEWHERE.iter().any(|name| fields.contains_key(*name)) {
        return Vec::new();
    }
    match action {
        Action::Delete => facts.iter().map(|target| Change::Delete { target }).collect(),
        Action::Move => facts.first().map(|from| Change::Move { from, to: facts.get(1) }).into_iter().collect(),
        Action::Overwrite | Action::Create | Action::Update | Action::Append | Action::Unknown => {
            facts.first().and_then(|target| written(action, fields, target)).into_iter().collect()
        }
        Action::Read | Action::Search | Action::Merge | Action::Execute | Action::Send => Vec::new(),
    }
}

fn written<'a>(action: Action, fields: &Map<String, Value>, target: &'a Facts) -> Option<Change<'a>> {
    if let Some(edits) = edits(fields) {
        let old = target.text.as_deref()?;
        let mut new = old.to_owned();
        for (i, (from, to)) in edits.iter().enumerate() {
            if from.is_empty() || !new.contains(from.as_str()) {
                return Some(Change::NoMatch { target, edit: i + 1, edits: edits.len() });
            }
            let all = fields.get("replace_all").and_then(Value::as_bool) == Some(true);
            new = if all { new.replace(from.as_str(), to) } else { new.replacen(from.as_str(), to, 1) };
        }
        return Some(Change::Content { target, how: How::Edited, old: Some(old.into()), new });
    }
    let content = CONTENT.iter().find_map(|name| fields.get(*name)?.as_str())?;
    let old = match target.kind {
        FileKind::Missing => Some(Cow::Borrowed("")),
        FileKind::File | FileKind::Folder | FileKind::Other | FileKind::Unseen => {
            target.text.as_deref().map(Cow::Borrowed)
        }
    };
    Some(match (action, &old) {
        (Action::Append, Some(before)) => {
            let new = format!("{before}{content}");
            Change::Content { target, how: How::Appended, old, new }
        }
        (Action::Append, None) => Change::Content { target, how: How::Appended, old: None, new: content.to_owned() },
        _ => Change::Content { target, how: How::Whole, old, new: content.to_owned() },
    })
}

/// The edits that the arguments carry, as pairs of old and new text.
fn edits(fields: &Map<String, Value>) -> Option<Vec<(String, String)>> {
    let pair = |fields: &Map<String, Value>| {
        let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
        EDITS.iter().find_map(|(old, new)| Some((text(old)?, text(new)?)))
    };
    match fields.get("edits") {
        Some(Value::Array(list)) if !list.is_empty() => list.iter().map(|edit| pair(edit.as_object()?)).collect(),
        _ => pair(fields).map(|one| vec![one]),
    }
}

/// Lines that come and lines that go; `None` where the texts are too long, or too unlike, to be compared.
pub fn lines_changed(old: &str, new: &str) -> Option<(usize, usize)> {
    if old.len() + new.len() > COMPARED || !is_close(old, new) {
        return None;
    }
    let diff = TextDiff::from_lines(old, new);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    Some((count(ChangeTag::Insert), count(ChangeTag::Delete)))
}

/// Whether at most [`CHANGED`] lines lie between two texts, as far as [`STEPS`] can tell (Myers 1986, the greedy search).
fn is_close(old: &str, new: &str) -> bool {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let most = CHANGED.min(old.len() + new.len());
    // By diagonal, shifted so that none is negative: how far into the old text so many changes lead.
    let middle = most + 1;
    let mut far = vec![0usize; 2 * most + 3];
    let mut steps = 0;
    for changes in 0..=most {
        for at in (middle - changes..=middle + changes).step_by(2) {
            let down = at == middle - changes || (at != middle + changes && far[at - 1] < far[at + 1]);
            let mut x = if down { far[at + 1] } else { far[at - 1] + 1 };
            while let (Some(one), Some(other)) = (old.get(x), new.get((x + middle).saturating_sub(at)))
                && one == other
            {
                x += 1;
                steps += 1;
            }
            far[at] = x;
            if x >= old.len() && x + middle >= new.len() + at {
                return true;
            }
            steps += 1;
        }
        if steps > STEPS {
            return false;
        }
    }
    false
}

impl Change<'_> {
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
        _ => thing(from),
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
    fn texts_that_are_much_alike_are_compared_and_hostile_ones_cost_no_minutes() {
        let numbered = |word: &str, count: usize| (0..count).map(|n| format!("{word}{n}\n")).collect::<String>();
        let long = numbered("a", 40_000);
        assert_eq!(lines_changed(&long, &format!("x\n{}y\n", long.replace("a20000\n", ""))), Some((2, 1)));
        assert_eq!(lines_changed(&numbered("a", 1_000), &numbered("b", 900)), Some((900, 1_000)));
        assert_eq!(lines_changed("", "a\nb\n"), Some((2, 0)));
        assert_eq!(lines_changed("a\n", ""), Some((0, 1)));
        let start = std::time::Instant::now();
        assert_eq!(lines_changed(&long, &numbered("b", 40_000)), None);
        assert_eq!(lines_changed(&"a\n".repeat(200_000), &"a\n".repeat(190_000)), None);
        assert!(start.elapsed() < std::time::Duration::from_secs(20), "{:?}", start.elapsed());
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
