//! How much of somebody's data a web address could carry out: what is in it beside words, numbers and short ids, and what is in
//! the arguments that may go with it. Judges no language; knows no server.
//!
//! It bounds what one call can carry, and finds secrets as they are. Plain words carry data too: a call may hold a sentence.

use serde_json::Value;

use super::address;
use super::key::{Key, Role};
use super::name;
use crate::behavior::secrets;
use crate::wire::fields::in_pointer;

/// How long a plain address may be, in bytes behind its scheme.
const LONGEST: usize = 256;
/// All addresses of one call together, in bytes.
const LONGEST_TOGETHER: usize = 2048;
/// How many characters of one address, or of an argument that may go with it, may be neither words nor numbers: a short
/// id of 140 bits fits.
const OPAQUE: usize = 24;
/// The same for a text whose name says that it is an id: a digest fits.
const OPAQUE_ID: usize = 64;
/// The same for the whole call.
const OPAQUE_TOGETHER: usize = 128;
/// How long a word may be; longer ones are opaque.
const WORD: usize = 24;
/// No word has this many consonants in a row.
const CONSONANTS: usize = 7;
/// How many digits a number may have, and all numbers of one address together.
const DIGITS: usize = 20;
const DIGITS_TOGETHER: usize = 40;
/// How many digits the whole call may have: coordinates, ids, sizes.
const DIGITS_OF_CALL: usize = 256;
/// How many letters beyond ASCII one address may have: each carries more bits than one of ASCII.
const FOREIGN: usize = 48;
/// How many signs one address may have.
const SIGNS: usize = 80;
/// How many opaque characters a UUID counts as.
const UUID: usize = 16;

const TOO_MUCH: &str = "is an address that may carry data out: it holds more than words, numbers and a short id";
const TOO_LONG: &str = "is an address that may carry data out: it is long";
const SECRET: &str = "is an address with what looks like a secret in it";
const BESIDE: &str = "may be sent to the address beside it, and is neither words nor a short id";
const MUCH_BESIDE: &str = "may be sent to the address beside it, and the call holds much besides";
const SECRET_BESIDE: &str = "may be sent to the address beside it, and looks like a secret";
const HOST: &str = "is an address whose host is not a plain name";
const CREDENTIAL: &str = "is a header that carries a credential";

/// What the addresses of one call hold together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    bytes: usize,
    opaque: usize,
    digits: usize,
    /// Whether one of them names a host: what else the call holds may go there.
    pub leaves: bool,
}

impl Carried {
    /// One more web address, whose parts are explained. An error says why it may carry data out.
    pub fn address(&mut self, text: &str) -> Result<(), &'static str> {
        let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
        self.leaves = true;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let authority = rest.get(..end).unwrap_or(rest);
        let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
        if !is_plain_host(host) {
            return Err(HOST);
        }
        self.part(text, rest)
    }

    /// One more path with its query, which goes to a host that the tool knows.
    pub fn path(&mut self, text: &str) -> Result<(), &'static str> {
        self.part(text, text)
    }

    fn part(&mut self, whole: &str, rest: &str) -> Result<(), &'static str> {
        self.bytes += rest.len();
        if rest.len() > LONGEST || self.bytes > LONGEST_TOGETHER {
            return Err(TOO_LONG);
        }
        let plain = address::decoded(&rest.replace('+', " ")).ok_or(TOO_MUCH)?;
        if !secrets::spans(whole).is_empty() || !secrets::spans(&plain).is_empty() || names_a_secret(rest) {
            return Err(SECRET);
        }
        let held = Held::of(&plain);
        self.opaque += held.opaque;
        let fits = held.opaque + held.single + needless_escapes(rest) <= OPAQUE
            && self.opaque <= OPAQUE_TOGETHER
            && held.digits <= DIGITS_TOGETHER
            && held.foreign <= FOREIGN
            && held.signs <= SIGNS;
        if fits { Ok(()) } else { Err(TOO_MUCH) }
    }

    /// What else the arguments hold, where an address among them names a host: each text that may carry data there, by its JSON
    /// Pointer, with the reason. `is_plain` says which parameters the operator pinned as plain text.
    pub fn beside(self, arguments: &Value, is_plain: impl Fn(&str) -> bool) -> Vec<(String, &'static str)> {
        let mut beside = Beside { carried: self, found: Vec::new() };
        for (name, field) in arguments.as_object().into_iter().flatten().filter(|(name, _)| !is_plain(name)) {
            beside.field((name, false), field, "");
        }
        beside.found
    }
}

/// What goes with the addresses of a call, counted together with them.
struct Beside {
    carried: Carried,
    found: Vec<(String, &'static str)>,
}

impl Beside {
    fn field(&mut self, (name, is_secret): (&str, bool), field: &Value, above: &str) {
        let pointer = format!("{above}/{}", in_pointer(name));
        // A name is data as well, where it is the caller's.
        self.text(name, OPAQUE, &pointer);
        self.value((name, is_secret || secrets::is_secret_key(name)), field, &pointer);
    }

    fn value(&mut self, (name, is_secret): (&str, bool), value: &Value, pointer: &str) {
        match value {
            Value::String(text) if !address::is_web(text) => {
                if !text.is_empty() && is_secret || !secrets::spans(text).is_empty() {
                    self.found.push((pointer.to_owned(), SECRET_BESIDE));
                }
                let is_id = Key::of(name).role == Role::Identifier;
                self.text(text, if is_id { OPAQUE_ID } else { OPAQUE }, pointer);
            }
            // Numbers in a list say as much as any text.
            Value::Number(number) => self.digits(number.as_str().len(), pointer),
            Value::Bool(_) => self.digits(1, pointer),
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.value((name, is_secret), item, &format!("{pointer}/{at}"));
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    self.field((name, is_secret), field, pointer);
                }
            }
            Value::Null | Value::String(_) => {}
        }
    }

    /// Counts a text of which at most `most` characters may be neither words nor numbers.
    fn text(&mut self, text: &str, most: usize, pointer: &str) {
        let held = Held::of(text);
        self.carried.opaque += held.opaque;
        self.carried.bytes += text.len();
        if held.opaque > most || self.carried.opaque > OPAQUE_TOGETHER {
            self.found.push((pointer.to_owned(), BESIDE));
        } else if self.carried.bytes > LONGEST_TOGETHER {
            self.found.push((pointer.to_owned(), MUCH_BESIDE));
        } else {
            self.digits(held.digits, pointer);
        }
    }

    fn digits(&mut self, digits: usize, pointer: &str) {
        self.carried.digits += digits;
        if self.carried.digits > DIGITS_OF_CALL {
            self.found.push((pointer.to_owned(), MUCH_BESIDE));
        }
    }
}

/// Why a header's value is not plain, if it is not: a header goes to wherever the request does.
pub fn header(name: &str, text: &str) -> Result<(), &'static str> {
    let names = |text: &str| secrets::is_secret_key(text.trim()) || text.trim().eq_ignore_ascii_case("cookie");
    let in_line = text.split(['\r', '\n']).any(|line| line.split_once(':').is_some_and(|(name, _)| names(name)));
    if names(name) || in_line || !secrets::spans(text).is_empty() || Held::of(text).opaque > OPAQUE {
        return Err(CREDENTIAL);
    }
    Ok(())
}

/// How many characters are written as percent escapes that need none (RFC 3986, 2.3): no program does that by itself.
fn needless_escapes(text: &str) -> usize {
    let is_unreserved = |hex: &str| {
        let byte = u8::from_str_radix(hex, 16).ok().filter(|_| !hex.starts_with('+'));
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte))
    };
    text.split('%').skip(1).filter(|rest| rest.get(..2).is_some_and(is_unreserved)).count()
}

/// Whether a parameter of the query is named as a secret is, and holds something.
fn names_a_secret(rest: &str) -> bool {
    let (_, query) = rest.split_once('?').unwrap_or(("", rest));
    query.split(['&', ';', '#']).filter_map(|pair| pair.split_once('=')).any(|(name, value)| {
        !value.is_empty() && address::decoded(name).is_none_or(|name| secrets::is_secret_key(&name))
    })
}

/// Whether a host is a name in plain letters: neither the number of a machine nor an encoding of other letters.
pub fn is_plain_host(host: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
            && !label.get(..4).is_some_and(|head| head.eq_ignore_ascii_case("xn--"))
    };
    let last = host.rsplit('.').next().unwrap_or_default();
    host.split('.').all(is_label) && last.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic())
}

/// What a text holds, counted in characters.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    /// Neither words nor numbers.
    opaque: usize,
    /// Words of one letter, and each sign from the fourth in a row on.
    single: usize,
    digits: usize,
    foreign: usize,
    signs: usize,
}

impl Held {
    fn of(text: &str) -> Self {
        let mut held = Self::default();
        let mut rest = text;
        let mut in_row = 0;
        while let Some(c) = rest.chars().next() {
            if !name::is_letter(c) {
                in_row += 1;
                held.signs += usize::from(c != ' ');
                held.single += usize::from(in_row > 3);
                rest = rest.get(c.len_utf8()..).unwrap_or_default();
                continue;
            }
            in_row = 0;
            if let Some(after) = without_uuid(rest) {
                held.opaque += UUID;
                rest = after;
                continue;
            }
            let end = rest.find(|c: char| !name::is_letter(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            held.word(word);
            rest = after;
        }
        held
    }

    fn word(&mut self, word: &str) {
        let length = word.chars().count();
        self.foreign += word.chars().filter(|c| !c.is_ascii()).count();
        let head = word.find(|c: char| c.is_ascii_digit()).unwrap_or(word.len());
        let (letters, rest) = word.split_at(head);
        let tail = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (digits, unit) = rest.split_at(tail);
        // `2026`, `id570060128`, `17z`, `b2b`: one number in one word.
        let is_short = letters.is_empty() || unit.is_empty() || length <= 4;
        let is_plain = digits.len() <= DIGITS && unit.bytes().all(|byte| !byte.is_ascii_digit()) && is_short;
        if length > WORD || !is_plain || !is_word(letters) || !is_word(unit) {
            self.opaque += length;
            return;
        }
        self.digits += digits.len();
        self.single += usize::from(length == 1 && digits.is_empty());
    }
}

/// Whether letters are a word, or several in camel case: `pricing`, `getUserById`, `XMLHttpRequest`.
fn is_word(letters: &str) -> bool {
    let (mut consonants, mut words, mut before, mut capitals) = (0, 1_usize, ' ', 0);
    for c in letters.chars() {
        let is_vowel = !c.is_ascii() || matches!(c.to_ascii_lowercase(), 'a' | 'e' | 'i' | 'o' | 'u' | 'y');
        consonants = if is_vowel { 0 } else { consonants + 1 };
        if consonants >= CONSONANTS {
            return false;
        }
        words += usize::from(before.is_lowercase() && c.is_uppercase() || capitals > 1 && c.is_lowercase());
        capitals = if c.is_uppercase() { capitals + 1 } else { 0 };
        before = c;
    }
    // Words of names have more than two letters each.
    2 * letters.len() >= 5 * words || letters.len() <= 2
}

/// What follows an identifier in the form of a UUID.
fn without_uuid(text: &str) -> Option<&str> {
    let (uuid, after) = text.split_at_checked(36)?;
    let fits = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    let ends = !after.starts_with(name::is_letter);
    (ends && uuid.bytes().enumerate().all(fits)).then_some(after)
}
