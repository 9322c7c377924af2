//! The commands behind `:`: the table of keys and a few commands without one, found by their letters. Runs nothing.

use super::keymap::{Action, BINDINGS, Binding, SCREENS, decides};
use super::model::Palette;
use super::model::{Model, Screen};

/// What a chosen command does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryAction {
    /// As if its key were pressed.
    Press(Action),
    /// It decides a call, so only its own key does it, on the screen with the call.
    OnlyItsKey(&'static str),
    /// No bell and no notice, or both again.
    Quiet,
    Theme(Palette),
    /// Checks the chain of the log.
    Verify,
    Tour,
    /// A screen with this search.
    Search(Screen, String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub keys: String,
    pub help: String,
    pub action: EntryAction,
}

/// The commands that `text` may mean, the likeliest first; all where it is empty.
pub fn entries(model: &Model, text: &str) -> Vec<Entry> {
    for (word, screen) in SEARCHES {
        if let Some(find) = text.strip_prefix(word).and_then(|rest| rest.strip_prefix(' ')) {
            let (name, keys) = (format!("{word} {find}"), String::new());
            let help = format!("{screen:?} with this search.");
            return vec![Entry { name, keys, help, action: EntryAction::Search(screen, find.trim().to_owned()) }];
        }
    }
    if text.trim().is_empty() {
        return all(model);
    }
    let mut found: Vec<(i32, Entry)> = all(model)
        .into_iter()
        .filter_map(|entry| {
            // Its name counts more than its help.
            let by_name = score(&entry.name, text).map(|score| score * 4);
            by_name.or_else(|| mentions(&entry.help, text).then_some(i32::MIN)).map(|score| (score, entry))
        })
        .collect();
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    found.into_iter().map(|(_, entry)| entry).collect()
}

const SEARCHES: [(&str, Screen); 5] = [
    ("activity", Screen::Activity),
    ("log", Screen::Log),
    ("tools", Screen::Tools),
    ("rules", Screen::Rules),
    ("servers", Screen::Servers),
];

fn all(model: &Model) -> Vec<Entry> {
    let entry = |name: &str, help: &str, action: EntryAction| Entry {
        name: name.to_owned(),
        keys: String::new(),
        help: help.to_owned(),
        action,
    };
    let search =
        |name: &str, help: &str, find: &str| entry(name, help, EntryAction::Search(Screen::Log, find.to_owned()));
    // An action that only answers a question, or continues another, is not a command.
    let goes_on = [Action::Palette, Action::Back, Action::NextHit, Action::PreviousHit];
    let useful = |binding: &&Binding| {
        binding.places.iter().any(|place| SCREENS.contains(place)) && !goes_on.contains(&binding.action)
    };
    let mut entries: Vec<Entry> = BINDINGS
        .iter()
        .filter(useful)
        .map(|binding| Entry {
            name: binding.name.to_owned(),
            keys: model.settings.keys.shown(binding).to_owned(),
            help: binding.help.to_owned(),
            action: if decides(binding.action) {
                EntryAction::OnlyItsKey(binding.name)
            } else {
                EntryAction::Press(binding.action)
            },
        })
        .collect();
    entries.extend([
        entry("quiet", "No bell and no notice until it is chosen again.", EntryAction::Quiet),
        entry("verify", "Checks the chain of the whole log.", EntryAction::Verify),
        search("denied", "What was denied, from the log.", "kind:decision verdict:deny"),
        search("approved by me", "What operators approved, from the log.", "kind:decision verdict:approve by:operator"),
        search("today", "What was decided in the last 24 hours, from the log.", "kind:decision since:1d"),
        search("faults", "What went wrong, from the log.", "kind:fault"),
        entry("theme dark", "Colours for a dark terminal.", EntryAction::Theme(Palette::Colours)),
        entry("theme light", "Colours for a light terminal.", EntryAction::Theme(Palette::Light)),
        entry(
            "theme colour-blind",
            "Blue, yellow and magenta instead of red and green.",
            EntryAction::Theme(Palette::Safe),
        ),
        entry("theme none", "No colours.", EntryAction::Theme(Palette::Monochrome)),
        entry("tour", "Shows the five lines for a first look again.", EntryAction::Tour),
    ]);
    entries
}

/// How well `text` fits: its letters in this order, better at beginnings and side by side. `None` when they are not there.
fn score(name: &str, text: &str) -> Option<i32> {
    let mut score = 0;
    let mut letters = name.char_indices().peekable();
    let mut last: Option<usize> = None;
    for wanted in text.trim().chars().flat_map(char::to_lowercase) {
        let (at, _) = letters.find(|(_, letter)| letter.to_lowercase().eq(std::iter::once(wanted)))?;
        let begins = at == 0 || name[..at].ends_with([' ', '-']);
        let follows = last.is_some_and(|last| last + 1 == at);
        score += 1 + if begins { 6 } else { 0 } + if follows { 4 } else { 0 };
        last = Some(at);
    }
    // If two fit equally well, the shorter one goes first.
    Some(score * 8 - i32::try_from(name.len().min(100)).unwrap_or(0))
}

/// Whether each word of `text` begins a word of this sentence: scattered letters are in every sentence, and Enter would
/// run a command that was not typed.
fn mentions(help: &str, text: &str) -> bool {
    let words = |text: &str| text.to_lowercase().split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let said = words(help);
    words(text).iter().all(|wanted| said.iter().any(|word| word.starts_with(wanted)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(text: &str) -> String {
        entries(&Model::default(), text).first().map(|entry| entry.name.clone()).unwrap_or_default()
    }

    #[test]
    fn a_few_letters_find_what_is_meant() {
        let found: Vec<String> = ["qui", "ver", "thl", "tcb", "log", "sort", "den"].into_iter().map(first).collect();
        assert_eq!(found, ["quit", "verify", "theme light", "theme colour-blind", "log", "sort", "deny"]);
        assert_eq!(first("quiet"), "quiet");
        assert_eq!(first("bell"), "quiet");
        assert_eq!(["zzz", "nosuch", "undoo"].map(first), ["", "", ""]);
    }

    #[test]
    fn no_command_decides_a_call() {
        for entry in entries(&Model::default(), "") {
            if let EntryAction::Press(action) = entry.action {
                assert!(!decides(action), "{}", entry.name);
            }
        }
    }

    #[test]
    fn a_screen_s_name_and_words_are_a_search() {
        let found = entries(&Model::default(), "log tool:write verdict:deny");
        assert_eq!(found[0].action, EntryAction::Search(Screen::Log, "tool:write verdict:deny".into()));
    }
}
