//! Reads JSON strictly: RFC 8259, UTF-8, no duplicate keys at any depth, depth at most 64. Owns the tokeniser.
//!
//! One pass, no allocation per value: the caller walks down where it cares and skips the rest, and every byte is
//! checked either way. Whatever is accepted here means the same to every other parser (THREATS C3, C4, C9, C10).

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;

/// How many arrays and objects may stand inside each other.
pub const DEPTH: usize = 64;

/// Up to this many keys are compared pairwise; above, they are sorted by hash.
const FEW: usize = 12;

/// Why a text is refused, and where in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{flaw} (byte {at})")]
pub struct Fault {
    /// What is wrong.
    pub flaw: Flaw,
    /// The offset of the byte where it shows, from 0.
    pub at: usize,
}

/// What may be wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    #[error("the line is not UTF-8")]
    NotUtf8,
    #[error("the line begins with a byte order mark")]
    ByteOrderMark,
    #[error("the line holds a raw carriage return or another control character")]
    ControlCharacter,
    #[error("the line is not valid JSON")]
    Syntax,
    #[error("a string holds half of a surrogate pair")]
    LoneSurrogate,
    #[error("something follows the JSON value on the same line")]
    Trailing,
    #[error("arrays and objects are nested deeper than 64")]
    TooDeep,
    #[error("an object has the same key twice")]
    DuplicateKey,
    #[error("a key holds a NUL character")]
    NulInKey,
}

impl Flaw {
    /// Whether the text is no JSON at all, rather than JSON that parsers read differently.
    pub fn is_syntax(self) -> bool {
        match self {
            Self::NotUtf8
            | Self::ByteOrderMark
            | Self::ControlCharacter
            | Self::Syntax
            | Self::LoneSurrogate
            | Self::Trailing => true,
            Self::TooDeep | Self::DuplicateKey | Self::NulInKey => false,
        }
    }
}

/// What kind of value stands next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Object,
    Array,
    Text,
    Number,
    Literal,
}

/// Where a string stands: between its quotes, and whether it is written with escapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    inside: Range<usize>,
    escaped: bool,
}

/// An object that was entered and not yet left.
#[derive(Debug)]
#[must_use = "an object that is not walked to its end leaves its keys unchecked"]
pub struct Members {
    first_key: usize,
    begun: bool,
}

/// Reads one text from its start.
#[derive(Debug)]
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    /// The keys of every object that is open, outermost first.
    keys: Vec<Text>,
}

impl<'a> Reader<'a> {
    /// Begins to read; refuses what is not UTF-8 or begins with a byte order mark.
    ///
    /// # Errors
    /// [`Flaw::NotUtf8`], [`Flaw::ByteOrderMark`].
    pub fn new(bytes: &'a [u8]) -> Result<Self, Fault> {
        let text = std::str::from_utf8(bytes).map_err(|error| Fault {
            flaw: Flaw::NotUtf8,
            at: error.valid_up_to(),
        })?;
        if text.starts_with('\u{feff}') {
            let flaw = Flaw::ByteOrderMark;
            return Err(Fault { flaw, at: 0 });
        }
        Ok(Self {
            text,
            at: 0,
            depth: 0,
            keys: Vec::with_capacity(FEW),
        })
    }

    /// The offset of the next byte.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The kind of the value that stands next.
    ///
    /// # Errors
    /// [`Flaw::Syntax`] where no value can begin, [`Flaw::ControlCharacter`].
    pub fn kind(&mut self) -> Result<Kind, Fault> {
        self.space()?;
        match self.peek() {
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::Array),
            Some(b'"') => Ok(Kind::Text),
            Some(b'-' | b'0'..=b'9') => Ok(Kind::Number),
            Some(b't' | b'f' | b'n') => Ok(Kind::Literal),
            _ => self.fault(Flaw::Syntax),
        }
    }

    /// Checks the next value whole, and tells where it stands.
    ///
    /// # Errors
    /// Any [`Flaw`] of the value.
    pub fn skip(&mut self) -> Result<Range<usize>, Fault> {
        let kind = self.kind()?;
        let start = self.at;
        match kind {
            Kind::Object => {
                let mut members = self.enter()?;
                while self.member(&mut members)?.is_some() {
                    self.skip()?;
                }
            }
            Kind::Array => self.array()?,
            Kind::Text => {
                self.string()?;
            }
            Kind::Number => self.number()?,
            Kind::Literal => self.literal()?,
        }
        Ok(start..self.at)
    }

    /// Takes the next value, which must be a string.
    ///
    /// # Errors
    /// [`Flaw::Syntax`] when it is none, or any flaw of it.
    pub fn string(&mut self) -> Result<Text, Fault> {
        self.space()?;
        self.expect(b'"')?;
        let start = self.at;
        let mut escaped = false;
        loop {
            self.at += plain_run(&self.bytes()[self.at..]);
            match self.peek() {
                Some(b'"') => {
                    let inside = start..self.at;
                    self.at += 1;
                    return Ok(Text { inside, escaped });
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(_) => return self.fault(Flaw::ControlCharacter),
                None => return self.fault(Flaw::Syntax),
            }
        }
    }

    /// Enters the next value, which must be an object; [`Self::member`] walks it.
    ///
    /// # Errors
    /// [`Flaw::Syntax`] when it is none, [`Flaw::TooDeep`].
    pub fn enter(&mut self) -> Result<Members, Fault> {
        self.space()?;
        self.expect(b'{')?;
        self.descend()?;
        Ok(Members {
            first_key: self.keys.len(),
            begun: false,
        })
    }

    /// The next key of the object, with its value standing next; `None` at the object's end.
    ///
    /// # Errors
    /// Any [`Flaw`] on the way; [`Flaw::DuplicateKey`] at the object's end.
    pub fn member(&mut self, members: &mut Members) -> Result<Option<Text>, Fault> {
        self.space()?;
        match (self.peek(), members.begun) {
            (Some(b'}'), _) => {
                self.at += 1;
                self.depth -= 1;
                self.distinct(members.first_key)?;
                self.keys.truncate(members.first_key);
                return Ok(None);
            }
            (Some(b','), true) => {
                self.at += 1;
                self.space()?;
            }
            (_, false) => {}
            _ => return self.fault(Flaw::Syntax),
        }
        let at = self.at;
        let key = self.string()?;
        if key.escaped && self.decoded(&key).contains('\0') {
            let flaw = Flaw::NulInKey;
            return Err(Fault { flaw, at });
        }
        self.space()?;
        self.expect(b':')?;
        self.keys.push(key.clone());
        members.begun = true;
        Ok(Some(key))
    }

    /// Ends the text: nothing but white space may follow.
    ///
    /// # Errors
    /// [`Flaw::Trailing`], [`Flaw::ControlCharacter`].
    pub fn end(mut self) -> Result<(), Fault> {
        self.space()?;
        match self.peek() {
            None => Ok(()),
            Some(_) => self.fault(Flaw::Trailing),
        }
    }

    /// The decoded text of a string of this text.
    pub fn decoded(&self, string: &Text) -> Cow<'a, str> {
        let inside = self.raw(string.inside.clone());
        if string.escaped {
            Cow::Owned(unescaped(inside))
        } else {
            Cow::Borrowed(inside)
        }
    }

    /// The bytes at a span, as written.
    pub fn raw(&self, span: Range<usize>) -> &'a str {
        self.text.get(span).unwrap_or_default()
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    fn peek(&self) -> Option<u8> {
        self.bytes().get(self.at).copied()
    }

    fn fault<T>(&self, flaw: Flaw) -> Result<T, Fault> {
        Err(Fault { flaw, at: self.at })
    }

    fn expect(&mut self, byte: u8) -> Result<(), Fault> {
        if self.peek() != Some(byte) {
            return self.fault(Flaw::Syntax);
        }
        self.at += 1;
        Ok(())
    }

    /// Skips spaces and tabs. Carriage returns are white space to JSON but line ends to some readers.
    fn space(&mut self) -> Result<(), Fault> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(0..=0x1f) => return self.fault(Flaw::ControlCharacter),
                _ => return Ok(()),
            }
        }
    }

    fn descend(&mut self) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth > DEPTH {
            return self.fault(Flaw::TooDeep);
        }
        Ok(())
    }

    fn array(&mut self) -> Result<(), Fault> {
        self.expect(b'[')?;
        self.descend()?;
        self.space()?;
        if self.peek() == Some(b']') {
            self.at += 1;
        } else {
            loop {
                self.skip()?;
                self.space()?;
                if self.peek() == Some(b',') {
                    self.at += 1;
                } else {
                    break self.expect(b']')?;
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn literal(&mut self) -> Result<(), Fault> {
        let rest = &self.bytes()[self.at..];
        for word in [&b"true"[..], b"false", b"null"] {
            if rest.starts_with(word) {
                self.at += word.len();
                return Ok(());
            }
        }
        self.fault(Flaw::Syntax)
    }

    fn number(&mut self) -> Result<(), Fault> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start {
            return self.fault(Flaw::Syntax);
        }
        Ok(())
    }

    fn escape(&mut self) -> Result<(), Fault> {
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 1;
                Ok(())
            }
            Some(b'u') => match self.unit()? {
                0xd800..=0xdbff => {
                    let second = self.bytes()[self.at..].starts_with(b"\\u");
                    self.at += usize::from(second);
                    if second && matches!(self.unit()?, 0xdc00..=0xdfff) {
                        Ok(())
                    } else {
                        self.fault(Flaw::LoneSurrogate)
                    }
                }
                0xdc00..=0xdfff => self.fault(Flaw::LoneSurrogate),
                _ => Ok(()),
            },
            _ => self.fault(Flaw::Syntax),
        }
    }

    /// Takes `uXXXX`.
    fn unit(&mut self) -> Result<u32, Fault> {
        let unit = self.bytes().get(self.at + 1..self.at + 5).and_then(hex);
        self.at += 5;
        unit.ok_or(Fault {
            flaw: Flaw::Syntax,
            at: self.at - 5,
        })
    }

    /// Checks that the keys from `first` on differ once decoded. Never quadratic: many keys are sorted by hash, and
    /// equal hashes by the keys themselves.
    fn distinct(&self, first: usize) -> Result<(), Fault> {
        let keys = &self.keys[first..];
        let twice = if keys.len() <= FEW {
            keys.iter()
                .enumerate()
                .find(|(i, key)| keys[..*i].iter().any(|other| self.same(key, other)))
                .map(|(_, key)| key)
        } else {
            let mut hashed: Vec<(u64, &Text)> =
                keys.iter().map(|key| (self.hash(key), key)).collect();
            hashed.sort_unstable_by(|(a, key), (b, other)| {
                a.cmp(b)
                    .then_with(|| self.decoded(key).cmp(&self.decoded(other)))
            });
            hashed
                .windows(2)
                .find(|pair| pair[0].0 == pair[1].0 && self.same(pair[0].1, pair[1].1))
                .map(|pair| pair[1].1)
        };
        match twice {
            None => Ok(()),
            Some(key) => Err(Fault {
                flaw: Flaw::DuplicateKey,
                at: key.inside.start,
            }),
        }
    }

    fn same(&self, key: &Text, other: &Text) -> bool {
        if key.escaped || other.escaped {
            self.decoded(key) == self.decoded(other)
        } else {
            self.bytes()[key.inside.clone()] == self.bytes()[other.inside.clone()]
        }
    }

    fn hash(&self, key: &Text) -> u64 {
        let mut hasher = DefaultHasher::new();
        hasher.write(self.decoded(key).as_bytes());
        hasher.finish()
    }
}

/// How many bytes stand before the next quote, backslash or control character.
fn plain_run(bytes: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let (words, tail) = bytes.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        // Eight bytes at once: a byte's high bit is set where it is below 0x20, a quote or a backslash. Bits above
        // the first such byte may be wrong; only the lowest one is used.
        let word = u64::from_le_bytes(*word);
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let quote = word ^ (ONES * u64::from(b'"'));
        let quote = quote.wrapping_sub(ONES) & !quote;
        let backslash = word ^ (ONES * u64::from(b'\\'));
        let backslash = backslash.wrapping_sub(ONES) & !backslash;
        let special = (control | quote | backslash) & HIGHS;
        if special != 0 {
            return i * 8 + (special.trailing_zeros() / 8) as usize;
        }
    }
    let done = bytes.len() - tail.len();
    let run = tail
        .iter()
        .position(|byte| matches!(byte, 0..=0x1f | b'"' | b'\\'));
    done + run.unwrap_or(tail.len())
}

/// Four hex digits as a number.
fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |unit, digit| {
        Some(unit * 16 + char::from(*digit).to_digit(16)?)
    })
}

/// Decodes a string that was checked already.
fn unescaped(inside: &str) -> String {
    let mut out = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let (decoded, length) = escape_at(&rest[at..]);
        out.push(decoded);
        rest = rest.get(at + length..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// The character that the escape at the start of `text` means, and the escape's length.
fn escape_at(text: &str) -> (char, usize) {
    let bytes = text.as_bytes();
    let unit = |at: usize| bytes.get(at..at + 4).and_then(hex).unwrap_or(0xfffd);
    match bytes.get(1) {
        Some(b'u') => match (unit(2), unit(8)) {
            (high @ 0xd800..=0xdbff, low @ 0xdc00..=0xdfff) => {
                let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                (char::from_u32(code).unwrap_or('\u{fffd}'), 12)
            }
            (code, _) => (char::from_u32(code).unwrap_or('\u{fffd}'), 6),
        },
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'n') => ('\n', 2),
        Some(b'r') => ('\r', 2),
        Some(b't') => ('\t', 2),
        other => (other.map_or('\u{fffd}', |byte| char::from(*byte)), 2),
    }
}
