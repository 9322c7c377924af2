//! Hazards in the arguments of one call, found in one walk over them.

use std::collections::BTreeMap;

use serde_json::{Number, Value};

use super::lookalike::{deceiving, is_plain};
use super::sensitive::{self, Mention};
use super::{Hazard, HazardKind};
use crate::behavior::arguments::path;

/// How many deceptive characters are counted.
const MOST_CHARACTERS: usize = 1_000;

/// Every hazard that the arguments alone show. One per kind: the first of it names the place.
///
/// Escapes in the JSON text hide nothing from this walk, which reads the decoded values.
pub fn found(arguments: &Value) -> Vec<Hazard> {
    let mut walk = HazardFinder::default();
    walk.value(arguments, 0);
    walk.hazards()
}

#[derive(Default)]
struct HazardFinder {
    /// What was seen of each kind: the first, and how many.
    seen: BTreeMap<HazardKind, (String, usize)>,
    /// Bytes of text that were read for more than their words.
    read: usize,
}

impl HazardFinder {
    fn saw(&mut self, kind: HazardKind, what: impl FnOnce() -> String) {
        self.seen.entry(kind).or_insert_with(|| (what(), 0)).1 += 1;
    }

    fn value(&mut self, value: &Value, depth: usize) {
        // The wire refuses deeper calls; a value from elsewhere is not followed without end.
        if depth > 128 {
            return;
        }
        match value {
            Value::String(text) => self.text(text),
            Value::Number(number) if is_ambiguous(number) => {
                self.saw(HazardKind::AmbiguousNumber, || cut(number.as_str()));
            }
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
            self.saw(HazardKind::PathTraversal, || cut(text));
        }
        let mut left = sensitive::BUDGET.saturating_sub(self.read);
        match sensitive::places(text, &mut left) {
            Mention::None => {}
            Mention::Named(place) => self.saw(HazardKind::SensitiveRead, || cut(&place)),
            Mention::Unread => self
                .saw(HazardKind::SensitiveRead, || "perhaps: it holds more text than mcp-approve searches".to_owned()),
        }
        self.read = sensitive::BUDGET - left;
    }

    fn characters(&mut self, text: &str) {
        if is_plain(text) {
            return;
        }
        let deceits = [HazardKind::HiddenCharacters, HazardKind::TerminalSequence, HazardKind::NulCharacter];
        let so_far: usize = deceits.iter().filter_map(|kind| self.seen.get(kind)).map(|(_, times)| times).sum();
        for (c, kind) in deceiving(text).take(MOST_CHARACTERS.saturating_sub(so_far)) {
            self.saw(kind, || format!("U+{:04X}", u32::from(c)));
        }
    }

    fn hazards(self) -> Vec<Hazard> {
        let hazard = |(kind, (first, times)): (HazardKind, (String, usize))| {
            let character = match kind {
                HazardKind::HiddenCharacters => "invisible character",
                HazardKind::TerminalSequence => "control character",
                HazardKind::NulCharacter => "NUL character",
                _ => "",
            };
            let what = match kind {
                HazardKind::SensitiveRead => format!("an argument names what holds secrets: {first}"),
                HazardKind::PathTraversal => format!("a path climbs out of its starting folder: {first}"),
                HazardKind::AmbiguousNumber => format!("a number that programs read differently: {first}"),
                _ if times >= MOST_CHARACTERS => {
                    format!("{MOST_CHARACTERS} or more {character}s, the first {first}")
                }
                _ if times == 1 => format!("1 {character}: {first}"),
                _ => format!("{times} {character}s, the first {first}"),
            };
            Hazard { kind, what }
        };
        self.seen.into_iter().map(hazard).collect()
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
