//! Policy text to rules: one strict constructor, every problem at once, each with its line and its mend.

use super::rule::Policy;

/// One problem in a policy file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    pub what: String,
    pub mend: String,
}

/// The built-in default (assets/policy.toml): PURE is allowed, MUTATES and hazards ask.
pub fn built_in() -> Policy {
    todo!()
}

/// Reads a policy.
///
/// # Errors
/// Every problem in the text, in order of line.
pub fn parse(_text: &str) -> Result<Policy, Vec<Problem>> {
    todo!()
}

/// What stands in for a file that cannot be read at start: everything asks; `banner` says why.
pub fn everything_asks(_banner: String) -> Policy {
    todo!()
}

/// What stands after an invalid reload: the last valid denies and asks, its allows suspended; `banner` says why.
pub fn suspended(_last: &Policy, _banner: String) -> Policy {
    todo!()
}
