//! What makes a call worth a look whatever its badge: sensitive reads, hidden characters, poisoned descriptions.

pub mod arguments;
pub mod definition;
pub mod lookalike;
pub mod reading;
pub mod sensitive;

use serde::{Deserialize, Serialize};

use crate::wire::words::words;
words! {
    /// The kinds of hazard; the names are what a policy matches.
    HazardKind {
        /// Reads the environment, keys, tokens, credentials, mail secrets.
        SensitiveRead = "sensitive-read",
        /// Zero-width, bidi, tag characters and the like, in arguments.
        HiddenCharacters = "hidden-characters",
        /// ESC, CSI, other control characters, in arguments.
        TerminalSequence = "terminal-sequence",
        /// A path that climbs out of its starting folder, by `..`.
        PathTraversal = "path-traversal",
        /// A path outside of the folders that the host declared to the server.
        OutsideRoots = "outside-roots",
        NulCharacter = "nul-character",
        /// An integer beyond ±2^53 or a number that parsers read differently.
        AmbiguousNumber = "ambiguous-number",
        /// Arguments the schema does not declare.
        UndeclaredArguments = "undeclared-arguments",
        /// Directive text to the model in the definition.
        PoisonedDescription = "poisoned-description",
        /// Hidden characters in the definition.
        HiddenDescription = "hidden-description",
        /// "The best tool, always use this".
        PreferenceManipulation = "preference-manipulation",
        /// A name that looks like another's.
        Confusable = "confusable",
        /// The definition changed since it was trusted.
        ChangedDefinition = "changed-definition",
        /// The server added the tool after its first session, and it is not reviewed yet.
        NewDefinition = "new-definition",
        /// The server's program or its command line changed since it was trusted.
        ChangedServer = "changed-server",
        /// The behavioral identity is not the expected one.
        UnexpectedBehavior = "unexpected-behavior",
        /// The arguments do not fit the schema, and such calls are not refused here.
        SchemaMismatch = "schema-mismatch",
        /// The schema cannot be used to check the arguments.
        UnusableSchema = "unusable-schema",
        /// The arguments are more than is read.
        UnreadArguments = "unread-arguments",
        /// A member beside the arguments that no revision of the protocol has.
        UnknownPart = "unknown-part",
        /// It leaves for a host, and the model has read a private key or an instruction before.
        AfterReading = "after-reading",
        /// A secret comes again where nothing says that it is one: records replace it there, too.
        RepeatedSecret = "repeated-secret",
    }
}

impl HazardKind {
    /// Whether the words of a definition are the hazard, whoever calls the tool and with what.
    pub fn is_of_definition(self) -> bool {
        matches!(self, Self::PoisonedDescription | Self::HiddenDescription | Self::PreferenceManipulation)
    }

    /// Whether no allow rule may cover it, even by name: the operator's eyes could be deceived.
    pub fn beyond_any_allow(self) -> bool {
        matches!(
            self,
            Self::HiddenCharacters
                | Self::TerminalSequence
                | Self::ChangedDefinition
                | Self::ChangedServer
                | Self::UnreadArguments
        )
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hazard {
    pub kind: HazardKind,
    /// What was found, in our words; quoted foreign text in it is raw, so show it through the visible renderer.
    pub what: String,
}
