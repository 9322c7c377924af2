//! Secrets that come again where nothing says that they are one: which are looked for, and how they are written there. Pure.

use std::collections::VecDeque;
use std::ops::{Range, RangeInclusive};

/// A secret this short is not looked for outside its own place: it would be found in half of all words.
const SHORTEST: usize = 4;
/// The lengths of a secret that is replaced wherever it comes again in records, in bytes.
const TOKEN: RangeInclusive<usize> = 8..=1024;
/// From how many bytes on a part of a secret that was cut is one, too.
const PART: usize = 6;
/// From how many bytes on one with slashes may be: shorter ones are rather paths.
const WITH_SLASHES: usize = 24;
/// How many spellings of secrets of calls are remembered in a session, the latest: a secret with signs in it has up to five.
const MOST: usize = 256;

/// A call has more secrets than are remembered: none of them is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany;

/// A text that is replaced wherever it is, and the secret that it spells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub(super) text: String,
    pub(super) secret: String,
}

/// The tokens of one session that were seen, those of the server's command line for as long as it runs.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    of_command: Vec<Known>,
    of_calls: VecDeque<Known>,
}

impl Seen {
    pub fn of_command(found: &[String]) -> Self {
        Self { of_command: tokens(found), of_calls: VecDeque::new() }
    }

    /// Adds the tokens of these secrets, which are of one call.
    ///
    /// # Errors
    /// They are too many, and would drive all others out: none is added.
    pub fn add(&mut self, found: &[String]) -> Result<(), TooMany> {
        let new = tokens(found);
        if new.len() > MOST {
            return Err(TooMany);
        }
        for new in new {
            if !self.of_command.contains(&new) && !self.of_calls.contains(&new) {
                self.of_calls.push_back(new);
            }
        }
        self.of_calls.drain(..self.of_calls.len().saturating_sub(MOST));
        Ok(())
    }

    pub fn all(&self) -> Vec<Known> {
        let mut all = self.of_command.iter().chain(&self.of_calls).cloned().collect();
        longest_first(&mut all);
        all
    }
}

/// What is looked for in other texts where these secrets were found: each, and its lines, the longest first.
pub fn known(found: &[String]) -> Vec<Known> {
    // A text of several lines is shown line by line elsewhere.
    let parts = found.iter().flat_map(|text| std::iter::once(text.as_str()).chain(text.lines().map(str::trim)));
    spelled(parts.filter(|one| one.len() >= SHORTEST))
}

/// What of these secrets is replaced in records wherever it comes: only what looks made by chance. A record says what was done, so a
/// word, a path, a statement or a command stays, although the agent repeats it under the key of a secret.
pub fn tokens(found: &[String]) -> Vec<Known> {
    let parts = found.iter().flat_map(|text| std::iter::once(text.as_str()).chain(text.split(is_gap)));
    spelled(parts.filter(|one| is_token(one)))
}

fn is_gap(character: char) -> bool {
    character.is_whitespace() || ":;,&@=\"'|<>(){}[]".contains(character)
}

/// Whether a text is one word that looks made by chance: digits and letters, or small and capital ones, change often within it. It has
/// nothing that means something to a shell, and with slashes it must be longer than most paths, and change at every fourth character.
fn is_token(text: &str) -> bool {
    let is_safe = |byte: u8| byte.is_ascii_graphic() && !b"$`;|&<>(){}".contains(&byte);
    if !TOKEN.contains(&text.len()) || !text.bytes().all(is_safe) {
        return false;
    }
    let class = |byte: u8| match byte {
        b'0'..=b'9' => Some(0),
        b'A'..=b'Z' => Some(1),
        b'a'..=b'z' => Some(2),
        _ => None,
    };
    // A word may begin with a capital letter.
    let is_change = |pair: &[u8]| match (class(pair[0]), class(pair[1])) {
        (Some(1), Some(2)) => false,
        (Some(one), Some(next)) => one != next,
        (None, _) | (_, None) => false,
    };
    let changes = text.as_bytes().windows(2).filter(|pair| is_change(pair)).count();
    let is_mixed =
        text.bytes().any(|byte| byte.is_ascii_digit()) && text.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_path = text.contains('/') && (text.len() < WITH_SLASHES || text.starts_with(['/', '.', '~']));
    let least = if text.contains('/') { text.len() / 4 } else { text.len().div_ceil(5).clamp(2, 4) };
    is_mixed && !is_path && changes >= least
}

/// Each as it is, and as it is written in JSON, in JSON within JSON and in an address.
fn spelled<'a>(secrets: impl Iterator<Item = &'a str>) -> Vec<Known> {
    let escaped = |text: &str| {
        let written = serde_json::to_string(text).unwrap_or_default();
        written.get(1..written.len().saturating_sub(1)).unwrap_or_default().to_owned()
    };
    let mut all: Vec<Known> = secrets
        .flat_map(|secret| {
            let (once, [upper, lower]) = (escaped(secret), percent_encoded(secret));
            let all = [secret.to_owned(), escaped(&once), once, upper, lower];
            all.map(|text| Known { text, secret: secret.to_owned() })
        })
        .collect();
    longest_first(&mut all);
    all
}

/// Where one secret is a part of another, the longer one is replaced first.
pub fn longest_first(all: &mut Vec<Known>) {
    all.sort_by(|a, b| b.text.len().cmp(&a.text.len()).then_with(|| a.text.cmp(&b.text)));
    all.dedup_by(|a, b| a.text == b.text);
}

/// As an address has it, with capital and with small digits.
fn percent_encoded(text: &str) -> [String; 2] {
    let [mut upper, mut lower] = [String::new(), String::new()];
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            upper.push(char::from(byte));
            lower.push(char::from(byte));
        } else {
            upper.push_str(&format!("%{byte:02X}"));
            lower.push_str(&format!("%{byte:02x}"));
        }
    }
    [upper, lower]
}

/// Where a text that may have been cut begins or ends within something known: at its end, and around `…`. In order.
pub fn cut_within<'k>(text: &str, known: &'k [Known]) -> Vec<(Range<usize>, &'k Known)> {
    const CUT: char = '…';
    let (mut found, mut start): (Vec<(Range<usize>, &Known)>, usize) = (Vec::new(), 0);
    for part in text.split(CUT) {
        let end = start + part.len();
        if start > 0 {
            let ends = known.iter().filter_map(|one| Some((start..start + one.end_before(part)?, one)));
            found.extend(ends.max_by_key(|(range, _)| range.end));
        }
        let free = found.last().map_or(0, |(last, _)| last.end);
        let begins = known.iter().filter_map(|one| Some((start + one.begin_in(part)?..end, one)));
        found.extend(begins.filter(|(range, _)| range.start >= free).min_by_key(|(range, _)| range.start));
        start = end + CUT.len_utf8();
    }
    found
}

impl Known {
    /// The least of it that is looked for where a text ends with its beginning, or begins with its end; `None` where that is too little.
    fn beginning(&self) -> Option<&str> {
        self.text.get(..self.text.floor_char_boundary(PART)).filter(|least| least.len() >= SHORTEST)
    }

    fn end(&self) -> Option<&str> {
        let from = self.text.ceil_char_boundary(self.text.len().saturating_sub(PART));
        self.text.get(from..).filter(|least| least.len() >= SHORTEST)
    }

    /// Where a text begins to be its beginning, up to the text's end.
    fn begin_in(&self, part: &str) -> Option<usize> {
        let mut all = part.match_indices(self.beginning()?).map(|(at, _)| at);
        all.find(|at| self.text.starts_with(&part[*at..]))
    }

    /// Where a text ends to be its end, from the text's beginning on.
    fn end_before(&self, part: &str) -> Option<usize> {
        let mut all = part.match_indices(self.end()?).map(|(at, least)| at + least.len());
        all.find(|end| self.text.ends_with(&part[..*end]))
    }
}

/// Whether something known is in a text.
pub fn is_in(text: &str, known: &[Known]) -> bool {
    known.iter().any(|one| text.contains(&one.text))
}

/// Whether something known, or a part of it, may be in a text.
pub fn may_be_in(text: &str, known: &[Known]) -> bool {
    known.iter().any(|one| [one.beginning(), one.end()].into_iter().flatten().any(|least| text.contains(least)))
}
