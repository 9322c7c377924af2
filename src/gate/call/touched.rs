//! What a call would change on this machine: from its action, its arguments and the shell's facts. Reads
//! nothing itself, and claims nothing where the facts may be about another machine.

pub mod change;
mod written;

use serde_json::Value;

use crate::behavior::arguments::base::is_index;
use crate::behavior::taxonomy::Action;
use crate::gate::data::facts::{Facts, FileKind};
pub use change::{FileChange, How, blind, thing};
pub use written::replaces_whole;
use written::{Writing, is_listed, outside_is_plain};

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
