//! Why one careless key must not approve a call: what it is, and what it would replace on this machine.

use serde_json::Value;

use crate::behavior::arguments::named::{LeftOut, path_arguments};
use crate::behavior::conclude::{self, Behavior, Replaced};
use crate::behavior::taxonomy::{Action, Mutability};
use crate::gate::call::touched::{self, FileChange, How};
use crate::gate::data::facts::{Facts, FileKind, Findings, Look};
use crate::gate::grants::Care;

/// Why one careless key must not approve it: its behavior, and what it would replace.
pub fn danger(behavior: &Behavior, arguments: &Value, found: Option<&Findings>) -> Option<String> {
    let files = found.map(|found| found.files.as_slice()).unwrap_or_default();
    if files.is_empty() {
        return conclude::danger(behavior, Replaced::Perhaps);
    }
    let changes = touched::of(behavior.identity.action, arguments, files);
    // A file that no change explains may be written to as well. In a move without changes, the first is the source.
    let unexplained = files.iter().filter(|one| !changes.iter().any(|change| change.concerns(one)) && !one.is_beyond());
    let unexplained = unexplained.filter(|one| !one.argument.ends_with("/cwd"));
    let targets: Vec<&Facts> = match behavior.identity.action {
        Action::Create => changes.iter().filter_map(FileChange::content_target).chain(unexplained).collect(),
        Action::Move if changes.is_empty() => unexplained.skip(1).collect(),
        Action::Move => changes.iter().filter_map(FileChange::destination).chain(unexplained).collect(),
        Action::Read
        | Action::Search
        | Action::Update
        | Action::Delete
        | Action::Merge
        | Action::Overwrite
        | Action::Append
        | Action::Execute
        | Action::Send
        | Action::Unknown => Vec::new(),
    };
    let exists = |target: &Facts| match target.kind {
        FileKind::Missing | FileKind::Unseen => false,
        FileKind::File | FileKind::Folder | FileKind::Other => true,
    };
    let unseen = |target: &&Facts| target.kind == FileKind::Unseen;
    let replaces = if targets.iter().any(|target| exists(target)) {
        Some(conclude::IS_THERE)
    } else if targets.iter().any(unseen) {
        Some("what it would replace could not be seen")
    } else if files.iter().any(Facts::is_beyond) {
        Some("it names more paths than mcp-approve looks at")
    } else {
        None
    };
    // Only an absolute path is surely of this machine: a relative one may be another's.
    let is_new = |one: &FileChange<'_>| matches!(one, FileChange::Content { target, .. } if touched::is_new(target));
    let makes = files.len() == changes.len() && changes.iter().all(is_new);
    let is_whole = |change: &FileChange<'_>| matches!(change, FileChange::Content { how: How::Whole, target, .. } if exists(target) || touched::is_new(target));
    let replaced = match makes {
        true => Replaced::Nothing,
        false if !changes.is_empty() && changes.iter().all(is_whole) => Replaced::Whole,
        false => Replaced::Perhaps,
    };
    let reasons: Vec<String> =
        conclude::danger(behavior, replaced).into_iter().chain(replaces.map(str::to_owned)).collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// How many keys an approval of this call alone would take, apart from its hazards: a grant checks those separately.
pub fn care(behavior: &Behavior, arguments: &Value, look: &Look, found: Option<&Findings>) -> Care {
    let behavior = Behavior { hazards: Vec::new(), ..behavior.clone() };
    if conclude::danger(&behavior, Replaced::Nothing).is_some() {
        return Care::Dangerous;
    }
    let named = path_arguments(arguments);
    let mutates = behavior.identity.mutability == Mutability::Mutates;
    let is_seen = found.is_some() && named.paths.iter().all(|path| look.files.contains(path));
    let by_the_disk = matches!(behavior.identity.action, Action::Create | Action::Move | Action::Overwrite);
    if mutates && by_the_disk && !named.paths.is_empty() && !is_seen {
        return Care::Unseen;
    }
    let is_beyond = mutates && named.left_out == LeftOut::Some;
    match is_beyond || danger(&behavior, arguments, found).is_some() {
        true => Care::Dangerous,
        false => Care::Plain,
    }
}
