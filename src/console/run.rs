//! The shell around model, update and view: settings, terminal, keyboard, editor, the key that signs, link. Decides nothing.

mod terminal;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use super::keymap::Key;
use super::model::{CallState, Command, Edit, Held, Model, Msg, OpenPage, Overlay, Review, ReviewOf, Settings, Tour};
use super::outside::{OPEN_TO_OTHERS, Outside, Process, edit, editor, multiplexer, notice, palette};
use super::settings;
use super::settings::Notice;
use super::update::update;
use super::view::view;
use terminal::{Focus, Input, Keyboard, Screen, message};

use crate::gate::data::snapshot::Snapshot;
use crate::gate::data::terms::GrantTerms;
use crate::home::places::Places;
use crate::home::{config, user};
use crate::link::client::{ClientEvent, Clients, Me};
use crate::link::desktop::Desktop;
use crate::link::folder::LinkError;
use crate::link::message::{FromConsole, FromWrapper, OperatorVerdict};
use crate::operator::found::LogRequest;
use crate::operator::pinned::ReviewDone;
use crate::operator::settle::Settlement;
use crate::operator::sign::{self, Evidence, Prompts, ToSign};
use crate::operator::{Sources, log_reader, rule_book};
use crate::pins::page::Page;
use crate::text::row::{Tone, foreign, key};
use crate::wire::number::counted;

/// Opens the console on standard input and output, until the operator leaves or the terminal goes away.
pub fn open(places: &Places, now: fn() -> i64, process: Process) -> Result<(), RunError> {
    begin(places, now, process, None).map(drop)
}

/// Shows the page of one server, until the operator answers it or leaves it.
pub fn page(places: &Places, now: fn() -> i64, page: Page) -> Result<End, RunError> {
    begin(places, now, Process::Own, Some(page))
}

fn begin(places: &Places, now: fn() -> i64, process: Process, page: Option<Page>) -> Result<End, RunError> {
    let (wanted, mut problems) = settings::load(places);
    let (notice, missing) = notice(wanted.notice);
    problems.extend(missing);
    let settings = Settings {
        palette: palette(wanted.theme),
        offset: jiff::Zoned::now().offset().seconds(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        operator: user::current().map_or_else(|_| "somebody".to_owned(), |user| user.name),
        home: user::current().ok().and_then(|user| user.home.into_os_string().into_string().ok()),
        root: places.root().map(Into::into),
        keys: wanted.keys,
        tour: if places.tour_seen().exists() { Tour::Dismissed } else { Tour::Shown },
        manner: wanted.manner,
        confirmation: wanted.confirmation,
        process,
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
    let me = Me {
        operator: settings.operator.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
    };
    let clients = Clients::watch(&places.run_dir(), me, post)?;
    let sources = Sources {
        log: config::audit_db(places).unwrap_or_else(|_| places.audit_db()),
        places: places.clone(),
        now: outside.now,
    };
    let found = heard_here.clone();
    let ask = log_reader::start(sources.clone(), move |finding| {
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
    Loop {
        outside: &outside,
        sources,
        model,
        screen,
        keyboard,
        inbox,
        clients,
        ask,
        drawn_at: i64::MIN,
        titled: None,
        desktop: Desktop::default(),
        focus: Focus::Unknown,
        is_page,
    }
    .run()
}

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("the terminal cannot be used: {0}; the console needs one on its standard input and output")]
    Terminal(#[from] std::io::Error),
    #[error("the wrappers cannot be reached: {0}")]
    Link(#[from] LinkError),
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

struct Loop<'a> {
    outside: &'a Outside,
    /// What a signature needs: the lists of signers, and the log.
    sources: Sources,
    model: Model,
    screen: Screen,
    keyboard: Keyboard,
    inbox: Receiver<Input>,
    clients: Clients,
    ask: Sender<LogRequest>,
    drawn_at: i64,
    /// The number of waiting calls in the terminal's title.
    titled: Option<usize>,
    desktop: Desktop,
    focus: Focus,
    is_page: bool,
}

/// How often to look whether the key was touched.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How many cards one signature covers: more would not fit in a statement.
const MOST: usize = 40;

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
            let due = self.drawn_at.saturating_add(FRAME);
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
        let size = self.screen.draw(|frame| view(&self.model, frame))?;
        self.drawn_at = self.now();
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
            for command in self.signed(todo, &mut more)? {
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
                        if let Err(error) = self.clients.send(&session, &message) {
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
                        more.push(Msg::RulesChanged(rule_book::change(&self.outside.places, &change, self.now())));
                    }
                    Command::ReviewPins(review) => {
                        let settlement = Settlement { places: &self.outside.places, now: self.now() };
                        let outcome = settlement.of(&review).map_err(|error| error.to_string());
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

    /// The commands, each approval that needs it with a signature. One that was not signed is left out, and `more` says why.
    pub(super) fn signed(&mut self, todo: Vec<Command>, more: &mut Vec<Msg>) -> Result<Vec<Command>, RunError> {
        let cards: Vec<Option<Arc<Snapshot>>> = todo.iter().map(|command| self.card(command)).collect();
        let wanted = (0..todo.len()).filter(|at| cards.get(*at).is_some_and(Option::is_some));
        let (together, alone): (Vec<usize>, Vec<usize>) = wanted.partition(|at| todo.get(*at).is_some_and(was_read));
        let groups: Vec<&[usize]> = together.chunks(MOST).chain(alone.chunks(1)).collect();
        let mut todo: Vec<Option<Command>> = todo.into_iter().map(Some).collect();
        for group in groups {
            let of_group: Vec<&Snapshot> = group.iter().filter_map(|at| cards.get(*at)?.as_deref()).collect();
            let terms = grant(group.iter().find_map(|at| todo.get(*at)?.as_ref()));
            let made = self.sign(&of_group, terms.as_ref(), more)?;
            for at in group {
                let Some(place) = todo.get_mut(*at) else { continue };
                match (place, &made) {
                    (Some(Command::Send { message, .. }), Ok(evidence)) => match message {
                        FromConsole::Decide { signed, .. } | FromConsole::Grant { signed, .. } => {
                            *signed = Some(evidence.clone());
                        }
                        _ => {}
                    },
                    (place, Err(why)) => {
                        let Some(Command::Send { session, message }) = place.take() else { continue };
                        let (FromConsole::Decide { ticket, .. } | FromConsole::Grant { ticket, .. }) = message else {
                            continue;
                        };
                        let message = FromWrapper::Refused { ticket, why: format!("not sent: {why}") };
                        more.push(Msg::Link(ClientEvent::Said { session, message }));
                    }
                    (_, Ok(_)) => {}
                }
            }
        }
        Ok(todo.into_iter().flatten().collect())
    }

    /// The card that a command approves, if it asks for a signature.
    fn card(&self, command: &Command) -> Option<Arc<Snapshot>> {
        let Command::Send { session, message } = command else { return None };
        let (ticket, digest) = match message {
            FromConsole::Decide { ticket, digest, verdict: OperatorVerdict::Approve { .. }, .. }
            | FromConsole::Grant { ticket, digest, .. } => (ticket, *digest),
            _ => return None,
        };
        let held =
            self.model.queue.calls.iter().find(|held| held.key.session == *session && held.key.ticket == *ticket);
        held.map(|held| &held.snapshot).filter(|card| card.digest == digest && card.signs.is_some()).cloned()
    }

    /// One signature for these cards; or why there is none. The first of them is on screen meanwhile.
    fn sign(
        &mut self,
        cards: &[&Snapshot],
        grant: Option<&GrantTerms>,
        more: &mut Vec<Msg>,
    ) -> Result<Result<Evidence, String>, RunError> {
        let places = self.outside.places.clone();
        let keys = match sign::verdict_keys(&places, self.now()) {
            Ok(keys) => keys,
            Err(why) => return Ok(Err(why)),
        };
        // Keys typed ahead are not meant for this question.
        self.keyboard.drain(&self.inbox, more);
        let signed = |held: &&Held| cards.first().is_some_and(|card| held.snapshot.ticket == card.ticket);
        let shown = self.model.queue.calls.iter().find(signed).map(|held| held.key.clone());
        let left = std::mem::replace(&mut self.model.queue.selected, shown.clone());
        // Nothing is sent yet: its card shows as it was read.
        let state = shown.as_ref().and_then(|key| self.model.queue.call_mut(key));
        let state = state.map(|held| std::mem::replace(&mut held.state, CallState::Waiting));
        let mut tried = keys.iter().cycle();
        let made = loop {
            let to_sign = tried.next().and_then(|key| sign::approval(&self.sources, cards, grant, key.clone()));
            let Some(to_sign) = to_sign else { break Err("the card asks for no signature".to_owned()) };
            match self.wait_for(&to_sign, (cards.len(), keys.len()), more)? {
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
        self.model.queue.selected = left;
        self.model.note = None;
        Ok(made)
    }

    fn wait_for(
        &mut self,
        to_sign: &ToSign,
        (cards, keys): (usize, usize),
        more: &mut Vec<Msg>,
    ) -> Result<Waited, RunError> {
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
            let what = match cards {
                1 => String::new(),
                _ => format!("{} in one, ", counted(cards, "approval")),
            };
            let row = match &state {
                Ok(()) => foreign(Tone::Strong, &format!("Signing {what}as {}: touch the key.", to_sign.key)),
                Err(why) => foreign(Tone::Danger, why),
            };
            let row = row.ours(" ").joined(key("Esc")).ours(" back, ").joined(key("t")).ours(" at the terminal");
            self.model.note = Some(if keys > 1 { row.ours(", ").joined(key("Tab")).ours(" next key") } else { row });
            self.draw()?;
            match self.inbox.recv_timeout(LOOK_EVERY) {
                Ok(Input::Event(event, _)) => {
                    match message(event) {
                        Some(Msg::Key(Key::Esc | Key::Ctrl('c'))) => {
                            return Ok(Waited::Back("you went back, so the call waits on".to_owned()));
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

/// Whether an approval is of a card that was read whole, and of nothing beyond it: one signature may cover several of these.
fn was_read(command: &Command) -> bool {
    let read = OperatorVerdict::Approve { unread: false };
    matches!(command, Command::Send { message: FromConsole::Decide { verdict, .. }, .. } if *verdict == read)
}

fn grant(command: Option<&Command>) -> Option<GrantTerms> {
    match command {
        Some(Command::Send { message: FromConsole::Grant { terms, .. }, .. }) => Some(terms.clone()),
        _ => None,
    }
}
