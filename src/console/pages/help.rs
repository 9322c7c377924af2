//! The help screen, made from the table of keys.

use ratatui::layout::Rect;

use crate::console::keymap::{BINDINGS, Binding, Keys, Place, SCREENS};
use crate::console::rows::{LEVELS, Panel, below};
use crate::console::screen::content_rows;
use crate::text::row::{Row, Tone, key, ours, strong};

/// The rows from `top` on.
pub fn panel(keys: &Keys, area: Rect, top: usize) -> Panel {
    let mut all = rows(keys, usize::from(area.width));
    let last = below(all.len().saturating_sub(top + content_rows(area)));
    Panel { title: strong(" Keys"), rows: all.split_off(top.min(all.len())), last }
}

/// The screens in the order of help: a key is listed under the first whose places all have it.
const GROUPS: [(&str, &[Place]); 6] = [
    ("Every screen", SCREENS),
    ("The card that waits", &[Place::Queue, Place::Detail]),
    ("The queue", &[Place::Queue]),
    ("Log", &[Place::Log]),
    ("Tools", &[Place::Tools]),
    ("Rules", &[Place::Rules]),
];

/// The keys of one screen under its name.
fn group(name: &str, bindings: &[&Binding], keys: &Keys, width: usize) -> Vec<Row> {
    let mut rows = vec![strong(format!(" {name}"))];
    for binding in bindings {
        let row = key(format!("  {:<6} ", keys.shown(binding))).ours(binding.help);
        rows.extend(row.hung(width.saturating_sub(1), 9));
    }
    rows.push(Row::default());
    rows
}

/// Every row of the help at a given width.
pub fn rows(keys: &Keys, width: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut left: Vec<&Binding> = BINDINGS.iter().collect();
    let mut groups: Vec<(&str, Vec<&Binding>)> = Vec::new();
    for (name, places) in GROUPS {
        let (here, others): (Vec<&Binding>, Vec<&Binding>) =
            left.into_iter().partition(|binding| places.iter().all(|place| binding.places.contains(place)));
        left = others;
        groups.push((name, here));
    }
    groups.push(("Questions and panels", left));
    // Keys that decide come first; those that move are much the same everywhere.
    let every = groups.remove(0);
    groups.insert(2, every);
    rows.extend(groups.iter().flat_map(|(name, bindings)| group(name, bindings, keys, width)));
    let marks = [
        ("○ PURE", Tone::Good, "only reads"),
        ("◇ PURE▲", Tone::Warn, "only reads, but has a hazard"),
        ("● ADDS", Tone::Warn, "makes something new, or changes a part: a approves it"),
        ("◈ REPLACES", Tone::Danger, "replaces or merges what is there: a, then y"),
        ("◆ DELETES", Tone::Danger, "deletes, runs, sends, pays, or does something unknown: a, then y"),
        ("▲", Tone::Warn, "after the word: a hazard, or evidence that disagrees"),
        ("×3", Tone::Warn, "three identical calls in one row"),
        ("␛ ⟨U+202E⟩", Tone::Escape, "a character that a terminal would hide or obey, made visible"),
    ];
    rows.push(strong(" Marks"));
    for (mark, tone, means) in marks {
        let row = ours("  ").and(tone, format!("{mark:<12}")).ours(means);
        rows.extend(row.hung(width.saturating_sub(1), 14));
    }
    rows.push(Row::default());
    rows.push(strong(" Assurance"));
    for (level, promise) in LEVELS {
        let row = ours(format!("  {level}  ")).ours(promise);
        rows.extend(row.hung(width.saturating_sub(1), 6));
    }
    rows
}
