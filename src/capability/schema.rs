//! The one door to jsonschema: checks arguments and results against a tool's schemas. Never fetches anything.
//!
//! A schema is hostile: size, depth, patterns and numbers are bounded before it is compiled; a `$ref` may not leave it.

use std::fmt::{self, Write as _};

use jsonschema::PatternOptions;
use serde_json::Value;

use super::work::{BACKTRACKS, CHECK, Cost, EXPLAIN, TooMuch, Work};
use crate::wire::fold::in_pointer;

/// Beyond these a schema is refused: no honest tool comes near.
const MAX_DEPTH: usize = 64;
const MAX_BYTES: usize = 256 * 1024;
const MAX_PATTERNS: usize = 512;
/// How many states all patterns together may have: compiling a state takes about a microsecond.
const MAX_STATES: u64 = 20_000;
/// A number whose text is longer, or whose exponent is larger, costs a big-integer comparison more than it is worth.
const MAX_DIGITS: usize = 400;
const MAX_VIOLATIONS: usize = 20;
const MAX_SENTENCE: usize = 300;

#[derive(Debug)]
pub struct Schema {
    validator: jsonschema::Validator,
    work: Work,
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
pub struct UnusableSchema(pub String);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fits {
    Yes,
    /// At most 20 places, in document order.
    No(Vec<Violation>),
    /// It was not checked: that would take more than its budget.
    Unchecked,
}

/// What happens to a call whose arguments do not fit its tool's schema. Where it is not refused, it has a hazard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Mismatch {
    /// It is refused: the model reads what does not fit.
    #[default]
    Refuse,
    /// The server takes more than its schema says.
    Warn,
    /// The same, for these tools alone.
    WarnFor(Vec<String>),
}

impl Mismatch {
    pub fn refuses(&self, tool: &str) -> bool {
        match self {
            Self::Refuse => true,
            Self::Warn => false,
            Self::WarnFor(tools) => !tools.iter().any(|known| known == tool),
        }
    }
}

impl Schema {
    /// Compiles a schema: JSON Schema 2020-12 unless `$schema` says otherwise.
    /// Errors: [`UnusableSchema`] when it is no schema, or a `$ref` leaves the document.
    pub fn compile(schema: &Value) -> Result<Self, UnusableSchema> {
        Bounds::default().check(schema, 0)?;
        let work = Work::of(schema).map_err(|why| UnusableSchema(why.to_owned()))?;
        // Patterns without look-around run on the linear engine; with it, backtracking stops at a count, and a value
        // that reaches the count does not fit. Formats are annotations and not checked.
        let patterns =
            PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS).size_limit(1 << 20).dfa_size_limit(1 << 20);
        jsonschema::options()
            .offline()
            .should_validate_formats(false)
            .with_pattern_options(patterns)
            .build(schema)
            .map(|validator| Self { validator, work })
            .map_err(|error| UnusableSchema(sentence(&error)))
    }

    pub fn check(&self, value: &Value) -> Fits {
        if let Some(path) = incomparable(value) {
            let what = format!("a number of more than {MAX_DIGITS} digits is not checked");
            return Fits::No(vec![Violation { path, what }]);
        }
        match self.work.count(value, CHECK) {
            Err(TooMuch) => Fits::Unchecked,
            Ok(_) if self.validator.is_valid(value) => Fits::Yes,
            Ok(steps) if steps > EXPLAIN => {
                let what = "the arguments do not fit; they are too large for each place to be named".to_owned();
                Fits::No(vec![Violation { path: String::new(), what }])
            }
            Ok(_) => {
                let errors = self.validator.iter_errors(value).take(MAX_VIOLATIONS);
                let violation = |error: jsonschema::ValidationError<'_>| Violation {
                    path: error.instance_path().as_str().to_owned(),
                    what: sentence(&error),
                };
                Fits::No(errors.map(violation).collect())
            }
        }
    }
}

#[derive(Default)]
struct Bounds {
    bytes: usize,
    patterns: usize,
    states: u64,
}

impl Bounds {
    fn check(&mut self, node: &Value, depth: usize) -> Result<(), UnusableSchema> {
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
            return unusable("it is larger than 256 KiB".to_owned());
        }
        match node {
            Value::Array(items) => items.iter().try_for_each(|item| self.check(item, depth + 1)),
            Value::Object(fields) => fields.iter().try_for_each(|(key, field)| {
                self.bytes += key.len() + 4;
                match (key.as_str(), field) {
                    ("pattern", Value::String(pattern)) => self.pattern(pattern)?,
                    ("patternProperties", Value::Object(patterns)) => {
                        patterns.keys().try_for_each(|pattern| self.pattern(pattern))?;
                    }
                    _ => {}
                }
                self.check(field, depth + 1)
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }

    fn pattern(&mut self, pattern: &str) -> Result<(), UnusableSchema> {
        self.patterns += 1;
        self.states = self.states.saturating_add(Cost::of(pattern).states);
        if self.patterns > MAX_PATTERNS || self.states > MAX_STATES {
            return unusable(format!("it has more than {MAX_PATTERNS} patterns, or very large ones"));
        }
        Ok(())
    }
}

/// The JSON Pointer of the first number in `value` that is too long to compare.
fn incomparable(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => too_long(number).then(String::new),
        Value::Array(items) => {
            (0..).zip(items).find_map(|(index, item): (usize, _)| Some(format!("/{index}{}", incomparable(item)?)))
        }
        Value::Object(fields) => fields.iter().find_map(|(key, field)| {
            let below = incomparable(field)?;
            Some(format!("/{}{below}", in_pointer(key)))
        }),
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

fn too_long(number: &serde_json::Number) -> bool {
    let text = number.as_str();
    let exponent = text.bytes().position(|byte| matches!(byte, b'e' | b'E')).and_then(|at| text.get(at + 1..));
    let exponent = exponent.map_or(0, |digits| digits.parse().unwrap_or(i64::MAX));
    text.len() > MAX_DIGITS || exponent.unsigned_abs() > MAX_DIGITS as u64
}

fn unusable<T>(why: String) -> Result<T, UnusableSchema> {
    Err(UnusableSchema(why))
}

/// An error as a sentence, written no further than anyone reads: it may quote the whole value.
fn sentence(error: &dyn fmt::Display) -> String {
    struct Short(String);
    impl fmt::Write for Short {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            let room = MAX_SENTENCE.saturating_sub(self.0.len());
            if text.len() <= room {
                self.0.push_str(text);
                return Ok(());
            }
            self.0.push_str(text.get(..text.floor_char_boundary(room)).unwrap_or_default());
            self.0.push('…');
            Err(fmt::Error)
        }
    }
    let mut short = Short(String::new());
    // An error says that it was cut.
    let _ = write!(short, "{error}");
    short.0
}
