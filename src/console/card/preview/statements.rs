//! Statements and commands as the gate read them: one after the other, their words marked. Reads no text itself: what is
//! shown here is what the badge, the queue and the log say, word by word.

use super::bordered;
use crate::behavior::arguments::effect::Language;
use crate::behavior::arguments::reading::{Part, Reading, Weight, Word, WordKind};
use crate::console::caption::caption;
use crate::console::card::counted;
use crate::text::row::{Row, Tone, foreign, ours, quiet, warn};

/// The rows for all texts that were read, and for those that were not.
pub(super) fn rows(readings: &[Reading], width: usize) -> Vec<Row> {
    readings.iter().flat_map(|reading| of(reading, width)).collect()
}

fn of(reading: &Reading, width: usize) -> Vec<Row> {
    let is_shell = reading.analysis.language == Language::Shell;
    let (name, one) = if is_shell { ("commands", "command") } else { ("statements", "statement") };
    let mut rows = vec![caption(name, &format!("in {}", reading.analysis.argument), width)];
    if reading.parts.is_empty() {
        rows.extend(unread(reading, name, width));
        return rows;
    }
    let numbered = reading.parts.len() > 1;
    for (i, part) in reading.parts.iter().enumerate() {
        if is_shell {
            rows.extend(bordered(command(&reading.text, part), width));
            continue;
        }
        let number = if numbered { format!("{}. ", i + 1) } else { String::new() };
        let says = quiet(number).and_foreign(tone(part.weight), &part.says);
        rows.extend(bordered(says, width));
        rows.extend(bordered(statement(&reading.text, part), width));
    }
    if reading.more > 0 {
        let words = format!("… {} in the arguments below", counted(reading.more, &format!("more {one}")));
        let marked = if reading.grave > 0 { format!(", {} of them marked", reading.grave) } else { String::new() };
        rows.extend(bordered(warn(words + &marked), width));
    }
    rows
}

/// A text that could not be split into statements: nothing is said of its parts.
fn unread(reading: &Reading, name: &str, width: usize) -> Vec<Row> {
    let shown =
        if reading.text.is_empty() { "the arguments below show all of it" } else { "it is shown as it was sent" };
    let mut rows = bordered(warn(format!("This text was not read as {name}; {shown}.")), width);
    if !reading.text.is_empty() {
        rows.extend(bordered(foreign(Tone::Foreign, &reading.text), width));
    }
    rows
}

fn tone(weight: Weight) -> Tone {
    match weight {
        Weight::Plain => Tone::Ours,
        Weight::Changes => Tone::Warn,
        Weight::Grave => Tone::Danger,
    }
}

/// A statement on one row: white space is one space, a comment is quiet. The arguments below have it as it was sent.
fn statement(text: &str, part: &Part) -> Row {
    words(text, part, ours("   "), |row, between| {
        let spaced = |row: Row, is: bool| if is { row.ours(" ") } else { row };
        let row = spaced(row, between.starts_with(char::is_whitespace));
        match between.trim() {
            "" => row,
            comment => spaced(row.and_foreign(Tone::Quiet, comment), between.ends_with(char::is_whitespace)),
        }
    })
}

/// A command, after what joins it to the one before. One space is only a gap between words; more could hide something.
fn command(text: &str, part: &Part) -> Row {
    let joint = warn(format!("{:<2} ", part.joint));
    words(text, part, joint, |row, between| match between {
        " " => row.ours(" "),
        between => row.and_foreign(Tone::Foreign, between),
    })
}

/// The words of a part, each in its tone, and what is between them.
fn words(text: &str, part: &Part, mut row: Row, between: impl Fn(Row, &str) -> Row) -> Row {
    let mut at = part.start;
    for Word(start, end, kind) in &part.words {
        if let Some(gap) = text.get(at..*start).filter(|gap| !gap.is_empty()) {
            row = between(row, gap);
        }
        let tone = match (kind, part.weight) {
            (WordKind::Verb, Weight::Plain) | (WordKind::Keyword, _) => Tone::Key,
            (WordKind::Verb, Weight::Changes) => Tone::Warn,
            (WordKind::Verb, Weight::Grave) | (WordKind::Target, _) => Tone::Danger,
            (WordKind::Plain, _) => Tone::Foreign,
            (WordKind::Quoted, _) => Tone::Good,
        };
        row = row.and_foreign(tone, text.get(*start..*end).unwrap_or_default());
        at = *end;
    }
    match text.get(at..part.end).filter(|rest| !rest.is_empty()) {
        Some(rest) => between(row, rest),
        None => row,
    }
}
