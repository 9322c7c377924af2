//! What a definition's words say it does and gives back: action, output domain, content type. Decides no badge.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::evidence::Claim;
use super::taxonomy::{Action, ContentType, Mutability, OutputDomain};
use super::voters::{Says, Vote, description, name};
use super::words::{self, among, section};
use crate::mcp::tool::Tool;

const WORDS: &str = include_str!("../../assets/words/objects.txt");

/// Reads action, output domain and content type of a tool that was found to be of this mutability.
///
/// `votes` are those of name, description and model; the action is the name's verb, else the description's.
pub fn claim(tool: &Tool, votes: &[Vote; 3], mutability: Mutability) -> Claim {
    let [by_name, by_description, _] = votes;
    let named = name::of_name(&words::of_name(&tool.name));
    let opened = description::opened(tool);
    let runs = match description::runs(tool).as_deref() {
        Some(parameter) if among(parameter, "sql query queries statement") => Runs::Statement,
        Some(_) => Runs::Code,
        None => Runs::Nothing,
    };
    let action = match mutability {
        Mutability::Pure if runs == Runs::Statement => Action::Read,
        Mutability::Pure => {
            let searches = [by_name, by_description].iter().any(|vote| vote.action == Some(Action::Search));
            if searches { Action::Search } else { Action::Read }
        }
        Mutability::Mutates => {
            let changes = |vote: &&&Vote| vote.says == Says::Changes;
            [by_name, by_description].iter().find(changes).and_then(|vote| vote.action).unwrap_or(Action::Unknown)
        }
    };
    let phrases = [named.object.as_slice(), opened.object.as_slice()];
    // What comes back: the object's domain, unless the verb makes something else of it.
    let verb = if named.verb.is_empty() { &opened.verb } else { &named.verb };
    let is = |list: &str| words::base(verb, |base| among(base, list).then_some(())).is_some();
    let output_domain = match mutability {
        Mutability::Pure if runs == Runs::Statement || is(const { section(WORDS, "measures") }) => OutputDomain::Data,
        Mutability::Pure if is("diff") => OutputDomain::Diff,
        Mutability::Pure if is(const { section(WORDS, "words-out") }) => OutputDomain::Content,
        Mutability::Mutates if is("commit push") && action != Action::Execute => OutputDomain::Ref,
        Mutability::Mutates if is("write") => OutputDomain::Ack,
        Mutability::Pure | Mutability::Mutates => output(mutability, action, &phrases, runs),
    };
    let near = phrases.iter().flat_map(|phrase| phrase.iter().take(8)).map(String::as_str);
    let content_type = content_type(near, output_domain);
    Claim {
        mutability: Some(mutability),
        action: Some(action),
        output_domain: Some(output_domain),
        content_type: Some(content_type),
    }
}

/// The domain of what comes back.
///
/// `named` are the phrases that name the object, the name's first. A change mostly returns an acknowledgement; a read
/// returns what it names, and records where it names nothing known.
fn output(mutability: Mutability, action: Action, named: &[&[String]], runs: Runs) -> OutputDomain {
    use OutputDomain as D;
    let found = named.iter().find_map(|phrase| of_part(phrase, 0, named));
    match (mutability, action) {
        (Mutability::Pure, Action::Search) => match found {
            // What is found of files is where they are.
            Some(D::Content)
                if named.iter().any(|phrase| phrase.first().is_some_and(|word| among(word, "file files"))) =>
            {
                D::Structure
            }
            Some(found) => found,
            None => searched(named),
        },
        (Mutability::Pure, _) => found.unwrap_or(D::Data),
        (Mutability::Mutates, Action::Unknown) => D::Unknown,
        (Mutability::Mutates, Action::Execute) => match (runs, found) {
            (Runs::Code, _) => D::Content,
            (Runs::Statement, _) => D::Data,
            (Runs::Nothing, Some(D::Model)) => D::Model,
            (Runs::Nothing, _) => D::Ack,
        },
        (Mutability::Mutates, Action::Create | Action::Update | Action::Move) => match found {
            Some(made @ (D::Issue | D::Pr | D::Repo)) => made,
            Some(D::Content)
                if action == Action::Create && named.iter().any(|phrase| phrase.iter().any(|word| is_media(word))) =>
            {
                D::Content
            }
            _ => D::Ack,
        },
        (Mutability::Mutates, _) => D::Ack,
    }
}

/// What a parameter of the tool lets one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runs {
    Code,
    Statement,
    Nothing,
}

/// The domain that a noun phrase names, read from its head backwards: "pull request files", "file info".
///
/// `all` are the phrases it is among: they tell a chemical reaction from that to a message.
fn of_part(words: &[String], part: usize, all: &[&[String]]) -> Option<OutputDomain> {
    use OutputDomain as D;
    let start = words.iter().position(|word| !among(word, const { section(WORDS, "modifiers") }))?;
    let end = words[start..]
        .iter()
        .position(|word| among(word, const { section(WORDS, "stops") }))
        .map_or(words.len(), |found| start + found);
    let phrase = &words[start..end];
    let requests = phrase.windows(2).any(|pair| among(&pair[0], "pull merge") && among(&pair[1], "request requests"));
    let mut about = false;
    for word in phrase.iter().rev() {
        if among(word, const { section(WORDS, "transparent") }) {
            about = true;
            continue;
        }
        // A log of commits is about commits.
        if among(word, "log logs history") && phrase.iter().any(|word| among(word, "commit commits")) {
            return Some(D::Ref);
        }
        let named = domain(word).filter(|_| is_meant(word, all));
        if requests && !matches!(named, Some(D::Message)) {
            let changed = among(word, "file files diff diffs change changes");
            return Some(if changed { D::Diff } else { D::Pr });
        }
        return match named {
            Some(D::Content | D::Structure) if about => Some(D::Data),
            other => other,
        };
    }
    // "The status of a host": the domain is that of the host.
    let joins = words.get(end).is_some_and(|word| among(word, "of about for on"));
    match of_part(words.get(end + 1..)?, part + 1, all) {
        Some(D::Content | D::Structure) if joins && part < 2 => Some(D::Data),
        other if joins && part < 2 => other,
        _ => None,
    }
}

/// Whether a word of several senses is among others of the sense that [`domain`] gives it.
fn is_meant(word: &str, all: &[&[String]]) -> bool {
    let is_among = |word: &str, list: &str| among(word, list) || among(word.strip_suffix('s').unwrap_or(word), list);
    let singular = word.strip_suffix('s').unwrap_or(word);
    let mut senses = const { section(WORDS, "senses") }.lines().filter_map(|row| row.split_once('|'));
    let needed = senses.find(|(words, _)| among(singular, words));
    needed.is_none_or(|(_, others)| all.iter().any(|phrase| phrase.iter().any(|other| is_among(other, others))))
}

fn searched(named: &[&[String]]) -> OutputDomain {
    let content = |word: &String| among(word, const { section(WORDS, "searched") });
    if named.iter().any(|phrase| phrase.iter().take(8).any(content)) {
        OutputDomain::Content
    } else {
        OutputDomain::Data
    }
}

/// The domain that a word names; `None` for a word that tells nothing.
fn domain(word: &str) -> Option<OutputDomain> {
    let find = |word: &str| DOMAINS.get(word).copied();
    find(word).or_else(|| words::singular(word, find))
}

/// The first row that has a word wins.
static DOMAINS: LazyLock<HashMap<&'static str, OutputDomain>> = LazyLock::new(|| {
    let mut all = HashMap::new();
    for (domain, words) in words::rows(section(WORDS, "domains")) {
        let Some(domain) = OutputDomain::from_word(&domain.to_ascii_uppercase()) else { continue };
        words.split_whitespace().for_each(|word| _ = all.entry(word).or_insert(domain));
    }
    all
});

fn is_media(word: &str) -> bool {
    among(word, const { section(WORDS, "media") })
}

/// The kind of content that some words speak of.
fn content_type<'a>(named: impl Iterator<Item = &'a str>, domain: OutputDomain) -> ContentType {
    for word in named {
        if is_media(word) || among(word, "binary zip archive pdf bytes base64 png jpeg wav mp3 blob") {
            return ContentType::Binary;
        }
        if among(word, "text markdown transcript document documentation docs html readme article code file files diff")
        {
            return ContentType::Text;
        }
        if among(word, "json table records rows csv") {
            return ContentType::Structured;
        }
    }
    match domain {
        OutputDomain::Content | OutputDomain::Diff => ContentType::Text,
        OutputDomain::Ack | OutputDomain::Unknown => ContentType::Unknown,
        _ => ContentType::Structured,
    }
}
