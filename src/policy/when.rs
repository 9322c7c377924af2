//! The conditions of a rule on a call's arguments, hazards, effects and rate, and the same in words for people. Total: what the call
//! does not show is `Undecided`, never a guess. And what a call does, in the words of a rule's `effect`.

use std::cmp::Ordering;
use std::fmt;

use serde_json::Value;
use toml::Table;

use super::glob::{Glob, Holds};
use super::rate::Rate;
use super::under::{Folder, Roots};
use crate::behavior::arguments::effect::{Analysis, Effect};
use crate::behavior::arguments::{base, path};
use crate::behavior::hazards::{Hazard, HazardKind};
use crate::behavior::{Action, Behavior, Identity, OutputDomain};
use crate::wire::fold::{self, from_pointer};
use crate::wire::words::words;

/// A longer text is not compared with globs: whether one matches stays undecided.
const LONGEST: usize = 1 << 20;

/// One entry of `when` or `unless`.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicate {
    pub about: About,
    /// As the file has it.
    pub text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum About {
    Argument {
        arg: String,
        tests: Vec<Test>,
    },
    /// The call has one of these hazards. In an allow it also names the hazards that the rule covers.
    Hazard(Vec<HazardKind>),
    /// Every effect of the call is one of these. Undecided where only some are.
    Effect(Vec<EffectClass>),
    /// Every statement in the arguments has one of these fingerprints. Undecided where only some have, or none is there.
    Sql(Vec<String>),
    /// How often calls that the rule's `server` and `tool` fit were let run.
    Rate(Rate),
}

/// What a call shows to the conditions of one rule.
pub struct CallFacts<'a> {
    pub arguments: &'a Value,
    pub hazards: &'a [Hazard],
    pub effects: &'a [EffectClass],
    /// The fingerprint of every statement in the arguments; `None` where one has none.
    pub statements: &'a [Option<String>],
    /// How many calls that the rule fits ran in the last so many milliseconds; `None` where they were not counted.
    pub earlier: &'a dyn Fn(i64) -> Option<usize>,
    pub roots: &'a Roots,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// Lists and objects are compared part by part.
    Eq(Value),
    In(Vec<Value>),
    Glob(Vec<Glob>),
    Under(Vec<Folder>),
    Lt(Decimal),
    Gt(Decimal),
    Len(Length),
    Present,
    Absent,
}

/// Bounds of a length: characters of a text, items of a list, keys of an object. Both ends belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    pub least: usize,
    pub most: usize,
}

impl Predicate {
    pub fn is_about_arguments(&self) -> bool {
        match &self.about {
            About::Argument { .. } | About::Sql(_) => true,
            About::Hazard(_) | About::Effect(_) | About::Rate(_) => false,
        }
    }

    pub fn holds(&self, shown: &CallFacts<'_>) -> Holds {
        match &self.about {
            About::Hazard(kinds) => shown.hazards.iter().any(|hazard| kinds.contains(&hazard.kind)).into(),
            About::Argument { arg, .. } if is_shadowed(shown.arguments, arg) => Holds::Undecided,
            About::Argument { arg, tests } => {
                let value = argument(shown.arguments, arg);
                tests.iter().map(|test| test.holds(arg, value, shown)).min().unwrap_or(Holds::Undecided)
            }
            About::Effect(named) => Holds::of_every(shown.effects.iter().map(|class| class.is_among(named))),
            About::Sql(fingerprints) => {
                let one = |statement: &Option<String>| match statement {
                    Some(statement) => fingerprints.contains(statement).into(),
                    None => Holds::Undecided,
                };
                Holds::of_every(shown.statements.iter().map(one))
            }
            About::Rate(rate) => {
                (shown.earlier)(rate.per).map_or(Holds::Undecided, |earlier| rate.holds(earlier).into())
            }
        }
    }

    /// The paths and the folders that it compares, where it does that and the argument is a text.
    pub fn under<'a>(&'a self, arguments: &'a Value) -> Option<(Vec<String>, &'a [Folder])> {
        let About::Argument { arg, tests } = &self.about else {
            return None;
        };
        let under = |test: &'a Test| if let Test::Under(folders) = test { Some(folders.as_slice()) } else { None };
        let folders = tests.iter().find_map(under)?;
        let path = argument(arguments, arg)?.as_str()?;
        Some((base::readings(arguments, arg, path).unwrap_or_default(), folders))
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// An argument by its name, or by JSON Pointer where the name begins with `/` or is empty: then it is all of them.
pub(super) fn argument<'a>(arguments: &'a Value, arg: &str) -> Option<&'a Value> {
    if arg.is_empty() || arg.starts_with('/') { arguments.pointer(arg) } else { arguments.get(arg) }
}

/// Whether a key on the way to an argument only folds to its name: a server that ignores case could take that one.
fn is_shadowed(arguments: &Value, arg: &str) -> bool {
    let shadows = |value: &Value, name: &str| {
        value.as_object().is_some_and(|fields| fields.keys().any(|key| fold::shadows(key, &[name])))
    };
    if !arg.starts_with('/') {
        return shadows(arguments, arg);
    }
    let ends = arg.match_indices('/').map(|(at, _)| at).zip(arg.split('/').skip(1));
    let mut steps = ends.filter_map(|(end, name)| Some((arguments.pointer(&arg[..end])?, from_pointer(name))));
    steps.any(|(value, name)| shadows(value, &name))
}

/// Whether an object inside of `value` has a key of this name, or one that folds to it.
fn is_nested(value: &Value, name: &str) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| is_nested(item, name)),
        Value::Object(fields) => {
            let is_named = |key: &str| key == name || fold::shadows(key, &[name]);
            fields.iter().any(|(key, field)| is_named(key) || is_nested(field, name))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn last_name(arg: &str) -> String {
    match arg.rsplit_once('/') {
        Some((_, last)) if arg.starts_with('/') => from_pointer(last),
        _ => arg.to_owned(),
    }
}

impl Test {
    fn holds(&self, arg: &str, value: Option<&Value>, shown: &CallFacts<'_>) -> Holds {
        let text = value.and_then(Value::as_str);
        let number = || Decimal::new(&value?.as_number()?.to_string());
        let holds = match self {
            // What takes a switch may look for it inside of other arguments too.
            Self::Present | Self::Absent if value.is_none() && is_nested(shown.arguments, &last_name(arg)) => None,
            Self::Present => Some(value.is_some().into()),
            Self::Absent => Some(value.is_none().into()),
            Self::Eq(wanted) => value.map(|value| same(wanted, value)),
            Self::In(all) => value.and_then(|value| all.iter().map(|wanted| same(wanted, value)).max()),
            // Many rules with wildcards over megabytes would hold up every other call.
            Self::Glob(_) if text.is_some_and(|text| text.len() > LONGEST) => None,
            Self::Glob(globs) => text.and_then(|text| match globs.iter().map(|glob| glob.holds(text)).max() {
                // `/srv/*` matches the text `/srv/../etc`, which leads elsewhere.
                Some(Holds::Yes) if path::climbs(text) => None,
                holds => holds,
            }),
            Self::Under(folders) => {
                let holds =
                    |text| move |folder: &Folder| folder.holds_argument(text, arg, shown.arguments, shown.roots);
                text.and_then(|text| folders.iter().map(holds(text)).max())
            }
            Self::Lt(limit) => number().map(|number| (number < *limit).into()),
            Self::Gt(limit) => number().map(|number| (number > *limit).into()),
            Self::Len(bounds) => {
                value.and_then(length).map(|length| (bounds.least..=bounds.most).contains(&length).into())
            }
        };
        holds.unwrap_or(Holds::Undecided)
    }
}

/// Whether two values are the same, part by part. Different types are not unequal: servers convert `"5"` and `5` as they like.
pub(super) fn same(wanted: &Value, value: &Value) -> Holds {
    match (wanted, value) {
        (Value::Array(wanted), Value::Array(items)) if wanted.len() == items.len() => {
            wanted.iter().zip(items).map(|(wanted, item)| same(wanted, item)).min().unwrap_or(Holds::Yes)
        }
        (Value::Object(wanted), Value::Object(fields)) if wanted.len() == fields.len() => {
            let fields =
                wanted.iter().map(|(key, wanted)| fields.get(key).map_or(Holds::No, |field| same(wanted, field)));
            fields.min().unwrap_or(Holds::Yes)
        }
        (Value::Array(_), Value::Array(_)) | (Value::Object(_), Value::Object(_)) => Holds::No,
        (Value::Number(wanted), Value::Number(number)) => {
            match (Decimal::new(&wanted.to_string()), Decimal::new(&number.to_string())) {
                (Some(wanted), Some(number)) => (wanted == number).into(),
                _ => Holds::Undecided,
            }
        }
        (Value::String(_), Value::String(_)) | (Value::Bool(_), Value::Bool(_)) | (Value::Null, Value::Null) => {
            (wanted == value).into()
        }
        _ => Holds::Undecided,
    }
}

fn length(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => Some(text.chars().count()),
        Value::Array(items) => Some(items.len()),
        Value::Object(fields) => Some(fields.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// A decimal number, `0.DIGITS × 10^EXPONENT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    /// Without zeros at either end; empty for zero.
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// Reads a number as JSON and TOML write it; `None` for anything else, and beyond ten to the billionth.
    pub fn new(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let is_number = !whole.is_empty() && all.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || exponent.abs() > 1_000_000_000 {
            return None;
        }
        let significant = all.trim_start_matches('0');
        let zeros = i64::try_from(all.len() - significant.len()).ok()?;
        let digits = significant.trim_end_matches('0').to_owned();
        if digits.is_empty() {
            return Some(Self { negative: false, digits, exponent: 0 });
        }
        let exponent = i64::try_from(whole.len()).ok()? - zeros + exponent;
        Some(Self { negative, digits, exponent })
    }

    /// `None` for zero, since `None` is less than every `Some`.
    fn magnitude(&self) -> Option<(i64, &str)> {
        (!self.digits.is_empty()).then_some((self.exponent, &self.digits))
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.magnitude().cmp(&other.magnitude()),
            (true, true) => other.magnitude().cmp(&self.magnitude()),
        })
    }
}

impl Predicate {
    /// `exactly 2 arguments`, `path is under ~/scratch`: what it says; as the file has it where the form is not known here.
    pub fn words(&self) -> String {
        let table = toml::from_str::<Table>(&format!("p = {}", self.text)).ok();
        let said = table.as_ref().and_then(|table| table.get("p")?.as_table()).and_then(said);
        said.unwrap_or_else(|| self.text.clone())
    }
}

fn said(fields: &Table) -> Option<String> {
    let arg = fields.get("arg").and_then(toml::Value::as_str);
    let each = |(key, value): (&String, &toml::Value)| match (key.as_str(), arg) {
        ("arg", _) => None,
        ("len", Some("")) if value.as_integer() == Some(1) => Some(Some("exactly 1 argument".to_owned())),
        ("len", Some("")) => Some(length_in_words(value).map(|length| format!("{length} arguments"))),
        (key, Some(arg)) => Some(test(key, value).map(|test| format!("{} {test}", name(arg)))),
        ("hazard", None) => Some(Some(format!("the hazard is {}", any(value)))),
        ("effect", None) => Some(Some(format!("every effect is {}", any(value)))),
        ("sql", None) => Some(Some(format!("every statement is like {}", any(value)))),
        ("rate", None) => Some(rate(value)),
        (_, None) => Some(None),
    };
    let parts = fields.iter().filter_map(each).collect::<Option<Vec<String>>>()?;
    (!parts.is_empty()).then(|| parts.join(" and "))
}

/// An argument's name; an empty one means all the arguments.
fn name(arg: &str) -> &str {
    if arg.is_empty() { "the arguments together" } else { arg }
}

fn test(key: &str, value: &toml::Value) -> Option<String> {
    Some(match key {
        "eq" => format!("is {}", one(value)),
        "in" => format!("is {}", any(value)),
        "glob" => format!("matches {}", any(value)),
        "under" => format!("is under {}", any(value)),
        "lt" => format!("is less than {}", one(value)),
        "gt" => format!("is more than {}", one(value)),
        "len" => format!("is {} long", length_in_words(value)?),
        "present" => "is given".to_owned(),
        "absent" => "is not given".to_owned(),
        _ => return None,
    })
}

/// `exactly 2`, `more than 2 and less than 5`.
fn length_in_words(value: &toml::Value) -> Option<String> {
    let bound = |word: &str| value.get(word).and_then(toml::Value::as_integer);
    match (value.as_integer(), bound("gt"), bound("lt")) {
        (Some(exactly), ..) => Some(format!("exactly {exactly}")),
        (None, Some(more), Some(less)) => Some(format!("more than {more} and less than {less}")),
        (None, Some(more), None) => Some(format!("more than {more}")),
        (None, None, Some(less)) => Some(format!("less than {less}")),
        (None, None, None) => None,
    }
}

fn rate(value: &toml::Value) -> Option<String> {
    let table = value.as_table()?;
    let per = table.get("per")?.as_str()?;
    let count = |word: &str| table.get(word).and_then(toml::Value::as_integer);
    match (count("most"), count("over")) {
        (Some(most), None) => Some(format!("among the first {most} calls in {per}")),
        (None, Some(over)) => Some(format!("after {over} calls in {per}")),
        _ => None,
    }
}

fn any(value: &toml::Value) -> String {
    match value.as_array() {
        Some(all) => all.iter().map(one).collect::<Vec<_>>().join(" or "),
        None => one(value),
    }
}

fn one(value: &toml::Value) -> String {
    match value.as_str() {
        // Quotes only where the text would be taken for part of the words around it.
        Some(text) if !text.is_empty() && !text.contains(char::is_whitespace) => text.to_owned(),
        _ => serde_json::to_string(value).unwrap_or_else(|_| "…".to_owned()),
    }
}

words! {
    EffectClass {
        /// It reads what the server itself keeps.
        Read = "read",
        /// It asks another service, and changes nothing there.
        ReadElsewhere = "read-elsewhere",
        Unknown = "unknown",
        /// It makes or changes data.
        Write = "write",
        Delete = "delete",
        /// It delivers something to others.
        Send = "send",
        /// It is about money, and does not only read.
        Pay = "pay",
        Execute = "execute",
        /// It changes who may do what, or how a service runs.
        Administer = "administer",
    }
}

impl EffectClass {
    /// All that a call does: what its tool is, and what its arguments show.
    pub fn all_of(behavior: &Behavior) -> Vec<Self> {
        let mut all = Self::of_identity(behavior.identity);
        behavior.analyses.iter().for_each(|analysis| all.extend(Self::of_analysis(analysis)));
        all.sort();
        all.dedup();
        all
    }

    fn of_action(action: Action) -> Self {
        match action {
            Action::Read | Action::Search => Self::Read,
            Action::Delete => Self::Delete,
            Action::Send => Self::Send,
            Action::Execute => Self::Execute,
            Action::Unknown => Self::Unknown,
            Action::Create | Action::Update | Action::Merge | Action::Overwrite | Action::Append | Action::Move => {
                Self::Write
            }
        }
    }

    fn of_identity(identity: Identity) -> Vec<Self> {
        let does = Self::of_action(identity.action);
        match (does, identity.output_domain) {
            (Self::Read | Self::Unknown, _) => vec![does],
            (Self::Write | Self::Send, OutputDomain::Money) => vec![Self::Pay],
            (_, OutputDomain::Money) => vec![does, Self::Pay],
            (_, OutputDomain::User | OutputDomain::Infra) => vec![does, Self::Administer],
            _ => vec![does],
        }
    }

    fn of_analysis(analysis: &Analysis) -> Vec<Self> {
        let does = match analysis.effect {
            Effect::ReadHere => return vec![Self::Read],
            Effect::ReadElsewhere => return vec![Self::ReadElsewhere],
            Effect::Unlisted | Effect::Unknown => return vec![Self::Unknown],
            Effect::Write => None,
            Effect::Execute => Some(Self::Execute),
            Effect::Administer => Some(Self::Administer),
        };
        // Of a statement that reads and writes, only what it changes counts; without a word of it, it writes.
        let actions = analysis.also.iter().chain([&analysis.action]).map(|action| Self::of_action(*action));
        let finer = actions.filter(|class| matches!(class, Self::Delete | Self::Send));
        let all: Vec<Self> = does.into_iter().chain(finer).collect();
        if all.is_empty() { vec![Self::Write] } else { all }
    }

    /// Whether it is one of those that a rule names. `write` once meant the finer ones too: an allow that says only `write`
    /// does not cover them, and an ask or a deny still does.
    pub fn is_among(self, named: &[Self]) -> Holds {
        let once_write = matches!(self, Self::Delete | Self::Send | Self::Pay | Self::Administer);
        if named.contains(&self) {
            Holds::Yes
        } else if self == Self::Unknown || once_write && named.contains(&Self::Write) {
            // What is not known could be any of them.
            Holds::Undecided
        } else {
            Holds::No
        }
    }
}
