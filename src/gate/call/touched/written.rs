//! What would be in files once a call has written to them. Knows the names that arguments of writing tools have.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value};

use super::change::{FileChange, How};
use crate::behavior::arguments::base::{CONTENT, EDIT_NAMES, is_content, is_index};
use crate::behavior::{Action, arguments::path};
use crate::gate::data::facts::{Facts, FileKind};

/// Names of an edit's old and new text.
const EDITS: [(&str, &str); 5] = [
    ("oldText", "newText"),
    ("old_text", "new_text"),
    ("old_str", "new_str"),
    ("old_string", "new_string"),
    ("search", "replace"),
];
/// How many bytes may be copied to find out what a call writes: edits that replace a letter by a book grow without end.
const WORK: usize = 128 << 20;

/// Writes in the order of the arguments: a second edit of one file is made to what the first leaves there.
pub(super) struct Writing<'a> {
    action: Action,
    written: HashMap<&'a str, String>,
    /// Bytes that may still be copied; a change that needs more is not shown.
    work: usize,
}

impl<'a> Writing<'a> {
    pub(super) fn of(action: Action) -> Self {
        Self { action, written: HashMap::new(), work: WORK }
    }

    /// The changes of the paths that are in one object of the arguments.
    pub(super) fn group(&mut self, object: &Value, facts: &[&'a Facts]) -> Vec<FileChange<'a>> {
        let Some(fields) = object.as_object() else { return Vec::new() };
        // One content for a list of paths goes to each of them; otherwise it goes to the first.
        let count = facts.iter().take_while(|one| is_listed(one)).count().max(1);
        facts.iter().take(count).filter_map(|target| self.one(fields, target)).collect()
    }

    fn one(&mut self, fields: &Map<String, Value>, target: &'a Facts) -> Option<FileChange<'a>> {
        if target.is_beyond() {
            return None;
        }
        let before = self.written.get(target.path.as_str()).map(String::len);
        self.spend(2 * before.unwrap_or_default())?;
        let old: Option<Cow<'a, str>> = match (self.written.get(target.path.as_str()), target.kind) {
            (Some(written), _) => Some(written.clone().into()),
            (None, FileKind::Missing) => Some(Cow::Borrowed("")),
            (None, FileKind::File | FileKind::Folder | FileKind::Other | FileKind::Unseen) => {
                target.text.as_deref().map(Cow::Borrowed)
            }
        };
        let change = self.change(fields, target, old)?;
        if let FileChange::Content { new, .. } = &change {
            self.written.insert(&target.path, new.clone());
        }
        Some(change)
    }

    fn change(
        &mut self,
        fields: &Map<String, Value>,
        target: &'a Facts,
        old: Option<Cow<'a, str>>,
    ) -> Option<FileChange<'a>> {
        if let Some(edits) = edits(fields) {
            if !accounts_for(fields, &EDIT_NAMES, target) {
                return None;
            }
            let old = old.filter(|_| target.kind != FileKind::Missing)?;
            self.spend(2 * old.len())?;
            let mut new = old.clone().into_owned();
            let all = fields.get("replace_all").and_then(Value::as_bool) == Some(true);
            for (i, (from, to)) in edits.iter().enumerate() {
                // The text is searched before it is copied, so each edit costs this much even if it does not match.
                self.spend(new.len())?;
                let count = match (from.is_empty(), all) {
                    (true, _) => 0,
                    (false, true) => new.matches(from.as_str()).count(),
                    (false, false) => usize::from(new.contains(from.as_str())),
                };
                if count == 0 {
                    return Some(FileChange::NoMatch { target, edit: i + 1, edits: edits.len() });
                }
                self.spend(count.checked_mul(to.len())?.checked_add(new.len())?)?;
                new = new.replacen(from.as_str(), to, count);
            }
            return Some(FileChange::Content { target, how: How::Edited, old: Some(old), new });
        }
        let (name, content) = CONTENT.iter().find_map(|name| Some((*name, fields.get(*name)?.as_str()?)))?;
        if !accounts_for(fields, &[name], target) {
            return None;
        }
        self.spend(2 * content.len())?;
        Some(match (self.action, &old) {
            (Action::Append, Some(before)) => {
                let new = format!("{before}{content}");
                FileChange::Content { target, how: How::Appended, old, new }
            }
            (Action::Append, None) => {
                FileChange::Content { target, how: How::Appended, old: None, new: content.to_owned() }
            }
            _ => FileChange::Content { target, how: How::Whole, old, new: content.to_owned() },
        })
    }

    /// Takes this much from the work that is left; `None` once it is used up.
    fn spend(&mut self, bytes: usize) -> Option<()> {
        let left = self.work.checked_sub(bytes);
        self.work = left.unwrap_or_default();
        left.map(|_| ())
    }
}

/// Whether only the path and the `named` arguments say what is written: a mode, an offset, a dry run or a word that we
/// do not know could change it. Only arguments that are known to change nothing may be beside them.
fn accounts_for(fields: &Map<String, Value>, named: &[&str], target: &Facts) -> bool {
    let path = target.argument.rsplit('/').find(|word| !is_index(word)).unwrap_or_default();
    fields.iter().all(|(name, value)| named.contains(&name.as_str()) || name == path || is_plain(name, value))
}

/// Whether a call says nothing but where and what it writes.
pub fn replaces_whole(arguments: &Value) -> bool {
    arguments.as_object().is_some_and(|fields| {
        fields.iter().all(|(name, value)| {
            CONTENT.contains(&name.as_str()) && value.is_string()
                || path::is_path_key(name) && value.is_string()
                || is_plain(name, value)
        })
    })
}

/// Whether no argument outside of the objects that name the paths says how they are written.
pub(super) fn outside_is_plain(arguments: &Value, facts: &[Facts]) -> bool {
    let leads = |name: &str| facts.iter().any(|one| one.argument.split('/').nth(1) == Some(name));
    let is_listed = |one: &Facts| one.argument.split('/').count() > 2;
    let Some(fields) = arguments.as_object().filter(|_| facts.iter().any(is_listed)) else { return true };
    fields.iter().all(|(name, value)| leads(name) || is_content(name) || is_plain(name, value))
}

/// Whether an argument changes nothing: without it the call would do the same.
fn is_plain(name: &str, value: &Value) -> bool {
    const OFF: [&str; 8] = ["append", "dry_run", "dryRun", "preview", "create_only", "exclusive", "prepend", "insert"];
    const FOLDERS: [&str; 5] = ["create_dirs", "create_parents", "mkdirs", "make_dirs", "create_directories"];
    match value {
        Value::Null => true,
        Value::Bool(false) => OFF.contains(&name) || FOLDERS.contains(&name),
        Value::Bool(true) => FOLDERS.contains(&name),
        Value::String(text) => name == "encoding" && matches!(text.to_ascii_lowercase().as_str(), "utf-8" | "utf8"),
        Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

pub(super) fn is_listed(one: &Facts) -> bool {
    one.argument.rsplit('/').next().is_some_and(is_index)
}

/// The edits that the arguments carry, as pairs of old and new text.
fn edits(fields: &Map<String, Value>) -> Option<Vec<(String, String)>> {
    let pair = |fields: &Map<String, Value>| {
        let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
        EDITS.iter().find_map(|(old, new)| Some((text(old)?, text(new)?)))
    };
    match fields.get("edits") {
        Some(Value::Array(list)) if !list.is_empty() => {
            let known = |edit: &&Map<String, Value>| edit.keys().all(|name| EDIT_NAMES.contains(&name.as_str()));
            list.iter().map(|edit| pair(edit.as_object().filter(known)?)).collect()
        }
        _ => pair(fields).map(|one| vec![one]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_grows_without_end_is_not_told() {
        let text = "e".repeat(1_000);
        let file = Facts { kind: FileKind::File, text: Some(text), ..Facts::unseen("/path", "a", "") };
        let told = |arguments: Value| Writing::of(Action::Update).group(&arguments, &[&file]).len();
        let book = "x".repeat(300_000);
        assert_eq!(told(json!({ "old_string": "e", "new_string": "ee", "replace_all": true })), 1);
        assert_eq!(told(json!({ "old_string": "e", "new_string": book, "replace_all": true })), 0, "300 MB");
        let doubling = vec![json!({ "oldText": "e", "newText": "ee" }); 24];
        assert_eq!(told(json!({ "edits": doubling, "replace_all": true })), 0, "doubled 24 times");
        let many = vec![json!({ "oldText": "e", "newText": "e" }); 300_000];
        assert_eq!(told(json!({ "edits": many })), 0, "each looks through all of it");
        let files: Vec<Facts> = (0..64).map(|n| Facts { argument: format!("/paths/{n}"), ..file.clone() }).collect();
        let facts: Vec<&Facts> = files.iter().collect();
        let content = json!({ "content": "x".repeat(4 << 20) });
        let changes = Writing::of(Action::Append).group(&content, &facts);
        assert!(changes.len() < 10, "{} appended to the same file", changes.len());
    }
}
