//! One reason for an identity, with where it comes from.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::identity::Identity;
use super::taxonomy::{Action, ContentType, Mutability, OutputDomain};
use crate::wire::words::words;

words! {
    Source {
        Pinned = "pinned",
        /// Said by our list of well-known servers, for exactly this definition.
        Curated = "curated",
        /// Said by a classifier that the operator asked, which saw the schema alone.
        Outside = "outside",
        /// Said by the tool in the three fields.
        Declared = "declared",
        Annotated = "annotated",
        /// Read off its name by a closed list of verbs.
        Name = "name",
        /// Read off its title, description and parameters by closed lists.
        Description = "description",
        /// Said by a linear model over the definition's words.
        Learned = "learned",
        /// Read off the arguments of this very call.
        Arguments = "arguments",
    }
}

impl Source {
    /// The readers of a definition that share no list.
    pub const VOTERS: [Self; 3] = [Self::Name, Self::Description, Self::Learned];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strength {
    Weak,
    Fair,
    Strong,
}

/// What one piece of evidence says; `None` where it is silent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub mutability: Option<Mutability>,
    pub action: Option<Action>,
    pub output_domain: Option<OutputDomain>,
    pub content_type: Option<ContentType>,
}

impl Claim {
    /// That a tool is this, with the kind of content where that is known.
    pub fn of(identity: Identity, content_type: Option<ContentType>) -> Self {
        let Identity { mutability, action, output_domain } = identity;
        Self { mutability: Some(mutability), action: Some(action), output_domain: Some(output_domain), content_type }
    }

    /// `None` where one of the three words is missing.
    pub fn identity(&self) -> Option<Identity> {
        let (mutability, action, output_domain) = (self.mutability?, self.action?, self.output_domain?);
        Some(Identity { mutability, action, output_domain })
    }

    pub fn identity_words(&self) -> impl Iterator<Item = &'static str> {
        let words = [
            self.mutability.map(|word| word.word()),
            self.action.map(|word| word.word()),
            self.output_domain.map(|word| word.word()),
        ];
        words.into_iter().flatten()
    }
}

/// `PURE READ DATA JSON`, `MUTATES`; empty where it is silent.
impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.identity_words().chain(self.content_type.map(|word| word.word()));
        f.write_str(&words.collect::<Vec<_>>().join(" "))
    }
}

/// `annotated PURE: readOnlyHint: true`, as records have it. Foreign text in it, raw.
impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.source.word())?;
        self.says.identity_words().try_for_each(|word| write!(f, " {word}"))?;
        write!(f, ": {}", self.span)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    pub source: Source,
    pub says: Claim,
    /// The words that prove it, as they are in the definition or the arguments: foreign text.
    pub span: String,
    pub strength: Strength,
}
