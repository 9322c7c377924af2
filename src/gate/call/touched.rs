//! What a call would change on this machine, from its action, its arguments and the shell's facts; and why one careless key must not
//! approve it. Reads nothing itself, and claims nothing where the facts may be about another machine.

pub mod change;
mod written;

use serde_json::Value;
use written::{Writing, is_listed, outside_is_plain};

use crate::behavior::arguments::base::is_index;
use crate::behavior::arguments::named::{LeftOut, path_arguments};
use crate::behavior::conclude::{self, Behavior, Replaced};
use crate::behavior::taxonomy::{Action, Mutability};
use crate::gate::data::facts::{Facts, FileKind, Findings, Look};
use crate::gate::grants::Care;

pub use change::{FileChange, How, blind, thing};
pub use written::replaces_whole;

/// Arguments that say that a path is on another machine, whatever is here under the same name.
const ELSEWHERE: [&str; 13] = [
    "repo", "repository", "owner", "project", "project_id", "bucket", "branch", "url", "host", "hostname", "drive",
    "site", "workspace",
];
/// What would change, in the order of the arguments; nothing where that is unknown.
///
/// `moves: [{ from, to }]` and `files: [{ path, content }]` are read one by one: each object with what is in it.
pub fn of<'a>(action: Action, arguments: &Value, facts: &'a [Facts]) -> Vec<FileChange<'a>> {
    let is_elsewhere = |value: &Value| ELSEWHERE.iter().any(|name| value.get(name).is_some());
    if !arguments.is_object() || is_elsewhere(arguments) {
        return Vec::new();
    }
    let groups = groups(arguments, facts).into_iter().filter(|group| !is_elsewhere(group.object));
    match action {
        Action::Delete => groups.flat_map(|group| group.facts).map(|target| FileChange::Delete { target }).collect(),
        Action::Move => groups.flat_map(|group| moves(&group.facts)).collect(),
        Action::Overwrite | Action::Create | Action::Update | Action::Append | Action::Unknown => {
            if !outside_is_plain(arguments, facts) {
                return Vec::new();
            }
            let mut writing = Writing::of(action);
            groups.flat_map(|group| writing.group(group.object, &group.facts)).collect()
        }
        Action::Read | Action::Search | Action::Merge | Action::Execute | Action::Send => Vec::new(),
    }
}

/// Whether it is certain that nothing is at this path: a relative path may start in another folder than ours.
pub fn is_new(target: &Facts) -> bool {
    target.kind == FileKind::Missing && target.path.starts_with('/')
}

/// The paths that are in one object of the arguments, in lists under it too.
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

/// The moves between the paths of one object: a destination has such a name, or is the second of two paths.
fn moves<'a>(facts: &[&'a Facts]) -> Vec<FileChange<'a>> {
    let name = |one: &Facts| one.argument.rsplit('/').find(|word| !is_index(word)).unwrap_or_default().to_lowercase();
    let goes = |one: &&&'a Facts| {
        let name = name(one);
        ["dest", "dst", "to", "target", "new"].iter().any(|word| name.starts_with(word)) && !name.ends_with('s')
    };
    let (to, from): (Vec<&'a Facts>, Vec<&'a Facts>) = match facts {
        [from, to] if !(is_listed(from) && is_listed(to)) => (vec![to], vec![from]),
        _ => facts.iter().copied().filter(|one| name(one) != "cwd").partition(|one| goes(&one)),
    };
    let to = if let [to] = to.as_slice() { Some(*to) } else { None };
    from.into_iter().map(|from| FileChange::Move { from, to }).collect()
}

/// Why one careless key must not approve it: its behavior, and what it would replace.
pub fn danger(behavior: &Behavior, arguments: &Value, found: Option<&Findings>) -> Option<String> {
    let files = found.map(|found| found.files.as_slice()).unwrap_or_default();
    if files.is_empty() {
        return conclude::danger(behavior, Replaced::Perhaps);
    }
    let changes = of(behavior.identity.action, arguments, files);
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
    let makes_new = |one: &FileChange<'_>| matches!(one, FileChange::Content { target, .. } if is_new(target));
    let makes = files.len() == changes.len() && changes.iter().all(makes_new);
    let is_whole = |change: &FileChange<'_>| matches!(change, FileChange::Content { how: How::Whole, target, .. } if exists(target) || is_new(target));
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
