//! The rule maker's keys: choose how wide, read the text, Enter twice. The call it starts from is not decided.

use super::{Command, decide, note};
use crate::console::keymap::Action;
use crate::console::maker;
use crate::console::model::rule::RuleStage;
use crate::console::model::{Model, Overlay, RuleMaker};
use crate::console::row::{Row, Tone};

/// `r`: offers the rules that the call on screen could become.
pub(super) fn open(model: &mut Model) {
    let Some(armed) = decide::armed(model) else { return };
    let Some(held) = model.still(&armed) else { return };
    let choices = maker::choices(&held.snapshot, model.now);
    if choices.is_empty() {
        return note(model, Tone::Warn, "No rule can be made from this call: its arguments cannot be read.");
    }
    model.overlay = Some(Overlay::Rule(RuleMaker { armed, choices, at: 0, stage: RuleStage::Choosing }));
}

/// `j` and `k`: another scope.
pub(super) fn choose(model: &mut Model, action: Action) {
    if let Some(Overlay::Rule(rule)) = &mut model.overlay {
        let last = rule.choices.len().saturating_sub(1);
        rule.at = match action {
            Action::Down => (rule.at + 1).min(last),
            Action::Up => rule.at.saturating_sub(1),
            _ => rule.at,
        };
        rule.stage = RuleStage::Choosing;
    }
}

/// `Enter`: asks once, then writes the text on show.
pub(super) fn enter(model: &mut Model) -> Vec<Command> {
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
