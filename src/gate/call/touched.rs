//! What a call would change on this machine: from its action, its arguments and the shell's facts. Reads
//! nothing itself, and claims nothing where the facts may be about another machine.

pub mod change;
mod written;

use serde_json::Value;
use written::{Writing, is_listed, outside_is_plain};

use crate::behavior::words::{self, among};
use crate::behavior::{Action, arguments::base::is_index};
use crate::gate::data::facts::{Facts, FileKind};

pub use change::{FileChange, How, blind, thing};
pub use written::replaces_whole;

const ELSEWHERE: &str = words::section(include_str!("../../../assets/words/objects.txt"), "elsewhere");

/// What would change, in the order of the arguments; nothing where that is unknown.
///
/// `moves: [{ from, to }]` and `files: [{ path, content }]` are read one by one: each object with what is in it.
pub fn of<'a>(action: Action, arguments: &Value, facts: &'a [Facts]) -> Vec<FileChange<'a>> {
    let is_elsewhere = |value: &Value| ELSEWHERE.split_ascii_whitespace().any(|name| value.get(name).is_some());
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

/// Whether the arguments say that a call that creates something writes to this path, and does not only put something into what is
/// there: it is named as where something goes, or the call has a content or an address for it, or says nothing else.
pub fn may_be_written(one: &Facts, arguments: &Value) -> bool {
    const GOES: &str = "dest destination dst to target new output out save export filename";
    const CONTENT: &str = "content contents text data body value base64 bytes";
    let is_named = |name: &str, list: &str| words::of_name(name).iter().any(|word| among(word, list));
    let own = name(one);
    let others =
        || object(arguments, &one.argument).as_object().into_iter().flatten().filter(|(name, _)| **name != own);
    let says = |(_, value): (&String, &Value)| value.is_string() || value.is_array() || value.is_object();
    let gives = |(name, value): (&String, &Value)| {
        is_named(name, CONTENT) || value.as_str().is_some_and(|text| text.contains("://"))
    };
    is_named(&own, GOES) || one.kind != FileKind::Folder && (others().any(gives) || !others().any(says))
}

fn name(one: &Facts) -> String {
    one.argument.rsplit('/').find(|word| !is_index(word)).unwrap_or_default().to_owned()
}

/// The object that an argument is in, in lists under it too.
fn object<'v>(arguments: &'v Value, mut pointer: &str) -> &'v Value {
    loop {
        pointer = pointer.rsplit_once('/').map_or("", |(above, _)| above);
        match arguments.pointer(pointer) {
            Some(object @ Value::Object(_)) => return object,
            _ if pointer.is_empty() => return arguments,
            _ => {}
        }
    }
}

fn groups<'v, 'a>(arguments: &'v Value, facts: &'a [Facts]) -> Vec<Group<'v, 'a>> {
    let mut groups: Vec<Group<'v, 'a>> = Vec::new();
    for one in facts {
        let object = object(arguments, &one.argument);
        match groups.last_mut().filter(|group| std::ptr::eq(group.object, object)) {
            Some(group) => group.facts.push(one),
            None => groups.push(Group { object, facts: vec![one] }),
        }
    }
    groups
}

/// The moves between the paths of one object: a destination has such a name, or is the second of two paths.
fn moves<'a>(facts: &[&'a Facts]) -> Vec<FileChange<'a>> {
    let goes = |one: &&&'a Facts| {
        let name = name(one).to_lowercase();
        ["dest", "dst", "to", "target", "new"].iter().any(|word| name.starts_with(word)) && !name.ends_with('s')
    };
    let (to, from): (Vec<&'a Facts>, Vec<&'a Facts>) = match facts {
        [from, to] if !(is_listed(from) && is_listed(to)) => (vec![to], vec![from]),
        _ => facts.iter().copied().filter(|one| !name(one).eq_ignore_ascii_case("cwd")).partition(|one| goes(&one)),
    };
    let to = if let [to] = to.as_slice() { Some(*to) } else { None };
    from.into_iter().map(|from| FileChange::Move { from, to }).collect()
}
