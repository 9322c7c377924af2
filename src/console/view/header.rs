//! The first line: the product, what waits, and how much the assurance level promises.

use super::ends;
use crate::audit::record::Assurance;
use crate::console::card::{counted, grouped};
use crate::console::model::Model;
use crate::console::row::{Row, Tone, quiet, strong};

/// The line at a given width.
pub(super) fn row(model: &Model, width: u16) -> Row {
    let width = usize::from(width);
    let waiting = model.waiting();
    let mut name = strong(" mcp-approve");
    if waiting > 0 {
        name.push(Tone::Warn, format!("  {} waiting", grouped(waiting)));
    } else {
        name.push(Tone::Quiet, "  none waiting");
    }
    let servers = format!(" · {}", counted(model.wrappers.len(), "server"));
    // The weakest of all wrappers; with none there is nothing to promise.
    let levels = model.wrappers.iter().map(|connected| connected.wrapper.assurance);
    let level = levels.min().unwrap_or(Assurance::L0);
    let promise = quiet(format!("{}: {}", level.word(), promise(level)));
    let level = quiet(level.word());
    let counted = name.clone().quiet(servers);
    // What the level promises matters more than the number of servers.
    let choices =
        [(counted.clone(), promise.clone()), (name.clone(), promise), (counted, level.clone()), (name, level)];
    choices
        .into_iter()
        .map(|(left, right)| (left, right.ours(" ")))
        .find(|(left, right)| left.width() + right.width() < width)
        .map(|(left, right)| ends(left, right, width))
        .unwrap_or_else(|| strong(" mcp-approve"))
}

/// The levels of the threat model, and what each does and does not do.
pub(super) const LEVELS: [(&str, &str); 4] = [
    ("L0", "stops mistakes, not an agent with a shell"),
    ("L1", "a verdict needs your key"),
    ("L2", "agent and log are apart"),
    ("L3", "credentials are on another machine"),
];

/// What a level that wrappers have does and does not do.
pub(in crate::console) fn promise(level: Assurance) -> &'static str {
    match level {
        Assurance::L0 => LEVELS[0].1,
    }
}
