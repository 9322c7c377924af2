//! What changed between two short texts, row by row: `-` as received, `+` as it will be sent.

use crate::console::row::{Row, Tone};

/// The rows that differ, each marked, with one row around them; nothing when none does.
pub fn changes(old: Vec<Row>, new: Vec<Row>) -> Vec<Row> {
    let common = common(&old, &new);
    let mut old = old.into_iter().enumerate().peekable();
    let mut new = new.into_iter().enumerate().peekable();
    let mut rows = Vec::new();
    let pairs = common.into_iter().map(Some).chain([None]);
    for pair in pairs {
        let (until_old, until_new) = pair.unwrap_or((usize::MAX, usize::MAX));
        while let Some((_, row)) = old.next_if(|(i, _)| *i < until_old) {
            rows.push(Line::Changed(marked("- ", Tone::Danger, row)));
        }
        while let Some((_, row)) = new.next_if(|(i, _)| *i < until_new) {
            rows.push(Line::Changed(marked("+ ", Tone::Good, row)));
        }
        if let Some((_, row)) = old.next() {
            new.next();
            rows.push(Line::Same(row));
        }
    }
    near_changes(rows)
}

enum Line {
    Same(Row),
    Changed(Row),
}

fn marked(mark: &str, tone: Tone, row: Row) -> Row {
    let mut whole = Row::of(tone, mark);
    let margin = usize::from(row.runs.first().is_some_and(|run| run.text.trim().is_empty()));
    whole.runs.extend(row.runs.into_iter().skip(margin));
    whole
}

fn near_changes(lines: Vec<Line>) -> Vec<Row> {
    let changed: Vec<bool> = lines.iter().map(|line| matches!(line, Line::Changed(_))).collect();
    let near = |i: usize| {
        let at = |i: Option<usize>| i.and_then(|i| changed.get(i)).copied().unwrap_or(false);
        at(i.checked_sub(1)) || at(Some(i + 1))
    };
    let mut rows = Vec::new();
    let mut skipped = 0;
    for (i, line) in lines.into_iter().enumerate() {
        match line {
            Line::Same(_) if !near(i) => skipped += 1,
            Line::Same(row) | Line::Changed(row) => {
                if skipped > 0 {
                    rows.push(unchanged(skipped));
                    skipped = 0;
                }
                rows.push(row);
            }
        }
    }
    if skipped > 0 {
        rows.push(unchanged(skipped));
    }
    rows
}

fn unchanged(rows: usize) -> Row {
    let words = format!("  … {} unchanged", super::counted(rows, "row"));
    Row::of(Tone::Quiet, words)
}

/// The longest common subsequence, as pairs of indices.
fn common(old: &[Row], new: &[Row]) -> Vec<(usize, usize)> {
    let wide = new.len() + 1;
    let mut longest = vec![0_u32; (old.len() + 1) * wide];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i * wide + j] = if old[i] == new[j] {
                longest[(i + 1) * wide + j + 1] + 1
            } else {
                longest[(i + 1) * wide + j].max(longest[i * wide + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if longest[(i + 1) * wide + j] >= longest[i * wide + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}
