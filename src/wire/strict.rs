//! Reads JSON strictly: RFC 8259, UTF-8, no duplicate keys at any depth, depth at most 64. Owns the tokeniser, and the closed
//! list of flaws for which a text is refused, in words of ours that quote nothing foreign.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

/// How many arrays and objects may be inside each other.
pub const DEPTH: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonKind {
    Object,
    Array,
    Text,
    Number,
    Literal,
}

/// Reads one text from its start; every step fails with the first [`Fault`] that it meets.
#[derive(Debug)]
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    /// Values read so far, nested ones included.
    values: usize,
    /// Bytes of the longest key so far.
    longest_key: usize,
    /// The keys of every object that is open, outermost first.
    keys: Vec<Text>,
}

impl<'a> Reader<'a> {
    /// Begins to read; refuses what is not UTF-8 or begins with a byte order mark.
    pub fn new(bytes: &'a [u8]) -> Result<Self, Fault> {
        let text =
            std::str::from_utf8(bytes).map_err(|error| Fault { flaw: Flaw::NotUtf8, at: error.valid_up_to() })?;
        Self::of_text(text)
    }

    /// The same for what is known to be UTF-8.
    pub(super) fn of_text(text: &'a str) -> Result<Self, Fault> {
        let reader = Self { text, at: 0, depth: 0, values: 0, longest_key: 0, keys: Vec::new() };
        if text.starts_with('\u{feff}') { reader.fault(Flaw::ByteOrderMark) } else { Ok(reader) }
    }

    pub fn at(&self) -> usize {
        self.at
    }

    pub fn kind(&mut self) -> Result<JsonKind, Fault> {
        self.space()?;
        match self.peek() {
            Some(b'{') => Ok(JsonKind::Object),
            Some(b'[') => Ok(JsonKind::Array),
            Some(b'"') => Ok(JsonKind::Text),
            Some(b'-' | b'0'..=b'9') => Ok(JsonKind::Number),
            Some(b't' | b'f' | b'n') => Ok(JsonKind::Literal),
            _ => self.fault(Flaw::Syntax),
        }
    }

    /// Checks the next value whole, and tells where it is.
    pub fn skip(&mut self) -> Result<Range<usize>, Fault> {
        self.values += 1;
        let kind = self.kind()?;
        let start = self.at;
        match kind {
            JsonKind::Object => self.members(|_, _| Ok(()))?,
            JsonKind::Array => self.items(|_| {})?,
            JsonKind::Text => {
                self.token()?;
            }
            JsonKind::Number => self.number()?,
            JsonKind::Literal => self.literal()?,
        }
        Ok(start..self.at)
    }

    /// Takes the next value, which must be a string, and decodes it.
    pub fn string(&mut self) -> Result<Cow<'a, str>, Fault> {
        self.token().map(|token| token.decoded(self.text))
    }

    fn token(&mut self) -> Result<Text, Fault> {
        self.space()?;
        self.expect(b'"')?;
        let start = self.at;
        let mut writing = Writing::Plain;
        loop {
            self.at += plain_run(self.rest());
            match self.peek() {
                Some(b'"') => {
                    let string = Text { start, end: self.at, writing };
                    self.at += 1;
                    return Ok(string);
                }
                Some(b'\\') => {
                    writing = Writing::Escaped;
                    self.escape()?;
                }
                Some(_) => return self.fault(Flaw::ControlCharacter),
                None => return self.fault(Flaw::Syntax),
            }
        }
    }

    /// Walks the next value, an object: `found` takes each decoded key, and may read its value; one that it leaves is skipped.
    pub fn members(
        &mut self,
        mut found: impl FnMut(&mut Self, Cow<'a, str>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.open(b'{')?;
        let first_key = self.keys.len();
        let mut begun = false;
        while self.goes_on(b'}', &mut begun)? {
            let key = self.key()?;
            let at = self.at;
            found(self, key.decoded(self.text))?;
            if self.at == at {
                self.skip()?;
            }
        }
        self.distinct(first_key)?;
        self.keys.truncate(first_key);
        Ok(())
    }

    /// Takes a key and its colon, so that the first byte of its value is next.
    fn key(&mut self) -> Result<Text, Fault> {
        self.space()?;
        let at = self.at;
        let key = self.token()?;
        self.longest_key = self.longest_key.max(self.at - at);
        if key.holds_nul(self.text) {
            return Err(Fault { flaw: Flaw::NulInKey, at });
        }
        if key.is_reserved(self.text) {
            return Err(Fault { flaw: Flaw::ReservedKey, at });
        }
        self.space()?;
        self.expect(b':')?;
        self.space()?;
        self.keys.push(key);
        Ok(key)
    }

    /// Checks the next value, which must be an array, and passes the place of each item to `found`.
    pub fn items(&mut self, mut found: impl FnMut(Range<usize>)) -> Result<(), Fault> {
        self.open(b'[')?;
        let mut begun = false;
        while self.goes_on(b']', &mut begun)? {
            found(self.skip()?);
        }
        Ok(())
    }

    fn open(&mut self, bracket: u8) -> Result<(), Fault> {
        self.space()?;
        self.expect(bracket)?;
        self.depth += 1;
        if self.depth > DEPTH { self.fault(Flaw::TooDeep) } else { Ok(()) }
    }

    /// Whether another member or item comes next, its comma taken; false at the closing bracket.
    #[inline]
    fn goes_on(&mut self, closing: u8, begun: &mut bool) -> Result<bool, Fault> {
        self.space()?;
        match self.peek() {
            Some(byte) if byte == closing => {
                self.at += 1;
                self.depth -= 1;
                return Ok(false);
            }
            Some(b',') if *begun => self.at += 1,
            _ if *begun => return self.fault(Flaw::Syntax),
            _ => *begun = true,
        }
        Ok(true)
    }

    /// Ends the text: nothing but white space may follow.
    pub fn end(mut self) -> Result<(), Fault> {
        self.space()?;
        match self.peek() {
            None => Ok(()),
            Some(_) => self.fault(Flaw::Trailing),
        }
    }

    pub fn values(&self) -> usize {
        self.values
    }

    pub fn longest_key(&self) -> usize {
        self.longest_key
    }

    pub fn raw(&self, span: Range<usize>) -> &'a str {
        self.text.get(span).unwrap_or_default()
    }

    #[inline(always)]
    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.bytes().get(self.at).copied()
    }

    #[cold]
    fn fault<T>(&self, flaw: Flaw) -> Result<T, Fault> {
        Err(Fault { flaw, at: self.at })
    }

    #[inline(always)]
    fn expect(&mut self, byte: u8) -> Result<(), Fault> {
        if self.peek() != Some(byte) {
            return self.fault(Flaw::Syntax);
        }
        self.at += 1;
        Ok(())
    }

    /// Skips spaces and tabs. Carriage returns are white space to JSON but line ends to some readers.
    #[inline(always)]
    fn space(&mut self) -> Result<(), Fault> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(0..=0x1f) => return self.fault(Flaw::ControlCharacter),
                _ => return Ok(()),
            }
        }
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes().get(self.at..).unwrap_or_default()
    }

    fn literal(&mut self) -> Result<(), Fault> {
        let rest = self.rest();
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
                    let second = self.rest().starts_with(b"\\u");
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

    fn unit(&mut self) -> Result<u32, Fault> {
        let unit = self.bytes().get(self.at + 1..self.at + 5).and_then(hex);
        self.at += 5;
        unit.ok_or(Fault { flaw: Flaw::Syntax, at: self.at - 5 })
    }

    /// Checks that the keys from `first` on differ once decoded.
    fn distinct(&self, first: usize) -> Result<(), Fault> {
        match twin(self.text, self.keys.get(first..).unwrap_or(&self.keys)) {
            None => Ok(()),
            Some(key) => Err(Fault { flaw: Flaw::DuplicateKey, at: key.start }),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{flaw} (byte {at})")]
pub struct Fault {
    pub flaw: Flaw,
    /// The offset of the byte where it shows, from 0.
    pub at: usize,
}

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
    #[error("a key is one that JSON readers keep for themselves")]
    ReservedKey,
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
            Self::TooDeep | Self::DuplicateKey | Self::NulInKey | Self::ReservedKey => false,
        }
    }
}

/// Where a string is: between its quotes, and how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Text {
    start: usize,
    end: usize,
    writing: Writing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writing {
    Plain,
    Escaped,
}

impl Text {
    /// The decoded text; `whole` is the text it is in.
    fn decoded<'a>(&self, whole: &'a str) -> Cow<'a, str> {
        let inside = self.raw(whole);
        match self.writing {
            Writing::Plain => Cow::Borrowed(inside),
            // Its quotes are around it, and it was checked when it was taken.
            Writing::Escaped => {
                let token = whole.get(self.start - 1..=self.end).unwrap_or_default();
                Cow::Owned(serde_json::from_str(token).unwrap_or_default())
            }
        }
    }

    /// Whether a NUL is in it; only an escape can write one.
    #[inline]
    fn holds_nul(&self, whole: &str) -> bool {
        self.writing == Writing::Escaped && self.decoded(whole).contains('\0')
    }

    /// Whether it is a key by which serde_json marks numbers and raw texts internally. An object that begins with one
    /// is no object to serde_json, so that we would judge and show another value than the server reads.
    #[inline]
    fn is_reserved(&self, whole: &str) -> bool {
        const RESERVED: &str = "$serde_json::private::";
        self.decoded(whole).starts_with(RESERVED)
    }

    fn raw<'a>(&self, whole: &'a str) -> &'a str {
        whole.get(self.start..self.end).unwrap_or_default()
    }
}

/// Up to this many keys are compared pairwise; of more, each is looked up.
const FEW: usize = 12;

/// A key that is twice among `keys`, once decoded. Never quadratic.
fn twin<'k>(whole: &str, keys: &'k [Text]) -> Option<&'k Text> {
    if keys.len() <= FEW {
        let before = |i: usize, key: &Text| keys.iter().take(i).any(|other| key.decoded(whole) == other.decoded(whole));
        return keys.iter().enumerate().find_map(|(i, key)| before(i, key).then_some(key));
    }
    let mut seen = HashSet::with_capacity(keys.len());
    keys.iter().find(|key| !seen.insert(key.decoded(whole)))
}

/// How many bytes are before the next quote, backslash or control character.
#[inline]
pub(crate) fn plain_run(bytes: &[u8]) -> usize {
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
    let run = tail.iter().position(|byte| matches!(byte, 0..=0x1f | b'"' | b'\\'));
    done + run.unwrap_or(tail.len())
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |unit, digit| Some(unit * 16 + char::from(*digit).to_digit(16)?))
}
