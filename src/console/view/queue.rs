//! The list of waiting calls: risk, tool, what it is about, how many are identical, and what is left of the time.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use ratatui::layout::Rect;

use crate::audit::record::By;
use crate::console::desk;
use crate::console::model::queue::{Group, QueueLine, Rows};
use crate::console::model::{CallState, Held, Model, Reach, Sort};
use crate::console::risk::{self, Risk};
use crate::console::rows::{NARROW, ends};
use crate::text::columns::{self, Columns, NameColumn, fitted, target};
use crate::text::row::{Row, Tone, foreign, key, quiet, strong, warn};
use crate::text::time;
use crate::wire::number::{counted, grouped};

pub(super) fn rows(model: &Model, area: Rect) -> (Vec<Row>, Option<u16>) {
    if area.height == 0 {
        return (Vec::new(), None);
    }
    let all = model.queue.rows();
    let lines = model.queue.lines(&all);
    let room = usize::from(area.height - 1);
    let top = model.queue.first_line(&all, room);
    let shown = top..(top + room).min(lines.count());
    let on_screen: Vec<QueueLine> = shown.clone().filter_map(|line| lines.get(line)).collect();
    let group = |line: &QueueLine| match line {
        QueueLine::Row(row) => model.queue.group(&all, *row),
        QueueLine::Server(_) => None,
    };
    let queue: Vec<Group<'_>> = on_screen.iter().filter_map(group).collect();
    let here = model.queue.selected_row(&all);
    let width = usize::from(area.width);
    let mut rows = vec![title(model, (all.len(), lines.count()), shown, width)];
    let widths = Widths::of(model, &queue, width, lines.names_servers());
    // In a short queue a row says the same wherever the list is scrolled.
    let near: Vec<usize> = match all.len() {
        ..=SHORT => (0..all.len()).collect(),
        _ => {
            on_screen.iter().filter_map(|line| if let QueueLine::Row(row) = line { Some(*row) } else { None }).collect()
        }
    };
    let groups: Vec<Group<'_>> = near.iter().filter_map(|row| model.queue.group(&all, *row)).collect();
    let mut tellings: HashMap<usize, Row> = near.into_iter().zip(widths.tellings(model, &groups)).collect();
    let mut selected = None;
    for line in &on_screen {
        if matches!(line, QueueLine::Row(row) if here == Some(*row)) {
            selected = u16::try_from(rows.len()).ok();
        }
        let row = match line {
            QueueLine::Row(row) => {
                let group = model.queue.group(&all, *row).zip(tellings.remove(row));
                group.map(|(group, telling)| widths.row(model, &group, telling, here == Some(*row)))
            }
            QueueLine::Server(of) => {
                let is_open = here.is_some_and(|row| of.contains(&row));
                model.queue.group(&all, of.start).map(|group| server(model, &all, &group, of.clone(), is_open, width))
            }
        };
        rows.push(row.unwrap_or_default().padded(width));
    }
    if all.is_empty() {
        rows.push(strong("  No matches.").ours(" Esc drops the search, / changes it."));
    }
    (rows, selected)
}

/// The line of a server: how many of its calls wait, and how long the oldest has waited.
fn server(model: &Model, all: &Rows, group: &Group<'_>, of: Range<usize>, is_open: bool, width: usize) -> Row {
    let (calls, oldest) = model.queue.calls_of(all, of);
    let name = foreign(Tone::Strong, &group.lead.server);
    let count = quiet(format!("  {}", counted(calls, "call")));
    let age = quiet(format!("oldest {} ", time::span(model.now - oldest)));
    let room = width.saturating_sub(2 + count.width() + age.width() + 1);
    let left = key(if is_open { "▾ " } else { "▹ " }).joined(name.clipped(room)).joined(count);
    ends(left, age, width)
}

fn title(model: &Model, (all, lines): (usize, usize), shown: Range<usize>, width: usize) -> Row {
    let order = match model.queue.sort {
        Sort::Oldest => "oldest first",
        Sort::Risk => "by risk",
        Sort::Server => "by server",
    };
    let mut left = strong(" Waiting").quiet(format!(" · {order}"));
    let find = &model.queue.filter.find;
    if model.queue.filter.problem.is_some() {
        left = left.danger(" · not applied: /").and_foreign(Tone::Danger, find);
    } else if !find.is_empty() {
        let of = format!(" · {} of {} · /", grouped(all), grouped(model.queue.calls.len()));
        left = left.warn(of).and_foreign(Tone::Strong, find);
    }
    let ended = model.queue.calls.iter().filter(|held| held.is_over()).count();
    if ended > 0 {
        left.push(Tone::Quiet, format!(" · {} ended", grouped(ended)));
    }
    let marked = model.queue.marked_calls().len();
    if marked > 0 {
        left.push(Tone::Warn, format!(" · {marked} marked"));
    }
    let place = match shown.len() < lines {
        true => quiet(format!("{}–{} of {} ", grouped(shown.start + 1), grouped(shown.end), grouped(lines))),
        false => Row::default(),
    };
    let figures = model.queue.decisions.figures(model.now).map(|figures| figures.words().quiet(" "));
    // The numbers on the operator's own decisions, if there is room for them.
    match figures {
        Some(figures) if left.width() + figures.width() + place.width() + 2 <= width => {
            ends(left, figures.joined(place), width)
        }
        _ => ends(left, place, width),
    }
}

struct Widths<'a> {
    first: usize,
    column: FirstColumn,
    /// On a desk, what is shown of each server's name if that is not all of it.
    short: BTreeMap<&'a str, String>,
    tool: NameColumn,
    about: usize,
    time: usize,
}

/// What the first column names: a ticket begins with its server.
#[derive(Clone, Copy)]
enum FirstColumn {
    Ticket,
    Server(NameColumn),
}

const SHORT: usize = 200;
/// Marker, risk and the gap behind it.
const LEADING: usize = 2 + risk::WIDEST + 1;
/// A bar and the time left; if something else would be cut for the bar, only the time.
const TRAILING: usize = 12;
const TRAILING_NARROW: usize = 7;
/// The least width of a tool, which shrinks for the target; the second if a server must be named, too.
const LEAST: (usize, usize) = (12, 10);
/// Beyond this width, a target is not shown whole while a tool is cut for it; the second while a server is.
const MOST: (usize, usize) = (48, 28);
/// From this width on there is room for more of a target.
const WIDE: (usize, usize) = (90, 40);
/// The least width of a target: below it, the other columns are left out.
const TARGET: usize = 14;
/// A server's name need not be shown whole beyond this.
const SERVER: usize = 12;

impl<'a> Widths<'a> {
    /// With several servers, each row names its server unless a line above does; with one, its ticket if that fits.
    fn of(model: &Model, shown: &[Group<'a>], width: usize, names_servers: bool) -> Self {
        let widest = |text: fn(&Held) -> &str| columns::widest(shown.iter().map(|group| text(group.lead)));
        let servers = match model.settings.reach {
            _ if names_servers => 0,
            // The name of the one server has that of its machine in it.
            Reach::Desk => model.wrappers.len().max(2),
            Reach::Own => model.wrappers.len(),
        };
        let tools = || shown.iter().map(|group| group.lead.snapshot.tool.as_str());
        let about = shown
            .iter()
            .map(|group| times(model, group, TARGET).width() + foreign(Tone::Ours, about(group.lead)).width());
        let (tool, about) = (widest(|held| &held.snapshot.tool).min(28), about.max().unwrap_or(0));
        let (least_tool, most) =
            if servers > 1 { (LEAST.1, if width < WIDE.0 { MOST.1 } else { WIDE.1 }) } else { (LEAST.0, MOST.0) };
        let running = model.wrappers.iter().map(|one| one.wrapper.server.as_str());
        let mut short = match model.settings.reach {
            Reach::Desk if servers > 1 => desk::short_names(model, shown.iter().map(|group| group.lead)),
            Reach::Desk | Reach::Own => BTreeMap::new(),
        };
        let whole = widest(|held| &held.server);
        let (column, first, least) = match servers {
            // It has its user and machine in it: these matter more than the tool, which the risk says something of.
            2.. if !short.is_empty() => {
                let least = columns::widest(short.values().map(String::as_str));
                (FirstColumn::Server(NameColumn::within(std::iter::empty(), 0)), whole, least)
            }
            2.. => {
                let names = running.chain(shown.iter().map(|group| group.lead.server.as_str()));
                let names = NameColumn::of(names, SERVER);
                (FirstColumn::Server(names), names.width, names.width)
            }
            _ => (FirstColumn::Ticket, widest(|held| &held.snapshot.ticket), 0),
        };
        let gaps = [first, tool].into_iter().filter(|width| *width > 0).map(|width| width + 2).sum::<usize>();
        let bar = width >= NARROW && LEADING + TRAILING + gaps + about.min(MOST.0) <= width;
        // The state of a call that no longer waits is shown whole, with a space on both sides.
        let said = shown.iter().filter_map(|group| word(group.lead)).map(|word| word.len() + 2).max().unwrap_or(0);
        let time = if bar { TRAILING } else { TRAILING_NARROW.max(said) };
        let room = width.saturating_sub(LEADING + time);
        let (first, least) = match column {
            // A ticket is shown whole, or not at all.
            FirstColumn::Ticket if servers == 1 && about.min(40) + tool.min(least_tool) + first + 4 <= room => {
                (first, first)
            }
            FirstColumn::Ticket => (0, 0),
            // As much of its names as leaves room for the target.
            FirstColumn::Server(_) if !short.is_empty() => {
                (first, least.min(room.saturating_sub(TARGET + 2)).max(SERVER.min(least)))
            }
            FirstColumn::Server(_) => (first, least),
        };
        // The risk already says what the call does: a tool's name matters less than its server.
        let fit = |first| {
            let about = (0, about.clamp(1, most), about.min(TARGET));
            fitted(room, [about, (2, first, least), (2, tool, tool.min(least_tool))], &[2, 1])
        };
        let [_, mut first, mut tool] = fit(first);
        if first >= whole {
            short.clear();
        } else if !short.is_empty() {
            // What short names leave is for the tool.
            [_, first, tool] = fit(columns::widest(short.values().map(String::as_str)));
        }
        let column = match column {
            FirstColumn::Server(_) if model.settings.reach == Reach::Desk => {
                let names = shown.iter().map(|group| group.lead.server.as_str());
                let names = names.map(|name| short.get(name).map_or(name, String::as_str));
                FirstColumn::Server(NameColumn::within(names, first))
            }
            other => other,
        };
        let beside: usize = [tool, first].into_iter().filter(|width| *width > 0).map(|width| width + 2).sum();
        Self { first, column, short, tool: NameColumn::within(tools(), tool), about: room.saturating_sub(beside), time }
    }

    fn columns(&self) -> Columns {
        let columns = Columns::default().left(0, 2, "").left(0, risk::WIDEST, "").left(1, self.first, "");
        let columns = columns.left(if self.first > 0 { 2 } else { 1 }, self.tool.width, "");
        columns.left(if self.tool.width > 0 { 2 } else { 1 }, self.about, "").rest(0)
    }

    fn tellings(&self, model: &Model, shown: &[Group<'_>]) -> Vec<Row> {
        let room = |group: &Group<'_>| self.about.saturating_sub(times(model, group, self.about).width());
        apart(&shown.iter().map(|group| (group.lead, room(group))).collect::<Vec<_>>())
    }

    fn row(&self, model: &Model, group: &Group<'_>, telling: Row, here: bool) -> Row {
        let held = group.lead;
        let snapshot = &held.snapshot;
        let marker = match (here, model.queue.marked.contains(&held.key)) {
            (true, false) => strong("▸ "),
            (false, false) => Row::default(),
            (true, true) => strong("▸✓"),
            (false, true) => key(" ✓"),
        };
        let times = times(model, group, self.about);
        let room = self.about.saturating_sub(times.width());
        // If there is no room for both, the tool's name takes the place of an unknown target.
        let about = match snapshot.target {
            None if self.tool.width == 0 => foreign(Tone::Strong, &snapshot.tool),
            Some(_) if self.tool.width == 0 => beside_tool(&snapshot.tool, telling, room),
            _ => telling,
        };
        self.columns().row([
            marker,
            Row { runs: vec![Risk::of(snapshot).run()] },
            match self.column {
                FirstColumn::Ticket => desk::name(held, Tone::Quiet),
                FirstColumn::Server(names) => {
                    let name = self.short.get(held.server.as_str()).unwrap_or(&held.server);
                    names.cell(Tone::Quiet, name)
                }
            },
            self.tool.cell(Tone::Strong, &snapshot.tool),
            times.joined(about),
            state(held, model.now, self.time),
        ])
    }
}

/// On a desk who looks and what is away; how many identical calls a row is, or how often its call came before.
fn times(model: &Model, group: &Group<'_>, room: usize) -> Row {
    let times = match (group.count(), time::nth(group.lead.snapshot.occurrence)) {
        (1, None) => Row::default(),
        // `3rd` says enough where there is no room for more.
        (1, Some(nth)) if room < 30 => warn(nth.replace("time", "")),
        (1, Some(nth)) => warn(format!("{nth} ")),
        (n, _) => warn(format!("×{n} ")),
    };
    desk::mark(model, group.lead, room).joined(times)
}

/// A tool's name before its target, where the whole target leaves room for enough of it.
fn beside_tool(tool: &str, target: Row, room: usize) -> Row {
    const GAP: usize = 2;
    let name = foreign(Tone::Strong, tool);
    let left = room.saturating_sub(target.width() + GAP);
    if left < name.width().min(LEAST.1) {
        return target;
    }
    name.clipped(left).ours(" ".repeat(GAP)).joined(target)
}

/// What a call is about, otherwise what it does.
fn about(held: &Held) -> &str {
    acts_on(held).unwrap_or(&held.snapshot.effect)
}

/// What a call acts on. A result would look like its call by that.
fn acts_on(held: &Held) -> Option<&str> {
    held.snapshot.target.as_deref().filter(|_| held.snapshot.result_of.is_none())
}

/// Cut where it says least: a path in its folders, anything else after its beginning.
fn telling(held: &Held, room: usize) -> Row {
    match acts_on(held) {
        Some(text) => target(Tone::Ours, text, room),
        // Our own words begin with what matters.
        None => foreign(Tone::Ours, &held.snapshot.effect).elided(room, room),
    }
}

/// What each call is about, in its room. What calls of one tool begin with in common becomes `…` where they must be cut,
/// and again where the cut would make calls look alike that are not: the room is for what differs.
fn apart(calls: &[(&Held, usize)]) -> Vec<Row> {
    /// The calls that look alike after a cut have more in common than after the one before.
    const CUTS: usize = 4;
    let text = |at: usize| about(calls[at].0);
    let is_cut = |at: &usize| foreign(Tone::Ours, text(*at)).width() > calls[*at].1;
    let mut rows: Vec<Row> = calls.iter().map(|(held, room)| telling(held, *room)).collect();
    let mut alike: HashMap<(&str, &str, String), Vec<usize>> = HashMap::new();
    for at in (0..calls.len()).filter(is_cut) {
        let call = calls[at].0;
        alike.entry((&call.server, &call.snapshot.tool, String::new())).or_default().push(at);
    }
    for _ in 0..CUTS {
        for members in alike.into_values() {
            let differing = members.iter().filter(|at| text(**at) != text(members[0]));
            let Some(common) = differing.map(|at| shared(text(members[0]), text(*at))).min() else { continue };
            if common < 2 {
                continue;
            }
            for at in members {
                let room = calls[at].1;
                let rest = foreign(Tone::Ours, &text(at)[from(text(at), common, room.saturating_sub(1))..]);
                rows[at] = quiet("…").joined(rest.elided(room.saturating_sub(1), room * 2 / 3)).clipped(room);
            }
        }
        alike = HashMap::new();
        for at in (0..calls.len()).filter(is_cut) {
            let call = calls[at].0;
            alike.entry((&call.server, &call.snapshot.tool, rows[at].text())).or_default().push(at);
        }
    }
    rows
}

/// Where a text that may be cut at `common` begins: as many words before that as have room.
fn from(text: &str, common: usize, room: usize) -> usize {
    let fits = |at: &usize| foreign(Tone::Ours, &text[*at..]).width() <= room;
    let places = text[..common].char_indices().rev().map(|(at, _)| at).take_while(fits);
    let begins = |at: &usize| !text[..*at].ends_with(char::is_alphanumeric);
    places.filter(begins).last().unwrap_or(common)
}

/// How many bytes two texts begin with in common, up to where a word or a name in a path begins.
fn shared(one: &str, other: &str) -> usize {
    /// A longer word is cut where it differs.
    const NAME: usize = 16;
    let same = one.char_indices().zip(other.chars()).find(|((_, a), b)| a != b);
    let end = same.map_or(one.len().min(other.len()), |((at, _), _)| at);
    let begins = one[..end].char_indices().rev().take(NAME).find(|(_, c)| !c.is_alphanumeric());
    begins.map_or(end, |(at, c)| at + c.len_utf8())
}

/// The time left as a bar and as a number, or the call's state.
fn state(held: &Held, now: i64, width: usize) -> Row {
    if let Some(word) = word(held) {
        return quiet(format!("{word:>0$} ", width - 1));
    }
    let Some(deadline) = held.snapshot.deadline else {
        return quiet(format!("{:>1$} ", time::span(now - held.snapshot.arrived), width - 1));
    };
    let (left, all, tone) = left_of(held, deadline, now);
    let bar = if width >= TRAILING { format!(" {}", bar(left, all, 4)) } else { String::new() };
    let figures = format!("{bar} {:>5} ", time::left(left));
    Row::of(tone, format!("{figures:>width$}"))
}

/// The state of a call that no longer waits.
fn word(held: &Held) -> Option<&'static str> {
    match &held.state {
        CallState::Waiting => None,
        CallState::Sent(_) => Some("sent"),
        CallState::EditSent => Some("edited"),
        CallState::Settled(settled) if settled.by == By::Expiry => Some("expired"),
        CallState::Settled(_) => Some("over"),
        CallState::Gone => Some("gone"),
    }
}

/// What is left until a call's deadline, of how much, and how that looks; in milliseconds.
pub(super) fn left_of(held: &Held, deadline: i64, now: i64) -> (i64, i64, Tone) {
    let all = (deadline - held.snapshot.arrived).max(1);
    let left = (deadline - now).clamp(0, all);
    (left, all, if left < 30_000 { Tone::Danger } else { Tone::Quiet })
}

/// What is left of a time, as a bar of so many cells; empty only when nothing is left.
pub(super) fn bar(left: i64, all: i64, cells: usize) -> String {
    let of = i64::try_from(cells).unwrap_or(0);
    let full = usize::try_from((left * of + all - 1) / all.max(1)).unwrap_or(0).min(cells);
    format!("{}{}", "■".repeat(full), "□".repeat(cells - full))
}
