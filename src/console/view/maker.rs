//! The panel that makes more of a call: the offers, what the one on show means, and what should be known before it is done.

use ratatui::layout::Rect;

use super::{Paint, ends};
use crate::console::card::counted;
use crate::console::grants;
use crate::console::model::rule::{Choice, RuleMaker, RuleStage};
use crate::console::model::{Model, Offer, Overlay};
use crate::console::row::{Row, Tone};
use crate::console::screen::content_rows;

/// Draws the panel.
pub(super) fn draw(paint: &mut Paint<'_>, model: &Model, maker: &RuleMaker, area: Rect) {
    let room = content_rows(area);
    let all = rows(model, maker, usize::from(area.width), room);
    let below = all.len().saturating_sub(maker.top + room);
    let (words, hint) = match maker.offer() {
        Some(Offer::Grant(_)) => (" Approve, and more, from ", "j k choose how wide; grants approve the call "),
        _ => (" Make a rule from ", "j k choose how wide; it holds for what waits, too "),
    };
    let ticket = Row::of(Tone::Strong, words).and_foreign(Tone::Strong, &maker.armed.key().ticket);
    let mut shown = vec![ends(ticket, Row::of(Tone::Quiet, hint), usize::from(area.width))];
    shown.extend(all.into_iter().skip(maker.top).take(room));
    shown.resize(room + 1, Row::default());
    shown.push(match (below, maker.stage, maker.offer()) {
        (0, _, Some(Offer::Grant(_))) if model.still(&maker.armed).is_none() => {
            Row::of(Tone::Warn, " Too late: the call no longer waits as it was shown. Nothing will be sent.")
        }
        (0, RuleStage::Choosing, Some(Offer::Grant(_))) => {
            Row::of(Tone::Quiet, " Enter, twice, approves the call and grants this")
        }
        (0, RuleStage::Choosing, _) => Row::of(Tone::Quiet, " Enter, twice, adds this text to your policy file"),
        (0, RuleStage::Sure { .. }, Some(Offer::Grant(_))) => {
            Row::of(Tone::Danger, " Approve this call, and let those pass unseen? Enter once more; Esc leaves it")
        }
        (0, RuleStage::Sure { .. }, _) => {
            Row::of(Tone::Danger, " Add exactly this text to your policy file? Enter once more; Esc leaves it")
        }
        (below, ..) => Row::of(Tone::Warn, format!(" … {} below · PgDn", counted(below, "more line"))),
    });
    paint.rows(area, shown);
}

/// How many rows of the open panel are below the screen.
pub fn rows_below(model: &Model) -> usize {
    let Some(Overlay::Rule(maker)) = &model.overlay else { return 0 };
    let area = model.areas().body;
    let room = content_rows(area);
    rows(model, maker, usize::from(area.width), room).len().saturating_sub(maker.top + room)
}

fn rows(model: &Model, maker: &RuleMaker, width: usize, room: usize) -> Vec<Row> {
    let mut text = match maker.offer() {
        None => return Vec::new(),
        Some(Offer::Rule(choice)) => text(choice, width),
        Some(Offer::Grant(offer)) => match model.call(maker.armed.key()) {
            None => vec![Row::of(Tone::Warn, " The call waits no longer.")],
            Some(held) => {
                // The moment it ends is told from when it would begin.
                let words = grants::words(offer, &held.snapshot, model.now, model.settings.offset);
                barred(words, width)
            }
        },
    };
    if let (Some(why), Some(Offer::Rule(_))) = (maker.no_grant, maker.offer()) {
        text.extend(Row::of(Tone::Quiet, format!(" {why}")).hung(width, 1));
    }
    let mut rows = offers(model, maker, width, room.saturating_sub(text.len()));
    rows.extend(text);
    rows
}

/// The offers, as many around the chosen one as have room.
fn offers(model: &Model, maker: &RuleMaker, width: usize, room: usize) -> Vec<Row> {
    let tool = model.call(maker.armed.key()).map_or("", |held| held.snapshot.tool.as_str());
    let many = maker.offers.len();
    let whole: Vec<Vec<Row>> =
        maker.offers.iter().enumerate().map(|(i, one)| line(tool, one, i == maker.at).hung(width, 3)).collect();
    if whole.iter().map(Vec::len).sum::<usize>() <= room {
        return whole.into_iter().flatten().collect();
    }
    let (mut first, mut last) = (maker.at, maker.at);
    let mut used = whole.get(maker.at).map_or(1, Vec::len);
    loop {
        let above = first.checked_sub(1).map(|i| (i, whole[i].len()));
        let below = whole.get(last + 1).map(|rows| (last + 1, rows.len()));
        match (above, below) {
            (_, Some((i, rows))) if used + rows <= room && (last - maker.at <= maker.at - first || above.is_none()) => {
                (last, used) = (i, used + rows);
            }
            (Some((i, rows)), _) if used + rows <= room => (first, used) = (i, used + rows),
            (_, Some((i, rows))) if used + rows <= room => (last, used) = (i, used + rows),
            _ => break,
        }
    }
    let mut rows = Vec::new();
    for (i, one) in maker.offers.iter().enumerate().take(last + 1).skip(first) {
        let mut row = line(tool, one, i == maker.at);
        if i == maker.at {
            row.push(Tone::Quiet, format!(" ({} of {many})", i + 1));
        }
        rows.extend(row.hung(width, 3));
    }
    rows
}

fn line(tool: &str, offer: &Offer, here: bool) -> Row {
    let (mark, tone) = if here { (" ▸ ", Tone::Strong) } else { ("   ", Tone::Quiet) };
    let row = Row::of(tone, mark);
    match offer {
        Offer::Grant(offer) => row.and(tone, "approve, and ").and_foreign(tone, &offer.says(tool)),
        Offer::Rule(choice) => row.and_foreign(tone, &choice.label),
    }
}

fn barred(words: Vec<Row>, width: usize) -> Vec<Row> {
    let bar = Row::of(Tone::Border, " ┃ ");
    let lines = words.into_iter().flat_map(|row| row.hung(width.saturating_sub(3).max(1), 0));
    lines.map(|row| bar.clone().joined(row)).collect()
}

fn text(choice: &Choice, width: usize) -> Vec<Row> {
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
    let matched = format!(" matches {} that waits now", counted(choice.waiting, "call"));
    rows.extend(Row::of(Tone::Quiet, matched).hung(width, 1));
    rows
}
