//! Matches a text against wildcards, character by character. Parses no pattern: rules and shells write theirs differently.

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wildcard {
    Exactly(char),
    One,
    Many,
    /// `[a-z]` or `[!a-z]`: both ends of each range belong to it.
    Class {
        ranges: Vec<(char, char)>,
        sense: Sense,
    },
}

/// Whether a class matches the characters in its ranges, or all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sense {
    These,
    Others,
}

impl Wildcard {
    pub fn matches(&self, c: char) -> bool {
        match self {
            Self::Exactly(own) => *own == c,
            Self::One | Self::Many => true,
            Self::Class { ranges, sense } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) == (*sense == Sense::These)
            }
        }
    }
}

/// Whether the pattern matches the whole text.
///
/// It returns to the last [`Wildcard::Many`] only, so it never takes longer than the product of both lengths.
pub fn matches(pattern: &[Wildcard], text: &str) -> bool {
    let (mut at, mut rest) = (0, text.chars());
    let mut last_many = None;
    loop {
        let mut after = rest.clone();
        match (pattern.get(at), after.next()) {
            (None, None) => return true,
            (Some(Wildcard::Many), _) => {
                at += 1;
                last_many = Some((at, rest.clone()));
            }
            (Some(part), Some(c)) if part.matches(c) => {
                at += 1;
                rest = after;
            }
            (Some(_), _) | (None, Some(_)) => {
                // The last one matches one character more.
                let Some((behind, taken)) = &mut last_many else { return false };
                if taken.next().is_none() {
                    return false;
                }
                (at, rest) = (*behind, taken.clone());
            }
        }
    }
}
