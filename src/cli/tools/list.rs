//! `mcp-approve tools list`: every tool ever seen, one a line.

use std::io::{self, Write};
use std::process::ExitCode;

use super::row::Answers;
use super::{answers, memory, print, row};
use crate::behavior::tags;
use crate::cli::args::ToolsListOptions;
use crate::cli::error::Error;
use crate::cli::print::{self as printing, Column, visible};
use crate::home::places::Places;
use crate::pins::reading::Known;

/// Told where nothing was ever seen.
pub(super) const NONE: &str = "No tool was seen yet. A server's tools are known once it runs under mcp-approve:\n  \
    mcp-approve -- npx -y some-server       (or see it all at work: mcp-approve demo)";

const TITLES: [&str; 9] = ["SERVER", "TOOL", "BADGE", "IDENTITY", "TAG", "PIN", "CALLS", "EVIDENCE", "REMARKS"];
const ANY: Column = Column::LEFT;
const COLUMNS: [Column; 9] = [ANY, ANY.at_most(40), ANY, ANY, ANY.at_most(28), ANY, ANY, ANY.at_most(40), ANY];

/// Lists the tools.
pub(super) fn run(options: &ToolsListOptions, places: &Places, out: &mut dyn Write) -> Result<ExitCode, Error> {
    let memory = memory(places)?;
    let mut tools = super::known(memory.as_ref(), options.server.as_deref())?;
    tools.truncate(options.output.limit.unwrap_or(usize::MAX));
    let tally = answers(places)?;
    let seen = |known: &Known| Answers::of(&tally, known);
    let rows: Vec<_> = tools.iter().map(|known| row::json(known, seen(known))).collect();
    print(options.output, &rows, NONE, out, |out| table(&tools, &seen, out))?;
    Ok(ExitCode::SUCCESS)
}

fn table<'t>(tools: &[Known], seen: &dyn Fn(&Known) -> Answers<'t>, out: &mut dyn Write) -> io::Result<()> {
    let rows = tools.iter().map(|known| {
        let identity = known.behavior.identity;
        [
            visible(&known.server.name),
            visible(&known.tool.name),
            known.behavior.badge().word().to_owned(),
            format!("{} {}", identity.hash(), identity.action.word()),
            visible(&tag(known)),
            format!("v{} {}", known.pin.version, known.pin_state.word()),
            seen(known).calls().to_string(),
            visible(&row::because(&known.behavior)),
            remarks(known),
        ]
    });
    printing::table(&COLUMNS, 2, std::iter::once(TITLES.map(str::to_owned)).chain(rows), out)?;
    let likely = tools.iter().filter(|known| super::confirm::is_wanted(known)).count();
    if likely > 0 {
        writeln!(
            out,
            "{likely} of them look like reads (PURE?) or are new: confirm them with mcp-approve tools review"
        )?;
    }
    let waiting = tools.iter().filter(|known| !super::review::reasons(known).is_empty()).count();
    if waiting > 0 {
        writeln!(out, "{waiting} of them on the review list: mcp-approve tools review")?;
    }
    Ok(())
}

/// The tag that a role would name; a dash where nobody knows what the tool does.
pub(super) fn tag(known: &Known) -> String {
    tags::of(&known.behavior, &known.tool.name).pop().unwrap_or_else(|| "-".to_owned())
}

/// What is worth a look: disputes and hazards, by name.
pub(super) fn remarks(known: &Known) -> String {
    let mut words: Vec<&str> = known.behavior.hazards.iter().map(|hazard| hazard.kind.word()).collect();
    if known.behavior.disputed {
        words.push("disputed");
    }
    words.sort_unstable();
    words.dedup();
    words.join(", ")
}
