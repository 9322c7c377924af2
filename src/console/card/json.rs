//! Finds its way in valid JSON text without building it: where values end, how large they are, what strings say, and how
//! one label or small value looks on a row. Text that is not valid gives odd answers, never a panic.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use crate::text::plain::{Edges, is_tame};
use crate::text::row::{Row, Tone, ours, quiet};
use crate::wire::number::counted;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    Json,
    Bare,
}

impl Writing {
    pub fn of(text: &str) -> Self {
        if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() { Self::Json } else { Self::Bare }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Just behind its last byte.
    pub end: usize,
    /// Members of an object, items of a list, lines of a string.
    pub entries: usize,
    /// Length of its text; of a string, length of its content.
    pub bytes: usize,
}

/// The extents of large values, measured once, so that no row of the screen needs to read them again.
#[derive(Clone, Debug, Default)]
pub struct Extents {
    /// By where the value begins, ascending.
    large: Vec<(usize, Extent)>,
}

/// From how many bytes on an extent is remembered.
const LARGE: usize = 4096;

impl Extents {
    pub fn measure(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut large = Vec::new();
        let mut open: Vec<(usize, usize)> = Vec::new();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    let extent = string_extent(text, at);
                    if extent.end - at >= LARGE {
                        large.push((at, extent));
                    }
                    at = extent.end;
                    continue;
                }
                b'{' | b'[' => open.push((at, 0)),
                b',' => {
                    if let Some(last) = open.last_mut() {
                        last.1 += 1;
                    }
                }
                b'}' | b']' => {
                    if let Some((start, commas)) = open.pop()
                        && at + 1 - start >= LARGE
                    {
                        large.push((start, container(text, start, at + 1, commas)));
                    }
                }
                _ => {}
            }
            at += 1;
        }
        large.sort_unstable_by_key(|(start, _)| *start);
        Self { large }
    }

    pub fn of(&self, text: &str, at: usize) -> Extent {
        if let Ok(found) = self.large.binary_search_by_key(&at, |(start, _)| *start) {
            return self.large[found].1;
        }
        match text.as_bytes().get(at) {
            Some(b'"') => string_extent(text, at),
            Some(b'{' | b'[') => self.container_extent(text, at),
            _ => {
                let rest = text.get(at..).unwrap_or_default();
                let stop = |c: char| matches!(c, ',' | ']' | '}' | ' ' | '\t' | '\n' | '\r');
                let bytes = rest.find(stop).unwrap_or(rest.len()).max(1);
                Extent { end: at + bytes, entries: 1, bytes }
            }
        }
    }

    fn container_extent(&self, text: &str, start: usize) -> Extent {
        let bytes = text.as_bytes();
        let (mut at, mut depth, mut commas) = (start, 0, 0);
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    at = self.of(text, at).end;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b',' if depth == 1 => commas += 1,
                b'}' | b']' if depth <= 1 => return container(text, start, at + 1, commas),
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            at += 1;
        }
        container(text, start, bytes.len(), commas)
    }
}

fn container(text: &str, start: usize, end: usize, commas: usize) -> Extent {
    let inside = text.get(start + 1..end.saturating_sub(1)).unwrap_or_default();
    let empty = commas == 0 && skip_space(inside, 0) >= inside.len();
    Extent { end, entries: if empty { 0 } else { commas + 1 }, bytes: end - start }
}

/// Just behind the closing quote of the string whose opening quote is at `start`.
pub fn string_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start + 1;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found;
        if bytes[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

fn string_extent(text: &str, start: usize) -> Extent {
    let end = string_end(text, start);
    let mut bytes = end.saturating_sub(start + 2);
    let mut lines = 1;
    let mut at = start + 1;
    while let Some(found) = text.as_bytes().get(at..end).and_then(|rest| memchr(b'\\', rest)) {
        at += found;
        let (c, len) = escaped(text, at);
        bytes = (bytes + c.len_utf8()).saturating_sub(len);
        lines += usize::from(c == '\n' && at + len + 1 < end);
        at += len;
    }
    Extent { end, entries: lines, bytes }
}

pub fn skip_space(text: &str, at: usize) -> usize {
    let space = |b: &&u8| matches!(b, b' ' | b'\t' | b'\n' | b'\r');
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    at + rest.iter().take_while(space).count()
}

pub fn said(raw: &str) -> Cow<'_, str> {
    if memchr(b'\\', raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    let mut text = String::with_capacity(raw.len());
    let mut at = 0;
    while let Some(found) = memchr(b'\\', &raw.as_bytes()[at..]) {
        text.push_str(&raw[at..at + found]);
        let (c, len) = escaped(raw, at + found);
        text.push(c);
        at = (at + found + len).min(raw.len());
    }
    text.push_str(raw.get(at..).unwrap_or_default());
    Cow::Owned(text)
}

/// Where a string's next part ends, without and with its line break: at one, or after about `most` bytes; never in an escape.
pub fn part(raw: &str, from: usize, end: usize, most: usize) -> (usize, usize) {
    let limit = (from + most).min(end);
    let mut at = from;
    while let Some(found) = raw.as_bytes().get(at..limit).and_then(|rest| memchr(b'\\', rest)) {
        at += found;
        let (c, len) = escaped(raw, at);
        if c == '\n' {
            return (at, (at + len).min(end));
        }
        at += len;
    }
    let mut cut = at.max(limit).min(end);
    while !raw.is_char_boundary(cut) {
        cut += 1;
    }
    (cut, cut)
}

/// The character that the escape at `at` stands for, and the length of its text.
fn escaped(text: &str, at: usize) -> (char, usize) {
    let unit = |at: usize| {
        let hex = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(hex, 16).ok()
    };
    let plain = |c| (c, 2);
    match text.as_bytes().get(at + 1) {
        Some(b'n') => plain('\n'),
        Some(b't') => plain('\t'),
        Some(b'r') => plain('\r'),
        Some(b'b') => plain('\u{8}'),
        Some(b'f') => plain('\u{c}'),
        Some(b'u') => match (unit(at), unit(at + 6)) {
            (Some(high @ 0xD800..0xDC00), Some(low @ 0xDC00..0xE000)) => {
                let code = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                (char::from_u32(code).unwrap_or('\u{FFFD}'), 12)
            }
            (Some(code), _) => (char::from_u32(code).unwrap_or('\u{FFFD}'), 6),
            (None, _) => plain('\u{FFFD}'),
        },
        Some(c @ (b'"' | b'\\' | b'/')) => plain(char::from(*c)),
        _ => ('\u{FFFD}', 1),
    }
}

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

/// The members of an object: each key as it is between its quotes, and the text of its value.
pub fn members<'t>(text: &'t str, extents: &Extents, object: usize) -> impl Iterator<Item = (&'t str, &'t str)> {
    let mut at = skip_space(text, object + 1);
    std::iter::from_fn(move || {
        let end = (text.as_bytes().get(at) == Some(&b'"')).then(|| string_end(text, at))?;
        let key = text.get(at + 1..end.saturating_sub(1)).unwrap_or_default();
        let value = skip_space(text, skip_space(text, end) + 1);
        let end = extents.of(text, value).end;
        at = skip_space(text, skip_space(text, end) + 1);
        Some((key, text.get(value..end).unwrap_or_default()))
    })
}

pub fn alignment(text: &str, extents: &Extents, object: usize) -> usize {
    if extents.of(text, object).entries > MOST_ALIGNED {
        return 0;
    }
    let short = members(text, extents, object).filter(|(key, _)| key.len() <= WIDEST_ALIGNED);
    short.map(|(key, _)| label(key).width()).max().unwrap_or(0).min(WIDEST_ALIGNED)
}

/// Adds the keys of a folded object while the row has room, and says where it leaves some out.
pub fn insides(mut row: Row, text: &str, extents: &Extents, object: usize, width: usize) -> Row {
    if text.as_bytes().get(object) != Some(&b'{') {
        return row;
    }
    for (at, (key, _)) in members(text, extents, object).enumerate() {
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

pub fn size(bytes: usize) -> String {
    counted(bytes, "byte")
}
