//! Reviewing what changed of a tool or a server's program, on the Tools screen. What is on show is what is settled.

use crate::behavior::taxonomy::Mutability;
use crate::console::keymap::Action;
use crate::console::model::{Command, Model, OpenPage, Overlay, Review, ReviewOf, Subject};
use crate::console::pages::{self, tools::PICKED};
use crate::console::rows::content_rows;
use crate::home::agreed::Known;
use crate::operator::pinned::{PinReview, PinnedTool, ProgramReview, ReviewDone, ToolReview};
use crate::pins::reading::Server;
use crate::text::row::{Tone, foreign, warn};
use crate::wire::digest::Digest;

/// `Enter` on the open sheet of what changed: its review; on a server's page: the page. `None` where nothing of it waits.
pub(super) fn open(model: &mut Model) -> Option<()> {
    let page = &model.tools;
    let (line, book) = (page.lines.get(page.list.at)?, page.pins.as_ref()?);
    let subject = match line.subject {
        Subject::Page(at) => ReviewOf::Page(Box::new(OpenPage::of(book.pages.get(at)?.clone()))),
        _ if page.list.sheet.is_none() || !line.wants_review() => return None,
        Subject::Program(at) => ReviewOf::Program(Box::new(book.programs.get(at)?.clone())),
        _ => ReviewOf::Definition(Box::new(page.pinned(line).filter(|one| one.waits())?.clone())),
    };
    model.overlay = Some(Overlay::Review(Review::of(subject, 0)));
    Some(())
}

/// The second `Enter`: trusts what was on show.
pub(super) fn accepted(subject: ReviewOf) -> Option<PinReview> {
    match subject {
        ReviewOf::Policy { .. } | ReviewOf::Written | ReviewOf::Suggested(_) => None,
        ReviewOf::Page(open) => Some(PinReview::Page(Box::new(open.page), open.marked.into_iter().collect())),
        ReviewOf::Definition(tool) => Some(PinReview::Tools(vec![(tool.shown(), ToolReview::Accepted)])),
        ReviewOf::Program(program) => {
            let Server { fingerprint, name: server, program, .. } = program.server;
            Some(PinReview::Program { fingerprint, server, program, word: ProgramReview::Accepted })
        }
    }
}

/// `x` on a definition: its calls are denied. It only tightens, so one press is enough, once the review was on screen.
pub(super) fn refuse(model: &mut Model) {
    let stood = model.stood();
    let Some(Overlay::Review(review)) = &model.overlay else { return };
    match &review.subject {
        _ if !stood => model.refuse("Too soon: no key answers this yet."),
        ReviewOf::Definition(tool) => {
            let shown = tool.shown();
            model.overlay = None;
            model.todo.push(Command::ReviewPins(PinReview::Tools(vec![(shown, ToolReview::Refused)])));
        }
        ReviewOf::Program(_) => {
            model.say("A program cannot be refused: until it is accepted, no allow rule covers its tools.");
        }
        ReviewOf::Written | ReviewOf::Suggested(_) | ReviewOf::Page(_) => {}
        ReviewOf::Policy { .. } => {
            model.say("A change that waits allows nothing yet. Take it out of the file by hand, or with u.");
        }
    }
}

/// `space` on Tools: marks the tool for the definition on show, or takes its mark back, and goes on to the next.
pub(super) fn mark(model: &mut Model) {
    let Some(shown) = selected(model).filter(|tool| tool.wants_word()).map(PinnedTool::shown) else {
        return model.say("You can mark only tools that are PURE? or new: you decide what they are.");
    };
    if !model.tools.marked.remove(&shown) {
        model.tools.marked.insert(shown);
    }
    if model.tools.list.sheet.is_none() {
        super::browse::go(model, Action::Down);
    }
}

/// `p` and `m` on Tools, about marked tools: the list may move before a key is pressed, but a mark stays with its tool.
pub(super) fn say(model: &mut Model, mutability: Mutability) {
    let Some(book) = model.tools.pins.clone() else { return };
    let is_marked = |tool: &&PinnedTool| model.tools.marked.contains(&tool.shown());
    let mut tools: Vec<&PinnedTool> = book.tools.iter().filter(is_marked).collect();
    tools.retain(|tool| tool.wants_word());
    if mutability == Mutability::Pure {
        // One key cannot call a tool a read that looks like a change: that takes `tools pin`.
        tools.retain(|tool| tool.known.identity.mutability == Mutability::Pure);
    }
    let words: Vec<_> = tools.into_iter().map(|tool| (tool.shown(), ToolReview::Is(mutability))).collect();
    if words.is_empty() {
        let words = match mutability {
            Mutability::Pure => "p confirms the marked tools that are PURE?: space marks them.",
            Mutability::Mutates => "m remembers the marked tools as MUTATES: space marks them.",
        };
        return model.refuse(words);
    }
    model.tools.marked.clear();
    model.todo.push(Command::ReviewPins(PinReview::Tools(words)));
}

fn selected(model: &Model) -> Option<&PinnedTool> {
    model.tools.pinned(model.tools.lines.get(model.tools.list.at)?)
}

/// `Tab` on the open sheet of a tool: selects the next line of what is agreed to, and brings it onto the screen.
pub(super) fn next_agreed(model: &mut Model) {
    let digests: Vec<Digest> = agreed(model).iter().map(|one| one.kept.digest()).collect();
    let at = digests.iter().position(|digest| model.tools.picked == Some(*digest));
    let next = at.map_or(0, |at| (at + 1) % digests.len());
    model.tools.picked = digests.get(next).copied();
    if model.tools.picked.is_none() {
        return model.say("Nothing is agreed to here. Enter opens a tool.");
    }
    let room = content_rows(model.areas().body).saturating_sub(1);
    let rows = pages::sheet(model, usize::from(pages::sides(model).sheet.width));
    let shown = rows.iter().position(|row| row.text().contains(PICKED));
    if let (Some(at), Some(top)) = (shown, &mut model.tools.list.sheet) {
        *top = (*top).clamp(at.saturating_sub(room.saturating_sub(1)), at);
    }
}

/// `x` on a sheet of Tools: takes the selected line back. It only tightens, so one press is enough.
pub(super) fn forget(model: &mut Model) {
    let picked = model.tools.picked.take();
    match agreed(model).into_iter().map(|one| one.kept.digest()).find(|digest| picked == Some(*digest)) {
        Some(digest) => model.todo.push(Command::ReviewPins(PinReview::Forget(vec![digest]))),
        None => model.say("x takes back a line of what is agreed to: Tab selects one on the open sheet of a tool."),
    }
}

fn agreed(model: &Model) -> Vec<&Known> {
    let list = &model.tools.list;
    let line = list.sheet.and_then(|_| model.tools.lines.get(list.at));
    line.map(|line| model.tools.agreed(line)).unwrap_or_default()
}

/// `u` on Tools: undoes the last review made here.
pub(super) fn undo(model: &mut Model) {
    match model.tools.undo.clone() {
        Some(undo) => model.todo.push(Command::ReviewPins(undo)),
        None => model.say("No review was made in this console that could be taken back."),
    }
}

pub(super) fn settled(model: &mut Model, outcome: Result<ReviewDone, String>) {
    // The pins are read again at once.
    model.ask_again();
    model.note = Some(match outcome {
        Ok(ReviewDone { says, undo }) => {
            let row = foreign(Tone::Good, &says);
            model.tools.undo = undo;
            match model.tools.undo {
                Some(_) => row.ours(" ").key("u").quiet(" takes it back."),
                None => row,
            }
        }
        Err(why) => warn("Nothing was changed: ").and_foreign(Tone::Warn, &why),
    });
}
