//! `r` on a record: the call of it is looked up, and becomes a rule for the calls to come. It decides nothing that waits.

use super::{Command, moves, note};
use crate::console::found::Task;
use crate::console::keymap::Action;
use crate::console::model::past::PastMaker;
use crate::console::model::rule::RuleStage;
use crate::console::model::{ARMING, Model, Overlay, Screen};
use crate::console::row::{Row, Tone};
use crate::console::screen::content_rows;
use crate::console::view;
use crate::policy::past::PastCall;

/// `r` on the Log: asks for the call of the selected record.
pub(super) fn ask(model: &mut Model) -> Vec<Command> {
    let line = model.browse.window.lines.get(model.browse.log.at);
    match line.filter(|line| line.ticket.is_some() && line.tool.is_some()).map(|line| line.seq) {
        Some(seq) => {
            model.browse.rule_from = Some(seq);
            vec![Command::Look(Task::PastCall { seq })]
        }
        None => {
            note(model, Tone::Ours, "A rule is made from a call; this record is of none. /kind:decision lists them.");
            Vec::new()
        }
    }
}

/// The call came: the rules it could become.
pub(super) fn found(model: &mut Model, seq: u64, call: Result<Box<PastCall>, String>) {
    // Who has gone on meanwhile is not called back.
    let here = model.screen == Screen::Log && model.overlay.is_none();
    if model.browse.rule_from.take_if(|wanted| *wanted == seq).is_none() || !here {
        return;
    }
    let home = model.settings.home.as_deref();
    match call.and_then(|call| PastMaker::of(&call, home, model.now)) {
        Ok(maker) => model.overlay = Some(Overlay::PastRule(maker)),
        Err(why) => {
            model.note =
                Some(Row::of(Tone::Warn, "No rule can be made from this call: ").and_foreign(Tone::Warn, &why));
        }
    }
}

/// `j` and `k`: another offer. Other moves: the rows of the one on show.
pub(super) fn choose(model: &mut Model, action: Action) {
    let below = view::past::rows_below(model);
    let room = content_rows(model.areas().body);
    let Some(Overlay::PastRule(maker)) = &mut model.overlay else { return };
    match action {
        Action::Down | Action::Up => {
            let end = maker.offers.len().saturating_sub(1);
            maker.at = if action == Action::Down { (maker.at + 1).min(end) } else { maker.at.saturating_sub(1) };
            (maker.top, maker.stage) = (0, RuleStage::Choosing);
        }
        _ => maker.top = moves::moved(maker.top, action, room, maker.top + room + below),
    }
}

/// `Enter`: reads on, asks once, then writes the rule on show.
pub(super) fn enter(model: &mut Model) -> Vec<Command> {
    if view::past::rows_below(model) > 0 {
        choose(model, Action::PageDown);
        return Vec::new();
    }
    let now = model.now;
    let Some(Overlay::PastRule(maker)) = &mut model.overlay else { return Vec::new() };
    match (maker.stage, maker.offer().cloned()) {
        (_, None) => Vec::new(),
        (RuleStage::Choosing, Some(_)) => {
            maker.stage = RuleStage::Sure { since: now };
            vec![Command::Drain]
        }
        (RuleStage::Sure { since }, Some(_)) if now - since < ARMING => {
            super::passing_note(model, Tone::Warn, "The question has just come up: no key answers it yet.");
            Vec::new()
        }
        (RuleStage::Sure { .. }, Some(offer)) => {
            model.overlay = None;
            vec![Command::WriteRule { toml: offer.toml }]
        }
    }
}
