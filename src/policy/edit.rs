//! Changes one rule in the text of a policy and keeps everything else: comments, order, white space. Owns no file.
//!
//! The result is only text: the caller has it read before it is written. [`EditError`] says why a text cannot be changed so.

use std::collections::{BTreeMap, BTreeSet};

use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value};

use crate::wire::words::words;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("it is not TOML: {0}")]
    NotToml(String),
    #[error("it has no rule {0:?}")]
    NoRule(String),
    #[error("its rules or roles are not written as [[rule]] or [roles.NAME]")]
    NotTables,
    #[error("what was written is not exactly one [[rule]]")]
    NotOne,
    #[error("{0:?} is not a condition; write one like {{ arg = \"path\", under = \"~/scratch\" }}")]
    NoCondition(String),
    #[error("rule {id:?} has no key {key:?}")]
    NoKey { id: String, key: String },
    #[error("rule {0:?} is {word} already", word = .1.word())]
    AlreadySo(String, Switch),
    #[error("{0:?} is not a TOML value; put a text in quotes")]
    NoValue(String),
}

/// Adds a `[[rule]]` at the end, after a blank line.
pub fn add(text: &str, rule: &str) -> Result<String, EditError> {
    let document = read(text)?;
    if document.get("rule").is_some_and(|rules| !rules.is_array_of_tables()) {
        return Err(EditError::NotTables);
    }
    let mut out = text.trim_end_matches(['\n', '\r', ' ', '\t']).to_owned();
    if !out.is_empty() {
        out.push_str("\n\n");
    }
    out.push_str(rule.trim_end());
    out.push('\n');
    read(&out)?;
    Ok(out)
}

/// Removes a rule with the comment lines right above it. Returns the text, and what was removed.
pub fn remove(text: &str, id: &str) -> Result<(String, String), EditError> {
    let mut document = read(text)?;
    let no_rule = || EditError::NoRule(id.to_owned());
    let end = document.trailing().as_str().unwrap_or_default().to_owned();
    of(&mut document, id)?;
    let rules = tables(&mut document)?;
    let at = rules.iter().position(|rule| is_called(rule, id)).ok_or_else(no_rule)?;
    let mut removed = rules.get(at).cloned().ok_or_else(no_rule)?;
    let prefix = prefix(&removed).to_owned();
    // A comment with a blank line below it belongs to the rule before.
    let kept = match prefix.rfind("\n\n") {
        Some(cut) if !prefix[..cut].trim().is_empty() => prefix[..=cut].to_owned(),
        _ => String::new(),
    };
    let own = prefix[kept.len()..].trim_start_matches('\n').to_owned();
    rules.remove(at);
    if rules.is_empty() {
        document.remove("rule");
    }
    match next_table(&mut document, removed.position()) {
        Some(next) => {
            let after = self::prefix(next).to_owned();
            next.decor_mut().set_prefix(format!("{kept}{after}"));
        }
        None => document.set_trailing(format!("{kept}{end}")),
    }
    let mut alone = DocumentMut::new();
    removed.decor_mut().set_prefix(own);
    let mut list = ArrayOfTables::new();
    list.push(removed);
    alone.insert("rule", Item::ArrayOfTables(list));
    Ok((document.to_string(), alone.to_string().trim_start_matches('\n').to_owned()))
}

/// The text of one rule, with the comment lines right above it.
pub fn rule(text: &str, id: &str) -> Result<String, EditError> {
    remove(text, id).map(|(_, rule)| rule)
}

/// Puts another text in a rule's place: exactly one `[[rule]]`, under the same id or a new one.
pub fn replace(text: &str, id: &str, rule: &str) -> Result<String, EditError> {
    let mut written = read(rule)?;
    let lone = written.len() == 1;
    let new = match tables(&mut written)?.iter().collect::<Vec<_>>().as_slice() {
        [one] if lone => (*one).clone(),
        _ => return Err(EditError::NotOne),
    };
    let mut document = read(text)?;
    let old = of(&mut document, id)?;
    let (place, prefix) = (old.position(), self::prefix(old));
    // The blank line above it stays, and whatever is above that.
    let line_ends = || prefix.len() - prefix.trim_start_matches('\n').len();
    let kept = &prefix[..prefix.rfind("\n\n").map_or_else(line_ends, |cut| cut + 2)];
    let prefix = format!("{kept}{}", self::prefix(&new).trim_start_matches('\n'));
    *old = new;
    old.set_position(place);
    old.decor_mut().set_prefix(prefix);
    Ok(document.to_string())
}

/// Reads one condition, and nothing beside it.
pub fn condition(text: &str) -> Result<InlineTable, EditError> {
    let value = text.parse::<Value>().ok().and_then(|value| value.as_inline_table().cloned());
    value.ok_or_else(|| EditError::NoCondition(text.to_owned()))
}

/// Adds a condition (`{ arg = "path", under = "~/scratch" }`) to the `unless` of a rule.
pub fn except(text: &str, id: &str, condition: &str) -> Result<String, EditError> {
    let condition = self::condition(condition)?;
    let mut document = read(text)?;
    let list = of(&mut document, id)?.entry("unless").or_insert_with(|| Item::Value(Value::Array(Array::new())));
    let list = list.as_array_mut().ok_or(EditError::NotTables)?;
    let mut condition = Value::InlineTable(condition);
    // A list with an entry a line stays one.
    let prefix = list.iter().last().and_then(|last| last.decor().prefix()?.as_str()).unwrap_or_default().to_owned();
    let prefix = if prefix.is_empty() && !list.is_empty() { " ".to_owned() } else { prefix };
    condition.decor_mut().set_prefix(prefix);
    condition.decor_mut().set_suffix("");
    list.push_formatted(condition);
    Ok(document.to_string())
}

words! {
    /// Whether a rule decides.
    Switch {
        On = "on",
        /// It stays in the file, and decides nothing.
        Off = "off",
    }
}

pub fn switch(text: &str, id: &str, switch: Switch) -> Result<String, EditError> {
    let mut document = read(text)?;
    let is_off = of(&mut document, id)?.get("disabled").and_then(Item::as_bool).unwrap_or_default();
    match (switch, is_off) {
        (Switch::Off, false) => set(text, id, "disabled", Some("true")),
        (Switch::On, true) => set(text, id, "disabled", None),
        (Switch::Off, true) | (Switch::On, false) => Err(EditError::AlreadySo(id.to_owned(), switch)),
    }
}

/// Sets a key of a rule to a TOML value, or takes it out for `None`.
pub fn set(text: &str, id: &str, key: &str, value: Option<&str>) -> Result<String, EditError> {
    let mut document = read(text)?;
    let rule = of(&mut document, id)?;
    match value {
        Some(value) => {
            let mut new: Value = value.parse().map_err(|_| EditError::NoValue(value.to_owned()))?;
            if let Some(old) = rule.get(key).and_then(Item::as_value) {
                // The comment behind the old value stays.
                *new.decor_mut() = old.decor().clone();
            }
            rule.insert(key, Item::Value(new));
        }
        None => {
            let missing = || EditError::NoKey { id: id.to_owned(), key: key.to_owned() };
            rule.remove(key).ok_or_else(missing)?;
        }
    }
    Ok(document.to_string())
}

fn read(text: &str) -> Result<DocumentMut, EditError> {
    text.parse().map_err(|error: toml_edit::TomlError| EditError::NotToml(error.message().replace('\n', ", ")))
}

fn tables(document: &mut DocumentMut) -> Result<&mut ArrayOfTables, EditError> {
    document.get_mut("rule").and_then(Item::as_array_of_tables_mut).ok_or(EditError::NotTables)
}

fn is_called(rule: &Table, id: &str) -> bool {
    rule.get("id").and_then(Item::as_str) == Some(id)
}

fn of<'d>(document: &'d mut DocumentMut, id: &str) -> Result<&'d mut Table, EditError> {
    let no_rule = || EditError::NoRule(id.to_owned());
    let rules = document.get_mut("rule").ok_or_else(no_rule)?.as_array_of_tables_mut().ok_or(EditError::NotTables)?;
    rules.iter_mut().find(|rule| is_called(rule, id)).ok_or_else(no_rule)
}

fn prefix(table: &Table) -> &str {
    table.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default()
}

/// The table of the document that is written next after a place.
fn next_table(document: &mut DocumentMut, after: Option<isize>) -> Option<&mut Table> {
    let tables = document.iter_mut().flat_map(|(_, item)| match item {
        Item::Table(table) => vec![table],
        Item::ArrayOfTables(tables) => tables.iter_mut().collect(),
        Item::None | Item::Value(_) => Vec::new(),
    });
    tables.filter(|table| table.position() > after).min_by_key(|table| table.position())
}

/// The ids of the rules that are not the same in both texts: added, changed or removed.
pub fn differing(before: &str, after: &str) -> Vec<String> {
    let rules = |text: &str| -> BTreeMap<String, String> { rules(text).into_iter().collect() };
    let (before, after) = (rules(before), rules(after));
    let ids: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    ids.into_iter().filter(|id| before.get(*id) != after.get(*id)).cloned().collect()
}

pub fn ids(text: &str) -> Vec<String> {
    rules(text).into_iter().map(|(id, _)| id).collect()
}

fn rules(text: &str) -> Vec<(String, String)> {
    let Ok(document) = read(text) else { return Vec::new() };
    let rules = document.get("rule").and_then(Item::as_array_of_tables).into_iter().flatten();
    rules.filter_map(|rule| Some((rule.get("id")?.as_str()?.to_owned(), rule.to_string()))).collect()
}
