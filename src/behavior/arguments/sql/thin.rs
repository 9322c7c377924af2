//! Takes long lists of values out of a text before it is parsed: `IN (1, 2, 3, …)` means to a grammar what `IN (1)` means.
//!
//! Only what no grammar could read otherwise goes: plain numbers and plain strings behind `IN (`, nothing but spaces
//! between them. The parser's own cutting still sees every quote, comment and sign that could open something.

use std::borrow::Cow;

use super::gate::Cut;
use super::lex::{Kind, Token};

/// The text without all but the first value of each list behind `IN (`, and how many tokens it has.
pub(super) fn thinned<'a>(cut: Cut<'a>) -> (Cow<'a, str>, usize) {
    let mut left = cut.tokens.len();
    let mut thin = String::new();
    let mut kept_to = 0;
    let mut at = 0;
    while let Some(token) = cut.tokens.get(at) {
        let first = at + 2;
        if token.end - token.start != 2 || !cut.is(at, "IN") || !cut.is_sign(at + 1, b'(') || !is_plain(cut, first) {
            at += 1;
            continue;
        }
        let mut last = first;
        while cut.is_sign(last + 1, b',') && is_plain(cut, last + 2) && follows(cut, last) && follows(cut, last + 1) {
            last += 2;
        }
        if last > first {
            thin.push_str(&cut.text[kept_to..cut.tokens[first].end]);
            kept_to = cut.tokens[last].end;
            left -= last - first;
        }
        at = last + 1;
    }
    if kept_to == 0 {
        return (Cow::Borrowed(cut.text), left);
    }
    thin.push_str(&cut.text[kept_to..]);
    (Cow::Owned(thin), left)
}

/// Whether nothing but spaces is between the token at `at` and the next.
fn follows(cut: Cut<'_>, at: usize) -> bool {
    match cut.tokens.get(at..) {
        Some([one, next, ..]) => cut.text[one.end..next.start].bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n')),
        _ => false,
    }
}

/// Digits, or a string of letters, digits and what is in dates and identifiers: the same to every dialect.
fn is_plain(cut: Cut<'_>, at: usize) -> bool {
    let Some(Token { kind: Kind::Literal, start, end }) = cut.tokens.get(at) else { return false };
    let text = &cut.text[*start..*end];
    let inside =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'_' | b'.' | b':' | b'@' | b'+' | b'-');
    match text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        Some(string) => string.bytes().all(inside),
        None => text.bytes().all(|byte| byte.is_ascii_digit()),
    }
}
