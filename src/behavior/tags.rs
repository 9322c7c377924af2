//! Capability tags of a tool or call, in lower case: what comes back and what is done (`content:read`, `issue:create`), and
//! the things that the tool's name speaks of (`files:read`, `documents:delete`). Owns no evidence.

use super::conclude::Behavior;
use super::taxonomy::{Action, Confidence, Mutability, OutputDomain};
use super::voters::name;
use super::words::{self, among, section};

const WORDS: &str = include_str!("../../assets/words/tags.txt");
/// Words after a thing that only say which of its kind.
const WHICH: &str = section(WORDS, "which");
/// Words that have no plural, and names.
const UNCOUNTED: &str = section(WORDS, "uncounted");

/// The tags of a tool of this name; none where its action is unknown.
///
/// Those after the first are a role's words for it: the act is one of read, write, delete, execute, send. Foreign words in it.
pub fn of(behavior: &Behavior, tool: &str) -> Vec<String> {
    let identity = behavior.identity;
    let act = match identity.action {
        Action::Read | Action::Search => "read",
        Action::Delete => "delete",
        Action::Execute => "execute",
        Action::Send => "send",
        Action::Create | Action::Update | Action::Merge | Action::Overwrite | Action::Append | Action::Move => "write",
        Action::Unknown => return Vec::new(),
    };
    match identity.output_domain {
        OutputDomain::Unknown => Vec::new(),
        domain => {
            let (things, whole) = things(tool, domain);
            let first = format!("{}:{}", domain.word(), identity.action.word()).to_ascii_lowercase();
            let whole = whole.map(|whole| format!("{whole}:{act}"));
            [first, format!("{things}:{act}")].into_iter().chain(whole).collect()
        }
    }
}

/// The tags that somebody must be granted to use the tool: as [`of`], but what no operator confirmed as a read has the act `read?`,
/// and what may change something has no tag that says it reads.
pub fn held(behavior: &Behavior, tool: &str) -> Vec<String> {
    let reads = matches!(behavior.identity.action, Action::Read | Action::Search);
    match (reads, behavior.identity.mutability, behavior.confidence) {
        (true, Mutability::Pure, Confidence::Proven) | (false, Mutability::Mutates, _) => of(behavior, tool),
        (true, Mutability::Pure, _) => of(behavior, tool).into_iter().map(|tag| tag + "?").collect(),
        // The two contradict each other: nothing is known.
        (true, Mutability::Mutates, _) | (false, Mutability::Pure, _) => Vec::new(),
    }
}

/// What a name speaks of, in the plural: `read_text_file` of files, and of text files where it says more than one word.
fn things(tool: &str, domain: OutputDomain) -> (String, Option<String>) {
    const AFTER: &str = "by for in from with to on of at as into and or via";
    const MUTE: &str = "by for in from with to on of id ids info details detail data v1 v2 v3 all many batch bulk";
    let words = words::of_name(tool);
    let object = name::of_name(&words).object;
    let end = object.iter().skip(1).position(|word| among(word, AFTER)).map_or(object.len(), |at| at + 1);
    let is_thing = |word: &&String| !among(word, MUTE) && !among(word, WHICH) && word.chars().any(char::is_alphabetic);
    let words: Vec<&str> = object[..end].iter().filter(is_thing).map(String::as_str).collect();
    match words.split_last() {
        None => (domain.word().to_ascii_lowercase(), None),
        Some((head, [])) => (plural(head), None),
        Some((head, more)) => (plural(head), Some(format!("{}_{}", more.join("_"), plural(head)))),
    }
}

fn plural(word: &str) -> String {
    match word.strip_suffix('y') {
        _ if word.ends_with('s') || !word.is_ascii() || among(word, UNCOUNTED) => word.to_owned(),
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ if word.ends_with(['x', 'z']) || word.ends_with("ch") || word.ends_with("sh") => format!("{word}es"),
        _ => format!("{word}s"),
    }
}
