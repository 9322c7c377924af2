//! What is agreed to for tools and their servers, as commands list it: each line has its number.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::audit::moment::rfc3339;
use crate::cli::error::Error;
use crate::cli::look::Here;
use crate::cli::print::visible;
use crate::home::agreed::{self, Known};
use crate::home::places::Places;
use crate::pins::PinStore;
use crate::pins::reading::StoredTool;

/// The lines of some tools, numbered from 1.
pub(super) struct Lines<'p> {
    known: Vec<Known>,
    places: &'p Places,
}

impl<'p> Lines<'p> {
    /// What is agreed to for these tools: what is about one of them first, then what is about its server or every server.
    pub(super) fn of(store: Option<&PinStore>, here: Here<'p>, tools: &[StoredTool]) -> Result<Self, Error> {
        let mut known = match store {
            Some(store) => agreed::all(store, here.places, here.now)?,
            None => Vec::new(),
        };
        known.retain(|one| tools.iter().any(|tool| concerns(one, tool)));
        known.sort_by_key(Known::order);
        Ok(Self { known, places: here.places })
    }

    pub(super) fn places(&self) -> &'p Places {
        self.places
    }

    /// Each with its number.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, &Known)> {
        (1..).zip(&self.known)
    }

    /// How many count that are about this very tool.
    pub(super) fn count(&self, tool: &StoredTool) -> usize {
        let is_its = |one: &&Known| !one.kept.agreement.tool.is_empty() && concerns(one, tool);
        self.known.iter().filter(is_its).filter(|one| one.trouble().is_none()).count()
    }

    /// Those of one tool, as JSON.
    pub(super) fn json(&self, tool: &StoredTool) -> Value {
        let its = self.numbered().filter(|(_, one)| concerns(one, tool));
        its.map(|(number, one)| {
            let mut row = json!(one.kept.agreement);
            row["number"] = number.into();
            row["says"] = one.kept.agreement.says().into();
            row["since"] = rfc3339(one.kept.since).into();
            row["last_used"] = day(one.last_used()).into();
            row["counts"] = one.trouble().is_none().into();
            row["trouble"] = one.trouble().into();
            row
        })
        .collect()
    }

    /// Prints those of one tool.
    pub(super) fn print(&self, tool: &StoredTool, out: &mut dyn Write) -> io::Result<()> {
        for (is_of_tool, label) in [(true, "agreed to"), (false, "its server")] {
            let its = self
                .numbered()
                .filter(|(_, one)| concerns(one, tool) && one.kept.agreement.tool.is_empty() != is_of_tool);
            for (at, (number, one)) in its.enumerate() {
                let label = if at == 0 { label } else { "" };
                writeln!(out, "  {label:12} {number:>3}  {}", line(one))?;
            }
        }
        Ok(())
    }
}

/// One agreement in a line, fit for a terminal.
pub(super) fn line(one: &Known) -> String {
    let trouble = one.trouble().map(|trouble| format!("; {trouble}")).unwrap_or_default();
    let (since, used) = (day(one.kept.since), day(one.last_used()));
    format!("{} (since {since}, last used {used}{trouble})", visible(&one.kept.agreement.says()))
}

/// The server and the tool that something is agreed to for, fit for a terminal.
pub(super) fn whose(server: &str, tool: &str) -> String {
    let of: Vec<String> = [server, tool].into_iter().filter(|text| !text.is_empty()).map(visible).collect();
    if of.is_empty() { "every server".to_owned() } else { of.join(" / ") }
}

fn day(millis: i64) -> String {
    rfc3339(millis).split('T').next().unwrap_or_default().to_owned()
}

/// Whether an agreement is about a tool, its server or every server.
fn concerns(one: &Known, tool: &StoredTool) -> bool {
    one.concerns(&tool.server.fingerprint, Some(&tool.tool.name))
}
