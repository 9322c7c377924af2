//! Has the operator's key sign the approvals whose cards ask for it, before they are sent: those that were read with one touch, any
//! other by itself. The card stays on screen meanwhile; Esc goes back. Decides nothing.

use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use super::terminal::{Input, message};
use super::{Loop, RunError};
use crate::console::keymap::Key;
use crate::console::model::{CallState, Command, Held, Msg};
use crate::gate::data::snapshot::Snapshot;
use crate::gate::data::terms::GrantTerms;
use crate::link::client::ClientEvent;
use crate::link::message::{FromConsole, FromWrapper, OperatorVerdict};
use crate::operator::sign::{self, Evidence, Prompts, ToSign};
use crate::text::row::{Tone, foreign, key};
use crate::wire::number::counted;

/// How often to look whether the key was touched.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How many cards one signature covers: more would not fit in a statement.
const MOST: usize = 40;

/// What came of waiting for a key.
enum Waited {
    Signed(String),
    /// The operator took it back, or the terminal is gone.
    Back(String),
    NextKey,
    /// ssh-keygen is to ask for a passphrase or a PIN.
    Terminal,
}

impl Loop<'_> {
    /// The commands, each approval that needs it with a signature. One that was not signed is left out, and `more` says why.
    pub(super) fn signed(&mut self, todo: Vec<Command>, more: &mut Vec<Msg>) -> Result<Vec<Command>, RunError> {
        let cards: Vec<Option<Arc<Snapshot>>> = todo.iter().map(|command| self.card(command)).collect();
        let wanted = (0..todo.len()).filter(|at| cards.get(*at).is_some_and(Option::is_some));
        let (together, alone): (Vec<usize>, Vec<usize>) = wanted.partition(|at| todo.get(*at).is_some_and(was_read));
        let groups: Vec<&[usize]> = together.chunks(MOST).chain(alone.chunks(1)).collect();
        let mut todo: Vec<Option<Command>> = todo.into_iter().map(Some).collect();
        for group in groups {
            let of_group: Vec<&Snapshot> = group.iter().filter_map(|at| cards.get(*at)?.as_deref()).collect();
            let made = self.sign(&of_group, grant(group.iter().find_map(|at| todo.get(*at)?.as_ref())), more)?;
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
        grant: Option<GrantTerms>,
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
            let to_sign =
                tried.next().and_then(|key| sign::approval(&self.sources, cards, grant.as_ref(), key.clone()));
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

    /// Waits until the key has signed, and says so in the footer.
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
                    Err(why) => Err(why.to_string()),
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
