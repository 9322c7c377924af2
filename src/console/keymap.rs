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
    Group,
    Mark,
    DenyServer,
    Earlier,
    Later,
    Rule,
    WriteRule,
    Find,
    Seek,
    NextHit,
    PreviousHit,
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
    /// Shown a list of calls that are decided together.
    Batch,
    /// Making a rule from a call.
    Rule,
    /// Writing what to find in the card: other keys are text.
    Find,
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

use Place::{Activity, Batch, Confirm, Detail, Find, Help, Queue, Reason, Rule, Unreadable};

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
        name: "yes",
        places: &[Confirm, Batch],
        help: "Confirms the approval of a dangerous call, or the decision about all listed calls once the list was read.",
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
        action: Action::Rule,
        keys: &[Key::Char('r')],
        shown: "r",
        name: "rule",
        places: CARD,
        help: "Makes a rule from the call: choose how wide, read its text, Enter twice writes it. The call itself waits on.",
    },
    Binding {
        action: Action::WriteRule,
        keys: &[Key::Enter],
        shown: "Enter",
        name: "write it (twice)",
        places: &[Rule],
        help: "Writes the rule on show to the policy file; the first press asks, the second writes.",
    },
    Binding {
        action: Action::Mark,
        keys: &[Key::Char(' ')],
        shown: "space",
        name: "mark",
        places: &[Queue],
        help: "Marks a call, or takes its mark back; a, A and d are then about all marked calls, each listed before y.",
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
        places: &[Queue, Detail, Help, Confirm, Reason, Unreadable, Batch, Rule, Find],
        help: "Goes back one step without deciding anything.",
    },
    Binding {
        action: Action::Down,
        keys: &[Key::Char('j'), Key::Down],
        shown: "j ↓",
        name: "down",
        places: &[Queue, Detail, Activity, Help, Batch, Rule],
        help: "Moves down: to the next call in the queue, by one line elsewhere.",
    },
    Binding {
        action: Action::Up,
        keys: &[Key::Char('k'), Key::Up],
        shown: "k ↑",
        name: "up",
        places: &[Queue, Detail, Activity, Help, Batch, Rule],
        help: "Moves up: to the previous call in the queue, by one line elsewhere.",
    },
    Binding {
        action: Action::PageDown,
        keys: &[Key::PageDown],
        shown: "PgDn",
        name: "page",
        places: &[Queue, Detail, Activity, Help, Batch, Rule],
        help: "Reads on by a page.",
    },
    Binding {
        action: Action::PageUp,
        keys: &[Key::PageUp],
        shown: "PgUp",
        name: "page back",
        places: &[Queue, Detail, Activity, Help, Batch, Rule],
        help: "Reads back by a page.",
    },
    Binding {
        action: Action::Top,
        keys: &[Key::Home],
        shown: "Home",
        name: "start",
        places: &[Queue, Detail, Activity, Help, Batch, Rule],
        help: "Goes to the first line.",
    },
    Binding {
        action: Action::Bottom,
        keys: &[Key::End],
        shown: "End",
        name: "end",
        places: &[Queue, Detail, Activity, Help, Batch, Rule],
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
        places: CARD,
        help: "Finds words in the card, whatever their case.",
    },
    Binding {
        action: Action::Seek,
        keys: &[Key::Enter],
        shown: "Enter",
        name: "find",
        places: &[Find],
        help: "Goes to the next place where the words stand.",
    },
    Binding {
        action: Action::NextHit,
        keys: &[Key::Char('n')],
        shown: "n",
        name: "next",
        places: CARD,
        help: "Goes to the next place that was looked for.",
    },
    Binding {
        action: Action::PreviousHit,
        keys: &[Key::Char('N')],
        shown: "N",
        name: "previous",
        places: CARD,
        help: "Goes to the previous place that was looked for.",
    },
    Binding {
        action: Action::Group,
        keys: &[Key::Char('g')],
        shown: "g",
        name: "group",
        places: &[Queue],
        help: "Shows identical calls as one row that is decided together, or each on its own row.",
    },
    Binding {
        action: Action::DenyServer,
        keys: &[Key::Char('D')],
        shown: "D",
        name: "deny server",
        places: CARD,
        help: "Denies every waiting call of this call's server: asks for a reason, lists them, y sends.",
    },
    Binding {
        action: Action::Earlier,
        keys: &[Key::Up],
        shown: "↑",
        name: "earlier reason",
        places: &[Reason],
        help: "Takes an earlier reason, the last first.",
    },
    Binding {
        action: Action::Later,
        keys: &[Key::Down],
        shown: "↓",
        name: "later reason",
        places: &[Reason],
        help: "Goes back to a later reason.",
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
            Self::Batch => "list",
            Self::Rule => "rule maker",
            Self::Find => "find",
        }
    }
}
