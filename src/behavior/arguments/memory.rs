//! Caches how short texts in calls of one tool were read: agents name the same file, repository, table or address all
//! day, so each such text is read once for its parameter. Owns the bound; reads no text, and holds only texts without
//! any finding. It also keeps the last call's arguments, whose allocations the next call's reuse.

use serde_json::Value;

/// How many texts are remembered, and how many bytes each may have together with its name.
const MOST: usize = 32;
const LONGEST: usize = 256;
/// Calls of more JSON neither use a memory nor add to one: in shorter ones no text can come too late to be searched for secrets.
pub const LONGEST_CALL: usize = 64 * 1024;
/// Arguments of more JSON are not kept.
const LONGEST_KEPT: usize = 4 * 1024;

/// The texts of one tool's top parameters whose reading gave an explanation and nothing else. It is for one definition
/// of the tool; the gate keeps one for each.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    texts: Vec<Remembered>,
    /// The oldest, once there is no room for more.
    next: usize,
    /// The arguments of the last call, only so that the next ones reuse their allocations.
    arguments: Value,
}

/// One text under one name, kept whole: two texts could share a digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Remembered {
    /// The name and, right behind it, the text.
    both: Box<str>,
    name: usize,
    pub(super) kind: &'static str,
    pub(super) cost: Cost,
}

/// What one reading took from the budgets of its call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// Bytes of text.
    pub(super) text: usize,
    pub(super) leaves: usize,
    /// Nodes of the schema.
    pub(super) schema: usize,
}

impl Remembered {
    /// A text that was explained as this; `None` where it is too long to be kept.
    pub(super) fn new(name: &str, text: &str, kind: &'static str, cost: Cost) -> Option<Self> {
        let fits = name.len() + text.len() <= LONGEST;
        fits.then(|| Self { both: [name, text].concat().into(), name: name.len(), kind, cost })
    }
}

impl Memory {
    /// What was read of this very text under this very name.
    pub(super) fn find(&self, name: &str, text: &str) -> Option<&Remembered> {
        let is_it = |one: &&Remembered| {
            one.name == name.len()
                && one.both.len() == name.len() + text.len()
                && one.both.as_bytes().ends_with(text.as_bytes())
                && one.both.as_bytes().starts_with(name.as_bytes())
        };
        self.texts.iter().find(is_it)
    }

    /// Whether this text under this name is known to have no finding.
    pub fn knows(&self, name: &str, text: &str) -> bool {
        self.find(name, text).is_some()
    }

    /// Takes the arguments that were kept; null where there are none.
    pub fn take_arguments(&mut self) -> Value {
        self.arguments.take()
    }

    /// Keeps the arguments of a call, of so many bytes of JSON.
    pub fn keep_arguments(&mut self, arguments: Value, bytes: usize) {
        if bytes <= LONGEST_KEPT {
            self.arguments = arguments;
        }
    }

    /// Keeps what was read, in the place of what is oldest.
    pub(super) fn keep(&mut self, read: Remembered) {
        if self.texts.len() < MOST {
            self.texts.push(read);
        } else if let Some(oldest) = self.texts.get_mut(self.next) {
            *oldest = read;
            self.next = (self.next + 1) % MOST;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cost, LONGEST, MOST, Memory, Remembered};

    fn remembered(name: &str, text: &str) -> Remembered {
        Remembered::new(name, text, "a path", Cost::default()).unwrap()
    }

    #[test]
    fn a_text_is_known_under_its_own_name_alone_and_for_a_bounded_time() {
        let mut memory = Memory::default();
        memory.keep(remembered("path", "a/b"));
        assert!(memory.knows("path", "a/b"));
        for (name, text) in
            [("pat", "ha/b"), ("patha", "/b"), ("path", "a/c"), ("path", "a/"), ("Path", "a/b"), ("", "")]
        {
            assert!(!memory.knows(name, text), "{name} {text}");
        }
        (0..MOST).for_each(|n| memory.keep(remembered("n", &n.to_string())));
        assert!(!memory.knows("path", "a/b"), "the oldest makes room");
        assert!((0..MOST).all(|n| memory.knows("n", &n.to_string())));
        assert_eq!(Remembered::new("n", &"x".repeat(LONGEST), "a path", Cost::default()), None);
    }
}
