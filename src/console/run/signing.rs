//! Which commands need a signature before they are carried out, what it covers, and what becomes of each with it or without. Waits
//! for no key.

use std::sync::Arc;

use crate::console::model::{CallKey, Command, Model, Msg};
use crate::gate::{data::snapshot::Snapshot, data::terms::GrantTerms};
use crate::home::{places::Places, user};
use crate::link::client::ClientEvent;
use crate::link::message::{FromConsole, FromWrapper, OperatorVerdict};
use crate::operator::Sources;
use crate::operator::sign::{self, ChangeTerms, Evidence, OwnKey, ToSign};
use crate::wire::counted;

/// How many cards one signature covers: more would not fit in a statement.
const MOST: usize = 40;

/// What one signature covers.
pub(super) enum Wanted {
    /// The approval of these cards, as they were shown.
    Approval(Vec<Arc<Snapshot>>, Option<GrantTerms>),
    /// What is said with a card, or beside all calls.
    Change(ChangeTerms, Option<CallKey>),
    /// Nothing: what this card's wrapper wants signed is not what it shows.
    Other(CallKey),
}

const OTHER: &str = "the wrapper wants your signature for something else than this card shows. It may not be ours: do not go on \
                     with this server before `mcp-approve doctor` says what runs";

impl Wanted {
    pub(super) fn keys(&self, places: &Places, now: i64) -> Result<Vec<OwnKey>, String> {
        match self {
            Self::Approval(..) => sign::keys(places, sign::NAMESPACE, now),
            Self::Change(..) => sign::keys(places, sign::CHANGES, now),
            Self::Other(_) => Err(OTHER.to_owned()),
        }
    }

    pub(super) fn to_sign(&self, sources: &Sources, key: OwnKey) -> Option<ToSign> {
        match self {
            Self::Approval(cards, grant) => {
                let cards: Vec<&Snapshot> = cards.iter().map(AsRef::as_ref).collect();
                sign::approval(sources, &cards, grant.as_ref(), key)
            }
            Self::Change(terms, _) => Some(sign::change(terms.clone(), (sources.now)(), key)),
            Self::Other(_) => None,
        }
    }

    /// The call to show meanwhile.
    pub(super) fn shown(&self, model: &Model) -> Option<CallKey> {
        let first = match self {
            Self::Approval(cards, _) => cards.first()?,
            Self::Change(_, call) => return call.clone(),
            Self::Other(call) => return Some(call.clone()),
        };
        model.queue.calls.iter().find(|held| held.snapshot.ticket == first.ticket).map(|held| held.key.clone())
    }

    /// How much it covers, if that is more than one thing.
    pub(super) fn what(&self) -> String {
        match self {
            Self::Approval(cards, _) if cards.len() > 1 => format!("{} in one, ", counted(cards.len(), "approval")),
            Self::Change(terms, _) if terms.changes.len() > 1 => {
                format!("{} in one, ", counted(terms.changes.len(), "change"))
            }
            Self::Approval(..) | Self::Change(..) | Self::Other(_) => String::new(),
        }
    }
}

/// What has to be signed before these commands are carried out, with the places of those that each signature is for.
pub(super) fn wanted(model: &Model, places: &Places, todo: &[Command]) -> Vec<(Vec<usize>, Wanted)> {
    let cards: Vec<Option<Arc<Snapshot>>> = todo.iter().map(|command| card(model, command)).collect();
    let approvals = (0..todo.len()).filter(|at| cards.get(*at).is_some_and(Option::is_some));
    let (together, alone): (Vec<usize>, Vec<usize>) = approvals.partition(|at| todo.get(*at).is_some_and(was_read));
    let approval = |group: &[usize]| {
        let of_group = group.iter().filter_map(|at| cards.get(*at)?.clone()).collect();
        let grant = group.iter().find_map(|at| match todo.get(*at) {
            Some(Command::Send { message: FromConsole::Grant { terms, .. }, .. }) => Some(terms.clone()),
            _ => None,
        });
        (group.to_vec(), Wanted::Approval(of_group, grant))
    };
    let changes = todo.iter().enumerate().filter_map(|(at, command)| Some((vec![at], change(model, places, command)?)));
    together.chunks(MOST).chain(alone.chunks(1)).map(approval).chain(changes).collect()
}

/// The command with its signature; without one it is left out, and `more` says why.
pub(super) fn with(mut command: Command, made: &Result<Evidence, String>, more: &mut Vec<Msg>) -> Option<Command> {
    let Command::Send { session, message } = &mut command else { return Some(command) };
    let (ticket, signed) = match message {
        FromConsole::Decide { ticket, signed, .. }
        | FromConsole::Grant { ticket, signed, .. }
        | FromConsole::Pin { ticket, signed, .. } => (ticket.clone(), signed),
        FromConsole::AcceptPolicy { signed, .. } => (String::new(), signed),
        _ => return Some(command),
    };
    match made {
        Ok(evidence) => {
            *signed = Some(evidence.clone());
            Some(command)
        }
        Err(why) => {
            let message = FromWrapper::Refused { ticket, why: format!("not sent: {why}") };
            more.push(Msg::Link(ClientEvent::Said { session: std::mem::take(session), message }));
            None
        }
    }
}

/// What a message settles beyond its call, if that needs a signature.
fn change(model: &Model, places: &Places, command: &Command) -> Option<Wanted> {
    let Command::Send { session, message } = command else { return None };
    match message {
        FromConsole::Pin { ticket, word, .. } => {
            let call = CallKey { session: session.clone(), ticket: ticket.clone() };
            let held = model.queue.calls.iter().find(|held| held.key == call)?;
            let card = &held.snapshot;
            let offer = card.offer.as_ref()?;
            let signs = offer.signs.as_ref()?;
            let terms = signs.change(*word)?;
            let is_honest = signs.is_as_shown(offer, (&card.tool, card.identity))
                && (terms.machine == user::machine() && terms.user == user::name());
            Some(if is_honest { Wanted::Change(terms, Some(call)) } else { Wanted::Other(call) })
        }
        FromConsole::AcceptPolicy { file, digest, .. } => {
            sign::acceptance(places, file, *digest).map(|terms| Wanted::Change(terms, None))
        }
        _ => None,
    }
}

/// The card that a command approves, if it asks for a signature.
fn card(model: &Model, command: &Command) -> Option<Arc<Snapshot>> {
    let Command::Send { session, message } = command else { return None };
    let (ticket, digest) = match message {
        FromConsole::Decide { ticket, digest, verdict: OperatorVerdict::Approve { .. }, .. }
        | FromConsole::Grant { ticket, digest, .. } => (ticket, *digest),
        _ => return None,
    };
    let held = model.queue.calls.iter().find(|held| held.key.session == *session && held.key.ticket == *ticket);
    held.map(|held| &held.snapshot).filter(|card| card.digest == digest && card.signs.is_some()).cloned()
}

/// Whether an approval is of a card that was read whole, and of nothing beyond it: one signature may cover several of these.
fn was_read(command: &Command) -> bool {
    let read = OperatorVerdict::Approve { unread: false };
    matches!(command, Command::Send { message: FromConsole::Decide { verdict, .. }, .. } if *verdict == read)
}
