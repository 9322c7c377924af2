//! The one door to jsonschema: checks arguments and results against a tool's schemas. Never fetches anything.
//!
//! A schema is the server's word, so it is hostile: its size, depth, patterns and numbers are bounded before it is
//! compiled, and a `$ref` that leaves the document makes it unusable.

use jsonschema::PatternOptions;
use serde_json::Value;

/// Beyond these a schema is refused: no honest tool comes near.
const MAX_DEPTH: usize = 64;
const MAX_BYTES: usize = 1024 * 1024;
const MAX_PATTERNS: usize = 512;
/// A number whose text is longer, or whose exponent is larger, costs a big-integer comparison more than it is worth.
const MAX_DIGITS: usize = 400;
/// Following `$ref`s, a schema may grow to this many nodes before it counts as a bomb.
const MAX_UNFOLDED: u64 = 200_000;
const MAX_VIOLATIONS: usize = 20;
const MAX_SENTENCE: usize = 300;

/// A compiled schema.
#[derive(Debug)]
pub struct Schema {
    validator: jsonschema::Validator,
}

/// One place where a value does not fit its schema. Both texts may quote foreign text: show them as such.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// JSON Pointer into the value; empty for the value itself.
    pub path: String,
    /// What is wrong there, in one sentence.
    pub what: String,
}

/// A schema that cannot be used: invalid, or it refers to something outside itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the schema cannot be used: {0}")]
pub struct Unusable(pub String);

impl Schema {
    /// Compiles a schema: JSON Schema 2020-12 unless `$schema` says otherwise.
    ///
    /// # Errors
    /// [`Unusable`] when it is no schema, or a `$ref` leaves the document.
    pub fn compile(schema: &Value) -> Result<Self, Unusable> {
        Bounds::default().check(schema, 0)?;
        unfolds_within_bounds(schema)?;
        // Patterns without look-around run on the linear engine; with it, backtracking stops at a count, and a value
        // that reaches the count does not fit.
        let patterns =
            PatternOptions::fancy_regex().backtrack_limit(20_000).size_limit(1 << 20).dfa_size_limit(1 << 20);
        jsonschema::options()
            .offline()
            .with_pattern_options(patterns)
            .build(schema)
            .map(|validator| Self { validator })
            .map_err(|error| Unusable(shortened(&error.to_string())))
    }

    /// Every place where `value` does not fit; at most 20, in document order.
    pub fn violations(&self, value: &Value) -> Vec<Violation> {
        let mut path = String::new();
        if !comparable(value, &mut path) {
            let what = format!("a number of more than {MAX_DIGITS} digits is not checked");
            return vec![Violation { path, what }];
        }
        self.validator
            .iter_errors(value)
            .take(MAX_VIOLATIONS)
            .map(|error| Violation {
                path: error.instance_path().as_str().to_owned(),
                what: shortened(&error.to_string()),
            })
            .collect()
    }

    /// Whether `value` fits.
    pub fn fits(&self, value: &Value) -> bool {
        comparable(value, &mut String::new()) && self.validator.is_valid(value)
    }
}

/// What has been counted of a schema so far.
#[derive(Default)]
struct Bounds {
    bytes: usize,
    patterns: usize,
}

impl Bounds {
    fn check(&mut self, node: &Value, depth: usize) -> Result<(), Unusable> {
        if depth > MAX_DEPTH {
            return unusable(format!("it is nested deeper than {MAX_DEPTH} levels"));
        }
        self.bytes += match node {
            Value::String(text) => text.len() + 3,
            Value::Number(number) if too_long(number) => {
                return unusable(format!("it has a number of more than {MAX_DIGITS} digits"));
            }
            Value::Number(number) => number.as_str().len() + 1,
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => 5,
        };
        if self.bytes > MAX_BYTES {
            return unusable("it is larger than 1 MiB".to_owned());
        }
        match node {
            Value::Array(items) => items.iter().try_for_each(|item| self.check(item, depth + 1)),
            Value::Object(fields) => fields.iter().try_for_each(|(key, field)| {
                self.bytes += key.len() + 4;
                self.patterns += match (key.as_str(), field) {
                    ("pattern", Value::String(_)) => 1,
                    ("patternProperties", Value::Object(patterns)) => patterns.len(),
                    _ => 0,
                };
                if self.patterns > MAX_PATTERNS {
                    return unusable(format!("it has more than {MAX_PATTERNS} patterns"));
                }
                self.check(field, depth + 1)
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }
}

/// Refuses a schema whose `$ref`s double at every step: small to send, endless to check.
fn unfolds_within_bounds(schema: &Value) -> Result<(), Unusable> {
    let mut weights = std::collections::HashMap::new();
    if weight(schema, schema, &mut weights, 0) > MAX_UNFOLDED {
        return unusable("its references unfold without bound".to_owned());
    }
    Ok(())
}

/// Nodes below `node`, references followed; a reference into itself counts once.
fn weight<'a>(
    root: &'a Value,
    node: &'a Value,
    known: &mut std::collections::HashMap<&'a str, u64>,
    depth: usize,
) -> u64 {
    // Chains of references deeper than any schema are cut here, and count as a bomb.
    if depth > 4 * MAX_DEPTH {
        return MAX_UNFOLDED + 1;
    }
    let below = |children: &mut dyn Iterator<Item = &'a Value>, known: &mut _| {
        children.fold(1_u64, |sum, child| sum.saturating_add(weight(root, child, known, depth + 1)))
    };
    match node {
        Value::Array(items) => below(&mut items.iter(), known),
        Value::Object(fields) => {
            let mut sum = below(&mut fields.values(), known);
            if let Some(Value::String(reference)) = fields.get("$ref")
                && let Some(target) = reference.strip_prefix('#').and_then(|path| root.pointer(path))
            {
                let weighed = match known.get(reference.as_str()) {
                    Some(weighed) => *weighed,
                    None => {
                        known.insert(reference, 1);
                        let weighed = weight(root, target, known, depth + 1);
                        known.insert(reference, weighed);
                        weighed
                    }
                };
                sum = sum.saturating_add(weighed);
            }
            sum
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}

/// Whether every number in `value` is short enough to compare; else `path` names the first that is not.
fn comparable(value: &Value, path: &mut String) -> bool {
    let mut descend = |segment: &str, child: &Value| {
        let end = path.len();
        path.push('/');
        path.push_str(segment);
        let fine = comparable(child, path);
        if fine {
            path.truncate(end);
        }
        fine
    };
    match value {
        Value::Number(number) => !too_long(number),
        Value::Array(items) => (0..).zip(items).all(|(index, item): (usize, _)| match item {
            Value::Number(_) | Value::Array(_) | Value::Object(_) => descend(&index.to_string(), item),
            Value::Null | Value::Bool(_) | Value::String(_) => true,
        }),
        Value::Object(fields) => fields.iter().all(|(key, field)| match field {
            Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                descend(&key.replace('~', "~0").replace('/', "~1"), field)
            }
            Value::Null | Value::Bool(_) | Value::String(_) => true,
        }),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

fn too_long(number: &serde_json::Number) -> bool {
    let text = number.as_str();
    let exponent = text.split_once(['e', 'E']).map_or("0", |(_, exponent)| exponent);
    let exponent: i64 = exponent.parse().unwrap_or(i64::MAX);
    text.len() > MAX_DIGITS || exponent.unsigned_abs() > MAX_DIGITS as u64
}

fn unusable<T>(why: String) -> Result<T, Unusable> {
    Err(Unusable(why))
}

/// The sentence, cut where it quotes more of the value than anyone reads.
fn shortened(sentence: &str) -> String {
    match sentence.char_indices().nth(MAX_SENTENCE) {
        Some((end, _)) => format!("{}…", &sentence[..end]),
        None => sentence.to_owned(),
    }
}
