//! The one table of keys: which key, where, what it does. Help, footer and `help keys` are made from it.

mod bound;
mod table;

use crate::wire::words::words;
pub use bound::{Keys, decides};
pub use table::{Action, BINDINGS, CARD, LISTS, SCREENS};

/// A key that the terminal reports, if the console uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    Char(char),
    Ctrl(char),
    Enter,
    Esc,
    Backspace,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Tab,
}

words! {
    /// Where the operator is, by its name in the table.
    Place {
        /// The list of waiting calls, with the selected one's card beside or below.
        Queue = "queue",
        /// One card on the whole screen.
        Detail = "card",
        Activity = "activity",
        Log = "log",
        Tools = "tools",
        Rules = "rules",
        Servers = "servers",
        /// Writing the search of a list: other keys are text.
        Search = "search",
        /// Choosing a command: other keys are text.
        Palette = "commands",
        Help = "help",
        /// Asked whether a dangerous approval is meant.
        Confirm = "confirmation",
        /// Typing the word that approves a dangerous call: other keys are text.
        Word = "typed word",
        /// Writing the reason of a denial: other keys are text.
        Reason = "reason",
        /// The edited arguments cannot be read.
        Unreadable = "failed edit",
        /// Shown a list of calls that are decided together.
        Batch = "list",
        /// Making a rule from a call.
        Rule = "rule maker",
        /// Reading a change that waits to be accepted.
        Review = "review",
        /// Writing what to find in the card: other keys are text.
        Find = "find",
        /// Asked whether to leave while calls wait.
        Leave = "leaving",
    }
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    pub action: Action,
    pub is: &'static [Is],
    pub keys: &'static [Key],
    /// The keys as they are written.
    pub shown: &'static str,
    /// One or two words for the footer.
    pub name: &'static str,
    pub places: &'static [Place],
    /// One sentence for help.
    pub help: &'static str,
}

/// What limits the keys of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Is {
    /// It ends in a verdict: its key does nothing else anywhere.
    Deciding,
    /// It is for places where other keys are text, so its keys cannot be changed.
    Fixed,
}

/// The table for `mcp-approve help keys`.
pub fn markdown() -> String {
    let mut out = String::from("| key | does | where |\n|---|---|---|\n");
    for binding in BINDINGS {
        let keys: Vec<String> = binding.shown.split(' ').map(|key| format!("`{key}`")).collect();
        let places = place_names(binding.places);
        out.push_str(&format!("| {} | {} | {} |\n", keys.join(" "), binding.help, places.join(", ")));
    }
    out
}

/// Where a key works: all screens, or all lists, in one word.
fn place_names(places: &[Place]) -> Vec<&'static str> {
    let groups = [("every screen", SCREENS), ("every list", LISTS)];
    let all = |group: &[Place]| group.iter().all(|place| places.contains(place));
    let group = groups.into_iter().find(|(_, group)| all(group));
    let (name, group) = group.map_or((None, &[][..]), |(name, group)| (Some(name), group));
    let others = places.iter().filter(|place| !group.contains(place)).map(|place| place.word());
    name.into_iter().chain(others).collect()
}
