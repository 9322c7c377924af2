//! Compares names, which are short: without a call into the C library, whose vectors cost more than a dozen bytes do.
//!
//! A policy of a thousand rules compares a few thousand names for one call.

/// Up to here byte by byte.
const SHORT: usize = 32;

/// Whether two texts are the same.
pub(super) fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    // From the end: names that differ begin alike more often than they end alike.
    if one.len() <= SHORT { one.iter().rev().eq(other.iter().rev()) } else { one == other }
}

/// Whether a text begins with another.
pub(super) fn begins(text: &str, with: &str) -> bool {
    text.get(..with.len()).is_some_and(|start| same(start, with))
}

/// Whether a text ends with another.
pub(super) fn ends(text: &str, with: &str) -> bool {
    let start = text.len().checked_sub(with.len());
    start.and_then(|start| text.get(start..)).is_some_and(|end| same(end, with))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn they_tell_what_the_language_does(one in "[abé]{0,40}", other in "[abé]{0,3}", cut in 0usize..4) {
            let part: String = one.chars().skip(one.chars().count().saturating_sub(cut)).collect();
            for other in [&other, &one.clone(), &part, &one.chars().take(cut).collect()] {
                prop_assert_eq!(same(&one, other), &one == other);
                prop_assert_eq!(begins(&one, other), one.starts_with(other.as_str()));
                prop_assert_eq!(ends(&one, other), one.ends_with(other.as_str()));
            }
        }
    }
}
