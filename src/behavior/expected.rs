//! What a task expects of the tools it uses, and how a behavior differs from it: the gate of the behavioral identity
//! paper (section 3.3). Rules on nothing.

use std::fmt;
use std::str::FromStr;

use super::conclude::Behavior;
use super::hazards::{Hazard, HazardKind};
use super::identity::Identity;
use super::taxonomy::{Action, Mutability, OutputDomain};

/// An expectation: `read-only`, a class (`PURE`, `READ`, `PURE|READ`, `PURE|*|CONTENT`), or an identity's 16 hex characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    mutability: Option<Mutability>,
    action: Option<Action>,
    output_domain: Option<OutputDomain>,
    hash: Option<String>,
    text: String,
}

/// A text that expects nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expect `read-only`, words like PURE, OVERWRITE or PURE|READ, three of them like MUTATES|*|CONTENT, or an \
     identity's 16 hex characters"
)]
pub struct NotExpected;

impl FromStr for Expected {
    type Err = NotExpected;

    fn from_str(text: &str) -> Result<Self, NotExpected> {
        let mut expected =
            Self { mutability: None, action: None, output_domain: None, hash: None, text: text.to_owned() };
        if text == "read-only" {
            expected.mutability = Some(Mutability::Pure);
            return Ok(expected);
        }
        if text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            expected.hash = Some(text.to_ascii_lowercase());
            return Ok(expected);
        }
        let words: Vec<&str> = text.split('|').collect();
        if let [mutability, action, domain] = words[..] {
            expected.mutability = place(mutability, Mutability::from_word)?;
            expected.action = place(action, Action::from_word)?;
            expected.output_domain = place(domain, OutputDomain::from_word)?;
        } else {
            for word in words {
                expected.class(word)?;
            }
        }
        let says = expected.mutability.is_some() || expected.action.is_some() || expected.output_domain.is_some();
        if says { Ok(expected) } else { Err(NotExpected) }
    }
}

/// One of three words; `*` takes any.
fn place<T>(word: &str, read: impl Fn(&str) -> Option<T>) -> Result<Option<T>, NotExpected> {
    if word == "*" { Ok(None) } else { read(word).map(Some).ok_or(NotExpected) }
}

impl Expected {
    /// A word that stands alone is looked up in all three lists; UNKNOWN is in two of them and expects nothing.
    fn class(&mut self, word: &str) -> Result<(), NotExpected> {
        if let Some(mutability) = Mutability::from_word(word)
            && self.mutability.is_none()
        {
            self.mutability = Some(mutability);
        } else if let Some(action) = Action::from_word(word)
            && word != Action::Unknown.word()
            && self.action.is_none()
        {
            self.action = Some(action);
        } else if let Some(domain) = OutputDomain::from_word(word)
            && word != OutputDomain::Unknown.word()
            && self.output_domain.is_none()
        {
            self.output_domain = Some(domain);
        } else {
            return Err(NotExpected);
        }
        Ok(())
    }

    /// Whether an identity is an expected one.
    pub fn fits(&self, identity: Identity) -> bool {
        self.mutability.is_none_or(|expected| expected == identity.mutability)
            && self.action.is_none_or(|expected| expected == identity.action)
            && self.output_domain.is_none_or(|expected| expected == identity.output_domain)
            && self.hash.as_ref().is_none_or(|hash| *hash == identity.hash())
    }

    /// The mismatch as a hazard, in the paper's terms; `None` where there is none.
    pub fn mismatch(&self, behavior: &Behavior) -> Option<Hazard> {
        let identity = behavior.identity;
        (!self.fits(identity)).then(|| Hazard {
            kind: HazardKind::UnexpectedBehavior,
            what: format!(
                "the task expects {}, the call's behavioral identity is {} ({identity}): held before dispatch",
                self.text,
                identity.hash(),
            ),
        })
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::{Expected, Identity};

    #[test]
    fn an_expectation_takes_what_it_names_and_nothing_else() {
        for (text, fits, differs) in [
            ("read-only", "PURE|SEARCH|DATA", "MUTATES|CREATE|DATA"),
            ("PURE", "PURE|READ|CONTENT", "MUTATES|UNKNOWN|UNKNOWN"),
            ("OVERWRITE", "MUTATES|OVERWRITE|ACK", "MUTATES|APPEND|ACK"),
            ("PURE|CONTENT", "PURE|READ|CONTENT", "PURE|READ|DATA"),
            ("MUTATES|*|ISSUE", "MUTATES|CREATE|ISSUE", "MUTATES|CREATE|PR"),
            ("MUTATES|OVERWRITE|DATA", "MUTATES|OVERWRITE|DATA", "PURE|READ|DATA"),
        ] {
            let expected: Expected = text.parse().unwrap();
            assert!(expected.fits(fits.parse().unwrap()), "{text} takes {fits}");
            assert!(!expected.fits(differs.parse().unwrap()), "{text} does not take {differs}");
        }
        let identity: Identity = "MUTATES|DELETE|ACK".parse().unwrap();
        let by_hash: Expected = identity.hash().to_uppercase().parse().unwrap();
        assert!(by_hash.fits(identity) && !by_hash.fits(Identity::UNKNOWN));
        for nonsense in ["", "readonly", "pure", "PURE|MUTATES", "*|*|*", "UNKNOWN", "PURE|READ|DATA|X", "READ|READ"] {
            assert!(nonsense.parse::<Expected>().is_err(), "{nonsense:?}");
        }
    }
}
