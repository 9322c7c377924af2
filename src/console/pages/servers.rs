//! The Servers screen: every wrapper, running or remembered by the log, and how its server answers.

use std::collections::HashMap;

use crate::audit::tally::SessionTally;
use crate::console::model::{Connected, Earlier, Model, ServerLine};
use crate::console::rows::Entries;
use crate::console::{card, desk};
use crate::link::message::Status;
use crate::mcp::lifecycle::Phase;
use crate::text::columns::{Columns, NameColumn, fitted, widest};
use crate::text::row::{Row, Tone, danger, foreign, good, key, ours, quiet, strong, warn};
use crate::text::time;
use crate::wire::number::{counted, grouped};

/// Whether the servers have a row above the queue: of one, the queue says as much.
pub fn shows_strip(model: &Model) -> bool {
    model.wrappers.len() + model.crashed.len() > 1
}

/// A server in the strip.
enum InStrip<'m> {
    Crashed(&'m str),
    Running(&'m Connected),
}

/// What there is to say of each server: what crashed first, then those with calls that wait, then the one used last.
pub fn strip(model: &Model, width: usize) -> Row {
    // A desk has thousands: calls are counted once, and only what is shown is put into words.
    let mut waiting: HashMap<&str, u64> = HashMap::new();
    for held in model.queue.calls.iter().filter(|held| held.waits()) {
        *waiting.entry(&held.key.session).or_default() += 1;
    }
    let mut lasts: HashMap<&str, i64> = HashMap::new();
    for passed in &model.activity.passed {
        lasts.insert(&passed.session, model.now - passed.activity.time);
    }
    let waits = |one: &Connected| waiting.get(one.wrapper.session.as_str()).copied().unwrap_or_default();
    let last = |one: &Connected| lasts.get(one.wrapper.session.as_str()).copied();
    let passed = |one: &Connected| one.status.approved_by_policy + one.status.approved_by_operator;
    let words = |shown: InStrip<'_>| {
        let one = match shown {
            InStrip::Crashed(server) => return danger("✗ ").and_foreign(Tone::Strong, server).danger(" ended"),
            InStrip::Running(one) => one,
        };
        let mut row = foreign(Tone::Strong, &one.wrapper.server);
        for (count, words, tone) in [
            (waits(one), "waiting", Tone::Warn),
            (passed(one), "passed", Tone::Quiet),
            (one.status.denied, "denied", Tone::Danger),
        ] {
            if count > 0 {
                row.push(tone, format!(" {} {words}", grouped(count)));
            }
        }
        last(one).map_or(row.clone(), |ago| row.quiet(format!(", {} ago", time::span(ago))))
    };
    let crashed = model.crashed.iter().map(|(server, _)| ((0, 0), InStrip::Crashed(server)));
    let running = model.wrappers.iter().filter(|one| waits(one) + passed(one) + one.status.denied > 0);
    let running = running.map(|one| {
        let rank = (if waits(one) > 0 { 1 } else { 2 }, last(one).unwrap_or(i64::MAX));
        (rank, InStrip::Running(one))
    });
    let mut all: Vec<_> = crashed.chain(running).collect();
    all.sort_by_key(|(rank, _)| *rank);
    let count = all.len();
    let mut strip = Row::default();
    for (at, (_, shown)) in all.into_iter().enumerate() {
        let next = strip.clone().quiet(if at == 0 { " " } else { " · " }).joined(words(shown));
        let more = if at + 1 < count { format!(" · {} more: 6 ", count - at) } else { String::new() };
        if next.width() + more.chars().count() > width {
            let left = format!("{}{} more: 6", if at == 0 { " " } else { " · " }, count - at);
            return strip.quiet(left);
        }
        strip = next;
    }
    strip
}

pub(super) fn title(model: &Model) -> Row {
    let row = strong(" Servers").quiet(format!(" · {} running", model.wrappers.len()));
    let bare = model.servers.unwrapped.len();
    let past: usize = model.servers.lines.iter().filter_map(ServerLine::runs).sum();
    let row = if past == 0 { row } else { row.quiet(format!(" · {} ended", counted(past, "run"))) };
    let row = row.joined(desk::others(model));
    if bare == 0 { row } else { row.danger(format!(" · {bare} NOT wrapped")) }
}

pub(super) fn heading(_: &Model, width: usize) -> Row {
    let parts = [" ● running", " ○ ended", " ✗ not wrapped", " ◌ opening", " · Enter tells more"];
    parts.into_iter().fold(Row::default(), |row, part| {
        let longer = row.clone().quiet(part);
        if longer.width() <= width { longer } else { row }
    })
}

pub(super) fn empty(model: &Model) -> Vec<Row> {
    vec![
        strong("No server is wrapped yet."),
        ours("Wrap the servers of your hosts:"),
        key(model.hint("  mcp-approve install")),
        ours("Or by hand, in a host's own file:"),
        key(model.hint("  mcp-approve -- npx -y @modelcontextprotocol/server-filesystem ~/work")),
    ]
}

pub(super) fn lines(model: &Model, range: std::ops::Range<usize>, width: usize) -> Vec<Row> {
    let first = || model.servers.lines.iter().take(200);
    let most = |cell: fn(&Model, &ServerLine) -> Row| first().map(|line| cell(model, line).width()).max().unwrap_or(0);
    let names = || first().map(ServerLine::server);
    let name = NameColumn::of(names(), 12).width;
    let bars = if model.servers.latencies.is_empty() { 0 } else { 12 };
    let (state, calls, failed) = (most(state), most(calls), most(failed));
    let about = most(about).min(40);
    let wants = [
        (1, state, state),
        (1, calls, calls),
        (1, failed, failed),
        (2, about, about.min(8)),
        (2, bars, bars.min(8)),
        (0, widest(names()), name),
    ];
    let [state, calls, failed, about, bars, name] = fitted(width.saturating_sub(3), wants, &[4, 3, 2, 1]);
    let columns = Columns::default().left(0, 3, "").left(0, name, "").left(1, state, "").right(1, calls, "");
    let columns = columns.right(1, failed, "").left(2, bars, "").left(2, about, "");
    let names = NameColumn::within(names(), name);
    let shown = range.filter_map(|at| model.servers.lines.get(at));
    shown.map(|line| row(model, line, &columns, (names, bars))).collect()
}

fn row(model: &Model, line: &ServerLine, columns: &Columns, (names, bars): (NameColumn, usize)) -> Row {
    let (mark, tone, bars) = match line {
        ServerLine::Running(one) => (mark(one), Tone::Strong, spark(model, one, bars)),
        ServerLine::Ended(..) | ServerLine::Past(..) => (quiet(" ○ "), Tone::Quiet, Row::default()),
        ServerLine::Unwrapped(_) => (danger(" ✗ "), Tone::Danger, Row::default()),
    };
    let name = names.cell(tone, line.server());
    columns.row([mark, name, state(model, line), calls(model, line), failed(model, line), bars, about(model, line)])
}

/// Its host, or the part of its tools that the scope leaves.
fn about(_: &Model, line: &ServerLine) -> Row {
    match line {
        ServerLine::Running(one) if !one.status.scope.is_empty() => foreign(Tone::Warn, &one.status.scope),
        ServerLine::Running(one) => foreign(Tone::Quiet, one.status.host.as_deref().unwrap_or("no host yet")),
        ServerLine::Unwrapped(one) => foreign(Tone::Quiet, &one.host),
        ServerLine::Ended(..) | ServerLine::Past(..) => Row::default(),
    }
}

fn state(model: &Model, line: &ServerLine) -> Row {
    let ago = |word: &str, at: i64| quiet(format!("{word} {} ago", time::span(model.now - at)));
    match line {
        ServerLine::Running(one) if model.around.away.contains(&one.wrapper.session) => warn("away"),
        // What a desk has of the numbers is as old as the state that was sent last.
        ServerLine::Running(one) if one.wrapper.at.is_some() => {
            match model.queue.waiting_of(&one.wrapper.session).len() {
                0 => Row::default(),
                waiting => warn(format!("{} waiting", grouped(waiting))),
            }
        }
        ServerLine::Running(one) if one.status.waiting == 0 => Row::default(),
        ServerLine::Running(one) => warn(format!("{} waiting", grouped(one.status.waiting))),
        ServerLine::Ended(_, when, earlier) => runs(ago("ended", *when), earlier.runs),
        ServerLine::Unwrapped(_) => danger("not wrapped"),
        ServerLine::Past(_, session, earlier) => {
            let word = if session.ended { "ended" } else { "seen" };
            runs(session.last.map_or_else(|| quiet(word), |at| ago(word, at)), earlier.runs)
        }
    }
}

fn runs(row: Row, earlier: usize) -> Row {
    if earlier == 0 { row } else { row.quiet(format!(", {} runs", grouped(earlier + 1))) }
}

/// How many of its calls were decided, as on the other screens: those that wait are beside it.
fn calls(model: &Model, line: &ServerLine) -> Row {
    let calls = match line {
        ServerLine::Running(one) if one.wrapper.at.is_some() => return Row::default(),
        ServerLine::Running(one) => decided(&one.status),
        ServerLine::Ended(one, _, earlier) => {
            decided(&one.status).max(logged(model, one).map_or(0, |session| session.calls)) + earlier.calls
        }
        ServerLine::Past(_, session, earlier) => session.calls + earlier.calls,
        ServerLine::Unwrapped(_) => return Row::default(),
    };
    ours(format!("{} decided", grouped(calls)))
}

fn decided(status: &Status) -> u64 {
    status.approved_by_policy + status.approved_by_operator + status.denied
}

fn failed(_: &Model, line: &ServerLine) -> Row {
    let failed = match line {
        ServerLine::Running(one) => one.status.failed,
        ServerLine::Past(_, session, earlier) => session.failed + earlier.failed,
        ServerLine::Ended(_, _, earlier) => earlier.failed,
        ServerLine::Unwrapped(_) => 0,
    };
    if failed == 0 { Row::default() } else { danger(format!("{} failed", grouped(failed))) }
}

fn logged<'a>(model: &'a Model, one: &Connected) -> Option<&'a SessionTally> {
    model.log.counts.as_ref()?.sessions.0.get(&one.wrapper.session)
}

fn mark(one: &Connected) -> Row {
    if one.wrapper.observe {
        return danger(" ◆ ");
    }
    match one.status.phase {
        Some(Phase::Active) => good(" ● "),
        Some(Phase::Closed) => quiet(" ○ "),
        // A stateless host has no handshake.
        _ if !one.status.era.is_empty() => good(" ● "),
        _ => warn(" ◌ "),
    }
}

/// The latest latencies as bars, each against the longest of them.
pub(super) fn spark(model: &Model, one: &Connected, columns: usize) -> Row {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let Some(latencies) = model.servers.latencies.get(&one.wrapper.session) else {
        return quiet(" ".repeat(columns));
    };
    let shown: Vec<u64> = latencies.iter().rev().take(columns).rev().copied().collect();
    let most = shown.iter().copied().max().unwrap_or(1).max(1);
    let bar = |micros: &u64| {
        // Each step of a bar doubles the time, so that milliseconds still show beside seconds.
        let step = (most / (*micros).max(1)).max(1).ilog2();
        BARS[7_usize.saturating_sub(step as usize)]
    };
    let bars: String = shown.iter().map(bar).collect();
    good(bars).padded(columns)
}

pub(super) fn sheet(model: &Model, at: usize, width: usize) -> Vec<Row> {
    let Some(line) = model.servers.lines.get(at) else {
        return vec![quiet(" This server is not known here.")];
    };
    let date = |at: i64| time::date(at, model.settings.offset);
    let mut rows = Entries::new(width);
    rows.entry("server", foreign(Tone::Strong, line.server()));
    match line {
        ServerLine::Running(one) => wrapper(model, one, &mut rows),
        ServerLine::Ended(one, when, earlier) => {
            rows.ours("ended", date(*when));
            rows.foreign("how", one.status.ended.as_deref().unwrap_or_default());
            before(earlier, &mut rows);
            // The wrapper's last report may be older than its last call; the log has all calls.
            let mut one = (**one).clone();
            if let Some(session) = logged(model, &one) {
                let status = &mut one.status;
                status.calls = status.calls.max(session.calls);
                status.approved_by_policy += session.calls.saturating_sub(decided(status));
                status.denied = status.denied.max(session.denied);
                status.failed = status.failed.max(session.failed);
            }
            wrapper(model, &one, &mut rows);
        }
        ServerLine::Unwrapped(one) => {
            let words = "✗ its host starts it without mcp-approve: none of its calls is held or recorded";
            rows.says("not wrapped", Tone::Danger, words);
            rows.foreign("host", &one.host);
            rows.foreign("list", &one.list);
            rows.entry("to fix", ours("run ").key(model.hint("mcp-approve install")));
            return rows.rows;
        }
        ServerLine::Past(name, session, earlier) => {
            rows.foreign("session", name);
            rows.ours("first seen", session.first.map(date).unwrap_or_default());
            rows.ours(if session.ended { "ended" } else { "last seen" }, session.last.map(date).unwrap_or_default());
            let (calls, denied) = (grouped(session.calls), grouped(session.denied));
            let failed = grouped(session.failed);
            rows.ours("calls", format!("{calls} decided, {denied} denied, {failed} answered with an error"));
            if !session.ended {
                rows.ours("", "the log has no end of it: it was killed, or still runs elsewhere");
            }
            before(earlier, &mut rows);
        }
    }
    rows.keys(&[("3", "its calls"), ("Esc", "back")]);
    rows.rows
}

fn before(earlier: &Earlier, rows: &mut Entries) {
    if earlier.runs > 0 {
        let (calls, failed) = (grouped(earlier.calls), grouped(earlier.failed));
        let words =
            format!("{}: {calls} decided, {failed} answered with an error", counted(earlier.runs, "earlier run"));
        rows.ours("before it", words);
    }
}

fn wrapper(model: &Model, one: &Connected, rows: &mut Entries) {
    let (wrapper, status) = (&one.wrapper, &one.status);
    if let Some(at) = &wrapper.at {
        rows.entry("machine", card::machine(at));
        if let Some(away) = desk::away(model, &wrapper.session) {
            rows.entry("", away);
        }
    }
    rows.foreign("command", &wrapper.command.join(" "));
    rows.foreign("host", status.host.as_deref().unwrap_or("did not say who it is"));
    rows.foreign("era", if status.era.is_empty() { "not known yet" } else { &status.era });
    let phase = match status.phase {
        None => "not known yet",
        Some(Phase::Opening) if !status.era.is_empty() => "stateless: each request is on its own",
        Some(phase) => phase.word(),
    };
    rows.ours("lifecycle", phase);
    let level = one.status.level;
    rows.entry("assurance", ours(level.to_string()).quiet(format!(": {}", level.grade.sentence())));
    rows.foreign("scope", &status.scope);
    if wrapper.observe {
        rows.says("OBSERVE", Tone::Danger, "every call passes, and is only recorded");
    }
    if let Some(banner) = &status.banner {
        rows.entry("▲", foreign(Tone::Warn, banner));
    }
    if wrapper.at.is_none() {
        numbers(status, rows);
    }
    if let Some(last) = model.servers.latencies.get(&wrapper.session).and_then(|all| all.back()) {
        let bars = spark(model, one, rows.width.saturating_sub(30).min(32));
        rows.entry("latency", bars.quiet(format!(" last {}", time::latency(*last))));
    }
    rows.caption("process", "");
    rows.ours("wrapper", format!("pid {}", wrapper.pid));
    if let Some(bytes) = model.servers.footprints.get(&wrapper.pid) {
        let tenths = bytes / (1 << 20) * 10 + bytes % (1 << 20) * 10 / (1 << 20);
        rows.ours("memory", format!("{}.{} MiB, wrapper and server together", tenths / 10, tenths % 10));
    }
    rows.ours("started", time::date(wrapper.started, model.settings.offset));
    rows.foreign("session", &wrapper.session);
}

fn numbers(status: &Status, rows: &mut Entries) {
    rows.caption("calls", "since it started");
    let (decided, waiting) = (decided(status), status.waiting);
    let mut calls = format!("{} decided, {} waiting", grouped(decided), grouped(waiting));
    let others = status.calls.saturating_sub(decided + waiting);
    if others > 0 {
        calls.push_str(&format!(", {} withdrawn or on their way", grouped(others)));
    }
    rows.ours("calls", calls);
    let (policy, operator) = (grouped(status.approved_by_policy), grouped(status.approved_by_operator));
    rows.ours("approved", format!("{policy} by policy, {operator} by operator"));
    rows.ours("denied", grouped(status.denied));
    let (failed, refused) = (counted(status.failed, "answer"), counted(status.refused_lines, "line"));
    rows.ours("errors", format!("{failed} failed; {refused} of the host refused"));
}
