//! Web addresses: which host one goes to, as it is agreed to, and what makes one ask on any host. Resolves no name.

use crate::behavior::arguments::{choice, path::decoded};
use crate::behavior::secrets;
use crate::behavior::words::{self, among, section};

const WORDS: &str = include_str!("../../../assets/words/hosts.txt");

/// A longer address always asks, in bytes.
const LONGEST: usize = 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Address {
    None,
    /// It goes to this host: `example.com`, `localhost:8080`, `pastebin.com/ada`.
    To(String),
    File(String),
    /// It always asks: why, in our words.
    Asks(&'static str),
}

/// Reads a text as an address: one with a scheme, or, where `bare` may be one, `label.tld` with or without a path.
pub(super) fn read(text: &str, bare: Bare) -> Address {
    let Some((scheme, rest)) = text.split_once("://") else {
        // `url:example.com` too.
        let behind = text.split_once(':').map(|(_, rest)| rest);
        let host = [Some(text), behind].into_iter().flatten().find(|text| is_bare(text));
        return host.filter(|_| bare == Bare::Counts).map_or(Address::None, web);
    };
    if text.chars().any(|c| c.is_whitespace() || c.is_control() || c == '\\') {
        return Address::Asks("an address with white space or a backslash in it");
    }
    match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" => web(rest),
        "file" => match decoded(rest).filter(|path| path.starts_with('/')) {
            Some(path) => Address::File(path),
            None => Address::Asks("a file address that cannot be read"),
        },
        _ => Address::Asks("an address that is neither http nor https"),
    }
}

/// Whether a text without a scheme may be an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bare {
    Counts,
    /// It is a path, or a text to search for.
    No,
}

/// `example.com`, `example.com/a`, `10.0.0.1:80/a`, `localhost:3000/a`.
fn is_bare(text: &str) -> bool {
    let end = text.find(['/', '?', '#']).unwrap_or(text.len());
    let (authority, rest) = text.split_at(end);
    let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
    let is_label =
        |label: &str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_');
    let labels: Vec<&str> = host.trim_end_matches('.').split('.').collect();
    let last = labels.last().copied().unwrap_or_default();
    let is_name = labels.len() > 1 && (2..=24).contains(&last.len()) && last.chars().all(char::is_alphabetic);
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = labels.len() == 4 && labels.iter().all(|label| label.bytes().all(|byte| byte.is_ascii_digit()));
    let goes_on = !rest.is_empty();
    labels.iter().all(|label| is_label(label))
        && (port.is_empty() || is_port)
        && (is_name || is_number && (goes_on || is_port) || is_port && goes_on || host == "localhost")
}

fn web(rest: &str) -> Address {
    if rest.len() > LONGEST {
        return Address::Asks("an address longer than 1,024 bytes");
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, behind) = rest.split_at(end);
    if authority.contains('@') {
        return Address::Asks("an address with a user in it");
    }
    let Some(host) = host(authority) else {
        return Address::Asks("an address whose host is not plain");
    };
    let Some(plain) = decoded(&behind.replace('+', " ")) else {
        return Address::Asks("an address with escapes that no program makes");
    };
    if !secrets::spans(rest).is_empty() || !secrets::spans(&plain).is_empty() || names_a_secret(behind) {
        return Address::Asks("an address with what looks like a secret");
    }
    if changes(&plain) {
        return Address::Asks("an address with a word that changes something");
    }
    let name = host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name);
    let is_shared = const { section(WORDS, "shared") }
        .split_whitespace()
        .any(|shared| name == shared || name.strip_suffix(shared).is_some_and(|head| head.ends_with('.')));
    let first = plain.trim_start_matches('/').split(['/', '?', '#']).next().unwrap_or_default();
    if is_shared && !first.is_empty() {
        return Address::To(format!("{host}/{first}"));
    }
    Address::To(host)
}

/// A host as it is agreed to: lower case, no dot at its end, its port where it is local. `None` where programs read it differently.
fn host(authority: &str) -> Option<String> {
    let (name, port) = match authority.rsplit_once(':') {
        Some((name, port)) if !name.ends_with(']') || authority.starts_with('[') => (name, port),
        _ => (authority, ""),
    };
    let (name, port) = if authority.ends_with(']') { (authority, "") } else { (name, port) };
    let is_port = port.is_empty() || port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit());
    let lower = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    let six = lower.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_six = six.is_some_and(|six| six.parse::<core::net::Ipv6Addr>().is_ok());
    let is_label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    if !is_port || !(is_six || lower.split('.').all(is_label)) {
        return None;
    }
    Some(if is_local(&lower) && !port.is_empty() { format!("{lower}:{port}") } else { lower })
}

/// Loopback, private, single-label, `.local` and number hosts.
fn is_local(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or_default();
    !host.contains('.')
        || last.bytes().any(|byte| byte.is_ascii_digit())
        || matches!(last, "local" | "localhost" | "internal" | "lan" | "home" | "corp" | "test" | "arpa")
}

/// Whether a path or query holds a word that changes something: `/users/5/delete`, `?transfer=1`. A title (`how-to-delete-a-branch`)
/// has more words than an act, a document (`.html`) is only named, and what is behind `#` stays with the client.
fn changes(plain: &str) -> bool {
    const MOST: usize = 3;
    let is_act = |part: &str| {
        let all = words::of_name(part);
        !all.is_empty()
            && all.len() <= MOST
            && (all.iter().any(|word| choice::is_firm_change(word)) || choice::changes(&all[0]))
    };
    let plain = plain.split('#').next().unwrap_or_default();
    let (path, query) = plain.split_once('?').unwrap_or((plain, ""));
    let last = path.rsplit('/').next().unwrap_or_default();
    let document =
        last.rsplit_once('.').filter(|(_, end)| among(&end.to_lowercase(), const { section(WORDS, "documents") }));
    let path_acts = match document {
        Some((name, _)) => is_act(name.split('.').next().unwrap_or_default()),
        None => path.split(['/', ';', ',', '.', ':', '&', '=']).any(is_act),
    };
    path_acts || query.split(['/', '?', '&', '=', ';', ',', '.', ':']).any(is_act)
}

/// Whether a parameter of the query is named as a secret is, and holds something.
fn names_a_secret(behind: &str) -> bool {
    let (_, query) = behind.split_once('?').unwrap_or_default();
    query
        .split(['&', ';', '#'])
        .filter_map(|pair| pair.split_once('='))
        .any(|(name, value)| !value.is_empty() && decoded(name).is_none_or(|name| secrets::is_secret_key(&name)))
}

/// Whether a word of a key says that it names a program, a user or a destination: such values are agreed to one by one.
pub(super) fn is_destination(word: &str) -> bool {
    among(word, const { section(WORDS, "one-by-one") })
}
