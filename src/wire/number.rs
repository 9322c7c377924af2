//! Numbers as texts: the digits that records have, and counts as people read them, with the noun in its number. Knows no noun.

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

/// A number of so many digits at least.
pub fn push_number(out: &mut String, number: u64, digits: usize) {
    let mut text = [b'0'; 20];
    let (mut left, mut written) = (number, 0);
    for place in text.iter_mut().rev() {
        if left == 0 && written >= digits {
            break;
        }
        // A digit is one byte.
        *place = b'0' + u8::try_from(left % 10).unwrap_or_default();
        left /= 10;
        written += 1;
    }
    let digits = text.get(text.len() - written..).unwrap_or_default();
    out.push_str(std::str::from_utf8(digits).unwrap_or_default());
}
