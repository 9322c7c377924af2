//! Recognizes where code and shells read a secret from elsewhere, such as an environment variable, and the fallback
//! they name: only the fallback is a secret in the text itself. Reads bytes; redacts nothing.

use std::ops::Range;

/// A place that a secret is kept at.
pub(super) struct Kept {
    /// The fallback: the value that is used where the place is empty.
    pub(super) default: Option<Range<usize>>,
}

/// The place that a value names; `None` where the value is the secret itself.
pub(super) fn elsewhere(bytes: &[u8], start: usize) -> Option<Kept> {
    if bytes.get(start) == Some(&b'$') && is_name_of_shell(bytes, start + 1) {
        return Some(Kept { default: default_of_shell(bytes, start) });
    }
    let start = if bytes[start..].starts_with(b"std::") { start + 5 } else { start };
    let place = KEPT.iter().find(|place| bytes[start..].starts_with(place))?;
    let within = place.last().is_some_and(|last| b"[(".contains(last));
    let at = start + place.len();
    // A longer name counts as the value. The bound keeps each name in a long text from reading all of it again.
    let name = run(&bytes[..bytes.len().min(at + LONGEST_NAME)], at, in_path);
    (name < at + LONGEST_NAME).then(|| Kept { default: default_of_code(bytes, at, within) })
}

/// Whether what follows `$` is a place: `{…}`, `(…)`, or a name. A name before a sign such as `!` or `@`, which secrets
/// hold and paths do not, is none.
fn is_name_of_shell(bytes: &[u8], at: usize) -> bool {
    let Some(&first) = bytes.get(at) else { return true };
    let in_name = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let end = match first {
        b'0'..=b'9' => run(bytes, at, |b| b.is_ascii_digit()),
        _ => run(bytes, at, in_name),
    };
    let next = bytes.get(end).copied().unwrap_or(b' ');
    if end == at { matches!(first, b'{' | b'(') } else { !in_name(next) && !b"!@#%^&*~?+=".contains(&next) }
}

/// The literals of a value that does not begin as one: `b"literal"`, `SecretStr("literal")`, `ENV["NAME"] || "literal"`.
pub(super) fn literal(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    let is_quote = |b: u8| matches!(b, b'"' | b'\'' | b'`' | b'\\');
    // No further than an unquoted value would go: what follows is searched on its own.
    let before = run(bytes, start, |b| !is_quote(b) && !b.is_ascii_whitespace() && !b",;&}])<|".contains(&b));
    let opens = bytes.get(start..before)?;
    let is_prefix = matches!(opens.len(), 1 | 2) && opens.iter().all(|b| b.is_ascii_alphabetic() || *b == b'@');
    if !is_prefix && !opens.last().is_some_and(|b| matches!(b, b'(' | b'[' | b'{')) {
        return None;
    }
    let open = run(bytes, before, is_quote);
    // A backslash alone, as in a written `\n`, is no quote.
    let quote = *bytes.get(before..open)?.last().filter(|b| **b != b'\\')?;
    let end = run(bytes, open, |b| b != quote && b != b'\n');
    // In a call or an index, everything from the first literal to the end of the line: only the code knows which
    // literal is the secret.
    let end = if is_prefix { end } else { run(bytes, end, |b| !matches!(b, b'\n' | b';')) };
    (end - open >= 3).then_some(open..end)
}

/// The fallback of a shell: the word of `${NAME:-word}`.
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

/// The name of a place has fewer bytes than this.
const LONGEST_NAME: usize = 256;

/// How many bytes may be between the place of a secret and its fallback.
const FARTHEST: usize = 64;

/// The fallback of code, a literal: `process.env.NAME || 'literal'`, `os.getenv("NAME", "literal")`.
/// `within` brackets the name is quoted.
fn default_of_code(bytes: &[u8], at: usize, within: bool) -> Option<Range<usize>> {
    let is_quote = |b: u8| matches!(b, b'"' | b'\'' | b'`' | b'\\');
    let name = run(bytes, at, in_path);
    // `os.environ.get(`, `std::env::var(`.
    let within = within || bytes.get(name) == Some(&b'(');
    let name = if within { run(bytes, name, |b| b == b'(' || is_quote(b)) } else { name };
    let name = if within { run(bytes, run(bytes, name, in_key), is_quote) } else { name };
    // A fallback further away is not found: the bound keeps each name from reading the text to its end.
    let near = &bytes[..bytes.len().min(name + FARTHEST)];
    let quoted = run(near, name, |b| !is_quote(b) && b != b';');
    let gap = std::str::from_utf8(&near[name..quoted]).ok()?;
    // Another line is the same statement only where it assigns nothing.
    if gap.contains('\n') && gap.contains([':', '=']) {
        return None;
    }
    let is_default = ["||", "??", " or ", "unwrap_or"].iter().any(|sign| gap.contains(sign)) && !gap.contains(',');
    let argument = gap.trim().strip_prefix(',').map(str::trim);
    let is_default = is_default || within && argument.is_some_and(|name| name.is_empty() || name.ends_with('='));
    if !is_default {
        return None;
    }
    let start = run(bytes, quoted, is_quote);
    let quote = *bytes[quoted..start].last()?;
    let end = run(bytes, start, |b| b != quote && b != b'\n');
    (end - start >= 3).then_some(start..end)
}

/// Where code finds a secret that is kept elsewhere.
const KEPT: &[&[u8]] = &[b"process.env.", b"process.env[", b"os.environ[", b"os.environ.", b"os.getenv(", b"env::"];

#[inline]
pub(super) fn run(bytes: &[u8], from: usize, belongs: impl Fn(u8) -> bool) -> usize {
    bytes[from..].iter().position(|&b| !belongs(b)).map_or(bytes.len(), |n| from + n)
}

/// Whether a byte may be in the name of a place: `VAR`, `var`, `std::env::var`.
fn in_path(byte: u8) -> bool {
    in_key(byte) || byte == b':'
}

#[inline]
pub(super) fn in_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}
