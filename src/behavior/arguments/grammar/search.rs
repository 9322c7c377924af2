//! Words to search for as mail, issues and indexes take them: `from:ana is:unread`, `level:[12 TO *] AND host:"web-01"`.
//! Matchers of labels too: `{service="checkout"}`. Knows no field.

use crate::behavior::signs::{Signs, signs};

/// A longer text is not read.
const LONGEST: usize = 2 * 1024;
/// How deep brackets in brackets are followed.
const DEEPEST: usize = 8;

/// Whether a text is words of which one at least is in a field, read to its end.
///
/// `-` may come only before a field (`-label:done`), and what is before a colon is a name that no program follows.
pub fn reads(text: &str) -> bool {
    if text.len() > LONGEST || !Signs::of(text).has(signs(b":{")) {
        return false;
    }
    let text = text.trim();
    if let Some(inner) = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        return matchers(inner);
    }
    let mut fields = 0;
    words(text, 0, &mut fields) == Some("") && fields > 0
}

/// Words up to the end or a closing bracket; what is left behind them.
fn words<'a>(mut rest: &'a str, depth: usize, fields: &mut usize) -> Option<&'a str> {
    loop {
        rest = rest.trim_start_matches(' ');
        if rest.is_empty() || rest.starts_with(')') {
            return Some(rest);
        }
        rest = word(rest, depth, fields)?;
        // What follows a word is a space, an end, or the bracket around it.
        if !(rest.is_empty() || rest.starts_with([' ', ')'])) {
            return None;
        }
    }
}

fn word<'a>(text: &'a str, depth: usize, fields: &mut usize) -> Option<&'a str> {
    if let Some(inner) = text.strip_prefix('(') {
        return group(inner, depth, fields);
    }
    if let Some(rest) = quoted(text) {
        return Some(rest);
    }
    let (denied, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('@').unwrap_or(text)),
    };
    let end = text.find(|c: char| !is_part(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let value = rest.strip_prefix(':');
    if name.is_empty() || name.starts_with('-') || (denied && value.is_none()) {
        return None;
    }
    let Some(value) = value else { return Some(rest) };
    if !crate::behavior::arguments::explain::name::is_without_scheme(&format!("{name}:x")) {
        return None;
    }
    *fields += 1;
    let bound = value.trim_start_matches(['<', '>', '=']);
    // A name behind `>` may be a file that a shell writes.
    if bound.len() < value.len() && !bound.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let value = bound;
    if let Some(inner) = value.strip_prefix('(') {
        return group(inner, depth, fields);
    }
    if value.starts_with(['[', '{']) {
        return range(value);
    }
    if let Some(rest) = quoted(value) {
        return Some(rest);
    }
    let end = value.find(|c: char| !(is_part(c) || matches!(c, '@' | '/' | '*' | ':' | ','))).unwrap_or(value.len());
    let (value, rest) = value.split_at(end);
    (!value.is_empty() && !value.starts_with(['/', ':', '-']) && !value.contains("//") && !value.contains(".."))
        .then_some(rest)
}

fn group<'a>(inner: &'a str, depth: usize, fields: &mut usize) -> Option<&'a str> {
    if depth >= DEEPEST {
        return None;
    }
    words(inner, depth + 1, fields)?.strip_prefix(')')
}

/// `[12 TO *]`, `{a TO b}`, `{shoes}`.
fn range(text: &str) -> Option<&str> {
    let end = text.find([']', '}'])?;
    let inner = text.get(1..end)?;
    let fits = |c: char| is_part(c) || matches!(c, ' ' | '*' | ':' | '+');
    (inner.chars().all(fits) && !inner.contains(" -")).then(|| text.get(end + 1..))?
}

/// What is left behind a quoted phrase.
fn quoted(text: &str) -> Option<&str> {
    let (inner, rest) = text.strip_prefix('"')?.split_once('"')?;
    (!inner.contains(['\\', '`', '$', '\'']) && !inner.chars().any(char::is_control)).then_some(rest)
}

fn is_part(c: char) -> bool {
    super::super::explain::name::is_letter(c) || matches!(c, '_' | '.' | '-')
}

/// `service="checkout", status!~"5.."`.
fn matchers(inner: &str) -> bool {
    inner.split(',').all(|matcher| {
        let matcher = matcher.trim();
        let end = matcher.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(matcher.len());
        let (name, rest) = matcher.split_at(end);
        let value = ["=~", "!~", "!=", "="].iter().find_map(|sign| rest.strip_prefix(sign));
        !name.is_empty() && value.is_some_and(|value| quoted(value.trim_start()) == Some(""))
    })
}
