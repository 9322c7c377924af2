//! A server behind a URL: the stdio bridge that reaches it, its name, and its headers, which no command line shows.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The bridge, at the version that was tested. npx fetches it if it is not there yet.
const BRIDGE: &str = "mcp-remote@0.15.1";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bridge {
    /// The command line, without any header's value.
    pub command: Vec<OsString>,
    /// The headers' values, for the bridge alone.
    pub environment: Vec<(OsString, OsString)>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Unreachable {
    pub what: String,
    pub hint: String,
}

pub fn is_url(word: &str) -> bool {
    split(word).is_some()
}

impl Bridge {
    /// The bridge to `url`. `headers` are written `Name: value`; `variable` gives the value of `${NAME}`.
    pub fn to(url: &str, headers: &[String], variable: impl Fn(&str) -> Option<String>) -> Result<Self, Unreachable> {
        let wrong = |what: &str, hint: &str| Err(Unreachable { what: what.to_owned(), hint: hint.to_owned() });
        let odd = |c: char| !c.is_ascii_graphic() || "\"<>\\^`{|}".contains(c);
        let Some((scheme, authority)) = split(url).filter(|_| !url.contains(odd)) else {
            return wrong("this is not the URL of a server", "write it whole: https://mcp.example.com/mcp");
        };
        if authority.contains('@') {
            return wrong(
                "the URL has a user's name or password in it",
                "give it as a header: --header 'Authorization: ${TOKEN}'",
            );
        }
        let host = host(authority);
        if host.is_empty() {
            return wrong("the URL names no host", "write it whole: https://mcp.example.com/mcp");
        }
        let mut command: Vec<OsString> = ["npx", "-y", BRIDGE, url].map(OsString::from).into();
        if scheme == "http" {
            if !is_loopback(host) {
                return wrong(
                    "http:// sends every call and every header in the clear",
                    "use https://; http:// is only for this machine (localhost, 127.0.0.1, [::1])",
                );
            }
            command.push("--allow-http".into());
        }
        let mut environment = Vec::new();
        for (at, header) in headers.iter().enumerate() {
            let Some((name, value)) = header.split_once(':').filter(|(name, _)| is_field_name(name)) else {
                // It may be a secret that was put in the wrong place: it is not repeated.
                return wrong("a header has no name", "write it as --header 'Authorization: Bearer ${TOKEN}'");
            };
            let value = expanded(value.trim(), &variable).map_err(|missing| Unreachable {
                what: format!("the header {name} needs the environment variable {missing}, which is not set"),
                hint: "set it for the host, or under `env` in its configuration".to_owned(),
            })?;
            if value.is_empty() || value.contains(char::is_control) {
                return wrong(&format!("the header {name} has no value that can be sent"), "write one line of text");
            }
            let key = format!("MCP_APPROVE_HEADER_{}", at + 1);
            command.extend(["--header".into(), format!("{name}:${{{key}}}").into()]);
            environment.push((key.into(), value.into()));
        }
        Ok(Self { command, environment })
    }
}

/// The name of the server that a bridge's command line reaches; `None` where `target` is no bridge.
pub(super) fn name(target: &str, words: &[&str]) -> Option<String> {
    let package = target.split_once('@').map_or(target, |(name, _)| name);
    let url = words.iter().find(|word| package == "mcp-remote" && is_url(word))?;
    let (_, authority) = split(url)?;
    let authority = authority.rsplit('@').next().unwrap_or(authority);
    let host = host(authority);
    let mut labels: Vec<&str> = host.split('.').collect();
    if labels.len() > 1 && host.parse::<IpAddr>().is_err() {
        labels.pop();
        // `mcp.example.com` is `example`.
        let own = |label: &&str| !["www", "mcp", "api"].contains(label);
        labels = if labels.iter().any(own) { labels.into_iter().filter(own).collect() } else { labels };
    }
    let port = authority.strip_prefix(host).and_then(|rest| rest.strip_prefix(':'));
    Some(
        labels.join(".").trim_matches(['[', ']', ':']).to_owned()
            + &port.map(|port| format!("-{port}")).unwrap_or_default(),
    )
}

/// `http` or `https`, and what is before the path: host and port.
fn split(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    matches!(scheme, "http" | "https").then_some((scheme, authority))
}

fn host(authority: &str) -> &str {
    match authority.find(']') {
        Some(end) if authority.starts_with('[') => &authority[..=end],
        _ => authority.split(':').next().unwrap_or_default(),
    }
}

/// Whether nothing leaves this machine. Other spellings of loopback addresses do not count.
fn is_loopback(host: &str) -> bool {
    let v6 = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    host == "localhost"
        || host.parse::<Ipv4Addr>().is_ok_and(|host| host.is_loopback())
        || v6.and_then(|host| host.parse::<Ipv6Addr>().ok()).is_some_and(|host| host.is_loopback())
}

/// RFC 9110, section 5.6.2: a token.
fn is_field_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// A value with each `${NAME}` replaced; a name without a value is the error.
fn expanded(value: &str, variable: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut pieces = value.split("${");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.split_once('}') {
            Some((name, rest)) => {
                out.push_str(&variable(name).ok_or_else(|| name.to_owned())?);
                out.push_str(rest);
            }
            None => out.extend(["${", piece]),
        }
    }
    Ok(out)
}
