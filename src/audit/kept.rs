//! Where code and shells find a secret that is kept elsewhere, and the literal that stands in where they find none: only that
//! one is a secret of the text. Reads bytes; redacts nothing.

use std::ops::Range;

/// A place that a secret is kept at.
pub(super) struct Kept {
    /// What is used where nothing is there.
    pub(super) default: Option<Range<usize>>,
}

/// Where a value is only the name of a place; `None` where it is the secret itself.
pub(super) fn elsewhere(bytes: &[u8], start: usize) -> Option<Kept> {
    if bytes.get(start) == Some(&b'$') {
        return Some(Kept { default: default_of_shell(bytes, start) });
    }
    let place = KEPT.iter().find(|place| bytes[start..].starts_with(place))?;
    let within = place.last().is_some_and(|last| b"[(".contains(last));
    Some(Kept { default: default_of_code(bytes, start + place.len(), within) })
}

/// The word that stands in where `${NAME:-word}` finds nothing.
fn default_of_shell(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    if bytes.get(at + 1) != Some(&b'{') {
        return None;
    }
    let sign = run(bytes, at + 2, |b| b.is_ascii_alphanumeric() || b == b'_');
    let start = run(bytes, sign, |b| matches!(b, b':' | b'-' | b'='));
    if start == sign || bytes.get(start) == Some(&b'$') {
        return None;
    }
    let end = run(bytes, start, |b| !matches!(b, b'}' | b'\n'));
    (end - start >= 3).then_some(start..end)
}

/// How many bytes may be between where a secret is kept and what stands in for it.
const FARTHEST: usize = 64;

/// The literal that stands in where code finds nothing: `process.env.NAME || 'literal'`, `os.getenv("NAME", "literal")`.
/// `within` brackets the name is quoted.
fn default_of_code(bytes: &[u8], at: usize, within: bool) -> Option<Range<usize>> {
    let is_quote = |b: u8| matches!(b, b'"' | b'\'' | b'`' | b'\\');
    let name = run(bytes, at, |b| in_key(b) || b == b':');
    // `os.environ.get(`, `std::env::var(`.
    let within = within || bytes.get(name) == Some(&b'(');
    let name = if within { run(bytes, name, |b| b == b'(' || is_quote(b)) } else { name };
    let name = if within { run(bytes, run(bytes, name, in_key), is_quote) } else { name };
    // Whoever writes a longer way to it hides it: the text is read once, not from each of its names to its end.
    let near = &bytes[..bytes.len().min(name + FARTHEST)];
    let quoted = run(near, name, |b| !is_quote(b) && !matches!(b, b'\n' | b';'));
    let gap = std::str::from_utf8(&near[name..quoted]).ok()?;
    let is_default = ["||", "??", " or ", "unwrap_or"].iter().any(|sign| gap.contains(sign)) && !gap.contains(',');
    let is_default = is_default || within && gap.trim() == ",";
    if !is_default {
        return None;
    }
    let start = run(bytes, quoted, is_quote);
    let quote = *bytes[quoted..start].last()?;
    let end = run(bytes, start, |b| b != quote && b != b'\n');
    (end - start >= 3).then_some(start..end)
}

/// Where code finds a secret that is kept elsewhere.
const KEPT: &[&[u8]] =
    &[b"process.env.", b"process.env[", b"os.environ[", b"os.environ.", b"os.getenv(", b"env::var(", b"std::env::"];

#[inline]
pub(super) fn run(bytes: &[u8], from: usize, belongs: impl Fn(u8) -> bool) -> usize {
    bytes[from..].iter().position(|&b| !belongs(b)).map_or(bytes.len(), |n| from + n)
}

#[inline]
pub(super) fn in_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}
