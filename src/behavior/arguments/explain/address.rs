//! Web addresses: http and https, each part of them explained. Other schemes, user info and overriding methods are not.

use percent_encoding::percent_decode_str;

use super::key::Key;
use super::text;
use crate::behavior::arguments::choice::{self, Choice};
use crate::behavior::arguments::http;

/// A longer address is not read.
const LONGEST: usize = 8 * 1024;
/// How deep addresses within addresses are followed.
const DEEPEST: usize = 2;

/// Whether the text begins as a web address does.
pub fn is_web(text: &str) -> bool {
    let begins = |scheme: &str| text.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme));
    begins("http://") || begins("https://")
}

/// Why a web address is not explained, if it is not.
pub fn check(text: &str, depth: usize) -> Result<(), &'static str> {
    let Some((_, rest)) = text.split_once("://") else { return Err("is not a web address") };
    if text.len() > LONGEST || depth > DEEPEST {
        return Err("is an address too long to be read");
    }
    if !text.chars().all(is_plain) || text.contains("$(") {
        return Err("is an address with an invalid character");
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let host = authority.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let host = host.map_or(authority, |(host, _)| host);
    let is_host = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '[' | ']' | ':');
    if authority.contains('@') {
        return Err("is an address with a user name or password in it");
    }
    if host.is_empty()
        || !host.chars().all(is_host)
        || host.starts_with('-')
        || (host.contains(':') && !host.starts_with('['))
    {
        return Err("is an address whose host cannot be read");
    }
    check_path(rest, depth)
}

/// The same for what follows the host: a path, a query, a fragment.
pub fn check_path(rest: &str, depth: usize) -> Result<(), &'static str> {
    if rest.len() > LONGEST || !rest.chars().all(is_plain) {
        return Err("is an address with an invalid character");
    }
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let Some(path) = decoded(path) else { return Err("is an address with control characters") };
    if !path.split('/').all(|part| !part.starts_with('-') && part.chars().all(|c| is_plain(c) || c == ' '))
        || path.contains("$(")
    {
        return Err("is an address whose path cannot be read");
    }
    if acts_on_a_thing(&path) {
        return Err("is an address that names an action that changes something");
    }
    if !fragment.is_empty() && decoded(fragment).is_none_or(|plain| plain.contains(['<', '>', '`', '{'])) {
        return Err("is an address whose fragment cannot be read");
    }
    query.split('&').filter(|pair| !pair.is_empty()).try_for_each(|pair| parameter(pair, depth))
}

/// Whether a path ends in an act on what is named before it: `/orders/7/cancel`, `/jobs/a:cancel`. `/cli/install` is a page.
fn acts_on_a_thing(path: &str) -> bool {
    let mut segments = path.trim_end_matches('/').rsplit('/');
    let (last, before) = (segments.next().unwrap_or_default(), segments.next().unwrap_or_default());
    let by_colon = last.rsplit_once(':').is_some_and(|(_, act)| choice::is_firm_change(act));
    by_colon || (before.contains(|c: char| c.is_ascii_digit()) && choice::is_firm_change(last))
}

fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || "-._~:/?#[]@!$&'()*+,=%".contains(c)
}

/// One `name=value` of a query.
fn parameter(pair: &str, depth: usize) -> Result<(), &'static str> {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    let plus = |text: &str| text.replace('+', " ");
    let (Some(name), Some(value)) = (decoded(&plus(name)), decoded(&plus(value))) else {
        return Err("is an address with control characters");
    };
    let key = Key::of(&name);
    if http::is_override(&name)
        || (matches!(key.choice, Choice::Method | Choice::Act | Choice::Named)
            && !value.is_empty()
            && !choice::is_known_read(&value))
    {
        return Err("is an address that chooses an action");
    }
    if !key.languages.is_empty() {
        return Err("is an address with a statement in it");
    }
    if key.acts == super::key::Acts::Changes && !matches!(value.as_str(), "" | "0" | "false" | "no") {
        return Err("is an address that turns a change on");
    }
    match text::of(&value, key.role, depth + 1) {
        Ok(_) => Ok(()),
        Err(_) => Err("is an address with a parameter that is not explained"),
    }
}

/// The text with its percent escapes decoded until none are left; `None` where that shows a control character, or takes
/// more rounds than any program would make.
pub fn decoded(text: &str) -> Option<String> {
    let mut plain = text.to_owned();
    for _ in 0..4 {
        if plain.chars().any(char::is_control) {
            return None;
        }
        if !plain.contains('%') {
            return Some(plain);
        }
        let next = percent_decode_str(&plain).decode_utf8().ok()?;
        if next == plain {
            return Some(plain);
        }
        plain = next.into_owned();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn an_escape_is_two_hex_digits_and_no_sign() {
        assert_eq!(decoded("100%+5%2B%+41%").as_deref(), Some("100%+5+%+41%"));
        assert_eq!(decoded("%25%32%35%35").as_deref(), Some("%5"), "as often as somebody might");
        assert_eq!((decoded("%2500"), decoded("%ff")), (None, None), "a control character, and no text");
    }
}
