//! HTTP in arguments: methods, overriding headers, addresses. Judges the request; what the server makes of it is its own.

use super::effect::{Effect, Found};
use crate::behavior::taxonomy::Action;

/// A request with this method, that does `change` or, where that is `None`, reads.
pub fn request(method: &str, url: Option<&str>, change: Option<Action>) -> Found {
    let method = method.trim();
    let shown: String = method.chars().take(24).collect::<String>().to_uppercase();
    let says = match url.and_then(host) {
        Some(host) => format!("{shown} to {host}"),
        None => format!("an HTTP {shown}"),
    };
    match change {
        None => Found::new(Effect::ReadElsewhere, Action::Read, method, says),
        Some(Action::Unknown) => Found::new(Effect::Unknown, Action::Unknown, method, says),
        Some(Action::Execute) => Found::new(Effect::Execute, Action::Execute, method, says),
        Some(action) => Found::new(Effect::Write, action, method, says),
    }
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
    const OVERRIDES: [&str; 4] =
        ["x-http-method-override", "x-http-method", "x-method-override", "http-method-override"];
    let name = name.trim().replace('_', "-");
    OVERRIDES.iter().any(|known| name.eq_ignore_ascii_case(known)).then(|| value.trim())
}

/// As [`overriding`], of a whole line: `X-HTTP-Method-Override: DELETE`.
pub fn overriding_line(line: &str) -> Option<&str> {
    let (name, value) = line.split_once(':').or_else(|| line.split_once('='))?;
    overriding(name, value)
}

/// The method that an address's query puts in the place of the request's own: `?_method=DELETE`.
pub fn method_of_query(url: &str) -> Option<&str> {
    let (_, query) = url.split_once('?')?;
    query.split(['&', ';', '#']).find_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        let named =
            ["_method", "x-http-method-override", "_httpmethod"].iter().any(|known| name.eq_ignore_ascii_case(known));
        named.then_some(value)
    })
}

/// An address that is code: `javascript:…`.
pub fn code(url: &str) -> Option<Found> {
    let plain: String = url.chars().filter(|c| !c.is_whitespace() && !c.is_control()).take(12).collect();
    let lower = plain.to_ascii_lowercase();
    let scheme = ["javascript:", "vbscript:"].into_iter().find(|scheme| lower.starts_with(scheme))?;
    let says = format!("runs the code of a {scheme} address");
    Some(Found::new(Effect::Execute, Action::Execute, url.chars().take(60).collect::<String>(), says))
}
