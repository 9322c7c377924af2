//! The words around the arguments on a card: what we conclude, what the server says, what identifies the call.

use super::{Details, counted, size};
use crate::behavior::evidence::{Claim, Evidence, Source};
use crate::behavior::hazards::HazardKind;
use crate::behavior::taxonomy::{ContentType, Mutability};
use crate::console::caption::{caption, entry};
use crate::console::risk::Risk;
use crate::console::row::{Row, Tone};
use crate::console::time;
use crate::gate::data::pinning::PinOffer;
use crate::gate::data::snapshot::{Check, CheckState, STILL_WAITS, Snapshot};
use crate::policy::decide::Ruling;
use crate::policy::explain::Near;

/// What it does, how grave that is, and what else bears on the decision: our own words, before anything foreign speaks.
pub fn opening(snapshot: &Snapshot, effect: &str, width: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    let effect = Row::of(Tone::Ours, " ").and_foreign(Tone::Strong, effect);
    rows.extend(effect.hung(width, 1));
    let mut badge = Row::of(Tone::Ours, " ");
    badge.runs.push(Risk::of(snapshot).run());
    if snapshot.identity.mutability == Mutability::Mutates {
        badge.push(Tone::Strong, format!("  {}", snapshot.identity.mutability.word()));
    }
    let badge = badge.and(Tone::Quiet, "  ").and_foreign(Tone::Strong, &snapshot.tool);
    let mut badge = badge.and(Tone::Quiet, " on ").and_foreign(Tone::Ours, &snapshot.server);
    if snapshot.disputed {
        badge.push(Tone::Warn, " · the evidence disagrees");
    }
    rows.extend(badge.hung(width, 3));
    if let Some(changed) = &snapshot.asked_again {
        let row = Row::of(Tone::Warn, "▲ ").and_foreign(Tone::Warn, changed).and(Tone::Ours, " since you saw it first");
        rows.extend(entry("asked again", row, width));
    }
    if let Some(time) = time::nth(snapshot.occurrence) {
        let waits = snapshot.earlier.iter().any(|line| line.ends_with(STILL_WAITS));
        let so_far = if waits { "the one before still waits" } else { "it has not run" };
        rows.extend(entry("came before", Row::of(Tone::Warn, format!("▲ {time}, and {so_far}")), width));
    }
    for line in &snapshot.earlier {
        rows.extend(entry("", Row::default().and_foreign(Tone::Ours, line), width));
    }
    if let Some(earlier) = &snapshot.runs_after {
        let row = Row::of(Tone::Ours, "waits for ").and_foreign(Tone::Strong, earlier);
        let row = row.and(Tone::Ours, ", which the host sent before it: approved, it runs after that");
        rows.extend(entry("order", row, width));
    }
    if let Some(danger) = &snapshot.danger {
        // A read that asks is no alarm.
        let (label, tone) = match snapshot.identity.mutability {
            Mutability::Pure => ("caution", Tone::Warn),
            Mutability::Mutates => ("danger", Tone::Danger),
        };
        rows.extend(entry(label, Row::default().and_foreign(tone, danger), width));
    }
    if let Some(rule) = &snapshot.ruling.rule {
        let row =
            Row::of(Tone::Quiet, "rule ").and_foreign(Tone::Strong, rule).and(Tone::Quiet, " asks for such calls");
        rows.extend(entry("why asked", row, width));
    }
    for hazard in &snapshot.hazards {
        let row = Row::of(Tone::Warn, format!("▲ {}: ", hazard.kind.word())).and_foreign(Tone::Ours, &hazard.what);
        rows.extend(entry("hazard", row, width));
        if hazard.kind == HazardKind::OutsideRoots {
            let keys = Row::of(Tone::Key, "r f").and(Tone::Quiet, " allows this folder for later calls of the tool");
            let keys = match crate::console::grants::refusal(snapshot) {
                None => {
                    let keys = keys.and(Tone::Quiet, ", ").and(Tone::Key, "r s").and(Tone::Quiet, " this session, ");
                    keys.and(Tone::Key, "r m").and(Tone::Quiet, " 15 min")
                }
                Some(_) => keys,
            };
            rows.extend(entry("", keys, width));
        }
    }
    if width >= ROOM_FOR_HOST {
        rows.extend(host(snapshot, width));
    }
    for (name, check) in checks(snapshot).into_iter().filter(|(_, check)| check.state == CheckState::Fails) {
        let row = Row::of(Tone::Danger, format!("✗ {name}: ")).and_foreign(Tone::Ours, &check.what);
        rows.extend(entry("check", row, width));
    }
    rows.extend(confirmable(snapshot, width));
    rows
}

/// From this width on the host's line is above the arguments; it decides nothing, so where rows are few it is below them.
const ROOM_FOR_HOST: usize = 60;

/// What the host does while its call waits, where that is not above the arguments.
pub(super) fn host_below(snapshot: &Snapshot, width: usize) -> Vec<Row> {
    if width < ROOM_FOR_HOST { host(snapshot, width) } else { Vec::new() }
}

fn host(snapshot: &Snapshot, width: usize) -> Vec<Row> {
    let row = |silence: &String| Row::default().and_foreign(Tone::Quiet, silence);
    snapshot.silence.iter().flat_map(|silence| entry("host", row(silence), width)).collect()
}

/// What one word of the operator would spare, with the evidence; and which argument is not explained.
fn confirmable(snapshot: &Snapshot, width: usize) -> Vec<Row> {
    // Of a call that changes something no argument need be explained.
    let mut rows = match snapshot.identity.mutability {
        Mutability::Pure => unexplained(snapshot, width),
        Mutability::Mutates => Vec::new(),
    };
    match &snapshot.offer {
        None => {}
        Some(PinOffer::Reads) => {
            let row =
                Row::of(Tone::Ours, "The server describes the tool as one that reads. You have not confirmed that.");
            rows.extend(entry("likely", row, width));
            rows.extend(snapshot.evidence.iter().flat_map(|evidence| proof(evidence, width)));
            let row = Row::of(Tone::Key, "p").and(Tone::Quiet, " it reads: approve, and stop asking for this tool  ");
            let row = row.and(Tone::Key, "m").and(Tone::Quiet, " it changes something");
            rows.extend(entry("your word", row, width));
        }
        Some(PinOffer::PlainText { parameters }) => {
            let names = parameters.join(", ");
            let row = Row::of(Tone::Key, "w").and(Tone::Quiet, " treat ").and_foreign(Tone::Strong, &names);
            let row = row.and(Tone::Quiet, " of this tool as plain text from now on");
            rows.extend(entry("your word", row, width));
        }
    }
    rows
}

/// Which argument is not explained, and why not.
fn unexplained(snapshot: &Snapshot, width: usize) -> Vec<Row> {
    let Some((argument, why)) = &snapshot.unexplained else { return Vec::new() };
    let row = Row::default().and_foreign(Tone::Strong, argument.trim_start_matches('/'));
    entry("unexplained", row.and(Tone::Ours, ": ").and_foreign(Tone::Ours, why), width)
}

/// The row that unfolds the details, or folds them again.
pub fn fold(details: Details, width: usize) -> Row {
    match details {
        Details::Folded => caption("▸ i", "why asked, signature, evidence, checks, digests", width),
        Details::Shown => caption("▾ i", "details; nothing below must be read", width),
    }
}

/// Why it is asked, what kind of call it is, and the three checks.
pub fn reasons(snapshot: &Snapshot, width: usize) -> Vec<Row> {
    let mut rows = entry("why asked", ruling(&snapshot.ruling), width);
    if snapshot.identity.mutability == Mutability::Mutates {
        rows.extend(unexplained(snapshot, width));
    }
    rows.extend(nearest(&snapshot.near, width));
    let identity = snapshot.identity;
    let (action, domain) = (identity.action.word(), identity.output_domain.word());
    let mut kind = Row::of(Tone::Ours, format!("{action} → {domain}"));
    if snapshot.content_type != ContentType::Unknown {
        kind.push(Tone::Quiet, format!(" · {}", snapshot.content_type.word()));
    }
    kind.push(Tone::Quiet, format!(" · {}", identity.hash()));
    rows.extend(entry("kind", kind, width));
    let signature = match &snapshot.signature {
        Some(signature) => Row::default().and_foreign(Tone::Foreign, signature),
        None => Row::of(Tone::Warn, "none: the server has not described this tool"),
    };
    rows.extend(entry("signature", signature, width));
    rows
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

/// The rule above the arguments; for a call without any it says so.
pub fn arguments_caption(snapshot: &Snapshot, width: usize) -> Vec<Row> {
    let words = if snapshot.original_arguments.is_some() { "arguments, edited" } else { "arguments" };
    if is_without_arguments(snapshot) {
        return vec![caption(words, "none", width)];
    }
    vec![caption(words, &size(snapshot.arguments.len()), width)]
}

/// Whether a call has no arguments: an empty object, or nothing at all.
pub fn is_without_arguments(snapshot: &Snapshot) -> bool {
    let bare: String = snapshot.arguments.chars().filter(|c| !c.is_ascii_whitespace()).take(3).collect();
    bare.is_empty() || bare == "{}"
}

/// The rule above what a call brings beside its arguments.
pub fn beside_caption(what: &str, bytes: usize, width: usize) -> Row {
    caption(what, &size(bytes), width)
}

/// The rule above what an edit changed.
pub fn edit_caption(width: usize) -> Vec<Row> {
    vec![caption("edited", "- as received, + as it will be sent", width)]
}

/// The frame around the server's own words, up to its description.
pub fn server_says(snapshot: &Snapshot, width: usize) -> Vec<Row> {
    if snapshot.title.is_none() && snapshot.description.is_none() {
        return Vec::new();
    }
    let bar = Row::of(Tone::Border, "┃ ");
    let mut rows = vec![caption("the server says", "not checked", width)];
    if let Some(title) = &snapshot.title {
        let title = Row::of(Tone::Quiet, "title  ").and_foreign(Tone::Foreign, title);
        for row in title.wrapped(width.saturating_sub(2)) {
            rows.push(bar.clone().joined(row));
        }
    }
    rows
}

/// Evidence, digest, size, times, host, ticket.
pub fn closing(snapshot: &Snapshot, width: usize, offset: i32) -> Vec<Row> {
    let mut rows = Vec::new();
    rows.push(caption("evidence", &counted(snapshot.evidence.len(), "reason"), width));
    rows.extend(snapshot.evidence.iter().flat_map(|evidence| proof(evidence, width)));
    let silent = |source: &Source| snapshot.evidence.iter().all(|evidence| evidence.source != *source);
    for source in Source::VOTERS.into_iter().filter(silent) {
        rows.extend(entry(source.word(), Row::of(Tone::Quiet, "says nothing"), width));
    }
    rows.push(caption("safe", "what the three checks found", width));
    for (name, check) in checks(snapshot) {
        let (mark, tone) = mark(check.state);
        let row = Row::of(tone, format!("{mark} ")).and_foreign(Tone::Ours, &check.what);
        rows.extend(entry(name, row, width));
    }
    rows.push(caption("this call", "", width));
    let ours = |text: String| Row::of(Tone::Ours, text);
    rows.extend(entry("ticket", Row::default().and_foreign(Tone::Ours, &snapshot.ticket), width));
    rows.extend(entry("digest", ours(snapshot.digest.to_string()), width));
    if let Some(from) = snapshot.edited_from {
        rows.extend(entry("edited from", ours(from.to_string()), width));
    }
    let bytes = usize::try_from(snapshot.bytes).unwrap_or(usize::MAX);
    rows.extend(entry("line", ours(size(bytes)), width));
    rows.extend(entry("arrived", ours(time::of_day(snapshot.arrived, offset)), width));
    let deadline = match snapshot.deadline {
        Some(at) => ours(format!("{}, then it is denied", time::of_day(at, offset))),
        None => ours("none: it waits as long as the host does".to_owned()),
    };
    rows.extend(entry("deadline", deadline, width));
    let host = match &snapshot.host {
        Some(host) => Row::default().and_foreign(Tone::Ours, host),
        None => Row::of(Tone::Quiet, "did not say who it is"),
    };
    rows.extend(entry("host", host, width));
    for (word, value) in &snapshot.caller {
        rows.extend(entry(word, Row::default().and_foreign(Tone::Ours, value), width));
    }
    rows
}

/// The reason of a ruling, and its rule where it does not name it itself.
fn ruling(ruling: &Ruling) -> Row {
    let why = Row::default().and_foreign(Tone::Ours, &ruling.reason);
    match &ruling.rule {
        Some(rule) if !ruling.reason.contains(rule) => why.and(Tone::Quiet, " · rule ").and_foreign(Tone::Ours, rule),
        _ => why,
    }
}

/// The rules for the tool that did not decide, and what kept each from it; nothing where there are none.
pub fn nearest(near: &[Near], width: usize) -> Vec<Row> {
    let line = |(at, one): (usize, &Near)| {
        let row = Row::default().and_foreign(Tone::Strong, &one.rule);
        let row = row.and(Tone::Quiet, format!(" ({}) ", one.decision.word())).and_foreign(Tone::Ours, &one.why);
        entry(if at == 0 { "nearest" } else { "" }, row, width)
    };
    near.iter().enumerate().flat_map(line).collect()
}

fn proof(evidence: &Evidence, width: usize) -> Vec<Row> {
    let strength = format!("{:?}", evidence.strength).to_lowercase();
    let mut row = Row::of(Tone::Ours, says(&evidence.says));
    row.push(Tone::Quiet, format!(" · {strength}"));
    if !evidence.span.is_empty() {
        row.push(Tone::Quiet, " · ");
        row = row.and_foreign(Tone::Foreign, &evidence.span);
    }
    entry(evidence.source.word(), row, width)
}

fn says(claim: &Claim) -> String {
    let said = claim.to_string();
    if said.is_empty() { "says nothing".to_owned() } else { said }
}
