//! `mcp-approve tools list`: every tool ever seen, one a line.

use std::io::{self, Write};

use super::row::Answers;
use super::transfer::Lines;
use super::{answers, print, row, store};
use crate::behavior::tags;
use crate::cli::args::ToolsListOptions;
use crate::cli::error::{Exit, done};
use crate::cli::look::{Here, Look};
use crate::home::config;
use crate::operator::record_row;
use crate::pins::reading::StoredTool;
use crate::policy::role::profile_of;
use crate::text::columns::cell;
use crate::text::row::{Row, Tone};
use crate::wire::number::counted;

pub(super) const NONE: &str = "No tool was seen yet. A server's tools are known once it runs under mcp-approve:\n  \
    mcp-approve -- npx -y some-server       (or see it all at work: mcp-approve demo)";

pub(super) fn run(options: &ToolsListOptions, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let look = Look::here(here).wide(options.look.wide);
    let store = store(here.places)?;
    let mut tools = super::known(store.as_ref(), options.server.as_deref())?;
    tools.truncate(options.output.limit.unwrap_or(usize::MAX));
    let (tally, profiles) = (answers(here.places)?, config::tools(here.places)?);
    let seen = |known: &StoredTool| Answers::of(&tally, known);
    let agreed = Lines::of(store.as_ref(), here, &tools)?;
    let row = |known: &StoredTool| {
        let profile = profile_of(&profiles, &known.server.name, &known.tool, &known.behavior);
        let mut row = row::json(known, seen(known), &profile);
        row["agreed"] = agreed.count(known).into();
        row
    };
    let rows: Vec<_> = tools.iter().map(row).collect();
    let none = match &options.server {
        Some(_) => "No tool of a server with that name was seen: `mcp-approve tools list` names all servers.",
        None => NONE,
    };
    done(print(options.output, &rows, &look.hint(none), out, |out| table(&tools, &seen, &agreed, look, out)))
}

fn table<'t>(
    tools: &[StoredTool],
    seen: &dyn Fn(&StoredTool) -> Answers<'t>,
    agreed: &Lines<'_>,
    look: Look<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let places = agreed.places();
    let remarks = |known: &StoredTool| match (remarks(known), agreed.count(known)) {
        (remarks, 0) => remarks,
        (remarks, count) if remarks.is_empty() => format!("agreed to: {count}"),
        (remarks, count) => format!("{remarks}, agreed to: {count}"),
    };
    let short = |known: &StoredTool| {
        [
            cell(Tone::Quiet, &known.server.name),
            cell(Tone::Strong, &known.tool.name),
            badge(known),
            cell(Tone::Ours, &tag(known)),
            Row::of(Tone::Ours, seen(known).calls().to_string()),
            Row::of(Tone::Warn, remarks(known)),
        ]
    };
    if look.is_wide() {
        let rows = tools.iter().map(|known| {
            let [server, tool, badge, tag, calls, remarks] = short(known);
            let identity = known.behavior.identity;
            let identity = cell(Tone::Quiet, &format!("{} {}", identity.hash(), identity.action.word()));
            let pin = Row::of(Tone::Ours, format!("v{} {}", known.pin.version, known.pin_state.word()));
            let evidence = cell(Tone::Ours, &row::because(&known.behavior));
            [server, tool, badge, identity, tag, pin, calls, evidence, remarks]
        });
        let rows: Vec<_> = rows.collect();
        let titles = ["SERVER", "TOOL", "BADGE", "IDENTITY", "TAG", "PIN", ">RAN", "EVIDENCE", "REMARKS"];
        look.list(titles, &rows, out)?;
    } else {
        let rows: Vec<_> = tools.iter().map(short).collect();
        look.list(["SERVER", "TOOL", "BADGE", "TAG", ">RAN", "REMARKS"], &rows, out)?;
    }
    let likely = tools.iter().filter(|known| super::review::wants_word(known)).count();
    if likely > 0 {
        let them = "of them looks like a read (PURE?) or is new: confirm it|of them look like reads (PURE?) or are new: confirm them";
        writeln!(out, "{} with {}", counted(likely, them), places.command("tools review"))?;
    }
    let waiting = tools.iter().filter(|known| !super::review::reasons(known).is_empty()).count();
    if waiting > 0 {
        let them = counted(waiting, "of them is|of them are");
        writeln!(out, "{them} on the review list: {}", places.command("tools review"))?;
    }
    Ok(())
}

pub(super) fn badge(known: &StoredTool) -> Row {
    let badge = known.behavior.badge();
    Row::of(record_row::look(badge).0, badge.word())
}

/// The tag that a role would name; a dash where the tool's effect is unknown.
pub(super) fn tag(known: &StoredTool) -> String {
    tags::of(&known.behavior, &known.tool.name).pop().unwrap_or_else(|| "-".to_owned())
}

pub(super) fn remarks(known: &StoredTool) -> String {
    let mut words: Vec<&str> = known.behavior.hazards.iter().map(|hazard| hazard.kind.word()).collect();
    if known.behavior.disputed {
        words.push("disputed");
    }
    words.sort_unstable();
    words.dedup();
    words.join(", ")
}
