//! Everything that passes, newest at the bottom: when, which way, what, who let it and why.

use super::servers::spark;
use crate::audit::record::By;
use crate::console::model::{EntrySource, Following, Model, Passed};
use crate::console::rows::{NARROW, decided_by, ends};
use crate::link::message::{Activity, ActivityKind, Direction};
use crate::operator::record_row::{badge, because, verdict};
use crate::text::columns::{Columns, NameColumn, target};
use crate::text::row::{Row, Tone, danger, foreign, ours, quiet, strong, warn};
use crate::text::time;
use crate::wire::number::counted;

pub(super) fn title(model: &Model) -> Row {
    let (all, shown) = (model.activity.passed.len(), model.activity.passing().len());
    let count = if shown == all { counted(all, "message") } else { format!("{shown} of {}", counted(all, "message")) };
    strong(" Activity").quiet(format!(" · {count}"))
}

pub(super) fn heading(model: &Model, width: usize) -> Row {
    let before = model.activity.passed.iter().filter(|passed| passed.source == EntrySource::FromLog).count();
    let (badges, ways) = (" ○ PURE ◌ PURE? ● MUTATES", "  → server  ← host");
    let mut row = quiet(badges);
    if row.width() + ways.chars().count() <= width {
        row.push(Tone::Quiet, ways);
    }
    let latencies = latencies(model, width.saturating_sub(row.width() + 2));
    let note = format!("  · {before} from the log");
    if before > 0 && row.width() + note.len() + latencies.width() < width {
        row.push(Tone::Quiet, note);
    }
    ends(row, latencies, width)
}

fn latencies(model: &Model, room: usize) -> Row {
    let mut row = Row::default();
    for one in &model.wrappers {
        let Some(last) = model.servers.latencies.get(&one.wrapper.session).and_then(|all| all.back()) else { continue };
        let next = foreign(Tone::Quiet, &one.wrapper.server).ours(" ");
        let next = next.joined(spark(model, one, 8)).quiet(format!(" {}  ", time::latency(*last)));
        if row.width() + next.width() > room {
            break;
        }
        row = row.joined(next);
    }
    row
}

pub(super) fn foot(model: &Model) -> Row {
    let below = model.activity.passing().len().saturating_sub(model.activity.list.at + 1);
    match model.activity.following {
        Following::Newest => quiet(" following what passes"),
        Following::Stays => {
            let newer = counted(below, "newer message");
            warn(format!(" … {newer} below")).quiet(" · End follows again")
        }
    }
}

pub(super) fn empty(_: &Model) -> Vec<Row> {
    vec![strong("Nothing has passed yet."), ours("Calls, answers and notifications appear here as they pass.")]
}

pub(super) fn lines(model: &Model, range: std::ops::Range<usize>, width: usize) -> Vec<Row> {
    let passing = model.activity.passing();
    let shown: Vec<&Passed> =
        passing.get(range).unwrap_or_default().iter().filter_map(|at| model.activity.passed.get(*at)).collect();
    let servers = shown.iter().map(|passed| passed.server.as_str());
    let servers = if width < NARROW { NameColumn::within(servers, 0) } else { NameColumn::of(servers, width / 5) };
    let gap = if servers.width == 0 { 2 } else { 1 };
    let columns = Columns::default().left(1, 8, "").left(1, servers.width, "").left(gap, 1, "").left(1, 2, "").rest(0);
    shown.into_iter().map(|passed| line(passed, (&columns, servers), model, width)).collect()
}

fn line(passed: &Passed, (columns, servers): (&Columns, NameColumn), model: &Model, width: usize) -> Row {
    let activity = &passed.activity;
    let arrow = match activity.direction {
        Direction::ToServer => "→",
        Direction::ToHost => "←",
    };
    let mut row = columns.row([
        quiet(time::of_day(activity.time, model.settings.offset)),
        servers.cell(Tone::Quiet, &passed.server),
        quiet(arrow),
        badge(activity.badge),
        foreign(tone(activity), &activity.what),
    ]);
    let mut right = outcome(activity);
    // What the call is about comes before who let it pass and how long it took.
    let upon = activity.target.as_deref().map_or(0, |upon| foreign(Tone::Ours, upon).width().min(LEAST));
    if width < NARROW || row.width() + upon + right.width() + 3 > width {
        right.runs.truncate(1);
    } else if let Some(latency) = activity.latency_us.filter(|latency| tells(activity, *latency)) {
        right.push(Tone::Quiet, format!("{:>8}", time::latency(latency)));
    }
    let right = right.ours(" ");
    let room = width.saturating_sub(right.width() + 1);
    if let Some(upon) = &activity.target
        && room > row.width() + 3
    {
        let left = room - row.width() - 1;
        row = row.ours(" ").joined(target(Tone::Ours, upon, left));
    }
    // Why it was decided so comes between, where there is room for more than a few letters.
    let why = match activity.by {
        Some(By::Default) => &activity.explained,
        by => because(by, activity.rule.as_deref(), &activity.reason),
    };
    if !why.is_empty() && room > row.width() + 14 {
        row = row.quiet("  ").and_foreign(Tone::Foreign, why);
    }
    ends(row.clipped(room), right, width)
}

/// How many columns of a target go before who let the call pass.
const LEAST: usize = 30;

/// Whether a latency is worth its columns: that of every answer, and that of a decision that took a person's time.
fn tells(activity: &Activity, latency: u64) -> bool {
    activity.kind != ActivityKind::Call || latency >= 10_000
}

fn tone(activity: &Activity) -> Tone {
    match activity.kind {
        ActivityKind::Call | ActivityKind::Outcome => Tone::Strong,
        ActivityKind::Refused => Tone::Danger,
        // The server asks the host for something: a channel that calls do not cover (THREATS A11).
        ActivityKind::Request if activity.direction == Direction::ToHost => Tone::Warn,
        ActivityKind::Request | ActivityKind::Notification | ActivityKind::Response => Tone::Foreign,
    }
}

fn outcome(activity: &Activity) -> Row {
    match activity.kind {
        ActivityKind::Call => {
            let (tone, verdict) = verdict(activity.verdict, "asked");
            let row = Row::of(tone, verdict);
            match (activity.by, &activity.rule) {
                (Some(By::Rule), Some(rule)) => row.quiet(" by rule ").and_foreign(Tone::Ours, rule),
                (Some(by), _) => row.quiet(format!(" {}", decided_by(by))),
                (None, _) => row,
            }
        }
        ActivityKind::Outcome | ActivityKind::Response if activity.failed => danger("failed"),
        ActivityKind::Outcome => quiet("answered"),
        ActivityKind::Refused => danger("refused"),
        ActivityKind::Request if activity.direction == Direction::ToHost => warn("the server asks"),
        ActivityKind::Request | ActivityKind::Notification | ActivityKind::Response => quiet(activity.kind.word()),
    }
}
