//! A record on one line, the same on the Log screen and the command line. In little room, the target shrinks last.

use super::found::Line;
use crate::audit::{By, Kind, Outcome, VerdictWord};
use crate::behavior::Badge;
use crate::policy::{Decision, result::ResultAct};
use crate::text::columns::{Columns, NameColumn, target, widest};
use crate::text::row::{Row, Tone, foreign, quiet};
use crate::text::time;

const VERDICT: &str = "VERDICT";
/// `checkpoint` and `unreadable` are the longest words of what happened.
const HAPPENED: usize = 10;
/// The widths of who and tool: at most, if there is room, and at least, while the target is cut.
const WHO: (usize, usize) = (16, 8);
const TOOL: (usize, usize) = (24, 12);
const MACHINE: usize = 12;
/// The number of a record where there are those of many machines: the order in which they arrived.
const PLACE: &str = "PLACE";
/// The same for a tool in a list that has room for everything.
const WIDE_TOOL: (usize, usize) = (32, 12);
/// The least width of a target: below it, the other columns are left out.
const LEAST: usize = 14;
/// From this width of the target on, the tool need not be cut.
const ENOUGH: usize = 30;
/// Beyond this width, a target is not shown whole while other columns are cut for it.
const MOST: usize = 44;

/// How wide each column is; without width it is not shown.
#[derive(Clone, Copy, Debug)]
pub struct RecordColumns {
    seq: usize,
    machine: NameColumn,
    when: usize,
    happened: usize,
    ticket: NameColumn,
    who: usize,
    tool: NameColumn,
    rest: usize,
}

/// Whether a row has room for a record's number and its ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    Left,
    /// The number alone; this is the largest.
    Numbered(u64),
    /// Both; this is the largest number.
    Shown(u64),
}

impl RecordColumns {
    /// The columns for these records at this width; `when` is the width of their times.
    pub fn of(lines: &[&Line], width: usize, when: usize, wanted: Names) -> Self {
        let widest = |text: fn(&Line) -> &str| widest(lines.iter().copied().map(text));
        let happened = match wanted {
            Names::Numbered(_) => lines.iter().map(|line| happened(line).width()).max().unwrap_or(0).max(VERDICT.len()),
            // The columns of a list do not change while it is scrolled.
            Names::Left | Names::Shown(_) => HAPPENED,
        };
        let digits = |newest: u64| newest.to_string().len().max(3);
        let tickets = || lines.iter().copied().map(ticket);
        let (seq, ticket) = match wanted {
            Names::Left => (0, NameColumn::within(tickets(), 0)),
            Names::Numbered(newest) => (digits(newest), NameColumn::within(tickets(), 0)),
            Names::Shown(newest) => (digits(newest), NameColumn::of(tickets(), 18)),
        };
        let machines = lines.iter().filter_map(|line| line.machine.as_deref());
        let machine = match self::widest(machines.clone()) {
            0 => NameColumn::within(machines, 0),
            widest => NameColumn::within(machines, widest.clamp("MACHINE".len(), MACHINE)),
        };
        let seq = if machine.width > 0 { seq.max(PLACE.len()) } else { seq };
        let room = |ticket: usize| {
            let names = [seq, machine.width, ticket]
                .into_iter()
                .filter(|width| *width > 0)
                .map(|width| width + 1)
                .sum::<usize>();
            width.saturating_sub(names + when + 1 + 2 + happened)
        };
        let upon = widest(|line| line.target.as_deref().unwrap_or_default()).min(MOST);
        let fits = |(most, least): (usize, usize), width: usize| (width.min(most), width.min(least));
        let of_tool = if let Names::Shown(_) = wanted { WIDE_TOOL } else { TOOL };
        let ((who, least_who), (tool, least_tool)) =
            (fits(WHO, widest(|line| who(line).unwrap_or_default())), fits(of_tool, widest(tool_of)));
        let columns = |who: usize, tool: usize| who + usize::from(who > 0) + tool + 2;
        let whole = columns(least_who, tool);
        // Tickets are shown if nothing is cut for them, and tools are whole if enough of the target is left.
        let ticket = if whole + upon <= room(ticket.width) { ticket } else { NameColumn::within(tickets(), 0) };
        let room = room(ticket.width);
        let roomy = matches!(wanted, Names::Shown(_)) && whole + upon.min(ENOUGH) <= room;
        let least_tool = if roomy { tool } else { least_tool };
        let enough = upon.min(LEAST);
        let (who, tool) = if columns(least_who, least_tool) + enough <= room {
            // What the target does not need goes to the tool, then to who.
            let spare = room - columns(least_who, least_tool) - upon.min(room - columns(least_who, least_tool));
            let tool = tool.min(least_tool + spare);
            (who.min(least_who + (spare + least_tool - tool)), tool)
        } else if columns(0, least_tool) + enough <= room {
            (0, least_tool)
        } else {
            (0, 0)
        };
        let rest = room.saturating_sub(columns(who, tool));
        let tool = NameColumn::within(lines.iter().copied().map(tool_of), tool);
        Self { seq, machine, when, happened, ticket, who, tool, rest }
    }

    /// Whether no cell of these records is cut.
    pub fn hold(&self, lines: &[Line]) -> bool {
        let width = |text: &str| foreign(Tone::Ours, text).width();
        lines.iter().all(|line| {
            width(who(line).unwrap_or_default()) <= self.who
                && width(tool_of(line)) <= self.tool.width
                && width(line.target.as_deref().unwrap_or_default()) <= self.rest
        })
    }

    pub fn target(&self, line: &Line) -> Row {
        line.target.as_deref().map(|upon| target(Tone::Ours, upon, self.rest)).unwrap_or_default()
    }

    pub fn heading(&self) -> Row {
        let seq = if self.machine.width > 0 { PLACE } else { "SEQ" };
        self.columns().row([seq, "MACHINE", "TIME", "", VERDICT, "TICKET", "WHO", "TOOL", "TARGET"].map(quiet))
    }

    fn columns(&self) -> Columns {
        let columns = Columns::default().right(0, self.seq, "").left(usize::from(self.seq > 0), self.machine.width, "");
        let is_first = self.seq == 0 && self.machine.width == 0;
        let columns = columns.left(usize::from(!is_first), self.when, "");
        let columns = columns.left(1, 2, "").left(0, self.happened, "").left(1, self.ticket.width, "");
        columns.left(1, self.who, "").left(1, self.tool.width, "").rest(1)
    }

    /// One record; `when` is its time as the reader wants it.
    pub fn row(&self, line: &Line, when: &str) -> Row {
        let tool = match &line.tool {
            Some(tool) => (Tone::Strong, tool),
            None => (Tone::Quiet, &line.server),
        };
        let mut upon = match &line.target {
            None if self.tool.width == 0 => foreign(tool.0, tool.1).clipped(self.rest),
            _ => self.target(line),
        };
        // How a read was explained is shown on a sheet: it is too long for a row.
        let note = if line.by == Some(By::Default) { "" } else { note(line) };
        if !note.is_empty() && upon.width() + 12 < self.rest {
            let gap = if upon.runs.is_empty() { "" } else { "  " };
            upon = upon.ours(gap).and_foreign(Tone::Quiet, note).clipped(self.rest);
        }
        self.columns().row([
            quiet(line.seq.to_string()),
            self.machine.cell(Tone::Ours, line.machine.as_deref().unwrap_or_default()),
            quiet(when),
            badge(line.badge),
            happened(line),
            self.ticket.cell(Tone::Quiet, ticket(line)),
            foreign(Tone::Ours, who(line).unwrap_or_default()),
            self.tool.cell(tool.0, tool.1),
            upon,
        ])
    }
}

pub fn look(badge: Badge) -> (Tone, &'static str) {
    match badge {
        Badge::Pure => (Tone::Good, "○"),
        Badge::Likely => (Tone::Ours, "◌"),
        Badge::Mutates => (Tone::Warn, "●"),
    }
}

pub fn badge(badge: Option<Badge>) -> Row {
    badge.map(look).map(|(tone, shape)| Row::of(tone, shape)).unwrap_or_default()
}

/// The word for a verdict, and its tone; `none` if there is no verdict.
pub fn verdict(verdict: Option<VerdictWord>, none: &'static str) -> (Tone, &'static str) {
    match verdict {
        Some(VerdictWord::Approve) => (Tone::Good, "approved"),
        Some(VerdictWord::Deny) => (Tone::Danger, "denied"),
        None => (Tone::Warn, none),
    }
}

pub fn rule_says(decision: Decision, result: Option<ResultAct>) -> Row {
    match result {
        Some(ResultAct::Redact) => Row::of(Tone::Warn, ResultAct::Redact.word()),
        Some(ResultAct::Ask | ResultAct::Deny) | None => ruling(decision),
    }
}

pub fn ruling(decision: Decision) -> Row {
    let tone = match decision {
        Decision::Allow => Tone::Good,
        Decision::Ask => Tone::Warn,
        Decision::Deny => Tone::Danger,
    };
    Row::of(tone, decision.word())
}

pub fn happened(line: &Line) -> Row {
    let (tone, word) = match line.kind {
        Some(Kind::Decision) => verdict(line.verdict, "decided"),
        Some(Kind::DecisionAsked) => (Tone::Warn, "asked"),
        Some(Kind::Forward) => (Tone::Ours, "forwarded"),
        Some(Kind::RoundTrip | Kind::Task) => (Tone::Ours, "waits on"),
        Some(Kind::Outcome) if line.outcome.is_some_and(Outcome::is_failure) => (Tone::Danger, "failed"),
        Some(Kind::Outcome) => (Tone::Ours, "answered"),
        Some(Kind::ResultDecision) => (Tone::Warn, "result"),
        Some(Kind::Withdrawn) => (Tone::Warn, "withdrawn"),
        Some(Kind::Fault) => (Tone::Danger, "fault"),
        Some(Kind::ServerStart) => (Tone::Ours, "started"),
        Some(Kind::ServerEnd) => (Tone::Ours, "ended"),
        Some(Kind::Host) => (Tone::Ours, "host"),
        Some(Kind::Attach) => (Tone::Ours, "attached"),
        Some(Kind::Detach) => (Tone::Ours, "left"),
        Some(Kind::Tools) => (Tone::Ours, "tools"),
        Some(Kind::Policy) => (Tone::Ours, "policy"),
        Some(Kind::Agreed) => (Tone::Ours, "agreed"),
        Some(Kind::Text) => (Tone::Ours, "kept"),
        Some(Kind::Passed) => (Tone::Ours, "passed"),
        Some(Kind::Session) => (Tone::Ours, "session"),
        Some(Kind::Event) => (Tone::Ours, "event"),
        Some(Kind::Removed) => (Tone::Warn, "removed"),
        Some(Kind::SessionLost) => (Tone::Warn, "end lost"),
        Some(Kind::NextJournal) => (Tone::Quiet, "next journal"),
        Some(Kind::Checkpoint) => (Tone::Ours, "checkpoint"),
        None => return foreign(Tone::Warn, if line.kind_word.is_empty() { "unreadable" } else { &line.kind_word }),
    };
    Row::of(tone, word)
}

/// Who decided: a rule by its name, a person without the console's process id, otherwise the cause. Foreign text.
pub fn who(line: &Line) -> Option<&str> {
    let by = line.by?;
    match (&line.rule, by) {
        // A rule that only asked has decided nothing.
        _ if !line.who.is_empty() => Some(line.who.split(" (pid ").next().unwrap_or(&line.who)),
        (Some(rule), _) => Some(rule),
        (None, by) => Some(by.in_words()),
    }
}

/// What happened, by whom, how long it took and why, as a sentence. Foreign text in it went through `plain`.
pub fn sentence(line: &Line) -> Row {
    let mut row = happened(line);
    match (&line.rule, who(line)) {
        (_, Some(_)) if !line.who.is_empty() => {
            row = row.quiet(" by ").and_foreign(Tone::Ours, &line.who);
        }
        (Some(rule), Some(_)) => {
            let by = if rule.starts_with("grant:") { " by " } else { " by rule " };
            row = row.quiet(by).and_foreign(Tone::Ours, rule);
        }
        (None, Some(by)) => row.push(Tone::Quiet, format!(" by {by}")),
        (_, None) => {}
    }
    // The time that policy takes is not worth showing.
    if let Some(latency) = line.latency_us.filter(|latency| line.verdict.is_none() || *latency >= 1_000) {
        row.push(Tone::Quiet, format!(" {}", time::latency(latency)));
    }
    match note(line) {
        "" => row,
        note => row.quiet(": ").and_foreign(Tone::Foreign, note),
    }
}

/// Why, or what more there is to say. Foreign text.
fn note(line: &Line) -> &str {
    match (line.by, line.outcome) {
        (_, Some(Outcome::Ok)) => "",
        (Some(By::Default), _) if !line.explained.is_empty() => &line.explained,
        _ => because(line.by, line.rule.as_deref(), &line.note),
    }
}

/// A decision's reason, where it says more than who decided, which is beside it already. Foreign text.
pub fn because<'r>(by: Option<By>, rule: Option<&str>, reason: &'r str) -> &'r str {
    let is_said = match (by, rule) {
        (Some(By::Operator), _) => matches!(reason, "approved by the operator" | "denied by the operator"),
        (Some(By::Rule), Some(rule)) => {
            let does = reason.strip_prefix("rule ").and_then(|rest| rest.strip_prefix(rule));
            matches!(does, Some(" allows it" | " asks" | " denies it"))
        }
        _ => false,
    };
    if is_said { "" } else { reason }
}

fn tool_of(line: &Line) -> &str {
    line.tool.as_deref().unwrap_or(&line.server)
}

fn ticket(line: &Line) -> &str {
    line.ticket.as_deref().unwrap_or(&line.server)
}
