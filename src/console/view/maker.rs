//! The rule maker: the scopes, the text that would be written, and what should be known before it is.

use ratatui::layout::Rect;

use super::{Paint, ends};
use crate::console::card::counted;
use crate::console::model::rule::{RuleMaker, RuleStage};
use crate::console::model::{Model, Overlay};
use crate::console::row::{Row, Tone};
use crate::console::screen::content_rows;

/// Draws the panel.
pub(super) fn draw(paint: &mut Paint<'_>, maker: &RuleMaker, area: Rect) {
    let room = content_rows(area);
    let all = rows(maker, usize::from(area.width), room);
    let below = all.len().saturating_sub(maker.top + room);
    let ticket = Row::of(Tone::Strong, " Make a rule from ").and_foreign(Tone::Strong, &maker.armed.key().ticket);
    let hint = Row::of(Tone::Quiet, "j k choose how wide; the call itself waits on ");
    let mut shown = vec![ends(ticket, hint, usize::from(area.width))];
    shown.extend(all.into_iter().skip(maker.top).take(room));
    shown.resize(room + 1, Row::default());
    shown.push(match (below, maker.stage) {
        (0, RuleStage::Choosing) => Row::of(Tone::Quiet, " Enter, twice, adds this text to your policy file"),
        (0, RuleStage::Sure) => {
            Row::of(Tone::Danger, " Add exactly this text to your policy file? Enter once more; Esc leaves it")
        }
        (below, _) => Row::of(Tone::Warn, format!(" … {} below · PgDn", counted(below, "more line"))),
    });
    paint.rows(area, shown);
}

/// How many rows of the open rule maker are below the screen.
pub fn rows_below(model: &Model) -> usize {
    let Some(Overlay::Rule(maker)) = &model.overlay else { return 0 };
    let area = model.areas().body;
    let room = content_rows(area);
    rows(maker, usize::from(area.width), room).len().saturating_sub(maker.top + room)
}

fn rows(maker: &RuleMaker, width: usize, room: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    let Some(choice) = maker.choice() else { return rows };
    let text = text(maker, width);
    // Where it is low, only the scope on show is named.
    let is_low = maker.choices.len() + text.len() > room;
    for (i, one) in maker.choices.iter().enumerate().filter(|(i, _)| !is_low || *i == maker.at) {
        let (mark, tone) = if i == maker.at { (" ▸ ", Tone::Strong) } else { ("   ", Tone::Quiet) };
        let mut row = Row::of(tone, mark).and_foreign(tone, &one.label);
        if is_low {
            row.push(Tone::Quiet, format!(" ({} of {})", i + 1, maker.choices.len()));
        }
        rows.extend(row.hung(width, 3));
    }
    rows.extend(text);
    let matched = format!(" matches {} that waits now", counted(choice.waiting, "call"));
    rows.extend(Row::of(Tone::Quiet, matched).hung(width, 1));
    rows
}

fn text(maker: &RuleMaker, width: usize) -> Vec<Row> {
    let Some(choice) = maker.choice() else { return Vec::new() };
    let bar = Row::of(Tone::Border, " ┃ ");
    let mut rows = Vec::new();
    for line in choice.toml.lines() {
        // The indent is ours.
        let bare = line.trim_start_matches(' ');
        let line = Row::of(Tone::Ours, &line[..line.len() - bare.len()]).and_foreign(Tone::Foreign, bare);
        rows.extend(line.wrapped(width.saturating_sub(3).max(1)).into_iter().map(|row| bar.clone().joined(row)));
    }
    for warning in &choice.warnings {
        rows.extend(Row::of(Tone::Warn, " ▲ ").and_foreign(Tone::Warn, warning).hung(width, 3));
    }
    rows
}
