//! What the console knows and shows: wrappers, waiting calls, the selection, the card, what was drawn. Changed by update alone.

mod arming;
mod banners;
pub mod batch;
mod browse;
pub mod figures;
pub mod queue;
mod reading;
pub mod rule;
mod settings;
mod word;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use super::card::{Anchor, Card, Details, Fold};
use super::keymap::{Key, Place};
use super::panel;
use super::screen::{self, Areas, Arrangement, Heights};
use super::update::Command;
use crate::audit::record::VerdictWord;
use crate::gate::data::snapshot::Snapshot;
use crate::home::places::under;
use crate::link::message::{Activity, CallEnd, Status, Wrapper};
use crate::text::row::{Row, ours, warn};

pub use arming::{ARMING, Armed, Drawn, Question, SILENCE, Unarmed};
pub use batch::{Batch, Fate, Listed};
pub use browse::{
    Browse, ListState, Opens, RuleEntry, RuleHits, ServerLine, Sought, Subject, ToolLine, ToolSource, Window,
};
pub use reading::{Seen, Shown};
pub use rule::{Choice, Offer, OpenPage, Review, ReviewOf, RuleMaker, RuleStage};
pub use settings::{Manner, Process, Settings, Tour};
pub use word::Confirmation;

/// Names a held call over all wrappers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallKey {
    pub session: String,
    pub ticket: String,
}

/// A call on the Waiting screen.
#[derive(Clone, Debug)]
pub struct Held {
    pub key: CallKey,
    pub snapshot: Arc<Snapshot>,
    pub state: CallState,
    pub seen: Seen,
    /// Calls with the same number are identical but for their ticket and time.
    pub class: u64,
    /// A hash of what makes a class.
    pub likeness: u64,
}

impl Held {
    /// Whether it waits for a decision.
    pub fn waits(&self) -> bool {
        self.state == CallState::Waiting
    }

    /// Whether nothing can be decided any more.
    pub fn is_over(&self) -> bool {
        matches!(self.state, CallState::Settled(_) | CallState::Gone)
    }
}

/// The state of a call, as this console knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallState {
    Waiting,
    /// This console decided; the wrapper has not answered yet.
    Sent(VerdictWord),
    /// This console sent an edit; the changed card has not come yet.
    EditSent,
    /// Over. It stays on screen only while it is selected.
    Settled(CallEnd),
    /// Over: its wrapper has ended.
    Gone,
}

#[derive(Clone, Debug)]
pub struct Connected {
    pub wrapper: Wrapper,
    pub status: Status,
}

/// A wrapper that speaks another version of our protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incompatible {
    pub name: String,
    pub protocol: u32,
    pub version: String,
}

/// What passed, with the server it passed.
#[derive(Clone, Debug)]
pub struct Passed {
    pub server: String,
    pub session: String,
    pub activity: Activity,
    /// Where this console got it.
    pub source: EntrySource,
}

/// Where an entry of Activity comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntrySource {
    Live,
    /// It passed before this console was there.
    FromLog,
}

/// The order of the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    #[default]
    Oldest,
    Risk,
    /// By the server's name, the oldest first.
    Server,
}

/// Whether identical calls are one row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    #[default]
    Identical,
    Each,
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

/// A question that takes the keys until it is answered.
#[derive(Clone, Debug)]
pub enum Overlay {
    Help {
        top: usize,
    },
    Confirm {
        armed: Armed,
        reading: Reading,
    },
    /// The word that approves a dangerous call is typed.
    Word {
        armed: Armed,
        reading: Reading,
        text: String,
    },
    /// Why these calls are denied; `offered` is the earlier reason on show, 1 the last.
    Reason {
        members: Vec<Armed>,
        text: String,
        offered: usize,
    },
    /// Several calls at once: each is listed.
    Batch(Batch),
    /// A rule is made from a call, or more than the call is granted.
    Rule(RuleMaker),
    /// A change that waits is read.
    Review(Review),
    /// Words to find in the card.
    Find {
        text: String,
    },
    /// Writing a search; Esc brings back the one before.
    Search {
        text: String,
        before: String,
        /// Where the search before came from.
        sought: Sought,
    },
    /// Choosing a command.
    Palette {
        text: String,
        at: usize,
    },
    /// Leaving while calls wait.
    Leave,
    /// The edited text cannot be sent.
    Unreadable {
        armed: Armed,
        text: String,
        problem: String,
    },
}

impl Overlay {
    /// The text that is being written, if any.
    pub(super) fn text_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Word { text, .. }
            | Self::Reason { text, .. }
            | Self::Find { text }
            | Self::Search { text, .. }
            | Self::Palette { text, .. } => Some(text),
            _ => None,
        }
    }
}

/// Whether the operator says they have read what they approve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    Read,
    Unread,
}

#[derive(Debug, Default)]
pub struct Model {
    /// The commands of this update so far, to be carried out after it.
    pub(super) todo: Vec<Command>,
    pub settings: Settings,
    pub size: (u16, u16),
    pub now: i64,
    pub screen: Screen,
    pub overlay: Option<Overlay>,
    /// One line for the operator, until the next key.
    pub note: Option<Row>,
    /// When the note disappears by itself, in milliseconds since 1970.
    pub note_until: Option<i64>,
    pub browse: Browse,
    pub wrappers: Vec<Connected>,
    pub incompatible: Vec<Incompatible>,
    pub trouble: Option<String>,
    /// In order of arrival at this console.
    pub calls: Vec<Held>,
    pub sort: Sort,
    pub grouping: Grouping,
    pub(in crate::console) last_class: u64,
    /// The rows of the queue as they were last laid out.
    laid: queue::Rows,
    laid_is: queue::Laid,
    selected_at: usize,
    /// Calls the operator marked; those that are over no longer count.
    pub marked: BTreeSet<CallKey>,
    pub decisions: figures::Decisions,
    /// Reasons of earlier denials, the last first.
    pub reasons: VecDeque<String>,
    /// What was last looked for in a card.
    pub sought: String,
    /// The row of the card where it was found.
    pub found: Option<usize>,
    pub listed: Option<Listed>,
    pub selected: Option<CallKey>,
    pub picked: Picked,
    /// The call that this console decided last, alone, until its wrapper says what became of it.
    pub confirming: Option<CallKey>,
    /// `g` was pressed once.
    pub half_typed: Option<Key>,
    pub queue_top: usize,
    pub card: Option<Card>,
    pub details: Details,
    /// The first row of the card on screen.
    pub scroll: usize,
    /// The rows of the card that frames have shown.
    pub shown: Shown,
    /// Where in the arguments the operator last folded something: the byte it begins at.
    pub fold_at: Option<usize>,
    pub drawn: Option<Drawn>,
    /// Since when a frame has shown what keys answer now, with no key pressed.
    pub untouched: Option<i64>,
    /// When the last key came that was refused, or ignored after one.
    pub ignored: Option<i64>,
    /// When what the card's call would touch was last looked at again.
    pub looked_at: i64,
    /// Oldest first.
    pub activity: VecDeque<Passed>,
    pub following: Following,
}

/// Who chose the selected call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Picked {
    /// No one: it is the oldest known call, and until it is armed an older one takes its place.
    #[default]
    ByArrival,
    ByOperator,
}

/// Whether Activity follows the newest entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Following {
    #[default]
    Newest,
    /// It stays where the operator looks.
    Stays,
}

impl Model {
    pub fn new(settings: Settings, size: (u16, u16)) -> Self {
        Self { settings, size, ..Self::default() }
    }

    /// A hint of ours, with `--home` and its folder in every command line in it.
    pub(super) fn hint(&self, hint: &str) -> String {
        under(self.settings.root.as_deref(), hint)
    }

    /// Where the operator is, for the table of keys.
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

    pub fn call(&self, key: &CallKey) -> Option<&Held> {
        self.calls.get(self.place_of(key)?)
    }

    pub fn selection(&self) -> Option<&Held> {
        self.call(self.selected.as_ref()?)
    }

    pub fn waiting(&self) -> usize {
        self.calls.iter().filter(|held| held.waits()).count()
    }

    /// Where everything is now.
    pub fn areas(&self) -> Areas {
        let arrangement = match self.screen {
            _ if self.overlay.as_ref().is_some_and(Overlay::is_whole) => Arrangement::Body,
            Screen::Activity | Screen::Log | Screen::Tools | Screen::Rules | Screen::Servers => Arrangement::Body,
            _ if self.calls.is_empty() => Arrangement::Body,
            Screen::Queue => Arrangement::QueueAndCard,
            Screen::Detail => Arrangement::CardAlone,
        };
        let height = |rows: usize| u16::try_from(rows).unwrap_or(u16::MAX);
        let panel = match panel::rows(self).len() {
            0 => 0,
            rows => rows + 1,
        };
        let heights = Heights {
            banners: height(self.banners().len()),
            queue: height(self.queue_lines() + 1),
            panel: height(panel),
            footer: height(self.note_rows().len()),
        };
        screen::areas(self.size, arrangement, heights)
    }

    /// That keys are ignored, and the note, wrapped to the screen's width.
    pub fn note_rows(&self) -> Vec<Row> {
        let width = usize::from(self.size.0);
        let ignored = self.ignores_keys().then(|| warn("Keys are ignored until you pause."));
        let row = match (self.note.clone(), ignored) {
            (Some(note), Some(ignored)) => ignored.ours(" ").joined(note),
            (one, other) => match one.or(other) {
                Some(row) => row,
                None => return Vec::new(),
            },
        };
        ours(" ").joined(row).hung(width, 1)
    }

    /// What a key would fold or unfold: the container chosen last, if it is on screen; otherwise the first folded one
    /// there, otherwise the first one.
    pub fn fold_cursor(&self) -> Option<Anchor> {
        let anchors = self.card.as_ref()?.anchors(self.scroll, self.card_rows());
        let chosen = anchors.iter().find(|anchor| Some(anchor.at) == self.fold_at);
        let folded = || anchors.iter().find(|anchor| anchor.fold == Fold::Closed);
        chosen.or_else(folded).or(anchors.first()).copied()
    }

    /// The rows of the card that fit on the screen.
    pub fn card_rows(&self) -> usize {
        screen::content_rows(self.areas().card)
    }
}
