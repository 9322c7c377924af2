//! A rule as a JSON object, for files that carry rules to other machines, and back as the text of a policy. Which file: `home::set`.

use serde_json::{Map, Value};

use super::parse::parse_at;
use super::rule::Rule;
use super::under::Roots;
use super::written::{self, lines};

/// What only the machine that takes a rule over may say of it.
const OWN: [&str; 2] = ["team", "disabled"];

/// A rule as such a file has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    /// As it reads on this machine.
    pub rule: Rule,
    /// The `[[rule]]` that a policy would have.
    text: String,
}

impl Carried {
    /// Reads an object.
    ///
    /// # Errors
    /// Everything that is wrong with the rule, in words.
    pub fn read(object: &Map<String, Value>, roots: &Roots) -> Result<Self, String> {
        if let Some(key) = OWN.iter().find(|key| object.contains_key(**key)) {
            return Err(format!("`{key}` is for the machine to say that takes the rule over"));
        }
        // What it does comes first, whatever the order in the file.
        let mut fields = in_order(object.clone());
        // A date is a text in JSON, and none in TOML.
        let expires = fields.shift_remove("expires");
        let expires = match expires.as_ref().map(|end| end.as_str().filter(|end| is_date(end))) {
            Some(None) => return Err("`expires` is not a date like 2026-12-31".to_owned()),
            Some(Some(end)) => format!("expires = {end}\n"),
            None => String::new(),
        };
        let lines = lines(&fields).ok_or("it has a null, or a number that no policy can hold")?;
        let text = format!("[[rule]]\n{lines}{expires}");
        let policy = parse_at(&format!("version = 1\n\n{text}"), roots).map_err(|problems| {
            let said: Vec<String> = problems.into_iter().map(|one| format!("{}; {}", one.what, one.hint)).collect();
            said.join("; ")
        })?;
        let mut rules = policy.all_rules();
        match (rules.next(), rules.next()) {
            (Some(rule), None) => Ok(Self { rule: rule.clone(), text }),
            _ => Err("it is not exactly one rule".to_owned()),
        }
    }

    /// It as taken over from `author`, or as the operator's own.
    pub fn of(&self, author: Option<&str>) -> Rule {
        Rule { team: author.map(str::to_owned), ..self.rule.clone() }
    }

    /// The text of the same.
    pub fn text(&self, author: Option<&str>) -> String {
        let team = author.map(|author| format!("team = {}\n", written::text(author)));
        format!("{}{}", self.text, team.unwrap_or_default())
    }
}

/// The objects of the rules of a policy that are the operator's own and not switched off; and the ids of those that would read
/// otherwise from their object.
pub fn objects(text: &str, roots: &Roots) -> (Vec<Map<String, Value>>, Vec<String>) {
    let Ok(policy) = parse_at(text, roots) else { return (Vec::new(), Vec::new()) };
    let table: Value = toml::from_str(text).unwrap_or_default();
    let written = table["rule"].as_array().cloned().unwrap_or_default();
    let (mut objects, mut left) = (Vec::new(), Vec::new());
    for rule in policy.all_rules().filter(|rule| rule.team.is_none()) {
        let its = |one: &&Value| one["id"].as_str() == Some(&rule.id);
        let object = written.iter().find(its).cloned().map(plain).and_then(|one| one.as_object().cloned());
        let object = object.map(|mut object| {
            object.shift_remove("disabled");
            in_order(object)
        });
        match object.filter(|object| Carried::read(object, roots).is_ok_and(|read| read.rule.says_the_same(rule))) {
            Some(object) => objects.push(object),
            None => left.push(rule.id.clone()),
        }
    }
    (objects, left)
}

fn in_order(mut object: Map<String, Value>) -> Map<String, Value> {
    let first: Vec<_> = ["id", "decision"].iter().filter_map(|key| object.shift_remove_entry(*key)).collect();
    let note = object.shift_remove_entry("note");
    first.into_iter().chain(object).chain(note).collect()
}

/// A value of TOML with its dates as texts.
pub fn plain(value: Value) -> Value {
    match value {
        Value::Object(mut fields) => match fields.shift_remove("$__toml_private_datetime") {
            Some(date) => date,
            None => Value::Object(fields.into_iter().map(|(key, value)| (key, plain(value))).collect()),
        },
        Value::Array(items) => Value::Array(items.into_iter().map(plain).collect()),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => other,
    }
}

fn is_date(text: &str) -> bool {
    text.len() >= 10 && text.bytes().all(|byte| byte.is_ascii_digit() || b"-:.+TZtz".contains(&byte))
}
