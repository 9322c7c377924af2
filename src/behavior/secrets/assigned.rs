//! Values that a name before them says are secrets: `KEY=value`, `--key value`, XML elements, netrc lines, YAML blocks. Reads
//! bytes; redacts nothing.

use std::ops::Range;

use super::is_secret_key;
use super::kept::{self, in_key, run};
use super::known::scheme;

/// How far a command that gives a secret is read, in bytes.
const LONGEST: usize = 1024;
/// How far before a value its name is looked for, in bytes.
const BEFORE: usize = 160;

/// The full-width forms of `=` and `:` in East Asian texts.
const WIDE: [&[u8]; 2] = ["＝".as_bytes(), "：".as_bytes()];
/// How the names of functions begin that take a new secret.
const SETTERS: [&[u8]; 5] = [b"set", b"with", b"change", b"reset", b"update"];

/// The value of `KEY=value`, `"key": "value"`, `--key value`, where the key names a secret.
pub(super) fn assigned(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let key_end = run(bytes, at, in_key);
    let key = &text[at..key_end];
    let after = run(bytes, key_end, |b| matches!(b, b'"' | b'\'' | b'\\'));
    let spaced = run(bytes, after, |b| b == b' ');
    let sign = match bytes.get(spaced) {
        Some(b':' | b'=') => run(bytes, spaced, |b| matches!(b, b':' | b'=' | b'>')),
        Some(0xef) if WIDE.iter().any(|sign| bytes[spaced..].starts_with(sign)) => spaced + WIDE[0].len(),
        _ => spaced,
    };
    // A flag and its value need only a space between them.
    if sign == spaced && (spaced == key_end || !is_flag(key)) {
        return passed(bytes, at, key_end);
    }
    if !is_secret_key(key) && !is_value_of_secret(text, at, key) && !is_signature(bytes, at, key) {
        return None;
    }
    let open = run(bytes, sign, |b| matches!(b, b' ' | b'\t'));
    let start = run(bytes, open, |b| matches!(b, b'"' | b'\'' | b'\\'));
    if let Some(block) = yaml_block(bytes, open) {
        return Some(block);
    }
    if bytes[start..].starts_with(b"$(") || bytes.get(start) == Some(&b'`') {
        return substitution(bytes, start);
    }
    // `$NAME` and `os.environ[…]` are where the secret is kept, not the secret.
    if let Some(kept) = kept::elsewhere(bytes, start) {
        return kept.default;
    }
    let header = key.to_ascii_lowercase();
    let is_header = header.contains("authorization") || header.contains("cookie");
    // `token: Bearer …`: the scheme is no secret, what follows it is.
    if !is_header
        && bytes.get(start).is_some()
        && let Some(secret) = scheme(bytes, start)
    {
        return Some(secret);
    }
    if start == open
        && let Some(literal) = kept::literal(bytes, start)
    {
        return Some(literal);
    }
    let end = if let Some(&quote) = bytes[open..start].last() {
        run(bytes, start, |b| b != quote && b != b'\n')
    } else if is_header {
        run(bytes, start, |b| !matches!(b, b'\r' | b'\n' | b'"' | b'\''))
    } else {
        run(bytes, start, |b| {
            !b.is_ascii_whitespace()
                && !matches!(b, b'"' | b'\'' | b'&' | b',' | b';' | b'}' | b']' | b')' | b'<' | b'|')
        })
    };
    // `password = ask()` calls something for it; `password=ask()2` does not.
    // Bounded, because otherwise each name in a long value would read that value to its end again.
    let is_call = end - start <= LONGEST
        && bytes[start..end].last() == Some(&b'(')
        && bytes.get(end) == Some(&b')')
        && bytes.get(end + 1).is_none_or(|b| b.is_ascii_whitespace() || b";,)?".contains(b));
    (end - start >= 3 && !is_call).then_some(start..end)
}

/// A literal that needs no sign before it, because a function takes it: `setPassword('x')`, `.password("x")`.
fn passed(bytes: &[u8], at: usize, key_end: usize) -> Option<Range<usize>> {
    if bytes.get(key_end) != Some(&b'(') {
        return in_statement(bytes, at, key_end);
    }
    let name = bytes[at..key_end].rsplit(|b| *b == b'.').next()?;
    let begins = |verb: &&[u8]| name.get(..verb.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(verb));
    let sets = || SETTERS.iter().any(begins) && std::str::from_utf8(name).is_ok_and(is_secret_key);
    (name.eq_ignore_ascii_case(b"password") || sets()).then(|| quoted(bytes, key_end + 1))?
}

/// The literal of a statement about a user: `PASSWORD 'x'`, `IDENTIFIED BY 'x'`, `SET PASSWORD FOR ann = 'x'`.
fn in_statement(bytes: &[u8], at: usize, key_end: usize) -> Option<Range<usize>> {
    let is = |word: &[u8], names: &[&str]| names.iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()));
    let key = &bytes[at..key_end];
    if !is(key, &["password", "by", "as"]) || !bytes.get(key_end)?.is_ascii_whitespace() {
        return None;
    }
    let before = &bytes[at.saturating_sub(BEFORE)..at];
    let words = before.rsplit(|b| *b == b';').next()?.rsplit(|b| b.is_ascii_whitespace());
    // In reverse: the word right before the key is the first.
    let words: Vec<&[u8]> = words.filter(|word| !word.is_empty()).collect();
    let is_nth = |n: usize, names: &[&str]| words.get(n).is_some_and(|word| is(word, names));
    let has = |names: &[&str]| words.iter().any(|word| is(word, names));
    if is(key, &["password"]) {
        if is_nth(0, &["set"]) {
            let sign = bytes[key_end..].iter().take(BEFORE).position(|b| matches!(b, b'=' | b';'))?;
            return quoted(bytes, key_end + sign + 1);
        }
        return has(&["create", "alter", "with", "identified"]).then(|| quoted(bytes, key_end))?;
    }
    let literal = has(&["identified"]).then(|| quoted(bytes, key_end)).flatten();
    if literal.is_none() && is_nth(0, &["identified"]) && is_nth(2, &["user"]) && is_nth(3, &["create", "alter"]) {
        let start = run(bytes, key_end, |b| b.is_ascii_whitespace());
        let end = run(bytes, start, |b| !b.is_ascii_whitespace() && b != b';');
        return (end >= start + 3 && !is(&bytes[start..end], &["password"])).then_some(start..end);
    }
    literal
}

/// The text between quotes, behind white space and what may be before a literal (`N'…'`); a quote that is written twice is in it.
fn quoted(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let open = run(bytes, at, |b| b.is_ascii_whitespace());
    let is_prefix = bytes.get(open).is_some_and(u8::is_ascii_alphabetic);
    let open = run(bytes, open + usize::from(is_prefix), |b| b == b'\\');
    let quote = *bytes.get(open).filter(|b| matches!(b, b'\'' | b'"' | b'`'))?;
    let start = open + 1;
    let line = |from: usize| run(bytes, from, |b| b != quote && b != b'\n');
    let mut end = line(start);
    while bytes.get(end) == Some(&quote) && bytes.get(end + 1) == Some(&quote) {
        end = line(end + 2);
    }
    (end >= start + 3 && kept::elsewhere(bytes, start).is_none()).then_some(start..end)
}

/// Whether a key is written as a flag is: with two dashes, or with one and a whole word that is a secret's name.
fn is_flag(key: &str) -> bool {
    key.starts_with("--") || key.starts_with('-') && key.len() >= 5
}

/// Whether this is the `value` of what was named as a secret just before: `- name: DB_PASSWORD`, `value: …`.
fn is_value_of_secret(text: &str, at: usize, key: &str) -> bool {
    if !key.eq_ignore_ascii_case("value") {
        return false;
    }
    let before = text.get(text.floor_char_boundary(at.saturating_sub(BEFORE))..at).unwrap_or_default();
    let Some(named) = before.rfind("name").and_then(|at| before.get(at + 4..)) else { return false };
    let named = named.trim_start_matches(['"', '\'', '\\', ' ']);
    let Some(name) = named.strip_prefix([':', '=']) else { return false };
    let name = name.trim_start_matches([' ', '"', '\'', '\\']);
    let end = name.bytes().position(|b| !in_key(b)).unwrap_or(name.len());
    // Only white space, and the signs of lists and objects, between the two.
    let (name, between) = name.split_at(end);
    is_secret_key(name) && between.bytes().all(|b| b.is_ascii_whitespace() || b"\"'\\,{}-n".contains(&b))
}

/// Whether this is the signature in an address that lets whoever has it in.
fn is_signature(bytes: &[u8], at: usize, key: &str) -> bool {
    let is_parameter = at > 0 && matches!(bytes[at - 1], b'?' | b'&');
    let key = key.to_ascii_lowercase();
    is_parameter && (key == "sig" || key.ends_with("signature"))
}

/// The indented lines of a YAML block, behind `|` or `>`.
fn yaml_block(bytes: &[u8], open: usize) -> Option<Range<usize>> {
    if !matches!(bytes.get(open), Some(b'|' | b'>')) {
        return None;
    }
    let line_end = run(bytes, open + 1, |b| matches!(b, b'+' | b'-' | b'0'..=b'9' | b' ' | b'\r'));
    if bytes.get(line_end) != Some(&b'\n') {
        return None;
    }
    let start = run(bytes, line_end, |b| b.is_ascii_whitespace());
    let line = bytes[..start].iter().rposition(|&b| b == b'\n')? + 1;
    // Checked before the rest is read, because what is no block is read again from its next name.
    if !matches!(bytes.get(line), Some(b' ' | b'\t')) {
        return None;
    }
    let mut end = run(bytes, start, |b| b != b'\n');
    while matches!(bytes.get(end + 1), Some(b' ' | b'\t')) {
        end = run(bytes, end + 1, |b| b != b'\n');
    }
    (end >= start + 3).then_some(start..end)
}

/// The command whose output is the value, to its end: `$(…)`, or between backticks. One word alone holds no secret.
fn substitution(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    if bytes[start] == b'`' {
        let end = run(bytes, start + 1, |b| b != b'`' && b != b'\n');
        return (end >= start + 4 && bytes[start..end].contains(&b' ')).then_some(start + 1..end);
    }
    let (mut depth, mut end) = (1, start + 2);
    // A longer command is no way to a secret, and what does not close is not searched again from each of its names.
    let last = bytes.len().min(start + LONGEST);
    while end < last && bytes[end] != b'\n' {
        match bytes[end] {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        end += 1;
    }
    (end >= start + 5 && bytes[start..end].contains(&b' ')).then_some(start + 2..end)
}

/// The text of an XML element that is named as a secret is, and of a property list's string behind such a key.
pub(super) fn in_element(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let name_end = run(bytes, at + 1, |b| in_key(b) || b == b':');
    let name = text.get(at + 1..name_end)?;
    let opened = run(bytes, name_end, |b| b != b'>' && b != b'<' && b != b'\n');
    if bytes.get(opened) != Some(&b'>') || bytes[opened - 1] == b'/' {
        return None;
    }
    let text_end = |start: usize| run(bytes, start, |b| b != b'<');
    let start = match name {
        "key" => {
            let end = text_end(opened + 1);
            let after = text.get(end..)?.strip_prefix("</key>")?.trim_start().strip_prefix("<string>")?;
            is_secret_key(text.get(opened + 1..end)?).then_some(text.len() - after.len())?
        }
        _ if is_secret_key(name.rsplit(':').next().unwrap_or(name)) => {
            let inside = text.get(opened + 1..)?;
            opened + 1 + inside.strip_prefix("<![CDATA[").map_or(0, |_| 9)
        }
        _ => return None,
    };
    let end = text_end(start);
    let end = if text.get(start..end).is_some_and(|inside| inside.ends_with("]]>")) { end - 3 } else { end };
    (end >= start + 3).then_some(start..end)
}

/// The password of a netrc file's line, or of several: `login NAME password SECRET`.
pub(super) fn in_login(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    if !bytes[at..].starts_with(b"password") || !bytes.get(at + 8)?.is_ascii_whitespace() {
        return None;
    }
    let before = &bytes[at.saturating_sub(BEFORE)..at];
    let mut words = before.rsplit(|b| b.is_ascii_whitespace()).filter(|word| !word.is_empty());
    let start = run(bytes, at + 8, |b| b.is_ascii_whitespace());
    let end = run(bytes, start, |b| !b.is_ascii_whitespace());
    (words.nth(1) == Some(b"login") && end >= start + 3).then_some(start..end)
}
