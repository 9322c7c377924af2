//! What changed between two short texts, row by row: `-` as received, `+` as it will be sent.

use similar::{Algorithm, DiffTag, capture_diff_slices, group_diff_ops};

use super::counted;
use crate::console::row::{Row, Tone, quiet};

/// The rows that differ, each marked, with one row around them; how many others there are.
pub fn changes(old: &[Row], new: &[Row]) -> Vec<Row> {
    let texts = |rows: &[Row]| rows.iter().map(Row::text).collect::<Vec<_>>();
    let differences = capture_diff_slices(Algorithm::Lcs, &texts(old), &texts(new));
    let (mut rows, mut at) = (Vec::new(), 0);
    for part in group_diff_ops(differences, 1).into_iter().flatten() {
        let (tag, from, to) = part.as_tag_tuple();
        rows.extend(unchanged(from.start - at));
        at = from.end;
        if tag == DiffTag::Equal {
            rows.extend_from_slice(&old[from]);
            continue;
        }
        rows.extend(old[from].iter().map(|row| marked("- ", Tone::Danger, row)));
        rows.extend(new[to].iter().map(|row| marked("+ ", Tone::Good, row)));
    }
    rows.extend(unchanged(old.len() - at));
    rows
}

/// The row with a mark in its margin.
fn marked(mark: &str, tone: Tone, row: &Row) -> Row {
    let margin = usize::from(row.runs.first().is_some_and(|run| run.text.trim().is_empty()));
    let mut whole = Row::of(tone, mark);
    whole.runs.extend(row.runs.iter().skip(margin).cloned());
    whole
}

fn unchanged(rows: usize) -> Option<Row> {
    (rows > 0).then(|| quiet(format!("  … {} unchanged", counted(rows, "row"))))
}
