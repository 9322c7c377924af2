//! The question at the bottom of the screen: is a dangerous approval meant, why is a call denied, what is wrong with an edit.
//!
//! Its rows are needed for drawing and, by their number, for placing everything else.

use super::model::{Armed, Model, Overlay, Reading};
use super::row::{Row, Tone};

/// The rows of the open question at the screen's width; none when nothing is asked.
pub fn rows(model: &Model) -> Vec<Row> {
    let width = usize::from(model.size.0);
    let rows = match &model.overlay {
        Some(Overlay::Confirm { armed, reading }) => confirm(model, armed, *reading),
        Some(Overlay::Reason { members, text, .. }) => reason(model, members, text, width),
        Some(Overlay::Find { text }) => {
            vec![Row::of(Tone::Key, " / ").and_foreign(Tone::Strong, text).and(Tone::Key, "▏"), find_hint(model)]
        }
        Some(Overlay::Unreadable { armed, problem, .. }) => vec![
            heading(Tone::Warn, "The edited arguments cannot be sent", armed),
            Row::of(Tone::Ours, " ").and_foreign(Tone::Danger, problem),
            Row::of(Tone::Quiet, " Nothing was sent; the call still waits as it was."),
        ],
        Some(Overlay::Help { .. } | Overlay::Batch(_) | Overlay::Rule(_)) | None => Vec::new(),
    };
    rows.into_iter().flat_map(|row| row.hung(width, 1)).collect()
}

fn confirm(model: &Model, armed: &Armed, reading: Reading) -> Vec<Row> {
    let Some(held) = model.still(armed) else {
        return vec![over(armed)];
    };
    let danger = held.snapshot.danger.as_deref().unwrap_or_default();
    let laid = model.card.as_ref().filter(|card| std::sync::Arc::ptr_eq(card.snapshot(), &held.snapshot));
    let effect = laid.map_or(held.snapshot.effect.as_str(), crate::console::card::Card::effect);
    let question = match reading {
        Reading::Read => "Approve this dangerous call?",
        Reading::Unread => "Approve this dangerous call UNREAD?",
    };
    vec![
        heading(Tone::Danger, question, armed),
        Row::of(Tone::Ours, " ").and_foreign(Tone::Strong, effect),
        Row::of(Tone::Danger, " ◆ ").and_foreign(Tone::Danger, danger),
    ]
}

fn reason(model: &Model, members: &[Armed], text: &str, width: usize) -> Vec<Row> {
    let heading = match members {
        [armed] if model.still(armed).is_none() => return vec![over(armed)],
        [armed] => heading(Tone::Ours, "Deny, because", armed),
        many => Row::of(Tone::Ours, format!(" Deny {} calls, because ", many.len()))
            .and(Tone::Quiet, " each is listed before anything is sent"),
    };
    // What is being written stays in sight: a long reason is shown from its end.
    let mut shown = Row::default().and_foreign(Tone::Strong, text);
    let room = width.saturating_sub(4).max(1);
    let mut rows = std::mem::take(&mut shown).wrapped(room);
    let line = rows.pop().unwrap_or_default();
    let mark = if rows.is_empty() { " › " } else { " … " };
    let last = match model.reasons.front() {
        Some(reason) if text.is_empty() => {
            let told = Row::of(Tone::Quiet, " The agent is told the reason. ").and(Tone::Key, "↑");
            told.and(Tone::Quiet, " takes the last: ").and_foreign(Tone::Ours, reason).clipped(width)
        }
        _ => Row::of(Tone::Quiet, " The agent is told the reason. It may stay empty."),
    };
    vec![heading, Row::of(Tone::Key, mark).joined(line).and(Tone::Key, "▏"), last]
}

fn find_hint(model: &Model) -> Row {
    match model.sought.as_str() {
        "" => Row::of(Tone::Quiet, " Words anywhere on the card, whatever their case; n and N go on from there."),
        last => Row::of(Tone::Quiet, " Enter alone looks again for ").and_foreign(Tone::Ours, last),
    }
}

fn heading(tone: Tone, words: &str, armed: &Armed) -> Row {
    let row = Row::of(tone, format!(" {words} "));
    row.and(Tone::Quiet, " ").and_foreign(Tone::Quiet, &armed.key().ticket)
}

fn over(armed: &Armed) -> Row {
    let row = Row::of(Tone::Warn, " Too late: ").and_foreign(Tone::Ours, &armed.key().ticket);
    row.and(Tone::Ours, " no longer waits as it was shown. Nothing will be sent.")
}
