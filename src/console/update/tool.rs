//! Settling what changed of a tool or a server's program, on the Tools screen: opening the review, accepting, refusing,
//! taking back. What is on show is what is settled.

use super::{Command, note};
use crate::console::model::review::{Change, Review};
use crate::console::model::rule::RuleStage;
use crate::console::model::{ARMING, Model, Overlay, Subject};
use crate::console::pinned::{PinnedProgram, PinnedTool, Settled, Settling};
use crate::console::row::{Row, Tone};

/// `Enter` on the open sheet of what changed: its review; `false` where nothing of it waits.
pub(super) fn open(model: &mut Model) -> bool {
    let browse = &model.browse;
    let line = browse.tool_lines.get(browse.tools.at);
    let Some((line, book)) = line.filter(|line| line.wants_review()).zip(browse.pins.as_ref()) else {
        return false;
    };
    let change = match line.subject {
        Subject::Pinned(at) => {
            book.tools.get(at).filter(|one| one.waits()).cloned().map(Box::new).map(Change::Definition)
        }
        Subject::Program(at) => book.programs.get(at).cloned().map(Box::new).map(Change::Program),
        Subject::Tool => None,
    };
    let Some(change) = change else { return false };
    model.overlay = Some(Overlay::Review(Review { change, top: 0, stage: RuleStage::Choosing, opened: model.now }));
    true
}

/// The second `Enter`: what was on show is to be trusted.
pub(super) fn accepted(change: Change) -> Option<Settling> {
    match change {
        Change::Policy { .. } => None,
        Change::Definition(tool) => {
            let PinnedTool { fingerprint, tool, latest, .. } = *tool;
            Some(Settling::Accept { fingerprint, tool, latest })
        }
        Change::Program(program) => {
            let PinnedProgram { fingerprint, server, program, .. } = *program;
            Some(Settling::AcceptProgram { fingerprint, server, program })
        }
    }
}

/// `x` on a definition: its calls are denied. It only tightens, so one press does it, once the review was there to see.
pub(super) fn refuse(model: &mut Model) -> Vec<Command> {
    let now = model.now;
    let Some(Overlay::Review(review)) = &model.overlay else { return Vec::new() };
    match &review.change {
        _ if now - review.opened < ARMING => {
            super::passing_note(model, Tone::Warn, "The review has just come up: no key answers it yet.");
            Vec::new()
        }
        Change::Definition(tool) => {
            let PinnedTool { fingerprint, tool, latest, .. } = (**tool).clone();
            model.overlay = None;
            vec![Command::Settle(Settling::Refuse { fingerprint, tool, latest })]
        }
        Change::Program(_) => {
            note(
                model,
                Tone::Ours,
                "A program is not refused: while it is not accepted, no allow rule covers its tools.",
            );
            Vec::new()
        }
        Change::Policy { .. } => {
            note(model, Tone::Ours, "A change that waits loosens nothing. Take it out of the file by hand, or with u.");
            Vec::new()
        }
    }
}

/// `u` on Tools: the last review made here is taken back.
pub(super) fn take_back(model: &mut Model) -> Vec<Command> {
    match model.browse.former.clone() {
        Some(former) => vec![Command::Settle(Settling::TakeBack(former))],
        None => {
            note(model, Tone::Ours, "No review was made in this console that could be taken back.");
            Vec::new()
        }
    }
}

/// What became of it.
pub(super) fn settled(model: &mut Model, outcome: Result<Settled, String>) -> Vec<Command> {
    // What is remembered is read again at once.
    model.browse.recalled = None;
    model.note = Some(match outcome {
        Ok(Settled { says, former }) => {
            let row = Row::default().and_foreign(Tone::Good, &says);
            model.browse.former = former;
            match model.browse.former {
                Some(_) => row.and(Tone::Ours, " ").and(Tone::Key, "u").and(Tone::Quiet, " takes it back."),
                None => row,
            }
        }
        Err(why) => Row::of(Tone::Warn, "Nothing was changed: ").and_foreign(Tone::Warn, &why),
    });
    Vec::new()
}
