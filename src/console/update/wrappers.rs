//! What the wrappers say: calls come, change and settle; things pass. Nothing here moves the selection.

use std::sync::Arc;

use super::{lists, select};
use crate::audit::{By, VerdictWord};
use crate::console::card::{OnDesk, Withheld};
use crate::console::desk;
use crate::console::model::call;
use crate::console::model::{
    CallKey, CallState, Command, Connected, EntrySource, Held, Incompatible, Lost, LostFate, Manner, Model, Passed,
    Picked, Reach, Screen, Seen,
};
use crate::console::rows::decided_by;
use crate::gate::data::snapshot::Snapshot;
use crate::link::client::ClientEvent;
use crate::link::message::{Activity, ActivityKind, CallEnd, FromWrapper, Status, Wrapper};
use crate::mcp::Phase;
use crate::operator::record_row::verdict;
use crate::text::row::{Row, Tone, quiet, warn};

/// Entries of Activity that are kept; the log has them all.
const MOST_ACTIVITY: usize = 5_000;
/// Wrappers that ended and are still listed; the log has them all.
const MOST_ENDED: usize = 100;
/// Servers that are kept for their banner.
const MOST_CRASHED: usize = 10;
/// Lost calls that are kept for the banner.
const MOST_LOST: usize = 100;
/// Latencies of a server that are kept for its line.
const MOST_LATENCIES: usize = 64;

pub(super) fn heard(model: &mut Model, event: ClientEvent) {
    match event {
        ClientEvent::Connected(wrapper) => connected(model, wrapper),
        ClientEvent::Said { session, message } => said(model, session, message),
        ClientEvent::Incompatible { name, protocol, version } => {
            let other = Incompatible { name, protocol, version };
            if !model.incompatible.contains(&other) {
                model.incompatible.push(other);
            }
        }
        ClientEvent::Gone { session } => gone(model, &session),
        ClientEvent::Trouble(what) => model.trouble = Some(what),
        ClientEvent::Withheld { session, call } => held(model, session, *call, Withheld::Something),
        ClientEvent::Around(around) => model.around = around,
        ClientEvent::Witness(news) => model.witness = news,
    }
}

fn connected(model: &mut Model, wrapper: Wrapper) {
    model.trouble = None;
    if let Some(at) = &wrapper.at {
        model.places.note(at);
    }
    match model.wrappers.iter_mut().find(|known| known.wrapper.session == wrapper.session) {
        Some(known) => known.wrapper = wrapper,
        None => model.wrappers.push(Connected { wrapper, status: Status::default() }),
    }
    lists::wrappers_changed(model);
}

fn gone(model: &mut Model, session: &str) {
    let now = model.now;
    for mut one in model.wrappers.extract_if(.., |one| one.wrapper.session == session) {
        // The last report may be from before the wrapper's end.
        one.status.phase = Some(Phase::Closed);
        one.status.waiting = 0;
        if let Some(how) = &one.status.ended {
            model.crashed.retain(|(server, _)| *server != one.wrapper.server);
            model.crashed.push((one.wrapper.server.clone(), how.clone()));
            model.crashed.drain(..model.crashed.len().saturating_sub(MOST_CRASHED));
        }
        model.servers.ended.push((one, now));
    }
    let spare = model.servers.ended.len().saturating_sub(MOST_ENDED);
    model.servers.ended.drain(..spare);
    model.tools.known.remove(session);
    model.servers.latencies.remove(session);
    lists::wrappers_changed(model);
    // A wrapper that we could not talk to has no session; the link gives its name instead.
    model.incompatible.retain(|other| other.name != session);
    let of_it = || model.queue.calls.iter().filter(|held| held.key.session == session && !held.is_over());
    // A wrapper that ends in order says first what becomes of each call.
    model.lost.extend(of_it().map(lost).take(MOST_LOST.saturating_sub(model.lost.len())));
    let next = select::next_elsewhere(model, session);
    let selected = model.queue.selected.clone();
    model.queue.retain(|held| held.key.session != session || held.is_over() || Some(&held.key) == selected.as_ref());
    if let Some(key) =
        selected.filter(|key| key.session == session && model.queue.call(key).is_some_and(|held| !held.is_over()))
    {
        select::end(model, &key, CallState::Gone);
        select::move_on(model, &key, next);
    }
}

fn lost(held: &Held) -> Lost {
    let fate = match held.state {
        CallState::Sent(VerdictWord::Approve) => LostFate::MayHaveRun,
        _ => LostFate::NeverRan,
    };
    Lost { server: held.server.clone(), effect: held.snapshot.effect.clone(), fate }
}

fn said(model: &mut Model, session: String, message: FromWrapper) {
    match message {
        FromWrapper::Hello { wrapper, .. } => connected(model, wrapper),
        FromWrapper::Held { call } => held(model, session, *call, Withheld::Nothing),
        FromWrapper::Settled(settled) => {
            let key = CallKey { session, ticket: settled.ticket.clone() };
            confirm(model, &key, &settled);
            count(model, &key, &settled);
            // Only from the selected call does the console go on.
            let is_selected = model.queue.selected.as_ref() == Some(&key);
            let next = if is_selected { select::next_waiting(model, &key) } else { None };
            select::end(model, &key, CallState::Settled(settled));
            select::move_on(model, &key, next);
        }
        FromWrapper::Activity(activity) => passed(model, &session, activity),
        FromWrapper::Status(status) => {
            if let Some(known) = model.wrappers.iter_mut().find(|known| known.wrapper.session == session) {
                let changed = known.status.grants != status.grants || known.status.pending != status.pending;
                known.status = status;
                if changed || model.settings.reach == Reach::Desk {
                    lists::wrappers_changed(model);
                } else {
                    model.servers.lines = lists::server_lines(model);
                }
            }
        }
        FromWrapper::Tools { tools } => {
            model.tools.known.insert(session, tools);
            lists::rebuild(model);
        }
        // This answers a question that consoles do not ask.
        FromWrapper::Waiting { .. } => {}
        FromWrapper::Refused { ticket, why } | FromWrapper::NotCounted { ticket, why, .. } => {
            refused(model, session, ticket, &why);
        }
    }
}

/// Counts what an operator decided, here or elsewhere, where the card says what was decided before.
fn count(model: &mut Model, key: &CallKey, settled: &CallEnd) {
    let (Some(held), Some(before)) = (model.queue.call(key), &model.card.before) else { return };
    let (call, mut before) = (&held.snapshot, before.clone());
    let Some(verdict) = settled.verdict.filter(|_| settled.by == By::Operator) else { return };
    if (&before.server, &before.tool) != (&call.server, &call.tool) {
        return;
    }
    match verdict {
        VerdictWord::Approve => before.approved += 1,
        VerdictWord::Deny => before.denied += 1,
    }
    before.last = Some((verdict, settled.who.clone(), settled.time));
    model.card.before = Some(before);
}

/// Says what became of the call that this console decided last, unless another note is shown.
fn confirm(model: &mut Model, key: &CallKey, settled: &CallEnd) {
    if model.queue.confirming.as_ref() != Some(key) {
        return;
    }
    model.queue.confirming = None;
    let Some(held) = model.queue.call(key) else { return };
    let CallState::Sent(word) = held.state else { return };
    // On a desk others decide too, and may have been first.
    let is_desk = model.settings.reach == Reach::Desk && settled.by == By::Operator;
    let who = Some(settled.who.as_str()).filter(|who| is_desk && !who.is_empty());
    let (tone, words) = match (settled.by, word) {
        (By::Operator, VerdictWord::Approve) if settled.verdict == Some(word) => (Tone::Good, "Approved".to_owned()),
        (By::Operator, VerdictWord::Deny) if settled.verdict == Some(word) => (Tone::Good, "Denied".to_owned()),
        // What was signed with `p` lets the call pass, not the word itself.
        (By::Default, VerdictWord::Approve) if settled.verdict == Some(word) && held.snapshot.signs.is_some() => {
            (Tone::Good, "Approved by what you agreed to".to_owned())
        }
        (by, _) => {
            let (_, was) = verdict(settled.verdict, "withdrawn");
            let by = if who.is_some() { String::new() } else { format!(" {}", decided_by(by)) };
            (Tone::Warn, format!("Too late, it was {was}{by}"))
        }
    };
    if model.note.is_some() {
        return;
    }
    let row = match who {
        Some(who) => Row::of(tone, words + " by ").and_foreign(tone, who).and(tone, ": "),
        None => Row::of(tone, words + ": "),
    };
    let row = row.and_foreign(Tone::Ours, &held.snapshot.effect);
    let ticket = quiet(" · ").joined(desk::name(held, Tone::Quiet));
    let room = usize::from(model.size.0).saturating_sub(ticket.width() + 3);
    model.note = Some(row.clipped(room).joined(ticket));
    model.note_until = Some(model.now + 4_000);
}

fn held(model: &mut Model, session: String, snapshot: Snapshot, withheld: Withheld) {
    let wrapper = model.wrappers.iter().map(|one| &one.wrapper).find(|wrapper| wrapper.session == session);
    let desk = wrapper.and_then(|wrapper| Some(OnDesk { at: wrapper.at.clone()?, withheld }));
    let server = match &desk {
        Some(desk) => format!("{}:{}", call::place(&desk.at, &snapshot), snapshot.server),
        None => snapshot.server.clone(),
    };
    let (class, likeness) = model.queue.classify(&session, &snapshot, desk.as_ref());
    let key = CallKey { session, ticket: snapshot.ticket.clone() };
    let Some(known) = model.queue.call_mut(&key) else {
        let first = !model.queue.calls.iter().any(|held| held.waits());
        // An identical card was read already, so this one has nothing new.
        let alike = |held: &&Held| held.class == class && held.waits();
        let seen = model.queue.alike(likeness).find(alike).map_or(Seen::default(), |held| held.seen);
        let (snapshot, state) = (Arc::new(snapshot), CallState::Waiting);
        let older = model.queue.picked == Picked::ByArrival
            && model.armed().is_err()
            && model.queue.selection().is_some_and(|first| snapshot.arrived < first.snapshot.arrived);
        model.queue.push(Held { key: key.clone(), snapshot, state, seen, class, likeness, server, desk });
        // Whichever wrapper answers first, the oldest call is selected until one is armed.
        if older {
            select::select(model, Some(key));
        }
        let rings = first && model.settings.manner == Manner::Rings;
        if rings {
            model.todo.push(Command::Bell);
        }
        return;
    };
    if *known.snapshot == snapshot && known.desk == desk {
        // The wrapper repeats the card after the link came back. What this console sent may be lost.
        known.state = CallState::Waiting;
        return;
    }
    if known.class == class && known.snapshot.digest == snapshot.digest {
        // Nothing that matters for the decision has changed, only the deadline or who asks.
        let old = std::mem::replace(&mut known.snapshot, Arc::new(snapshot));
        known.state = CallState::Waiting;
        select::replace_card(model, &key, &old);
        return;
    }
    let changed = snapshot.asked_again.clone();
    let (snapshot, state) = (Arc::new(snapshot), CallState::Waiting);
    *known = Held { key: key.clone(), snapshot, state, seen: Seen::default(), class, likeness, server, desk };
    model.queue.note_alike(likeness, &key);
    model.queue.marked.remove(&key);
    if model.queue.selected.as_ref() != Some(&key) {
        return;
    }
    // Other screens do not show the card, and keep their own note.
    if matches!(model.screen, Screen::Queue | Screen::Detail) {
        let row = warn("The card changed, and waits for a decision of its own");
        model.note = Some(match changed {
            Some(what) => row.warn(": ").and_foreign(Tone::Warn, &what),
            None => row.warn("."),
        });
        model.note_until = None;
    }
    // What was typed into a prompt is never thrown away.
    if model.overlay.is_none() {
        model.todo.push(Command::Drain);
    }
}

fn refused(model: &mut Model, session: String, ticket: String, why: &str) {
    let is_beside = ticket.is_empty();
    let key = CallKey { session, ticket };
    let row = desk::name_of(model, &key, Tone::Strong);
    let row = row.warn(if is_beside { "Nothing was done: " } else { ": nothing was done: " });
    model.note = Some(row.and_foreign(Tone::Warn, why));
    let Some(held) = model.queue.call_mut(&key).filter(|held| !held.is_over()) else { return };
    let was = std::mem::replace(&mut held.state, CallState::Waiting);
    let (server, tool) = (held.server.clone(), held.snapshot.tool.clone());
    if let CallState::Sent(word) = was {
        model.queue.decisions.take_back(word, &server, &tool);
    }
    // Nothing else was decided since, and no question is open, so the selection goes back to this call.
    if model.queue.confirming.as_ref() == Some(&key) && model.overlay.is_none() {
        model.queue.confirming = None;
        select::select(model, Some(key));
    }
}

fn passed(model: &mut Model, session: &str, activity: Activity) {
    let known = model.wrappers.iter().find(|known| known.wrapper.session == session);
    let server = known.map(|known| known.wrapper.server.clone()).unwrap_or_default();
    if let (ActivityKind::Outcome, Some(latency)) = (activity.kind, activity.latency_us) {
        let latencies = model.servers.latencies.entry(session.to_owned()).or_default();
        latencies.push_back(latency);
        if latencies.len() > MOST_LATENCIES {
            latencies.pop_front();
        }
    }
    let session = session.to_owned();
    model.activity.passed.push_back(Passed { server, session, activity, source: EntrySource::Live });
    if model.activity.passed.len() > MOST_ACTIVITY {
        let was_listed = model.activity.passing().first() == Some(&0);
        model.activity.passed.pop_front();
        // The selection stays on its entry.
        if was_listed {
            let list = &mut model.activity.list;
            list.at = list.at.saturating_sub(1);
            list.top = list.top.saturating_sub(1);
        }
    }
}
