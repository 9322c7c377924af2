//! The word that is typed to approve a dangerous call, where config.toml asks for one. Owns no decision.

use std::sync::Arc;

use super::call::{Armed, Held};
use super::state::Model;
use crate::behavior::arguments::reading::{self, Part};
use crate::console::card::Card;

/// How long a word to type may be: shorter words are typed by mistake, and no one types longer ones.
const LENGTHS: std::ops::RangeInclusive<usize> = 3..=24;

impl Model {
    /// Our line on what a call does: as its card has it, if that is laid out.
    pub fn effect_of<'a>(&'a self, held: &'a Held) -> &'a str {
        let laid = self.card.laid.as_ref().filter(|card| Arc::ptr_eq(&card.snapshot, &held.snapshot));
        laid.map_or(held.snapshot.effect.as_str(), Card::effect)
    }

    /// The word to type for this call, from the effect line on its card; `None` once it no longer waits as shown.
    pub fn word(&self, armed: &Armed) -> Option<String> {
        let held = self.still(armed)?;
        let (effect, call) = (self.effect_of(held), &held.snapshot);
        let part = reading::gravest(&call.readings);
        Some(word(effect, part, call.target.as_deref().unwrap_or_default(), &call.arguments))
    }
}

/// What the call acts on, if the effect line has it in a word that can be typed; otherwise the line's first such word.
///
/// For a statement, its reader says what it acts on; otherwise it is a word of the call's target that the arguments
/// contain.
fn word(effect: &str, part: Option<&Part>, about: &str, arguments: &str) -> String {
    let said: Vec<&str> = words(effect).collect();
    let named = |word: &&str| said.iter().skip(1).any(|one| one == word);
    let target = match part {
        Some(part) => words(part.object.as_deref().unwrap_or_default()).filter(named).last(),
        // The arguments may be long: they are looked through last.
        None => words(about).filter(|word| named(word) && arguments.contains(*word)).last(),
    };
    target.or(said.first().copied()).unwrap_or("approve").to_owned()
}

/// The plain words of a text; a file keeps its extension.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let inside = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let typed = |word: &&str| word.bytes().all(|b| b.is_ascii_graphic()) && LENGTHS.contains(&word.len());
    text.split(move |c| !inside(c)).map(|word| word.trim_matches(['.', '-', '_'])).filter(typed)
}

#[cfg(test)]
mod tests {
    use super::{reading, word};
    use crate::behavior::arguments;

    #[test]
    fn the_word_says_what_is_at_stake() {
        for (effect, about, wanted) in [
            ("deletes the folder src and everything in it", "src", "src"),
            ("deletes /home/ada/shop/old.rs (12 lines)", "/home/ada/shop/old.rs", "old.rs"),
            ("replaces something — path = \"notes.md\"", "notes.md", "notes.md"),
            ("runs something — command = \"rm -rf /\"", "rm -rf /", "runs"),
            ("deletes \u{430}dmin.txt", "\u{430}dmin.txt", "deletes"),
            ("удаляет", "", "approve"),
            ("", "x", "approve"),
        ] {
            assert_eq!(word(effect, None, about, about), wanted, "{effect}");
        }
        for (text, wanted) in [
            ("DELETE FROM users -- without", "users"),
            ("SELECT 1; DROP TABLE shop.old; INSERT INTO log VALUES (1)", "shop.old"),
            ("DELETE FROM [users WHERE id = 1]", "DELETE"),
        ] {
            let arguments = serde_json::json!({ "sql": text });
            let readings = arguments::readings(None, &arguments);
            let effect = &readings[0].analysis.says;
            assert_eq!(word(effect, reading::gravest(&readings), effect, text), wanted, "{text}: {effect}");
        }
    }
}
