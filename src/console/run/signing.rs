//! Which commands need a signature before they are carried out, what it covers, and what becomes of each with it or without. Waits
//! for no key.

use std::sync::Arc;

use crate::console::model::{CallKey, Command, Model, Msg, Reach};
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
    Approval(Vec<Card>, Option<GrantTerms>),
    /// A verdict on cards of a desk, where denials are signed too: with its reason.
    OnDesk(Vec<Card>, OperatorVerdict),
    /// What is said with a card, or beside all calls.
    Change(ChangeTerms, Option<CallKey>),
    /// Nothing: what this card's wrapper wants signed is not what it shows.
    Other(CallKey),
}

/// A card, and the call that it is of.
type Card = (CallKey, Arc<Snapshot>);

const OTHER: &str = "the wrapper wants your signature for something else than this card shows. It may not be ours: do not go on \
                     with this server before `mcp-approve doctor` says what runs";

impl Wanted {
    pub(super) fn keys(&self, places: &Places, now: i64) -> Result<Vec<OwnKey>, String> {
        match self {
            Self::Approval(..) | Self::OnDesk(..) => sign::keys(places, sign::NAMESPACE, now),
            Self::Change(..) => sign::keys(places, sign::CHANGES, now),
            Self::Other(_) => Err(OTHER.to_owned()),
        }
    }

    pub(super) fn to_sign(&self, sources: &Sources, key: OwnKey) -> Option<ToSign> {
        match self {
            Self::Approval(cards, grant) => sign::approval(sources, &snapshots(cards), grant.as_ref(), key),
            Self::OnDesk(cards, word) => sign::on_desk(&snapshots(cards), word, (sources.now)(), key),
            Self::Change(terms, _) => Some(sign::change(terms.clone(), (sources.now)(), key)),
            Self::Other(_) => None,
        }
    }

    /// The call to show meanwhile.
    pub(super) fn shown(&self) -> Option<CallKey> {
        match self {
            Self::Approval(cards, _) | Self::OnDesk(cards, _) => cards.first().map(|(call, _)| call.clone()),
            Self::Change(_, call) => call.clone(),
            Self::Other(call) => Some(call.clone()),
        }
    }

    /// How much it covers, if that is more than one thing.
    pub(super) fn what(&self) -> String {
        match self {
            Self::Approval(cards, _) | Self::OnDesk(cards, OperatorVerdict::Approve { .. }) if cards.len() > 1 => {
                format!("{} in one, ", counted(cards.len(), "approval"))
            }
            Self::OnDesk(cards, OperatorVerdict::Deny { .. }) if cards.len() > 1 => {
                format!("{} in one, ", counted(cards.len(), "denial"))
            }
            Self::Change(terms, _) if terms.changes.len() > 1 => {
                format!("{} in one, ", counted(terms.changes.len(), "change"))
            }
            Self::Approval(..) | Self::OnDesk(..) | Self::Change(..) | Self::Other(_) => String::new(),
        }
    }
}

/// What has to be signed before these commands are carried out, with the places of those that each signature is for.
pub(super) fn wanted(model: &Model, places: &Places, todo: &[Command]) -> Vec<(Vec<usize>, Wanted)> {
    let cards: Vec<Option<Card>> = todo.iter().map(|command| card(model, command)).collect();
    let signed = (0..todo.len()).filter(|at| cards.get(*at).is_some_and(Option::is_some));
    let (together, alone): (Vec<usize>, Vec<usize>) = signed.partition(|at| todo.get(*at).is_some_and(may_share));
    let (denied, approved): (Vec<usize>, Vec<usize>) =
        together.into_iter().partition(|at| todo.get(*at).and_then(verdict).is_some_and(denies));
    // The reason is signed too.
    let is_same = |one: &usize, other: &usize| todo.get(*one).and_then(verdict) == todo.get(*other).and_then(verdict);
    let of = |group: &[usize]| {
        let of_group = group.iter().filter_map(|at| cards.get(*at)?.clone()).collect();
        if model.settings.reach == Reach::Desk {
            let verdict = group.first().and_then(|at| verdict(todo.get(*at)?)).cloned();
            let approve = OperatorVerdict::Approve { unread: false };
            return (group.to_vec(), Wanted::OnDesk(of_group, verdict.unwrap_or(approve)));
        }
        let grant = group.iter().find_map(|at| match todo.get(*at) {
            Some(Command::Send { message: FromConsole::Grant { terms, .. }, .. }) => Some(terms.clone()),
            _ => None,
        });
        (group.to_vec(), Wanted::Approval(of_group, grant))
    };
    let changes = todo.iter().enumerate().filter_map(|(at, command)| Some((vec![at], change(model, places, command)?)));
    let denied = denied.chunk_by(is_same).flat_map(|same| same.chunks(MOST));
    approved.chunks(MOST).chain(denied).chain(alone.chunks(1)).map(of).chain(changes).collect()
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
            let held = model.queue.call(&call)?;
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

/// The card that a command approves, or denies on a desk, if it asks for a signature.
fn card(model: &Model, command: &Command) -> Option<Card> {
    let Command::Send { session, message } = command else { return None };
    let (ticket, digest) = match message {
        FromConsole::Decide { verdict: OperatorVerdict::Deny { .. }, .. } if model.settings.reach == Reach::Own => {
            return None;
        }
        FromConsole::Decide { ticket, digest, .. } | FromConsole::Grant { ticket, digest, .. } => (ticket, *digest),
        _ => return None,
    };
    let held = model.queue.call(&CallKey { session: session.clone(), ticket: ticket.clone() })?;
    let card = Some(&held.snapshot).filter(|card| card.digest == digest && card.signs.is_some());
    card.map(|card| (held.key.clone(), Arc::clone(card)))
}

/// Whether one signature may cover this verdict and others: an approval of a card that was read whole, and of nothing beyond it; a denial.
fn may_share(command: &Command) -> bool {
    let read = OperatorVerdict::Approve { unread: false };
    verdict(command).is_some_and(|verdict| denies(verdict) || *verdict == read)
}

fn verdict(command: &Command) -> Option<&OperatorVerdict> {
    match command {
        Command::Send { message: FromConsole::Decide { verdict, .. }, .. } => Some(verdict),
        _ => None,
    }
}

const fn denies(verdict: &OperatorVerdict) -> bool {
    matches!(verdict, OperatorVerdict::Deny { .. })
}

fn snapshots(cards: &[Card]) -> Vec<&Snapshot> {
    cards.iter().map(|(_, card)| card.as_ref()).collect()
}
