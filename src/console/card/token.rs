//! How one label or one small value of a JSON text looks on a row, and how sizes are written. Owns no position.

use super::json::{Extents, said, skip_space, string_end};
use crate::text::plain::{Edges, is_tame};
use crate::text::row::{Row, Tone, ours, quiet};
use crate::wire::number::counted;

/// Objects with more keys are not aligned: that would mean reading all of them.
const MOST_ALIGNED: usize = 40;
/// Labels longer than this get a line of their own.
const WIDEST_ALIGNED: usize = 16;

/// A key as it is shown: bare when it is a plain word, otherwise in quotes that no quote inside can end.
pub fn label(raw: &str) -> Row {
    let key = said(raw);
    let word = |b: u8| b.is_ascii_alphanumeric() || b"_-.$@/".contains(&b);
    if !key.is_empty() && key.bytes().all(word) {
        return ours(key);
    }
    let mut row = quiet("\"");
    for (i, part) in key.split('"').enumerate() {
        if i > 0 {
            row.push(Tone::Escape, "⟨U+0022⟩");
        }
        row = row.and_foreign(Tone::Ours, part);
    }
    row.quiet("\"")
}

/// The keys of an object, as they are between their quotes.
fn keys<'t>(text: &'t str, extents: &Extents, object: usize) -> impl Iterator<Item = &'t str> {
    let mut at = skip_space(text, object + 1);
    std::iter::from_fn(move || {
        let end = (text.as_bytes().get(at) == Some(&b'"')).then(|| string_end(text, at))?;
        let key = text.get(at + 1..end.saturating_sub(1)).unwrap_or_default();
        let value = skip_space(text, skip_space(text, end) + 1);
        let comma = skip_space(text, extents.of(text, value).end);
        at = skip_space(text, comma + 1);
        Some(key)
    })
}

/// The columns that an object's labels are filled up to.
pub fn alignment(text: &str, extents: &Extents, object: usize) -> usize {
    if extents.of(text, object).entries > MOST_ALIGNED {
        return 0;
    }
    let short = keys(text, extents, object).filter(|key| key.len() <= WIDEST_ALIGNED);
    short.map(|key| label(key).width()).max().unwrap_or(0).min(WIDEST_ALIGNED)
}

/// Adds the keys of a folded object while the row has room, and says where it leaves some out.
pub fn insides(mut row: Row, text: &str, extents: &Extents, object: usize, width: usize) -> Row {
    if text.as_bytes().get(object) != Some(&b'{') {
        return row;
    }
    for (at, key) in keys(text, extents, object).enumerate() {
        let next = row.clone().quiet(if at == 0 { ": " } else { ", " });
        let next = if key.len() > WIDEST_ALIGNED * 4 { None } else { Some(next.joined(label(key))) };
        // Three columns stay free for the sign that there are more.
        let Some(next) = next.filter(|next| next.width() + 3 <= width) else {
            return if row.width() + 3 <= width { row.quiet(", …") } else { row };
        };
        row = next;
    }
    row
}

/// A list of plain scalars that fits on the row as it was sent.
pub fn is_short_list(token: &str, room: usize) -> bool {
    token.len() <= room.min(72) && is_tame(token, Edges::Line) && !token[1..].contains(['[', '{', '\\'])
}

/// A string on one row in quotes, if it fits and no quote of its own could seem to end it.
pub fn quoted(token: &str, room: usize) -> Option<Row> {
    if token.len() > room * 6 {
        return None;
    }
    let text = said(token.get(1..token.len() - 1)?);
    if text.contains(['"', '\n']) {
        return None;
    }
    let row = quiet("\"").and_foreign(Tone::Foreign, &text).quiet("\"");
    (row.width() <= room).then_some(row)
}

/// An integer that a double cannot hold: parsers differ on it.
pub fn is_beyond_doubles(token: &str) -> bool {
    const LIMIT: u64 = 1 << 53;
    let digits = token.strip_prefix('-').unwrap_or(token);
    let integer = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    integer && digits.parse::<u64>().map_or(true, |n| n > LIMIT)
}

/// `1 byte`, `18,204 bytes`.
pub fn size(bytes: usize) -> String {
    counted(bytes, "byte")
}
