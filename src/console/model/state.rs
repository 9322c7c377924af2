//! Everything the console knows and shows: a part for each screen, the open question, what was drawn. Only update changes it.

use std::collections::HashMap;
use std::mem::{Discriminant, discriminant};
use std::path::PathBuf;

use super::batch::Batch;
use super::call::{Armed, CallKey, Drawn, Reading, Shown};
use super::lists::{
    ActivityPage, Connected, Incompatible, ListState, LogPage, Lost, RulesPage, ServersPage, Sought, ToolsPage,
};
use super::places::Places;
use super::queue::Queue;
use super::rule::{Review, RuleMaker};
use super::settings::Settings;
use crate::console::card::{Card, Details};
use crate::console::keymap::{Key, Place};
use crate::home::places::under;
use crate::link::client::ClientEvent;
use crate::link::message::{Around, FromConsole, WitnessNews};
use crate::operator::found::{Before, Finding, LogRequest};
use crate::operator::pinned::{PinReview, ReviewDone};
use crate::operator::rule_book::{Except, RuleChange};
use crate::policy::Pending;
use crate::text::row::{Row, ours, warn};
use crate::wire::Digest;

#[derive(Clone, Debug)]
pub enum Msg {
    Key(Key),
    Paste(String),
    // The next event of the keyboard waited this many milliseconds while the console was busy: that was no pause.
    Late(i64),
    // Keys were thrown away: see `Command::Drain`.
    Drained,
    Resize(u16, u16),
    Tick,
    // A frame of this size was drawn from the model as it is.
    Drawn(u16, u16),
    Link(ClientEvent),
    Found(Finding),
    Click(u16, u16),
    Wheel(Turn, u16, u16),
    Edited { armed: Armed, outcome: Edit },
    // A rule was written to this file, or why it was not.
    RuleWritten(Result<String, String>),
    // What was done to the rules, or why nothing was.
    RulesChanged(Result<String, String>),
    RuleEdited { id: String, file: PathBuf, outcome: Edit },
    PinsReviewed(Result<ReviewDone, String>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    Up,
    Down,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    Unchanged,
    Text(String),
    /// It could not be run, or failed: why.
    Failed(String),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    Send { session: String, message: FromConsole },
    OpenEditor { armed: Armed, text: String },
    // Adds this text to the operator's policy file, and excepts its calls from the rule that asks for them.
    WriteRule { toml: String, except: Option<Except> },
    ChangeRules(RuleChange),
    // Opens a rule of the operator's own file in the editor, and changes it to what that leaves.
    EditRule { id: String, file: PathBuf },
    ReviewPins(PinReview),
    // Throws away keys that were typed before the screen changed; `Msg::Drained` says if there were any.
    Drain,
    // Calls the operator: by the bell, and by a notice where there is one.
    Bell,
    Look(LogRequest),
    Copy(String),
    Suspend,
    Quit,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Screen {
    #[default]
    Queue,
    Detail,
    Activity,
    Log,
    Tools,
    Rules,
    Servers,
}

#[derive(Clone, Debug)]
pub enum Overlay {
    Help { top: usize, under: Option<Box<Overlay>> },
    Confirm { armed: Armed, reading: Reading },
    Word { armed: Armed, reading: Reading, text: String },
    // Why these calls are denied; `offered` is the earlier reason on show, 1 the last.
    Reason { members: Vec<Armed>, text: String, offered: usize },
    Batch(Batch),
    Rule(RuleMaker),
    Review(Review),
    Find { text: String },
    // Writing a search; Esc brings back the one before.
    Search { text: String, before: String, sought: Sought },
    Palette { text: String, at: usize },
    Leave,
    Unreadable { armed: Armed, text: String, problem: String },
}

impl Overlay {
    pub(in crate::console) fn text_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Word { text, .. }
            | Self::Reason { text, .. }
            | Self::Find { text }
            | Self::Search { text, .. }
            | Self::Palette { text, .. } => Some(text),
            _ => None,
        }
    }

    pub(in crate::console) fn is_whole(&self) -> bool {
        matches!(self, Self::Help { .. } | Self::Batch(_) | Self::Rule(_) | Self::Review(_))
    }
}

#[derive(Debug, Default)]
pub struct Model {
    /// The commands of this update so far, to be carried out after it.
    pub(in crate::console) todo: Vec<Command>,
    pub settings: Settings,
    pub size: (u16, u16),
    pub now: i64,
    pub screen: Screen,
    pub overlay: Option<Overlay>,
    /// One line for the operator, until the next key.
    pub note: Option<Row>,
    /// When the note disappears by itself, in milliseconds since 1970.
    pub note_until: Option<i64>,
    pub wrappers: Vec<Connected>,
    pub incompatible: Vec<Incompatible>,
    /// Until when `u` takes the rule that was just written back on every screen, in milliseconds since 1970.
    pub undo_until: Option<i64>,
    /// Calls whose wrapper was killed, until the operator dismisses their banner.
    pub lost: Vec<Lost>,
    /// Servers that ended although their host still needed them, and how, until the operator dismisses their banner.
    pub crashed: Vec<(String, String)>,
    pub trouble: Option<String>,
    /// On a desk: who and what is there.
    pub around: Around,
    pub witness: WitnessNews,
    pub places: Places,
    pub queue: Queue,
    pub card: CardView,
    pub activity: ActivityPage,
    pub log: LogPage,
    pub tools: ToolsPage,
    pub rules: RulesPage,
    pub servers: ServersPage,
    pub trials: u64,
    /// When the log reader was last asked for each kind of thing, in milliseconds since 1970.
    pub asked: HashMap<Discriminant<LogRequest>, i64>,
    /// `g` was pressed once.
    pub half_typed: Option<Key>,
    pub drawn: Option<Drawn>,
    /// Since when a frame has shown what keys answer now, with no key pressed.
    pub untouched: Option<i64>,
    /// When the last key came that was refused, or ignored after one.
    pub ignored: Option<i64>,
}

#[derive(Debug, Default)]
pub struct CardView {
    pub laid: Option<Card>,
    pub details: Details,
    pub scroll: usize,
    pub shown: Shown,
    /// Where in the arguments the operator last folded something: the byte it begins at.
    pub fold_at: Option<usize>,
    pub sought: String,
    pub found: Option<usize>,
    /// What was decided of calls of its tool, and when that was last asked for, of which server and tool.
    pub before: Option<Before>,
    pub asked_before: Option<(String, String, i64)>,
    /// When what the call would touch was last looked at again.
    pub looked_at: i64,
}

/// The list of a screen, borrowed in a way; `None` for the card.
macro_rules! list_of {
    ($model:ident, $screen:ident, $($borrow:tt)+) => {
        match $screen {
            Screen::Detail => None,
            Screen::Queue => Some($($borrow)+ $model.queue.filter),
            Screen::Activity => Some($($borrow)+ $model.activity.list),
            Screen::Log => Some($($borrow)+ $model.log.list),
            Screen::Tools => Some($($borrow)+ $model.tools.list),
            Screen::Rules => Some($($borrow)+ $model.rules.list),
            Screen::Servers => Some($($borrow)+ $model.servers.list),
        }
    };
}

impl Model {
    pub fn new(settings: Settings, size: (u16, u16)) -> Self {
        Self { settings, size, ..Self::default() }
    }

    /// A hint of ours, with `--home` and its folder in every command line in it.
    pub(in crate::console) fn hint(&self, hint: &str) -> String {
        under(self.settings.root.as_deref(), hint)
    }

    pub fn place(&self) -> Place {
        match (&self.overlay, self.screen) {
            (Some(Overlay::Help { .. }), _) => Place::Help,
            (Some(Overlay::Confirm { .. }), _) => Place::Confirm,
            (Some(Overlay::Word { .. }), _) => Place::Word,
            (Some(Overlay::Reason { .. }), _) => Place::Reason,
            (Some(Overlay::Unreadable { .. }), _) => Place::Unreadable,
            (Some(Overlay::Batch(_)), _) => Place::Batch,
            (Some(Overlay::Rule(_)), _) => Place::Rule,
            (Some(Overlay::Review(_)), _) => Place::Review,
            (Some(Overlay::Find { .. }), _) => Place::Find,
            (Some(Overlay::Leave), _) => Place::Leave,
            (Some(Overlay::Search { .. }), _) => Place::Search,
            (Some(Overlay::Palette { .. }), _) => Place::Palette,
            (None, Screen::Log) => Place::Log,
            (None, Screen::Tools) => Place::Tools,
            (None, Screen::Rules) => Place::Rules,
            (None, Screen::Servers) => Place::Servers,
            (None, Screen::Queue) => Place::Queue,
            (None, Screen::Detail) => Place::Detail,
            (None, Screen::Activity) => Place::Activity,
        }
    }

    pub fn list(&self, screen: Screen) -> Option<&ListState> {
        list_of!(self, screen, &)
    }

    pub fn list_mut(&mut self, screen: Screen) -> Option<&mut ListState> {
        list_of!(self, screen, &mut)
    }

    /// Changes of policy files that wait, each with a session that can accept it; without wrappers those of the files, with "".
    pub fn pending(&self) -> impl Iterator<Item = (&str, &Pending)> {
        let of_wrappers = self
            .wrappers
            .iter()
            .flat_map(|one| one.status.pending.iter().map(|pending| (one.wrapper.session.as_str(), pending)));
        let of_files = self.rules.book.iter().filter(|_| self.wrappers.is_empty()).flat_map(|book| &book.pending);
        of_wrappers.chain(of_files.map(|pending| ("", pending)))
    }

    /// Something was changed from here: everything that is asked for regularly is due now.
    pub(in crate::console) fn ask_again(&mut self) {
        self.asked.retain(|request, _| *request == discriminant(&LogRequest::Recent));
    }

    pub(in crate::console) fn next_trial(&mut self) -> u64 {
        self.trials += 1;
        self.trials
    }

    /// Sends its wrapper a message about the call that was armed, with the bytes that were shown.
    pub(in crate::console) fn send(&mut self, armed: &Armed, message: impl FnOnce(String, Digest) -> FromConsole) {
        let CallKey { session, ticket } = armed.key().clone();
        self.todo.push(Command::Send { session, message: message(ticket, armed.digest()) });
    }

    /// Says one thing to the operator, until the next key.
    pub(in crate::console) fn say(&mut self, words: impl Into<String>) {
        (self.note, self.note_until) = (Some(ours(words)), None);
    }

    /// The same, for something that the operator did not expect.
    pub(in crate::console) fn warn(&mut self, words: impl Into<String>) {
        (self.note, self.note_until) = (Some(warn(words)), None);
    }

    /// Says for a few seconds why a key was refused. What is typed behind it is ignored until a pause.
    pub(in crate::console) fn refuse(&mut self, words: impl Into<String>) {
        self.warn(words);
        self.note_until = Some(self.now + 4_000);
        self.ignore_keys();
    }

    pub(in crate::console) fn ignore_keys(&mut self) {
        self.ignored = Some(self.now);
    }
}
