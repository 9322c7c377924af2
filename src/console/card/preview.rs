//! What a call would do, made visible before its arguments: a file's diff, what a path hits, statements, commands, images.
//! It says what it could not see. Files are foreign text; statements and commands are shown as the gate read them.

use data_encoding::BASE64;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::json::size;
use crate::behavior::arguments::effect::Language;
use crate::behavior::arguments::reading::{Part, Reading, Weight, Word, WordKind};
use crate::console::rows::caption;
use crate::gate::call::touched::{self, FileChange, How, blind, thing};
use crate::gate::data::facts::{Facts, FileKind};
use crate::gate::{call::touched::change::lines_changed, data::snapshot::Snapshot};
use crate::text::row::{Row, Tone, border, foreign, good, ours, quiet, strong, warn};
use crate::wire::{counted, number::grouped};

/// Arguments longer than this are not previewed, in bytes: they are read in full below.
const LONGEST: usize = 2 << 20;

#[derive(Clone, Debug, Default)]
pub struct Preview {
    /// Our line on what it does, if the facts say more than the arguments alone. Foreign text in it is raw.
    pub effect: Option<String>,
    pub rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// On a card: with captions, and lines around what changes.
    Whole,
    /// The same, of a call on another machine.
    OfAnother,
    /// In a list of calls: what changes, and nothing that the arguments say as well.
    Brief,
}

impl Form {
    fn caption(self, name: &str, note: &str, width: usize) -> Option<Row> {
        match self {
            Self::Whole => Some(caption(name, note, width)),
            Self::OfAnother => Some(caption(name, &note.replace("this machine", "its machine"), width)),
            Self::Brief => None,
        }
    }
}

pub fn of(snapshot: &Snapshot, form: Form, width: usize) -> Preview {
    if snapshot.arguments.len() > LONGEST {
        return Preview::default();
    }
    let Ok(arguments) = serde_json::from_str::<Value>(&snapshot.arguments) else {
        return Preview::default();
    };
    let changes = touched::of(snapshot.identity.action, &arguments, &snapshot.facts);
    let mut rows = file_rows(&changes, &snapshot.facts, form, width);
    rows.extend(snapshot.readings.iter().flat_map(|reading| text_rows(reading, form, width)));
    rows.extend(texts(&arguments).into_iter().flat_map(|(name, text)| media_rows(name, text, form, width)));
    // The reader of a statement says better what it does.
    let reads = snapshot.readings.iter().all(|reading| reading.analysis.effect.reads());
    Preview { effect: effect(&changes).filter(|_| reads), rows }
}

fn effect(changes: &[FileChange<'_>]) -> Option<String> {
    match changes {
        [] => None,
        [one] => Some(one.line()),
        [first, rest @ ..] => Some(format!("{}; and {} more", first.line(), rest.len())),
    }
}

fn texts(arguments: &Value) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let Some(fields) = arguments.as_object() else { return found };
    for (name, value) in fields {
        match value {
            Value::String(text) => found.push((name.as_str(), text.as_str())),
            Value::Array(list) => found.extend(list.iter().filter_map(|one| Some((name.as_str(), one.as_str()?)))),
            Value::Object(inner) => {
                found.extend(inner.iter().filter_map(|(name, one)| Some((name.as_str(), one.as_str()?))));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    found
}

fn bordered(row: Row, width: usize) -> Vec<Row> {
    row.behind(&border(" │ "), width)
}

/// Lines of a diff that are shown; the arguments below have all of what is written.
const MOST_LINES: usize = 400;
const CONTEXT: usize = 3;

fn file_rows(changes: &[FileChange<'_>], facts: &[Facts], form: Form, width: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for change in changes {
        match change {
            FileChange::Content { target, how, old, new } => {
                rows.extend(form.caption("this file", "as it is on this machine", width));
                rows.extend(at_path(target, width));
                rows.extend(content(target, *how, old.as_deref(), new, form, width));
            }
            FileChange::NoMatch { target, edit, edits } => {
                rows.extend(form.caption("this file", "as it is on this machine", width));
                rows.extend(at_path(target, width));
                let words = format!("Edit {edit} of {edits} does not fit it: its old text is not in the file.");
                rows.extend(bordered(warn(words), width));
            }
            FileChange::Move { from, to } => {
                rows.extend(form.caption("moves", "as it is on this machine", width));
                rows.extend(at_path(from, width));
                rows.extend(to.iter().flat_map(|to| at_path(to, width)));
            }
            FileChange::Delete { target } => {
                if rows.is_empty() {
                    rows.extend(form.caption("hits", "as it is on this machine", width));
                }
                rows.extend(at_path(target, width));
            }
        }
    }
    if changes.is_empty() && !facts.is_empty() {
        rows.extend(form.caption("paths", "as they are on this machine; the server may mean others", width));
        rows.extend(facts.iter().flat_map(|facts| at_path(facts, width)));
    }
    rows
}

fn at_path(facts: &Facts, width: usize) -> Vec<Row> {
    let what = match facts.kind {
        FileKind::Missing => good("does not exist yet"),
        FileKind::Unseen => match &facts.unseen {
            Some(why) => warn("not known: ").and_foreign(Tone::Ours, why),
            None => warn("could not be seen"),
        },
        FileKind::File | FileKind::Folder | FileKind::Other => strong(thing(facts)),
    };
    let mut rows = bordered(foreign(Tone::Ours, &facts.path).quiet("  ").joined(what), width);
    if let Some(folder) = &facts.lacks {
        let row = warn("the folder does not exist either: ").and_foreign(Tone::Strong, folder);
        rows.extend(bordered(row.warn("; the server makes it, or fails"), width));
    }
    let leads = facts.real.as_deref().filter(|real| *real != facts.path);
    if let Some(link) = &facts.link {
        let row = warn("▲ a link to ").and_foreign(Tone::Strong, link);
        rows.extend(bordered(row, width));
    }
    if let Some(real) = leads {
        rows.extend(bordered(quiet("leads to ").and_foreign(Tone::Ours, real), width));
    }
    if let Some(why) = facts.unseen.as_ref().filter(|_| facts.kind != FileKind::Unseen) {
        rows.extend(bordered(warn("could not be read whole: ").and_foreign(Tone::Ours, why), width));
    }
    rows
}

fn content(target: &Facts, how: How, old: Option<&str>, new: &str, form: Form, width: usize) -> Vec<Row> {
    let told = |tone, words: &str| bordered(Row::of(tone, words), width);
    let Some(old) = old else {
        let words = match how {
            How::Whole => "; the arguments show the new content",
            How::Appended => "; the arguments show what is added",
            How::Edited => "",
        };
        return told(Tone::Warn, &format!("There is no diff: {}{words}.", blind(target)));
    };
    if target.kind == FileKind::Missing {
        return told(Tone::Quiet, "All of it is new; the arguments show all of it.");
    }
    if old == new {
        return told(Tone::Quiet, "Nothing in it changes.");
    }
    if lines_changed(old, new).is_none() {
        return told(Tone::Warn, "Too long to compare line by line; the arguments show the new content.");
    }
    diff(old, new, form, width)
}

fn diff(old: &str, new: &str, form: Form, width: usize) -> Vec<Row> {
    let diff = TextDiff::from_lines(old, new);
    let mut rows = Vec::new();
    let (mut shown, mut left, mut at) = (0, 0, 0);
    let context = if form != Form::Brief { CONTEXT } else { 0 };
    let unchanged = |lines: usize| {
        let row = quiet(format!("… {} unchanged", counted(lines, "line")));
        if form != Form::Brief { bordered(row, width) } else { Vec::new() }
    };
    for group in diff.grouped_ops(context) {
        let start = group.first().map_or(0, |op| op.old_range().start);
        let skipped = start.saturating_sub(at);
        if skipped > 0 && left == 0 {
            rows.extend(unchanged(skipped));
        }
        at = group.last().map_or(at, |op| op.old_range().end);
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            if shown >= MOST_LINES {
                left += 1;
                continue;
            }
            shown += 1;
            rows.extend(bordered(diff_line(change.tag(), change.value()), width));
        }
    }
    let rest = old.lines().count().saturating_sub(at);
    if left > 0 {
        let words = format!("… {} more lines of this diff: too many to show here", grouped(left));
        rows.extend(bordered(warn(words), width));
    } else if rest > 0 {
        rows.extend(unchanged(rest));
    }
    rows
}

fn diff_line(tag: ChangeTag, text: &str) -> Row {
    let (mark, tone) = match tag {
        ChangeTag::Insert => ("+ ", Tone::Good),
        ChangeTag::Delete => ("- ", Tone::Danger),
        ChangeTag::Equal => ("  ", Tone::Foreign),
    };
    let bare = text.strip_suffix('\n');
    let row = Row::of(tone, mark).and_foreign(tone, bare.unwrap_or(text));
    match bare {
        Some(_) => row,
        None => row.quiet("  (no line end)"),
    }
}

fn text_rows(reading: &Reading, form: Form, width: usize) -> Vec<Row> {
    let is_shell = reading.analysis.language == Language::Shell;
    let (name, one) = if is_shell { ("commands", "command") } else { ("statements", "statement") };
    let mut rows: Vec<Row> =
        form.caption(name, &format!("in {}", reading.analysis.argument), width).into_iter().collect();
    if reading.parts.is_empty() {
        rows.extend(unread(reading, name, width));
        return rows;
    }
    let numbered = reading.parts.len() > 1;
    for (i, part) in reading.parts.iter().enumerate() {
        if form == Form::Brief && (is_shell || !numbered) {
            continue;
        }
        if is_shell {
            rows.extend(bordered(command(&reading.text, part), width));
            continue;
        }
        let number = if numbered { format!("{}. ", i + 1) } else { String::new() };
        let says = quiet(number).and_foreign(tone_of(part.weight), &part.says);
        rows.extend(bordered(says, width));
        if form == Form::Brief {
            continue;
        }
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

fn tone_of(weight: Weight) -> Tone {
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

/// A shorter text is more likely a word than bytes.
const SHORTEST: usize = 64;

const KINDS: [(&[u8], &str); 9] = [
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"RIFF", "a WebP image or other RIFF media"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive (or an office document)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x7fELF", "a Linux program"),
    (b"BM", "a BMP image"),
];

fn media_rows(name: &str, text: &str, form: Form, width: usize) -> Vec<Row> {
    let (declared, data) = match text.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
        Some((kind, data)) => (Some(kind), data),
        None => (None, text),
    };
    let data = data.trim_end();
    let alphabet = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_' | b'=' | b'\n' | b'\r');
    if data.len() < SHORTEST || !data.bytes().all(alphabet) {
        return Vec::new();
    }
    let head = head_of(data);
    let kind = KINDS.iter().find(|(magic, _)| head.starts_with(magic));
    if declared.is_none() && kind.is_none() {
        return Vec::new();
    }
    let what = kind.map_or("bytes of an unknown kind", |(_, what)| what);
    let signs = data.bytes().filter(|b| !matches!(b, b'=' | b'\n' | b'\r')).count();
    let mut row = strong(what).ours(format!(", {}", size(signs * 3 / 4)));
    if what == "a PNG image"
        && let Some([w, h]) = png_size(&head)
    {
        row.push(Tone::Ours, format!(", {w}×{h} pixels"));
    }
    if let Some(declared) = declared {
        row = row.quiet("; it calls itself ").and_foreign(Tone::Ours, declared);
    }
    let mut rows: Vec<Row> = form.caption("bytes", "", width).into_iter().collect();
    row = foreign(Tone::Quiet, name).ours("  ").joined(row);
    rows.extend(bordered(row, width));
    rows
}

fn png_size(head: &[u8]) -> Option<[u32; 2]> {
    let number = |at: usize| Some(u32::from_be_bytes(head.get(at..at + 4)?.try_into().ok()?));
    Some([number(16)?, number(20)?])
}

/// The first bytes that a base64 text of either alphabet stands for.
fn head_of(text: &str) -> Vec<u8> {
    let sign = |b: u8| match b {
        b'-' => b'+',
        b'_' => b'/',
        other => other,
    };
    let mut signs: Vec<u8> =
        text.bytes().filter(u8::is_ascii_graphic).filter(|b| *b != b'=').map(sign).take(88).collect();
    // The last signs may stand for less than a byte.
    signs.truncate(signs.len() / 4 * 4);
    BASE64.decode(&signs).unwrap_or_default()
}
