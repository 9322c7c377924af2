//! The panel that makes a rule from a call of the log: the offers, the text of the one on show, what to know before.

use ratatui::layout::Rect;

use super::{Paint, ends};
use crate::console::card::counted;
use crate::console::model::past::{PastMaker, PastOffer};
use crate::console::model::rule::RuleStage;
use crate::console::model::{Model, Overlay};
use crate::console::row::{Row, Tone};
use crate::console::screen::content_rows;

/// Draws the panel.
pub(super) fn draw(paint: &mut Paint<'_>, maker: &PastMaker, area: Rect) {
    let width = usize::from(area.width);
    let room = content_rows(area);
    let all = rows(maker, width);
    let below = all.len().saturating_sub(maker.top + room);
    let title = Row::of(Tone::Strong, " Make a rule from ").and_foreign(Tone::Strong, &maker.ticket);
    let hint = Row::of(Tone::Quiet, "j k choose how wide; that call itself is over ");
    let mut shown = vec![ends(title, hint, width)];
    shown.extend(all.into_iter().skip(maker.top).take(room));
    shown.resize(room + 1, Row::default());
    shown.push(match (below, maker.stage) {
        (0, RuleStage::Choosing) => Row::of(Tone::Quiet, " Enter, twice, adds this text to your policy file"),
        (0, RuleStage::Sure { .. }) => {
            Row::of(Tone::Danger, " Add exactly this text to your policy file? Enter once more; Esc leaves it")
        }
        (below, _) => Row::of(Tone::Warn, format!(" … {} below · PgDn", counted(below, "more line"))),
    });
    paint.rows(area, shown);
}

/// How many rows of the open panel are below the screen.
pub fn rows_below(model: &Model) -> usize {
    let Some(Overlay::PastRule(maker)) = &model.overlay else { return 0 };
    let area = model.areas().body;
    rows(maker, usize::from(area.width)).len().saturating_sub(maker.top + content_rows(area))
}

fn rows(maker: &PastMaker, width: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for (at, offer) in maker.offers.iter().enumerate() {
        let (mark, tone) = if at == maker.at { (" ▸ ", Tone::Strong) } else { ("   ", Tone::Quiet) };
        rows.extend(Row::of(tone, mark).and_foreign(tone, &offer.label).hung(width, 3));
    }
    rows.extend(maker.offer().map(|offer| text(offer, width)).unwrap_or_default());
    rows
}

fn text(offer: &PastOffer, width: usize) -> Vec<Row> {
    let bar = Row::of(Tone::Border, " ┃ ");
    let mut rows = Vec::new();
    for line in offer.toml.lines() {
        // The indent is ours.
        let bare = line.trim_start_matches(' ');
        let line = Row::of(Tone::Ours, &line[..line.len() - bare.len()]).and_foreign(Tone::Foreign, bare);
        rows.extend(line.wrapped(width.saturating_sub(3).max(1)).into_iter().map(|row| bar.clone().joined(row)));
    }
    for warning in &offer.warnings {
        rows.extend(Row::of(Tone::Warn, " ▲ ").and_foreign(Tone::Warn, warning).hung(width, 3));
    }
    rows
}
