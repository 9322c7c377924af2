//! The shell around model, update and view: the terminal, the keyboard, the editor, the link's messages. Decides nothing.

mod desktop;
mod keyboard;
mod terminal;

use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use super::client::ClientEvent;
use super::editor;
use super::found::{Finding, Task};
use super::log_reader::{self, Sources};
use super::model::{Except, Model, Settings};
use super::pinned::{Settled, Settling};
use super::update::{Command, Edit, Msg, RuleChange, update};
use super::view::view;
use crate::link::message::FromConsole;
use desktop::Desktop;
pub use desktop::Program;
use keyboard::Keyboard;
use terminal::Screen;

/// What the console needs of the world.
pub struct Outside {
    /// Milliseconds since 1970.
    pub now: fn() -> i64,
    /// The operator's editor, as a shell would run it.
    pub editor: String,
    /// A folder for the editor's file.
    pub drafts: PathBuf,
    pub notice: Notice,
    pub mouse: Pointer,
    /// Adds a rule's text to the operator's policy file: gives the file, or why it was not written.
    pub write_rule: RuleWriter,
    /// The text of a rule of the operator's own policy file, or why it cannot be had.
    pub rule_text: RuleReader,
    /// Changes the rules that stand: gives what was done, or why nothing was.
    pub change_rules: RuleChanger,
    /// Settles what is to be thought of a changed tool or program: gives what was done, or why nothing was.
    pub settle: Settler,
}

/// How a desktop notice is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Not at all: the bell must do.
    None,
    /// `OSC 9`.
    Osc9,
    /// `OSC 777`.
    Osc777,
    /// By the desktop's own program.
    Desktop(Program),
}

/// Whether the operator looks at this terminal, where the terminal tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Focus {
    Unknown,
    Here,
    Elsewhere,
}

/// Whether the console hears the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointer {
    Heard,
    /// It is left to the terminal.
    Left,
}

/// Adds a rule's text to the operator's policy file, and excepts its calls from another rule there: gives the file, or why
/// it was not written.
pub type RuleWriter = Box<dyn Fn(&str, Option<&Except>) -> Result<String, String>>;

/// The text of a rule of the operator's own policy file, by its id; or why it cannot be had.
pub type RuleReader = Box<dyn Fn(&str) -> Result<String, String>>;

/// Changes the rules that stand: gives what was done, or why nothing was.
pub type RuleChanger = Box<dyn Fn(&RuleChange) -> Result<String, String>>;

/// Settles what is to be thought of a changed tool or program: gives what was done, or why nothing was.
pub type Settler = Box<dyn Fn(&Settling) -> Result<Settled, String>>;

/// Why the console could not run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// There is no terminal, or it does not do what a terminal does.
    #[error("the terminal cannot be used: {0}; the console needs one on its standard input and output")]
    Terminal(#[from] std::io::Error),
    /// The link to the wrappers could not be set up.
    #[error("the wrappers cannot be reached: {0}")]
    Link(String),
}

/// Gives the terminal back when the process ends under a console that still runs (`--inline`).
pub fn restore() {
    terminal::leave();
}

/// What reaches the loop.
enum Heard {
    Event(crossterm::event::Event),
    /// The keyboard's end: the terminal is gone.
    Closed,
    Link(Box<ClientEvent>),
    Found(Box<Finding>),
}

/// The shortest time between two frames, in milliseconds.
const FRAME: i64 = 16;

/// Runs the console until the operator leaves or the terminal goes away.
///
/// `connect` starts listening to the wrappers: it is given where their events go, and gives back how to send.
///
/// # Errors
/// [`RunError`] when the terminal or the link fails.
pub fn run<S>(
    settings: Settings,
    outside: &Outside,
    sources: Sources,
    connect: impl FnOnce(Box<dyn Fn(ClientEvent) + Send + Sync>) -> Result<S, String>,
) -> Result<(), RunError>
where
    S: FnMut(&str, &FromConsole) -> Result<(), String>,
{
    let (heard_here, inbox) = mpsc::channel();
    let link = heard_here.clone();
    let post = move |event| {
        // A console that is closing no longer listens.
        let _ = link.send(Heard::Link(Box::new(event)));
    };
    let send = connect(Box::new(post)).map_err(RunError::Link)?;
    let desk = heard_here.clone();
    let ask = log_reader::start(sources, move |finding| {
        let _ = desk.send(Heard::Found(Box::new(finding)));
    })?;
    terminal::end_with_signals(heard_here.clone());
    let screen = Screen::open(outside.mouse)?;
    let model = Model::new(settings, screen.size()?);
    let keyboard = Keyboard::start(heard_here);
    let desktop = Desktop::default();
    let focus = Focus::Unknown;
    Loop { outside, model, screen, keyboard, inbox, send, ask, drawn_at: i64::MIN, titled: None, desktop, focus }.run()
}

struct Loop<'a, S> {
    outside: &'a Outside,
    model: Model,
    screen: Screen,
    keyboard: Keyboard,
    inbox: Receiver<Heard>,
    send: S,
    ask: Sender<Task>,
    drawn_at: i64,
    /// The number of waiting calls in the terminal's title.
    titled: Option<usize>,
    desktop: Desktop,
    focus: Focus,
}

/// Whether the loop goes on.
enum Next {
    GoOn,
    Leave,
}

impl<S: FnMut(&str, &FromConsole) -> Result<(), String>> Loop<'_, S> {
    fn run(mut self) -> Result<(), RunError> {
        let mut stale = true;
        loop {
            let now = (self.outside.now)();
            let due = self.drawn_at.saturating_add(FRAME);
            if stale && (now >= due || now < self.drawn_at) {
                self.draw()?;
                stale = false;
            }
            let wait = if stale { Some(u64::try_from(due - now).unwrap_or(0)) } else { self.model.next_tick() };
            let msg = match self.next(wait) {
                Ok(Heard::Event(event)) => {
                    self.focus = keyboard::focus(&event).unwrap_or(self.focus);
                    keyboard::message(event)
                }
                Ok(Heard::Link(event)) => Some(Msg::Link(*event)),
                Ok(Heard::Found(finding)) => Some(Msg::Found(*finding)),
                Ok(Heard::Closed) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) if stale => None,
                Err(RecvTimeoutError::Timeout) => Some(Msg::Tick),
            };
            if let Some(msg) = msg {
                stale = true;
                if let Next::Leave = self.take(msg)? {
                    return Ok(());
                }
            }
        }
    }

    fn next(&self, wait: Option<u64>) -> Result<Heard, RecvTimeoutError> {
        match wait {
            Some(millis) => self.inbox.recv_timeout(Duration::from_millis(millis)),
            None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    fn draw(&mut self) -> Result<(), RunError> {
        let size = self.screen.draw(|frame| view(&self.model, frame))?;
        self.drawn_at = (self.outside.now)();
        let waiting = self.model.waiting();
        if self.titled != Some(waiting) {
            self.titled = Some(waiting);
            self.screen.title(waiting)?;
        }
        let none = update(&mut self.model, self.drawn_at, Msg::Drawn(size.0, size.1));
        debug_assert!(none.is_empty(), "drawing asks for nothing");
        Ok(())
    }

    /// Rings; asks for a notice where the operator does not look here already. Its words are our own: a number, and
    /// nothing foreign.
    fn call(&mut self) -> Result<(), RunError> {
        let words = match self.model.waiting() {
            1 => "a call waits for your decision".to_owned(),
            waiting => format!("{waiting} calls wait for your decision"),
        };
        let notice = if self.focus == Focus::Here { &Notice::None } else { &self.outside.notice };
        self.screen.call(notice, &words)?;
        if let Notice::Desktop(program) = notice {
            self.desktop.show(program, &words, (self.outside.now)());
        }
        Ok(())
    }

    /// Updates, and does what is asked. Keys are read one at a time, so the keyboard waits until this is over.
    fn take(&mut self, msg: Msg) -> Result<Next, RunError> {
        let from_keyboard =
            matches!(msg, Msg::Key(_) | Msg::Paste(_) | Msg::Resize(..) | Msg::Click(..) | Msg::Wheel(..));
        let mut todo: Vec<Command> = update(&mut self.model, (self.outside.now)(), msg);
        while !todo.is_empty() {
            let mut more = Vec::new();
            for command in todo {
                match command {
                    Command::Quit => return Ok(Next::Leave),
                    Command::Bell => self.call()?,
                    Command::Look(task) => {
                        // A log reader that has ended with a panic looks nothing up: the screens stay as they are.
                        let _ = self.ask.send(task);
                    }
                    Command::Drain => {
                        self.focus = self.keyboard.drain(&self.inbox, &mut more).unwrap_or(self.focus);
                    }
                    Command::Send { session, message } => {
                        if let Err(why) = (self.send)(&session, &message) {
                            more.push(Msg::Link(ClientEvent::Trouble(why)));
                        }
                    }
                    Command::WriteRule { toml, except } => {
                        more.push(Msg::RuleWritten((self.outside.write_rule)(&toml, except.as_ref())));
                    }
                    Command::EditRule { id, file } => {
                        let outside = self.outside;
                        let outcome = match (outside.rule_text)(&id) {
                            Ok(text) => {
                                let edit = || editor::edit(&outside.editor, &outside.drafts, &text);
                                self.screen.suspended(edit)?
                            }
                            Err(why) => Edit::Failed(format!("The rule cannot be edited here: {why}.")),
                        };
                        more.push(Msg::RuleEdited { id, file, outcome });
                    }
                    Command::ChangeRules(change) => {
                        more.push(Msg::RulesChanged((self.outside.change_rules)(&change)));
                    }
                    Command::Settle(settling) => more.push(Msg::ToolSettled((self.outside.settle)(&settling))),
                    Command::OpenEditor { armed, text } => {
                        let outside = self.outside;
                        let edit = || editor::edit(&outside.editor, &outside.drafts, &text);
                        let outcome = self.screen.suspended(edit)?;
                        more.push(Msg::Edited { armed, outcome });
                    }
                }
            }
            todo = Vec::new();
            for msg in more {
                todo.extend(update(&mut self.model, (self.outside.now)(), msg));
            }
        }
        if from_keyboard {
            self.keyboard.go_on();
        }
        Ok(Next::GoOn)
    }
}

/// A sender for what reaches the loop.
type Inbox = Sender<Heard>;
