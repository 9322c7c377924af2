//! The keys of the panel that makes more of a call: choose a grant or a rule, read what it means, Enter twice.
//!
//! A rule leaves the call it starts from undecided; a grant approves it, so what `a` asks of a card holds for it too.

use super::{Command, decide, is_over, note};
use crate::console::keymap::{Action, Key};
use crate::console::maker;
use crate::console::model::rule::{GrantOffer, RuleStage};
use crate::console::model::{ARMING, Armed, Confirmation, Held, Model, Offer, Overlay, RuleMaker};
use crate::console::row::{Row, Tone};
use crate::console::view;
use crate::gate::snapshot::Snapshot;
use crate::link::message::GrantTerms;

/// `r`: offers what the call on screen could become. It begins at the narrowest rule, so that Enter alone never approves.
pub(super) fn open(model: &mut Model) {
    let Some(armed) = decide::armed(model) else { return };
    let Some(held) = model.still(&armed) else { return };
    let others: Vec<&Held> = model.calls.iter().filter(|held| !is_over(held)).collect();
    let waiting: Vec<&Snapshot> = others.iter().map(|held| &*held.snapshot).collect();
    let home = model.settings.home.as_deref();
    let rules = maker::choices(&held.snapshot, &waiting, home, model.now);
    let no_grant = crate::console::grants::refusal(&held.snapshot);
    let grants = if no_grant.is_none() { maker::grants(held, &others, home) } else { Vec::new() };
    let choices = match rules {
        Ok(choices) => choices,
        Err(why) if grants.is_empty() => {
            model.note =
                Some(Row::of(Tone::Warn, "No rule can be made from this call: ").and_foreign(Tone::Warn, &why));
            return;
        }
        Err(_) => Vec::new(),
    };
    let at = if choices.is_empty() { 0 } else { grants.len() };
    let offers = grants.into_iter().map(Offer::Grant).chain(choices.into_iter().map(Offer::Rule)).collect();
    let (stage, opened) = (RuleStage::Choosing, model.now);
    model.overlay = Some(Overlay::Rule(RuleMaker { armed, offers, at, top: 0, stage, no_grant, opened }));
}

/// `j` and `k`: another offer. Other moves: the rows of the one on show.
pub(super) fn choose(model: &mut Model, action: Action) {
    let last = view::maker::rows_below(model);
    let page = model.list_rows().max(1);
    let Some(Overlay::Rule(rule)) = &mut model.overlay else { return };
    match action {
        Action::Down | Action::Up => {
            if let Some(Offer::Grant(grant)) = rule.offers.get_mut(rule.at) {
                grant.rest();
            }
            let end = rule.offers.len().saturating_sub(1);
            rule.at = if action == Action::Down { (rule.at + 1).min(end) } else { rule.at.saturating_sub(1) };
            (rule.top, rule.stage) = (0, RuleStage::Choosing);
        }
        Action::PageDown => rule.top += page.min(last),
        Action::PageUp => rule.top = rule.top.saturating_sub(page),
        Action::Top => rule.top = 0,
        _ => rule.top += last,
    }
}

/// A digit: so many minutes or calls.
pub(super) fn number(model: &mut Model, key: Key) {
    let Some(Overlay::Rule(rule)) = &mut model.overlay else { return };
    let digit = if let Key::Char(c) = key { c.to_digit(10) } else { None };
    if let (Some(Offer::Grant(grant)), Some(digit)) = (rule.offers.get_mut(rule.at), digit) {
        grant.digit(digit);
        (rule.top, rule.stage) = (0, RuleStage::Choosing);
    }
}

/// `Enter`: asks once, then does what is on show; goes on reading where not all of it is on screen.
pub(super) fn enter(model: &mut Model) -> Vec<Command> {
    if view::maker::rows_below(model) > 0 {
        choose(model, Action::PageDown);
        return Vec::new();
    }
    let now = model.now;
    let Some(Overlay::Rule(rule)) = &mut model.overlay else {
        return Vec::new();
    };
    match (rule.stage, rule.offer().cloned()) {
        (_, None) => Vec::new(),
        (RuleStage::Choosing, Some(Offer::Rule(_))) => {
            rule.stage = RuleStage::Sure { since: now };
            Vec::new()
        }
        (RuleStage::Sure { .. }, Some(Offer::Rule(choice))) => {
            model.overlay = None;
            vec![Command::WriteRule { toml: choice.toml }]
        }
        (RuleStage::Choosing, Some(Offer::Grant(_))) => {
            let armed = rule.armed.clone();
            match readable(model, &armed) {
                Err(why) => note(model, Tone::Warn, why),
                Ok(()) => {
                    if let Some(Overlay::Rule(rule)) = &mut model.overlay {
                        rule.stage = RuleStage::Sure { since: now };
                    }
                }
            }
            // What was typed ahead is not for this question.
            vec![Command::Drain]
        }
        (RuleStage::Sure { since }, Some(Offer::Grant(_))) if now - since < ARMING => {
            super::passing_note(model, Tone::Warn, "The question has just come up: no key answers it yet.");
            Vec::new()
        }
        (RuleStage::Sure { .. }, Some(Offer::Grant(GrantOffer { terms, .. }))) => {
            let (armed, took) = (rule.armed.clone(), now - rule.opened);
            grant(model, &armed, terms, took)
        }
    }
}

/// Whether the call may be approved at all: it waits as it was shown, and was read.
fn readable(model: &Model, armed: &Armed) -> Result<(), &'static str> {
    let held = model.still(armed).ok_or("Too late: the call no longer waits as it was shown. Nothing was granted.")?;
    if held.snapshot.danger.is_some() && model.settings.confirmation == Confirmation::Word {
        return Err("A dangerous call is approved by itself, by its word (config.toml): Esc, then a.");
    }
    match decide::unseen(held) {
        Some(_) => Err("The call itself was not read yet: Esc, go to its end (PgDn, End), then r."),
        None => Ok(()),
    }
}

fn grant(model: &mut Model, armed: &Armed, terms: GrantTerms, took: i64) -> Vec<Command> {
    if let Err(why) = readable(model, armed) {
        model.overlay = None;
        note(model, Tone::Warn, why);
        return Vec::new();
    }
    model.overlay = None;
    let row = Row::of(Tone::Good, "Granted: ").and_foreign(Tone::Ours, &terms.to_string());
    let commands = decide::send_grant(model, armed, terms, took);
    model.note = Some(row.and(Tone::Quiet, ". It stands under 5 Rules; x ends it there."));
    commands
}

/// What became of a rule.
pub(super) fn written(model: &mut Model, outcome: Result<String, String>) -> Vec<Command> {
    model.note = Some(match outcome {
        Ok(path) => Row::of(Tone::Good, "The rule stands in ")
            .and_foreign(Tone::Strong, &path)
            .and(Tone::Ours, ". It holds for calls that wait, too. ")
            .and(Tone::Key, "u")
            .and(Tone::Quiet, " takes it back."),
        Err(why) => Row::of(Tone::Warn, "The rule was not written: ").and_foreign(Tone::Warn, &why),
    });
    Vec::new()
}
