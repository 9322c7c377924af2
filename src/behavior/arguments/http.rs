//! HTTP in arguments: methods, overriding headers, addresses. Judges the request; what the server makes of it is its own.

use super::effect::{Effect, Meaning};
use crate::behavior::shape::decoded;
use crate::behavior::taxonomy::Action;

/// A request with this method, that does `change` or, where that is `None`, reads.
pub fn request(method: &str, url: Option<&str>, change: Option<Action>) -> Meaning {
    let method = method.trim();
    let shown: String = method.chars().take(24).collect::<String>().to_uppercase();
    let says = match url.and_then(host) {
        Some(host) => format!("{shown} to {host}"),
        None => format!("an HTTP {shown}"),
    };
    let (effect, action) = change.map_or((Effect::ReadElsewhere, Action::Read), |one| (Effect::of(one), one));
    Meaning::new(effect, action, method, says)
}

/// The host of an address, without its user and path; the path alone where there is no host.
fn host(url: &str) -> Option<String> {
    let url = url.trim();
    if url.is_empty() {
        return None;
    }
    let rest = url.split_once("://").map(|(_, rest)| rest);
    let authority = rest.map(|rest| rest.split(['/', '?', '#', '\\']).next().unwrap_or(rest));
    let host = authority.map(|authority| authority.rsplit_once('@').map_or(authority, |(_, host)| host));
    Some(host.unwrap_or_else(|| url.split(['?', '#']).next().unwrap_or(url)).chars().take(60).collect())
}

/// The method that a header's name and value put in the place of the request's own.
pub fn overriding<'a>(name: &str, value: &'a str) -> Option<&'a str> {
    is_override(name).then(|| value.trim())
}

/// As [`overriding`], of any line of a text: `X-HTTP-Method-Override: DELETE`.
pub fn overriding_line(text: &str) -> Option<&str> {
    text.split(['\r', '\n']).find_map(|line| {
        let (name, value) = line.split_once(':').or_else(|| line.split_once('='))?;
        overriding(name, value)
    })
}

/// The method that an address's query puts in the place of the request's own: `?_method=DELETE`.
pub fn method_of_query(url: &str) -> Option<&str> {
    let (_, query) = url.split_once('?')?;
    query.split(['&', ';', '#', '?']).find_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        let name = decoded(name)?;
        is_override(&name).then_some(value)
    })
}

/// Whether a name, in any spelling, replaces the request's own method. `method` alone is the request's own.
pub fn is_override(name: &str) -> bool {
    let name = name.trim();
    let is_in_header = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b' ');
    if !name.bytes().all(is_in_header) || name.len() > 64 {
        return false;
    }
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    (plain == "method" && name.starts_with(['_', '-']))
        || ["methodoverride", "httpmethod", "overridemethod", "xmethod", "httpverb", "verboverride"]
            .iter()
            .any(|known| plain.contains(known))
}

/// An address that is code: `javascript:…`.
pub fn code(url: &str) -> Option<Meaning> {
    if !url.contains(':') {
        return None;
    }
    let plain: String = url.chars().filter(|c| !c.is_whitespace() && !c.is_control()).take(12).collect();
    let lower = plain.to_ascii_lowercase();
    let scheme = ["javascript:", "vbscript:"].into_iter().find(|scheme| lower.starts_with(scheme))?;
    let says = format!("runs the code of a {scheme} address");
    Some(Meaning::runs(url.chars().take(60).collect::<String>(), says))
}
