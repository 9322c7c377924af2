//! Globs over addresses, compared part by part: scheme, host, port, path and query. A wildcard never reaches into the next
//! part. Resolves no name.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use super::holds::Holds;
use crate::behavior::wildcards::{Wildcard, matches};

/// A glob that has `://` in it.
#[derive(Clone)]
pub(super) struct AddressGlob {
    scheme: Vec<Wildcard>,
    /// In small letters, without the dot at its end.
    host: Vec<Wildcard>,
    /// `None`: the scheme's own port.
    port: Option<Vec<Wildcard>>,
    /// Path and query.
    tail: Vec<Wildcard>,
    /// Where the query begins in `tail`.
    query: Option<usize>,
}

/// An address whose parts every program reads alike.
struct Address {
    scheme: String,
    host: String,
    port: Option<String>,
    path: String,
    /// Query and fragment, each with its mark.
    rest: String,
}

/// What a text is as an address.
enum Reading {
    No,
    /// Programs differ on where it leads.
    Odd,
    Plain(Address),
}

/// The schemes that browsers read without `//` or with backslashes too, with their ports.
const SPECIAL: &[(&str, &str)] =
    &[("http", "80"), ("https", "443"), ("ws", "80"), ("wss", "443"), ("ftp", "21"), ("file", "")];

impl AddressGlob {
    /// Takes a glob apart; `None` if it is none over addresses.
    pub(super) fn new(parts: &[Wildcard]) -> Option<Self> {
        use Wildcard::{Exactly, Many};
        let at = parts.windows(3).position(|three| three == [Exactly(':'), Exactly('/'), Exactly('/')])?;
        let behind = &parts[at + 3..];
        let end = behind.iter().position(|part| matches!(part, Exactly('/' | '?' | '#'))).unwrap_or(behind.len());
        let (authority, tail) = behind.split_at(end);
        let (host, port) = match authority.iter().rposition(|part| *part == Exactly(':')) {
            Some(colon) => (&authority[..colon], Some(authority[colon + 1..].to_vec())),
            None => (authority, None),
        };
        let host = host.strip_suffix(&[Exactly('.')]).unwrap_or(host);
        let tail = match (tail, authority) {
            // `https://example.com*` means all that is there.
            ([], [.., Many]) => vec![Many],
            ([], _) => vec![Exactly('/')],
            (tail, _) => tail.to_vec(),
        };
        let query = tail.iter().position(|part| *part != Many && (part.matches('?') || part.matches('#')));
        Some(Self { scheme: lower(&parts[..at]), host: lower(host), port, tail, query })
    }

    /// Whether a text is an address that it matches; `as_text` says whether it matches as any text.
    pub(super) fn holds(&self, text: &str, as_text: impl FnOnce() -> bool) -> Holds {
        match Reading::of(text) {
            Reading::No if !as_text() => Holds::No,
            Reading::No | Reading::Odd => Holds::Undecided,
            Reading::Plain(address) => {
                let scheme = Holds::from(matches(&self.scheme, &address.scheme));
                scheme.min(self.holds_host(&address.host)).min(self.holds_port(&address)).min(self.holds_tail(&address))
            }
        }
    }

    /// Label by label: a `*` that is the whole first label matches one label or more.
    fn holds_host(&self, host: &str) -> Holds {
        let wanted: Vec<&[Wildcard]> = self.host.split(|part| *part == Wildcard::Exactly('.')).collect();
        let labels: Vec<&str> = host.split('.').collect();
        let (wanted_end, end) = match wanted.split_first() {
            Some(([Wildcard::Many], end)) if labels.len() > end.len() => (end, &labels[labels.len() - end.len()..]),
            _ => (wanted.as_slice(), labels.as_slice()),
        };
        let fits = || wanted_end.iter().zip(end).all(|(wanted, label)| matches(wanted, label));
        if wanted_end.len() == end.len() && fits() {
            return Holds::Yes;
        }
        // `*evil.io` over `a.evil.io`: a deny may mean that.
        if matches(&self.host, host) { Holds::Undecided } else { Holds::No }
    }

    fn holds_port(&self, address: &Address) -> Holds {
        let usual = SPECIAL.iter().find(|(scheme, _)| *scheme == address.scheme).map_or("", |(_, port)| *port);
        match (&self.port, address.port.as_deref()) {
            (Some(wanted), port) => matches(wanted, port.unwrap_or(usual)).into(),
            (None, Some(port)) if port != usual => Holds::Undecided,
            (None, _) => Holds::Yes,
        }
    }

    /// As it is written and with its escapes decoded: the two must agree.
    fn holds_tail(&self, Address { path, rest, .. }: &Address) -> Holds {
        let decoded = percent_decode_str(path).decode_utf8().unwrap_or(Cow::Borrowed(path));
        Holds::of_every([path.as_str(), &decoded].into_iter().map(|path| self.holds_path(path, rest)))
    }

    fn holds_path(&self, path: &str, rest: &str) -> Holds {
        match self.query {
            None if !matches(&self.tail, path) => Holds::No,
            // `/*` covers every query of its path; a path alone says nothing of queries.
            None if rest.is_empty() || self.tail.last() == Some(&Wildcard::Many) => Holds::Yes,
            None => Holds::Undecided,
            // A `?` is any character or begins the query: where that makes a difference, nobody knows.
            Some(at) => {
                let (wanted_path, wanted_rest) = self.tail.split_at(at);
                let as_text = matches(&self.tail, &format!("{path}{rest}"));
                let by_part = matches(wanted_path, path) && matches(wanted_rest, rest);
                if rest.is_empty() || by_part == as_text { as_text.into() } else { Holds::Undecided }
            }
        }
    }
}

/// Whether a text is an address, or what some program would read as one.
pub(super) fn is_address(text: &str) -> bool {
    !matches!(Reading::of(text), Reading::No)
}

impl Reading {
    fn of(text: &str) -> Self {
        // Most texts are none, and are not looked at further.
        if !text.contains(':') {
            return Self::No;
        }
        let shown = text.trim_start_matches(|c: char| c <= ' ');
        let Some((scheme, behind)) = shown.split_once(':') else { return Self::No };
        let scheme: String = scheme.chars().filter(|c| !c.is_control()).collect::<String>().to_ascii_lowercase();
        let of_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        if !scheme.starts_with(|c: char| c.is_ascii_alphabetic()) || !scheme.chars().all(of_scheme) {
            return Self::No;
        }
        let is_special = SPECIAL.iter().any(|(special, _)| *special == scheme);
        match behind.strip_prefix("//") {
            Some(behind) if !text.contains(is_odd) => match Address::new(scheme, behind, is_special) {
                Some(address) => Self::Plain(address),
                None => Self::Odd,
            },
            None if !is_special => Self::No,
            Some(_) | None => Self::Odd,
        }
    }
}

impl Address {
    /// Reads what follows `scheme://`; `None` where programs differ on what it means.
    fn new(scheme: String, behind: &str, is_special: bool) -> Option<Self> {
        let end = behind.find(['/', '?', '#']).unwrap_or(behind.len());
        let (authority, tail) = behind.split_at(end);
        let (path, rest) = tail.split_at(tail.find(['?', '#']).unwrap_or(tail.len()));
        let (host, port) = match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        };
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_port = |port: &str| is_number(port) && !port.starts_with('0') && port.parse::<u16>().is_ok();
        let sound = (is_plain_host(&host) || host.is_empty() && (!is_special || scheme == "file"))
            && port.is_none_or(is_port)
            && !path.split('/').any(|word| matches!(word, "." | ".."))
            && !hides_a_separator(path);
        let path = if path.is_empty() { "/" } else { path };
        sound.then(|| Self {
            scheme,
            host,
            port: port.map(str::to_owned),
            path: path.to_owned(),
            rest: rest.to_owned(),
        })
    }
}

/// Characters that programs drop, or read as another one.
fn is_odd(c: char) -> bool {
    c.is_control() || c.is_whitespace() || c == '\\'
}

/// Names in ASCII, and numbers in the one way that everybody reads alike: `127.0.0.1`.
fn is_plain_host(host: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let is_byte = |label: &str| label.parse::<u8>().is_ok_and(|byte| byte.to_string() == label);
    let labels: Vec<&str> = host.split('.').collect();
    let last = labels.last().copied().unwrap_or_default();
    let is_number = last.starts_with("0x") || last.bytes().all(|byte| byte.is_ascii_digit());
    labels.iter().all(|label| !label.is_empty() && label.bytes().all(plain))
        && (!is_number || labels.len() == 4 && labels.iter().all(|label| is_byte(label)))
}

/// Whether a path has an escape that means something once it is decoded: a separator, a dot, another escape, a control.
fn hides_a_separator(path: &str) -> bool {
    path.split('%').skip(1).any(|escape| {
        let code = escape.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        code.is_none_or(|code| {
            code.is_ascii_control() || matches!(code, b'/' | b'\\' | b'.' | b'%' | b'?' | b'#' | b';')
        })
    })
}

fn lower(parts: &[Wildcard]) -> Vec<Wildcard> {
    let one = |part: &Wildcard| match part {
        Wildcard::Exactly(c) => Wildcard::Exactly(c.to_ascii_lowercase()),
        other @ (Wildcard::One | Wildcard::Many | Wildcard::Class { .. }) => other.clone(),
    };
    parts.iter().map(one).collect()
}
