//! The keys of arguments that a tool's inputSchema does not declare, at any depth, each by its JSON Pointer.
//!
//! Without `additionalProperties` a schema counts as closed where it has `properties`: JSON Schema would take any key, but its
//! reviewer did not see it. Whatever else could allow a key does: every branch counts, whether it would hold or not.

use serde_json::{Map, Value};

use crate::wire::fold::in_pointer;

/// Schema nodes looked at for one call; honest arguments need a few hundred.
const MAX_WORK: usize = 50_000;
/// How many keys of one call are named.
const MAX_KEYS: usize = 100;
/// How many bytes their pointers may have together: a long name above many keys is repeated in each pointer.
const MAX_BYTES: usize = 1 << 20;
/// Steps through `$ref`s and branches that belong to one place.
const MAX_DEPTH: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undeclared {
    /// JSON Pointers into the arguments, in their order: `/options/force`. Foreign text, raw.
    pub keys: Vec<String>,
    pub reach: Reach,
}

/// How much of the arguments was compared with the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Whole,
    /// They, or the schema, are larger than is compared: there may be more.
    Bounded,
}

pub fn undeclared(schema: &Value, arguments: &Value) -> Undeclared {
    let mut finder = Finder {
        root: schema,
        work: MAX_WORK,
        keys: Vec::new(),
        room: MAX_BYTES,
        reach: Reach::Whole,
        path: String::new(),
    };
    let place = finder.place(&[schema]);
    finder.value(&place, arguments);
    Undeclared { keys: finder.keys, reach: finder.reach }
}

struct Finder<'a> {
    root: &'a Value,
    work: usize,
    keys: Vec<String>,
    /// Bytes that more keys may have.
    room: usize,
    reach: Reach,
    path: String,
}

/// Everything that schemas say of one place in the arguments.
#[derive(Default)]
struct Alternatives<'a> {
    schemas: Vec<&'a Map<String, Value>>,
    takes: KeyTakes,
}

/// What a place takes beside what is declared there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum KeyTakes {
    #[default]
    Declared,
    Anything,
}

/// Whether a schema says something of an object's keys or of a list's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum KeyReads {
    Nothing,
    Keys,
}

impl<'a> Finder<'a> {
    fn value(&mut self, place: &Alternatives<'a>, value: &Value) {
        if place.takes == KeyTakes::Anything || place.schemas.is_empty() {
            return;
        }
        match value {
            Value::Object(fields) => self.object(place, fields),
            Value::Array(items) => self.list(place, items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn object(&mut self, place: &Alternatives<'a>, fields: &Map<String, Value>) {
        if !self.spend(place.schemas.len()) {
            return;
        }
        let is_root = self.path.is_empty();
        let declares = |schema: &&&Map<String, Value>| {
            let properties = schema.get("properties").and_then(Value::as_object);
            // Below the top, an author writes an empty list for "some object".
            properties.is_some_and(|properties| is_root || !properties.is_empty())
                || schema.get("additionalProperties") == Some(&Value::Bool(false))
        };
        let is_closed = place.schemas.iter().any(|schema| declares(&schema)) && !place.schemas.iter().any(|s| open(s));
        for (key, field) in fields {
            if !self.spend(place.schemas.len()) {
                return;
            }
            let said: Vec<&'a Value> = place.schemas.iter().filter_map(|schema| of_key(schema, key)).collect();
            if said.is_empty() && !is_closed {
                continue;
            }
            let end = self.path.len();
            self.path.push('/');
            self.path.push_str(&in_pointer(key));
            if said.is_empty() {
                match self.room.checked_sub(self.path.len()).filter(|_| self.keys.len() < MAX_KEYS) {
                    Some(room) => {
                        self.room = room;
                        self.keys.push(self.path.clone());
                    }
                    None => self.reach = Reach::Bounded,
                }
            } else if is_nested(field) {
                let place = self.place(&said);
                self.value(&place, field);
            }
            self.path.truncate(end);
        }
    }

    fn list(&mut self, place: &Alternatives<'a>, items: &[Value]) {
        let first = |schema: &&'a Map<String, Value>| {
            ["prefixItems", "items"].iter().find_map(|key| schema.get(*key)?.as_array())
        };
        let prefix = place.schemas.iter().filter_map(first).map(Vec::len).max().unwrap_or_default();
        // Behind the items that have a schema of their own, all have the same: it is laid out once.
        let mut rest = None;
        for (at, item) in items.iter().enumerate().filter(|(_, item)| is_nested(item)) {
            if !self.spend(1) {
                return;
            }
            let end = self.path.len();
            self.path.push_str(&format!("/{at}"));
            let place = rest.take().unwrap_or_else(|| self.place(&of_item(place, at)));
            self.value(&place, item);
            rest = Some(place).filter(|_| at >= prefix);
            self.path.truncate(end);
        }
    }

    /// Takes so much from the work that is left; false where that is not enough.
    fn spend(&mut self, work: usize) -> bool {
        let left = self.work.checked_sub(work);
        self.work = left.unwrap_or_default();
        if left.is_none() {
            self.reach = Reach::Bounded;
        }
        left.is_some()
    }

    /// Lays out alternatives: one that says nothing of an object's keys or a list's items takes anything.
    fn place(&mut self, alternatives: &[&'a Value]) -> Alternatives<'a> {
        let mut place = Alternatives::default();
        for schema in alternatives {
            self.alternative(schema, &mut place, 0);
        }
        place
    }

    fn alternative(&mut self, schema: &'a Value, place: &mut Alternatives<'a>, depth: usize) {
        let says = self.gather(schema, place, depth);
        // What takes only texts or numbers has nothing to say here.
        if says == KeyReads::Nothing && schema.as_object().is_none_or(admits_nested) {
            place.takes = KeyTakes::Anything;
        }
    }

    /// Adds a schema and all that it is joined with: references, branches, conditions.
    fn gather(&mut self, schema: &'a Value, place: &mut Alternatives<'a>, depth: usize) -> KeyReads {
        let Value::Object(schema) = schema else {
            return if *schema == Value::Bool(false) { KeyReads::Keys } else { KeyReads::Nothing };
        };
        // One that is known adds nothing new: a definition two branches share, or that refers to itself.
        if place.takes == KeyTakes::Anything || place.schemas.iter().any(|known| std::ptr::eq(*known, schema)) {
            return KeyReads::Keys;
        }

        let branches = ["allOf", "anyOf", "oneOf"].iter().filter_map(|key| schema.get(*key)?.as_array());
        let dependent = schema.get("dependentSchemas").and_then(Value::as_object);
        let parts = branches.map(Vec::len).sum::<usize>() + dependent.map_or(0, Map::len);
        if depth > MAX_DEPTH || !self.spend(1 + place.schemas.len() + parts) {
            place.takes = KeyTakes::Anything;
            self.reach = Reach::Bounded;
            return KeyReads::Nothing;
        }
        place.schemas.push(schema);
        let mut says = of_itself(schema);
        if let Some(reference) = schema.get("$ref") {
            match reference.as_str().and_then(|text| self.root.pointer(text.strip_prefix('#')?)) {
                Some(target) => says = says.max(self.gather(target, place, depth + 1)),
                // An anchor, or a place outside: not ours to read.
                None => place.takes = KeyTakes::Anything,
            }
        }
        let all = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
        let conditions = ["if", "then", "else"].iter().filter_map(|key| schema.get(*key));
        // A condition such as `{"required": [...]}`, or `true`, declares nothing and opens nothing.
        for joined in all.chain(conditions).chain(dependent.into_iter().flat_map(Map::values)) {
            if joined.is_object() {
                says = says.max(self.gather(joined, place, depth + 1));
            }
        }
        let beside = says;
        for branch in ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(*key)?.as_array()).flatten() {
            // Where properties are declared already, a branch only adds to them; otherwise it is all that is said of keys.
            if beside == KeyReads::Keys && branch.is_object() {
                self.gather(branch, place, depth + 1);
            } else {
                self.alternative(branch, place, depth + 1);
                says = KeyReads::Keys;
            }
        }
        says
    }
}

/// Whether a schema takes keys that it does not name.
fn open(schema: &Map<String, Value>) -> bool {
    let open = |key: &str| schema.get(key).is_some_and(|rest: &Value| *rest != Value::Bool(false));
    open("additionalProperties") || open("unevaluatedProperties") || schema.get("patternProperties").is_some()
}

/// What a schema says of the value under a key; `None` where it says nothing.
fn of_key<'a>(schema: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    const ANYTHING: &Value = &Value::Bool(true);
    if let Some(property) = schema.get("properties").and_then(|properties| properties.get(key)) {
        return Some(property);
    }
    if schema.get("patternProperties").is_some() {
        return Some(ANYTHING);
    }
    let rest = schema.get("additionalProperties").or_else(|| schema.get("unevaluatedProperties"));
    rest.filter(|rest| **rest != Value::Bool(false))
}

fn of_item<'a>(place: &Alternatives<'a>, at: usize) -> Vec<&'a Value> {
    let of = |schema: &&'a Map<String, Value>| {
        let first = ["prefixItems", "items"].iter().find_map(|key| schema.get(*key)?.as_array());
        let rest = || schema.get("items").filter(|items| !items.is_array()).or_else(|| schema.get("additionalItems"));
        first.and_then(|first| first.get(at)).or_else(rest)
    };
    place.schemas.iter().filter_map(of).collect()
}

fn of_itself(schema: &Map<String, Value>) -> KeyReads {
    const WORDS: [&str; 6] =
        ["properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "items", "prefixItems"];
    if WORDS.iter().any(|word| schema.contains_key(*word)) { KeyReads::Keys } else { KeyReads::Nothing }
}

fn admits_nested(schema: &Map<String, Value>) -> bool {
    let nested = |name: &Value| name == "object" || name == "array";
    let itself = match schema.get("type") {
        Some(Value::Array(names)) => names.iter().any(nested),
        Some(name) => nested(name),
        None => true,
    };
    let mut all = schema.get("allOf").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
    itself && all.all(admits_nested)
}

fn is_nested(value: &Value) -> bool {
    value.is_object() || value.is_array()
}
