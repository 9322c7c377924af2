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
        Some(Overlay::Reason { armed, text }) => reason(model, armed, text, width),
        Some(Overlay::Unreadable { armed, problem, .. }) => vec![
            heading(Tone::Warn, "The edited arguments cannot be sent", armed),
            Row::of(Tone::Ours, " ").and_foreign(Tone::Danger, problem),
            Row::of(Tone::Quiet, " Nothing was sent; the call still waits as it was."),
        ],
        Some(Overlay::Help { .. }) | None => Vec::new(),
    };
    rows.into_iter().flat_map(|row| row.hung(width, 1)).collect()
}

fn confirm(model: &Model, armed: &Armed, reading: Reading) -> Vec<Row> {
    let Some(held) = model.still(armed) else {
        return vec![over(armed)];
    };
    let danger = held.snapshot.danger.as_deref().unwrap_or_default();
    let question = match reading {
        Reading::Read => "Approve this dangerous call?",
        Reading::Unread => "Approve this dangerous call UNREAD?",
    };
    vec![
        heading(Tone::Danger, question, armed),
        Row::of(Tone::Ours, " ").and_foreign(Tone::Strong, &held.snapshot.effect),
        Row::of(Tone::Danger, " ◆ ").and_foreign(Tone::Danger, danger),
    ]
}

fn reason(model: &Model, armed: &Armed, text: &str, width: usize) -> Vec<Row> {
    if model.still(armed).is_none() {
        return vec![over(armed)];
    }
    // What is being written stays in sight: a long reason is shown from its end.
    let mut shown = Row::default().and_foreign(Tone::Strong, text);
    let room = width.saturating_sub(4).max(1);
    let mut rows = std::mem::take(&mut shown).wrapped(room);
    let line = rows.pop().unwrap_or_default();
    let mark = if rows.is_empty() { " › " } else { " … " };
    vec![
        heading(Tone::Ours, "Deny, because", armed),
        Row::of(Tone::Key, mark).joined(line).and(Tone::Key, "▏"),
        Row::of(Tone::Quiet, " The agent is told the reason. It may stay empty."),
    ]
}

fn heading(tone: Tone, words: &str, armed: &Armed) -> Row {
    let row = Row::of(tone, format!(" {words} "));
    row.and(Tone::Quiet, " ").and_foreign(Tone::Quiet, &armed.key().ticket)
}

fn over(armed: &Armed) -> Row {
    let row = Row::of(Tone::Warn, " Too late: ").and_foreign(Tone::Ours, &armed.key().ticket);
    row.and(Tone::Ours, " no longer waits as it was shown. Nothing will be sent.")
}
