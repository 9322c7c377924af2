//! What the wrappers say: calls come, change and settle; things pass. Nothing here moves the selection.

use std::sync::Arc;

use super::{Command, find_mut, findings, moves, note};
use crate::console::model::{
    CallKey, CallState, Connected, Held, Incompatible, Manner, Model, Origin, Passed, Screen, Seen,
};
use crate::console::row::{Row, Tone};
use crate::gate::data::snapshot::Snapshot;
use crate::link::client::ClientEvent;
use crate::link::message::{Activity, ActivityKind, FromWrapper, Status, Wrapper};

/// Entries of Activity that are kept; the log has them all.
const MOST_ACTIVITY: usize = 5_000;
/// Wrappers that ended and are still listed; the log has them all.
const MOST_ENDED: usize = 100;
/// Latencies of a server that are kept for its line.
const MOST_LATENCIES: usize = 64;

/// Takes one event of the link.
pub(super) fn heard(model: &mut Model, event: ClientEvent) -> Vec<Command> {
    match event {
        ClientEvent::Connected(wrapper) => connected(model, wrapper),
        ClientEvent::Said { session, message } => return said(model, session, message),
        ClientEvent::Incompatible { name, protocol, version } => {
            let other = Incompatible { name, protocol, version };
            if !model.incompatible.contains(&other) {
                model.incompatible.push(other);
            }
        }
        ClientEvent::Gone { session } => gone(model, &session),
        ClientEvent::Trouble(what) => model.trouble = Some(what),
    }
    Vec::new()
}

fn connected(model: &mut Model, wrapper: Wrapper) {
    model.trouble = None;
    match model.wrappers.iter_mut().find(|known| known.wrapper.session == wrapper.session) {
        Some(known) => known.wrapper = wrapper,
        None => model.wrappers.push(Connected { wrapper, status: Status::default() }),
    }
    findings::rebuild(model);
}

fn gone(model: &mut Model, session: &str) {
    let (ended, running) =
        std::mem::take(&mut model.wrappers).into_iter().partition(|one| one.wrapper.session == session);
    model.wrappers = running;
    let now = model.now;
    let ended: Vec<Connected> = ended;
    model.browse.ended.extend(ended.into_iter().map(|one| (one, now)));
    let spare = model.browse.ended.len().saturating_sub(MOST_ENDED);
    model.browse.ended.drain(..spare);
    model.browse.known.remove(session);
    model.browse.latencies.remove(session);
    findings::rebuild(model);
    // One we could not talk to has no session; the link tells its name.
    model.incompatible.retain(|other| other.name != session);
    let keys: Vec<CallKey> = model
        .calls
        .iter()
        .filter(|held| held.key.session == session && !super::is_over(held))
        .map(|held| held.key.clone())
        .collect();
    for key in keys {
        moves::end(model, &key, CallState::Gone);
    }
}

fn said(model: &mut Model, session: String, message: FromWrapper) -> Vec<Command> {
    match message {
        FromWrapper::Hello { wrapper, .. } => connected(model, wrapper),
        FromWrapper::Held { call } => return held(model, session, *call),
        FromWrapper::Settled(settled) => {
            let key = CallKey { session, ticket: settled.ticket.clone() };
            moves::end(model, &key, CallState::Settled(settled));
        }
        FromWrapper::Activity(activity) => passed(model, &session, activity),
        FromWrapper::Status(status) => {
            if let Some(known) = model.wrappers.iter_mut().find(|known| known.wrapper.session == session) {
                let changed = known.status.grants != status.grants || known.status.pending != status.pending;
                known.status = status;
                if changed {
                    findings::rebuild(model);
                }
            }
        }
        FromWrapper::Tools { tools } => {
            model.browse.known.insert(session, tools);
            findings::rebuild(model);
        }
        // It answers a question that no console asks.
        FromWrapper::Waiting { .. } => {}
        FromWrapper::Refused { ticket, why } => refused(model, session, ticket, &why),
    }
    Vec::new()
}

fn held(model: &mut Model, session: String, snapshot: Snapshot) -> Vec<Command> {
    let (class, likeness) = model.classify(&session, &snapshot);
    let key = CallKey { session, ticket: snapshot.ticket.clone() };
    let Some(known) = find_mut(model, &key) else {
        let first = model.waiting() == 0;
        // Its like was read already, so there is nothing new to read in it.
        let alike = |held: &&Held| held.class == class && held.state == CallState::Waiting;
        let seen = model.calls.iter().find(alike).map_or(Seen::default(), |held| held.seen);
        let (snapshot, state) = (Arc::new(snapshot), CallState::Waiting);
        model.calls.push(Held { key, snapshot, state, seen, class, likeness });
        let rings = first && model.manner == Manner::Rings;
        return if rings { vec![Command::Bell] } else { Vec::new() };
    };
    if *known.snapshot == snapshot {
        // Told again, after the link came back: nothing changed, nothing is forgotten. What this console sent may be lost.
        known.state = CallState::Waiting;
        return Vec::new();
    }
    *known = Held {
        key: key.clone(),
        snapshot: Arc::new(snapshot),
        state: CallState::Waiting,
        seen: Seen::default(),
        class,
        likeness,
    };
    model.marked.remove(&key);
    if model.selected.as_ref() != Some(&key) {
        return Vec::new();
    }
    // On other screens the card is not to be seen, and what was answered there stays.
    if matches!(model.screen, Screen::Queue | Screen::Detail) {
        note(model, Tone::Warn, "The card changed: it waits for a decision of its own.");
    }
    vec![Command::Drain]
}

fn refused(model: &mut Model, session: String, ticket: String, why: &str) {
    let row = Row::default().and_foreign(Tone::Strong, &ticket);
    let row = row.and(Tone::Warn, if ticket.is_empty() { "Nothing was done. " } else { ": nothing was done. " });
    model.note = Some(row.and_foreign(Tone::Warn, why));
    if let Some(held) = find_mut(model, &CallKey { session, ticket })
        && !super::is_over(held)
    {
        held.state = CallState::Waiting;
    }
}

fn passed(model: &mut Model, session: &str, activity: Activity) {
    let server = model
        .wrappers
        .iter()
        .find(|known| known.wrapper.session == session)
        .map_or_else(String::new, |known| known.wrapper.server.clone());
    if let (ActivityKind::Outcome, Some(latency)) = (activity.kind, activity.latency_us) {
        let latencies = model.browse.latencies.entry(session.to_owned()).or_default();
        latencies.push_back(latency);
        if latencies.len() > MOST_LATENCIES {
            latencies.pop_front();
        }
    }
    let session = session.to_owned();
    model.activity.push_back(Passed { server, session, activity, source: Origin::Live });
    if model.activity.len() > MOST_ACTIVITY {
        let was_listed = model.passing().first() == Some(&0);
        model.activity.pop_front();
        // The selection stays on its entry.
        if was_listed {
            let list = &mut model.browse.activity;
            list.at = list.at.saturating_sub(1);
            list.top = list.top.saturating_sub(1);
        }
    }
}
