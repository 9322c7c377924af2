//! The banners above every screen (everything passes, a broken policy, wrappers that we cannot talk to), and the text
//! of a desktop notice.

use super::Model;
use crate::console::card::counted;
use crate::text::row::{Row, Tone, danger, foreign, warn};

/// Errors of `config.toml` that are named: more would leave no room for calls.
const PROBLEMS: usize = 2;

impl Model {
    /// The banners, wrapped to the screen's width.
    pub fn banners(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        let observed = self.wrappers.iter().filter(|one| one.wrapper.observe).map(|one| one.wrapper.server.as_str());
        if let Some(names) = names(Tone::Strong, &observed.collect::<Vec<_>>()) {
            let row = Row::of(Tone::Loud, " OBSERVE ").ours(" ").joined(names);
            rows.push(row.danger(": every call passes without a question and is only recorded"));
        }
        let said =
            self.wrappers.iter().filter_map(|one| Some((one.status.banner.as_deref()?, one.wrapper.server.as_str())));
        for (banner, servers) in by_cause(said) {
            // A banner for every server needs no names.
            let all = servers.len() == self.wrappers.len() && servers.len() > 1;
            let names = names(Tone::Strong, &servers).filter(|_| !all).map(|names| names.warn(": "));
            let row = warn(" ▲ ").joined(names.unwrap_or_default());
            rows.push(row.and_foreign(Tone::Warn, banner));
        }
        let versions =
            self.incompatible.iter().map(|other| ((other.version.as_str(), other.protocol), other.name.as_str()));
        for ((version, protocol), servers) in by_cause(versions) {
            let row = danger(" ▲ ").joined(names(Tone::Strong, &servers).unwrap_or_default());
            let wrapper = if servers.len() == 1 { "its wrapper is" } else { "their wrappers are" };
            let row = row.danger(format!(": {wrapper} version ")).and_foreign(Tone::Danger, version);
            let words = format!(" (protocol {protocol}), this console {}: restart the host", self.settings.version);
            rows.push(row.danger(words));
        }
        for problem in self.settings.problems.iter().take(PROBLEMS) {
            rows.push(warn(" ▲ ").and_foreign(Tone::Warn, problem));
        }
        if let more @ 1.. = self.settings.problems.len().saturating_sub(PROBLEMS) {
            let row = warn(format!(" ▲ and {}: ", counted(more, "more error")));
            rows.push(row.key(self.hint("mcp-approve doctor")).warn(" lists them"));
        }
        if let Some(trouble) = &self.trouble {
            rows.push(danger(" ▲ ").and_foreign(Tone::Danger, trouble));
        }
        let width = usize::from(self.size.0);
        rows.into_iter().flat_map(|row| row.hung(width, 3)).collect()
    }

    /// The words of a notice, on one line without a control character: server and effect of the last call that came.
    pub fn notice(&self) -> String {
        /// Desktops cut longer ones anywhere.
        const LONGEST: usize = 160;
        let Some(last) = self.calls.iter().rev().find(|held| held.waits()) else { return "no call waits".to_owned() };
        let (server, effect) = (foreign(Tone::Ours, &last.snapshot.server), foreign(Tone::Ours, &last.snapshot.effect));
        let more = match self.waiting() {
            0 | 1 => String::new(),
            waiting => format!(" · {} more wait", waiting - 1),
        };
        let row = server.ours(": ").joined(effect).clipped(LONGEST.saturating_sub(more.len()));
        row.text() + &more
    }
}

/// The names of servers, as many as one row may hold.
fn names(tone: Tone, servers: &[&str]) -> Option<Row> {
    const MOST: usize = 3;
    let (first, rest) = servers.split_first()?;
    let mut row = foreign(tone, first);
    for name in rest.iter().take(MOST - 1) {
        row = row.quiet(", ").and_foreign(tone, name);
    }
    let more = servers.len().saturating_sub(MOST);
    Some(if more > 0 { row.quiet(format!(" and {more} more")) } else { row })
}

/// Each cause once, with the names it is given for, in the order in which the causes first appear.
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
