//! Which objects and lists of the arguments are folded to one line. Owns no layout.

use std::collections::BTreeSet;

use super::json::Extent;

/// A container is folded at first if it lies deeper than this many levels, …
const DEEPEST: usize = 4;
/// … or is longer than a screen: it has more members, …
const MOST_MEMBERS: usize = 40;
/// … or more bytes than this.
const MOST_BYTES: usize = 4096;

/// What is folded. A container is named by the byte it begins at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folds {
    base: Base,
    /// The containers that the operator has folded or unfolded since.
    turned: BTreeSet<usize>,
}

/// What is folded before the operator changes anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Base {
    /// What is deep or long is folded.
    #[default]
    Brief,
    Open,
}

/// The state of one container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    Open,
    Closed,
}

/// A row that folds or unfolds a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    pub row: usize,
    /// The byte that the container begins at.
    pub at: usize,
    pub fold: Fold,
}

impl Folds {
    /// Nothing is folded.
    pub fn open() -> Self {
        Self { base: Base::Open, turned: BTreeSet::new() }
    }

    /// Whether a container of this extent is folded at this depth; members of the arguments themselves have depth 1.
    pub fn of(&self, at: usize, depth: usize, extent: Extent) -> Fold {
        let long = extent.entries > MOST_MEMBERS || extent.bytes > MOST_BYTES;
        let brief = self.base == Base::Brief && (depth > DEEPEST || long);
        if brief == self.turned.contains(&at) { Fold::Open } else { Fold::Closed }
    }

    /// Folds what is open, unfolds what is folded.
    pub fn turn(&mut self, at: usize) {
        if !self.turned.remove(&at) {
            self.turned.insert(at);
        }
    }
}
