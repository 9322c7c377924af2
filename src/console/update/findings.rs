//! Stores what the log reader found: pages of the log, counts, rules; and makes the screens' lists from them.

mod rules;
mod tools;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::audit::fields::{Call, Field};
use crate::audit::query::{CallRows, Place};
use crate::audit::record::{Kind, Outcome};
use crate::console::model::{
    EntrySource, ListState, Model, Opens, Overlay, Passed, RuleStage, ServerLine, ToolLine, Window,
};
use crate::link::message::{Activity, ActivityKind, Direction};
use crate::operator::found::{Edge, Finding, Line, LogRows, Page, Progress};
use crate::operator::tried::{self, Attempt, Examined, Tried};

/// Records that are kept in memory.
const MOST: usize = 4_000;
/// Latencies of one session that are taken from the log.
const LATENCIES: usize = 32;
/// Ended sessions that are listed.
const PAST: usize = 200;

/// Takes one finding.
pub(super) fn take(model: &mut Model, finding: Finding) {
    let browse = &mut model.browse;
    match finding {
        Finding::Page(page) => take_page(model, page),
        Finding::Record(seq, opened) => {
            let selected = browse.window.lines.get(browse.log.at).map(|line| line.seq);
            if selected == Some(seq) || browse.opened.as_ref().is_some_and(|(wanted, _)| *wanted == seq) {
                browse.opened = Some((seq, opened));
            }
        }
        Finding::Counts(counts) => {
            browse.counts = Some(counts);
            browse.log_missing = false;
            browse.trouble = None;
            rebuild(model);
        }
        Finding::Verified(checked) => browse.checked = Some(checked),
        Finding::Indexed { upto, level } => browse.indexing = (!level).then_some(upto),
        Finding::Rules(book) => {
            browse.book = Some(book);
            rebuild(model);
        }
        Finding::Tried(tried) => take_tried(model, tried),
        Finding::Pins(book) => {
            browse.pins = Some(book);
            browse.forgotten = None;
            rebuild(model);
        }
        Finding::PinsTrouble(why) => browse.forgotten = Some(why),
        Finding::PastCall(seq, call) => super::rule::found(model, seq, call),
        Finding::Footprints(found) => browse.footprints = found.into_iter().collect(),
        Finding::Hosts(unwrapped) => {
            browse.unwrapped = unwrapped;
            rebuild(model);
        }
        Finding::Recent(lines) => recent(model, lines),
        Finding::Trouble(what) => {
            browse.trouble = Some(what);
            (browse.window.awaits, browse.window.looked) = (None, model.now);
        }
        Finding::NoLog => {
            browse.log_missing = true;
            (browse.window.awaits, browse.window.looked) = (None, model.now);
        }
    }
}

fn take_page(model: &mut Model, page: Page) {
    let rows = model.browse.rows();
    let of = |(_, call): (Option<Kind>, Call)| call;
    let window = &mut model.browse.window;
    if window.awaits != Some(page.id) {
        return;
    }
    model.browse.log_missing = false;
    model.browse.trouble = None;
    window.newest = window.newest.max(page.newest);
    let ended = page.progress == Progress::AtTheEnd;
    let list = &model.browse.log;
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
                model.browse.log.at = page.lines.len().saturating_sub(1);
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
            let list = &mut model.browse.log;
            (list.at, list.top) = (at, (list.top + at).saturating_sub(list.at));
        }
    }
    window.searched = (page.progress == Progress::Searching).then_some(page.searched);
    if page.progress != Progress::Searching {
        window.awaits = None;
        window.looked = model.now;
    }
    // The operator came to this row from another screen.
    let window = &mut model.browse.window;
    if window.opens == Opens::TheFirst && !window.lines.is_empty() {
        window.opens = Opens::Nothing;
        (model.browse.log.at, model.browse.log.sheet) = (0, Some(0));
    }
    trim(model);
}

/// Stores what past calls say where it is shown. Results for a closed panel are dropped.
fn take_tried(model: &mut Model, tried: Tried) {
    let suggested = &mut model.browse.suggested;
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
            put(suggested, found, examined);
            rebuild(model);
        }
        (Tried::Failed { id, why }, Some(Overlay::Rule(rule))) if rule.past.id == id => rule.past.failed = Some(why),
        (Tried::Failed { id, why }, Some(Overlay::Review(review))) if review.past.id == id => {
            review.past.failed = Some(why);
        }
        (Tried::Failed { id, why }, _) if suggested.id == id => suggested.failed = Some(why),
        (Tried::Rules { .. } | Tried::Policy { .. } | Tried::Suggestions { .. } | Tried::Failed { .. }, _) => {}
    }
}

fn put<T>(attempt: &mut Attempt<T>, found: Arc<T>, examined: Examined) {
    (attempt.found, attempt.examined) = (Some(found), examined);
}

/// Leaves each call one row of those that are here.
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
    let (window, list) = (&mut model.browse.window, &mut model.browse.log);
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
        model.activity.iter().any(|passed| {
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
            let all = model.browse.latencies.entry(passed.session.clone()).or_default();
            if all.len() < LATENCIES {
                all.push_front(latency);
            }
        }
        model.activity.push_front(passed);
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

/// Makes the lists of Tools, Rules and Servers again. The selection stays on its line.
pub(super) fn rebuild(model: &mut Model) {
    // Until the operator moves, the selection stays on the first line.
    let moved = |list: &ListState| list.at > 0 || list.sheet.is_some();
    let tool = model.browse.tool_lines.get(model.browse.tools.at).filter(|_| moved(&model.browse.tools));
    let tool = tool.map(|line| (line.server.clone(), line.tool.clone()));
    let rule = model.browse.rule_lines.get(model.browse.rules.at).filter(|_| moved(&model.browse.rules));
    let rule = rule.cloned();
    model.browse.tool_lines = tools::lines(model);
    model.browse.rule_lines = rules::lines(model);
    let same =
        |line: &ToolLine| tool.as_ref().is_some_and(|(server, tool)| line.server == *server && line.tool == *tool);
    if let Some(at) = model.browse.tool_lines.iter().position(same) {
        model.browse.tools.at = at;
    }
    if let Some(at) = model.browse.rule_lines.iter().position(|line| rule.as_ref().is_some_and(|rule| rule.is(line))) {
        model.browse.rules.at = at;
    }
    model.browse.server_lines = servers(model);
}

fn servers(model: &Model) -> Vec<ServerLine> {
    let search = &model.browse.servers.search;
    let wanted = |server: &str, session: &str, last: Option<i64>, more: &str| {
        let fields = [(Field::Server, Some(server)), (Field::Session, Some(session))];
        search.wants(last, &fields, || format!("{server} {session} {more}"))
    };
    let of = |one: &crate::console::model::Connected, last: Option<i64>| {
        let wrapper = &one.wrapper;
        wanted(&wrapper.server, &wrapper.session, last, &wrapper.command.join(" "))
    };
    let mut lines: Vec<ServerLine> = Vec::new();
    for (at, one) in model.wrappers.iter().enumerate() {
        if of(one, Some(model.now)) {
            lines.push(ServerLine::Running(at));
        }
    }
    let name = |line: &ServerLine| match line {
        ServerLine::Running(at) => model.wrappers.get(*at).map(|one| &one.wrapper.server),
        ServerLine::Ended(_) | ServerLine::Unwrapped(_) | ServerLine::Past(..) => None,
    };
    lines.sort_by(|one, other| name(one).cmp(&name(other)));
    for (at, one) in model.browse.unwrapped.iter().enumerate() {
        if wanted(&one.server, "", None, &format!("{} {} not wrapped", one.host, one.list)) {
            lines.push(ServerLine::Unwrapped(at));
        }
    }
    for (at, (one, when)) in model.browse.ended.iter().enumerate().rev() {
        if of(one, Some(*when)) {
            lines.push(ServerLine::Ended(at));
        }
    }
    let here = |session: &str| {
        let mut wrappers = model.wrappers.iter().chain(model.browse.ended.iter().map(|(one, _)| one));
        wrappers.any(|one| one.wrapper.session == session)
    };
    let sessions = model.browse.counts.iter().flat_map(|counts| &counts.sessions.0);
    let mut past: Vec<_> =
        sessions.filter(|(session, one)| !here(session) && wanted(&one.server, session, one.last, "")).collect();
    past.sort_by_key(|(_, one)| std::cmp::Reverse(one.last));
    let past =
        past.into_iter().take(PAST).map(|(session, one)| ServerLine::Past(session.clone(), Box::new(one.clone())));
    lines.extend(past);
    lines
}
