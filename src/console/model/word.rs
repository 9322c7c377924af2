//! The word that is typed to approve a dangerous call, where config.toml asks for one. Owns no decision.

use super::{Armed, Model};

/// What confirms the approval of a dangerous call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confirmation {
    /// `y`.
    #[default]
    Key,
    /// A word of the effect line, typed letter by letter.
    Word,
}

/// Shorter words are typed by mistake, longer ones nobody types.
const LENGTHS: std::ops::RangeInclusive<usize> = 3..=24;

impl Model {
    /// The word to type for this call, from the effect line on its card; `None` once it waits no longer as it was shown.
    pub fn word(&self, armed: &Armed) -> Option<String> {
        let held = self.still(armed)?;
        let laid = self.card.as_ref().filter(|card| std::sync::Arc::ptr_eq(card.snapshot(), &held.snapshot));
        let effect = laid.map_or(held.snapshot.effect.as_str(), crate::console::card::Card::effect);
        Some(word(effect, held.snapshot.about.as_deref().unwrap_or_default(), &held.snapshot.arguments))
    }
}

/// What the call is about, if the effect line has it in a word that can be typed; else the line's first such word.
fn word(effect: &str, about: &str, arguments: &str) -> String {
    let said: Vec<&str> = words(effect).collect();
    let is_keyword = |word: &str| word.bytes().all(|b| b.is_ascii_uppercase());
    // The arguments may be long: they are looked through last.
    let named =
        |word: &&str| !is_keyword(word) && said.iter().skip(1).any(|one| one == word) && arguments.contains(*word);
    let target = words(about).filter(named).last();
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
    use super::word;

    #[test]
    fn the_word_says_what_is_at_stake() {
        for (effect, about, wanted) in [
            ("DELETE on users without WHERE", "DELETE on users without WHERE", "users"),
            ("deletes the folder src and everything in it", "src", "src"),
            ("deletes /home/ada/shop/old.rs (12 lines)", "/home/ada/shop/old.rs", "old.rs"),
            ("DELETE on users without WHERE", "DELETE FROM users", "users"),
            ("replaces something — path = \"notes.md\"", "notes.md", "notes.md"),
            ("runs something — command = \"rm -rf /\"", "rm -rf /", "runs"),
            ("deletes \u{430}dmin.txt", "\u{430}dmin.txt", "deletes"),
            ("удаляет", "", "approve"),
            ("", "x", "approve"),
        ] {
            let arguments = if about.starts_with("DELETE") { "DELETE FROM users" } else { about };
            assert_eq!(word(effect, about, arguments), wanted, "{effect}");
        }
    }
}
