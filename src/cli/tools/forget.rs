//! `mcp-approve tools forget`: takes back what was agreed to. It only tightens, so it needs no terminal.

use std::io::Write;

use super::agreed::{Lines, line, whose};
use super::{named, store};
use crate::cli::args::ToolsForgetOptions;
use crate::cli::error::{Error, Exit, done};
use crate::cli::look::Here;
use crate::cli::print::visible;
use crate::home::agreed::{self, Known};
use crate::pins::PinStore;

/// Takes back what the options name: recorded first, then removed.
pub(super) fn run(options: &ToolsForgetOptions, here: Here<'_>, out: &mut dyn Write) -> Exit {
    let mut store = store(here.places)?;
    let chosen = chosen(options, store.as_ref(), here)?;
    let Some(store) = store.as_mut().filter(|_| !chosen.is_empty()) else {
        return done(writeln!(out, "Nothing was agreed to there."));
    };
    agreed::take_back(store, here.places, &chosen.iter().collect::<Vec<_>>(), here.now)?;
    for one in &chosen {
        writeln!(out, "Taken back: {}: {}", whose(&one.server, &one.kept.agreement.tool), line(one))?;
    }
    done(writeln!(out, "Running servers ask about it again within a second."))
}

fn chosen(options: &ToolsForgetOptions, store: Option<&PinStore>, here: Here<'_>) -> Result<Vec<Known>, Error> {
    // What is kept for a tool that is not remembered can be taken back, too.
    let all = match store {
        Some(store) => agreed::all(store, here.places, here.now)?,
        None => Vec::new(),
    };
    if let Some(server) = &options.server {
        let is_its =
            |one: &Known| one.server == *server || server.len() >= 6 && one.kept.fingerprint.starts_with(server);
        let all: Vec<Known> = all.into_iter().filter(is_its).collect();
        return pick(options, (1..).zip(&all));
    }
    let tools = match named(store, &options.names) {
        Ok(tools) => tools,
        Err(error) => {
            let name = options.names.last().map(String::as_str).unwrap_or_default();
            let all: Vec<Known> = all.into_iter().filter(|one| one.kept.agreement.tool == name).collect();
            if all.is_empty() || options.names.len() > 1 {
                return Err(error);
            }
            return pick(options, (1..).zip(&all));
        }
    };
    if let Some(other) = tools.iter().find(|tool| tool.server.name != tools[0].server.name) {
        let what = format!("{} and {} both have a tool {}", tools[0].server.name, other.server.name, other.tool.name);
        return Err(Error::wrong(what, "name the server before the tool"));
    }
    let lines = Lines::of(store, here, &tools)?;
    if options.line.is_empty() {
        let of_tool = lines.numbered().filter(|(_, one)| !one.kept.agreement.tool.is_empty());
        return Ok(of_tool.map(|(_, one)| one.clone()).collect());
    }
    pick(options, lines.numbered())
}

/// Those that `--line` names; all without it.
fn pick<'k>(
    options: &ToolsForgetOptions,
    lines: impl Iterator<Item = (usize, &'k Known)>,
) -> Result<Vec<Known>, Error> {
    let lines: Vec<(usize, &Known)> = lines.collect();
    if options.line.is_empty() {
        return Ok(lines.into_iter().map(|(_, one)| one.clone()).collect());
    }
    let mut chosen: Vec<Known> = Vec::new();
    for wanted in &options.line {
        let is_it = |(number, one): &&(usize, &Known)| match wanted.parse::<usize>() {
            Ok(wanted) => *number == wanted,
            Err(_) => [one.kept.agreement.says(), visible(&one.kept.agreement.says())].contains(wanted),
        };
        let found: Vec<&(usize, &Known)> = lines.iter().filter(is_it).collect();
        let [(_, one)] = found[..] else {
            let many = if found.is_empty() { "no line is" } else { "several lines are" };
            return Err(Error::wrong(
                format!("{many} {wanted}"),
                "`mcp-approve tools show` numbers them; name the number",
            ));
        };
        if !chosen.contains(one) {
            chosen.push((*one).clone());
        }
    }
    Ok(chosen)
}
