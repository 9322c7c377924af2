//! What a tool's own words say of its arguments: read once for its definition, not again for each call of it.

use std::sync::OnceLock;

use serde_json::{Map, Value};

use super::key::Key;
use super::language::Spoken;
use crate::behavior::words;
use crate::mcp::tool::Tool;

/// How many declared names are read ahead.
const MOST_KEYS: usize = 64;
/// How many other names are kept once a call had them: calls of one tool repeat the same few names.
const MOST_LEARNT: usize = 16;
/// Words of a tool's name that say that its queries are words to look for.
const SEARCHES: &str = "search searches find finds lookup autocomplete suggest docs doc documentation";

/// What the words of one definition say.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// What the tool says it speaks.
    pub(super) spoken: Spoken,
    /// Whether its name says that its queries are words to look for.
    pub(super) searches: bool,
    keys: Vec<(String, Key)>,
    learnt: [OnceLock<(Box<str>, Key)>; MOST_LEARNT],
}

impl Said {
    /// Reads a definition.
    pub fn of(tool: &Tool) -> Self {
        let declared = tool.input_schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
        Self {
            spoken: Spoken::of(tool),
            searches: words::of_name(&tool.name).iter().any(|word| words::among(word, SEARCHES)),
            learnt: Default::default(),
            keys: declared.take(MOST_KEYS).map(|name| (name.clone(), Key::of(name))).collect(),
        }
    }

    /// What a name says.
    pub(super) fn key(&self, name: &str) -> Key {
        if let Some((_, key)) = self.keys.iter().find(|(known, _)| known == name) {
            return *key;
        }
        for slot in &self.learnt {
            let (known, key) = slot.get_or_init(|| (name.into(), Key::of(name)));
            if **known == *name {
                return *key;
            }
        }
        Key::of(name)
    }
}
