//! Hazards in the arguments of one call, found in one walk over them.

use serde_json::{Number, Value};

use super::lookalike::{Deceit, deceiving, is_plain};
use super::sensitive::{self, Places};
use super::{Hazard, HazardKind};
use crate::behavior::arguments::path;

/// How many deceptive characters are counted.
const MOST_CHARACTERS: usize = 1_000;

/// Every hazard that the arguments alone show. One per kind: the first of it names the place.
///
/// Escapes in the JSON text hide nothing from this walk, which reads the decoded values.
pub fn found(arguments: &Value) -> Vec<Hazard> {
    let mut walk = Walk::default();
    walk.value(arguments, 0);
    walk.hazards()
}

/// What was seen of each kind: the first, and how many.
#[derive(Default)]
struct Walk {
    hidden: Seen,
    control: Seen,
    climbs: Seen,
    nul: Seen,
    number: Seen,
    sensitive: Seen,
    /// Bytes of text that were read for more than their words.
    read: usize,
}

#[derive(Default)]
struct Seen {
    first: Option<String>,
    times: usize,
}

impl Seen {
    fn saw(&mut self, what: impl FnOnce() -> String) {
        self.times += 1;
        self.first.get_or_insert_with(what);
    }
}

impl Walk {
    fn value(&mut self, value: &Value, depth: usize) {
        // The wire refuses deeper calls; a value from elsewhere is not followed without end.
        if depth > 128 {
            return;
        }
        match value {
            Value::String(text) => self.text(text),
            Value::Number(number) if is_ambiguous(number) => self.number.saw(|| cut(number.as_str())),
            Value::Array(items) => items.iter().for_each(|item| self.value(item, depth + 1)),
            Value::Object(fields) => {
                for (key, field) in fields {
                    self.characters(key);
                    self.value(field, depth + 1);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text(&mut self, text: &str) {
        self.characters(text);
        // Under any key: which of them a server opens is its own affair. A longer text, or one of several lines, is no path.
        let may_climb =
            text.len() <= path::LONGEST && (text.contains("..") || text.contains('%')) && !text.contains('\n');
        if may_climb && path::leads(text) == path::Leads::Climbs {
            self.climbs.saw(|| cut(text));
        }
        let mut left = sensitive::BUDGET.saturating_sub(self.read);
        match sensitive::places(text, &mut left) {
            Places::None => {}
            Places::Named(place) => self.sensitive.saw(|| cut(&place)),
            Places::Unread => self.sensitive.saw(|| "perhaps: it holds more text than mcp-approve searches".to_owned()),
        }
        self.read = sensitive::BUDGET - left;
    }

    fn characters(&mut self, text: &str) {
        if is_plain(text) {
            return;
        }
        let so_far = self.hidden.times + self.control.times + self.nul.times;
        for (c, deceit) in deceiving(text).take(MOST_CHARACTERS.saturating_sub(so_far)) {
            let seen = match deceit {
                Deceit::Hidden => &mut self.hidden,
                Deceit::Control => &mut self.control,
                Deceit::Nul => &mut self.nul,
            };
            seen.saw(|| format!("U+{:04X}", u32::from(c)));
        }
    }

    fn hazards(self) -> Vec<Hazard> {
        let rows = [
            (HazardKind::SensitiveRead, self.sensitive, "an argument names what holds secrets"),
            (HazardKind::HiddenCharacters, self.hidden, "invisible character"),
            (HazardKind::TerminalSequence, self.control, "control character"),
            (HazardKind::PathTraversal, self.climbs, "a path climbs out of its starting folder"),
            (HazardKind::NulCharacter, self.nul, "NUL character"),
            (HazardKind::AmbiguousNumber, self.number, "a number that programs read differently"),
        ];
        rows.into_iter()
            .filter_map(|(kind, seen, what)| {
                let first = seen.first?;
                let what = match kind {
                    HazardKind::SensitiveRead | HazardKind::PathTraversal | HazardKind::AmbiguousNumber => {
                        format!("{what}: {first}")
                    }
                    _ if seen.times >= MOST_CHARACTERS => {
                        format!("{MOST_CHARACTERS} or more {what}s, the first {first}")
                    }
                    _ if seen.times == 1 => format!("1 {what}: {first}"),
                    _ => format!("{} {what}s, the first {first}", seen.times),
                };
                Some(Hazard { kind, what })
            })
            .collect()
    }
}

/// Whether parsers read the number differently: integers that a double cannot hold, integers written with an exponent,
/// numbers out of a double's range or with more digits than it holds.
fn is_ambiguous(number: &Number) -> bool {
    let text = number.as_str();
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return text == "-0" || digits.len() > 16 || digits.parse::<u64>().is_ok_and(|value| value > 1 << 53);
    }
    let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, ""));
    let significant = mantissa.bytes().filter(u8::is_ascii_digit).skip_while(|byte| *byte == b'0').count();
    let value: f64 = digits.parse().unwrap_or(f64::INFINITY);
    let vanished = value == 0.0 && mantissa.bytes().any(|byte| (b'1'..=b'9').contains(&byte));
    let integral = !exponent.is_empty() && value.fract() == 0.0;
    !value.is_finite() || vanished || integral || significant > 17
}

fn cut(text: &str) -> String {
    text.chars().take(60).collect()
}
