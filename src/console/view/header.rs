//! The first line: the product, what waits, and how much the assurance level promises.

use super::ends;
use crate::console::card::counted;
use crate::console::model::Model;
use crate::console::row::{Row, Tone};

/// The line at a given width.
pub(super) fn row(model: &Model, width: u16) -> Row {
    let width = usize::from(width);
    let waiting = model.waiting();
    let mut left = Row::of(Tone::Strong, " mcp-approve");
    if waiting > 0 {
        left.push(Tone::Warn, format!("  {waiting} waiting"));
    } else {
        left.push(Tone::Quiet, "  none waiting");
    }
    if width >= 60 {
        let servers = counted(model.wrappers.len(), "server");
        left.push(Tone::Quiet, format!(" · {servers}"));
    }
    let levels = model
        .wrappers
        .iter()
        .map(|connected| connected.wrapper.assurance.as_str());
    // The weakest of all wrappers; with none there is nothing to promise.
    let level = levels.min().unwrap_or("L0");
    let room = width.saturating_sub(left.width() + 2);
    let promise = [format!("{level}: {}", promise(level)), level.to_owned()]
        .into_iter()
        .map(|words| Row::default().and_foreign(Tone::Quiet, &words))
        .find(|row| row.width() < room)
        .unwrap_or_default();
    ends(left, promise.and(Tone::Ours, " "), width)
}

/// What a level does and does not do, in the words of the threat model.
pub(super) fn promise(level: &str) -> &'static str {
    match level {
        "L0" => "stops mistakes, not an agent with a shell",
        "L1" => "a verdict needs your key",
        "L2" => "agent and log are apart",
        "L3" => "credentials are on another machine",
        _ => "unknown level: promises nothing",
    }
}
