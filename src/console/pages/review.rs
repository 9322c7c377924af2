//! The review of a change: what it loosens, what it would change of past rulings, the change itself; or a rule that the
//! log suggests.

use ratatui::layout::Rect;

use super::maker::{past_call, replayed, writes, written};
use super::pins;
use crate::console::model::{Model, Overlay, Review, ReviewOf, RuleStage};
use crate::console::rows::{Panel, caption, ends};
use crate::console::screen::content_rows;
use crate::operator::tried::SuggestedRule;
use crate::policy::rule::Pending;
use crate::text::row::{Row, Tone, border, danger, key, quiet, strong, warn};
use crate::wire::number::counted;

/// Past calls that are listed before the change itself.
const CALLS: usize = 6;

pub fn panel(model: &Model, review: &Review, area: Rect) -> Panel {
    let width = usize::from(area.width);
    let room = content_rows(area);
    let mut all = rows(model, review, width);
    let below = all.len().saturating_sub(review.top + room);
    let (title, hint) = match &review.subject {
        ReviewOf::Policy { pending, .. } => (
            strong(format!(" Changed {} policy ", pending.layer.word())).and_foreign(Tone::Ours, &pending.file),
            "until you accept it, it allows nothing new ",
        ),
        ReviewOf::Definition(tool) => (
            strong(" Review ")
                .and_foreign(Tone::Strong, &tool.known.tool)
                .quiet(" of ")
                .and_foreign(Tone::Ours, &tool.server),
            "until it is accepted, no allow rule covers it ",
        ),
        ReviewOf::Program(program) => (
            strong(" The program of ").and_foreign(Tone::Strong, &program.server.name),
            "until it is accepted, no allow rule covers it ",
        ),
        ReviewOf::Written => (strong(" Replay"), "the policy as it is written, on the calls of the log "),
        ReviewOf::Page(open) => {
            (strong(" The page of ").and_foreign(Tone::Strong, &open.page.server), "space marks or unmarks a line ")
        }
        ReviewOf::Suggested(rule) => {
            (strong(" Suggested: allow ").joined(rule.covers()), "from the log; nothing is written yet ")
        }
    };
    let last = match below {
        0 => last(review),
        _ => warn(format!(" … {} below · PgDn", counted(below, "more line"))),
    };
    let rows = all.split_off(review.top.min(all.len()));
    Panel { title: ends(title, quiet(hint), width), rows, last }
}

fn last(review: &Review) -> Row {
    match (&review.subject, review.stage) {
        (ReviewOf::Written, _) => quiet(" Esc goes back"),
        (ReviewOf::Policy { .. }, _) if review.past.goes_on() => quiet(" What it would change is still being counted"),
        (ReviewOf::Policy { .. } | ReviewOf::Program(_), RuleStage::Choosing) => {
            quiet(" Enter, twice, accepts this change; Esc leaves it as it is")
        }
        (ReviewOf::Definition(_), RuleStage::Choosing) => {
            quiet(" Enter, twice, accepts it; x refuses it; Esc leaves it as it is")
        }
        (ReviewOf::Policy { .. } | ReviewOf::Definition(_) | ReviewOf::Program(_), RuleStage::Sure) => {
            danger(" Accept exactly this change? Enter once more; Esc leaves it")
        }
        (ReviewOf::Page(open), _) => match open.marked.len() {
            0 => quiet(" Nothing is marked; Esc leaves it as it is"),
            marked => {
                let lines = counted(marked, "marked line");
                key(" Enter").ours(format!(" agrees to the {lines}")).quiet("; Esc leaves it as it is")
            }
        },
        (ReviewOf::Suggested(rule), stage) => writes(stage, rule.warnings.is_empty()),
    }
}

/// How many rows of the open review are below the screen.
pub fn rows_below(model: &Model) -> usize {
    let Some(Overlay::Review(review)) = &model.overlay else { return 0 };
    let area = model.areas().body;
    rows(model, review, usize::from(area.width)).len().saturating_sub(review.top + content_rows(area))
}

fn rows(model: &Model, review: &Review, width: usize) -> Vec<Row> {
    match &review.subject {
        ReviewOf::Policy { pending, .. } => {
            let mut rows = vec![strong(" What it newly allows:")];
            for line in &pending.loosens {
                rows.extend(warn(" ▲ ").and_foreign(Tone::Warn, line).hung(width, 3));
            }
            rows.push(strong(" What it would change, from the log:"));
            rows.extend(replayed(model, &review.past, CALLS, width));
            rows.push(strong(" The change:"));
            rows.extend(diff(pending, width));
            rows
        }
        ReviewOf::Definition(tool) => pins::definition(model, tool, width),
        ReviewOf::Program(program) => pins::program(program, width),
        ReviewOf::Written => replayed(model, &review.past, usize::MAX, width),
        ReviewOf::Suggested(rule) => suggested(model, rule, width),
        ReviewOf::Page(open) => pins::page_rows(open, width),
    }
}

fn diff(pending: &Pending, width: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for line in pending.diff.lines() {
        let tone = match line.as_bytes().first() {
            Some(b'+') => Tone::Good,
            Some(b'-') => Tone::Danger,
            _ => Tone::Quiet,
        };
        rows.extend(border(" ┃ ").and_foreign(tone, line).hung(width, 3));
    }
    rows
}

fn suggested(model: &Model, rule: &SuggestedRule, width: usize) -> Vec<Row> {
    let mut rows = written(&rule.toml, width);
    for warning in &rule.warnings {
        rows.extend(warn(" ▲ ").and_foreign(Tone::Warn, warning).hung(width, 3));
    }
    rows.push(caption("it would have saved", &counted(rule.saves, "question"), width));
    rows.extend(quiet(" all ran, approved or observed; no call it covers was denied").hung(width, 1));
    rows.extend(rule.lines.iter().map(|call| past_call(model, call, width)));
    let more = rule.saves.saturating_sub(rule.lines.len());
    if more > 0 {
        rows.push(quiet(format!("   and {} before these", counted(more, "call"))));
    }
    rows
}
