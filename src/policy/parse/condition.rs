//! Entries of `when` and `unless`: one predicate each, about an argument, hazards, the effect, statements or a rate. And the
//! examples of a rule, `match` and `not_match`: arguments that it is said to be for or not, checked when the file is read.
//!
//! `result` says what must be so of an answer. Examples are about `when` and `unless`; the selectors are taken to fit, and the call to have the hazards named.

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::behavior::{HazardKind, arguments::sql};
use crate::policy::fit::Part;
use crate::policy::glob::{Glob, Holds};
use crate::policy::rate::{Bound, LONGEST, MOST, Rate};
use crate::policy::reading::{Reading, Span, any_of, globs};
use crate::policy::result::{ContentKind, Finding};
use crate::policy::rule::Rule;
use crate::policy::under::Folder;
use crate::policy::when::EffectClass;
use crate::policy::when::{About, Decimal, Length, Predicate, Test};

const KEYS: &[&str] =
    &["arg", "eq", "in", "glob", "under", "lt", "gt", "len", "present", "absent", "hazard", "effect", "sql", "rate"];

pub(super) fn read_all<'t>(reading: &mut Reading<'t>, value: &Spanned<DeValue<'t>>, key: &str) -> Vec<Predicate> {
    reading.check_list(value, key, &format!("a list: {key} = [{{ arg = \"path\", under = \"~/scratch\" }}]"));
    let mut found = Vec::new();
    for item in value.get_ref().as_array().into_iter().flatten() {
        let Some(table) = reading.table(item, key) else {
            continue;
        };
        let text = reading.source(item.span());
        found.extend(read(reading, item.span(), table).map(|about| Predicate { about, text }));
    }
    found
}

/// An allow cannot name what no allow may cover.
pub(super) fn check_allow(reading: &mut Reading<'_>, at: &Span, when: &[Predicate]) {
    for predicate in when {
        let About::Hazard(kinds) = &predicate.about else {
            continue;
        };
        for kind in kinds.iter().filter(|kind| kind.beyond_any_allow()) {
            let kind = kind.word();
            let what = format!("no rule can allow a call with the hazard {kind:?}: what you see may not be what runs");
            reading.problem(at.clone(), what, "take it out of `hazard`; such calls are always asked");
        }
    }
}

fn read<'t>(reading: &mut Reading<'t>, at: Span, table: &DeTable<'t>) -> Option<About> {
    let known = reading.check_keys(table, KEYS);
    let arg = match table.get("arg") {
        Some(value) => Some(reading.text(value, "arg")?),
        None => None,
    };
    let (mut other, mut tests, mut reported) = (None, Vec::new(), known < table.len());
    for (key, value) in table {
        let about = match key.get_ref().as_ref() {
            "hazard" => About::Hazard(any_of(reading, value, "hazard", HazardKind::WORDS)),
            "effect" => About::Effect(any_of(reading, value, "effect", EffectClass::WORDS)),
            "sql" => About::Sql(fingerprints(reading, value)),
            "rate" => About::Rate(rate(reading, value)?),
            key if key != "arg" && KEYS.contains(&key) => {
                match test(reading, key, value) {
                    Some(test) => tests.push(test),
                    None => reported = true,
                }
                continue;
            }
            _ => continue,
        };
        other = Some((key.get_ref(), about));
    }
    let (what, hint) = match (arg, other) {
        (None, Some((_, about))) if table.len() == 1 => return Some(about),
        (_, Some((key, _))) => (format!("`{key}` is in one entry with other keys"), "give it an entry of its own"),
        // A wrong test is a problem already; a second one, that the test is missing, would hide its hint.
        (Some(_), None) if tests.is_empty() && reported => return None,
        (Some(arg), None) if tests.is_empty() => {
            (format!("`arg` {arg:?} has no test"), "add eq, in, glob, under, lt, gt, len, present or absent")
        }
        (Some(arg), None) if is_argument(&arg, &tests) => return Some(About::Argument { arg, tests }),
        (Some(arg), None) => {
            (format!("`arg` cannot be {arg:?}"), "write the name of an argument, or a JSON Pointer like /options/path")
        }
        (None, None) => {
            let hint = "add `arg = \"the name of an argument\"`, or `hazard`, `effect`, `sql` or `rate`";
            ("a condition that tests nothing".to_owned(), hint)
        }
    };
    reading.problem(at, what, hint);
    None
}

/// Statements as people write them; what is compared is their fingerprint.
fn fingerprints(reading: &mut Reading<'_>, value: &Spanned<DeValue<'_>>) -> Vec<String> {
    let mut found = Vec::new();
    for (at, text) in reading.texts(value, "sql") {
        let fingerprints = sql::fingerprints(&text);
        if fingerprints.is_empty() {
            let hint = "write one statement that a database would accept; ? matches any literal";
            reading.problem(at, "this statement has no fingerprint", hint);
        }
        found.extend(fingerprints);
    }
    found
}

/// `rate = { most = 10, per = "1h" }`.
fn rate(reading: &mut Reading<'_>, value: &Spanned<DeValue<'_>>) -> Option<Rate> {
    let (mut bound, mut per, mut known) = (None, None, true);
    for (key, value) in value.get_ref().as_table().into_iter().flatten() {
        match key.get_ref().as_ref() {
            "most" if bound.is_none() => bound = count(value).map(Bound::Most),
            "over" if bound.is_none() => bound = count(value).map(Bound::Over),
            "per" => per = value.get_ref().as_str().and_then(span),
            _ => known = false,
        }
    }
    let in_bounds = |bound: &Bound| match bound {
        Bound::Most(count) => (1..=MOST).contains(count),
        Bound::Over(count) => *count <= MOST,
    };
    let rate = bound.filter(in_bounds).zip(per).filter(|_| known).map(|(bound, per)| Rate { bound, per });
    if rate.is_none() {
        let wanted = "{ most = 10, per = \"1h\" } or { over = 10, per = \"1h\" }: 1 to 1000 calls, per 1s up to 24h";
        reading.cannot_be(value, "rate", wanted);
    }
    rate
}

/// `90s`, `5m`, `1h`, in milliseconds.
fn span(text: &str) -> Option<i64> {
    let unit = match text.chars().last()? {
        's' => 1000,
        'm' => 60 * 1000,
        'h' => 3600 * 1000,
        _ => return None,
    };
    let number: u32 = text[..text.len() - 1].parse().ok()?;
    Some(i64::from(number) * unit).filter(|millis| (1..=LONGEST).contains(millis))
}

/// A name, or a JSON Pointer whose `~` are all escapes; empty, it means all arguments, which only some tests speak of.
fn is_argument(arg: &str, tests: &[Test]) -> bool {
    let escapes = arg.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    let of_all = tests.iter().all(|test| matches!(test, Test::Len(_) | Test::Eq(Value::Array(_) | Value::Object(_))));
    if arg.is_empty() { of_all } else { !arg.starts_with('/') || escapes }
}

fn test(reading: &mut Reading<'_>, key: &str, value: &Spanned<DeValue<'_>>) -> Option<Test> {
    match key {
        "eq" if matches!(value.get_ref(), DeValue::Array(_) | DeValue::Table(_)) => {
            let wanted = "a value that JSON can hold: no dates, no inf, no nan";
            reading.or_wrong_type(json(value.get_ref()), value, key, wanted).map(Test::Eq)
        }
        "eq" => scalar(reading, key, value).map(Test::Eq),
        "in" => {
            let list = value.get_ref().as_array().filter(|list| !list.is_empty());
            if list.is_none() {
                reading.cannot_be(value, key, "a list of values, not empty");
            }
            let all: Vec<Value> = list?.iter().filter_map(|item| scalar(reading, key, item)).collect();
            Some(Test::In(all))
        }
        "glob" => Some(Test::Glob(globs(reading, value, key, Glob::new))),
        "under" => Some(Test::Under(reading.each(value, key, |text| {
            let hint = "write an absolute folder, or one that begins with ~/, without ..";
            Folder::new(text).ok_or_else(|| (format!("`under` cannot be {text:?}"), hint))
        }))),
        "lt" | "gt" => {
            let limit = reading.or_wrong_type(number(value), value, key, "a number")?;
            Some(if key == "lt" { Test::Lt(limit) } else { Test::Gt(limit) })
        }
        "len" => length(reading, value).map(Test::Len),
        _ => {
            if reading.switch(value, key)? {
                return Some(if key == "present" { Test::Present } else { Test::Absent });
            }
            let other = if key == "present" { "absent" } else { "present" };
            reading.problem(
                value.span(),
                format!("`{key} = false` says the opposite"),
                format!("write `{other} = true`"),
            );
            None
        }
    }
}

fn scalar(reading: &mut Reading<'_>, key: &str, value: &Spanned<DeValue<'_>>) -> Option<Value> {
    let is_single = !matches!(value.get_ref(), DeValue::Array(_) | DeValue::Table(_));
    let found = if is_single { json(value.get_ref()) } else { None };
    reading.or_wrong_type(found, value, key, "a text in quotes, a number, true or false")
}

fn number(value: &Spanned<DeValue<'_>>) -> Option<Decimal> {
    Decimal::new(&json(value.get_ref())?.as_number()?.to_string())
}

/// `len = 3`, or `len = { gt = 2, lt = 100 }`.
fn length(reading: &mut Reading<'_>, value: &Spanned<DeValue<'_>>) -> Option<Length> {
    let bounds = match value.get_ref().as_table() {
        None => count(value).map(|exact| Length { least: exact, most: exact }),
        Some(table) => {
            let mut bounds = Length { least: 0, most: usize::MAX };
            let mut known = !table.is_empty();
            for (key, value) in table {
                match (key.get_ref().as_ref(), count(value)) {
                    ("gt", Some(limit)) => bounds.least = limit.saturating_add(1),
                    ("lt", Some(limit)) if limit > 0 => bounds.most = limit - 1,
                    _ => known = false,
                }
            }
            known.then_some(bounds).filter(|bounds| bounds.least <= bounds.most)
        }
    };
    if bounds.is_none() {
        reading.cannot_be(value, "len", "a count, or bounds that a length can meet, like { gt = 2, lt = 100 }");
    }
    bounds
}

pub(super) fn count(value: &Spanned<DeValue<'_>>) -> Option<usize> {
    let number = value.get_ref().as_integer()?;
    usize::from_str_radix(number.as_str(), number.radix()).ok()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Example {
    Matches,
    Differs,
}

impl Example {
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Matches => "match",
            Self::Differs => "not_match",
        }
    }
}

pub(super) fn read_examples<'t>(
    reading: &mut Reading<'t>,
    value: &Spanned<DeValue<'t>>,
    key: &str,
) -> Vec<(Span, Value)> {
    reading.check_list(value, key, &format!("a list of arguments: {key} = [{{ path = \"~/scratch/a.txt\" }}]"));
    let mut found = Vec::new();
    for item in value.get_ref().as_array().into_iter().flatten() {
        if reading.table(item, key).is_none() {
            continue;
        }
        match json(item.get_ref()) {
            Some(arguments) => found.push((item.span(), arguments)),
            None => reading.wrong_type(item, key, "arguments that JSON can hold: no dates, no inf, no nan"),
        }
    }
    found
}

/// Notes an example that does not do what it says; `part` is what keeps the rule from it.
pub(super) fn check_example(reading: &mut Reading<'_>, at: Span, example: Example, part: Option<Part>, rule: &Rule) {
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

const OF_RESULTS: &[&str] = &["size", "kind", "glob", "secret", "hazard", "host"];
/// Keys of a rule that say something of a call's arguments, or of an approval.
const OF_CALLS: [&str; 9] =
    ["method", "when", "unless", "capability", "approvals", "signers", "other", "match", "not_match"];

/// All of these must be so.
pub(super) fn findings<'t>(reading: &mut Reading<'t>, value: &Spanned<DeValue<'t>>) -> Vec<Finding> {
    let Some(table) = reading.table(value, "result") else { return Vec::new() };
    reading.check_keys(table, OF_RESULTS);
    if table.is_empty() {
        let hint = "say what it has: `result = { secret = true }`; `result = { size = 0 }` is every one";
        reading.problem(value.span(), "`result` says nothing of the result", hint);
    }
    let mut found = Vec::new();
    if let Some(value) = table.get("size") {
        match count(value).and_then(|count| u64::try_from(count).ok()) {
            Some(more) => found.push(Finding::Size(more)),
            None => reading.wrong_type(value, "size", "a number of bytes, which a result must have more than"),
        }
    }
    if let Some(value) = table.get("kind") {
        found.push(Finding::Kind(any_of(reading, value, "kind", ContentKind::WORDS)));
    }
    for (key, of) in [("glob", Finding::Glob as fn(Vec<Glob>) -> Finding), ("host", Finding::Host)] {
        if let Some(value) = table.get(key) {
            found.push(of(globs(reading, value, key, Glob::new)));
        }
    }
    for (key, finding) in [("secret", Finding::Secret), ("hazard", Finding::Hazard)] {
        let Some(value) = table.get(key) else { continue };
        match reading.switch(value, key) {
            Some(false) => {
                let hint = format!("write `{key} = true`, or leave it out");
                reading.problem(value.span(), format!("`{key}` can only be true"), hint);
            }
            Some(true) | None => found.push(finding),
        }
    }
    found
}

/// Notes the keys that a rule about results cannot have.
pub(super) fn check_result_keys(reading: &mut Reading<'_>, table: &DeTable<'_>) {
    for (key, _) in OF_CALLS.iter().filter_map(|key| table.get_key_value(*key)) {
        let what = format!("`{}` is about calls, and this rule is about their results", key.get_ref());
        reading.problem(key.span(), what, "take it out, or write a rule of its own for the calls");
    }
}
