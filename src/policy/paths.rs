//! Where paths lead on the disk, as the shell has looked it up: data for `under`. Asks the disk nothing.

use std::collections::BTreeMap;

/// What is known of where paths lead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Paths {
    /// Nothing was asked: `under` goes by the words alone. For examples in a file and for calls of the past; never for a
    /// call that may run.
    #[default]
    Words,
    /// By the text of the argument, or the absolute folder of a rule: the absolute path with every link followed. `None`
    /// where that could not be found out. The same goes for what is not in the map.
    Followed(BTreeMap<String, Option<String>>),
}

impl Paths {
    /// Where a path leads; `None` where that is not known.
    pub fn real(&self, text: &str) -> Option<&str> {
        match self {
            Self::Words => None,
            Self::Followed(found) => found.get(text)?.as_deref(),
        }
    }
}
