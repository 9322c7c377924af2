//! Changes the model: a message goes in, commands come out. Pure; time is an argument.

mod batch;
mod browse;
mod decide;
mod edit;
mod find;
mod findings;
mod fold;
mod moves;
mod pin;
mod pointer;
mod review;
mod rule;
mod tool;
mod typing;
mod wrappers;

use std::path::PathBuf;

use super::keymap::{Action, Key, Place};
use super::model::{Armed, CallKey, Held, Model, Overlay, Picked, Reading, Screen};
use crate::behavior::taxonomy::Mutability;
use crate::gate::data::snapshot::Snapshot;
use crate::link::client::ClientEvent;
use crate::link::message::{FromConsole, ToolWord};
use crate::operator::found::{Finding, LogRequest};
use crate::operator::own_rules::{Except, RuleChange};
use crate::operator::pinned::{PinReview, ReviewDone};
use crate::text::row::{ours, warn};
use crate::wire::digest::Digest;

/// What happened.
#[derive(Clone, Debug)]
pub enum Msg {
    Key(Key),
    /// Text that was pasted, not typed.
    Paste(String),
    /// The next event of the keyboard waited this many milliseconds while the console was busy: that was no pause.
    Late(i64),
    /// Keys were thrown away: see [`Command::Drain`].
    Drained,
    Resize(u16, u16),
    /// Time passed.
    Tick,
    /// A frame of this size was drawn from the model as it is.
    Drawn(u16, u16),
    Link(ClientEvent),
    /// The log reader found something.
    Found(Finding),
    /// A click at this column and row.
    Click(u16, u16),
    /// The wheel turned over this column and row.
    Wheel(Turn, u16, u16),
    /// The editor came back.
    Edited {
        armed: Armed,
        outcome: Edit,
    },
    /// A rule was written to this file, or why it was not.
    RuleWritten(Result<String, String>),
    /// What was done to the rules, or why nothing was.
    RulesChanged(Result<String, String>),
    /// The editor left this of a rule.
    RuleEdited {
        id: String,
        file: PathBuf,
        outcome: Edit,
    },
    /// The result of a tool's review, or why nothing was settled.
    PinsReviewed(Result<ReviewDone, String>),
}

/// Which way the wheel turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    Up,
    Down,
}

/// What the editor left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    Unchanged,
    Text(String),
    /// It could not be run, or failed: why.
    Failed(String),
}

/// What the shell must do.
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
    /// Adds this text to the operator's policy file, and excepts its calls from the rule that asks for them.
    WriteRule {
        toml: String,
        except: Option<Except>,
    },
    ChangeRules(RuleChange),
    /// Opens a rule of the operator's own file in the editor, and changes it to what that leaves.
    EditRule {
        id: String,
        file: PathBuf,
    },
    /// Settles whether a changed tool or program is trusted.
    ReviewPins(PinReview),
    /// Throws away keys that were typed before the screen changed; [`Msg::Drained`] says if there were any.
    Drain,
    /// Calls the operator: by the bell, and by a notice where there is one.
    Bell,
    /// Looks something up in the log or the policy.
    Look(LogRequest),
    /// Puts this text on the clipboard, where the terminal allows that.
    Copy(String),
    /// Stops the console until the shell brings it back.
    Suspend,
    Quit,
}

/// Takes one message. `now` is milliseconds since 1970.
#[must_use]
pub fn update(model: &mut Model, now: i64, msg: Msg) -> Vec<Command> {
    if now < model.now {
        // The clock was set back: what is on screen counts from now on.
        (model.drawn, model.listed, model.untouched) = (None, None, None);
    }
    model.now = now;
    let is_news = matches!(msg, Msg::Link(_));
    let touches = matches!(msg, Msg::Key(_) | Msg::Paste(_) | Msg::Drained);
    if !matches!(msg, Msg::Drawn(..)) {
        model.invalidate_rows();
    }
    if model.note_until.is_some_and(|until| until <= now) {
        model.note = None;
        model.note_until = None;
    }
    match msg {
        Msg::Key(key) => pressed(model, key),
        Msg::Paste(text) => pasted(model, &text),
        Msg::Late(wait) => {
            model.untouched = model.untouched.map(|since| since + wait);
            model.ignored = model.ignored.map(|last| last + wait);
            return Vec::new();
        }
        Msg::Drained => model.refuse("Some keys were typed before the screen changed, and were dropped."),
        Msg::Resize(width, height) => model.size = (width, height),
        Msg::Tick => moves::refresh(model),
        Msg::Drawn(width, height) => {
            model.note_drawn((width, height));
            return Vec::new();
        }
        Msg::Link(event) => wrappers::heard(model, event),
        Msg::Found(finding) => findings::take(model, finding),
        Msg::Click(x, y) => {
            model.picked = Picked::ByOperator;
            pointer::click(model, x, y);
        }
        Msg::Wheel(turn, x, y) => pointer::wheel(model, turn, x, y),
        Msg::Edited { armed, outcome } => edit::edited(model, armed, outcome),
        Msg::RuleWritten(outcome) => rule::written(model, outcome),
        Msg::RulesChanged(outcome) => review::changed(model, outcome),
        Msg::RuleEdited { id, file, outcome } => review::edited(model, id, file, outcome),
        Msg::PinsReviewed(outcome) => tool::settled(model, outcome),
    }
    if touches {
        model.untouched = None;
    }
    moves::settle(model);
    if !is_news {
        model.keep_rows();
        moves::show_selection(model);
    }
    browse::settle(model);
    browse::wants(model);
    std::mem::take(&mut model.todo)
}

fn pressed(model: &mut Model, key: Key) {
    if key == Key::Ctrl('c') {
        return model.todo.push(Command::Quit);
    }
    if model.ignores_keys() {
        model.ignore_keys();
        // Esc decides nothing, and leads out of any question.
        if key != Key::Esc {
            return;
        }
    }
    model.note = None;
    model.note_until = None;
    let place = model.place();
    model.picked = Picked::ByOperator;
    let twice = model.half_typed.take() == Some(key);
    match model.settings.keys.action(key, place) {
        // `g` must be pressed twice; another key for this action works at once.
        Some(Action::First) if key == Key::Char('g') && !twice => model.half_typed = Some(key),
        Some(Action::Number) => rule::number(model, key),
        Some(Action::Scope) => rule::scope(model, key),
        Some(action) => act(model, action),
        None => typing::typed(model, key),
    }
}

fn act(model: &mut Model, action: Action) {
    match action {
        Action::Approve => decide::approve(model, Reading::Read),
        Action::ApproveUnread => decide::approve(model, Reading::Unread),
        Action::Deny => decide::deny(model),
        Action::Confirm if !matches!(model.overlay, Some(Overlay::Leave)) => decide::confirm(model),
        Action::Send => decide::send_denial(model),
        Action::Edit if model.screen == Screen::Rules => review::edit(model),
        Action::Edit => edit::open(model),
        Action::Quit if model.waiting() > 0 && !matches!(model.overlay, Some(Overlay::Leave)) => {
            model.overlay = Some(Overlay::Leave);
        }
        Action::Confirm | Action::Quit => model.todo.push(Command::Quit),
        Action::Suspend => model.todo.push(Command::Suspend),
        Action::MarkAlike => batch::mark_alike(model),
        Action::Copy => edit::copy(model),
        Action::Extend => moves::extend(model),
        Action::First | Action::Last if model.place() == Place::Queue => moves::leap(model, action),
        Action::HalfDown | Action::HalfUp if model.place() == Place::Queue => moves::leap(model, action),
        Action::First => moves::go(model, Action::Top),
        Action::Last => moves::go(model, Action::Bottom),
        Action::Down | Action::Up | Action::PageDown | Action::PageUp => moves::go(model, action),
        Action::HalfDown | Action::HalfUp | Action::Top | Action::Bottom => moves::go(model, action),
        Action::Open => moves::open(model),
        Action::Back => moves::back(model),
        Action::Sort => moves::sort(model),
        Action::NextServer | Action::PreviousServer => moves::leap_server(model, action),
        Action::Group if model.screen == Screen::Log => browse::regroup(model),
        Action::Group => batch::regroup(model),
        Action::Mark if model.place() == Place::Review => review::mark(model),
        Action::Mark if model.screen == Screen::Tools => tool::mark(model),
        Action::Mark => batch::mark(model),
        Action::DenyServer => batch::deny_server(model),
        Action::Earlier | Action::Later => decide::earlier_reason(model, action),
        Action::Rule if model.screen == Screen::Log => rule::of_record(model),
        Action::Rule => rule::open(model),
        Action::Replay => review::replay(model),
        Action::Switch => review::switch(model),
        Action::WriteRule => rule::enter(model),
        Action::Number | Action::Scope => {}
        Action::Accept => review::enter(model),
        Action::Reads if model.screen == Screen::Tools => tool::say(model, Mutability::Pure),
        Action::Reads => pin::say(model, ToolWord::Reads),
        Action::Changes if model.screen == Screen::Tools => tool::say(model, Mutability::Mutates),
        Action::Changes => pin::say(model, ToolWord::Changes),
        Action::PlainText => pin::say(model, ToolWord::PlainText),
        Action::End => review::end(model),
        Action::Refuse => tool::refuse(model),
        Action::NextAgreed => tool::next_agreed(model),
        Action::Forget => tool::forget(model),
        Action::Undo if model.screen == Screen::Tools => tool::take_back(model),
        Action::Undo if model.screen != Screen::Rules => {
            browse::visit(model, Screen::Rules);
            model.say("u takes back the last change of your policy file: press it again, here.");
        }
        Action::Undo => model.todo.push(Command::ChangeRules(RuleChange::Undo)),
        Action::Find if model.browse.list(model.screen).is_some() => typing::find(model),
        Action::Find => find::open(model),
        Action::Seek => find::seek(model),
        Action::NextHit | Action::PreviousHit => find::again(model, action),
        Action::Fold => fold::turn(model),
        Action::FoldAll => fold::turn_all(model),
        Action::NextFold => fold::next(model),
        Action::Details => moves::details(model),
        Action::Waiting => model.screen = Screen::Queue,
        Action::Activity => browse::visit(model, Screen::Activity),
        Action::Log => browse::visit(model, Screen::Log),
        Action::Tools => browse::visit(model, Screen::Tools),
        Action::Rules => browse::visit(model, Screen::Rules),
        Action::Servers => browse::visit(model, Screen::Servers),
        Action::Palette => typing::palette(model),
        Action::Run => typing::run(model),
        Action::Help => {
            model.overlay = match model.overlay {
                Some(Overlay::Help { .. }) => None,
                _ => Some(Overlay::Help { top: 0 }),
            };
        }
    }
}

/// A paste decides nothing; where text is written it is text.
fn pasted(model: &mut Model, text: &str) {
    // The word that approves must be typed, not pasted.
    let open = model.overlay.as_mut().filter(|open| !matches!(open, Overlay::Word { .. }));
    let Some(written) = open.and_then(Overlay::text_mut) else {
        return model.refuse("A paste decides nothing; press the key itself.");
    };
    written.extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }));
    typing::changed(model, Key::Char(' '));
}

/// Sends its wrapper a message about the call that was armed, with the bytes that were shown.
fn send(model: &mut Model, armed: &Armed, message: impl FnOnce(String, Digest) -> FromConsole) {
    let CallKey { session, ticket } = armed.key().clone();
    model.todo.push(Command::Send { session, message: message(ticket, armed.digest()) });
}

impl Model {
    /// Says one thing to the operator, until the next key.
    fn say(&mut self, words: impl Into<String>) {
        (self.note, self.note_until) = (Some(ours(words)), None);
    }

    /// The same, for something that the operator did not expect.
    fn warn(&mut self, words: impl Into<String>) {
        (self.note, self.note_until) = (Some(warn(words)), None);
    }

    /// Says for a few seconds why a key was refused. What is typed behind it is ignored until a pause.
    fn refuse(&mut self, words: impl Into<String>) {
        self.warn(words);
        self.note_until = Some(self.now + 4_000);
        self.ignore_keys();
    }

    /// Keys are ignored until none has come for a while.
    fn ignore_keys(&mut self) {
        self.ignored = Some(self.now);
    }
}

fn find_mut<'a>(model: &'a mut Model, key: &CallKey) -> Option<&'a mut Held> {
    model.calls.iter_mut().find(|held| held.key == *key)
}

/// The calls that are not over.
fn live(model: &Model) -> Vec<&Snapshot> {
    model.calls.iter().filter(|held| !held.is_over()).map(|held| &*held.snapshot).collect()
}
