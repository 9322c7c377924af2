//! The answer of one condition: yes, no, or undecided. Decides nothing.

/// Whether a condition holds. Ordered, so that all of several is their minimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holds {
    No,
    /// The argument is missing, or of another type than the condition speaks of.
    Undecided,
    Yes,
}

impl Holds {
    /// Yes where all say yes, no where all say no, undecided otherwise: then an allow does not match, and a deny does.
    pub fn of_every(parts: impl Iterator<Item = Self>) -> Self {
        parts.reduce(|one, other| if one == other { one } else { Self::Undecided }).unwrap_or(Self::Undecided)
    }
}

impl From<bool> for Holds {
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}
