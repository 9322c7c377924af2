//! What a call acts on, in a few words: a path, `from → to`, a statement's verb and table, the names in a list, a
//! recipient, an amount. The one answer that rows, cards and records show. All of it is foreign text, raw.

use serde_json::{Map, Value};

use crate::behavior::arguments::effect::{Analysis, Language};
use crate::behavior::secrets::{is_secret_flag, is_secret_key, spans};
use crate::behavior::words::{self, among, rows, section};
use crate::behavior::{Action, Behavior, Mutability, OutputDomain};
use crate::wire::Call;

const WORDS: &str = include_str!("../../../assets/words/objects.txt");
const ADDRESSES: &str = section(WORDS, "addresses");
const RECIPIENTS: &str = section(WORDS, "recipients");

const SHOWN: usize = 8;
/// How long the arguments of an unjudged call may be to be read for its target, in bytes.
const UNJUDGED: usize = 64 * 1024;

fn in_order(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split_ascii_whitespace()
}

pub fn of(behavior: &Behavior, arguments: &Value) -> Option<String> {
    let identity = behavior.identity;
    let pays = identity.output_domain == OutputDomain::Money && identity.mutability == Mutability::Mutates;
    let gives = if pays || identity.action == Action::Send { Gives::Yes } else { Gives::No };
    stated(behavior).map(brief).or_else(|| named(arguments, gives))
}

/// What the worst statement among the arguments acts on, as its reader says it.
pub(in crate::gate) fn stated(behavior: &Behavior) -> Option<&str> {
    worst(behavior).filter(|worst| is_shown(worst)).map(|worst| worst.says.as_str())
}

/// What a call acts on that ended before it was judged.
pub fn of_unjudged(call: &Call) -> Option<String> {
    let text = Some(call.arguments_text()).filter(|text| text.len() <= UNJUDGED)?;
    named(&serde_json::from_str(text).ok()?, Gives::No)
}

/// Whether a target is a list of things, as in `3 entities: Ada, Bob, Carol`: the call acts on each of them.
pub(in crate::gate) fn is_list(arguments: &Value, target: &str) -> bool {
    arguments.as_object().and_then(list).is_some_and(|list| list == target)
}

/// Whether a call sends or pays something to someone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gives {
    Yes,
    No,
}

pub(in crate::gate) fn worst(behavior: &Behavior) -> Option<&Analysis> {
    let weight = |one: &Analysis| (one.effect, one.action.caution());
    behavior.analyses.iter().reduce(|worst, one| if weight(one) > weight(worst) { one } else { worst })
}

/// Whether the reader's words say better what a statement acts on than the statement itself.
fn is_shown(analysis: &Analysis) -> bool {
    let tells = [Language::GraphQl, Language::MongoDb, Language::Redis, Language::Cypher, Language::Sparql];
    analysis.language == Language::Sql || tells.contains(&analysis.language) && !analysis.effect.reads()
}

/// What the arguments name: `shop/users: 2 ids: 1, 2`, `120 EUR to ada@example.org`.
fn named(arguments: &Value, gives: Gives) -> Option<String> {
    let fields = arguments.as_object()?;
    let keys: Vec<(&str, Vec<String>)> = fields.keys().map(|key| (&**key, words::of_name(key))).collect();
    let places: Vec<String> =
        in_order(const { section(WORDS, "places") }).filter_map(|place| place_of(fields, &keys, place)).collect();
    let goes = pair(fields);
    let to = if goes.is_some() { None } else { recipient(fields, gives) };
    let strong = || in_order(const { section(WORDS, "strong") }).find_map(|name| word(fields, name));
    let numbered = || {
        in_order(const { section(WORDS, "numbered") })
            .find_map(|name| Some(format!("#{}", fields.get(name)?.as_u64()?)))
    };
    let told = |name: &&str| gives == Gives::No || !among(name, ADDRESSES);
    let name = || {
        in_order(const { section(WORDS, "names") })
            .filter(told)
            .find_map(|name| word(fields, name))
            .or_else(|| if to.is_some() { None } else { identified(fields, &keys) })
    };
    // A message is long, and says less than its recipient.
    let message = || if to.is_some() { None } else { word(fields, "message") };
    let what = match (amount(fields), goes) {
        (Some(amount), Some(goes)) => Some(format!("{amount}, {goes}")),
        // An amount without a recipient belongs to a thing that is named.
        (Some(amount), None) if to.is_none() => Some(name().map_or(amount.clone(), |name| format!("{name}: {amount}"))),
        (amount, goes) => amount.or(goes),
    };
    let what = what.or_else(strong).or_else(|| list(fields)).or_else(numbered).or_else(name).or_else(message);
    let what = match (what, to) {
        (Some(what), Some(to)) => Some(format!("{what} to {to}")),
        (None, Some(to)) => Some(format!("to {to}")),
        (what, None) => what,
    };
    match (places.is_empty(), what) {
        (false, Some(what)) => Some(format!("{}: {what}", places.join("/"))),
        (false, None) => Some(places.join("/")),
        (true, Some(what)) => Some(what),
        (true, None) => first(fields),
    }
}

/// What an argument like `bucket`, `bucketName` or `bucket_id` names. `keys`: the fields' names, and the words of each.
fn place_of(fields: &Map<String, Value>, keys: &[(&str, Vec<String>)], place: &str) -> Option<String> {
    let is_place = |(name, words): &&(&str, Vec<String>)| {
        let said = words.split_last().filter(|(last, rest)| !rest.is_empty() && is_id_or_name(last));
        *name == place || said.map_or(words.as_slice(), |(_, rest)| rest) == [place]
    };
    keys.iter().filter(is_place).find_map(|(name, _)| word(fields, name))
}

fn is_id_or_name(word: &str) -> bool {
    matches!(word, "id" | "name")
}

/// The text of an argument, where it has one on one row and is no secret.
fn word(fields: &Map<String, Value>, name: &str) -> Option<String> {
    let text = fields.get(name)?.as_str().filter(|text| !text.is_empty())?;
    Some(brief(text))
}

/// What an argument like `order_id` or `userName` names.
fn identified(fields: &Map<String, Value>, keys: &[(&str, Vec<String>)]) -> Option<String> {
    let names = |words: &[String]| words.last().is_some_and(|last| is_id_or_name(last));
    let told = keys.iter().filter(|(name, words)| names(words) && !is_secret_key(name));
    told.filter_map(|(name, _)| fields.get(*name)).find_map(plain)
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(brief(text)).filter(|text| !text.is_empty()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn pair(fields: &Map<String, Value>) -> Option<String> {
    rows(const { section(WORDS, "from-to") })
        .find_map(|(from, to)| Some(format!("{} → {}", word(fields, from)?, word(fields, to)?)))
}

fn amount(fields: &Map<String, Value>) -> Option<String> {
    let (name, amount) =
        in_order(const { section(WORDS, "amounts") }).find_map(|name| Some((name, plain(fields.get(name)?)?)))?;
    let unit = if name.ends_with("cents") { " cents" } else { "" };
    let currency = word(fields, "currency").map_or_else(String::new, |currency| format!(" {currency}"));
    // A number without a currency may not be money.
    let bare = currency.is_empty() && unit.is_empty();
    Some(if bare { format!("{name} = {amount}") } else { format!("{amount}{unit}{currency}") })
}

fn recipient(fields: &Map<String, Value>, gives: Gives) -> Option<String> {
    let addresses = in_order(ADDRESSES).filter(|_| gives == Gives::Yes);
    in_order(RECIPIENTS).chain(addresses).find_map(|name| match fields.get(name)? {
        Value::Array(items) => listed(items),
        one @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => plain(one),
    })
}

/// The first list of things that have names: `3 entities: Ada, Bob, Carol`.
fn list(fields: &Map<String, Value>) -> Option<String> {
    let told = |name: &str| is_secret_key(name) || among(name, RECIPIENTS);
    fields.iter().filter(|(name, _)| !told(name)).find_map(|(name, value)| {
        let items = value.as_array()?;
        let names = listed(items)?;
        Some(format!("{} {}: {names}", items.len(), noun(name, items.len())))
    })
}

/// The names of what is in a list; `None` where one of them has none.
fn listed(items: &[Value]) -> Option<String> {
    if items.iter().any(|item| item.as_str().is_some_and(is_secret_flag)) {
        return None;
    }
    let names: Option<Vec<String>> = items.iter().take(SHOWN).map(label).collect();
    let names = names.filter(|names| !names.is_empty())?.join(", ");
    let more = items.len().saturating_sub(SHOWN);
    Some(if more > 0 { format!("{names} and {more} more") } else { names })
}

fn label(item: &Value) -> Option<String> {
    match item {
        Value::String(text) => Some(brief(text)),
        Value::Number(number) => Some(number.to_string()),
        Value::Object(fields) => {
            let named = |(name, value): (&String, &Value)| {
                let is_name = ["name", "Name", "id", "Id", "title", "path"].iter().any(|end| name.ends_with(end));
                value.as_str().filter(|_| is_name && !is_secret_key(name)).map(brief)
            };
            let names = || ["name", "title", "path", "id", "key"].iter().find_map(|name| word(fields, name));
            pair(fields).or_else(names).or_else(|| fields.iter().find_map(named))
        }
        Value::Null | Value::Bool(_) | Value::Array(_) => None,
    }
}

/// What the things in a list are, by the name of the list: `entityNames` is `entities`.
fn noun(name: &str, count: usize) -> String {
    let mut said = words::of_name(name);
    while said.len() > 1 && said.last().is_some_and(|word| among(word, "name names id ids list")) {
        said.pop();
    }
    if let Some(last) = said.last_mut() {
        let plural = last.ends_with('s') && !last.ends_with("ss");
        *last = match (count, last.strip_suffix("ies"), plural) {
            (1, Some(stem), _) => format!("{stem}y"),
            (1, None, true) => last.trim_end_matches('s').to_owned(),
            (1, None, false) | (_, _, true) => last.clone(),
            (_, _, false) => match last.strip_suffix('y') {
                Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
                _ => format!("{last}s"),
            },
        };
    }
    brief(&said.join(" "))
}

/// For arguments without a known name: the first that fits on one row. A bare number says nothing without its name.
fn first(fields: &Map<String, Value>) -> Option<String> {
    let mut plain = fields.iter().filter(|(name, _)| !is_secret_key(name));
    plain.find_map(|(name, value)| match value {
        Value::String(text) => Some(brief(text)).filter(|text| !text.is_empty()),
        Value::Bool(_) | Value::Number(_) => Some(format!("{} = {value}", brief(name))),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    })
}

/// Both ends of a text, with a mark where its middle is left out: a path says most at its end. Of a very long text, or
/// one with a secret, only the beginning is kept, up to the secret: its rest alone would not be known for a secret.
fn brief(text: &str) -> String {
    const END: usize = 100;
    const READ: usize = 4096;
    // Most texts are shorter than both ends.
    if text.len() <= 2 * END {
        return text.to_owned();
    }
    let cut = |nth: Option<(usize, char)>| nth.map(|(at, _)| at);
    let (head, tail) = (cut(text.char_indices().nth(END)), cut(text.char_indices().nth_back(END - 1)));
    let (Some(head), Some(tail)) = (head, tail) else { return text.to_owned() };
    if head >= tail {
        return text.to_owned();
    }
    match spans(&text[..text.floor_char_boundary(READ)]).first() {
        None if text.len() <= READ => format!("{}…{}", &text[..head], &text[tail..]),
        secret => format!("{}…", &text[..secret.map_or(head, |secret| head.min(secret.start))]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_call_names_what_it_acts_upon() {
        #[rustfmt::skip]
        let cases = [
            (json!({ "content": "x", "path": "a/b.md" }), Some("a/b.md")),
            (json!({ "source": "a", "destination": "b" }), Some("a → b")),
            (json!({ "oldPath": "a", "newPath": "b", "overwrite": true }), Some("a → b")),
            (json!({ "entityNames": ["Ada", "Bob", "Carol"] }), Some("3 entities: Ada, Bob, Carol")),
            (json!({ "entities": [{ "name": "Ada", "observations": [] }] }), Some("1 entity: Ada")),
            (json!({ "relations": [{ "from": "Ada", "to": "Bob", "relationType": "knows" }] }), Some("1 relation: Ada → Bob")),
            (json!({ "deletions": [{ "entityName": "Ada", "observations": ["x"] }] }), Some("1 deletion: Ada")),
            (json!({ "table": "users", "ids": [1, 2] }), Some("users: 2 ids: 1, 2")),
            (json!({ "owner": "octo", "repo": "site", "path": "a.md", "branch": "main" }), Some("octo/site: a.md")),
            (json!({ "owner": "octo", "repo": "site", "issue_number": 12 }), Some("octo/site: #12")),
            (json!({ "to": "ada@example.org", "subject": "Hi", "body": "…" }), Some("Hi to ada@example.org")),
            (json!({ "recipients": ["a@x", "b@x"], "text": "…" }), Some("to a@x, b@x")),
            (json!({ "amount": 120, "currency": "EUR", "customer": "cus_1" }), Some("120 EUR to cus_1")),
            (json!({ "amount": 5, "currency": "EUR", "from": "A", "to": "B" }), Some("5 EUR, A → B")),
            (json!({ "order_id": "A-17", "amount": 10 }), Some("A-17: amount = 10")),
            (json!({ "repo_path": "/src/site", "branch_name": "topic/x" }), Some("/src/site: topic/x")),
            (json!({ "repo_path": "/src/site", "message": "Say hello" }), Some("/src/site: Say hello")),
            (json!({ "idle_days": 0 }), Some("idle_days = 0")),
            (json!({ "options": {}, "label": "bug" }), Some("bug")),
            (json!({ "password": "hunter2", "api_key": ["k"], "tokens": 5 }), Some("tokens = 5")),
            (json!({ "paths": (0..10).map(|n| format!("{n}.md")).collect::<Vec<_>>() }),
                Some("10 paths: 0.md, 1.md, 2.md, 3.md, 4.md, 5.md, 6.md, 7.md and 2 more")),
            (json!({ "args": ["--password", "hunter2"], "n": 1 }), Some("n = 1")),
            (json!({ "edits": [[1]] }), None),
            (json!({}), None),
            (json!([1]), None),
        ];
        for (arguments, wanted) in cases {
            assert_eq!(named(&arguments, Gives::Yes).as_deref(), wanted, "{arguments}");
        }
        let reads = json!({ "channel_id": "C1", "limit": 5 });
        assert_eq!(named(&reads, Gives::No).as_deref(), Some("C1"));
        assert_eq!(named(&reads, Gives::Yes).as_deref(), Some("to C1"));
        let long = format!("/{}/today.md", "deep/".repeat(60));
        let target = named(&json!({ "path": long }), Gives::No).unwrap();
        assert!(target.chars().count() == 201 && target.ends_with("/deep//today.md"), "{target}");
        let secret = format!("curl {} -H 'Authorization: Bearer {}'", "x".repeat(90), "s3cr3t".repeat(40));
        let target = named(&json!({ "command": secret }), Gives::No).unwrap();
        assert!(!target.contains("s3cr3t") && target.ends_with('…'), "{target}");
    }
}
