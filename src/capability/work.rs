//! How much work it takes to check a value against a schema: counted before the check, in steps, without a clock; what a
//! pattern in it costs is read off its text. Checks and matches nothing.
//!
//! A schema of a few hundred bytes that refers to itself in two branches doubles the work at every level of the value, and
//! patterns or lists of words multiply it. The count follows schema and value as a check does that takes no short cut, so it
//! is an upper bound; it stops at its budget, so it costs no more than that itself.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Steps of one check, of some 25 ns each: an honest call takes a few hundred.
pub const CHECK: u64 = 2_000_000;
/// Steps of a check that names every place that does not fit: each costs an error.
pub const EXPLAIN: u64 = 100_000;
/// How many schemas may apply to one place, and how deep a check may go: beyond, a reference circles or the stack overflows.
const MAX_JOINED: usize = 40;
const MAX_DEPTH: usize = 400;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMuch;

/// A schema may grow to this many parts where its references are followed; a larger one counts as a bomb.
const MAX_UNFOLDED: u64 = 20_000;
/// Longer chains of references count as one, too.
const MAX_CHAIN: usize = 256;

/// The shape of a schema: which parts apply where, and what each costs.
#[derive(Debug, Default)]
pub struct Work {
    parts: Vec<SchemaPart>,
}

#[derive(Debug, Default)]
struct SchemaPart {
    /// What its own keywords cost, whatever the value.
    own: u64,
    text: Cost,
    key: Cost,
    same: Vec<usize>,
    properties: HashMap<String, usize>,
    /// Schemas for every value in an object, for all we know.
    members: Vec<usize>,
    names: Vec<usize>,
    prefix: Vec<usize>,
    /// Schemas for every item of a list, for all we know.
    items: Vec<usize>,
    /// Whether the whole value is looked through once more.
    compares: bool,
    /// Whether all that applies here is checked anew for each child (`unevaluatedProperties`).
    repeats: bool,
}

impl Work {
    /// Reads the shape of a schema, which must be bounded in depth and size.
    pub fn of(schema: &Value) -> Result<Self, &'static str> {
        let mut builder = Builder { root: schema, known: HashMap::new(), work: Self::default(), depth: 0 };
        builder.part(schema, false)?;
        let work = builder.work;
        let size = work.unfolded(0, &mut vec![None; work.parts.len()]);
        if size > MAX_UNFOLDED { Err(UNBOUND) } else { Ok(work) }
    }

    /// How many parts a part has, itself among them, its references followed; one into itself counts once.
    fn unfolded(&self, at: usize, known: &mut [Option<u64>]) -> u64 {
        if let Some(size) = known[at] {
            return size;
        }
        known[at] = Some(1);
        let SchemaPart { same, properties, members, names, prefix, items, .. } = &self.parts[at];
        let below = [same, members, names, prefix, items].into_iter().flatten().chain(properties.values());
        let size = below.fold(1_u64, |sum, part| sum.saturating_add(self.unfolded(*part, known)));
        known[at] = Some(size);
        size
    }

    pub fn count(&self, value: &Value, budget: u64) -> Result<u64, TooMuch> {
        let mut count = Count { parts: &self.parts, left: budget };
        count.value(0, value, 0, 0)?;
        Ok(budget - count.left)
    }
}

struct Builder<'a> {
    root: &'a Value,
    /// Each schema object by its address: a definition that is referred to often is one part.
    known: HashMap<*const Value, usize>,
    work: Work,
    depth: usize,
}

/// It has references that double at every step: small to send, endless to check.
const UNBOUND: &str = "its references unfold without bound";
/// It has a reference that is no pointer into this document.
const REFERENCE: &str = "it refers to something that is not followed here";
/// An `$id` of its own is the new base of a schema's references.
const RESOURCE: &str = "a schema in it has an address of its own";

impl<'a> Builder<'a> {
    fn part(&mut self, schema: &'a Value, is_inside: bool) -> Result<usize, &'static str> {
        if let Some(known) = self.known.get(&std::ptr::from_ref(schema)) {
            return Ok(*known);
        }
        let at = self.work.parts.len();
        self.known.insert(std::ptr::from_ref(schema), at);
        self.work.parts.push(SchemaPart { own: 1, ..SchemaPart::default() });
        self.depth += 1;
        if let Value::Object(keywords) = schema {
            self.work.parts[at] = if self.depth > MAX_CHAIN { Err(UNBOUND) } else { self.read(keywords, is_inside) }?;
        }
        self.depth -= 1;
        Ok(at)
    }

    fn read(&mut self, keywords: &'a Map<String, Value>, is_inside: bool) -> Result<SchemaPart, &'static str> {
        let mut part = SchemaPart { own: 1 + keywords.len() as u64, ..SchemaPart::default() };
        if is_inside && ["$id", "id"].iter().any(|key| keywords.get(*key).is_some_and(Value::is_string)) {
            return Err(RESOURCE);
        }
        for (keyword, value) in keywords {
            match (keyword.as_str(), value) {
                ("$ref", Value::String(reference)) => {
                    let target = reference.strip_prefix('#').filter(|pointer| !pointer.contains('%'));
                    let target = target.and_then(|pointer| self.root.pointer(pointer)).ok_or(REFERENCE)?;
                    part.same.push(self.part(target, !std::ptr::eq(target, self.root))?);
                }
                ("$dynamicRef" | "$recursiveRef", _) => return Err(REFERENCE),
                ("allOf" | "anyOf" | "oneOf", Value::Array(branches)) => part.same.extend(self.all(branches)?),
                ("not" | "if" | "then" | "else", _) => part.same.push(self.part(value, true)?),
                ("dependentSchemas" | "dependencies", Value::Object(dependent)) => {
                    part.own += dependent.len() as u64;
                    for schema in dependent.values() {
                        match schema {
                            Value::Array(required) => part.own += required.len() as u64,
                            _ => part.same.push(self.part(schema, true)?),
                        }
                    }
                }
                ("dependentRequired", Value::Object(dependent)) => {
                    part.own +=
                        dependent.values().map(|all| 1 + all.as_array().map_or(0, Vec::len) as u64).sum::<u64>();
                }
                ("properties", Value::Object(properties)) => {
                    part.own += properties.len() as u64;
                    for (name, schema) in properties {
                        let at = self.part(schema, true)?;
                        part.properties.insert(name.clone(), at);
                    }
                }
                ("patternProperties", Value::Object(patterns)) => {
                    for (pattern, schema) in patterns {
                        part.key = part.key.and(Cost::of(pattern));
                        part.members.push(self.part(schema, true)?);
                    }
                }
                ("additionalProperties", _) => part.members.push(self.part(value, true)?),
                ("unevaluatedProperties", _) => {
                    part.repeats = true;
                    part.members.push(self.part(value, true)?);
                }
                ("propertyNames", _) => part.names.push(self.part(value, true)?),
                ("prefixItems" | "items", Value::Array(items)) => part.prefix.extend(self.all(items)?),
                ("items" | "additionalItems" | "contains", _) => part.items.push(self.part(value, true)?),
                ("unevaluatedItems", _) => {
                    part.repeats = true;
                    part.items.push(self.part(value, true)?);
                }
                ("enum" | "const", _) => part.own += size(value),
                ("required", Value::Array(names)) => part.own += names.len() as u64,
                ("uniqueItems", _) => part.compares = true,
                ("pattern", Value::String(pattern)) => part.text = part.text.and(Cost::of(pattern)),
                ("minLength" | "maxLength", _) => part.text = part.text.and(Cost::scan()),
                ("format" | "contentEncoding" | "contentMediaType", _) => part.text = part.text.and(Cost::read()),
                // Numbers are compared as their text says, however many digits they have.
                ("multipleOf" | "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum", _) => part.own += 20,
                _ => {}
            }
        }
        Ok(part)
    }

    fn all(&mut self, schemas: &'a [Value]) -> Result<Vec<usize>, &'static str> {
        schemas.iter().map(|schema| self.part(schema, true)).collect()
    }
}

fn size(value: &Value) -> u64 {
    match value {
        Value::String(text) => 1 + text.len() as u64 / 64,
        Value::Array(items) => 1 + items.iter().map(size).sum::<u64>(),
        Value::Object(fields) => {
            1 + fields.iter().map(|(key, field)| 2 + key.len() as u64 / 64 + size(field)).sum::<u64>()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}

struct Count<'a> {
    parts: &'a [SchemaPart],
    left: u64,
}

impl Count<'_> {
    fn spend(&mut self, steps: u64) -> Result<(), TooMuch> {
        self.left = self.left.checked_sub(steps).ok_or(TooMuch)?;
        Ok(())
    }

    /// A value against a part and the schemas for the same value: `joined` says how many led here.
    fn value(&mut self, at: usize, value: &Value, joined: usize, depth: usize) -> Result<(), TooMuch> {
        if joined > MAX_JOINED || depth > MAX_DEPTH {
            return Err(TooMuch);
        }
        let (before, part) = (self.left, self.parts.get(at).ok_or(TooMuch)?);
        self.spend(part.own)?;
        for same in &part.same {
            self.value(*same, value, joined + 1, depth + 1)?;
        }
        let mut children = 0;
        match value {
            Value::String(text) => self.spend(part.text.for_text(text.len()))?,
            Value::Object(fields) => {
                children = fields.len();
                for (key, field) in fields {
                    self.spend(1 + part.key.for_text(key.len()))?;
                    for name in &part.names {
                        self.value(*name, &key.as_str().into(), 0, depth + 1)?;
                    }
                    for schema in part.properties.get(key).into_iter().chain(&part.members) {
                        self.value(*schema, field, 0, depth + 1)?;
                    }
                }
            }
            Value::Array(items) => {
                children = items.len();
                for (at, item) in items.iter().enumerate() {
                    self.spend(1)?;
                    for schema in part.prefix.get(at).into_iter().chain(&part.items) {
                        self.value(*schema, item, 0, depth + 1)?;
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        if part.compares && children > 0 {
            // Counted twice: once to tell the items apart, once to compare those that look alike.
            self.spend(size(value).saturating_mul(2))?;
        }
        if part.repeats {
            self.spend((before - self.left).saturating_mul(children as u64))?;
        }
        Ok(())
    }
}

/// How often a pattern with look-around may go back in one match: with more, the value does not fit.
pub const BACKTRACKS: usize = 10_000;

/// What matching costs: so much for each text, and so much for each of its bytes, in eighths of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    fixed: u64,
    per_byte: u64,
    /// How many states the pattern has, about: what it costs to compile.
    pub states: u64,
}

impl Cost {
    /// The cost of matching a pattern. At worst, one that can be matched in one pass costs its states for each byte;
    /// one with look-around goes through the text again and again.
    pub fn of(pattern: &str) -> Self {
        let states = states(pattern);
        if backtracks(pattern) {
            return Self { fixed: BACKTRACKS as u64 / 8, per_byte: (8 + states).saturating_mul(400), states };
        }
        Self { fixed: 4, per_byte: 8 + states, states }
    }

    pub fn scan() -> Self {
        Self { fixed: 1, per_byte: 1, states: 0 }
    }

    pub fn read() -> Self {
        Self { fixed: 8, per_byte: 32, states: 0 }
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            fixed: self.fixed.saturating_add(other.fixed),
            per_byte: self.per_byte.saturating_add(other.per_byte),
            states: self.states.saturating_add(other.states),
        }
    }

    /// The cost for a text of so many bytes, in steps.
    pub fn for_text(self, bytes: usize) -> u64 {
        self.fixed.saturating_add(self.per_byte.saturating_mul(bytes as u64) / 8)
    }
}

/// How many characters and classes a pattern has once its counts are written out. A class of Unicode's is a small automaton.
fn states(pattern: &str) -> u64 {
    const CLASS: u64 = 4;
    let mut groups = vec![0_u64];
    let (mut last, mut chars) = (0_u64, pattern.chars().peekable());
    while let Some(c) = chars.next() {
        let atom = match c {
            '\\' => match chars.next() {
                Some('p' | 'P' | 'w' | 'W' | 'd' | 'D' | 's' | 'S') => CLASS,
                _ => 1,
            },
            '[' => {
                let mut first = true;
                while let Some(inside) = chars.next() {
                    if inside == '\\' {
                        chars.next();
                    } else if inside == ']' && !first {
                        break;
                    }
                    first = first && inside == '^';
                }
                CLASS
            }
            '(' => {
                groups.push(0);
                last = 0;
                continue;
            }
            ')' => {
                let group = if groups.len() > 1 { groups.pop().unwrap_or_default() } else { 0 };
                group.max(1)
            }
            '{' => {
                let mut most = 0_u64;
                let mut number = 0_u64;
                for digit in chars.by_ref() {
                    match digit.to_digit(10) {
                        Some(value) => number = number.saturating_mul(10).saturating_add(u64::from(value)),
                        None if digit == ',' => (most, number) = (most.max(number), 0),
                        None => break,
                    }
                }
                last.saturating_mul(most.max(number).saturating_sub(1))
            }
            _ => 1,
        };
        last = if c == '{' { last.saturating_add(atom) } else { atom };
        if let Some(sum) = groups.last_mut() {
            *sum = sum.saturating_add(atom);
        }
    }
    groups.into_iter().fold(0, u64::saturating_add)
}

/// Whether a pattern needs more than one pass: look-around, references back, atomic groups, possessive repetition.
fn backtracks(pattern: &str) -> bool {
    let bytes = pattern.as_bytes();
    bytes.windows(2).enumerate().any(|(at, pair)| match pair {
        [b'(', b'?'] => !matches!(bytes.get(at + 2), Some(b':' | b'i' | b'm' | b's' | b'x' | b'u' | b'P')),
        [b'\\', next] => next.is_ascii_digit() || matches!(next, b'k' | b'g' | b'G' | b'K' | b'Z'),
        [b'+' | b'*' | b'?' | b'}', b'+'] => true,
        _ => false,
    })
}
