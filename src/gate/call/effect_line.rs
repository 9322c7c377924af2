//! Our own line on what a call does, from identity and arguments. It is shown before anything the server says.

use serde_json::Value;

use crate::behavior::arguments::effect::{Analysis, Effect, Language};
use crate::behavior::arguments::path::{self, Leads};
use crate::behavior::{Action, Behavior, Identity, Mutability, OutputDomain, voters::name::Gesture, words};
use crate::gate::call::danger::gesture;
use crate::gate::call::touched::{is_new, replaces_whole};
use crate::gate::data::facts::{FileKind, Findings};
use crate::gate::held::target::{is_list, stated, worst};

const WORDS: &str = include_str!("../../../assets/words/objects.txt");
const SOMETHING: &str = "something";
const REF: &str = "a branch, tag or commit";
/// How the lines of gestures begin.
pub const PRESSES: &str = "presses something";
pub const WATCHES: &str = "moves or watches what";

/// The line: what this very call does, as far as an argument shows it, and to what: `replaces content — /tmp/a.txt`, `DELETE
/// on users without WHERE`. What the shell `found` says whether a write creates or replaces. Values are foreign text, raw.
pub fn effect(
    behavior: &Behavior,
    tool: &str,
    arguments: &Value,
    target: Option<&str>,
    found: Option<&Findings>,
) -> String {
    let does = computed(behavior).unwrap_or_else(|| described(behavior, tool, arguments, found));
    match target {
        // If the target is a list, the verb is about the items of that list, not about what the tool usually acts on.
        Some(target) if computed(behavior).is_none() && is_list(arguments, target) => {
            match verb(behavior, arguments, found) {
                Some(verb) => format!("{verb} {target}"),
                None => format!("{does} — {target}"),
            }
        }
        // The line of a statement names its target already.
        Some(target) if stated(behavior).is_none() => format!("{does} — {target}{}", led(arguments, target)),
        _ => does,
    }
}

/// The worst effect that the arguments show, and how many more there are.
fn computed(behavior: &Behavior) -> Option<String> {
    let worst = worst(behavior)?;
    if worst.language == Language::Act || worst.language == Language::Http && worst.effect.reads() {
        return None;
    }
    let says = spoken(worst);
    let more = behavior.analyses.iter().filter(|one| !one.effect.reads()).count().saturating_sub(1);
    Some(match (worst.effect.reads(), more) {
        // An argument that only reads does not make its tool a read: the tool may do more than the argument says.
        (true, _) if behavior.identity.mutability == Mutability::Pure => format!("{says}, changes nothing"),
        (true, _) => format!("{says}, which only reads"),
        (false, 0) => says,
        (false, more) => format!("{says}, and {more} more"),
    })
}

fn spoken(analysis: &Analysis) -> String {
    let says = &analysis.says;
    if analysis.language == Language::Unread {
        format!("sends {says}")
    } else if (analysis.language, analysis.effect) == (Language::Redis, Effect::ReadHere) {
        format!("Redis {says}")
    } else {
        says.clone()
    }
}

/// What a call does by its identity alone: nothing of its arguments.
pub fn by_identity(identity: Identity) -> String {
    if identity.action == Action::Unknown {
        return "does something that is not described".to_owned();
    }
    described(&Behavior { identity, ..Behavior::unknown() }, "", &Value::Null, None)
}

fn described(behavior: &Behavior, tool: &str, arguments: &Value, found: Option<&Findings>) -> String {
    let identity = behavior.identity;
    let object = match object(identity.output_domain) {
        SOMETHING if identity.action == Action::Overwrite && names_a_path(arguments) => "a file".to_owned(),
        general @ (SOMETHING | REF) => thing(tool).unwrap_or_else(|| general.to_owned()),
        object => object.to_owned(),
    };
    match gesture(behavior, tool) {
        Some((Gesture::Looks, verb)) => return format!("{WATCHES} a screen shows ({verb})"),
        Some((Gesture::Presses, verb)) => return format!("{PRESSES} on a screen ({verb})"),
        None => {}
    }
    match (identity.mutability, identity.action) {
        (_, Action::Unknown) => format!("does something that is not described ({tool})"),
        (Mutability::Pure, Action::Search) => format!("searches {object}, changes nothing"),
        (Mutability::Pure, _) => format!("reads {object}, changes nothing"),
        (Mutability::Mutates, Action::Read) => format!("reads {object}, and may change something"),
        (Mutability::Mutates, Action::Search) => {
            format!("searches {object}, and may change something")
        }
        (Mutability::Mutates, Action::Execute) if words::of_name(tool).iter().any(|word| is_in(word, "stopping")) => {
            format!("runs or stops {object}")
        }
        (Mutability::Mutates, _) => format!("{} {object}", verb(behavior, arguments, found).unwrap_or("changes")),
    }
}

/// What a tool that changes something does, as a verb before its object; `None` where it may do more.
fn verb(behavior: &Behavior, arguments: &Value, found: Option<&Findings>) -> Option<&'static str> {
    match (behavior.identity.mutability, behavior.identity.action) {
        (Mutability::Pure, _) | (_, Action::Unknown | Action::Read | Action::Search) => None,
        (Mutability::Mutates, Action::Create) => Some("creates"),
        (Mutability::Mutates, Action::Update) => Some("changes"),
        (Mutability::Mutates, Action::Delete) => Some("deletes"),
        (Mutability::Mutates, Action::Merge) => Some("merges"),
        (Mutability::Mutates, Action::Overwrite) => Some(overwrites(arguments, found)),
        (Mutability::Mutates, Action::Append) => Some("adds to"),
        (Mutability::Mutates, Action::Execute) => Some("runs"),
        (Mutability::Mutates, Action::Send) => Some("sends"),
        (Mutability::Mutates, Action::Move) => Some("moves"),
    }
}

/// What a write does: `creates` or `replaces` only if the shell saw what is at its one path.
fn overwrites(arguments: &Value, found: Option<&Findings>) -> &'static str {
    let files = found.map(|found| found.files.as_slice()).unwrap_or_default();
    match files {
        [one] if replaces_whole(arguments) => match one.kind {
            FileKind::Missing if is_new(one) => "creates",
            FileKind::File => "replaces",
            FileKind::Missing | FileKind::Folder | FileKind::Other | FileKind::Unseen => "writes",
        },
        // Something other than a file: its tool is known to overwrite.
        [] if replaces_whole(arguments) && !names_a_path(arguments) => "replaces",
        _ => "writes",
    }
}

fn names_a_path(arguments: &Value) -> bool {
    let is_path = |(name, value): (&String, &Value)| path::is_path_key(name) && value.is_string();
    arguments.as_object().is_some_and(|fields| fields.iter().any(is_path))
}

/// What the last word of a tool's name says that it acts on, if that is a thing we know: `a container` of `create-container`.
fn thing(tool: &str) -> Option<String> {
    let named = words::of_name(tool).pop()?;
    if is_in(&named, "things") {
        let article = if named.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        return Some(format!("{article} {named}"));
    }
    named.strip_suffix('s').is_some_and(|one| is_in(one, "things")).then_some(named)
}

fn is_in(word: &str, list: &str) -> bool {
    words::among(word, words::section(WORDS, list))
}

fn object(domain: OutputDomain) -> &'static str {
    match domain {
        OutputDomain::Data => "data",
        OutputDomain::Content => "content",
        OutputDomain::Structure => "structure",
        OutputDomain::Diff => "differences",
        OutputDomain::Pr => "a pull request",
        OutputDomain::Issue => "an issue",
        OutputDomain::Ref => REF,
        OutputDomain::Repo => "a repository",
        OutputDomain::User => "a user",
        OutputDomain::Message => "a message",
        OutputDomain::Money => "money",
        OutputDomain::Infra => "infrastructure",
        OutputDomain::Model => "a model",
        OutputDomain::Ack | OutputDomain::Unknown => SOMETHING,
    }
}

/// Where a path leads, if it leaves the folder in which a reader would look for it.
fn led(arguments: &Value, target: &str) -> &'static str {
    let is_path = |(name, value): (&String, &Value)| path::is_path_key(name) && value.as_str() == Some(target);
    if target.len() > path::LONGEST || !arguments.as_object().is_some_and(|fields| fields.iter().any(is_path)) {
        return "";
    }
    match path::leads(target) {
        Leads::Climbs => ", which climbs out of its starting folder",
        Leads::Home => ", in the home folder",
        Leads::Below | Leads::Absolute => "",
    }
}
