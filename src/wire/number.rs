//! Counts as people read them: digits in groups, and the noun in its number. Knows no noun.

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

#[cfg(test)]
mod tests {
    use super::{counted, grouped};

    #[test]
    fn a_noun_is_in_the_number_of_its_count() {
        assert_eq!((counted(0, "call"), counted(1_u64, "call")), ("0 calls".into(), "1 call".into()));
        assert_eq!((counted(1, "entry|entries"), counted(2, "entry|entries")), ("1 entry".into(), "2 entries".into()));
        assert_eq!(counted(1_204_000_usize, "call waits|calls wait"), "1,204,000 calls wait");
        assert_eq!((grouped(0), grouped(999), grouped(1000)), ("0".into(), "999".into(), "1,000".into()));
    }
}
