//! A file as it is and as it would be: a unified diff; what a move or a deletion hits. Files are foreign text.

use similar::{ChangeTag, TextDiff};

use super::bordered;
use crate::console::caption::caption;
use crate::console::card::{counted, grouped};
use crate::gate::call::touched::alike::lines_changed;
use crate::gate::call::touched::{FileChange, How, blind, thing};
use crate::gate::data::facts::{Facts, FileKind};
use crate::text::row::{Row, Tone, foreign, good, quiet, strong, warn};

/// Lines of a diff that are shown; the arguments below have all of what is written.
const MOST: usize = 400;
/// Lines around a change.
const CONTEXT: usize = 3;

/// The rows for all changes, and for what else the arguments name.
pub(super) fn rows(changes: &[FileChange<'_>], facts: &[Facts], width: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for change in changes {
        match change {
            FileChange::Content { target, how, old, new } => {
                rows.push(caption("this file", "as it is on this machine", width));
                rows.extend(at_path(target, width));
                rows.extend(content(target, *how, old.as_deref(), new, width));
            }
            FileChange::NoMatch { target, edit, edits } => {
                rows.push(caption("this file", "as it is on this machine", width));
                rows.extend(at_path(target, width));
                let words = format!("Edit {edit} of {edits} does not fit it: its old text is not in the file.");
                rows.extend(bordered(warn(words), width));
            }
            FileChange::Move { from, to } => {
                rows.push(caption("moves", "as it is on this machine", width));
                rows.extend(at_path(from, width));
                rows.extend(to.iter().flat_map(|to| at_path(to, width)));
            }
            FileChange::Delete { target } => {
                if rows.is_empty() {
                    rows.push(caption("hits", "as it is on this machine", width));
                }
                rows.extend(at_path(target, width));
            }
        }
    }
    if changes.is_empty() && !facts.is_empty() {
        rows.push(caption("paths", "as they are on this machine; the server may mean others", width));
        rows.extend(facts.iter().flat_map(|facts| at_path(facts, width)));
    }
    rows
}

/// What is at a path, and where it leads.
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

fn content(target: &Facts, how: How, old: Option<&str>, new: &str, width: usize) -> Vec<Row> {
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
    diff(old, new, width)
}

/// The changed lines with some around them.
fn diff(old: &str, new: &str, width: usize) -> Vec<Row> {
    let diff = TextDiff::from_lines(old, new);
    let mut rows = Vec::new();
    let (mut shown, mut left, mut at) = (0, 0, 0);
    for group in diff.grouped_ops(CONTEXT) {
        let start = group.first().map_or(0, |op| op.old_range().start);
        let skipped = start.saturating_sub(at);
        if skipped > 0 && left == 0 {
            rows.extend(bordered(quiet(format!("… {} unchanged", counted(skipped, "line"))), width));
        }
        at = group.last().map_or(at, |op| op.old_range().end);
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            if shown >= MOST {
                left += 1;
                continue;
            }
            shown += 1;
            rows.extend(bordered(line(change.tag(), change.value()), width));
        }
    }
    let rest = old.lines().count().saturating_sub(at);
    if left > 0 {
        let words = format!("… {} more lines of this diff: too many to show here", grouped(left));
        rows.extend(bordered(warn(words), width));
    } else if rest > 0 {
        rows.extend(bordered(quiet(format!("… {} unchanged", counted(rest, "line"))), width));
    }
    rows
}

fn line(tag: ChangeTag, text: &str) -> Row {
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
