//! Numbers compared exactly, by their text: no float rounds a limit away.

use std::cmp::Ordering;

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
