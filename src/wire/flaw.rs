//! Why a text is refused: the closed list of flaws, in words of ours that quote nothing foreign.

/// Why a text is refused, and where in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{flaw} (byte {at})")]
pub struct Fault {
    /// What is wrong.
    pub flaw: Flaw,
    /// The offset of the byte where it shows, from 0.
    pub at: usize,
}

/// What may be wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    #[error("the line is not UTF-8")]
    NotUtf8,
    #[error("the line begins with a byte order mark")]
    ByteOrderMark,
    #[error("the line holds a raw carriage return or another control character")]
    ControlCharacter,
    #[error("the line is not valid JSON")]
    Syntax,
    #[error("a string holds half of a surrogate pair")]
    LoneSurrogate,
    #[error("something follows the JSON value on the same line")]
    Trailing,
    #[error("arrays and objects are nested deeper than 64")]
    TooDeep,
    #[error("an object has the same key twice")]
    DuplicateKey,
    #[error("a key holds a NUL character")]
    NulInKey,
    #[error("a key is one that JSON readers keep for themselves")]
    ReservedKey,
}

impl Flaw {
    /// Whether the text is no JSON at all, rather than JSON that parsers read differently.
    pub fn is_syntax(self) -> bool {
        match self {
            Self::NotUtf8
            | Self::ByteOrderMark
            | Self::ControlCharacter
            | Self::Syntax
            | Self::LoneSurrogate
            | Self::Trailing => true,
            Self::TooDeep | Self::DuplicateKey | Self::NulInKey | Self::ReservedKey => false,
        }
    }
}
