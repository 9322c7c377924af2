//! Stores what the log reader found: pages of the log, counts, rules, trials.

use std::collections::VecDeque;
use std::sync::Arc;

use super::lists::rebuild;
use super::maker;
use crate::audit::query::{CallRows, Place};
use crate::audit::{Kind, Outcome, fields::Call};
use crate::console::model::{EntrySource, Model, Opens, Overlay, Passed, RuleStage, Window};
use crate::link::message::{Activity, ActivityKind, Direction};
use crate::operator::found::{Before, Edge, Finding, Line, LogRows, Page, Progress};
use crate::operator::tried::{self, Attempt, Examined, Suggested, Tried};

/// Records that are kept in memory.
const MOST: usize = 4_000;
/// Latencies of one session that are taken from the log.
const LATENCIES: usize = 32;

pub(super) fn take(model: &mut Model, finding: Finding) {
    match finding {
        Finding::Page(page) => take_page(model, page),
        Finding::Record(seq, opened) => {
            let selected = model.log.window.lines.get(model.log.list.at).map(|line| line.seq);
            if selected == Some(seq) || model.log.opened.as_ref().is_some_and(|(wanted, _)| *wanted == seq) {
                model.log.opened = Some((seq, opened));
            }
        }
        Finding::Counts(counts) => {
            model.log.counts = Some(counts);
            model.log.missing = false;
            model.log.trouble = None;
            rebuild(model);
        }
        Finding::Verified(checked) => model.log.checked = Some(checked),
        Finding::Indexed { upto, level } => model.log.indexing = (!level).then_some(upto),
        Finding::Rules(book) => {
            model.rules.book = Some(book);
            rebuild(model);
        }
        Finding::Tried(tried) => take_tried(model, tried),
        Finding::Pins(book) => {
            model.tools.pins = Some(book);
            model.tools.forgotten = None;
            rebuild(model);
        }
        Finding::PinsTrouble(why) => model.tools.forgotten = Some(why),
        Finding::PastCall(seq, call) => maker::found(model, seq, call),
        Finding::Footprints(found) => model.servers.footprints = found.into_iter().collect(),
        Finding::Hosts(unwrapped) => {
            model.servers.unwrapped = unwrapped;
            rebuild(model);
        }
        Finding::Recent(lines) => recent(model, lines),
        Finding::Before(before) => model.card.before = Some(before),
        Finding::Trouble(what) => {
            model.log.trouble = Some(what);
            (model.log.window.awaits, model.log.window.looked) = (None, model.now);
        }
        Finding::NoLog => {
            model.log.missing = true;
            let asked = model.card.asked_before.clone();
            model.card.before = asked.map(|(server, tool, _)| Before { server, tool, ..Before::default() });
            (model.log.window.awaits, model.log.window.looked) = (None, model.now);
        }
    }
}

fn take_page(model: &mut Model, page: Page) {
    let rows = model.log.rows();
    let of = |(_, call): (Option<Kind>, Call)| call;
    let window = &mut model.log.window;
    if window.awaits != Some(page.id) {
        return;
    }
    model.log.missing = false;
    model.log.trouble = None;
    window.newest = window.newest.max(page.newest);
    let ended = page.progress == Progress::AtTheEnd;
    let list = &model.log.list;
    // At the top the selection follows new records; elsewhere it stays on its call.
    let stays = list.at > 0 || list.sheet.is_some() || page.from == Edge::Oldest;
    let selected = window.lines.get(list.at).filter(|_| stays).map(|line| (line.seq, line.of_call().map(of)));
    match page.from {
        Edge::Newest | Edge::Below(_) => {
            window.lines.extend(page.lines);
            if page.from == Edge::Newest && window.above.is_none() {
                window.above = Some(page.newest);
            }
            window.below = Some(if ended { 0 } else { page.searched });
        }
        Edge::Oldest | Edge::Above(_) => {
            if page.from == Edge::Oldest && window.lines.is_empty() {
                model.log.list.at = page.lines.len().saturating_sub(1);
            }
            for line in page.lines.into_iter().rev() {
                window.lines.push_front(line);
            }
            window.above = Some(if ended { page.newest.max(page.searched) } else { page.searched });
            if page.from == Edge::Oldest {
                window.below = Some(0);
            }
        }
    }
    if rows == LogRows::Calls {
        one_row_a_call(window);
    }
    if let Some((seq, call)) = selected {
        let is =
            |line: &Line| line.seq == seq || rows == LogRows::Calls && call.is_some() && line.of_call().map(of) == call;
        if let Some(at) = window.lines.iter().position(is) {
            let list = &mut model.log.list;
            (list.at, list.top) = (at, (list.top + at).saturating_sub(list.at));
        }
    }
    window.searched = (page.progress == Progress::Searching).then_some(page.searched);
    if page.progress != Progress::Searching {
        window.awaits = None;
        window.looked = model.now;
    }
    // The operator came to this row from another screen.
    let window = &mut model.log.window;
    if window.opens == Opens::TheFirst && !window.lines.is_empty() {
        window.opens = Opens::Nothing;
        (model.log.list.at, model.log.list.sheet) = (0, Some(0));
    }
    trim(model);
}

/// Stores what past calls say where it is shown. Results for a closed panel are dropped.
fn take_tried(model: &mut Model, tried: Tried) {
    let suggested = &mut model.rules.suggested;
    match (tried, &mut model.overlay) {
        (Tried::Rules { id, matched, examined }, Some(Overlay::Rule(rule))) if rule.past.id == id => {
            let (denied, at_once) = (rule.matched().map(|matched| matched.denied), rule.goes_at_once());
            put(&mut rule.past, matched, examined);
            // The first Enter was pressed when less was known.
            if rule.matched().map(|matched| matched.denied) != denied {
                rule.stage = RuleStage::Choosing;
            }
            // An Enter pressed when it would only ask must not write.
            if rule.goes_at_once() != at_once {
                model.untouched = None;
            }
        }
        (Tried::Policy { id, replayed, examined }, Some(Overlay::Review(review))) if review.past.id == id => {
            put(&mut review.past, replayed, examined);
            review.stage = RuleStage::Choosing;
        }
        (Tried::Suggestions { id, found }, _) if suggested.id == id => {
            let examined = Examined { calls: found.calls, coverage: tried::Coverage::Whole };
            // What is in the list stays in its order, whatever each saves by now; what is new comes after it.
            let known = suggested.found.take().map_or_else(Vec::new, |before| before.rules.clone());
            let mut rules = found.rules.clone();
            rules.sort_by_key(|rule| known.iter().position(|one| one.is_like(rule)).unwrap_or(known.len()));
            put(suggested, Arc::new(Suggested { rules, ..*found }), examined);
            rebuild(model);
        }
        (Tried::Failed { id, why }, Some(Overlay::Rule(rule))) if rule.past.id == id => {
            rule.past.failed = Some(why);
        }
        (Tried::Failed { id, why }, Some(Overlay::Review(review))) if review.past.id == id => {
            review.past.failed = Some(why);
        }
        (Tried::Failed { id, why }, _) if suggested.id == id => suggested.failed = Some(why),
        (Tried::Rules { .. } | Tried::Policy { .. } | Tried::Suggestions { .. } | Tried::Failed { .. }, _) => {}
    }
    maker::fit(model);
}

fn put<T>(attempt: &mut Attempt<T>, found: Arc<T>, examined: Examined) {
    (attempt.found, attempt.examined) = (Some(found), examined);
}

fn one_row_a_call(window: &mut Window) {
    let mut calls = CallRows::default();
    let mut rows: VecDeque<Line> = VecDeque::with_capacity(window.lines.len());
    for line in window.lines.drain(..) {
        match calls.place(line.of_call()) {
            Place::Row => rows.push_back(line),
            Place::InsteadOf(at) => {
                if let Some(there) = rows.get_mut(at) {
                    *there = line;
                }
            }
            Place::Behind => {}
        }
    }
    window.lines = rows;
}

/// Drops the records farthest from the selection.
fn trim(model: &mut Model) {
    let (window, list) = (&mut model.log.window, &mut model.log.list);
    while window.lines.len() > MOST {
        if list.at > MOST / 2 {
            window.lines.pop_front();
            list.at -= 1;
            list.top = list.top.saturating_sub(1);
            window.above = window.lines.front().map(|line| line.seq);
        } else {
            window.lines.pop_back();
            window.below = window.lines.back().map(|line| line.seq);
        }
    }
}

/// Puts what passed before this console was there in front of what it has heard itself.
fn recent(model: &mut Model, lines: Vec<Line>) {
    let heard = |line: &Line, kind: ActivityKind| {
        model.activity.passed.iter().any(|passed| {
            passed.session == line.session && passed.activity.ticket == line.ticket && passed.activity.kind == kind
        })
    };
    let mut before = Vec::new();
    for line in lines {
        let Some(activity) = as_passed(&line) else { continue };
        if line.ticket.is_none() || !heard(&line, activity.kind) {
            let (server, session) = (line.server.clone(), line.session.clone());
            before.push(Passed { server, session, activity, source: EntrySource::FromLog });
        }
    }
    for passed in before.into_iter().rev() {
        let runs = model.wrappers.iter().any(|one| one.wrapper.session == passed.session);
        let answered = runs && passed.activity.kind == ActivityKind::Outcome;
        if let Some(latency) = passed.activity.latency_us.filter(|_| answered) {
            let all = model.servers.latencies.entry(passed.session.clone()).or_default();
            if all.len() < LATENCIES {
                all.push_front(latency);
            }
        }
        model.activity.passed.push_front(passed);
    }
}

fn as_passed(line: &Line) -> Option<Activity> {
    let kind = match line.kind? {
        Kind::Decision => ActivityKind::Call,
        Kind::Outcome => ActivityKind::Outcome,
        Kind::Fault => ActivityKind::Refused,
        _ => return None,
    };
    Some(Activity {
        time: line.time?,
        direction: if kind == ActivityKind::Outcome { Direction::ToHost } else { Direction::ToServer },
        kind,
        what: line.tool.clone().unwrap_or_else(|| line.note.clone()),
        ticket: line.ticket.clone(),
        target: line.target.clone(),
        badge: line.badge,
        ruling: line.ruling,
        verdict: line.verdict,
        by: line.by,
        rule: line.rule.clone(),
        bytes: 0,
        latency_us: line.latency_us,
        failed: kind == ActivityKind::Outcome && line.outcome.is_some_and(Outcome::is_failure),
        reason: if kind == ActivityKind::Call { line.note.clone() } else { String::new() },
        explained: line.explained.clone(),
        who: line.who.clone(),
    })
}
