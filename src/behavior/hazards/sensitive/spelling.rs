//! Other spellings of the same text: percent signs, wide letters, escapes. Writes them plainly; judges nothing.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use unicode_normalization::{UnicodeNormalization, is_nfkc};

/// The text with one layer of percent encoding and compatibility letters taken off; `None` where there is none.
pub(super) fn plainer(text: &str) -> Option<String> {
    let decoded = decoded(text);
    let folded = folded(decoded.as_deref().unwrap_or(text));
    folded.or(decoded)
}

/// `/etc/%73hadow` to `/etc/shadow`.
fn decoded(text: &str) -> Option<String> {
    match Cow::from(percent_decode_str(text)) {
        Cow::Owned(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Cow::Borrowed(_) => None,
    }
}

/// Letters as host names and some file systems fold them: `ｓｓｈ` to `ssh`, and the ideographic full stop to a dot.
fn folded(text: &str) -> Option<String> {
    let stop = |c: char| matches!(c, '。' | '｡');
    if text.is_ascii() || (is_nfkc(text) && !text.contains(stop)) {
        return None;
    }
    Some(text.chars().map(|c| if stop(c) { '.' } else { c }).nfkc().collect())
}

/// The text without detours: `/etc//x/./../shadow` to `/etc/shadow`.
pub(super) fn straight(text: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split(['/', '\\']) {
        match part {
            "" | "." if !parts.is_empty() => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// The text without the backslashes that escape a letter: `/etc/sh\adow`, as a pattern reads it.
pub(super) fn without_escapes(text: &str) -> Option<String> {
    let mut rest = text.chars().peekable();
    let mut out = String::new();
    while let Some(c) = rest.next() {
        if c != '\\' || !rest.peek().is_some_and(|next| next.is_alphanumeric() || matches!(next, '.' | '_' | '-')) {
            out.push(c);
        }
    }
    (out.len() < text.len()).then_some(out)
}
