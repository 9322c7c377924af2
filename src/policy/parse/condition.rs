//! Entries of `when` and `unless`: one predicate each, about one argument or about hazards.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::rule::{any_of, globs};
use crate::behavior::hazards::{Hazard, HazardKind};
use crate::policy::decimal::Decimal;
use crate::policy::glob::Glob;
use crate::policy::reading::{Reading, Span};
use crate::policy::under::Folder;
use crate::policy::when::{About, Length, Predicate, Scalar, Test};

const KEYS: &[&str] = &["arg", "eq", "in", "glob", "under", "lt", "gt", "len", "present", "absent", "hazard"];
/// Predicates of the language that this version does not know how to judge.
const LATER: &[&str] = &["effect", "sql", "rate"];

/// Reads a list of predicates.
pub(super) fn read_all<'t>(reading: &mut Reading<'t>, value: &Spanned<DeValue<'t>>, key: &str) -> Vec<Predicate> {
    let Some(list) = value.get_ref().as_array() else {
        reading.wrong_type(value, key, &format!("a list: {key} = [{{ arg = \"path\", under = \"~/scratch\" }}]"));
        return Vec::new();
    };
    if list.is_empty() {
        reading.problem(value.span(), format!("`{key}` is an empty list"), format!("leave `{key}` out"));
    }
    let mut found = Vec::new();
    for item in list {
        let Some(table) = reading.table(item, key) else {
            continue;
        };
        let text = reading.source(item.span());
        found.extend(read(reading, item.span(), table).map(|about| Predicate { about, text }));
    }
    found
}

/// A hazard of each kind that the predicates name.
pub(super) fn hazards_named(when: &[Predicate]) -> Vec<Hazard> {
    let kinds = when.iter().flat_map(|predicate| match &predicate.about {
        About::Hazard(kinds) => kinds.clone(),
        About::Argument { .. } => Vec::new(),
    });
    kinds.map(|kind| Hazard { kind, what: String::new() }).collect()
}

/// An allow cannot name what no allow may cover.
pub(super) fn check_allow(reading: &mut Reading<'_>, at: &Span, when: &[Predicate]) {
    for predicate in when {
        let About::Hazard(kinds) = &predicate.about else {
            continue;
        };
        for kind in kinds.iter().filter(|kind| kind.beyond_any_allow()) {
            let what =
                format!("no rule can allow a call with the hazard \"{}\": your eyes could be deceived", kind.word());
            reading.problem(at.clone(), what, "take it out of `hazard`; such calls are always asked");
        }
    }
}

fn read<'t>(reading: &mut Reading<'t>, at: Span, table: &DeTable<'t>) -> Option<About> {
    let (mut arg, mut hazard) = (None, None);
    let mut tests = Vec::new();
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        match name {
            "arg" => arg = Some(reading.text(value, "arg")?),
            "hazard" => {
                let known: Vec<_> = HazardKind::ALL.iter().map(|kind| (kind.word(), *kind)).collect();
                hazard = Some(any_of(reading, value, "hazard", &known));
            }
            known if KEYS.contains(&known) => tests.extend(test(reading, known, value)),
            later if LATER.contains(&later) => reading.problem(
                key.span(),
                format!(
                    "`{later}` is not understood by this version, so the rule could allow or deny what it should not"
                ),
                "take the rule out, or use a newer mcp-approve",
            ),
            other => reading.unknown_key(key.span(), other, &[KEYS, LATER].concat()),
        }
    }
    match (arg, hazard, tests.is_empty()) {
        (Some(arg), None, false) if is_argument(&arg) => Some(About::Argument { arg, tests }),
        (None, Some(kinds), true) => Some(About::Hazard(kinds)),
        (Some(arg), None, false) => {
            let mend = "write the name of an argument, or a JSON Pointer like /options/path";
            reading.problem(at, format!("`arg` cannot be {arg:?}"), mend);
            None
        }
        (Some(_), None, true) => {
            reading.problem(
                at,
                "`arg` without a test of it",
                "add eq, in, glob, under, lt, gt, len, present or absent",
            );
            None
        }
        (None, None, _) => {
            reading.problem(at, "a condition about nothing", "add `arg = \"the name of an argument\"`, or `hazard`");
            None
        }
        (_, Some(_), _) => {
            reading.problem(at, "`hazard` stands beside other keys", "give it an entry of its own");
            None
        }
    }
}

/// A name, or a JSON Pointer whose `~` are all escapes.
fn is_argument(arg: &str) -> bool {
    let escapes = arg.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    !arg.is_empty() && (!arg.starts_with('/') || escapes)
}

fn test(reading: &mut Reading<'_>, key: &str, value: &Spanned<DeValue<'_>>) -> Option<Test> {
    match key {
        "eq" => scalar(reading, key, value).map(Test::Eq),
        "in" => {
            let list = value.get_ref().as_array().filter(|list| !list.is_empty());
            if list.is_none() {
                reading.wrong_type(value, key, "a list of values, not empty");
            }
            let all: Vec<Scalar> = list?.iter().filter_map(|item| scalar(reading, key, item)).collect();
            Some(Test::In(all))
        }
        "glob" => Some(Test::Glob(globs(reading, value, key, Glob::new))),
        "under" => {
            let mut folders = Vec::new();
            for (at, text) in reading.texts(value, key) {
                match Folder::new(&text) {
                    Some(folder) => folders.push(folder),
                    None => reading.problem(
                        at,
                        format!("`under` cannot be {text:?}"),
                        "write an absolute folder, or one that begins with ~/, without ..",
                    ),
                }
            }
            Some(Test::Under(folders))
        }
        "lt" | "gt" => {
            let limit = number(value);
            if limit.is_none() {
                reading.wrong_type(value, key, "a number");
            }
            Some(if key == "lt" { Test::Lt(limit?) } else { Test::Gt(limit?) })
        }
        "len" => length(reading, value).map(Test::Len),
        _ => {
            if reading.switch(value, key)? {
                return Some(if key == "present" { Test::Present } else { Test::Absent });
            }
            let other = if key == "present" { "absent" } else { "present" };
            reading.problem(value.span(), format!("`{key} = false` says the other"), format!("write `{other} = true`"));
            None
        }
    }
}

fn scalar(reading: &mut Reading<'_>, key: &str, value: &Spanned<DeValue<'_>>) -> Option<Scalar> {
    let found = match value.get_ref() {
        DeValue::String(text) => Some(Scalar::Text(text.to_string())),
        DeValue::Boolean(switch) => Some(Scalar::Switch(*switch)),
        DeValue::Integer(_) | DeValue::Float(_) => number(value).map(Scalar::Number),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    };
    if found.is_none() {
        reading.wrong_type(value, key, "a text in quotes, a number, true or false");
    }
    found
}

fn number(value: &Spanned<DeValue<'_>>) -> Option<Decimal> {
    match value.get_ref() {
        DeValue::Integer(number) => {
            let number = i128::from_str_radix(number.as_str(), number.radix()).ok()?;
            Decimal::new(&number.to_string())
        }
        DeValue::Float(number) => Decimal::new(number.as_str()),
        _ => None,
    }
}

/// `len = 3`, or `len = { gt = 2, lt = 100 }`.
fn length(reading: &mut Reading<'_>, value: &Spanned<DeValue<'_>>) -> Option<Length> {
    let count = |value: &Spanned<DeValue<'_>>| {
        let number = value.get_ref().as_integer()?;
        usize::from_str_radix(number.as_str(), number.radix()).ok()
    };
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
        reading.wrong_type(value, "len", "a count, or bounds that some length fits, like { gt = 2, lt = 100 }");
    }
    bounds
}
