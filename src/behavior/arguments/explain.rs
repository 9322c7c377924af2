//! How each leaf of one call's arguments is explained: by a closed kind that shows that it can do nothing more than be read.
//! A call with a leaf that no kind explains asks.

/// How the leaves of one call's arguments were explained. Memory is bounded, whatever the call holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// The first leaves, in their order.
    pub leaves: Vec<Leaf>,
    /// How many more leaves were explained.
    pub more: usize,
    /// The first leaves that are not explained.
    pub unexplained: Vec<Unexplained>,
}

/// One leaf that a closed kind explains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// JSON Pointer: foreign text, raw.
    pub pointer: String,
    /// The kind in our own words: `a number`, `one SELECT (SQL)`.
    pub kind: String,
}

/// One leaf that no kind explains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unexplained {
    /// JSON Pointer: foreign text, raw.
    pub pointer: String,
    /// Why not, in our own words: `it begins with "-", so it may be an option`.
    pub why: String,
}

impl Explanation {
    /// Whether every leaf is explained.
    pub fn holds(&self) -> bool {
        self.unexplained.is_empty()
    }

    /// The first leaf that is not explained.
    pub fn first_unexplained(&self) -> Option<&Unexplained> {
        self.unexplained.first()
    }

    /// All leaves on one line: `path: a path; limit: a number`. Names of arguments in it are foreign text, raw.
    pub fn line(&self) -> String {
        let name = |pointer: &str| pointer.trim_start_matches('/').to_owned();
        let why = self.unexplained.iter().map(|leaf| format!("{}: {}", name(&leaf.pointer), leaf.why));
        let kinds = self.leaves.iter().map(|leaf| format!("{}: {}", name(&leaf.pointer), leaf.kind));
        let mut line = why.chain(kinds).collect::<Vec<_>>().join("; ");
        if self.more > 0 {
            line.push_str(&format!("; {} more", self.more));
        }
        line
    }
}
