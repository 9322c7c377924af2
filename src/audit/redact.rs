//! Makes JSON text fit for the log: secrets replaced by keyed hashes, white space dropped, oversize cut. Pure.
//!
//! It works on the text, not on parsed values, so that numbers, key order and odd keys stay as they were sent.

use std::borrow::Cow;
use std::sync::Arc;

use super::repeats::{Known, cut_within, is_in, may_be_in};
use crate::behavior::secrets;
use crate::wire::{Digest, digest::Key, plain_run};

/// What one JSON text may take in a record, in bytes.
pub const ROOM: usize = 16 * 1024;

/// What is kept of each string once the whole does not fit.
const HEAD: usize = 256;

/// What was cut: the size of the whole text as received, and its digest, keyed unless there is certainly no secret in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    pub bytes: usize,
    pub digest: Digest,
}

/// Replaces secrets by hashes with the log's own key, without which a short secret could be guessed from its hash.
#[derive(Clone, Debug)]
pub struct Redactor {
    key: Arc<Key>,
}

impl Redactor {
    pub fn new(key: &[u8; 32]) -> Self {
        Self { key: Arc::new(Key::new(key)) }
    }

    pub fn key(&self) -> &Arc<Key> {
        &self.key
    }

    /// What a secret is replaced by: `redacted:` and 16 hex characters, equal for equal secrets.
    pub fn mark(&self, secret: &[u8]) -> String {
        format!("redacted:{}", self.key.of(secret).short())
    }

    /// Appends a JSON text to `out`, redacted and at most a little over [`ROOM`] long; it stays JSON.
    ///
    /// Too long a text keeps its structure with every long string cut (`…[N bytes in all]`); if even that is too long,
    /// it becomes one string with its beginning. The caller must know that it is JSON.
    pub fn redact(&self, json: &str, out: &mut String) -> Option<Cut> {
        self.redact_all(json, (&[], &[]), out)
    }

    /// The same, with what is `known` replaced too, but for what is under the first keys that are `ours`.
    pub fn redact_all(&self, json: &str, (known, ours): (&[Known], &[&str]), out: &mut String) -> Option<Cut> {
        // What we say of a call may have a part of something known.
        let is_new = if ours.is_empty() { !is_in(json, known) } else { !may_be_in(json, known) };
        if json.len() <= ROOM && is_new && push_clear(json, out) {
            return None;
        }
        let start = out.len();
        let limit = start + ROOM;
        let walk = |head| Walk { known, ours, ..Walk::new(self, json, head) };
        if walk(ROOM).fits(out, limit) {
            return None;
        }
        out.truncate(start);
        if !walk(HEAD).fits(out, limit) {
            let end = out.floor_char_boundary((start + ROOM / 2).min(out.len()));
            let head = out.split_off(start);
            let head = &head[..end - start];
            push_string(out, &format!("{head}…"));
        }
        let plain = Digest::of(json.as_bytes());
        let digest = if is_new && is_clear(json) { plain } else { self.key.of(plain.as_bytes()) };
        Some(Cut { bytes: json.len(), digest })
    }

    /// Whether something known comes in a JSON text where nothing else makes a secret of it. The caller must know that it is JSON.
    pub fn repeats(&self, json: &str, known: &[Known]) -> bool {
        // What is escaped is known only once it is read.
        if known.is_empty() || !json.contains('\\') && !is_in(json, known) {
            return false;
        }
        let mut walk = Walk { known, ..Walk::new(self, json, usize::MAX) };
        let _ = walk.fits(&mut String::new(), usize::MAX);
        walk.repeats
    }

    /// A JSON text with the secrets in it replaced, those that are `known` in its keys, too, and nothing cut; what was replaced is added
    /// to `found`.
    ///
    /// As it came where nothing is replaced, with all its white space. The caller must know that it is JSON.
    pub fn json<'a>(&self, json: &'a str, known: &[Known], found: &mut Vec<String>) -> Cow<'a, str> {
        let (mut out, mut walk) = (String::new(), Walk { known, ..Walk::new(self, json, usize::MAX) });
        let _ = walk.fits(&mut out, usize::MAX);
        if walk.found.is_empty() {
            return Cow::Borrowed(json);
        }
        found.append(&mut walk.found);
        Cow::Owned(out)
    }

    /// A text without secrets that are known from elsewhere.
    pub fn without<'a>(&self, text: &'a str, known: &[Known]) -> Cow<'a, str> {
        let found = known.iter().filter(|one| text.contains(&one.text));
        found.fold(Cow::Borrowed(text), |text, one| {
            Cow::Owned(text.replace(&one.text, &self.mark(one.secret.as_bytes())))
        })
    }

    /// The same for a text of ours about others, which may have been cut within one.
    pub fn without_parts<'a>(&self, text: &'a str, known: &[Known]) -> Cow<'a, str> {
        let mut told = self.without(text, known);
        for (range, one) in cut_within(&told.clone(), known).into_iter().rev() {
            told.to_mut().replace_range(range, &self.mark(one.secret.as_bytes()));
        }
        told
    }

    /// A text with the secrets in it replaced.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let spans = secrets::spans(text);
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for span in spans {
            out.push_str(&text[done..span.start]);
            out.push_str(&self.mark(&text.as_bytes()[span.clone()]));
            done = span.end;
        }
        out.push_str(&text[done..]);
        Cow::Owned(out)
    }
}

/// Whether there is certainly no secret in a JSON text, and no name of one.
pub fn is_clear(json: &str) -> bool {
    !json.contains('\\') && secrets::is_clear(json)
}

/// Appends a JSON string token.
pub fn push_string(out: &mut String, text: &str) {
    if plain_run(text.as_bytes()) == text.len() {
        return ["\"", text, "\""].into_iter().for_each(|part| out.push_str(part));
    }
    // A text always serialises.
    out.push_str(&serde_json::to_string(text).unwrap_or_else(|_| "null".to_owned()));
}

/// Appends a JSON text without its white space, if nothing in it is a secret or names one, and nothing is escaped.
fn push_clear(json: &str, out: &mut String) -> bool {
    if !is_clear(json) {
        return false;
    }
    let mut quote = "";
    for (at, part) in json.split('"').enumerate() {
        out.push_str(quote);
        quote = "\"";
        match at % 2 {
            0 => out.extend(part.split_ascii_whitespace()),
            _ => out.push_str(part),
        }
    }
    true
}

struct Walk<'a> {
    redactor: &'a Redactor,
    json: &'a str,
    at: usize,
    head: usize,
    open: Vec<Container>,
    /// Secrets that are replaced wherever they are, but for what is under the first keys that are `ours`.
    known: &'a [Known],
    ours: &'a [&'a str],
    is_ours: bool,
    /// What was replaced.
    found: Vec<String>,
    /// Whether something known was replaced that is no secret by its key or its shape.
    repeats: bool,
}

#[derive(Clone, Copy, Default)]
struct Container {
    is_object: bool,
    /// Everything in it is a secret.
    secret: bool,
    /// The next string is a key.
    key_next: bool,
    /// The next value is a secret: its key says so, or the flag before it in an array.
    value_secret: bool,
    /// `{"name": "API_KEY", "value": …}`: the name said so.
    named: bool,
    /// The key last read was `name` or `key`.
    naming: bool,
}

impl<'a> Walk<'a> {
    fn new(redactor: &'a Redactor, json: &'a str, head: usize) -> Self {
        Self {
            redactor,
            json,
            at: 0,
            head,
            open: Vec::new(),
            known: &[],
            ours: &[],
            is_ours: false,
            found: Vec::new(),
            repeats: false,
        }
    }

    /// Walks to the end; `false` once `out` is longer than `limit`.
    fn fits(&mut self, out: &mut String, limit: usize) -> bool {
        while let Some(&byte) = self.json.as_bytes().get(self.at) {
            match byte {
                b'"' => self.string(out),
                b'{' | b'[' => {
                    let is_object = byte == b'{';
                    let secret = self.value_is_secret();
                    self.open.push(Container { is_object, secret, key_next: is_object, ..Container::default() });
                    self.step(out, char::from(byte));
                }
                b'}' | b']' => {
                    self.open.pop();
                    self.value_done(false);
                    self.step(out, char::from(byte));
                }
                b',' => {
                    if let Some(container) = self.open.last_mut() {
                        container.key_next = container.is_object;
                    }
                    self.step(out, ',');
                }
                b':' => self.step(out, ':'),
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                _ => self.scalar(out),
            }
            if out.len() > limit {
                return false;
            }
        }
        true
    }

    fn step(&mut self, out: &mut String, character: char) {
        out.push(character);
        self.at += 1;
    }

    fn string(&mut self, out: &mut String) {
        let (raw, writing) = token(&self.json[self.at..]);
        self.at += raw.len();
        let text = decoded(raw, writing);
        let is_key = self.open.last().is_some_and(|c| c.key_next);
        if !is_key && self.value_is_secret() {
            push_string(out, &self.redactor.mark(text.as_bytes()));
            self.found.push(text.into_owned());
            self.value_done(false);
            return;
        }
        if is_key {
            self.key(&text);
        } else {
            if let Some(container) = self.open.last_mut().filter(|c| c.naming) {
                container.named = secrets::is_secret_key(&text);
            }
            self.value_done(secrets::is_secret_flag(&text));
        }
        let known = self.known();
        // Where something is ours, the rest is what we say of a call.
        let replaced = if self.ours.is_empty() { Redactor::without } else { Redactor::without_parts };
        let (text, raw) = match replaced(self.redactor, &text, known) {
            Cow::Borrowed(_) => (text, Some(raw)),
            Cow::Owned(told) => {
                let shown = self.redactor.text(&text);
                self.repeats |= is_in(&shown, known);
                self.found.extend(known.iter().filter(|one| text.contains(&one.text)).map(|one| one.secret.clone()));
                (Cow::Owned(told), None)
            }
        };
        if text.len() > self.head {
            // A secret that begins in the head is replaced as a whole, so it is looked for beyond the head's end.
            let window = &text[..text.floor_char_boundary(self.head.saturating_mul(16))];
            let shown = self.redactor.text(window);
            let shown = &shown[..shown.floor_char_boundary(self.head)];
            push_string(out, &format!("{shown}…[{} bytes in all]", text.len()));
            return;
        }
        match self.redactor.text(&text) {
            Cow::Borrowed(text) => match raw {
                Some(raw) => out.push_str(raw),
                None => push_string(out, text),
            },
            Cow::Owned(redacted) => {
                self.found
                    .extend(secrets::spans(&text).into_iter().filter_map(|span| text.get(span)).map(str::to_owned));
                push_string(out, &redacted);
            }
        }
    }

    fn key(&mut self, key: &str) {
        if self.open.len() == 1 {
            self.is_ours = self.ours.contains(&key);
        }
        if let Some(container) = self.open.last_mut() {
            container.key_next = false;
            container.naming = matches!(key, "name" | "key" | "Name" | "Key");
            container.value_secret =
                secrets::is_secret_key(key) || (container.named && key.eq_ignore_ascii_case("value"));
        }
    }

    /// A number, or `true`, `false`, `null`.
    fn scalar(&mut self, out: &mut String) {
        let rest = &self.json[self.at..];
        let end = rest.find([',', '}', ']', ' ', '\t', '\n', '\r']).unwrap_or(rest.len());
        let token = &rest[..end];
        self.at += end;
        let is_number = token.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        let repeats = is_number && !self.value_is_secret() && is_in(token, self.known());
        self.repeats |= repeats;
        if is_number && self.value_is_secret() || repeats {
            push_string(out, &self.redactor.mark(token.as_bytes()));
            self.found.push(token.to_owned());
        } else {
            out.push_str(token);
        }
        self.value_done(false);
    }

    /// What is replaced here wherever it is.
    fn known(&self) -> &'a [Known] {
        if self.is_ours { &[] } else { self.known }
    }

    fn value_is_secret(&self) -> bool {
        self.open.last().is_some_and(|c| c.secret || c.value_secret)
    }

    /// A value ended: the next one in an array is a secret when this one was a flag that says so.
    fn value_done(&mut self, was_flag: bool) {
        if let Some(container) = self.open.last_mut() {
            container.value_secret = was_flag && !container.is_object;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Writing {
    Plain,
    Escaped,
}

fn token(json: &str) -> (&str, Writing) {
    let bytes = json.as_bytes();
    let (mut at, mut writing) = (1, Writing::Plain);
    while let Some(found) = memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
        at += found;
        if bytes[at] == b'"' {
            return (&json[..=at], writing);
        }
        writing = Writing::Escaped;
        at += 2;
    }
    (json, writing)
}

/// What a string token means. One that has no meaning in UTF-8 (a lone surrogate) is taken as it is written.
fn decoded(raw: &str, writing: Writing) -> Cow<'_, str> {
    if writing == Writing::Escaped {
        serde_json::from_str::<String>(raw).map_or(Cow::Borrowed(raw), Cow::Owned)
    } else {
        Cow::Borrowed(raw.get(1..raw.len() - 1).unwrap_or(raw))
    }
}
