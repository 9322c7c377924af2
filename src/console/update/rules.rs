//! The keys of a review: a change that waits is read to its end and takes Enter twice, a suggested rule once. And the
//! keys of Rules: replay, edit, end, remove, on and off.

use std::path::PathBuf;
use std::sync::Arc;

use super::{lists, select, tools};

use crate::console::keymap::Action;
use crate::console::maker;
use crate::console::model::{Command, Edit, Model, Overlay, Review, ReviewOf, RuleEntry, RuleStage};
use crate::console::pages::review;
use crate::console::rows::content_rows;
use crate::gate::data::terms::GrantCard;
use crate::link::message::FromConsole;
use crate::operator::found::{LogRequest, RuleLine};
use crate::operator::rule_book::RuleChange;
use crate::operator::tried::{Trial, Which};
use crate::pins::page::Line;
use crate::policy::{edit::Switch, rule::Layer};
use crate::text::row::{Tone, foreign, good, warn};

/// `Enter` on a change that waits or on a suggestion, in Rules; `None` where something else is selected.
pub(super) fn open(model: &mut Model) -> Option<()> {
    let line = model.rules.lines.get(model.rules.list.at)?;
    match line.clone() {
        RuleEntry::Waits { session, pending } => {
            let own = matches!(pending.layer, Layer::Project | Layer::Run);
            let mut wrappers = model.wrappers.iter().map(|one| &one.wrapper);
            let server = wrappers.find(|wrapper| wrapper.session == session).filter(|_| own);
            let which = Which::Accepted {
                layer: pending.layer,
                file: pending.file.clone(),
                digest: pending.digest,
                server: server.map(|wrapper| wrapper.server.clone()),
            };
            try_on_the_log(model, ReviewOf::Policy { session, pending: *pending }, which);
            Some(())
        }
        RuleEntry::Suggested(mut rule) => {
            if let Some(warning) =
                maker::passing(&rule.toml, &model.queue.live(), model.settings.home.as_deref(), model.now)
            {
                Arc::make_mut(&mut rule).warnings.push(warning);
            }
            model.overlay = Some(Overlay::Review(Review::of(ReviewOf::Suggested(rule), 0)));
            Some(())
        }
        RuleEntry::Grant { .. } | RuleEntry::Rule(_) => None,
    }
}

/// `R`: what the files as they are written would change of past rulings.
pub(super) fn replay(model: &mut Model) {
    try_on_the_log(model, ReviewOf::Written, Which::Written);
}

fn try_on_the_log(model: &mut Model, subject: ReviewOf, which: Which) {
    let id = model.next_trial();
    model.overlay = Some(Overlay::Review(Review::of(subject, id)));
    model.todo.push(Command::Look(LogRequest::Try(Trial::Policy { id, which })));
}

pub(super) fn go(model: &mut Model, action: Action) {
    let below = review::rows_below(model);
    let room = content_rows(model.areas().body);
    let width = usize::from(model.areas().body.width);
    let Some(Overlay::Review(review)) = &mut model.overlay else { return };
    let ReviewOf::Page(open) = &mut review.subject else {
        review.top = select::moved(review.top, action, room, review.top + room + below);
        return;
    };
    // The selected line stays on screen; behind the last one are only rows to read.
    let last = open.page.lines.len().saturating_sub(1);
    open.at = select::stepped(open.at, action, (room.saturating_sub(1).max(1), room / 2), last);
    let rows = review::page_lines(open, width);
    let its = |at: &usize| rows.get(*at).is_some_and(|(line, _)| *line == Some(open.at));
    let first = if open.at == 0 { 0 } else { (0..rows.len()).find(its).unwrap_or(0) };
    let end = if open.at == last { rows.len() } else { (0..rows.len()).rfind(its).map_or(0, |at| at + 1) };
    review.top = review.top.clamp(end.saturating_sub(room).min(first), first);
}

/// `space` on a page: marks the selected line, or takes its mark back, and goes on.
pub(super) fn mark(model: &mut Model) {
    let Some(Overlay::Review(Review { subject: ReviewOf::Page(open), .. })) = &mut model.overlay else { return };
    if !open.page.lines.get(open.at).is_some_and(Line::can_be_marked) {
        return model.say("There is nothing to agree to in this line.");
    }
    if !open.marked.remove(&open.at) {
        open.marked.insert(open.at);
    }
    go(model, Action::Down);
}

/// `Enter`: reads on, asks once, then accepts what is on show.
pub(super) fn enter(model: &mut Model) {
    if review::rows_below(model) > 0 {
        return go(model, Action::PageDown);
    }
    let stood = model.stood();
    let Some(Overlay::Review(review)) = &mut model.overlay else { return };
    let sure = review.stage != RuleStage::Choosing;
    match review.subject.clone() {
        ReviewOf::Written => {
            model.say("There is nothing to accept here: what is written applies already, or waits above.");
        }
        _ if !stood => model.refuse("Too soon: no key answers this yet."),
        ReviewOf::Policy { .. } if review.past.goes_on() => {
            model.refuse("What it would change is still being counted: wait a moment.");
        }
        ReviewOf::Page(open) if open.marked.is_empty() => {
            model.say("Nothing is marked: space marks a line, Esc leaves the page as it is.");
        }
        subject @ ReviewOf::Page(_) => {
            model.overlay = None;
            model.todo.extend(tools::accepted(subject).map(Command::ReviewPins));
            model.todo.push(Command::Drain);
        }
        ReviewOf::Suggested(rule) if sure || rule.warnings.is_empty() => {
            model.overlay = None;
            model.todo.extend([Command::WriteRule { toml: rule.toml.clone(), except: None }, Command::Drain]);
        }
        ReviewOf::Definition(tool) if review::is_beyond_reading(&tool) => {
            let words = model.hint("It is too long to be read here: mcp-approve tools review shows it. x refuses it.");
            model.warn(words);
        }
        // No server runs that could take it: it is accepted here.
        ReviewOf::Policy { session, pending }
            if sure && !model.wrappers.iter().any(|one| one.wrapper.session == session) =>
        {
            model.overlay = None;
            model.todo.push(Command::ChangeRules(RuleChange::Accept(pending)));
        }
        ReviewOf::Policy { session, pending } if sure => {
            model.overlay = None;
            let row = good("Acceptance sent: ").and_foreign(Tone::Ours, &pending.file);
            model.note = Some(row.quiet(". It counts for every server within a second."));
            let message = FromConsole::AcceptPolicy { file: pending.file, digest: pending.digest, signed: None };
            model.todo.push(Command::Send { session, message });
        }
        subject @ (ReviewOf::Definition(_) | ReviewOf::Program(_)) if sure => {
            model.overlay = None;
            model.todo.extend(tools::accepted(subject).map(Command::ReviewPins));
        }
        ReviewOf::Policy { .. } | ReviewOf::Definition(_) | ReviewOf::Program(_) | ReviewOf::Suggested(_) => {
            review.stage = RuleStage::Sure;
            // Keys typed ahead are not meant for this question.
            model.todo.push(Command::Drain);
        }
    }
}

/// `e` in Rules: the selected rule's text in the editor.
pub(super) fn edit(model: &mut Model) {
    of_selected(model, |rule, file| Command::EditRule { id: rule.id.clone(), file });
}

/// Sends the command for the selected rule and its file; otherwise says why there is none.
fn of_selected(model: &mut Model, make: impl FnOnce(&RuleLine, PathBuf) -> Command) {
    let Some(RuleEntry::Rule(line)) = model.rules.lines.get(model.rules.list.at) else {
        return model.say("Only a rule in a file can be changed; Enter shows what this is.");
    };
    let rule = line.at.zip(model.rules.book.as_ref()).and_then(|(at, book)| Some((book.rules.get(at)?, book)));
    match rule.and_then(|(rule, book)| Some((rule, book.files.get(rule.file)?.clone()))) {
        Some((rule, file)) => model.todo.push(make(rule, file)),
        None => model.say("No policy file has this rule now; only the log names it."),
    }
}

/// Puts a rule in place as the editor left it. What loosens waits to be accepted, like any change by hand.
pub(super) fn edited(model: &mut Model, id: String, file: PathBuf, outcome: Edit) {
    match outcome {
        Edit::Unchanged => model.say("Nothing was changed."),
        Edit::Failed(why) => model.note = Some(foreign(Tone::Warn, &why)),
        Edit::Text(text) => model.todo.push(Command::ChangeRules(RuleChange::Replace { id, file, text })),
    }
}

/// `x` in Rules: ends the grant, or removes the rule.
pub(super) fn end(model: &mut Model) {
    match model.rules.lines.get(model.rules.list.at) {
        Some(RuleEntry::Grant { session, card, .. }) => {
            let grant = card.id.clone();
            let session = session.clone();
            let words = match beside(model, &session, card) {
                others if others.is_empty() => format!("Ending {grant}: its calls are asked again."),
                others => format!("Ending {grant}; {} may still cover some of its calls.", others.join(" or ")),
            };
            model.say(words);
            model.todo.push(Command::Send { session, message: FromConsole::EndGrant { grant } });
        }
        Some(RuleEntry::Rule(_)) => {
            of_selected(model, |rule, file| Command::ChangeRules(RuleChange::Remove { id: rule.id.clone(), file }));
        }
        Some(RuleEntry::Waits { .. }) => model
            .say("A change that waits allows nothing yet. Enter shows it; take it out of the file by hand, or with u."),
        Some(RuleEntry::Suggested(rule)) => {
            let rule = Arc::clone(rule);
            model.rules.declined.push(rule);
            lists::rebuild(model);
            model.say("Put aside until the next console; nothing was written.");
        }
        None => {}
    }
}

/// The other live grants of the same server and tool: they may cover calls of this one.
fn beside(model: &Model, session: &str, ended: &GrantCard) -> Vec<String> {
    let of_session = model.wrappers.iter().filter(|one| one.wrapper.session == session);
    let lives = |card: &&GrantCard| {
        card.id != ended.id && card.tool == ended.tool && card.until.is_none_or(|until| until > model.now)
    };
    of_session.flat_map(|one| one.status.grants.iter().filter(lives)).map(|card| card.id.clone()).collect()
}

/// `t` in Rules: switches the selected rule on or off.
pub(super) fn switch(model: &mut Model) {
    of_selected(model, |rule, file| {
        let to = if rule.disabled { Switch::On } else { Switch::Off };
        Command::ChangeRules(RuleChange::Switch { id: rule.id.clone(), file, to })
    });
}

/// The result of a removal or an undo: what was done, or why nothing was.
pub(super) fn changed(model: &mut Model, outcome: Result<String, String>) {
    model.ask_again();
    model.undo_until = None;
    model.note = Some(match outcome {
        Ok(what) => foreign(Tone::Good, &what),
        Err(why) => warn("Nothing was changed: ").and_foreign(Tone::Warn, &why),
    });
}
