//! The shell around model, update and view: settings, terminal, keyboard, editor, link, waiting for a key. Decides nothing.

mod signing;
mod source;
mod terminal;

use std::ops::ControlFlow;
use std::sync::mpsc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use super::keymap::Key;
use super::model::{CallState, Command, Edit, Model, Msg, OpenPage, Overlay, Reach, Review, ReviewOf, Settings, Tour};
use super::outside::{OPEN_TO_OTHERS, Outside, Process, edit, editor, multiplexer, notice, palette};
use super::settings;
use super::settings::Notice;
use super::update::{show, update};
use super::view::{signing_row, view};
use signing::Wanted;
use source::Source;
use terminal::{Focus, Input, Keyboard, Screen, message};

use crate::desk::operator::Operator;
use crate::desk::{self, daily, engine::EngineError, engine::Program, engine::Target};
use crate::home::{config, places::Places, user};
use crate::link::client::{ClientEvent, Clients, Me};
use crate::link::{desktop::Desktop, folder::LinkError};
use crate::operator::log_reader::{self, Opener};
use crate::operator::pinned::{PinReview, ReviewDone};
use crate::operator::sign::{self, ChangeTerms, Evidence, Prompts, ToSign};
use crate::operator::{Sources, found::LogRequest, rule_book, rule_book::RuleChange, settle::Settlement};
use crate::pins::page::Page;

/// Opens the console on standard input and output, until the operator leaves or the terminal goes away.
pub fn open(places: &Places, now: fn() -> i64, process: Process) -> Result<(), RunError> {
    begin(places, now, process, Begin::Console).map(drop)
}

/// The same over all machines of a desk.
pub fn open_desk(places: &Places, now: fn() -> i64, desk: Target) -> Result<(), RunError> {
    begin(places, now, Process::Own, Begin::Desk(Box::new(desk))).map(drop)
}

/// Shows the page of one server, until the operator answers it or leaves it.
pub fn page(places: &Places, now: fn() -> i64, page: Page) -> Result<End, RunError> {
    begin(places, now, Process::Own, Begin::Page(page))
}

/// What a console begins with.
enum Begin {
    Console,
    Page(Page),
    Desk(Box<Target>),
}

fn begin(places: &Places, now: fn() -> i64, process: Process, begin: Begin) -> Result<End, RunError> {
    let (wanted, mut problems) = settings::load(places);
    let (notice, missing) = notice(wanted.notice);
    problems.extend(missing);
    let settings = Settings {
        palette: palette(wanted.theme),
        offset: jiff::Zoned::now().offset().seconds(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        operator: match &begin {
            Begin::Desk(target) => target.role().to_owned(),
            Begin::Console | Begin::Page(_) => user::current().map_or_else(|_| "somebody".to_owned(), |user| user.name),
        },
        home: user::current().ok().and_then(|user| user.home.into_os_string().into_string().ok()),
        root: places.root().map(Into::into),
        keys: wanted.keys,
        tour: if places.tour_seen().exists() { Tour::Dismissed } else { Tour::Shown },
        manner: wanted.manner,
        confirmation: wanted.confirmation,
        process,
        reach: if matches!(begin, Begin::Desk(_)) { Reach::Desk } else { Reach::Own },
        problems,
    };
    let outside = Outside { places: places.clone(), now, editor: editor(), notice, mouse: wanted.mouse, process };
    let (heard_here, inbox) = mpsc::channel();
    let link = heard_here.clone();
    let post = move |event| {
        // A console that is closing no longer listens.
        let _ = link.send(Input::Link(Box::new(event)));
    };
    if let Some(multiplexer) = multiplexer() {
        post(ClientEvent::Trouble(format!("{multiplexer}: {OPEN_TO_OTHERS}")));
    }
    let (mut elsewhere, mut witness): (Option<Opener>, _) = (None, None);
    let (source, page) = match begin {
        Begin::Desk(target) => {
            let place = target.clone();
            elsewhere = Some(Box::new(move || desk::log::open(&place, Program::Command)));
            let operator = Operator::watch((*target).clone(), now, post.clone())?;
            witness = Some(daily::watch(*target, places.clone(), now, post));
            (Source::Desk(operator), None)
        }
        own @ (Begin::Console | Begin::Page(_)) => {
            let me = Me {
                operator: settings.operator.clone(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                pid: std::process::id(),
            };
            let page = if let Begin::Page(page) = own { Some(page) } else { None };
            (Source::Own(Clients::watch(&places.run_dir(), me, post)?), page)
        }
    };
    let sources = Sources {
        log: config::audit_db(places).unwrap_or_else(|_| places.audit_db()),
        places: places.clone(),
        now: outside.now,
    };
    let found = heard_here.clone();
    let ask = log_reader::start_on(sources.clone(), elsewhere, move |finding| {
        let _ = found.send(Input::Found(Box::new(finding)));
    })?;
    terminal::end_with_signals(heard_here.clone());
    let screen = Screen::open(outside.mouse)?;
    let mut model = Model::new(settings, screen.size()?);
    let is_page = page.is_some();
    if let Some(page) = page {
        model.settings.tour = Tour::Dismissed;
        model.overlay = Some(Overlay::Review(Review::of(ReviewOf::Page(Box::new(OpenPage::of(page))), 0)));
    }
    let keyboard = Keyboard::start(heard_here, outside.now);
    let end = Loop {
        outside: &outside,
        sources,
        model,
        screen,
        keyboard,
        inbox,
        source,
        ask,
        drawn_at: i64::MIN,
        drawing: 0,
        titled: None,
        desktop: Desktop::default(),
        focus: Focus::Unknown,
        is_page,
    }
    .run();
    drop(witness);
    end
}

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("the terminal cannot be used: {0}; the console needs one on its standard input and output")]
    Terminal(#[from] std::io::Error),
    #[error("the wrappers cannot be reached: {0}")]
    Link(#[from] LinkError),
    #[error(transparent)]
    Desk(#[from] EngineError),
}

#[derive(Debug)]
pub enum End {
    /// The operator left, or the terminal is gone.
    Left,
    /// The page it began with was closed without an answer.
    Closed,
    /// The page was answered: what was done, or why nothing was.
    Answered(Result<ReviewDone, String>),
}

/// Gives the terminal back when the process ends under a console that still runs (`--inline`).
pub fn restore() {
    terminal::leave();
}

/// The shortest time between two frames, in milliseconds.
const FRAME: i64 = 16;
/// The longest time for a frame that is taken into account.
const LONGEST_DRAWING: i64 = 200;

struct Loop<'a> {
    outside: &'a Outside,
    /// What a signature needs: the lists of signers, and the log.
    sources: Sources,
    model: Model,
    screen: Screen,
    keyboard: Keyboard,
    inbox: Receiver<Input>,
    source: Source,
    ask: Sender<LogRequest>,
    drawn_at: i64,
    /// How long the last frame took, in milliseconds.
    drawing: i64,
    /// The number of waiting calls in the terminal's title.
    titled: Option<usize>,
    desktop: Desktop,
    focus: Focus,
    is_page: bool,
}

/// How often to look whether the key was touched.
const LOOK_EVERY: Duration = Duration::from_millis(50);

enum Waited {
    Signed(String),
    /// The operator took it back, or the terminal is gone.
    Back(String),
    NextKey,
    /// ssh-keygen is to ask for a passphrase or a PIN.
    Terminal,
}

impl Loop<'_> {
    fn run(mut self) -> Result<End, RunError> {
        let mut stale = true;
        loop {
            let now = self.now();
            // A queue of thousands comes as thousands of messages: drawing each state of it would leave little time for them.
            let due = self.drawn_at.saturating_add(FRAME.max(2 * self.drawing.min(LONGEST_DRAWING)));
            if stale && (now >= due || now < self.drawn_at) {
                self.draw()?;
                stale = false;
            }
            let wait = if stale { Some(u64::try_from(due - now).unwrap_or(0)) } else { self.model.next_tick() };
            let msg = match self.next(wait) {
                Ok(Input::Event(event, at)) => {
                    self.focus = terminal::focus(&event).unwrap_or(self.focus);
                    let late = self.now() - at;
                    if late > FRAME {
                        let _none = self.update(Msg::Late(late));
                    }
                    terminal::message(event)
                }
                Ok(Input::Link(event)) => Some(Msg::Link(*event)),
                Ok(Input::Found(finding)) => Some(Msg::Found(*finding)),
                Ok(Input::Closed) | Err(RecvTimeoutError::Disconnected) => return Ok(End::Left),
                Err(RecvTimeoutError::Timeout) if stale => None,
                Err(RecvTimeoutError::Timeout) => Some(Msg::Tick),
            };
            if let Some(msg) = msg {
                stale = true;
                if let ControlFlow::Break(end) = self.take(msg)? {
                    return Ok(end);
                }
            }
        }
    }

    fn next(&self, wait: Option<u64>) -> Result<Input, RecvTimeoutError> {
        match wait {
            Some(millis) => self.inbox.recv_timeout(Duration::from_millis(millis)),
            None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    fn now(&self) -> i64 {
        (self.outside.now)()
    }

    fn update(&mut self, msg: Msg) -> Vec<Command> {
        let now = self.now();
        update(&mut self.model, now, msg)
    }

    fn draw(&mut self) -> Result<(), RunError> {
        let begun = self.now();
        let size = self.screen.draw(|frame| view(&self.model, frame))?;
        self.drawn_at = self.now();
        self.drawing = (self.drawn_at - begun).max(0);
        let waiting = self.model.queue.waiting();
        if self.titled != Some(waiting) {
            self.titled = Some(waiting);
            self.screen.title(waiting)?;
        }
        let none = update(&mut self.model, self.drawn_at, Msg::Drawn(size.0, size.1));
        debug_assert!(none.is_empty(), "drawing asks for nothing");
        Ok(())
    }

    /// Rings, and asks for a notice unless the operator looks here already: server, effect and target of the last call.
    fn call(&mut self) -> Result<(), RunError> {
        let words = self.model.notice();
        let notice = if self.focus == Focus::Here { Notice::Off } else { self.outside.notice };
        self.screen.call(notice, &words)?;
        if notice == Notice::Desktop {
            self.desktop.show(&words, self.now());
        }
        Ok(())
    }

    /// Updates the model and carries out the commands. Keys are read one at a time, so the keyboard waits meanwhile.
    fn take(&mut self, msg: Msg) -> Result<ControlFlow<End>, RunError> {
        let from_keyboard =
            matches!(msg, Msg::Key(_) | Msg::Paste(_) | Msg::Resize(..) | Msg::Click(..) | Msg::Wheel(..));
        let mut todo: Vec<Command> = self.update(msg);
        while !todo.is_empty() {
            let mut more = Vec::new();
            let possible = self.source.possible(&self.model, todo, &mut more);
            for command in self.signed(possible, &mut more)? {
                match command {
                    Command::Quit => return Ok(ControlFlow::Break(End::Left)),
                    Command::Bell => self.call()?,
                    Command::Look(request) => {
                        // If the log reader has panicked, nothing is looked up, and the screens stay as they are.
                        let _ = self.ask.send(request);
                    }
                    Command::Copy(text) => self.screen.copy(&text)?,
                    Command::Suspend => match self.outside.process {
                        Process::Own | Process::Demo => self.screen.suspended(terminal::stop)?,
                        Process::Shared => {
                            let what = "this console runs inside its wrapper (--inline), which must not stop";
                            more.push(Msg::Link(ClientEvent::Trouble(what.to_owned())));
                        }
                    },
                    Command::Drain => {
                        self.focus = self.keyboard.drain(&self.inbox, &mut more).unwrap_or(self.focus);
                    }
                    Command::Send { session, message } => {
                        if let Err(error) = self.source.send(&session, &message) {
                            more.push(Msg::Link(ClientEvent::Trouble(error.to_string())));
                        }
                    }
                    Command::WriteRule { toml, except } => {
                        let written = rule_book::add(&self.outside.places, &toml, except.as_ref(), self.now());
                        more.push(Msg::RuleWritten(written));
                    }
                    Command::EditRule { id, file } => {
                        let outcome = match rule_book::text(&self.outside.places, &id) {
                            Ok(text) => self.edited(&text)?,
                            Err(why) => Edit::Failed(format!("The rule cannot be edited here: {why}.")),
                        };
                        more.push(Msg::RuleEdited { id, file, outcome });
                    }
                    Command::ChangeRules(change) => {
                        let changed = self.change_rules(&change, &mut more)?;
                        more.push(Msg::RulesChanged(changed));
                    }
                    Command::ReviewPins(review) => {
                        let outcome = self.settle(&review, &mut more)?;
                        if self.is_page {
                            return Ok(ControlFlow::Break(End::Answered(outcome)));
                        }
                        more.push(Msg::PinsReviewed(outcome));
                    }
                    Command::OpenEditor { armed, text } => {
                        let outcome = self.edited(&text)?;
                        more.push(Msg::Edited { armed, outcome });
                    }
                }
            }
            todo = more.into_iter().flat_map(|msg| self.update(msg)).collect();
        }
        if self.is_page && self.model.overlay.is_none() {
            // Before the keyboard goes on: the next key is for whoever has the terminal then.
            return Ok(ControlFlow::Break(End::Closed));
        }
        if from_keyboard {
            self.keyboard.go_on();
        }
        Ok(ControlFlow::Continue(()))
    }

    fn edited(&mut self, text: &str) -> Result<Edit, RunError> {
        let Outside { editor, places, .. } = self.outside;
        Ok(self.screen.suspended(|| edit(editor, places.state_dir(), text))?)
    }

    /// The commands, each message that needs it with a signature. One that was not signed is left out, and `more` says why.
    fn signed(&mut self, todo: Vec<Command>, more: &mut Vec<Msg>) -> Result<Vec<Command>, RunError> {
        let wanted = signing::wanted(&self.model, &self.outside.places, &todo);
        let mut todo: Vec<Option<Command>> = todo.into_iter().map(Some).collect();
        for (at, wanted) in wanted {
            let made = self.sign(&wanted, more)?;
            for at in at {
                let Some(place) = todo.get_mut(at) else { continue };
                *place = place.take().and_then(|command| signing::with(command, &made, more));
            }
        }
        Ok(todo.into_iter().flatten().collect())
    }

    /// Changes rules; an acceptance with a signature, where it needs one.
    fn change_rules(&mut self, change: &RuleChange, more: &mut Vec<Msg>) -> Result<Result<String, String>, RunError> {
        let places = self.outside.places.clone();
        let terms = match change {
            RuleChange::Accept(pending) => sign::acceptance(&places, &pending.file, pending.digest),
            _ => None,
        };
        let signed = self.sign_change(terms, more)?;
        Ok(signed.and_then(|signed| rule_book::change(&places, change, signed.as_ref(), self.now())))
    }

    /// Settles what the operator said of tools and programs, with a signature where it needs one.
    fn settle(&mut self, review: &PinReview, more: &mut Vec<Msg>) -> Result<Result<ReviewDone, String>, RunError> {
        let places = self.outside.places.clone();
        let settlement = |now| Settlement { places: &places, now };
        let signed = match settlement(self.now()).to_sign(review) {
            Ok(terms) => self.sign_change(terms, more)?,
            Err(error) => Err(error.to_string()),
        };
        let done = |signed: Option<Evidence>| settlement(self.now()).of(review, signed.as_ref());
        Ok(signed.and_then(|signed| done(signed).map_err(|error| error.to_string())))
    }

    /// The signature on a change, where it needs one; or why there is none.
    fn sign_change(
        &mut self,
        terms: Option<ChangeTerms>,
        more: &mut Vec<Msg>,
    ) -> Result<Result<Option<Evidence>, String>, RunError> {
        Ok(match terms {
            None => Ok(None),
            Some(terms) => self.sign(&Wanted::Change(terms, None), more)?.map(Some),
        })
    }

    /// One signature, or why there is none. The call that it is about is on screen meanwhile.
    fn sign(&mut self, wanted: &Wanted, more: &mut Vec<Msg>) -> Result<Result<Evidence, String>, RunError> {
        let places = self.outside.places.clone();
        let keys = match wanted.keys(&places, self.now()) {
            Ok(keys) => keys,
            Err(why) => return Ok(Err(why)),
        };
        // Keys typed ahead are not meant for this question.
        self.keyboard.drain(&self.inbox, more);
        let shown = wanted.shown();
        let left = shown.clone().map(|shown| show(&mut self.model, Some(shown)));
        // Nothing is sent yet: its card shows as it was read.
        let state = shown.as_ref().and_then(|key| self.model.queue.call_mut(key));
        let state = state.map(|held| std::mem::replace(&mut held.state, CallState::Waiting));
        let mut tried = keys.iter().cycle();
        let made = loop {
            let to_sign = tried.next().and_then(|key| wanted.to_sign(&self.sources, key.clone()));
            let Some(to_sign) = to_sign else { break Err("the card asks for no signature".to_owned()) };
            match self.wait_for(&to_sign, &wanted.what(), keys.len(), more)? {
                Waited::Signed(signature) => break Ok(to_sign.with(signature)),
                Waited::Back(why) => break Err(why),
                Waited::NextKey => {}
                Waited::Terminal => break self.screen.suspended(|| to_sign.sign(&places))?,
            }
        };
        if let (Some(key), Some(state)) = (&shown, state)
            && let Some(held) = self.model.queue.call_mut(key)
        {
            held.state = state;
        }
        if let Some(left) = left {
            show(&mut self.model, left);
        }
        self.model.note = None;
        Ok(made)
    }

    fn wait_for(&mut self, to_sign: &ToSign, what: &str, keys: usize, more: &mut Vec<Msg>) -> Result<Waited, RunError> {
        let mut signing = to_sign.start(&self.outside.places, Prompts::Window);
        self.keyboard.go_on();
        loop {
            let state = match &mut signing {
                Ok(running) => match running.poll() {
                    Ok(Some(signature)) => return Ok(Waited::Signed(signature)),
                    Ok(None) => Ok(()),
                    Err(why) => Err(why),
                },
                Err(why) => Err(why.clone()),
            };
            if let (Err(why), Ok(_)) = (&state, &signing) {
                signing = Err(why.clone());
            }
            let state = state.as_ref().map(|()| &to_sign.key).map_err(String::as_str);
            self.model.note = Some(signing_row(state, what, keys));
            self.draw()?;
            match self.inbox.recv_timeout(LOOK_EVERY) {
                Ok(Input::Event(event, _)) => {
                    match message(event) {
                        Some(Msg::Key(Key::Esc | Key::Ctrl('c'))) => {
                            return Ok(Waited::Back("you went back".to_owned()));
                        }
                        Some(Msg::Key(Key::Tab)) if keys > 1 => return Ok(Waited::NextKey),
                        Some(Msg::Key(Key::Char('t'))) => return Ok(Waited::Terminal),
                        Some(resized @ Msg::Resize(..)) => drop(self.update(resized)),
                        Some(_) => {}
                        None => continue,
                    }
                    self.keyboard.go_on();
                }
                Ok(Input::Link(event)) => more.push(Msg::Link(*event)),
                Ok(Input::Found(finding)) => more.push(Msg::Found(*finding)),
                Ok(Input::Closed) | Err(RecvTimeoutError::Disconnected) => {
                    return Ok(Waited::Back("the terminal is gone".to_owned()));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}
