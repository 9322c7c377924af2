//! The one table of keys: which key, where, what it does. Help, footer and `help keys` are made from it.

mod bound;
mod table;

use crate::wire::words::words;
pub use bound::{Conflict, Keys, decides};
use table::LISTS;
pub use table::{BINDINGS, SCREENS};

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

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Down,
    Up,
    PageDown,
    PageUp,
    Top,
    Bottom,
    /// The first line of what is on screen, the last one.
    First,
    Last,
    HalfDown,
    HalfUp,
    Approve,
    ApproveUnread,
    Deny,
    Confirm,
    Send,
    /// The tool reads.
    Reads,
    /// The tool changes something.
    Changes,
    /// Unexplained parameters of the tool are plain text.
    PlainText,
    Edit,
    Open,
    Back,
    Sort,
    NextServer,
    PreviousServer,
    Group,
    Mark,
    MarkAlike,
    /// More time for the call.
    Extend,
    /// The arguments, to the clipboard.
    Copy,
    DenyServer,
    Earlier,
    Later,
    Rule,
    WriteRule,
    /// A digit of a number.
    Number,
    /// A letter: the rule of that scope.
    Scope,
    /// Ends a grant, removes a rule, drops a suggestion.
    End,
    /// Refuses a definition.
    Refuse,
    Undo,
    /// The written policy against the log.
    Replay,
    /// Switches a rule on or off.
    Switch,
    Accept,
    Find,
    Seek,
    NextHit,
    PreviousHit,
    Fold,
    FoldAll,
    NextFold,
    Details,
    Waiting,
    Activity,
    Log,
    Tools,
    Rules,
    Servers,
    Palette,
    Run,
    Help,
    Suspend,
    Quit,
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
    pub keys: &'static [Key],
    /// The keys as they are written.
    pub shown: &'static str,
    /// One or two words for the footer.
    pub name: &'static str,
    pub places: &'static [Place],
    /// One sentence for help.
    pub help: &'static str,
}

/// What a key does at a place by the table itself; `None` where it does nothing.
pub fn action(key: Key, place: Place) -> Option<Action> {
    Keys::default().action(key, place)
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
