//! The Servers screen: every wrapper, running or remembered by the log, and how its server answers.

use super::{caption, entry, foreign, grouped, ours};
use crate::audit::tally::SessionTally;
use crate::console::card::counted;
use crate::console::columns::{Columns, NameColumn, Want, cell, fitted, widest};
use crate::console::found::Unwrapped;
use crate::console::model::{Connected, Model, ServerLine};
use crate::console::row::{Row, Tone};
use crate::console::time;
use crate::console::view::promise;
use crate::link::message::Status;
use crate::mcp::lifecycle::Phase;

pub(super) fn title(model: &Model) -> Row {
    let row = Row::of(Tone::Strong, " Servers").and(Tone::Quiet, format!(" · {} running", model.wrappers.len()));
    let bare = model.browse.unwrapped.len();
    let past = model.browse.server_lines.len().saturating_sub(model.wrappers.len() + bare);
    let row = if past == 0 { row } else { row.and(Tone::Quiet, format!(" · {past} ended")) };
    if bare == 0 { row } else { row.and(Tone::Danger, format!(" · {bare} NOT wrapped")) }
}

pub(super) fn heading(width: usize) -> Row {
    let parts = [" ● running", " ○ ended", " ✗ not wrapped", " ◌ opening", " · Enter tells more"];
    parts.into_iter().fold(Row::default(), |row, part| {
        let longer = row.clone().and(Tone::Quiet, part);
        if longer.width() <= width { longer } else { row }
    })
}

pub(super) fn empty(model: &Model) -> Vec<Row> {
    vec![
        Row::of(Tone::Strong, "No server is wrapped yet."),
        Row::of(Tone::Ours, "Wrap the servers of your hosts:"),
        Row::of(Tone::Key, model.hint("  mcp-approve install")),
        Row::of(Tone::Ours, "Or by hand, in a host's own file:"),
        Row::of(Tone::Key, model.hint("  mcp-approve -- npx -y @modelcontextprotocol/server-filesystem ~/work")),
    ]
}

pub(super) fn lines(model: &Model, range: std::ops::Range<usize>, width: usize) -> Vec<Row> {
    let shown = || model.browse.server_lines.iter().take(200);
    let most = |of: fn(&Model, &ServerLine) -> Row| shown().map(|line| of(model, line).width()).max().unwrap_or(0);
    let want = |gap, wants, least| Want { gap, wants, least };
    let names = || shown().map(|line| server(model, line));
    let name = NameColumn::of(names(), 12).width;
    let bars = if model.browse.latencies.is_empty() { 0 } else { 12 };
    let (state, calls, failed) = (most(state), most(calls), most(failed));
    let about = most(about).min(40);
    let wants = [
        want(1, state, state),
        want(1, calls, calls),
        want(1, failed, failed),
        want(2, about, about.min(8)),
        want(2, bars, bars.min(8)),
        want(0, widest(names()), name),
    ];
    let [state, calls, failed, about, bars, name] = fitted(width.saturating_sub(3), wants, &[4, 3, 2, 1]);
    let columns = Columns::default().left(0, 3, "").left(0, name, "").left(1, state, "").right(1, calls, "");
    let columns = columns.right(1, failed, "").left(2, bars, "").left(2, about, "");
    let names = NameColumn::within(names(), name);
    let shown = range.filter_map(|at| model.browse.server_lines.get(at));
    shown.map(|line| row(model, line, &columns, (names, bars))).collect()
}

fn server<'a>(model: &'a Model, line: &'a ServerLine) -> &'a str {
    match line {
        ServerLine::Running(at) => model.wrappers.get(*at).map_or("", |one| &one.wrapper.server),
        ServerLine::Ended(at) => model.browse.ended.get(*at).map_or("", |(one, _)| &one.wrapper.server),
        ServerLine::Unwrapped(at) => model.browse.unwrapped.get(*at).map_or("", |one| &one.server),
        ServerLine::Past(_, session) => &session.server,
    }
}

fn row(model: &Model, line: &ServerLine, columns: &Columns, (names, bars): (NameColumn, usize)) -> Row {
    let (mark, tone) = match line {
        ServerLine::Running(at) => (model.wrappers.get(*at).map_or_else(Row::default, mark), Tone::Strong),
        ServerLine::Ended(_) | ServerLine::Past(..) => (Row::of(Tone::Quiet, " ○ "), Tone::Quiet),
        ServerLine::Unwrapped(_) => (Row::of(Tone::Danger, " ✗ "), Tone::Danger),
    };
    let running = if let ServerLine::Running(at) = line { model.wrappers.get(*at) } else { None };
    columns.row([
        mark,
        names.cell(tone, server(model, line)),
        state(model, line),
        calls(model, line),
        failed(model, line),
        running.map_or_else(Row::default, |one| spark(model, one, bars)),
        about(model, line),
    ])
}

/// Its host, or the part of its tools that the scope leaves.
fn about(model: &Model, line: &ServerLine) -> Row {
    match line {
        ServerLine::Running(at) => match model.wrappers.get(*at).map(|one| &one.status) {
            Some(status) if status.scope.is_empty() => {
                cell(Tone::Quiet, status.host.as_deref().unwrap_or("no host yet"))
            }
            Some(status) => cell(Tone::Warn, &status.scope),
            None => Row::default(),
        },
        ServerLine::Unwrapped(at) => {
            cell(Tone::Quiet, model.browse.unwrapped.get(*at).map_or("", |one| one.host.as_str()))
        }
        ServerLine::Ended(_) | ServerLine::Past(..) => Row::default(),
    }
}

/// Its state: what waits, or when it ended.
fn state(model: &Model, line: &ServerLine) -> Row {
    let ago = |word: &str, at: i64| Row::of(Tone::Quiet, format!("{word} {} ago", time::span(model.now - at)));
    match line {
        ServerLine::Running(at) => match model.wrappers.get(*at).map_or(0, |one| one.status.waiting) {
            0 => Row::default(),
            waiting => Row::of(Tone::Warn, format!("{} waiting", grouped(waiting))),
        },
        ServerLine::Ended(at) => model.browse.ended.get(*at).map_or_else(Row::default, |(_, when)| ago("ended", *when)),
        ServerLine::Unwrapped(_) => Row::of(Tone::Danger, "not wrapped"),
        ServerLine::Past(_, session) => {
            let word = if session.ended { "ended" } else { "seen" };
            session.last.map_or_else(|| Row::of(Tone::Quiet, word), |at| ago(word, at))
        }
    }
}

/// How many of its calls were decided, as on the other screens: those that wait are beside it.
fn calls(model: &Model, line: &ServerLine) -> Row {
    let calls = match line {
        ServerLine::Running(at) => model.wrappers.get(*at).map(|one| decided(&one.status)),
        ServerLine::Ended(at) => model
            .browse
            .ended
            .get(*at)
            .map(|(one, _)| decided(&one.status).max(logged(model, one).map_or(0, |session| session.calls))),
        ServerLine::Past(_, session) => Some(session.calls),
        ServerLine::Unwrapped(_) => None,
    };
    calls.map_or_else(Row::default, |calls| Row::of(Tone::Ours, format!("{} decided", grouped(calls))))
}

fn decided(status: &Status) -> u64 {
    status.approved_by_policy + status.approved_by_operator + status.denied
}

fn failed(model: &Model, line: &ServerLine) -> Row {
    let failed = match line {
        ServerLine::Running(at) => model.wrappers.get(*at).map_or(0, |one| one.status.failed),
        ServerLine::Past(_, session) => session.failed,
        ServerLine::Ended(_) | ServerLine::Unwrapped(_) => 0,
    };
    if failed == 0 { Row::default() } else { Row::of(Tone::Danger, format!("{} failed", grouped(failed))) }
}

/// What the log counts of a wrapper's run.
fn logged<'a>(model: &'a Model, one: &Connected) -> Option<&'a SessionTally> {
    model.browse.counts.as_ref()?.sessions.0.get(&one.wrapper.session)
}

fn mark(one: &Connected) -> Row {
    if one.wrapper.observe {
        return Row::of(Tone::Danger, " ◆ ");
    }
    match one.status.phase {
        Some(Phase::Active) => Row::of(Tone::Good, " ● "),
        Some(Phase::Closed) => Row::of(Tone::Quiet, " ○ "),
        // A stateless host opens nothing.
        _ if !one.status.era.is_empty() => Row::of(Tone::Good, " ● "),
        _ => Row::of(Tone::Warn, " ◌ "),
    }
}

/// The latest latencies as bars, each against the longest of them.
pub(super) fn spark(model: &Model, one: &Connected, columns: usize) -> Row {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let Some(latencies) = model.browse.latencies.get(&one.wrapper.session) else {
        return Row::of(Tone::Quiet, " ".repeat(columns));
    };
    let shown: Vec<u64> = latencies.iter().rev().take(columns).rev().copied().collect();
    let most = shown.iter().copied().max().unwrap_or(1).max(1);
    let bar = |micros: &u64| {
        // Beside an answer of seconds, one of milliseconds still shows that it is there: steps double.
        let step = (most / (*micros).max(1)).max(1).ilog2();
        BARS[7_usize.saturating_sub(step as usize)]
    };
    let bars: String = shown.iter().map(bar).collect();
    Row::of(Tone::Good, bars).padded(columns)
}

pub(super) fn sheet(model: &Model, at: usize, width: usize) -> Vec<Row> {
    let Some(line) = model.browse.server_lines.get(at) else {
        return vec![Row::of(Tone::Quiet, " This server is not known here.")];
    };
    let mut rows = entry("server", Row::default().and_foreign(Tone::Strong, server(model, line)), width);
    match line {
        ServerLine::Running(at) => {
            if let Some(one) = model.wrappers.get(*at) {
                rows.extend(wrapper(model, one, width));
            }
        }
        ServerLine::Ended(at) => {
            if let Some((one, when)) = model.browse.ended.get(*at) {
                rows.extend(ours("ended", time::date(*when, model.settings.offset), width));
                // Its last report may be older than its last call; the log has them all.
                let mut one = one.clone();
                if let Some(session) = logged(model, &one) {
                    let status = &mut one.status;
                    status.calls = status.calls.max(session.calls);
                    status.approved_by_policy += session.calls.saturating_sub(decided(status));
                    status.denied = status.denied.max(session.denied);
                    status.failed = status.failed.max(session.failed);
                }
                rows.extend(wrapper(model, &one, width));
            }
        }
        ServerLine::Unwrapped(at) => {
            if let Some(one) = model.browse.unwrapped.get(*at) {
                rows.extend(unwrapped(model, one, width));
            }
            return rows;
        }
        ServerLine::Past(name, session) => {
            rows.extend(foreign("session", name, width));
            let date = |at: Option<i64>| at.map(|at| time::date(at, model.settings.offset)).unwrap_or_default();
            rows.extend(ours("first seen", date(session.first), width));
            rows.extend(ours(if session.ended { "ended" } else { "last seen" }, date(session.last), width));
            let counts = format!(
                "{} decided, {} denied, {} answered with an error",
                session.calls, session.denied, session.failed
            );
            rows.extend(ours("calls", counts, width));
            if !session.ended {
                rows.extend(ours("", "the log has no end of it: it was killed, or still runs elsewhere", width));
            }
        }
    }
    rows.push(Row::default());
    rows.push(
        Row::of(Tone::Key, " 3").and(Tone::Quiet, " its calls  ").and(Tone::Key, "Esc").and(Tone::Quiet, " back"),
    );
    rows
}

/// A server that is no concern of ours yet.
fn unwrapped(model: &Model, one: &Unwrapped, width: usize) -> Vec<Row> {
    let words = "✗ its host starts it without mcp-approve: none of its calls is held or recorded";
    let mut rows = entry("not wrapped", Row::of(Tone::Danger, words), width);
    rows.extend(foreign("host", &one.host, width));
    rows.extend(foreign("list", &one.list, width));
    let hint = Row::of(Tone::Ours, "run ").and(Tone::Key, model.hint("mcp-approve install"));
    rows.extend(entry("to fix", hint, width));
    rows
}

fn wrapper(model: &Model, one: &Connected, width: usize) -> Vec<Row> {
    let (wrapper, status) = (&one.wrapper, &one.status);
    let mut rows = foreign("command", &wrapper.command.join(" "), width);
    rows.extend(foreign("host", status.host.as_deref().unwrap_or("did not say who it is"), width));
    let era = match status.era.as_str() {
        "" => "not known yet",
        era => era,
    };
    rows.extend(foreign("era", era, width));
    let phase = match status.phase {
        None => "not known yet",
        Some(Phase::Opening) if !status.era.is_empty() => "stateless: each request is on its own",
        Some(phase) => phase.word(),
    };
    rows.extend(ours("lifecycle", phase, width));
    let level = wrapper.assurance;
    let assurance = Row::of(Tone::Ours, level.word()).and(Tone::Quiet, format!(": {}", promise(level)));
    rows.extend(entry("assurance", assurance, width));
    if !status.scope.is_empty() {
        rows.extend(foreign("scope", &status.scope, width));
    }
    if wrapper.observe {
        rows.extend(entry("OBSERVE", Row::of(Tone::Danger, "every call passes, and is only recorded"), width));
    }
    if let Some(banner) = &status.banner {
        rows.extend(entry("▲", Row::default().and_foreign(Tone::Warn, banner), width));
    }
    rows.push(caption("calls", "since it started", width));
    let policy = format!("{} by policy, {} by operator", status.approved_by_policy, status.approved_by_operator);
    let (decided, waiting) = (decided(status), status.waiting);
    let mut calls = format!("{} decided, {} waiting", grouped(decided), grouped(waiting));
    // Withdrawn, or approved and on their way.
    let others = status.calls.saturating_sub(decided + waiting);
    if others > 0 {
        calls.push_str(&format!(", {} withdrawn or on their way", grouped(others)));
    }
    rows.extend(ours("calls", calls, width));
    rows.extend(ours("approved", policy, width));
    rows.extend(ours("denied", grouped(status.denied), width));
    let refused = counted(status.refused_lines, "line");
    rows.extend(ours(
        "errors",
        format!("{} failed; {refused} of the host refused", counted(status.failed, "answer")),
        width,
    ));
    if let Some(last) = model.browse.latencies.get(&wrapper.session).and_then(|all| all.back()) {
        let row = spark(model, one, width.saturating_sub(30).min(32))
            .and(Tone::Quiet, format!(" last {}", time::latency(*last)));
        rows.extend(entry("latency", row, width));
    }
    rows.push(caption("process", "", width));
    rows.extend(ours("wrapper", format!("pid {}", wrapper.pid), width));
    if let Some(bytes) = model.browse.footprints.get(&wrapper.pid) {
        let tenths = bytes / (1 << 20) * 10 + bytes % (1 << 20) * 10 / (1 << 20);
        let words = format!("{}.{} MiB, wrapper and server together", tenths / 10, tenths % 10);
        rows.extend(ours("memory", words, width));
    }
    rows.extend(ours("started", time::date(wrapper.started, model.settings.offset), width));
    rows.extend(foreign("session", &wrapper.session, width));
    rows
}
