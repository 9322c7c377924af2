//! `match` and `not_match`: arguments that the rule is said to be for or not, checked when the file is read.
//!
//! They are about `when` and `unless`; the selectors are taken to fit, and the call to have the hazards named.

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::DeValue;

use crate::policy::fit::Part;
use crate::policy::holds::Holds;
use crate::policy::reading::{Reading, Span};
use crate::policy::rule::Rule;

/// What an example is said to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Example {
    Matches,
    Differs,
}

impl Example {
    fn key(self) -> &'static str {
        match self {
            Self::Matches => "match",
            Self::Differs => "not_match",
        }
    }
}

/// Reads a list of examples.
pub(super) fn read_all<'t>(
    reading: &mut Reading<'t>,
    value: &Spanned<DeValue<'t>>,
    example: Example,
) -> Vec<(Span, Example, Value)> {
    let key = example.key();
    reading.check_list(value, key, &format!("a list of arguments: {key} = [{{ path = \"~/scratch/a.txt\" }}]"));
    let mut found = Vec::new();
    for item in value.get_ref().as_array().into_iter().flatten() {
        if reading.table(item, key).is_none() {
            continue;
        }
        match json(item.get_ref()) {
            Some(arguments) => found.push((item.span(), example, arguments)),
            None => reading.wrong_type(item, key, "arguments that JSON can hold: no dates, no inf, no nan"),
        }
    }
    found
}

/// Notes an example that does not do what it says; `part` is what keeps the rule from it.
pub(super) fn check(reading: &mut Reading<'_>, at: Span, example: Example, part: Option<Part>, rule: &Rule) {
    match (example, part) {
        (Example::Matches, None) | (Example::Differs, Some(_)) => {}
        (Example::Differs, None) => {
            reading.problem(at, "the rule matches this, and should not", "narrow `when`, or take the example out");
        }
        (Example::Matches, Some(part)) => {
            let what = match part {
                Part::When(index, Holds::Undecided) => format!("{} cannot be decided for this", rule.when[index]),
                Part::When(index, _) => format!("{} does not hold for this", rule.when[index]),
                Part::Unless(index) => format!("{} excepts this", rule.unless[index]),
                Part::Expires | Part::Selector(_) => "it is for other calls".to_owned(),
            };
            reading.problem(at, format!("the rule does not match this: {what}"), "widen it, or take the example out");
        }
    }
}

/// A TOML value as JSON; `None` for what JSON cannot hold.
pub(super) fn json(value: &DeValue<'_>) -> Option<Value> {
    Some(match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(switch) => Value::Bool(*switch),
        DeValue::Integer(number) => {
            let number = i128::from_str_radix(number.as_str(), number.radix()).ok()?;
            Value::Number(Number::from_i128(number)?)
        }
        DeValue::Float(number) => Value::Number(number.as_str().trim_start_matches('+').parse().ok()?),
        DeValue::Datetime(_) => return None,
        DeValue::Array(items) => Value::Array(items.iter().map(|item| json(item.get_ref())).collect::<Option<_>>()?),
        DeValue::Table(fields) => {
            let fields = fields.iter().map(|(key, value)| Some((key.get_ref().to_string(), json(value.get_ref())?)));
            Value::Object(fields.collect::<Option<Map<_, _>>>()?)
        }
    })
}
