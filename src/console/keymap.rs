//! The one table of keys: which key, where, what it does. Help, footer and README are made from it.

mod bound;

pub use bound::{Conflict, Keys, decides};

/// A key as the terminal reports it, as far as the console cares.
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
    Approve,
    ApproveUnread,
    Deny,
    Confirm,
    Send,
    Edit,
    Open,
    Back,
    Sort,
    Waiting,
    Activity,
    Log,
    Tools,
    Rules,
    Servers,
    Find,
    Palette,
    Run,
    Help,
    Quit,
}

/// Where the operator is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The list of waiting calls, with the selected one's card beside or below.
    Queue,
    /// One card on the whole screen.
    Detail,
    Activity,
    Log,
    Tools,
    Rules,
    Servers,
    /// Writing a search: other keys are text.
    Find,
    /// Choosing a command: other keys are text.
    Palette,
    Help,
    /// Asked whether a dangerous approval is meant.
    Confirm,
    /// Writing the reason of a denial: other keys are text.
    Reason,
    /// Told that the edited arguments cannot be read.
    Unreadable,
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
    /// One sentence for help and README.
    pub help: &'static str,
}

use Place::{Activity, Confirm, Detail, Find, Help, Log, Palette, Queue, Reason, Rules, Servers, Tools, Unreadable};

const CARD: &[Place] = &[Queue, Detail];
const LISTS: &[Place] = &[Activity, Log, Tools, Rules, Servers];
const SCREENS: &[Place] = &[Queue, Detail, Activity, Log, Tools, Rules, Servers];
const SCROLLS: &[Place] = &[Queue, Detail, Activity, Log, Tools, Rules, Servers, Help];

/// The table. The footer names keys in this order as far as there is room.
pub const BINDINGS: &[Binding] = &[
    Binding {
        action: Action::Approve,
        keys: &[Key::Char('a')],
        shown: "a",
        name: "approve",
        places: CARD,
        help: "Approves the call on screen, once its arguments were shown to their end; a dangerous one then asks for y.",
    },
    Binding {
        action: Action::Deny,
        keys: &[Key::Char('d')],
        shown: "d",
        name: "deny",
        places: CARD,
        help: "Denies the call: asks for a reason (it may stay empty), Enter sends it, Esc goes back.",
    },
    Binding {
        action: Action::Confirm,
        keys: &[Key::Char('y')],
        shown: "y",
        name: "yes, approve",
        places: &[Confirm],
        help: "Confirms the approval of a dangerous call.",
    },
    Binding {
        action: Action::Send,
        keys: &[Key::Enter],
        shown: "Enter",
        name: "deny",
        places: &[Reason],
        help: "Sends the denial with its reason.",
    },
    Binding {
        action: Action::Edit,
        keys: &[Key::Char('e')],
        shown: "e",
        name: "edit",
        places: &[Queue, Detail, Unreadable],
        help: "Opens the arguments in $EDITOR; the changed card comes back and waits for a decision of its own.",
    },
    Binding {
        action: Action::Open,
        keys: &[Key::Enter],
        shown: "Enter",
        name: "open",
        places: SCREENS,
        help: "Opens what is selected on the whole screen, or closes it. Never approves.",
    },
    Binding {
        action: Action::Back,
        keys: &[Key::Esc],
        shown: "Esc",
        name: "back",
        places: &[
            Queue, Detail, Activity, Log, Tools, Rules, Servers, Find, Palette, Help, Confirm, Reason, Unreadable,
        ],
        help: "Goes back one step without deciding anything; in a list, drops its search.",
    },
    Binding {
        action: Action::Down,
        keys: &[Key::Char('j'), Key::Down],
        shown: "j ↓",
        name: "down",
        places: SCROLLS,
        help: "Moves down: to the next call in the queue, by one line elsewhere.",
    },
    Binding {
        action: Action::Up,
        keys: &[Key::Char('k'), Key::Up],
        shown: "k ↑",
        name: "up",
        places: SCROLLS,
        help: "Moves up: to the previous call in the queue, by one line elsewhere.",
    },
    Binding {
        action: Action::PageDown,
        keys: &[Key::PageDown],
        shown: "PgDn",
        name: "page",
        places: SCROLLS,
        help: "Reads on by a page.",
    },
    Binding {
        action: Action::PageUp,
        keys: &[Key::PageUp],
        shown: "PgUp",
        name: "page back",
        places: SCROLLS,
        help: "Reads back by a page.",
    },
    Binding {
        action: Action::Top,
        keys: &[Key::Home],
        shown: "Home",
        name: "start",
        places: SCROLLS,
        help: "Goes to the first line.",
    },
    Binding {
        action: Action::Bottom,
        keys: &[Key::End],
        shown: "End",
        name: "end",
        places: SCROLLS,
        help: "Goes to the end of the arguments, then to the end of the card; in Activity, follows what passes.",
    },
    Binding {
        action: Action::ApproveUnread,
        keys: &[Key::Char('A')],
        shown: "A",
        name: "approve unread",
        places: CARD,
        help: "Approves without having read to the end; the record says so. A dangerous call still asks for y.",
    },
    Binding {
        action: Action::Sort,
        keys: &[Key::Char('s')],
        shown: "s",
        name: "sort",
        places: &[Queue],
        help: "Sorts the queue: oldest first, or by risk.",
    },
    Binding {
        action: Action::Find,
        keys: &[Key::Char('/')],
        shown: "/",
        name: "find",
        places: LISTS,
        help: "Searches the list: words, and fields such as tool:write verdict:deny since:1d.",
    },
    Binding {
        action: Action::Palette,
        keys: &[Key::Char(':')],
        shown: ":",
        name: "commands",
        places: SCREENS,
        help: "Lists every command and key by name; Enter does what is chosen, and never decides a call.",
    },
    Binding {
        action: Action::Waiting,
        keys: &[Key::Char('1')],
        shown: "1",
        name: "waiting",
        places: SCREENS,
        help: "Shows the calls that wait.",
    },
    Binding {
        action: Action::Activity,
        keys: &[Key::Char('2')],
        shown: "2",
        name: "activity",
        places: SCREENS,
        help: "Shows everything that passes, live.",
    },
    Binding {
        action: Action::Log,
        keys: &[Key::Char('3')],
        shown: "3",
        name: "log",
        places: SCREENS,
        help: "Shows the audit log; from an open tool, rule or server, its records.",
    },
    Binding {
        action: Action::Tools,
        keys: &[Key::Char('4')],
        shown: "4",
        name: "tools",
        places: SCREENS,
        help: "Shows every tool that is known; from an open record, its tool.",
    },
    Binding {
        action: Action::Rules,
        keys: &[Key::Char('5')],
        shown: "5",
        name: "rules",
        places: SCREENS,
        help: "Shows the rules and what they decided; from an open record, its rule.",
    },
    Binding {
        action: Action::Servers,
        keys: &[Key::Char('6')],
        shown: "6",
        name: "servers",
        places: SCREENS,
        help: "Shows the wrapped servers; from an open record, its server.",
    },
    Binding {
        action: Action::Run,
        keys: &[Key::Enter],
        shown: "Enter",
        name: "go",
        places: &[Find, Palette],
        help: "Keeps the search, or does what is chosen.",
    },
    Binding {
        action: Action::Help,
        keys: &[Key::Char('?')],
        shown: "?",
        name: "help",
        places: SCROLLS,
        help: "Shows this table, or closes it.",
    },
    Binding {
        action: Action::Quit,
        keys: &[Key::Char('q'), Key::Ctrl('c')],
        shown: "q",
        name: "quit",
        places: SCROLLS,
        help: "Leaves the console (Ctrl-C too). Held calls stay held.",
    },
];

/// What a key does at a place by the table itself; `None` where it does nothing.
pub fn action(key: Key, place: Place) -> Option<Action> {
    Keys::default().action(key, place)
}

/// The table for the README.
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
    let others = places.iter().filter(|place| !group.contains(place)).map(|place| place.name());
    name.into_iter().chain(others).collect()
}

impl Place {
    /// The name in the README's table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Detail => "card",
            Self::Activity => "activity",
            Self::Log => "log",
            Self::Tools => "tools",
            Self::Rules => "rules",
            Self::Servers => "servers",
            Self::Find => "search",
            Self::Palette => "commands",
            Self::Help => "help",
            Self::Confirm => "confirmation",
            Self::Reason => "reason",
            Self::Unreadable => "failed edit",
        }
    }
}
