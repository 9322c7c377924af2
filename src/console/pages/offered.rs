//! The page of a server as rows: what reads, what is new about it, what changes something; with its marks. Decides nothing.

use crate::console::caption::caption;
use crate::console::model::OpenPage;
use crate::pins::page::{Group, Line, Offer};
use crate::policy::rule::FirstUse;
use crate::text::columns::NameColumn;
use crate::text::row::{Row, Tone, good, key, ours, quiet, warn};

/// Columns before a tool's name: the selection and the mark.
const LEADING: usize = 7;

/// The rows of the page.
pub fn rows(open: &OpenPage, width: usize) -> Vec<Row> {
    lines(open, width).into_iter().map(|(_, row)| row).collect()
}

/// The rows of the page, each with the place of its line.
pub(in crate::console) fn lines(open: &OpenPage, width: usize) -> Vec<(Option<usize>, Row)> {
    let all = &open.page.lines;
    let names = || all.iter().map(|line| line.tool.as_str());
    let name = NameColumn::of(names(), (width / 3).min(32));
    let mut rows = Vec::new();
    for group in Group::ALL {
        let of_group = || all.iter().enumerate().filter(|(_, line)| line.group == *group);
        if !rows.is_empty() {
            rows.push((None, Row::default()));
        }
        let (title, note) = heading(open, *group);
        rows.push((None, caption(title, &note, width)));
        if of_group().next().is_none() {
            rows.push((None, quiet(" ".repeat(LEADING)).quiet(nothing(*group))));
        }
        for (at, line) in of_group() {
            let own =
                row(open, at, line, &name).hung(width, LEADING + if line.tool.is_empty() { 2 } else { name.width + 2 });
            rows.extend(own.into_iter().map(|row| (Some(at), row)));
        }
    }
    rows
}

fn row(open: &OpenPage, at: usize, line: &Line, name: &NameColumn) -> Row {
    let row = if open.at == at { key(" ▸ ") } else { ours("   ") };
    let row = match line.offer {
        Offer::Nothing => row.ours("    "),
        Offer::Agreed => row.joined(good(" ✓  ")),
        Offer::Agree(_) | Offer::Reads(_) if open.marked.contains(&at) => row.joined(key("[x] ")),
        Offer::Agree(_) | Offer::Reads(_) => row.joined(key("[ ] ")),
    };
    let tone = if line.group == Group::Changes { Tone::Quiet } else { Tone::Strong };
    let row =
        if line.tool.is_empty() { row } else { row.joined(name.cell(tone, &line.tool).padded(name.width)).ours("  ") };
    match line.group {
        Group::Reads | Group::New => row.and_foreign(Tone::Ours, &line.says),
        Group::Changes => row.joined(warn("● ")).and_foreign(Tone::Quiet, &line.says),
    }
}

fn heading(open: &OpenPage, group: Group) -> (&'static str, String) {
    match group {
        Group::Reads => {
            let of_group = |at: &&usize| open.page.lines.get(**at).is_some_and(|line| line.group == Group::Reads);
            let marked = open.marked.iter().filter(of_group).count();
            let asks = match open.page.first_use {
                FirstUse::AskOnce => "each asks once until you agree",
                FirstUse::Allow => "run unasked; what is not sure asks once",
            };
            ("reads", format!("{asks} · {marked} marked"))
        }
        Group::New => ("what is new about them", "asks once, unless you agree to it here".to_owned()),
        Group::Changes => ("what changes something", "asks each time".to_owned()),
    }
}

fn nothing(group: Group) -> &'static str {
    match group {
        Group::Reads => "No tool of this server is known to read: each call asks.",
        Group::New => "The definitions tell of nothing that would be new.",
        Group::Changes => "Nothing.",
    }
}
