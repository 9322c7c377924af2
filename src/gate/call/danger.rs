//! Why one careless key must not approve a call: what it is, and what it would replace on this machine. A call whose own words
//! show that it does less than its tool could is no danger for that; a grant counts it as one all the same.

use serde_json::Value;

use crate::behavior::arguments::effect::{Analysis, Effect};
use crate::behavior::arguments::path::{LeftOut, path_arguments};
use crate::behavior::conclude::{self, Replaced};
use crate::behavior::voters::name::{self, Gesture};
use crate::behavior::{Action, Behavior, Mutability, Source, arguments::choice, words};
use crate::gate::call::touched::{self, FileChange, How};
use crate::gate::data::facts::{Facts, FileKind, Findings, Look};
use crate::gate::grants::Care;

pub fn danger(behavior: &Behavior, tool: &str, arguments: &Value, found: Option<&Findings>) -> Option<String> {
    let mut call = behavior.clone();
    if let Some(less) = does_less(behavior, tool, arguments) {
        call.identity.action = less;
    }
    why(&call, arguments, found, Targets::Said)
}

/// Whether a grant given from such a call covers calls that no words of theirs can show to be harmless.
pub fn may_set_off_anything(behavior: &Behavior, tool: &str) -> bool {
    gesture(behavior, tool).is_some_and(|(gesture, _)| gesture == Gesture::Presses)
}

/// How many keys an approval of this call alone would take, apart from its hazards: a grant checks those separately. What an agent
/// calls the thing that it presses counts for nothing here.
pub fn care(behavior: &Behavior, (tool, arguments): (&str, &Value), look: &Look, found: Option<&Findings>) -> Care {
    let mut behavior = Behavior { hazards: Vec::new(), ..behavior.clone() };
    if let Some(less) = does_less(&behavior, tool, arguments).filter(|_| !may_set_off_anything(&behavior, tool)) {
        behavior.identity.action = less;
    }
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
    match is_beyond || why(&behavior, arguments, found, Targets::Any).is_some() {
        true => Care::Dangerous,
        false => Care::Plain,
    }
}

/// Which paths of a call that creates something count as places that it may write to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Targets {
    /// Those that the arguments say it writes to.
    Said,
    /// Every one of which nothing else is known.
    Any,
}

fn why(behavior: &Behavior, arguments: &Value, found: Option<&Findings>, which: Targets) -> Option<String> {
    let files = found.map(|found| found.files.as_slice()).unwrap_or_default();
    if files.is_empty() {
        return conclude::danger(behavior, Replaced::Perhaps);
    }
    let changes = touched::of(behavior.identity.action, arguments, files);
    // A file that no change explains may be written to as well. In a move without changes, the first is the source.
    let unexplained = files.iter().filter(|one| !changes.iter().any(|change| change.concerns(one)) && !one.is_beyond());
    let unexplained = unexplained.filter(|one| !one.argument.ends_with("/cwd"));
    let is_written = |one: &&Facts| which == Targets::Any || touched::may_be_written(one, arguments);
    let targets: Vec<&Facts> = match behavior.identity.action {
        Action::Create => {
            changes.iter().filter_map(FileChange::content_target).chain(unexplained.filter(is_written)).collect()
        }
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

/// What the call does, if its own words show that it does less than its tool could: it only reads or adds, or starts nothing.
fn does_less(behavior: &Behavior, tool: &str, arguments: &Value) -> Option<Action> {
    let action = behavior.identity.action;
    if matches!(action, Action::Execute | Action::Overwrite) && says_only_statements(behavior, arguments) {
        let only = |fits: fn(&Analysis) -> bool| behavior.analyses.iter().all(fits);
        return match only(|one| one.effect.reads()) {
            true => Some(Action::Update),
            false => only(|one| one.effect.reads() || adds(one)).then_some(Action::Create),
        };
    }
    let starts_nothing = action == Action::Execute
        && match gesture(behavior, tool)?.0 {
            Gesture::Looks => true,
            Gesture::Presses => names_no_change(arguments),
        };
    starts_nothing.then_some(Action::Update)
}

/// Whether the texts of a call are statements of a query language alone, each read to its end.
fn says_only_statements(behavior: &Behavior, arguments: &Value) -> bool {
    let is_statement = |name: &str| behavior.analyses.iter().any(|one| one.argument == name);
    let says = |(name, value): (&String, &Value)| match value {
        Value::String(_) => is_statement(name),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::Array(_) | Value::Object(_) => false,
    };
    conclude::only_queries(behavior) && arguments.as_object().is_some_and(|fields| fields.iter().all(says))
}

/// Whether a statement only adds rows, or a table or an index: with no word that replaces, and nothing that it would run first.
fn adds(statement: &Analysis) -> bool {
    let text = statement.fingerprint.as_deref().unwrap_or("select").to_ascii_lowercase();
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let does_more =
        words.any(|word| words::among(word, "select replace update duplicate conflict with returning execute call"));
    let says = statement.says.as_str();
    let begins = ["INSERT on ", "CREATE TABLE ", "CREATE INDEX "].iter().any(|begin| says.starts_with(begin));
    statement.effect == Effect::Write && statement.action == Action::Create && begins && !does_more && !calls(&text)
}

/// Whether an INSERT calls a function among its values.
fn calls(statement: &str) -> bool {
    let values = statement.split_once(" values").map(|(_, values)| values).unwrap_or_default().as_bytes();
    values.windows(2).any(|pair| matches!(pair, [before, b'('] if before.is_ascii_alphanumeric() || *before == b'_'))
}

/// The gesture that a tool makes on a screen, and its verb, where nothing but this verb says that it runs something.
pub fn gesture(behavior: &Behavior, tool: &str) -> Option<(Gesture, String)> {
    if behavior.identity.action != Action::Execute || !behavior.analyses.is_empty() {
        return None;
    }
    let act = name::of_name(&words::of_name(tool));
    let gesture = name::gesture(&act)?;
    let is_verb = |word: &str| words::base(word, |base| (base == act.verb).then_some(())).is_some();
    let is_light = |word: &str| words::base(word, |base| words::among(base, "perform do make").then_some(())).is_some();
    let is_by_its_verb = behavior.evidence.iter().all(|one| match one.source {
        Source::Pinned | Source::Outside | Source::Declared | Source::Arguments => {
            one.says.action != Some(Action::Execute)
        }
        // "Performs a click".
        Source::Description => one.says.action != Some(Action::Execute) || is_verb(&one.span) || is_light(&one.span),
        Source::Curated | Source::Annotated | Source::Name | Source::Learned => true,
    });
    is_by_its_verb.then_some((gesture, act.verb))
}

/// Whether a call says in plain English words what it presses, and none of them is a change.
fn names_no_change(arguments: &Value) -> bool {
    let texts = || arguments.as_object().into_iter().flatten().filter_map(|(_, value)| value.as_str());
    let is_word = |word: &str| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let words: Vec<String> = texts().flat_map(words::of_name).filter(|word| is_word(word)).collect();
    texts().all(str::is_ascii) && !words.is_empty() && !words.iter().any(|word| choice::changes(word))
}
