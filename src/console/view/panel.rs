//! The question at the bottom: is a dangerous approval meant, why is a call denied, what is wrong with an edit.

use ratatui::layout::Rect;

use super::Paint;
use crate::console::model::{Armed, Model, Overlay, Reading};
use crate::console::row::{Row, Tone};

/// Draws the open question, if any.
pub(super) fn draw(paint: &mut Paint<'_>, model: &Model, area: Rect) {
    let width = usize::from(area.width);
    let mut rows = match &model.overlay {
        Some(Overlay::Confirm { armed, reading }) => confirm(model, armed, *reading),
        Some(Overlay::Reason { armed, text }) => reason(model, armed, text, width),
        Some(Overlay::Unreadable { armed, problem, .. }) => vec![
            heading(Tone::Warn, "The edited arguments cannot be sent", armed),
            Row::of(Tone::Ours, " ").and_foreign(Tone::Danger, problem),
            Row::of(
                Tone::Quiet,
                " Nothing was sent; the call still waits as it was.",
            ),
            keys(&[("e", "edit again"), ("Esc", "drop the edit")]),
        ],
        Some(Overlay::Help { .. }) | None => return,
    };
    rows.insert(0, Row::of(Tone::Border, "━".repeat(width)));
    paint.rows(area, rows);
}

fn confirm(model: &Model, armed: &Armed, reading: Reading) -> Vec<Row> {
    let Some(held) = model.still(armed) else {
        return vec![over(armed), keys(&[("Esc", "back")])];
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
        keys(&[("y", "yes, approve"), ("Esc", "back")]),
    ]
}

fn reason(model: &Model, armed: &Armed, text: &str, width: usize) -> Vec<Row> {
    if model.still(armed).is_none() {
        return vec![
            over(armed),
            Row::default(),
            Row::default(),
            keys(&[("Esc", "back")]),
        ];
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
        Row::of(
            Tone::Quiet,
            " The agent is told the reason. It may stay empty.",
        ),
        keys(&[("Enter", "deny"), ("Esc", "back")]),
    ]
}

fn heading(tone: Tone, words: &str, armed: &Armed) -> Row {
    let row = Row::of(tone, format!(" {words} "));
    row.and(Tone::Quiet, " ")
        .and_foreign(Tone::Quiet, &armed.key().ticket)
}

fn over(armed: &Armed) -> Row {
    let row = Row::of(Tone::Warn, " Too late: ").and_foreign(Tone::Ours, &armed.key().ticket);
    row.and(
        Tone::Ours,
        " no longer waits as it was shown. Nothing will be sent.",
    )
}

fn keys(pairs: &[(&str, &str)]) -> Row {
    pairs
        .iter()
        .fold(Row::of(Tone::Ours, " "), |row, (key, name)| {
            row.and(Tone::Key, *key)
                .and(Tone::Ours, format!(" {name}   "))
        })
}
