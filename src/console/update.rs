//! Changes the model: a message goes in, commands come out. Pure; time is an argument.

mod batch;
mod decide;
mod edit;
mod find;
mod heard;
mod moves;
mod rule;

use super::client::ClientEvent;
use super::keymap::{Action, Key, Place, action};
use super::model::{Armed, CallKey, Held, Model, Overlay, Screen, Standing};
use super::row::{Row, Tone};
use crate::link::message::FromConsole;

/// What happened.
#[derive(Clone, Debug)]
pub enum Msg {
    Key(Key),
    /// Text that came at once, not from a finger.
    Paste(String),
    Resize(u16, u16),
    /// Time passed.
    Tick,
    /// A frame of this size was drawn from the model as it is.
    Drawn(u16, u16),
    Link(ClientEvent),
    /// The editor came back.
    Edited {
        armed: Armed,
        outcome: Edit,
    },
    /// A rule was written to this file, or why it was not.
    RuleWritten(Result<String, String>),
}

/// What the editor left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    Unchanged,
    Text(String),
    /// It could not be run, or failed: why.
    Failed(String),
}

/// What is to be done outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    Send {
        session: String,
        message: FromConsole,
    },
    /// Opens this text in the operator's editor.
    OpenEditor {
        armed: Armed,
        text: String,
    },
    /// Adds this text to the operator's policy file.
    WriteRule {
        toml: String,
    },
    /// Throws away keys that were typed before the screen changed.
    Drain,
    Bell,
    Quit,
}

/// Takes one message. `now` is milliseconds since 1970.
#[must_use]
pub fn update(model: &mut Model, now: i64, msg: Msg) -> Vec<Command> {
    model.now = now;
    let commands = match msg {
        Msg::Key(key) => pressed(model, key),
        Msg::Paste(text) => pasted(model, &text),
        Msg::Resize(width, height) => {
            model.size = (width, height);
            Vec::new()
        }
        Msg::Tick => Vec::new(),
        Msg::Drawn(width, height) => {
            model.drew((width, height));
            return Vec::new();
        }
        Msg::Link(event) => heard::heard(model, event),
        Msg::Edited { armed, outcome } => edit::edited(model, armed, outcome),
        Msg::RuleWritten(outcome) => rule::written(model, outcome),
    };
    moves::settle(model);
    commands
}

fn pressed(model: &mut Model, key: Key) -> Vec<Command> {
    model.note = None;
    if key == Key::Ctrl('c') {
        return vec![Command::Quit];
    }
    let place = model.place();
    match action(key, place) {
        Some(action) => act(model, action),
        None if matches!(place, Place::Reason | Place::Find) => decide::typed(model, key),
        None => Vec::new(),
    }
}

fn act(model: &mut Model, action: Action) -> Vec<Command> {
    match action {
        Action::Approve => return decide::approve(model),
        Action::ApproveUnread => return decide::approve_unread(model),
        Action::Deny => return decide::deny(model),
        Action::Confirm => return decide::confirm(model),
        Action::Send => return decide::send_denial(model),
        Action::Edit => return edit::open(model),
        Action::Quit => return vec![Command::Quit],
        Action::Down | Action::Up | Action::PageDown | Action::PageUp | Action::Top | Action::Bottom => {
            moves::go(model, action);
        }
        Action::Open => moves::open(model),
        Action::Back => moves::back(model),
        Action::Sort => moves::sort(model),
        Action::Group => batch::regroup(model),
        Action::Mark => batch::mark(model),
        Action::DenyServer => batch::deny_server(model),
        Action::Earlier | Action::Later => decide::recall(model, action),
        Action::Rule => rule::open(model),
        Action::WriteRule => return rule::enter(model),
        Action::Find => find::open(model),
        Action::Seek => find::seek(model),
        Action::NextHit | Action::PreviousHit => find::again(model, action),
        Action::Waiting => model.screen = Screen::Queue,
        Action::Activity => model.screen = Screen::Activity,
        Action::Help => {
            model.overlay = match model.overlay {
                Some(Overlay::Help { .. }) => None,
                _ => Some(Overlay::Help { top: 0 }),
            };
        }
    }
    Vec::new()
}

/// A paste decides nothing; where text is written it is text.
fn pasted(model: &mut Model, text: &str) -> Vec<Command> {
    match &mut model.overlay {
        Some(Overlay::Reason { text: written, .. } | Overlay::Find { text: written }) => {
            written.extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }));
        }
        _ => note(model, Tone::Warn, "A paste decides nothing; press the key itself."),
    }
    Vec::new()
}

/// Says one thing to the operator, until the next key.
fn note(model: &mut Model, tone: Tone, words: impl Into<String>) {
    model.note = Some(Row::of(tone, words));
}

fn find_mut<'a>(model: &'a mut Model, key: &CallKey) -> Option<&'a mut Held> {
    model.calls.iter_mut().find(|held| held.key == *key)
}

fn is_over(held: &Held) -> bool {
    matches!(held.standing, Standing::Settled(_) | Standing::Gone)
}
