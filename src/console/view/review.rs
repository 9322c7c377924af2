//! A change that waits for the operator: what it loosens, then the change itself.

use ratatui::layout::Rect;

use super::{Paint, ends};
use crate::console::card::counted;
use crate::console::model::review::{Change, Review};
use crate::console::model::rule::RuleStage;
use crate::console::model::{Model, Overlay};
use crate::console::pages::changed;
use crate::console::row::{Row, Tone};
use crate::console::screen::content_rows;

/// Draws the review.
pub(super) fn draw(paint: &mut Paint<'_>, review: &Review, area: Rect) {
    let width = usize::from(area.width);
    let room = content_rows(area);
    let all = rows(review, width);
    let below = all.len().saturating_sub(review.top + room);
    let title = match &review.change {
        Change::Policy { pending, .. } => Row::of(Tone::Strong, format!(" Changed {} policy ", pending.layer.word()))
            .and_foreign(Tone::Ours, &pending.file),
        Change::Definition(tool) => Row::of(Tone::Strong, " Review ")
            .and_foreign(Tone::Strong, &tool.tool)
            .and(Tone::Quiet, " of ")
            .and_foreign(Tone::Ours, &tool.server),
        Change::Program(program) => {
            Row::of(Tone::Strong, " The program of ").and_foreign(Tone::Strong, &program.server)
        }
    };
    let hint = match &review.change {
        Change::Policy { .. } => "until it is accepted, it loosens nothing ",
        Change::Definition(_) | Change::Program(_) => "until it is accepted, no allow rule covers it ",
    };
    let hint = Row::of(Tone::Quiet, hint);
    let mut shown = vec![ends(title, hint, width)];
    shown.extend(all.into_iter().skip(review.top).take(room));
    shown.resize(room + 1, Row::default());
    shown.push(match (below, review.stage) {
        (0, RuleStage::Choosing) => Row::of(
            Tone::Quiet,
            match &review.change {
                Change::Policy { .. } | Change::Program(_) => {
                    " Enter, twice, accepts this change; Esc leaves it as it is"
                }
                Change::Definition(_) => " Enter, twice, accepts it; x refuses it; Esc leaves it as it is",
            },
        ),
        (0, RuleStage::Sure { .. }) => {
            Row::of(Tone::Danger, " Accept exactly this change? Enter once more; Esc leaves it")
        }
        (below, _) => Row::of(Tone::Warn, format!(" … {} below · PgDn", counted(below, "more line"))),
    });
    paint.rows(area, shown);
}

/// How many rows of the open review are below the screen.
pub fn rows_below(model: &Model) -> usize {
    let Some(Overlay::Review(review)) = &model.overlay else { return 0 };
    let area = model.areas().body;
    rows(review, usize::from(area.width)).len().saturating_sub(review.top + content_rows(area))
}

fn rows(review: &Review, width: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    match &review.change {
        Change::Definition(tool) => return changed::definition(tool, width),
        Change::Program(program) => return changed::program(program, width),
        Change::Policy { pending, .. } => {
            rows.push(Row::of(Tone::Strong, " What it loosens:"));
            for line in &pending.loosens {
                rows.extend(Row::of(Tone::Warn, " ▲ ").and_foreign(Tone::Warn, line).hung(width, 3));
            }
            rows.push(Row::of(Tone::Strong, " The change:"));
            for line in pending.diff.lines() {
                let tone = match line.as_bytes().first() {
                    Some(b'+') => Tone::Good,
                    Some(b'-') => Tone::Danger,
                    _ => Tone::Quiet,
                };
                let line = Row::of(Tone::Border, " ┃ ").and_foreign(tone, line);
                rows.extend(line.hung(width, 3));
            }
        }
    }
    rows
}
