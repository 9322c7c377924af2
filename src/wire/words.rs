//! Closed lists of words, as types: each value has one word, in files, records and on screen. Owns no word.

/// Declares such a type: its values in order, the word of each, and its reading.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $word)] $variant,)* }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Every value with its word, in order.
            pub const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant),)*];

            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The value of a word, exactly as it is written.
            pub fn from_word(word: &str) -> Option<Self> {
                word.parse().ok()
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::wire::words::UnknownWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                match word {
                    $($word => Ok(Self::$variant),)*
                    _ => Err($crate::wire::words::UnknownWord(concat!($($word, " "),*).trim_end())),
                }
            }
        }
    };
}

pub(crate) use words;

/// A word that is not in the list; it carries those that are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is one of: {0}")]
pub struct UnknownWord(pub(crate) &'static str);
