//! Images and other bytes that come as base64 or data URLs: shown by kind, which their first bytes tell, and by size.

use super::bordered;
use crate::console::caption::caption;
use crate::console::card::size;
use crate::text::row::{Row, Tone, foreign, strong};

/// A shorter text is more likely a word than bytes.
const SHORTEST: usize = 64;

/// The first bytes of each kind, and its name.
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

/// The rows for one text; none if it holds no bytes of a kind that we know.
pub(super) fn rows(name: &str, text: &str, width: usize) -> Vec<Row> {
    let (declared, data) = match text.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
        Some((kind, data)) => (Some(kind), data),
        None => (None, text),
    };
    let data = data.trim_end();
    let alphabet = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_' | b'=' | b'\n' | b'\r');
    if data.len() < SHORTEST || !data.bytes().all(alphabet) {
        return Vec::new();
    }
    let head = decoded(data.as_bytes(), 64);
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
    let mut rows = vec![caption("bytes", "", width)];
    row = foreign(Tone::Quiet, name).ours("  ").joined(row);
    rows.extend(bordered(row, width));
    rows
}

fn png_size(head: &[u8]) -> Option<[u32; 2]> {
    let number = |at: usize| Some(u32::from_be_bytes(head.get(at..at + 4)?.try_into().ok()?));
    Some([number(16)?, number(20)?])
}

/// The first bytes that a base64 text stands for.
fn decoded(text: &[u8], most: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(most + 3);
    let (mut bits, mut count) = (0_u32, 0);
    for b in text {
        let value = match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => continue,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from((bits >> count) & 0xFF).unwrap_or(0));
        }
        if out.len() >= most {
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_named_by_what_they_begin_with() {
        let told = |text: &str| rows("image", text, 100).last().map(Row::text).unwrap_or_default();
        let png = "iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAA10dzkAAAABmJLR0QA".to_owned() + &"A".repeat(100);
        assert_eq!(told(&png), " │ image  a PNG image, 117 bytes, 640×480 pixels");
        let url = format!("data:image/svg+xml;base64,{}", "PHN2Zz".repeat(20));
        assert_eq!(told(&url), " │ image  bytes of an unknown kind, 90 bytes; it calls itself image/svg+xml");
        assert_eq!(told(&"abcd".repeat(40)), "");
        assert_eq!(told("iVBORw0KGgo"), "");
    }
}
