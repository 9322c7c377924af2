//! Everything that passes, newest at the bottom: when, which way, what, and who let it.

use ratatui::layout::Rect;

use super::{Paint, card, ends};
use crate::audit::record::{By, VerdictWord};
use crate::behavior::taxonomy::Mutability;
use crate::console::card::counted;
use crate::console::model::{Following, Model, Passed};
use crate::console::row::{Row, Tone};
use crate::console::screen::content_rows;
use crate::console::time;
use crate::link::message::{Activity, ActivityKind, Direction};

/// Below this width the verdict stands without its reason, the message without its server.
const NARROW: usize = 60;

/// Draws the list with its title.
pub(super) fn draw(paint: &mut Paint<'_>, model: &Model, area: Rect) {
    let width = usize::from(area.width);
    let room = content_rows(area);
    let all = model.activity.len();
    let end = match model.following {
        Following::Newest => all,
        Following::Until(end) => end.min(all),
    };
    let shown = end.saturating_sub(room)..end;
    let left = Row::of(Tone::Strong, " Activity").and(Tone::Quiet, format!(" · {}", counted(all, "message")));
    let mut rows = vec![ends(left, Row::default(), width)];
    if all == 0 {
        let words = "Nothing has passed yet. Calls, answers and notifications appear here as they pass.";
        rows.push(Row::default());
        rows.extend(Row::of(Tone::Quiet, format!("  {words}")).hung(width, 2));
    }
    let server = shown.clone().filter_map(|i| model.activity.get(i));
    let server = server.map(|passed| Row::default().and_foreign(Tone::Ours, &passed.server).width());
    let columns = if width < NARROW { 0 } else { server.max().unwrap_or(0).min(width / 5) };
    for passed in model.activity.range(shown) {
        rows.push(line(passed, columns, model.settings.offset, width));
    }
    rows.resize(room + 1, Row::default());
    rows.push(match model.following {
        Following::Newest => Row::of(Tone::Quiet, " following what passes"),
        Following::Until(_) => {
            let newer = counted(all.saturating_sub(end), "newer message");
            Row::of(Tone::Warn, format!(" … {newer} below")).and(Tone::Quiet, " · End follows again")
        }
    });
    paint.rows(area, rows);
}

fn line(passed: &Passed, server: usize, offset: i32, width: usize) -> Row {
    let activity = &passed.activity;
    let arrow = match activity.direction {
        Direction::ToServer => "→",
        Direction::ToHost => "←",
    };
    let mut row = Row::of(Tone::Quiet, format!(" {} ", time::of_day(activity.time, offset)));
    let name = Row::default().and_foreign(Tone::Quiet, &passed.server);
    row = row.joined(name.clipped(server).padded(server)).and(Tone::Quiet, format!(" {arrow} "));
    row = row.joined(badge(activity)).and_foreign(tone(activity), &activity.what);
    let mut right = outcome(activity);
    if width < NARROW {
        right.runs.truncate(1);
    }
    if let Some(latency) = activity.latency_us
        && width >= NARROW
    {
        right.push(Tone::Quiet, format!("{:>8}", time::latency(latency)));
    }
    let right = right.and(Tone::Ours, " ");
    let room = width.saturating_sub(right.width() + 1);
    ends(row.clipped(room), right, width)
}

fn tone(activity: &Activity) -> Tone {
    match activity.kind {
        ActivityKind::Call | ActivityKind::Outcome => Tone::Strong,
        ActivityKind::Refused => Tone::Danger,
        ActivityKind::Request | ActivityKind::Notification | ActivityKind::Response => Tone::Foreign,
    }
}

fn badge(activity: &Activity) -> Row {
    match activity.badge {
        Some(Mutability::Pure) => Row::of(Tone::Good, "○ "),
        Some(Mutability::Mutates) => Row::of(Tone::Warn, "● "),
        None => Row::of(Tone::Quiet, "  "),
    }
}

/// Who let it pass or stopped it; what an answer was.
fn outcome(activity: &Activity) -> Row {
    let failed = || Row::of(Tone::Danger, "failed");
    match activity.kind {
        ActivityKind::Call => {
            let (tone, verdict) = match activity.verdict {
                Some(VerdictWord::Approve) => (Tone::Good, "approved"),
                Some(VerdictWord::Deny) => (Tone::Danger, "denied"),
                None => (Tone::Warn, "asked"),
            };
            let row = Row::of(tone, verdict);
            match (activity.by, &activity.rule) {
                (Some(By::Rule), Some(rule)) => row.and(Tone::Quiet, " by rule ").and_foreign(Tone::Ours, rule),
                (Some(by), _) => row.and(Tone::Quiet, format!(" {}", card::by(by))),
                (None, _) => row,
            }
        }
        ActivityKind::Outcome if activity.failed => failed(),
        ActivityKind::Outcome => Row::of(Tone::Quiet, "answered"),
        ActivityKind::Refused => Row::of(Tone::Danger, "refused"),
        ActivityKind::Response if activity.failed => failed(),
        ActivityKind::Request => Row::of(Tone::Quiet, "request"),
        ActivityKind::Notification => Row::of(Tone::Quiet, "notification"),
        ActivityKind::Response => Row::of(Tone::Quiet, "response"),
    }
}
