//! What a pattern costs to match: read off its text, in the steps of [`super::work`]. Matches nothing.

/// How often a pattern with look-around may go back in one match: with more, the value does not fit.
pub const BACKTRACKS: usize = 10_000;

/// What matching costs: so much for each text, and so much for each of its bytes, in eighths of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    fixed: u64,
    per_byte: u64,
    /// How many states the pattern has, about: what it costs to compile.
    pub states: u64,
}

impl Cost {
    /// The cost of matching a pattern. At worst, one that can be matched in one pass costs its states for each byte;
    /// one with look-around goes through the text again and again.
    pub fn of(pattern: &str) -> Self {
        let states = states(pattern);
        if backtracks(pattern) {
            return Self { fixed: BACKTRACKS as u64 / 8, per_byte: (8 + states).saturating_mul(400), states };
        }
        Self { fixed: 4, per_byte: 8 + states, states }
    }

    /// The cost of counting a text's characters.
    pub fn scan() -> Self {
        Self { fixed: 1, per_byte: 1, states: 0 }
    }

    /// The cost of reading a text as a date, an address or the like.
    pub fn read() -> Self {
        Self { fixed: 8, per_byte: 32, states: 0 }
    }

    /// The cost of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            fixed: self.fixed.saturating_add(other.fixed),
            per_byte: self.per_byte.saturating_add(other.per_byte),
            states: self.states.saturating_add(other.states),
        }
    }

    /// The cost for a text of so many bytes, in steps.
    pub fn for_text(self, bytes: usize) -> u64 {
        self.fixed.saturating_add(self.per_byte.saturating_mul(bytes as u64) / 8)
    }
}

/// How many characters and classes a pattern has once its counts are written out. A class of Unicode's is a small automaton.
fn states(pattern: &str) -> u64 {
    const CLASS: u64 = 4;
    let mut groups = vec![0_u64];
    let (mut last, mut chars) = (0_u64, pattern.chars().peekable());
    while let Some(c) = chars.next() {
        let atom = match c {
            '\\' => match chars.next() {
                Some('p' | 'P' | 'w' | 'W' | 'd' | 'D' | 's' | 'S') => CLASS,
                _ => 1,
            },
            '[' => {
                let mut first = true;
                while let Some(inside) = chars.next() {
                    if inside == '\\' {
                        chars.next();
                    } else if inside == ']' && !first {
                        break;
                    }
                    first = first && inside == '^';
                }
                CLASS
            }
            '(' => {
                groups.push(0);
                last = 0;
                continue;
            }
            ')' => {
                let group = if groups.len() > 1 { groups.pop().unwrap_or_default() } else { 0 };
                group.max(1)
            }
            '{' => {
                let mut most = 0_u64;
                let mut number = 0_u64;
                for digit in chars.by_ref() {
                    match digit.to_digit(10) {
                        Some(value) => number = number.saturating_mul(10).saturating_add(u64::from(value)),
                        None if digit == ',' => (most, number) = (most.max(number), 0),
                        None => break,
                    }
                }
                last.saturating_mul(most.max(number).saturating_sub(1))
            }
            _ => 1,
        };
        last = if c == '{' { last.saturating_add(atom) } else { atom };
        if let Some(sum) = groups.last_mut() {
            *sum = sum.saturating_add(atom);
        }
    }
    groups.into_iter().fold(0, u64::saturating_add)
}

/// Whether a pattern needs more than one pass: look-around, references back, atomic groups, possessive repetition.
fn backtracks(pattern: &str) -> bool {
    let bytes = pattern.as_bytes();
    bytes.windows(2).enumerate().any(|(at, pair)| match pair {
        [b'(', b'?'] => !matches!(bytes.get(at + 2), Some(b':' | b'i' | b'm' | b's' | b'x' | b'u' | b'P')),
        [b'\\', next] => next.is_ascii_digit() || matches!(next, b'k' | b'g' | b'G' | b'K' | b'Z'),
        [b'+' | b'*' | b'?' | b'}', b'+'] => true,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_written_out_and_nested_ones_multiply() {
        for (pattern, at_least, at_most) in [
            ("^abc$", 3, 6),
            ("^[a-z0-9_-]{1,64}$", 256, 300),
            ("(a{1,100}){1,100}", 10_000, 10_200),
            ("((a{9}){9}){9}", 729, 1_000),
            ("[]a]{3}", 12, 13),
            (r"\{9999\}", 5, 7),
        ] {
            let states = Cost::of(pattern).states;
            assert!((at_least..=at_most).contains(&states), "{pattern}: {states}");
        }
        assert!(Cost::of(r"^(?=.*a).*$").for_text(1_000) > Cost::of("^.*a.*$").for_text(1_000) * 50);
        for plain in ["(?:ab)+", "(?i)ab", r"\d+\.\d*"] {
            assert!(!backtracks(plain), "{plain}");
        }
        for more in ["(?!a)b", "(?<=a)b", r"(a)\1", "a++", "(?>a)"] {
            assert!(backtracks(more), "{more}");
        }
    }
}
