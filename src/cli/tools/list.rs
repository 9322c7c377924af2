//! `mcp-approve tools list`: every tool ever seen, one a line.

use std::io::{self, Write};
use std::process::ExitCode;

use unicode_width::UnicodeWidthStr as _;

use super::observed::{self, Observed};
use super::{memory, print, row, visible};
use crate::behavior::tags;
use crate::cli::args::ToolsListOptions;
use crate::cli::error::Error;
use crate::home::places::Places;
use crate::pins::reading::Known;

/// Told where nothing was ever seen.
pub(super) const NONE: &str = "No tool was seen yet. A server's tools are known once it runs under mcp-approve:\n  \
    mcp-approve -- npx -y some-server       (or see it all at work: mcp-approve demo)";

/// Lists the tools.
pub(super) fn run(options: &ToolsListOptions, places: &Places, out: &mut dyn Write) -> Result<ExitCode, Error> {
    let memory = memory(places)?;
    let mut tools = super::known(memory.as_ref(), options.server.as_deref())?;
    tools.truncate(options.output.limit.unwrap_or(usize::MAX));
    let log = observed::observe(&places.audit_db()).map_err(crate::cli::log::LogError::from)?;
    let seen = |known: &Known| log.get(&(known.server.name.clone(), known.tool.name.clone())).cloned();
    let rows: Vec<_> = tools.iter().map(|known| row::json(known, seen(known).as_ref())).collect();
    print(options.output, &rows, NONE, out, |out| table(&tools, &seen, out))?;
    Ok(ExitCode::SUCCESS)
}

fn table(tools: &[Known], seen: &dyn Fn(&Known) -> Option<Observed>, out: &mut dyn Write) -> io::Result<()> {
    let mut lines =
        vec![["SERVER", "TOOL", "BADGE", "IDENTITY", "TAG", "PIN", "CALLS", "EVIDENCE", "REMARKS"].map(str::to_owned)];
    lines.extend(tools.iter().map(|known| {
        let identity = known.behavior.identity;
        let calls = seen(known).unwrap_or_default().calls();
        [
            visible(&known.server.name),
            clipped(&visible(&known.tool.name), 40),
            known.behavior.badge().word().to_owned(),
            format!("{} {}", identity.hash(), identity.action.word()),
            clipped(&visible(&tag(known)), 28),
            format!("v{} {}", known.pin.version, known.pin_state.word()),
            calls.to_string(),
            clipped(&visible(&row::because(&known.behavior)), 40),
            remarks(known),
        ]
    }));
    aligned(&lines, out)?;
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

/// Prints lines whose columns are as wide as their widest cell.
pub(super) fn aligned<const N: usize>(lines: &[[String; N]], out: &mut dyn Write) -> io::Result<()> {
    let widths: [usize; N] =
        std::array::from_fn(|column| lines.iter().map(|line| line[column].width()).max().unwrap_or_default());
    for cells in lines {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(widths) {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width - cell.width() + 2));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// The beginning of a text, so wide at most.
pub(super) fn clipped(text: &str, widest: usize) -> String {
    if text.width() <= widest {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        if kept.width() + 2 > widest {
            break;
        }
        kept.push(c);
    }
    kept + "…"
}
