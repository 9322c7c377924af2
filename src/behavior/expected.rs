//! What a task expects of the tools it uses, and how a behavior differs: the gate of the behavioral identity paper (section 3.3).

use std::fmt;
use std::str::FromStr;

use super::conclude::Behavior;
use super::evidence::Claim;
use super::hazards::{Hazard, HazardKind};
use super::identity::Identity;
use super::taxonomy::{Action, ContentType, Mutability, OutputDomain};

/// An expectation: one or several alternatives with commas between them, any of which is enough. Each is `read-only`, a
/// class (`PURE`, `READ`, `PURE|READ`, `PURE|*|CONTENT`, `PURE|READ|CONTENT|TEXT`), an identity's 16 hex characters, or
/// `session:ID`: the identities that an earlier session used with approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    any: Vec<Alternative>,
    text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Alternative {
    /// What is named of the four fields.
    Class(Claim),
    /// One of these identities, by their hashes.
    Identities(Vec<String>),
    /// What this session used. It fits nothing until the log was asked ([`Expected::resolve`]).
    Session(String),
}

/// A text that expects nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expect `read-only`, words like PURE, OVERWRITE or PURE|READ, three or four of them like MUTATES|*|CONTENT or \
     PURE|READ|CONTENT|TEXT, an identity's 16 hex characters, `session:ID`, or several of these with commas between them"
)]
pub struct NotExpected;

impl FromStr for Expected {
    type Err = NotExpected;

    fn from_str(text: &str) -> Result<Self, NotExpected> {
        let any = text.split(',').map(|one| alternative(one.trim())).collect::<Result<_, _>>()?;
        Ok(Self { any, text: text.to_owned() })
    }
}

fn alternative(text: &str) -> Result<Alternative, NotExpected> {
    if let Some(session) = text.strip_prefix("session:") {
        let is_id = !session.is_empty() && session.bytes().all(|byte| byte.is_ascii_alphanumeric());
        return if is_id { Ok(Alternative::Session(session.to_owned())) } else { Err(NotExpected) };
    }
    if text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(Alternative::Identities(vec![text.to_ascii_lowercase()]));
    }
    let mut class = Claim::default();
    let words: Vec<&str> = text.split('|').collect();
    match words[..] {
        ["read-only"] => class.mutability = Some(Mutability::Pure),
        [mutability, action, domain, ref rest @ ..] if rest.len() < 2 => {
            class.mutability = place(mutability, Mutability::from_word)?;
            class.action = place(action, Action::from_word)?;
            class.output_domain = place(domain, OutputDomain::from_word)?;
            if let [content_type] = rest {
                class.content_type = place(content_type, ContentType::from_word)?;
            }
        }
        _ => words.into_iter().try_for_each(|word| class.add(word))?,
    }
    if class == Claim::default() { Err(NotExpected) } else { Ok(Alternative::Class(class)) }
}

/// One of the words in their order; `*` takes any.
fn place<T>(word: &str, read: impl Fn(&str) -> Option<T>) -> Result<Option<T>, NotExpected> {
    if word == "*" { Ok(None) } else { read(word).map(Some).ok_or(NotExpected) }
}

impl Claim {
    /// A word without a place is looked up in the first three lists; UNKNOWN is in two of them and expects nothing.
    fn add(&mut self, word: &str) -> Result<(), NotExpected> {
        let is_known = word != Action::Unknown.word() && word != OutputDomain::Unknown.word();
        if let Some(mutability) = Mutability::from_word(word).filter(|_| self.mutability.is_none()) {
            self.mutability = Some(mutability);
        } else if let Some(action) = Action::from_word(word).filter(|_| is_known && self.action.is_none()) {
            self.action = Some(action);
        } else if let Some(domain) = OutputDomain::from_word(word).filter(|_| is_known && self.output_domain.is_none())
        {
            self.output_domain = Some(domain);
        } else {
            return Err(NotExpected);
        }
        Ok(())
    }

    fn fits(&self, identity: Identity, content_type: ContentType) -> bool {
        self.mutability.is_none_or(|expected| expected == identity.mutability)
            && self.action.is_none_or(|expected| expected == identity.action)
            && self.output_domain.is_none_or(|expected| expected == identity.output_domain)
            && self.content_type.is_none_or(|expected| expected == content_type)
    }
}

impl Expected {
    /// Whether an identity, and the kind of content that comes back, are expected ones.
    pub fn fits(&self, identity: Identity, content_type: ContentType) -> bool {
        self.any.iter().any(|one| match one {
            Alternative::Class(class) => class.fits(identity, content_type),
            Alternative::Identities(hashes) => hashes.iter().any(|hash| hash == identity.hash()),
            Alternative::Session(_) => false,
        })
    }

    /// Replaces every `session:ID` by the hashes of the identities that `used` finds of that session.
    pub fn resolve<E>(&mut self, mut used: impl FnMut(&str) -> Result<Vec<String>, E>) -> Result<(), E> {
        for one in &mut self.any {
            if let Alternative::Session(session) = one {
                *one = Alternative::Identities(used(session)?);
            }
        }
        Ok(())
    }

    /// The mismatch as a hazard, in the paper's terms; `None` where there is none.
    pub fn mismatch(&self, behavior: &Behavior) -> Option<Hazard> {
        let Behavior { identity, content_type, .. } = behavior;
        (!self.fits(*identity, *content_type)).then(|| Hazard {
            kind: HazardKind::UnexpectedBehavior,
            what: format!(
                "the task expects {}, the call's behavioral identity is {} ({identity}, content {}): held before dispatch",
                self.text,
                identity.hash(),
                content_type.word(),
            ),
        })
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
