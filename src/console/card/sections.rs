//! The words around the arguments on a card: what we conclude, what the server says, what identifies the call; and all that
//! must be read of a call in few rows.

use std::sync::Arc;

use super::json::{Extents, Writing, is_beyond_doubles, label, members, quoted, size, skip_space};
use super::preview::{self, Form};
use crate::behavior::{Evidence, HazardKind, Mutability, Source, taxonomy::ContentType};
use crate::console::keymap::{self, Action, Is};
use crate::console::risk::{Risk, no_grant};
use crate::console::rows::{Entries, LABEL, caption};
use crate::gate::data::pin::{Remembers, ToolOffer};
use crate::gate::data::snapshot::{Check, CheckState, STILL_WAITS, Snapshot};
use crate::link::message::At;
use crate::operator::{found::Before, record_row};
use crate::policy::{Ruling, decide::Near};
use crate::text::row::{Row, Tone, border, danger, foreign, key, ours, quiet, warn};
use crate::text::time;
use crate::wire::counted;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Details {
    #[default]
    Folded,
    Shown,
}

/// A call that waits on a machine of a desk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnDesk {
    pub at: Arc<At>,
    pub withheld: Withheld,
}

/// Whether all of a call is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withheld {
    Nothing,
    /// Something is redacted or cut: what would be approved was not shown.
    Something,
}

/// Whether an action does something for a call: what is only for its own machine has no key on a desk, nor has what approves a call of
/// which something is withheld.
pub fn has_key(desk: Option<&OnDesk>, action: Action) -> bool {
    let Some(desk) = desk else { return true };
    let approves = matches!(action, Action::Approve | Action::ApproveUnread);
    !(keymap::is(action, Is::AtMachine) || approves && desk.withheld == Withheld::Something)
}

pub fn opening(desk: Option<&OnDesk>, snapshot: &Snapshot, effect: &str, width: usize) -> Vec<Row> {
    let mut rows = Entries::new(width);
    rows.hung(ours(" ").and_foreign(Tone::Strong, effect), 1);
    rows.hung(behavior(snapshot, width), 3);
    rows.hung(capability(snapshot, width), 3);
    warnings(desk, snapshot, &mut rows);
    if width >= ROOM_FOR_HOST {
        host(snapshot, &mut rows);
    }
    confirmable(desk, snapshot, &mut rows);
    rows.rows
}

pub(super) fn warnings(desk: Option<&OnDesk>, snapshot: &Snapshot, rows: &mut Entries) {
    if let Some(changed) = &snapshot.asked_again {
        let row = warn("▲ ").and_foreign(Tone::Warn, changed).ours(" since you saw it first");
        rows.entry("asked again", row);
    }
    if let Some(time) = time::nth(snapshot.occurrence) {
        let waits = snapshot.earlier.iter().any(|line| line.ends_with(STILL_WAITS));
        let so_far = if waits { "the one before still waits" } else { "it has not run" };
        rows.says("came before", Tone::Warn, format!("▲ {time}, and {so_far}"));
    }
    for line in &snapshot.earlier {
        rows.entry("", foreign(Tone::Ours, line));
    }
    if let Some(earlier) = &snapshot.runs_after {
        let row = ours("waits for ").and_foreign(Tone::Strong, earlier);
        rows.entry("order", row.ours(", which the host sent before it: approved, it runs after that"));
    }
    if let Some(danger) = &snapshot.danger {
        // A read that asks is not alarming.
        let (label, tone) = match snapshot.identity.mutability {
            Mutability::Pure => ("caution", Tone::Warn),
            Mutability::Mutates => ("danger", Tone::Danger),
        };
        rows.entry(label, foreign(tone, danger));
    }
    if let Some(terms) = &snapshot.signs {
        let row = match has_key(desk, Action::Approve) {
            true => key("a").ours(" has ssh-keygen sign it with your key"),
            false => {
                let row = ours("approve at its machine ").and_foreign(Tone::Strong, &terms.machine).ours("; ");
                row.key("d").ours(" has ssh-keygen sign a denial")
            }
        };
        let row = match terms.approvals {
            1 => row,
            of => row.ours(format!(": person {} of {of}", terms.approval)),
        };
        rows.entry("signature", row);
    }
    if let Some(rule) = &snapshot.ruling.rule {
        let row = quiet("rule ").and_foreign(Tone::Strong, rule);
        rows.entry(
            "why asked",
            row.quiet(format!(" asks for such {}", if snapshot.result_of.is_some() { "results" } else { "calls" })),
        );
    }
    for hazard in &snapshot.hazards {
        let row = warn(format!("▲ {}: ", hazard.kind.word())).and_foreign(Tone::Ours, &hazard.what);
        rows.entry("hazard", row);
        if hazard.kind == HazardKind::OutsideRoots && has_key(desk, Action::Rule) {
            let mut keys = key("r f").quiet(" allows this folder for later calls of the tool");
            if no_grant(snapshot).is_none() {
                keys = keys.quiet(", ").key("r s").quiet(" this session, ");
                keys = keys.key("r m").quiet(" 15 min");
            }
            rows.entry("", keys);
        }
    }
    for (name, check) in checks(snapshot).into_iter().filter(|(_, check)| check.state == CheckState::Fails) {
        rows.entry("check", danger(format!("✗ {name}: ")).and_foreign(Tone::Ours, &check.what));
    }
}

fn behavior(snapshot: &Snapshot, width: usize) -> Row {
    let identity = snapshot.identity;
    let mut row = ours(" ");
    row.runs.push(Risk::of(snapshot).run());
    let badge = identity.mutability.word();
    let others = identity.words().trim_start_matches(badge);
    let mut row = row.ours("  ").strong(badge).ours(others);
    let digits = format!(" · {}", identity.hash());
    // In little room, the details have the digits.
    if row.width() + digits.chars().count() <= width {
        row.push(Tone::Quiet, digits);
    }
    if snapshot.disputed {
        row.push(Tone::Warn, " · disputed");
    }
    row
}

/// The machine that a call waits on, as its signature will name it; and that not all of the call is here.
pub fn place(OnDesk { at, withheld }: &OnDesk, width: usize) -> Vec<Row> {
    let mut rows = Entries::new(width);
    rows.entry("machine", machine(at));
    match withheld {
        Withheld::Nothing => {}
        Withheld::Something => rows.says("withheld", Tone::Warn, "▲ Something is redacted or cut here."),
    }
    rows.rows
}

/// A machine of a desk: its name there, and whom its signatures name.
pub fn machine(at: &At) -> Row {
    let row = foreign(Tone::Strong, &at.machine).quiet(" · user ").and_foreign(Tone::Ours, &at.user);
    row.quiet(" of host ").and_foreign(Tone::Ours, &at.host)
}

/// The tool with its typed parameters and result, as many of them as fit beside its server: the details have them all.
fn capability(snapshot: &Snapshot, width: usize) -> Row {
    const LEAST: usize = 12;
    let row = ours(" ").and_foreign(Tone::Strong, &snapshot.tool);
    let server = quiet(" on ").and_foreign(Tone::Ours, &snapshot.server);
    let types = snapshot.signature.as_deref().and_then(|signature| signature.strip_prefix(snapshot.tool.as_str()));
    let room = width.saturating_sub(row.width() + server.width());
    match types {
        Some(types) if room >= LEAST => row.joined(foreign(Tone::Foreign, types).clipped(room)).joined(server),
        _ => row.joined(server),
    }
}

/// What operators decided of calls of this tool before: always one row, so that nothing below it moves.
pub fn before(before: Option<&Before>, operator: &str, now: i64, width: usize) -> Row {
    let label = labelled("before");
    let row = match before {
        None => label.quiet("…"),
        Some(Before { last: None, .. }) => {
            label.quiet(format!("no call of this tool decided in the last {} days", Before::DAYS))
        }
        Some(Before { approved, denied, last: Some((verdict, who, at)), .. }) => {
            let or_more = if approved + denied >= Before::MOST { " or more" } else { "" };
            let tone = if *denied > 0 { Tone::Warn } else { Tone::Ours };
            let row = label.and(tone, format!("approved {approved}×, denied {denied}×{or_more} here"));
            let name = who.split(" (pid ").next().unwrap_or(who);
            let row = row.quiet("; ");
            let row = if name == operator { row.ours("you") } else { row.and_foreign(Tone::Ours, name) };
            row.quiet(" ")
                .quiet(record_row::verdict(Some(*verdict), "").1)
                .quiet(format!(" {} ago", time::span(now - at)))
        }
    };
    row.clipped(width)
}

pub fn labelled(label: &str) -> Row {
    quiet(format!(" {label:<LABEL$} "))
}

/// From this width on the row about decisions before is above the arguments: no decision needs it.
pub(super) const ROOM_FOR_BEFORE: usize = 60;
/// The same of what is said about the host, which takes three rows where it is narrower.
const ROOM_FOR_HOST: usize = 100;

pub(super) fn host_below(snapshot: &Snapshot, width: usize) -> Vec<Row> {
    let mut rows = Entries::new(width);
    if width < ROOM_FOR_HOST {
        host(snapshot, &mut rows);
    }
    rows.rows
}

fn host(snapshot: &Snapshot, rows: &mut Entries) {
    if let Some(silence) = &snapshot.silence {
        rows.entry("host", foreign(Tone::Quiet, silence));
    }
}

/// What one word of the operator would settle, with the evidence; and which argument is not explained.
fn confirmable(desk: Option<&OnDesk>, snapshot: &Snapshot, rows: &mut Entries) {
    // Nothing is new about a call that changes something: it asks as it is.
    if snapshot.identity.mutability == Mutability::Pure {
        new_here(snapshot, rows);
    }
    let Some(offer) = &snapshot.offer else { return };
    if offer.tool == ToolOffer::Likely {
        rows.ours("likely", "The server describes the tool as one that reads. You have not confirmed that.");
        snapshot.evidence.iter().for_each(|evidence| proof(evidence, rows));
    }
    let mut row = Row::default();
    if offer.remembers == Remembers::All && has_key(desk, Action::Reads) {
        let remembers = match (offer.tool, offer.agree.as_slice()) {
            (ToolOffer::Likely, []) => " it reads: approve, and stop asking for this tool  ",
            (ToolOffer::Likely, _) => " it reads, and that is fine: approve, and remember both  ",
            (ToolOffer::Proven, _) => " approve, and remember that  ",
        };
        row = row.key("p").quiet(remembers);
        if offer.agree.iter().any(|line| !snapshot.new.iter().any(|(_, says)| says == line)) {
            row = row.quiet("(").and_foreign(Tone::Strong, &offer.agree.join("; ")).quiet(")  ");
        }
    }
    if !offer.any_text.is_empty() && has_key(desk, Action::PlainText) {
        row = row.key("w").quiet(" any text under ").and_foreign(Tone::Strong, &offer.any_text.join(", ")).quiet("  ");
    }
    if offer.tool == ToolOffer::Likely && has_key(desk, Action::Changes) {
        row = row.key("m").quiet(" it changes something");
    }
    if !row.runs.is_empty() {
        rows.entry("your word", row);
    }
}

pub(super) fn new_here(snapshot: &Snapshot, rows: &mut Entries) {
    for (_, says) in &snapshot.new {
        rows.entry("new here", foreign(Tone::Strong, says));
    }
}

pub fn fold(details: Details, width: usize) -> Row {
    match details {
        Details::Folded => caption("▸ i", "why asked, signature, evidence, checks, digests", width),
        Details::Shown => caption("▾ i", "details; nothing below must be read", width),
    }
}

pub fn reasons(snapshot: &Snapshot, width: usize) -> Vec<Row> {
    let mut rows = Entries::new(width);
    rows.entry("why asked", ruling(&snapshot.ruling));
    if snapshot.identity.mutability == Mutability::Mutates {
        new_here(snapshot, &mut rows);
    }
    nearest(&snapshot.near, &mut rows);
    let mut identity = ours(snapshot.identity.words()).quiet(format!(" · {}", snapshot.identity.hash()));
    if snapshot.content_type != ContentType::Unknown {
        identity.push(Tone::Quiet, format!(" · {}", snapshot.content_type.word()));
    }
    rows.entry("identity", identity);
    match &snapshot.signature {
        Some(signature) => rows.entry("signature", foreign(Tone::Foreign, signature)),
        None if snapshot.result_of.is_some() => {}
        None => rows.says("signature", Tone::Warn, "none: the server has not described this tool"),
    }
    rows.rows
}

fn checks(snapshot: &Snapshot) -> [(&'static str, &Check); 3] {
    let safe = &snapshot.safe;
    [("capability", &safe.capability), ("guardrail", &safe.guardrail), ("session", &safe.session)]
}

fn mark(state: CheckState) -> (&'static str, Tone) {
    match state {
        CheckState::Holds => ("✓", Tone::Good),
        CheckState::Pending => ("◌", Tone::Warn),
        CheckState::Fails => ("✗", Tone::Danger),
    }
}

pub fn arguments_caption(snapshot: &Snapshot, width: usize) -> Vec<Row> {
    let words = match (&snapshot.result_of, &snapshot.original_arguments) {
        (Some(_), _) => "the result",
        (None, Some(_)) => "arguments, edited",
        (None, None) => "arguments",
    };
    let note = if is_without_arguments(snapshot) { "none".to_owned() } else { size(snapshot.arguments.len()) };
    vec![caption(words, &note, width)]
}

pub fn is_without_arguments(snapshot: &Snapshot) -> bool {
    let bare: String = snapshot.arguments.chars().filter(|c| !c.is_ascii_whitespace()).take(3).collect();
    bare.is_empty() || bare == "{}"
}

pub fn server_says(snapshot: &Snapshot, width: usize) -> Vec<Row> {
    if snapshot.title.is_none() && snapshot.description.is_none() {
        return Vec::new();
    }
    let mut rows = vec![caption("the server says", "not checked", width)];
    if let Some(title) = &snapshot.title {
        let title = quiet("title  ").and_foreign(Tone::Foreign, title);
        rows.extend(title.behind(&border("┃ "), width));
    }
    rows
}

pub fn closing(snapshot: &Snapshot, width: usize, offset: i32) -> Vec<Row> {
    let mut rows = Entries::new(width);
    rows.caption("evidence", &counted(snapshot.evidence.len(), "reason"));
    snapshot.evidence.iter().for_each(|evidence| proof(evidence, &mut rows));
    let silent = |source: &Source| snapshot.evidence.iter().all(|evidence| evidence.source != *source);
    for source in Source::VOTERS.into_iter().filter(silent) {
        rows.says(source.word(), Tone::Quiet, "says nothing");
    }
    rows.caption("safe", "what the three checks found");
    for (name, check) in checks(snapshot) {
        let (mark, tone) = mark(check.state);
        rows.entry(name, Row::of(tone, format!("{mark} ")).and_foreign(Tone::Ours, &check.what));
    }
    rows.caption("this call", "");
    rows.foreign("ticket", &snapshot.ticket);
    rows.ours("digest", snapshot.digest.to_string());
    if let Some(from) = snapshot.edited_from {
        rows.ours("edited from", from.to_string());
    }
    rows.ours("line", size(usize::try_from(snapshot.bytes).unwrap_or(usize::MAX)));
    rows.ours("arrived", time::of_day(snapshot.arrived, offset));
    let deadline = snapshot.deadline.map(|at| format!("{}, then it is denied", time::of_day(at, offset)));
    rows.ours("deadline", deadline.unwrap_or_else(|| "none: it waits as long as the host does".to_owned()));
    match &snapshot.host {
        Some(host) => rows.entry("host", foreign(Tone::Ours, host)),
        None => rows.says("host", Tone::Quiet, "did not say who it is"),
    }
    for (word, value) in &snapshot.caller {
        rows.entry(word, foreign(Tone::Ours, value));
    }
    rows.rows
}

fn ruling(ruling: &Ruling) -> Row {
    let why = foreign(Tone::Ours, &ruling.reason);
    match &ruling.rule {
        Some(rule) if !ruling.reason.contains(rule) => why.quiet(" · rule ").and_foreign(Tone::Ours, rule),
        _ => why,
    }
}

/// The rules for the tool that did not decide, and what kept each from it; nothing where there are none.
pub fn nearest(near: &[Near], rows: &mut Entries) {
    for (at, one) in near.iter().enumerate() {
        let row = foreign(Tone::Strong, &one.rule);
        let row = row.quiet(format!(" ({}) ", one.decision.word())).and_foreign(Tone::Ours, &one.why);
        rows.entry(if at == 0 { "nearest" } else { "" }, row);
    }
}

fn proof(evidence: &Evidence, rows: &mut Entries) {
    let strength = format!("{:?}", evidence.strength).to_lowercase();
    let says = evidence.says.to_string();
    let mut row = ours(if says.is_empty() { "says nothing" } else { &says });
    row.push(Tone::Quiet, format!(" · {strength}"));
    if !evidence.span.is_empty() {
        row = row.quiet(" · ").and_foreign(Tone::Foreign, &evidence.span);
    }
    rows.entry(evidence.source.word(), row);
}

#[derive(Clone, Debug)]
pub struct Brief {
    pub effect: Row,
    pub rows: Vec<Row>,
}

/// Longer arguments are read on the card, in bytes.
const LONGEST: usize = 4096;

/// What must be read of a call in few rows, for a list of calls; `None` where only its card can show it.
pub fn brief(desk: Option<&OnDesk>, call: &Snapshot, width: usize) -> Option<Brief> {
    let carries_more = call.original_arguments.is_some() || call.responses.is_some() || call.unknown_parts.is_some();
    let doubtful = call.arguments.split(|c: char| !c.is_ascii_digit()).any(is_beyond_doubles);
    let is_object = call.arguments.trim_start().starts_with('{') && Writing::of(&call.arguments) == Writing::Json;
    if carries_more || call.arguments.len() > LONGEST || doubtful || !(is_object || is_without_arguments(call)) {
        return None;
    }
    let preview = preview::of(call, Form::Brief, width);
    let mut rows = Entries::new(width);
    warnings(desk, call, &mut rows);
    if call.identity.mutability == Mutability::Pure {
        new_here(call, &mut rows);
    }
    if !call.undeclared.is_empty() {
        rows.entry("undeclared", warn("▲ ").and_foreign(Tone::Warn, &call.undeclared.join(", ")));
    }
    rows.rows.extend(preview.rows);
    rows.hung(brief_arguments(call), 3);
    let effect = foreign(Tone::Ours, preview.effect.as_deref().unwrap_or(&call.effect));
    Some(Brief { effect, rows: rows.rows })
}

fn brief_arguments(call: &Snapshot) -> Row {
    let text = call.arguments.as_str();
    if is_without_arguments(call) {
        return quiet(" no arguments");
    }
    let mut row = quiet(" ");
    for (at, (key, value)) in members(text, &Extents::default(), skip_space(text, 0)).enumerate() {
        let text = if value.starts_with('"') { quoted(value, LONGEST) } else { None };
        let value = text.unwrap_or_else(|| foreign(Tone::Foreign, value));
        row = row.quiet(if at == 0 { "" } else { "  " }).joined(label(key)).quiet(" ").joined(value);
    }
    row
}
