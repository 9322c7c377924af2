//! Query languages without a reader of their own, and commands of databases: whether a word that changes something is in a text, and
//! whether a text has the shape of a statement at all. Proves no read.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::choice;
use super::effect::{Effect, Language, Meaning};
use crate::behavior::taxonomy::Action;
use crate::behavior::voters::name;
use crate::behavior::words::{self, Pairs, among, pairs, section};

const WORDS: &str = include_str!("../../../assets/words/grammar.txt");

/// The languages by name, each with its words of change: lines of what is done and the words that do it.
const LANGUAGES: [(Language, &str, &str); 5] = [
    (Language::Cypher, "Cypher", section(WORDS, "cypher")),
    (Language::Sparql, "SPARQL", section(WORDS, "sparql")),
    (Language::Kql, "KQL", section(WORDS, "kql")),
    (Language::InfluxQl, "InfluxQL", section(WORDS, "influxql")),
    (Language::Elasticsearch, "Elasticsearch", section(WORDS, "elasticsearch")),
];

/// The gravest change in a text of this language; `None` where there is none, or we know no words of the language.
pub fn change(language: Language, text: &str) -> Option<Meaning> {
    match language {
        // A line end ends the command.
        Language::Redis => {
            gravest(text.split(['\n', '\r']).filter_map(|line| redis(&line.split_whitespace().collect::<Vec<_>>())))
        }
        Language::MongoDb => mongo_shell(text),
        _ => by_words(language, text),
    }
}

fn gravest(found: impl Iterator<Item = Meaning>) -> Option<Meaning> {
    found.reduce(|worst, one| {
        let weight = |one: &Meaning| (one.effect, one.action.caution());
        if weight(&one) > weight(&worst) { one } else { worst }
    })
}

pub(super) fn in_table(table: &'static str, word: &str) -> Option<(Effect, Action)> {
    let (does, _) = words::rows(table).find(|(_, words)| among(word, words))?;
    match does {
        "administer" => Some((Effect::Administer, Action::Execute)),
        does => Action::from_word(&does.to_ascii_uppercase()).map(|action| (Effect::of(action), action)),
    }
}

fn by_words(language: Language, text: &str) -> Option<Meaning> {
    // What the schema has is listed by procedures.
    let called = text.trim().strip_prefix("CALL ").and_then(|call| call.strip_suffix("()"));
    if called.is_some_and(|procedure| among(procedure, const { section(WORDS, "cypher-lists") })) {
        return None;
    }
    let (_, name, table) = LANGUAGES.iter().find(|(known, ..)| *known == language)?;
    // Only a text that begins with a dot is a command to a cluster of KQL.
    if language == Language::Kql && !text.trim_start().starts_with('.') {
        return None;
    }
    gravest(words(text).filter_map(|word| {
        let (effect, action) = in_table(table, &word.to_ascii_lowercase())?;
        Some(Meaning::new(effect, action, word, format!("{name}, {}", word.to_uppercase())))
    }))
}

/// What one command to Redis changes, given as its words.
pub fn redis(words: &[&str]) -> Option<Meaning> {
    let upper =
        |at: usize| words.get(at).map(|word| word.trim_matches(['"', '\'']).to_ascii_uppercase()).unwrap_or_default();
    let (name, sub) = (upper(0), upper(1));
    if among(&format!("{name}+{sub}"), const { section(WORDS, "redis-reads") }) {
        return None;
    }
    let (effect, action) = in_table(const { section(WORDS, "redis") }, &name.to_ascii_lowercase())?;
    let says = match effect {
        _ if name.starts_with("FLUSH") => format!("{name} removes every key"),
        Effect::Execute => format!("{name} runs code in Redis"),
        Effect::Administer => format!("{name} {sub}").trim_end().to_owned(),
        _ if words.len() > 1 => format!("{name} on {}", words[1]),
        _ => name,
    };
    // The name and the key: what is set may be a secret.
    Some(Meaning::new(effect, action, words.iter().take(2).copied().collect::<Vec<_>>().join(" "), says))
}

/// What a command of MongoDB, or a method of its shell, changes by its name.
fn mongo(name: &str) -> Option<(Effect, Action)> {
    in_table(const { section(WORDS, "mongo") }, &name.to_ascii_lowercase()).or_else(|| match name::effect(name)? {
        name::Effect::Changes(action) => Some((Effect::of(action), action)),
        name::Effect::Reads(_) => None,
    })
}

/// What a command to MongoDB changes: its name is its first key.
pub fn mongo_command(command: &Map<String, Value>) -> Option<Meaning> {
    let (name, target) = command.iter().next().filter(|(name, _)| !name.starts_with('$'))?;
    let (effect, action) = mongo(name)?;
    let says = target.as_str().map_or_else(|| name.clone(), |target| format!("{name} on {target}"));
    Some(Meaning::new(effect, action, name.as_str(), says))
}

/// What a line for MongoDB's shell changes: `db.users.deleteMany({})`.
fn mongo_shell(text: &str) -> Option<Meaning> {
    if !text.trim_start().starts_with("db") {
        return None;
    }
    let called = text
        .match_indices('(')
        .map(|(at, _)| text[..at].rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default());
    let called = called.filter_map(|name| {
        let (effect, action) = mongo(name)?;
        Some(Meaning::new(effect, action, name, format!("{name} in MongoDB's shell")))
    });
    let operators =
        ["$where", "$function", "$accumulator", "$out", "$merge"].into_iter().filter(|word| text.contains(word));
    gravest(called.chain(operators.filter_map(|word| mongo_operator(word, &Value::Null))))
}

/// Operators of MongoDB that change something or run code wherever they are, in whatever argument.
pub fn mongo_operator(key: &str, value: &Value) -> Option<Meaning> {
    let into = || {
        let into = value.get("into").or_else(|| value.get("coll")).unwrap_or(value);
        let name = into.as_str().or_else(|| into.get("coll")?.as_str());
        name.map_or_else(String::new, |name| format!(" {name}"))
    };
    Some(match key {
        "$out" => {
            Meaning::new(Effect::Write, Action::Overwrite, key, format!("$out replaces the collection{}", into()))
        }
        "$merge" => {
            Meaning::new(Effect::Write, Action::Merge, key, format!("$merge writes into the collection{}", into()))
        }
        "$where" | "$function" | "$accumulator" => Meaning::runs(key, format!("{key} runs JavaScript in the database")),
        _ => return None,
    })
}

/// The words of a text that no quotes hold, and that no sign marks as a name: `n.set`, `?delete`, `:Created`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    // Where quotes may be hidden from us, what is between them counts too.
    let skips = !["\\", "//", "/*", "--", "#"].iter().any(|hides| text.contains(hides));
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let (mut rest, mut before) = (text, ' ');
    std::iter::from_fn(move || {
        loop {
            let sign = rest.chars().next()?;
            if is_part(sign) {
                let (word, after) = rest.split_at(rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
                let is_name = ".:?$@".contains(before);
                (rest, before) = (after, 'x');
                match is_name {
                    true => continue,
                    false => return Some(word),
                }
            }
            rest = rest.get(sign.len_utf8()..)?;
            if skips && "'\"`".contains(sign) {
                rest = rest.split_once(sign).map_or(rest, |(_, after)| after);
            }
            // The dot that ends a clause, or begins a command, marks no name.
            before = if sign == '.' && before != 'x' { ' ' } else { sign };
        }
    })
}

const SHAPES: &str = include_str!("../../../assets/words/shape.txt");
static SIDE_BY_SIDE: LazyLock<Pairs> = LazyLock::new(|| pairs(section(SHAPES, "side-by-side")));

/// How many words of a text are looked at: a longer text is not plain anyway.
const MOST_WORDS: usize = 1_024;

/// Whether a text has the shape of a statement of some query language: its head, or two words of it side by side.
pub fn is_statement(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_upper = |word: &str| word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    let written: Vec<&str> = text.split(|c| !is_part(c)).filter(|word| !word.is_empty()).take(MOST_WORDS).collect();
    let words: Vec<String> = written.iter().map(|word| word.to_ascii_lowercase()).collect();
    let Some((head, rest)) = words.split_first() else { return false };
    let is_head = among(head, const { section(SHAPES, "head") });
    if rest.is_empty() {
        return among(head, const { section(SHAPES, "by-itself") });
    }
    // A change in capitals at any place (`a001 EXPUNGE`): people who search do not write like that.
    let changes = |(written, word): (&&str, &String)| is_upper(written) && choice::is_firm_change(word);
    if is_upper(written[0]) && is_head || written.iter().zip(&words).any(changes) {
        return true;
    }
    let pairs: Vec<usize> =
        (1..words.len()).filter(|at| SIDE_BY_SIDE.contains(&(words[at - 1].as_str(), words[*at].as_str()))).collect();
    let after_head = text.trim_start().get(head.len()..).unwrap_or_default();
    let opens = among(head, "match merge create call unwind") && after_head.trim_start().starts_with(['(', '[', '{']);
    let has = |word: &str| rest.iter().skip(1).any(|one| one == word);
    let begins = match head.as_str() {
        "select" => has("from"),
        "update" => has("set"),
        "for" => has("in"),
        _ => false,
    };
    let is_prose = || words.iter().any(|word| among(word, const { section(SHAPES, "of-prose") }));
    pairs.iter().any(|at| *at == 1 || is_upper(written[at - 1]))
        || opens
        || (!pairs.is_empty() || begins || is_head) && !is_prose()
}
