//! The rule maker's keys: choose how wide, read the text, Enter twice. The call it starts from is not decided.

use super::{Command, decide, is_over};
use crate::console::keymap::Action;
use crate::console::maker;
use crate::console::model::rule::RuleStage;
use crate::console::model::{Model, Overlay, RuleMaker};
use crate::console::row::{Row, Tone};
use crate::console::view;
use crate::gate::snapshot::Snapshot;

/// `r`: offers the rules that the call on screen could become.
pub(super) fn open(model: &mut Model) {
    let Some(armed) = decide::armed(model) else { return };
    let Some(held) = model.still(&armed) else { return };
    let waiting: Vec<&Snapshot> =
        model.calls.iter().filter(|held| !is_over(held)).map(|held| &*held.snapshot).collect();
    match maker::choices(&held.snapshot, &waiting, model.settings.home.as_deref(), model.now) {
        Ok(choices) => {
            model.overlay =
                Some(Overlay::Rule(RuleMaker { armed, choices, at: 0, top: 0, stage: RuleStage::Choosing }));
        }
        Err(why) => {
            model.note =
                Some(Row::of(Tone::Warn, "No rule can be made from this call: ").and_foreign(Tone::Warn, &why));
        }
    }
}

/// `j` and `k`: another scope. Other moves: the rows of the one on show.
pub(super) fn choose(model: &mut Model, action: Action) {
    let last = view::maker::rows_below(model);
    let page = model.list_rows().max(1);
    let Some(Overlay::Rule(rule)) = &mut model.overlay else { return };
    match action {
        Action::Down | Action::Up => {
            let end = rule.choices.len().saturating_sub(1);
            rule.at = if action == Action::Down { (rule.at + 1).min(end) } else { rule.at.saturating_sub(1) };
            (rule.top, rule.stage) = (0, RuleStage::Choosing);
        }
        Action::PageDown => rule.top += page.min(last),
        Action::PageUp => rule.top = rule.top.saturating_sub(page),
        Action::Top => rule.top = 0,
        _ => rule.top += last,
    }
}

/// `Enter`: asks once, then writes the text on show; goes on reading where not all of it is on screen.
pub(super) fn enter(model: &mut Model) -> Vec<Command> {
    if view::maker::rows_below(model) > 0 {
        choose(model, Action::PageDown);
        return Vec::new();
    }
    let Some(Overlay::Rule(rule)) = &mut model.overlay else {
        return Vec::new();
    };
    match rule.stage {
        RuleStage::Choosing => {
            rule.stage = RuleStage::Sure;
            Vec::new()
        }
        RuleStage::Sure => {
            let toml = rule.choice().map(|choice| choice.toml.clone()).unwrap_or_default();
            model.overlay = None;
            vec![Command::WriteRule { toml }]
        }
    }
}

/// What became of it.
pub(super) fn written(model: &mut Model, outcome: Result<String, String>) -> Vec<Command> {
    model.note = Some(match outcome {
        Ok(path) => Row::of(Tone::Good, "The rule stands in ")
            .and_foreign(Tone::Strong, &path)
            .and(Tone::Ours, ". This call still waits for you."),
        Err(why) => Row::of(Tone::Warn, "The rule was not written: ").and_foreign(Tone::Warn, &why),
    });
    Vec::new()
}
