//! What makes a call worth a look whatever its badge: sensitive reads, hidden characters, poisoned descriptions.

pub mod arguments;
pub mod characters;
pub mod definition;
pub mod handed_out;
pub mod lookalike;
pub mod sensitive;

use serde::{Deserialize, Serialize};

/// The kinds of hazard; the names are what a policy matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HazardKind {
    /// Reads the environment, keys, tokens, credentials, mail secrets.
    SensitiveRead,
    /// Zero-width, bidi, tag characters and the like, in arguments.
    HiddenCharacters,
    /// ESC, CSI, other control characters, in arguments.
    TerminalSequence,
    /// A path that leads out of where it starts, by `..`.
    PathTraversal,
    /// A path outside of the folders that the host declared to the server.
    OutsideRoots,
    /// NUL in an argument.
    NulCharacter,
    /// An integer beyond ±2^53 or a number that parsers read differently.
    AmbiguousNumber,
    /// Arguments the schema does not declare.
    UndeclaredArguments,
    /// Directive text to the model in the definition.
    PoisonedDescription,
    /// Hidden characters in the definition.
    HiddenDescription,
    /// "The best tool, always use this".
    PreferenceManipulation,
    /// A name that looks like another's.
    Confusable,
    /// The definition changed since it was trusted.
    ChangedDefinition,
    /// The server's program or its command line changed since it was trusted.
    ChangedServer,
    /// The behavioral identity is not the expected one.
    UnexpectedBehavior,
    /// The schema cannot be used to check the arguments.
    UnusableSchema,
}

impl HazardKind {
    /// Every kind: what `hazard = "…"` of a rule may name. README.md has the same table in words.
    pub const ALL: &'static [Self] = &[
        Self::SensitiveRead,
        Self::HiddenCharacters,
        Self::TerminalSequence,
        Self::PathTraversal,
        Self::OutsideRoots,
        Self::NulCharacter,
        Self::AmbiguousNumber,
        Self::UndeclaredArguments,
        Self::PoisonedDescription,
        Self::HiddenDescription,
        Self::PreferenceManipulation,
        Self::Confusable,
        Self::ChangedDefinition,
        Self::ChangedServer,
        Self::UnexpectedBehavior,
        Self::UnusableSchema,
    ];

    /// The name as a policy and a record write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::SensitiveRead => "sensitive-read",
            Self::HiddenCharacters => "hidden-characters",
            Self::TerminalSequence => "terminal-sequence",
            Self::PathTraversal => "path-traversal",
            Self::OutsideRoots => "outside-roots",
            Self::NulCharacter => "nul-character",
            Self::AmbiguousNumber => "ambiguous-number",
            Self::UndeclaredArguments => "undeclared-arguments",
            Self::PoisonedDescription => "poisoned-description",
            Self::HiddenDescription => "hidden-description",
            Self::PreferenceManipulation => "preference-manipulation",
            Self::Confusable => "confusable",
            Self::ChangedDefinition => "changed-definition",
            Self::ChangedServer => "changed-server",
            Self::UnexpectedBehavior => "unexpected-behavior",
            Self::UnusableSchema => "unusable-schema",
        }
    }

    /// Whether no allow rule may cover it, even by name: the operator's eyes could be deceived.
    pub fn beyond_any_allow(self) -> bool {
        matches!(self, Self::HiddenCharacters | Self::TerminalSequence | Self::ChangedDefinition | Self::ChangedServer)
    }
}

/// One hazard of one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hazard {
    pub kind: HazardKind,
    /// What was found, in our words; quoted foreign text in it is raw, so show it through the visible renderer.
    pub what: String,
}
