//! The question at the bottom of the screen: is a dangerous approval meant, why is a call denied, what is wrong with an edit.
//!
//! Its rows are needed for drawing and, by their number, for placing everything else.

use super::card::counted;
use super::model::{Armed, Model, Overlay, Process, Reading, Screen, Seen, Tour};
use super::palette;
use crate::text::row::{Row, Tone, danger, foreign, key, ours, quiet, warn};

/// The rows of the open question at the screen's width; none when nothing is asked.
pub fn rows(model: &Model) -> Vec<Row> {
    let width = usize::from(model.size.0);
    let rows = match &model.overlay {
        Some(Overlay::Confirm { armed, reading }) => confirm(model, armed, *reading),
        Some(Overlay::Word { armed, reading, text }) => {
            let mut rows = confirm(model, armed, *reading);
            // In little room, what is being typed goes first.
            rows.splice(1..1, model.word(armed).map(|word| typing(&word, text)));
            rows
        }
        Some(Overlay::Reason { members, text, .. }) => reason(model, members, text, width),
        Some(Overlay::Find { text }) => {
            vec![key(" / ").and_foreign(Tone::Strong, text).key("▏"), find_hint(model)]
        }
        Some(Overlay::Unreadable { armed, problem, .. }) => vec![
            heading(Tone::Warn, "The edited arguments cannot be sent", armed),
            ours(" ").and_foreign(Tone::Danger, problem),
            quiet(" Nothing was sent; the call still waits as it was."),
        ],
        Some(Overlay::Leave) => vec![
            warn(format!(" {} for you. Leave the console?", waits(model.waiting()))),
            quiet(match model.settings.process {
                Process::Demo => " The demo ends with its console: its agent withdraws them, and none of them runs.",
                Process::Own | Process::Shared => {
                    " They stay held until their deadline, or until another console decides them."
                }
            }),
        ],
        Some(Overlay::Search { text, .. }) => search(model, text, width),
        Some(Overlay::Palette { text, at }) => return choices(model, text, *at, width),
        Some(Overlay::Help { .. } | Overlay::Batch(_) | Overlay::Rule(_) | Overlay::Review(_)) => Vec::new(),
        None => tour(model),
    };
    rows.into_iter().flat_map(|row| row.hung(width, 1)).collect()
}

fn waits(calls: usize) -> String {
    format!("{} {}", counted(calls, "call"), if calls == 1 { "still waits" } else { "still wait" })
}

fn confirm(model: &Model, armed: &Armed, reading: Reading) -> Vec<Row> {
    let Some(held) = model.still(armed) else {
        return vec![over(armed)];
    };
    let why = held.snapshot.danger.as_deref().unwrap_or_default();
    let question = match (reading, held.seen) {
        (Reading::Unread, _) | (_, Seen::Partly) => "Approve this dangerous call UNREAD?".to_owned(),
        (Reading::Read, Seen::Skipping(rows)) => {
            format!("Approve this dangerous call? {} skipped.", counted(rows, "row"))
        }
        (Reading::Read, Seen::Whole) => "Approve this dangerous call?".to_owned(),
    };
    vec![
        heading(Tone::Danger, &question, armed),
        ours(" ").and_foreign(Tone::Strong, model.effect_of(held)),
        danger(" ◆ ").and_foreign(Tone::Danger, why),
    ]
}

/// What was typed of the word, and whether it is right so far.
fn typing(word: &str, text: &str) -> Row {
    let row = ours(" Type ").key(word).ours(" to approve it: ");
    let tone = if word.starts_with(text) { Tone::Strong } else { Tone::Danger };
    row.and_foreign(tone, text).key("▏").quiet(" its last letter sends it")
}

fn reason(model: &Model, members: &[Armed], text: &str, width: usize) -> Vec<Row> {
    let heading = match members {
        // What is typed is still text, and stays in sight.
        [armed] if model.waits(armed).is_none() => return vec![over(armed), written((" › ", " … "), text, width)],
        [armed] => heading(Tone::Ours, "Deny, because", armed),
        many => {
            ours(format!(" Deny {} calls, because", many.len())).quiet("  · each is listed before anything is sent")
        }
    };
    let last = match model.reasons.front() {
        Some(reason) if text.is_empty() => {
            let told = quiet(" The agent reads the reason. ").key("↑");
            told.quiet(" takes the last: ").and_foreign(Tone::Ours, reason).clipped(width)
        }
        _ => quiet(" The agent reads the reason. It may stay empty."),
    };
    vec![heading, written((" › ", " … "), text, width), last]
}

fn find_hint(model: &Model) -> Row {
    match model.sought.as_str() {
        "" => quiet(" Words anywhere on the card, whatever their case; n goes to the next match, N to the one before."),
        last => quiet(" Enter alone looks again for ").and_foreign(Tone::Ours, last),
    }
}

/// The text being written, with the cursor, which stays visible: of a long text the end is shown, after another mark.
fn written((mark, mark_of_end): (&str, &str), text: &str, width: usize) -> Row {
    let shown = foreign(Tone::Strong, text);
    let mut rows = shown.wrapped(width.saturating_sub(4).max(1));
    let line = rows.pop().unwrap_or_default();
    key(if rows.is_empty() { mark } else { mark_of_end }).joined(line).key("▏")
}

fn search(model: &Model, text: &str, width: usize) -> Vec<Row> {
    let problem = model.browse.list(model.screen).and_then(|list| list.problem.as_deref());
    let hint = match problem {
        Some(problem) => ours(" ").and_foreign(Tone::Danger, problem),
        None => {
            let words = " words, tool: server: verdict: by: rule: badge: kind: since:1d until: -not";
            quiet(words).clipped(width)
        }
    };
    vec![written((" / ", " / "), text, width), hint]
}

/// The commands around the chosen one.
fn choices(model: &Model, text: &str, at: usize, width: usize) -> Vec<Row> {
    let room = usize::from(model.size.1 / 2).clamp(3, 12);
    let entries = palette::entries(model, text);
    let top = (at + 1).saturating_sub(room);
    let mut rows = vec![written((" : ", " : "), text, width)];
    for (place, entry) in entries.iter().enumerate().skip(top).take(room) {
        let chosen = place == at;
        let row = key(if chosen { " ▸ " } else { "   " });
        let name = foreign(if chosen { Tone::Strong } else { Tone::Ours }, &entry.name);
        let row = row.joined(name.padded(20)).key(format!(" {:<6}", entry.keys));
        rows.push(row.ours(" ").and_foreign(Tone::Quiet, &entry.help).clipped(width));
    }
    if entries.is_empty() {
        rows.push(warn("   No matches."));
    }
    rows
}

/// Whether the lines for a first look are on screen.
pub fn shows_tour(model: &Model) -> bool {
    model.settings.tour == Tour::Shown && model.screen == Screen::Queue && model.size.1 >= 16
}

/// The five lines for a first look, if they leave room for what matters.
fn tour(model: &Model) -> Vec<Row> {
    if !shows_tour(model) {
        return Vec::new();
    }
    if !model.calls.is_empty() && model.size.1 < 36 {
        // A call that waits needs the room.
        let row = key(" a").ours(" approve ·").key(" d").ours(" deny ·").key(" 2").ours(" what passes ·");
        let row = row.key(" 3").ours(" log ·").key(" ?").ours(" keys ·");
        return vec![row.key(" Esc").ours(" hides this for good")];
    }
    let line = |keys: &str, words: &str| key(format!(" {keys:<6}")).ours(words);
    vec![
        line("a d", "approve or deny the call on screen; a dangerous one takes a, then y"),
        line("1 2", "what waits for you, and everything that passes by policy"),
        line("3", "who decided what, and when: every call is in the log"),
        line("4 5 6", "the tools, the rules and the servers that are known"),
        line("? :", "every key, every command").quiet(" · ").key("Esc").quiet(" dismisses these lines for good"),
    ]
}

fn heading(tone: Tone, words: &str, armed: &Armed) -> Row {
    let row = Row::of(tone, format!(" {words} "));
    row.quiet(" ").and_foreign(Tone::Quiet, &armed.key().ticket)
}

fn over(armed: &Armed) -> Row {
    let row = warn(" Too late: ").and_foreign(Tone::Ours, &armed.key().ticket);
    row.ours(" no longer waits as it was shown. Nothing will be sent.")
}
