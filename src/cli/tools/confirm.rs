//! The tools of one server that wait for the operator's word on what they are, on one screen: confirmed as PURE or marked as
//! MUTATES, all or some together.

use std::collections::BTreeSet;
use std::io::Write;

use super::row;
use crate::behavior::taxonomy::{Badge, Mutability};
use crate::cli::error::Error;
use crate::cli::look::{Here, Look};
use crate::cli::person;
use crate::cli::print::visible;
use crate::console::columns::cell;
use crate::console::row::{Row, Tone};
use crate::gate::data::pin::PinState;
use crate::home::user;
use crate::pins::PinStore;
use crate::pins::reading::{Server, StoredTool};
use crate::pins::review::{Applied, entry};

/// Whether the operator goes on with the review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    GoOn,
    Leave,
}

/// Whether one word settles a tool: it looks like a read, or it is new, and no change of it has to be read first.
pub(super) fn is_wanted(known: &StoredTool) -> bool {
    match known.pin_state {
        PinState::Trusted => known.behavior.badge() == Badge::Likely,
        PinState::New => true,
        PinState::Changed { .. } | PinState::Unreviewed | PinState::Refused => false,
    }
}

/// What the operator answers.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    /// These, by their numbers from 1, have this mutability.
    Say(BTreeSet<usize>, Mutability),
    /// The operator goes on, and leaves the rest undecided.
    Done,
    Quit,
    Unclear,
}

const HELP: &str = "    a: all shown as PURE? only read   1 3-5: these only read   m 2 4: these change something   \
    Enter: go on   q: quit >";

/// Lists the tools of one server, and does what the operator says of them until all are settled or left.
pub(super) fn ask(
    store: &mut PinStore,
    here: Here<'_>,
    mut tools: Vec<&StoredTool>,
    out: &mut dyn Write,
) -> Result<Next, Error> {
    while let Some(first) = tools.first() {
        writeln!(out, "\n{}: not confirmed yet", visible(&first.server.name))?;
        table(&tools, Look::here(here), out)?;
        let answer = person::ask(HELP, out)?;
        let (numbers, mutability) = match answer.as_deref().map_or(Answer::Quit, |text| read(text, &tools)) {
            Answer::Say(numbers, mutability) => (numbers, mutability),
            Answer::Done => return Ok(Next::GoOn),
            Answer::Quit => return Ok(Next::Leave),
            Answer::Unclear => {
                writeln!(out, "    Write a, or numbers of the list like 1 3-5, or m and numbers.")?;
                continue;
            }
        };
        let mut left = Vec::new();
        for (at, known) in tools.into_iter().enumerate() {
            if !numbers.contains(&(at + 1)) {
                left.push(known);
                continue;
            }
            let word = known.behavior.identity.with_mutability(mutability);
            record(here, &known.server, Some(known), &format!("pinned as {word}"))?;
            let name = visible(&known.tool.name);
            match store.pin(known, word)? {
                Applied::Done => writeln!(out, "    {name}: {}", mutability.word())?,
                Applied::Outdated => writeln!(out, "    {name}: changed again since it was shown; review it again")?,
            }
        }
        tools = left;
    }
    Ok(Next::GoOn)
}

/// The tools with their numbers, and why each is thought to be what it is.
pub(super) fn table(tools: &[&StoredTool], look: Look<'_>, out: &mut dyn Write) -> std::io::Result<()> {
    let rows = tools.iter().enumerate().map(|(at, known)| {
        let identity = known.behavior.identity;
        let news = if known.pin_state == PinState::New { "new" } else { "" };
        let badge = format!("{} {news}", known.behavior.badge().word());
        let what = format!("{} {}", identity.action.word(), identity.output_domain.word());
        let because = cell(Tone::Ours, &row::because(&known.behavior));
        let number = Row::of(Tone::Key, (at + 1).to_string());
        let [badge, what] = [badge.trim(), &what].map(|text| Row::of(Tone::Ours, text));
        [number, cell(Tone::Strong, &known.tool.name), badge, what, because]
    });
    look.list([">NO", "TOOL", "BADGE", "DOES", "BECAUSE"], &rows.collect::<Vec<_>>(), out)
}

/// Records what is settled of a server or one of its tools.
pub(super) fn record(here: Here<'_>, server: &Server, tool: Option<&StoredTool>, what: &str) -> Result<(), Error> {
    Ok(crate::home::record::record(here.places, entry(here.now, server, tool, what, &user::name()))?)
}

/// Reads an answer about a list of tools.
fn read(text: &str, tools: &[&StoredTool]) -> Answer {
    match text.trim() {
        "" => return Answer::Done,
        "q" => return Answer::Quit,
        "a" => {
            let likely = |(_, known): &(usize, &&StoredTool)| known.behavior.badge() == Badge::Likely;
            let numbers: BTreeSet<usize> = tools.iter().enumerate().filter(likely).map(|(at, _)| at + 1).collect();
            return if numbers.is_empty() { Answer::Unclear } else { Answer::Say(numbers, Mutability::Pure) };
        }
        _ => {}
    }
    let (mutability, list) = match text.trim().strip_prefix('m') {
        Some(rest) => (Mutability::Mutates, rest),
        None => (Mutability::Pure, text),
    };
    let numbers: Option<Vec<BTreeSet<usize>>> =
        list.split([' ', ',']).filter(|word| !word.is_empty()).map(|word| range(word, tools.len())).collect();
    match numbers {
        Some(numbers) if !numbers.is_empty() => Answer::Say(numbers.into_iter().flatten().collect(), mutability),
        Some(_) | None => Answer::Unclear,
    }
}

/// `3`, or `3-5`; `None` where that is no part of a list of so many.
pub(super) fn range(word: &str, of: usize) -> Option<BTreeSet<usize>> {
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
    (1 <= first && first <= last && last <= of).then(|| (first..=last).collect())
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn numbers_are_those_of_the_list() {
        assert_eq!(range("2", 3).map(Vec::from_iter), Some(vec![2]));
        assert_eq!(range("1-3", 3).map(Vec::from_iter), Some(vec![1, 2, 3]));
        for wrong in ["0", "4", "3-1", "2-9", "-", "x", "1-x"] {
            assert_eq!(range(wrong, 3), None, "{wrong}");
        }
    }
}
