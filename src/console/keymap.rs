//! The one table of keys: which key, where, what it does. Help, footer and README are made from it.

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

use Place::{Activity, Confirm, Detail, Help, Queue, Reason, Unreadable};

const CARD: &[Place] = &[Queue, Detail];
const SCREENS: &[Place] = &[Queue, Detail, Activity];

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
        places: CARD,
        help: "Opens the card on the whole screen, or closes it. Never approves.",
    },
    Binding {
        action: Action::Back,
        keys: &[Key::Esc],
        shown: "Esc",
        name: "back",
        places: &[Queue, Detail, Help, Confirm, Reason, Unreadable],
        help: "Goes back one step without deciding anything.",
    },
    Binding {
        action: Action::Down,
        keys: &[Key::Char('j'), Key::Down],
        shown: "j ↓",
        name: "down",
        places: &[Queue, Detail, Activity, Help],
        help: "Moves down: to the next call in the queue, by one line elsewhere.",
    },
    Binding {
        action: Action::Up,
        keys: &[Key::Char('k'), Key::Up],
        shown: "k ↑",
        name: "up",
        places: &[Queue, Detail, Activity, Help],
        help: "Moves up: to the previous call in the queue, by one line elsewhere.",
    },
    Binding {
        action: Action::PageDown,
        keys: &[Key::PageDown],
        shown: "PgDn",
        name: "page",
        places: &[Queue, Detail, Activity, Help],
        help: "Reads on by a page.",
    },
    Binding {
        action: Action::PageUp,
        keys: &[Key::PageUp],
        shown: "PgUp",
        name: "page back",
        places: &[Queue, Detail, Activity, Help],
        help: "Reads back by a page.",
    },
    Binding {
        action: Action::Top,
        keys: &[Key::Home],
        shown: "Home",
        name: "start",
        places: &[Queue, Detail, Activity, Help],
        help: "Goes to the first line.",
    },
    Binding {
        action: Action::Bottom,
        keys: &[Key::End],
        shown: "End",
        name: "end",
        places: &[Queue, Detail, Activity, Help],
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
        action: Action::Help,
        keys: &[Key::Char('?')],
        shown: "?",
        name: "help",
        places: &[Queue, Detail, Activity, Help],
        help: "Shows this table, or closes it.",
    },
    Binding {
        action: Action::Quit,
        keys: &[Key::Char('q'), Key::Ctrl('c')],
        shown: "q",
        name: "quit",
        places: &[Queue, Detail, Activity, Help],
        help: "Leaves the console (Ctrl-C too). Held calls stay held.",
    },
];

/// What a key does at a place; `None` where it does nothing.
pub fn action(key: Key, place: Place) -> Option<Action> {
    BINDINGS
        .iter()
        .find(|binding| binding.keys.contains(&key) && binding.places.contains(&place))
        .map(|binding| binding.action)
}

/// The table for the README.
pub fn markdown() -> String {
    let mut out = String::from("| key | does | where |\n|---|---|---|\n");
    for binding in BINDINGS {
        let keys: Vec<String> = binding.shown.split(' ').map(|key| format!("`{key}`")).collect();
        let places: Vec<&str> = binding.places.iter().map(|place| place.name()).collect();
        out.push_str(&format!("| {} | {} | {} |\n", keys.join(" "), binding.help, places.join(", ")));
    }
    out
}

impl Place {
    /// The name in the README's table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Detail => "card",
            Self::Activity => "activity",
            Self::Help => "help",
            Self::Confirm => "confirmation",
            Self::Reason => "reason",
            Self::Unreadable => "failed edit",
        }
    }
}
