//! The table of keys as a person reads it: the help screen, and the commands behind `:`. Runs nothing.

use ratatui::layout::Rect;

use super::desk::is_elsewhere;
use super::keymap::{Action, BINDINGS, Binding, Keys, Place, SCREENS, decides};
use super::model::{Model, Overlay, Palette, Screen};
use super::risk::legend;
use super::rows::{LEVELS, Panel, below, content_rows};
use crate::text::row::{Row, Tone, key, ours, strong};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryAction {
    /// As if its key were pressed.
    Press(Action),
    /// It decides a call, so only its own key does it, on the screen with the call.
    OnlyItsKey(&'static str),
    Quiet,
    Theme(Palette),
    Verify,
    Tour,
    Search(Screen, String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub keys: String,
    pub help: String,
    pub action: EntryAction,
}

/// The commands that `text` may mean, the likeliest first; all where it is empty.
pub fn entries(model: &Model, text: &str) -> Vec<Entry> {
    for (word, screen) in SEARCHES {
        if let Some(find) = text.strip_prefix(word).and_then(|rest| rest.strip_prefix(' ')) {
            let (name, keys) = (format!("{word} {find}"), String::new());
            let help = format!("{screen:?} with this search.");
            return vec![Entry { name, keys, help, action: EntryAction::Search(screen, find.trim().to_owned()) }];
        }
    }
    if text.trim().is_empty() {
        return all(model);
    }
    let mut found: Vec<(i32, Entry)> = all(model)
        .into_iter()
        .filter_map(|entry| {
            // Its name counts more than its help.
            let by_name = score(&entry.name, text).map(|score| score * 4);
            by_name.or_else(|| mentions(&entry.help, text).then_some(i32::MIN)).map(|score| (score, entry))
        })
        .collect();
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    found.into_iter().map(|(_, entry)| entry).collect()
}

const SEARCHES: [(&str, Screen); 5] = [
    ("activity", Screen::Activity),
    ("log", Screen::Log),
    ("tools", Screen::Tools),
    ("rules", Screen::Rules),
    ("servers", Screen::Servers),
];

fn all(model: &Model) -> Vec<Entry> {
    let entry = |name: &str, help: &str, action: EntryAction| Entry {
        name: name.to_owned(),
        keys: String::new(),
        help: help.to_owned(),
        action,
    };
    let search =
        |name: &str, help: &str, find: &str| entry(name, help, EntryAction::Search(Screen::Log, find.to_owned()));
    // An action that only answers a question, or continues another, is not a command.
    let goes_on = [Action::Palette, Action::Back, Action::NextHit, Action::PreviousHit];
    let useful = |binding: &&Binding| {
        binding.places.iter().any(|place| SCREENS.contains(place))
            && !goes_on.contains(&binding.action)
            && !is_elsewhere(model, binding.action)
    };
    let mut entries: Vec<Entry> = BINDINGS
        .iter()
        .filter(useful)
        .map(|binding| Entry {
            name: binding.name.to_owned(),
            keys: model.settings.keys.shown(binding).to_owned(),
            help: binding.help.to_owned(),
            action: if decides(binding.action) {
                EntryAction::OnlyItsKey(binding.name)
            } else {
                EntryAction::Press(binding.action)
            },
        })
        .collect();
    entries.extend([
        entry("quiet", "No bell and no notice until it is chosen again.", EntryAction::Quiet),
        entry("verify", "Checks the chain of the whole log.", EntryAction::Verify),
        search("denied", "What was denied, from the log.", "kind:decision verdict:deny"),
        search("approved by me", "What operators approved, from the log.", "kind:decision verdict:approve by:operator"),
        search("today", "What was decided in the last 24 hours, from the log.", "kind:decision since:1d"),
        search("faults", "What went wrong, from the log.", "kind:fault"),
        entry("theme dark", "Colours for a dark terminal.", EntryAction::Theme(Palette::Colours)),
        entry("theme light", "Colours for a light terminal.", EntryAction::Theme(Palette::Light)),
        entry(
            "theme colour-blind",
            "Cyan, yellow and pink instead of red and green.",
            EntryAction::Theme(Palette::Safe),
        ),
        entry("theme none", "No colours.", EntryAction::Theme(Palette::Monochrome)),
        entry("tour", "Shows the five lines for a first look again.", EntryAction::Tour),
    ]);
    entries
}

/// How well `text` fits: its letters in this order, better at beginnings and side by side. `None` when they are not there.
fn score(name: &str, text: &str) -> Option<i32> {
    let mut score = 0;
    let mut letters = name.char_indices().peekable();
    let mut last: Option<usize> = None;
    for wanted in text.trim().chars().flat_map(char::to_lowercase) {
        let (at, _) = letters.find(|(_, letter)| letter.to_lowercase().eq(std::iter::once(wanted)))?;
        let begins = at == 0 || name[..at].ends_with([' ', '-']);
        let follows = last.is_some_and(|last| last + 1 == at);
        score += 1 + if begins { 6 } else { 0 } + if follows { 4 } else { 0 };
        last = Some(at);
    }
    // If two fit equally well, the shorter one goes first.
    Some(score * 8 - i32::try_from(name.len().min(100)).unwrap_or(0))
}

/// Whether each word begins a word of the sentence: scattered letters are in every one, and Enter would run it.
fn mentions(help: &str, text: &str) -> bool {
    let words = |text: &str| text.to_lowercase().split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let said = words(help);
    words(text).iter().all(|wanted| said.iter().any(|word| word.starts_with(wanted)))
}

pub fn help(model: &Model, area: Rect, top: usize) -> Panel {
    let mut all = help_rows(model, usize::from(area.width));
    let last = below(all.len().saturating_sub(top + content_rows(area)));
    Panel { title: strong(" Keys"), rows: all.split_off(top.min(all.len())), last }
}

fn card_words(model: &Model, width: usize) -> Vec<Row> {
    const WORDS: usize = 14;
    let on_card = matches!(model.screen, Screen::Queue | Screen::Detail);
    let Some(held) = model.queue.selection().filter(|_| on_card) else { return Vec::new() };
    let mut rows = vec![strong(" This card")];
    for (word, means) in legend(&held.snapshot) {
        let row = ours("  ").joined(Row { runs: vec![word] });
        let gap = if row.width() < WORDS { row.padded(WORDS) } else { row.ours("  ") };
        rows.extend(gap.ours(means).hung(width.saturating_sub(1), WORDS));
    }
    rows.push(Row::default());
    rows
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

fn group(name: &str, bindings: &[&Binding], keys: &Keys, width: usize) -> Vec<Row> {
    let mut rows = vec![strong(format!(" {name}"))];
    for binding in bindings {
        let row = key(format!("  {:<6} ", keys.shown(binding))).ours(binding.help);
        rows.extend(row.hung(width.saturating_sub(1), 9));
    }
    rows.push(Row::default());
    rows
}

pub fn help_rows(model: &Model, width: usize) -> Vec<Row> {
    let keys = &model.settings.keys;
    let list: Vec<&Binding> = BINDINGS.iter().filter(|binding| binding.places.contains(&Place::Batch)).collect();
    let mut rows = match &model.overlay {
        Some(Overlay::Help { under: Some(under), .. }) if matches!(**under, Overlay::Batch(_)) => {
            group("This list of calls", &list, keys, width)
        }
        _ => card_words(model, width),
    };
    let mut left: Vec<&Binding> = BINDINGS.iter().filter(|binding| !is_elsewhere(model, binding.action)).collect();
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
