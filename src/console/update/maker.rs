//! The keys of the panel that makes a grant or a rule from a call. A grant approves the call, and a written allow rule lets it
//! pass, so both need the card read as `a` does. An offer with a warning takes Enter twice.

use super::{decide, select};
use crate::audit::VerdictWord;
use crate::console::keymap::{Action, Key};
use crate::console::maker;
use crate::console::model::rule::{Choice, Chosen, GrantOffer, RuleStage};
use crate::console::model::{Armed, Command, Confirmation, Held, Model, Offer, Overlay, RuleMaker, Screen, Seen};
use crate::console::pages::maker as maker_panel;
use crate::console::risk::no_grant;
use crate::console::rows::content_rows;
use crate::link::message::FromConsole;
use crate::operator::found::LogRequest;
use crate::operator::tried::{Attempt, Trial};
use crate::policy::{Decision, Roots, past::PastCall};
use crate::text::row::{Tone, good, warn};

/// `r`: decides nothing, so it works on a card that has just appeared; it begins at the narrowest rule.
pub(super) fn open(model: &mut Model) {
    let armed = match model.chosen() {
        Ok(armed) => armed,
        Err(why) => return decide::tell_unarmed(model, why),
    };
    let Some(held) = model.still(&armed) else { return };
    let others: Vec<&Held> = model.queue.calls.iter().filter(|held| !held.is_over()).collect();
    let home = model.settings.home.as_deref();
    let rules = maker::choices(&held.snapshot, &model.queue.live(), home, model.now);
    let no_grant = no_grant(&held.snapshot);
    let grants = if no_grant.is_none() { maker::grants(held, &others, home) } else { Vec::new() };
    let choices = match rules {
        Ok(choices) => choices,
        Err(why) if grants.is_empty() => {
            none(model, &why);
            return model.ignore_keys();
        }
        Err(_) => Vec::new(),
    };
    let origin = (armed.key().ticket.clone(), Some(armed));
    let about = (held.snapshot.server.clone(), held.snapshot.tool.clone(), maker::roots(&held.snapshot, home));
    // A card that only flashed by was not read.
    model.leave();
    show(model, origin, about, grants, choices, no_grant);
}

/// `+`: the narrowest rule that fits what was approved before, once past calls are counted.
pub(super) fn open_fitting(model: &mut Model) {
    let dangerous = model.queue.selection().is_some_and(|held| held.waits() && held.snapshot.danger.is_some());
    if dangerous {
        return model.refuse("This call is dangerous: r shows the rules that would cover it, and what each lets run.");
    }
    open(model);
    if let Some(Overlay::Rule(maker)) = &mut model.overlay {
        maker.chosen = Chosen::ToFit;
    }
}

/// Past calls were counted: puts the rule that fits them on show, or says that none does.
pub(super) fn fit(model: &mut Model) {
    let Some(Overlay::Rule(maker)) = &mut model.overlay else { return };
    if maker.chosen != Chosen::ToFit || maker.past.goes_on() {
        return;
    }
    maker.chosen = Chosen::ByOperator;
    match maker.fitting() {
        Some(at) => maker.show(at),
        None => {
            model.overlay = None;
            model.refuse("No rule fits what was approved of this tool before, without more: r shows those there are.");
        }
    }
}

/// `r` on the Log: asks for the call of the selected record, which becomes a rule for the calls to come.
pub(super) fn of_record(model: &mut Model) {
    let line = model.log.window.lines.get(model.log.list.at);
    match line.filter(|line| line.ticket.is_some() && line.tool.is_some()).map(|line| line.seq) {
        Some(seq) => {
            model.log.rule_from = Some(seq);
            model.todo.push(Command::Look(LogRequest::PastCall { seq }));
        }
        None => model.say("A rule is made from a call, and this record is not about one. /kind:decision lists them."),
    }
}

/// The call of a record was found: shows the rules that it could become.
pub(super) fn found(model: &mut Model, seq: u64, call: Result<Box<PastCall>, String>) {
    // An operator who has gone elsewhere meanwhile is not brought back.
    let here = model.screen == Screen::Log && model.overlay.is_none();
    if model.log.rule_from.take_if(|wanted| *wanted == seq).is_none() || !here {
        return;
    }
    let roots = Roots { home: model.settings.home.clone(), ..Roots::default() };
    let made = call.and_then(|call| Ok((maker::of_past(&call, &model.queue.live(), &roots, model.now)?, call)));
    match made {
        Ok((choices, call)) => {
            let PastCall { ticket, server, tool, .. } = *call;
            show(model, (ticket, None), (server, tool, roots), Vec::new(), choices, None);
        }
        Err(why) => none(model, &why),
    }
}

pub(super) fn none(model: &mut Model, why: &str) {
    model.note = Some(warn("No rule can be made from this call: ").and_foreign(Tone::Warn, why));
}

pub(super) fn show(
    model: &mut Model,
    (ticket, armed): (String, Option<Armed>),
    (server, tool, roots): (String, String, Roots),
    grants: Vec<GrantOffer>,
    choices: Vec<Choice>,
    no_grant: Option<&'static str>,
) {
    let at = if choices.is_empty() { 0 } else { grants.len() };
    let rules = choices.iter().map(|choice| choice.toml.clone()).collect();
    let offers = grants.into_iter().map(Offer::Grant).chain(choices.into_iter().map(Offer::Rule)).collect();
    let id = model.next_trial();
    let (stage, past, opened, chosen) = (RuleStage::Choosing, Attempt::asked(id), model.now, Chosen::ByOperator);
    model.untouched = None;
    model.overlay =
        Some(Overlay::Rule(RuleMaker { ticket, armed, offers, at, top: 0, stage, no_grant, opened, past, chosen }));
    model.todo.push(Command::Look(LogRequest::Try(Trial::Rules { id, server, tool, roots, rules })));
}

/// `j` and `k`: another offer. Other moves: the rows of the one on show.
pub(super) fn choose(model: &mut Model, action: Action) {
    let rows = maker_panel::measured(model).0;
    let page = content_rows(model.areas().body);
    let Some(Overlay::Rule(rule)) = &mut model.overlay else { return };
    match action {
        Action::Down | Action::Up => {
            let end = rule.offers.len().saturating_sub(1);
            let at = if action == Action::Down { (rule.at + 1).min(end) } else { rule.at.saturating_sub(1) };
            rule.show(at);
        }
        _ => rule.top = select::moved(rule.top, action, page, rows),
    }
}

pub(super) fn scope(model: &mut Model, key: Key) {
    let Some(Overlay::Rule(rule)) = &mut model.overlay else { return };
    let Key::Char(letter) = key else { return };
    match rule.lettered(letter) {
        Some(at) => rule.show(at),
        None => {
            let words = match letter {
                'f' => "No argument of this call is a path whose folder a rule could use.",
                'v' => "This call has no values that a rule could use.",
                _ => "No such rule can be made from this call.",
            };
            model.say(words);
        }
    }
}

pub(super) fn number(model: &mut Model, key: Key) {
    let Some(Overlay::Rule(rule)) = &mut model.overlay else { return };
    let digit = if let Key::Char(c) = key { c.to_digit(10) } else { None };
    if let (Some(Offer::Grant(grant)), Some(digit)) = (rule.offers.get_mut(rule.at), digit) {
        grant.digit(digit);
        (rule.top, rule.stage) = (0, RuleStage::Choosing);
    }
}

/// `Enter`: scrolls on if not all of it is on screen, asks if there is a warning, then does it.
pub(super) fn enter(model: &mut Model) {
    if maker_panel::measured(model).1 > 0 {
        return choose(model, Action::PageDown);
    }
    let now = model.now;
    let Some(Overlay::Rule(rule)) = &mut model.overlay else { return };
    let Some(offer) = rule.offer().cloned() else { return };
    let (armed, opened, sure) = (rule.armed.clone(), rule.opened, rule.stage != RuleStage::Choosing);
    let at_once = rule.goes_at_once();
    if rule.chosen == Chosen::ToFit {
        return model.refuse("Past calls are still being counted: wait a moment.");
    }
    if !model.stood() {
        return model.refuse("Too soon: no key answers this yet.");
    }
    if let Some(why) = armed.as_ref().and_then(|armed| refusal(model, armed, &offer)) {
        return model.refuse(why);
    }
    if !sure && !at_once {
        if let Some(Overlay::Rule(rule)) = &mut model.overlay {
            rule.stage = RuleStage::Sure;
        }
        // What was typed ahead is not for this question.
        return model.todo.push(Command::Drain);
    }
    model.overlay = None;
    match offer {
        Offer::Rule(Choice { toml, except, .. }) => {
            model.todo.extend([Command::WriteRule { toml, except }, Command::Drain]);
        }
        Offer::Grant(GrantOffer { terms, .. }) => {
            let Some(armed) = armed else { return };
            let row = good("Granted: ").and_foreign(Tone::Ours, &terms.to_string());
            decide::send_shown(model, &armed, VerdictWord::Approve, now - opened, |ticket, digest| {
                FromConsole::Grant { ticket, digest, terms, signed: None }
            });
            model.note = Some(row.quiet(". Rules (5) lists it; x ends it there."));
        }
    }
}

/// The call must wait as it was shown, and have been read; a rule for the next ones may be written once it is over.
fn refusal(model: &Model, armed: &Armed, offer: &Offer) -> Option<&'static str> {
    let over = model.queue.call(armed.key()).is_none_or(Held::is_over);
    match (offer, model.still(armed)) {
        (Offer::Rule(choice), _) if choice.decision != Decision::Allow => None,
        (Offer::Rule(_), None) if over => None,
        (_, None) => Some("Too late: the call no longer waits as it was shown. Nothing was done."),
        (_, Some(held)) if held.snapshot.danger.is_some() && model.settings.confirmation == Confirmation::Word => {
            Some("Approve a dangerous call by itself, by typing its word (config.toml): Esc, then a.")
        }
        (_, Some(held)) => (held.seen != Seen::Whole)
            .then_some("It lets this call run, and not all of it was shown yet: Esc, read on (PgDn; PgUp), then r."),
    }
}

/// How long `u` takes a written rule back on every screen, in milliseconds.
const UNDO: i64 = 10_000;

pub(super) fn written(model: &mut Model, outcome: Result<String, String>) {
    model.ask_again();
    model.undo_until = outcome.as_ref().ok().map(|_| model.now + UNDO);
    model.note = Some(match outcome {
        Ok(path) => good("The rule was added to ")
            .and_foreign(Tone::Strong, &path)
            .ours(". It covers calls that wait, too. ")
            .key("u")
            .quiet(" takes it back: for ten seconds here, later on Rules."),
        Err(why) => warn("The rule was not written: ").and_foreign(Tone::Warn, &why),
    });
}
