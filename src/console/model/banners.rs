//! What must be said above everything (everything passes, a broken policy, wrappers we cannot talk to), and in a notice of
//! the desktop.

use super::Model;
use crate::console::card::counted;
use crate::console::columns::cell;
use crate::console::row::{Row, Tone};

/// Errors of `config.toml` that are named: more would leave no room for calls.
const PROBLEMS: usize = 2;

impl Model {
    /// The banners, wrapped to the screen's width.
    pub fn banners(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        let observed = self.wrappers.iter().filter(|one| one.wrapper.observe).map(|one| one.wrapper.server.as_str());
        if let Some(names) = names(Tone::Strong, &observed.collect::<Vec<_>>()) {
            let row = Row::of(Tone::Loud, " OBSERVE ").and(Tone::Ours, " ").joined(names);
            rows.push(row.and(Tone::Danger, ": every call passes without a question and is only recorded"));
        }
        let said =
            self.wrappers.iter().filter_map(|one| Some((one.status.banner.as_deref()?, one.wrapper.server.as_str())));
        for (banner, servers) in by_cause(said) {
            // What is true of every server needs no names.
            let all = servers.len() == self.wrappers.len() && servers.len() > 1;
            let names = names(Tone::Strong, &servers).filter(|_| !all).map(|names| names.and(Tone::Warn, ": "));
            let row = Row::of(Tone::Warn, " ▲ ").joined(names.unwrap_or_default());
            rows.push(row.and_foreign(Tone::Warn, banner));
        }
        let versions =
            self.incompatible.iter().map(|other| ((other.version.as_str(), other.protocol), other.name.as_str()));
        for ((version, protocol), servers) in by_cause(versions) {
            let row = Row::of(Tone::Danger, " ▲ ").joined(names(Tone::Strong, &servers).unwrap_or_default());
            let wrapper = if servers.len() == 1 { "its wrapper is" } else { "their wrappers are" };
            let row = row.and(Tone::Danger, format!(": {wrapper} version ")).and_foreign(Tone::Danger, version);
            let words = format!(" (protocol {protocol}), this console {}: restart the host", self.settings.version);
            rows.push(row.and(Tone::Danger, words));
        }
        for problem in self.settings.problems.iter().take(PROBLEMS) {
            rows.push(Row::of(Tone::Warn, " ▲ ").and_foreign(Tone::Warn, problem));
        }
        if let more @ 1.. = self.settings.problems.len().saturating_sub(PROBLEMS) {
            let row = Row::of(Tone::Warn, format!(" ▲ and {}: ", counted(more, "more error")));
            rows.push(row.and(Tone::Key, self.hint("mcp-approve doctor")).and(Tone::Warn, " lists them"));
        }
        if let Some(trouble) = &self.trouble {
            rows.push(Row::of(Tone::Danger, " ▲ ").and_foreign(Tone::Danger, trouble));
        }
        let width = usize::from(self.size.0);
        rows.into_iter().flat_map(|row| row.hung(width, 3)).collect()
    }
}

/// A notice has so many columns: desktops cut longer ones anywhere.
const LONGEST: usize = 160;

impl Model {
    /// The words of a notice, on one line without a control character: server and effect of the last call that came.
    pub fn notice(&self) -> String {
        let Some(last) = self.calls.iter().rev().find(|held| held.waits()) else { return "no call waits".to_owned() };
        let (server, effect) = (cell(Tone::Ours, &last.snapshot.server), cell(Tone::Ours, &last.snapshot.effect));
        let more = match self.waiting() {
            0 | 1 => String::new(),
            waiting => format!(" · {} more wait", waiting - 1),
        };
        let row = server.and(Tone::Ours, ": ").joined(effect).clipped(LONGEST.saturating_sub(more.len()));
        row.text() + &more
    }
}

/// The names of servers, as many as one row may hold.
fn names(tone: Tone, servers: &[&str]) -> Option<Row> {
    const MOST: usize = 3;
    let (first, rest) = servers.split_first()?;
    let mut row = Row::default().and_foreign(tone, first);
    for name in rest.iter().take(MOST - 1) {
        row = row.and(Tone::Quiet, ", ").and_foreign(tone, name);
    }
    let more = servers.len().saturating_sub(MOST);
    Some(if more > 0 { row.and(Tone::Quiet, format!(" and {more} more")) } else { row })
}

/// What is said, each once, with everyone it is said of; in the order in which it was said first.
fn by_cause<'a, C: PartialEq>(said: impl Iterator<Item = (C, &'a str)>) -> Vec<(C, Vec<&'a str>)> {
    let mut causes: Vec<(C, Vec<&str>)> = Vec::new();
    for (cause, name) in said {
        match causes.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, names)) => names.push(name),
            None => causes.push((cause, vec![name])),
        }
    }
    causes
}
