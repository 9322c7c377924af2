//! Remembers short texts in calls of one tool that had no hazard: agents name the same file, repository or address all day,
//! so each such text is searched once for its parameter. Owns the bound; searches no text. It also keeps the last call's
//! arguments, whose allocations the next call's reuse.

use serde_json::Value;

/// How many texts are remembered, and how many bytes each may have together with its name.
const MOST: usize = 32;
const LONGEST: usize = 256;
/// Calls of more JSON neither use a memory nor add to one: in shorter ones no text can come too late to be searched for secrets.
pub const LONGEST_CALL: usize = 64 * 1024;
/// Arguments of more JSON are not kept.
const LONGEST_KEPT: usize = 4 * 1024;

/// The texts of one tool's top parameters in calls without a hazard. It is for one definition of the tool; the gate keeps one for
/// each.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Each name and its text, kept whole: two texts could share a digest.
    texts: Vec<(Box<str>, Box<str>)>,
    /// The oldest, once there is no room for more.
    next: usize,
    /// The arguments of the last call, only so that the next ones reuse their allocations.
    arguments: Value,
}

impl Memory {
    /// Whether this text under this name is known to have no hazard.
    pub fn knows(&self, name: &str, text: &str) -> bool {
        self.texts.iter().any(|(known, same)| **same == *text && **known == *name)
    }

    /// Remembers the texts at the top of a call that has no hazard, in the place of those that are oldest.
    pub fn learn(&mut self, arguments: &Value) {
        for (name, field) in arguments.as_object().into_iter().flatten() {
            let Some(text) = field.as_str().filter(|text| name.len() + text.len() <= LONGEST) else { continue };
            if self.knows(name, text) {
                continue;
            }
            let both = (name.as_str().into(), text.into());
            if self.texts.len() < MOST {
                self.texts.push(both);
            } else if let Some(oldest) = self.texts.get_mut(self.next) {
                *oldest = both;
                self.next = (self.next + 1) % MOST;
            }
        }
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
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{LONGEST, MOST, Memory};

    #[test]
    fn a_text_is_known_under_its_own_name_alone_and_for_a_bounded_time() {
        let mut memory = Memory::default();
        memory.learn(&json!({ "path": "a/b", "deep": { "path": "c" }, "long": "x".repeat(LONGEST) }));
        assert!(memory.knows("path", "a/b"));
        for (name, text) in [("pat", "ha/b"), ("path", "a/c"), ("Path", "a/b"), ("path", "c"), ("", "")] {
            assert!(!memory.knows(name, text), "{name} {text}");
        }
        assert!(!memory.knows("long", &"x".repeat(LONGEST)));
        (0..MOST).for_each(|n| memory.learn(&json!({ "n": n.to_string() })));
        assert!(!memory.knows("path", "a/b"), "the oldest makes room");
        assert!((0..MOST).all(|n| memory.knows("n", &n.to_string())));
    }
}
