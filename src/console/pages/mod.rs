//! The rows of the screens beside Waiting and of the panels over all, for drawing and for moving alike. Each screen has a file.

mod activity;
pub mod batch;
mod log;
pub mod maker;
pub mod review;
mod rules;
pub mod servers;
pub(super) mod tools;

use super::desk;
use super::model::{ListState, Model, RuleEntry, Screen, Sought, Subject};
use super::rows::{self, Sides};
use crate::text::row::{Row, Tone, danger, foreign, key, ours, quiet, strong};

/// Calls a function of the open screen's page; the default where the screen has none.
macro_rules! page {
    ($model:ident, $says:ident($($argument:ident),*)) => {
        match $model.screen {
            Screen::Queue | Screen::Detail => Default::default(),
            Screen::Activity => activity::$says($($argument),*),
            Screen::Log => log::$says($($argument),*),
            Screen::Tools => tools::$says($($argument),*),
            Screen::Rules => rules::$says($($argument),*),
            Screen::Servers => servers::$says($($argument),*),
        }
    };
}

pub fn count(model: &Model) -> usize {
    match model.screen {
        Screen::Queue | Screen::Detail => 0,
        Screen::Activity => model.activity.passing().len(),
        Screen::Log => model.log.window.lines.len(),
        Screen::Tools => model.tools.lines.len(),
        Screen::Rules => model.rules.lines.len(),
        Screen::Servers => model.servers.lines.len(),
    }
}

pub fn lines(model: &Model, range: std::ops::Range<usize>, width: usize) -> Vec<Row> {
    page!(model, lines(model, range, width))
}

/// What is above the list: its name and how many, and at the right end what was searched for.
pub fn title(model: &Model) -> (Row, Row) {
    let left: Row = page!(model, title(model));
    let list = model.list(model.screen);
    let find = list.filter(|list| !list.find.is_empty());
    let right = find.map(|list| {
        let find = if list.sought == Sought::Led { short(&list.find) } else { list.find.clone() };
        let row = match &list.problem {
            Some(_) => danger("not applied: /").and_foreign(Tone::Danger, &find),
            None => key("/").and_foreign(Tone::Strong, &find),
        };
        row.ours(" ")
    });
    (left, right.unwrap_or_default())
}

/// A search set by a step from another screen: beside the title, the first of a session's 32 digits are enough.
fn short(find: &str) -> String {
    const ENOUGH: usize = 8;
    match find.split_once("session:=") {
        Some((before, session)) if session.len() > ENOUGH && session.chars().all(|c| c.is_ascii_hexdigit()) => {
            format!("{before}session:={}…", &session[..ENOUGH])
        }
        _ => find.to_owned(),
    }
}

pub fn heading(model: &Model, width: usize) -> Row {
    if count(model) == 0 && desk::instead(model).is_some() {
        return Row::default();
    }
    page!(model, heading(model, width))
}

pub fn foot(model: &Model) -> Row {
    match model.screen {
        Screen::Activity => activity::foot(model),
        Screen::Log => log::foot(model, usize::from(sides(model).list.width)),
        Screen::Queue | Screen::Detail | Screen::Tools | Screen::Rules | Screen::Servers => {
            match &model.tools.forgotten {
                Some(why) if model.screen == Screen::Tools => danger(" ").and_foreign(Tone::Danger, why),
                _ => place(model),
            }
        }
    }
}

pub fn empty(model: &Model) -> Vec<Row> {
    let list = model.list(model.screen);
    if let Some(trouble) = &model.log.trouble
        && model.screen != Screen::Activity
    {
        return vec![danger("The audit log cannot be read."), foreign(Tone::Ours, trouble)];
    }
    if list.is_some_and(|list| !list.find.is_empty()) && model.log.window.awaits.is_none() {
        return vec![strong("No matches."), ours("Esc drops the search, / changes it.")];
    }
    if let Some(words) = desk::instead(model) {
        return words;
    }
    page!(model, empty(model))
}

pub fn sides(model: &Model) -> Sides {
    let body = model.areas().body;
    let has_sheets = !matches!(model.screen, Screen::Queue | Screen::Detail | Screen::Activity);
    rows::sides(body, has_sheets && count(model) > 0)
}

pub fn is_beside(model: &Model) -> bool {
    sides(model).divider.is_some()
}

/// The rows of the sheet that is open, or is beside the list; none if there is no sheet.
pub fn sheet(model: &Model, width: usize) -> Vec<Row> {
    let Some(list) = model.list(model.screen).filter(|list| is_beside(model) || list.sheet.is_some()) else {
        return Vec::new();
    };
    match model.screen {
        Screen::Queue | Screen::Detail | Screen::Activity => Vec::new(),
        Screen::Log => log::sheet(model, width),
        Screen::Tools => tools::sheet(model, list.at, width),
        Screen::Rules => rules::sheet(model, list.at, width),
        Screen::Servers => servers::sheet(model, list.at, width),
    }
}

/// Whether Enter on the selected line reviews it at once.
pub fn is_reviewed(model: &Model) -> bool {
    match model.screen {
        Screen::Rules => {
            matches!(
                model.rules.lines.get(model.rules.list.at),
                Some(RuleEntry::Waits { .. } | RuleEntry::Suggested(_))
            )
        }
        Screen::Tools => {
            model.tools.lines.get(model.tools.list.at).is_some_and(|line| matches!(line.subject, Subject::Page(_)))
        }
        _ => false,
    }
}

fn place(model: &Model) -> Row {
    let count = count(model);
    let at = model.list(model.screen).map_or(0, |list: &ListState| list.at);
    if count == 0 {
        return Row::default();
    }
    quiet(format!(" {} of {count}", at + 1))
}
