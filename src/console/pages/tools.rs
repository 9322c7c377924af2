//! The Tools screen: every tool that a server describes or the log knows; what needs a look comes first.

use std::collections::BTreeSet;

use super::review;
use crate::console::model::{Model, OpenPage, Subject, ToolLine, ToolSource};
use crate::console::rows::{Entries, LABEL, NARROW};
use crate::link::message::PinState;
use crate::operator::{pinned::PinnedProgram, record_row};
use crate::pins::page::Page;
use crate::text::columns::{Columns, NameColumn, fitted, widest};
use crate::text::row::{Row, Tone, danger, foreign, key, ours, quiet, strong, warn};
use crate::text::time;
use crate::wire::{counted, number::grouped};

pub(super) fn title(model: &Model) -> Row {
    let lines = &model.tools.lines;
    let (pages, tools): (Vec<_>, Vec<_>) = lines.iter().partition(|line| matches!(line.subject, Subject::Page(_)));
    let row = strong(" Tools").quiet(format!(" · {}", counted(tools.len(), "tool")));
    let row = match pages.len() {
        0 => row,
        pages => row.key(format!(" · {} to answer", counted(pages, "page"))),
    };
    let look = lines.iter().filter(|line| line.wants_review() || line.disputed || !line.hazards.is_empty()).count();
    let row = if look == 0 { row } else { row.warn(format!(" · {look} to look at, first")) };
    let wanted = lines.iter().filter(|line| line.wants_word()).count();
    let row = if wanted == 0 { row } else { row.ours(format!(" · {wanted} to confirm")) };
    let marked = lines.iter().filter(|line| is_marked(model, line)).count();
    if marked == 0 { row } else { row.key(format!(" · {marked} marked")) }
}

pub(super) fn heading(model: &Model, width: usize) -> Row {
    shape(model, width).columns.heading()
}

/// What marks the selected line of what is agreed to.
pub(in crate::console) const PICKED: &str = "▸ ";

pub(super) fn empty(model: &Model) -> Vec<Row> {
    if model.log.counts.is_none() && !model.log.missing {
        return vec![quiet("reading the log …")];
    }
    vec![
        strong("No tool is known yet."),
        ours("A server's tools appear once its host has listed them, or has called one."),
    ]
}

struct Shape {
    columns: Columns,
    tool: NameColumn,
    server: NameColumn,
    words: usize,
}

fn shape(model: &Model, width: usize) -> Shape {
    // For a very long list, the first lines are enough.
    let lines = || {
        model
            .tools
            .lines
            .iter()
            .take(500)
            .filter(|line| !matches!(line.subject, Subject::Program(_) | Subject::Page(_)))
    };
    let digits = |name: &str, of: fn(&ToolLine) -> u64| match lines().map(of).max().unwrap_or(0) {
        0 => 0,
        most => grouped(most).len().max(name.len()),
    };
    let servers = || lines().map(|line| line.server.as_str());
    let (server, least_server) = match servers().collect::<BTreeSet<_>>().len() {
        ..2 => (0, 0),
        _ => (NameColumn::of(servers(), SERVER.0).width, NameColumn::of(servers(), SERVER.1).width),
    };
    let latency = if lines().any(|line| line.p50.is_some()) { LATENCY.len() } else { 0 };
    // The column of versions is shown only if some tool has more than its first one.
    let version = if lines().any(|line| line.version.is_some_and(|version| version > 1)) { 2 } else { 0 };
    let words = |room: usize| lines().map(|line| why(line, room).width()).max().unwrap_or(0);
    let whole = words(usize::MAX).min(40);
    // A list beside a sheet is for finding names: the sheet has the numbers.
    let least_tool = if (NARROW..80).contains(&width) { 20 } else { 13 };
    let wants = [
        (0, widest(lines().map(|line| line.tool.as_str())).clamp(4, 48), least_tool),
        (1, server, least_server),
        (1, digits(CALLS, |line| line.calls), CALLS.len()),
        (1, digits("denied", |line| line.denied), 6),
        (1, digits("failed", |line| line.failed), 6),
        (2, if whole == 0 { 0 } else { whole.max(WORDS.len()) }, WORDS.len()),
        (1, latency, latency),
        (1, version, 2),
    ];
    let room = width.saturating_sub(LEADING);
    let [tool, server, calls, denied, failed, words, latency, version] = fitted(room, wants, &[7, 6, 2, 4, 3, 5, 1]);
    let columns = Columns::default().left(1, 2, "").left(0, 11, "").left(0, tool, "tool").left(1, server, "server");
    let columns = columns.right(1, version, "v").right(1, calls, CALLS);
    let columns = columns.right(1, denied, "denied").right(1, failed, "failed").right(1, latency, LATENCY);
    let columns = columns.left(2, words, WORDS);
    // The words are shown whole, or not at all.
    let words = if words < whole { 0 } else { words };
    let (tool, server) =
        (NameColumn::within(lines().map(|line| line.tool.as_str()), tool), NameColumn::within(servers(), server));
    Shape { columns, tool, server, words }
}

/// Calls that were decided, as the log counts them.
const CALLS: &str = "decided";
const LATENCY: &str = "latency";
const WORDS: &str = "what it is";
/// A server's name need not be shown whole beyond this; the second, where there is little room.
const SERVER: (usize, usize) = (24, 12);
/// Whether it needs a look, and its badge.
const LEADING: usize = 14;

pub(super) fn lines(model: &Model, range: std::ops::Range<usize>, width: usize) -> Vec<Row> {
    let shape = shape(model, width);
    range.filter_map(|at| model.tools.lines.get(at)).map(|line| row(model, line, &shape)).collect()
}

fn row(model: &Model, line: &ToolLine, shape: &Shape) -> Row {
    if let Subject::Program(_) = line.subject {
        let row = danger(" Δ ").danger("  program  ");
        let row = row.and_foreign(Tone::Strong, &line.server);
        return row.danger("  its program or command line changed");
    }
    if let Some(page) = page(model, line) {
        let row = key(" ▸ ").key("  page     ").and_foreign(Tone::Strong, &line.server);
        return row.ours(format!("  {}; Enter shows which", page.counts()));
    }
    let tone = if line.source == ToolSource::Offered { Tone::Strong } else { Tone::Quiet };
    let some = |tone: Tone, count: u64| if count == 0 { Row::default() } else { Row::of(tone, grouped(count)) };
    shape.columns.row([
        if is_marked(model, line) { key("✓ ") } else { look(line) },
        badge(line),
        shape.tool.cell(tone, &line.tool),
        shape.server.cell(Tone::Quiet, &line.server),
        quiet(line.version.map(|version| version.to_string()).unwrap_or_default()),
        ours(grouped(line.calls)),
        some(Tone::Warn, line.denied),
        some(Tone::Danger, line.failed),
        quiet(line.p50.map(time::latency).unwrap_or_default()),
        why(line, shape.words),
    ])
}

fn page<'m>(model: &'m Model, line: &ToolLine) -> Option<&'m Page> {
    match line.subject {
        Subject::Page(at) => model.tools.pins.as_ref()?.pages.get(at),
        Subject::Tool | Subject::Pinned(_) | Subject::Program(_) => None,
    }
}

fn is_marked(model: &Model, line: &ToolLine) -> bool {
    model.tools.pinned(line).is_some_and(|tool| model.tools.marked.contains(&tool.shown()))
}

/// Whether it needs a look: changed before disputed before hazards.
fn look(line: &ToolLine) -> Row {
    if line.wants_review() {
        danger("Δ ")
    } else if line.disputed {
        warn("? ")
    } else if !line.hazards.is_empty() {
        warn("▲ ")
    } else {
        ours("  ")
    }
}

fn badge(line: &ToolLine) -> Row {
    line.badge.map_or_else(
        || quiet("  unknown"),
        |badge| {
            let (tone, shape) = record_row::look(badge);
            Row::of(tone, format!("{shape} {}", badge.word()))
        },
    )
}

/// What needs a look; otherwise what the tool does and, if there is room for both, what it returns.
fn why(line: &ToolLine, room: usize) -> Row {
    match line.pin {
        Some(PinState::Changed { .. }) => return danger("changed"),
        Some(PinState::New) => return warn("new"),
        Some(PinState::Unreviewed) => return warn("not reviewed"),
        Some(PinState::Refused) => return danger("refused"),
        Some(PinState::Trusted) | None => {}
    }
    if line.disputed {
        return warn("disputed");
    }
    match line.hazards.first() {
        Some((name, _)) => foreign(Tone::Warn, name),
        None => {
            let words = line.words.split_once('|').map_or("", |(_, rest)| rest);
            let whole = foreign(Tone::Quiet, words);
            if whole.width() <= room {
                whole
            } else {
                foreign(Tone::Quiet, words.split('|').next().unwrap_or_default())
            }
        }
    }
}

/// The state of the definition, and how to settle it.
fn pin(line: &ToolLine, rows: &mut Entries) {
    let version = line.version.map(|version| format!("version {version}, ")).unwrap_or_default();
    let (tone, words) = match line.pin {
        None => return,
        Some(PinState::Trusted) => (Tone::Ours, format!("{version}the trusted definition")),
        Some(PinState::Changed { version, .. }) => {
            (Tone::Danger, format!("Δ version {version} is not the trusted definition: no allow rule covers it"))
        }
        Some(PinState::Unreviewed) => (Tone::Danger, format!("Δ {version}not reviewed yet: no allow rule covers it")),
        Some(PinState::New) => {
            (Tone::Warn, format!("Δ {version}new: its server added it after its first session, so its calls ask"))
        }
        Some(PinState::Refused) => (Tone::Danger, format!("Δ {version}refused: its calls are denied")),
    };
    rows.says("pin", tone, words);
    match line.subject {
        _ if !line.wants_review() => {}
        Subject::Pinned(_) => {
            let row = key("Enter").quiet(" reads what changed, to accept or refuse it");
            rows.entry("", row);
        }
        Subject::Tool | Subject::Program(_) | Subject::Page(_) => {
            rows.says("", Tone::Quiet, "what changed is being read");
        }
    }
}

/// What is agreed to for the tool, then for its server.
fn agreed(model: &Model, line: &ToolLine, rows: &mut Entries) {
    let known = model.tools.agreed(line);
    if known.is_empty() {
        return;
    }
    let takes_back = if model.tools.picked.is_some() { "x takes the selected line back" } else { "Tab selects a line" };
    rows.caption("agreed to", takes_back);
    let offset = model.settings.offset;
    for (at, one) in known.iter().enumerate() {
        let of = &one.kept.agreement;
        let is_first = at == 0 || known[at - 1].kept.agreement.tool.is_empty() != of.tool.is_empty();
        let label = if of.tool.is_empty() { "its server" } else { "this tool" };
        let mark = if model.tools.picked == Some(one.kept.digest()) { key(PICKED) } else { ours("  ") };
        let mut row = mark.and_foreign(Tone::Foreign, &of.says());
        let day = |millis: i64| time::date(millis, offset).split(' ').next().unwrap_or_default().to_owned();
        let (since, used) = (day(one.kept.since), day(one.last_used()));
        row.push(Tone::Quiet, format!(" · since {since}, last used {used}"));
        if let Some(trouble) = one.trouble() {
            row.push(Tone::Danger, format!(" · {trouble}"));
        }
        rows.entry(if is_first { label } else { "" }, row);
    }
}

fn program_sheet(model: &Model, line: &ToolLine, program: &PinnedProgram, width: usize) -> Vec<Row> {
    let mut rows = Entries::new(width);
    rows.entry("server", foreign(Tone::Strong, &program.server.name));
    rows.entry("program", danger("Δ ").and_foreign(Tone::Danger, &program.why));
    let words = " reads what changed, to accept it; no allow rule covers its tools";
    rows.entry("", key("Enter").quiet(words));
    rows.foreign("runs", &program.server.command);
    agreed(model, line, &mut rows);
    rows.keys(&[("Esc", "back")]);
    rows.rows
}

pub(super) fn sheet(model: &Model, at: usize, width: usize) -> Vec<Row> {
    let Some(line) = model.tools.lines.get(at) else {
        return vec![quiet(" This tool is not known here.")];
    };
    if let Subject::Program(at) = line.subject {
        let program = model.tools.pins.as_ref().and_then(|book| book.programs.get(at));
        return program.map(|program| program_sheet(model, line, program, width)).unwrap_or_default();
    }
    if let Some(page) = page(model, line) {
        return review::page_rows(&OpenPage { at: usize::MAX, ..OpenPage::of(page.clone()) }, width);
    }
    let mut rows = Entries::new(width);
    rows.entry("tool", foreign(Tone::Strong, &line.tool));
    rows.foreign("server", &line.server);
    let badge = badge(line).ours("  ").and_foreign(Tone::Ours, &line.words);
    rows.entry("badge", badge.quiet(" · ").and_foreign(Tone::Quiet, &line.identity));
    pin(line, &mut rows);
    if line.wants_word() {
        let row = key("space").quiet(" marks it; then ").key("p");
        let row = row.quiet(" it reads  ").key("m").quiet(" it changes something");
        rows.entry("your word", row);
    }
    agreed(model, line, &mut rows);
    if line.disputed {
        let words = "? the evidence contradicts itself: the more cautious reading counts";
        rows.says("disputed", Tone::Warn, words);
    }
    for (name, what) in &line.hazards {
        rows.hazard(name, what);
    }
    let known = match line.source {
        ToolSource::Offered => "a running server describes it now",
        ToolSource::Remembered => "no running server describes it; it was seen before",
    };
    rows.ours("known", known);
    rows.foreign("signature", line.signature.as_deref().unwrap_or_default());
    rows.foreign("tags", &line.tags.join(", "));
    rows.foreign("effects", &line.effects);
    rows.foreign("definition", line.definition.as_deref().unwrap_or_default());
    if !line.evidence.is_empty() {
        rows.caption("evidence", &counted(line.evidence.len(), "reason"));
        for evidence in &line.evidence {
            let (source, says) = evidence.split_once(' ').unwrap_or(("", evidence));
            let row = ours(" ").joined(foreign(Tone::Quiet, source).clipped(LABEL).padded(LABEL)).ours(" ");
            rows.hung(row.and_foreign(Tone::Foreign, says), if width >= 60 { 13 } else { 3 });
        }
    }
    rows.caption("calls", "from the log");
    let (calls, denied, failed) = (grouped(line.calls), grouped(line.denied), grouped(line.failed));
    rows.ours("calls", format!("{calls} decided, {denied} denied, {failed} answered with an error"));
    if let (Some(p50), Some(p95)) = (line.p50.map(time::latency), line.p95.map(time::latency)) {
        rows.ours("latency", format!("the server answers half within {p50}, 95 % within {p95}"));
    }
    if let Some(last) = line.last {
        rows.ours("last call", time::date(last, model.settings.offset));
    }
    if let Some(pinned) = model.tools.pinned(line).filter(|pinned| pinned.waits()) {
        review::glimpse(pinned, &mut rows);
    }
    rows.keys(&[("3", "its calls"), ("Esc", "back")]);
    rows.rows
}
