//! Numbers as texts: the digits that records have, and counts as people read them, with the noun in its number. Knows no noun.

use std::fmt::Write as _;

/// `1 call`, `12 calls`, `1,204 calls`. Where an `s` does not do, both forms: `entry|entries`, `call waits|calls wait`.
pub fn counted(n: impl TryInto<u64>, thing: &str) -> String {
    let n: u64 = n.try_into().unwrap_or(u64::MAX);
    let digits = grouped(n);
    match (thing.split_once('|'), n) {
        (Some((one, _)), 1) => format!("{digits} {one}"),
        (Some((_, many)), _) => format!("{digits} {many}"),
        (None, 1) => format!("{digits} {thing}"),
        (None, _) => format!("{digits} {thing}s"),
    }
}

/// A number with its thousands apart.
pub fn grouped(n: impl TryInto<u64>) -> String {
    let digits = n.try_into().unwrap_or(u64::MAX).to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

pub fn push_number(out: &mut String, number: u64, digits: usize) {
    // Writing to a String does not fail.
    let _ = write!(out, "{number:0digits$}");
}
