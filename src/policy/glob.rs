//! Globs over names: `*`, `?`, `[a-z]`, `[!a-z]`, `\` before a literal. The whole name, by character, case-sensitive.
//!
//! By character and not by byte: `?` and `[é]` must not miss letters outside ASCII, since a deny must not miss. There is
//! no separator: `*` matches `/` too. Only addresses are compared part by part (scheme, host, port, path and query), so that
//! a wildcard never reaches into the next part. Resolves no name.

use std::borrow::Cow;
use std::fmt;

use memchr::memmem;
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};

use crate::wire::wildcards::{self, Sense, Wildcard, matches};

#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Glob {
    text: String,
    how: Matcher,
    /// Where it has `://`: how it matches addresses.
    address: Option<Box<AddressGlob>>,
}

/// The text alone decides what is compiled, so comparing it is enough.
impl PartialEq for Glob {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Glob {}

impl fmt::Debug for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Glob({:?})", self.text)
    }
}

#[derive(Clone)]
enum Matcher {
    /// No wildcard and no escape: the name is the text.
    Exact,
    /// No wildcard but `*`: the name begins with the first piece, ends with the last, and has the others in between, in
    /// their order. Character by character, a thousand of these over a text of 2 KB would take milliseconds.
    Pieces {
        first: String,
        between: Vec<String>,
        last: String,
    },
    Wildcards(Vec<Wildcard>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    #[error("an empty glob matches nothing")]
    Empty,
    #[error("a `[` without its `]`")]
    Open,
    #[error("`[]` holds no character")]
    EmptyClass,
    #[error("a range like `z-a` runs backwards")]
    Backwards,
    #[error("a `\\` at the end escapes nothing")]
    Dangling,
}

impl Glob {
    /// Whether it is a name itself: it matches nothing else.
    pub fn is_exact(&self) -> bool {
        matches!(self.how, Matcher::Exact)
    }

    /// Compiles a glob.
    /// Errors: [`GlobError`] when the text is empty or a class or escape in it is not complete.
    pub fn new(text: &str) -> Result<Self, GlobError> {
        if text.is_empty() {
            return Err(GlobError::Empty);
        }
        let mut parts = Vec::new();
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            parts.push(match c {
                '*' => Wildcard::Many,
                '?' => Wildcard::One,
                '[' => class(&mut rest)?,
                other => Wildcard::Exactly(literal(other, &mut rest)?),
            });
        }
        let address = AddressGlob::new(&parts).map(Box::new);
        let how = if text.contains(['*', '?', '[', '\\']) { Matcher::of(parts) } else { Matcher::Exact };
        Ok(Self { text: text.to_owned(), how, address })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it has `://`, and so compares addresses part by part.
    pub fn is_address(&self) -> bool {
        self.address.is_some()
    }

    /// Whether the whole of an argument matches: an address part by part, and no wildcard matches a line break.
    ///
    /// What only matches as a text, across such bounds, is undecided: an allow does not cover it, and a deny does.
    pub fn holds(&self, text: &str) -> Holds {
        if let Some(glob) = &self.address {
            return glob.holds(text, || self.matches(text));
        }
        let breaks = |text: &str| text.chars().filter(|c| is_line_break(*c)).count();
        match self.matches(text) {
            false => Holds::No,
            true if self.is_exact() => Holds::Yes,
            true if breaks(text) != breaks(&self.text) => Holds::Undecided,
            true if self.text != "*" && is_address(text) => Holds::Undecided,
            true => Holds::Yes,
        }
    }

    pub fn matches(&self, name: &str) -> bool {
        match &self.how {
            Matcher::Exact => self.text == name,
            Matcher::Pieces { first, between, last } => in_order(first, between, last, name),
            Matcher::Wildcards(parts) => wildcards::matches(parts, name),
        }
    }
}

impl TryFrom<String> for Glob {
    type Error = GlobError;

    fn try_from(text: String) -> Result<Self, GlobError> {
        Self::new(&text)
    }
}

impl From<Glob> for String {
    fn from(glob: Glob) -> Self {
        glob.text
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Matcher {
    fn of(parts: Vec<Wildcard>) -> Self {
        let plain = |piece: &[Wildcard]| -> Option<String> {
            let own = |part: &Wildcard| if let Wildcard::Exactly(c) = part { Some(*c) } else { None };
            piece.iter().map(own).collect()
        };
        let pieces: Option<Vec<String>> = parts.split(|part| *part == Wildcard::Many).map(plain).collect();
        match pieces.as_deref() {
            Some([first, between @ .., last]) => {
                Self::Pieces { first: first.clone(), between: between.to_vec(), last: last.clone() }
            }
            Some(_) | None => Self::Wildcards(parts),
        }
    }
}

/// A name as a glob that means just it.
pub fn escaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\x0b' | '\x0c' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn class(rest: &mut std::str::Chars<'_>) -> Result<Wildcard, GlobError> {
    let mut ranges = Vec::new();
    let mut next = rest.next().ok_or(GlobError::Open)?;
    let sense = if matches!(next, '!' | '^') { Sense::Others } else { Sense::These };
    if sense == Sense::Others {
        next = rest.next().ok_or(GlobError::Open)?;
    }
    while next != ']' {
        let low = literal(next, rest)?;
        let mut high = low;
        next = rest.next().ok_or(GlobError::Open)?;
        if next == '-' && !rest.as_str().starts_with(']') {
            let end = rest.next().ok_or(GlobError::Open)?;
            high = literal(end, rest)?;
            next = rest.next().ok_or(GlobError::Open)?;
        }
        if high < low {
            return Err(GlobError::Backwards);
        }
        ranges.push((low, high));
    }
    if ranges.is_empty() {
        return Err(GlobError::EmptyClass);
    }
    Ok(Wildcard::Class { ranges, sense })
}

fn literal(c: char, rest: &mut std::str::Chars<'_>) -> Result<char, GlobError> {
    if c == '\\' { rest.next().ok_or(GlobError::Dangling) } else { Ok(c) }
}

/// Whether the name begins with `first`, ends with `last`, and has the pieces in between, one after the other.
fn in_order(first: &str, between: &[String], last: &str, name: &str) -> bool {
    // Comparing with an empty text can take 80 ns: its pointer dangles, which slows down the C library's vector code.
    let inside = if first.is_empty() { Some(name) } else { name.strip_prefix(first) };
    let inside = if last.is_empty() { inside } else { inside.and_then(|rest| rest.strip_suffix(last)) };
    let Some(mut rest) = inside.map(str::as_bytes) else { return false };
    between.iter().all(|piece| {
        // The leftmost match leaves the most text for the pieces that follow.
        let behind = memmem::find(rest, piece.as_bytes()).and_then(|at| rest.get(at + piece.len()..));
        rest = behind.unwrap_or_default();
        behind.is_some()
    })
}

#[derive(Clone)]
pub(super) struct AddressGlob {
    scheme: Vec<Wildcard>,
    /// In small letters, without the dot at its end.
    host: Vec<Wildcard>,
    /// `None`: the scheme's own port.
    port: Option<Vec<Wildcard>>,
    tail: Vec<Wildcard>,
    /// Where the query begins in `tail`.
    query: Option<usize>,
}

/// An address whose parts every program reads alike.
struct AddressParts {
    scheme: String,
    host: String,
    port: Option<String>,
    path: String,
    /// Query and fragment, each with its mark.
    rest: String,
}

enum AddressReading {
    No,
    /// Programs differ on where it leads.
    Odd,
    Plain(AddressParts),
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
        match AddressReading::of(text) {
            AddressReading::No if !as_text() => Holds::No,
            AddressReading::No | AddressReading::Odd => Holds::Undecided,
            AddressReading::Plain(address) => {
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

    fn holds_port(&self, address: &AddressParts) -> Holds {
        let usual = SPECIAL.iter().find(|(scheme, _)| *scheme == address.scheme).map_or("", |(_, port)| *port);
        match (&self.port, address.port.as_deref()) {
            (Some(wanted), port) => matches(wanted, port.unwrap_or(usual)).into(),
            (None, Some(port)) if port != usual => Holds::Undecided,
            (None, _) => Holds::Yes,
        }
    }

    /// As it is written and with its escapes decoded: the two must agree.
    fn holds_tail(&self, AddressParts { path, rest, .. }: &AddressParts) -> Holds {
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
    !matches!(AddressReading::of(text), AddressReading::No)
}

impl AddressReading {
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
            Some(behind) if !text.contains(is_odd) => match AddressParts::new(scheme, behind, is_special) {
                Some(address) => Self::Plain(address),
                None => Self::Odd,
            },
            None if !is_special => Self::No,
            Some(_) | None => Self::Odd,
        }
    }
}

impl AddressParts {
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

/// Whether a condition holds. Ordered, so that all of several is their minimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holds {
    No,
    /// The argument is missing, or of another type than the condition speaks of.
    Undecided,
    Yes,
}

impl Holds {
    /// Yes where all say yes, no where all say no, undecided otherwise: then an allow does not match, and a deny does.
    pub fn of_every(parts: impl Iterator<Item = Self>) -> Self {
        parts.reduce(|one, other| if one == other { one } else { Self::Undecided }).unwrap_or(Self::Undecided)
    }
}

impl From<bool> for Holds {
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}
