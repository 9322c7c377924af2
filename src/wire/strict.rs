//! Reads JSON strictly: RFC 8259, UTF-8, no duplicate keys at any depth, depth at most 64. Owns the tokeniser, and the closed
//! list of flaws for which a text is refused, in words of ours that quote nothing foreign.

use std::borrow::Cow;
use std::ops::Range;

pub use super::text::Text;
use super::text::{self, Keys, Writing, hex, plain_run};

/// How many arrays and objects may be inside each other.
pub const DEPTH: usize = 64;

/// What kind of value is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Object,
    Array,
    Text,
    Number,
    Literal,
}

/// An object that was entered and not yet left.
#[derive(Debug)]
#[must_use = "an object that is not walked to its end leaves its keys unchecked"]
pub struct Members {
    first_key: usize,
    begun: bool,
}

/// An array that was entered and not yet left.
#[derive(Debug)]
pub struct Items {
    begun: bool,
}

/// Reads one text from its start.
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
    keys: Keys,
}

impl<'a> Reader<'a> {
    /// Begins to read; refuses what is not UTF-8 or begins with a byte order mark.
    ///
    /// # Errors
    /// [`Flaw::NotUtf8`], [`Flaw::ByteOrderMark`].
    pub fn new(bytes: &'a [u8]) -> Result<Self, Fault> {
        let text =
            std::str::from_utf8(bytes).map_err(|error| Fault { flaw: Flaw::NotUtf8, at: error.valid_up_to() })?;
        Self::of_text(text)
    }

    /// The same for what is known to be UTF-8.
    pub(super) fn of_text(text: &'a str) -> Result<Self, Fault> {
        let reader = Self { text, at: 0, depth: 0, values: 0, longest_key: 0, keys: Keys::default() };
        if text.starts_with('\u{feff}') { reader.fault(Flaw::ByteOrderMark) } else { Ok(reader) }
    }

    /// The offset of the next byte.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The kind of the value that is next.
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

    /// Checks the next value whole, and tells where it is.
    ///
    /// # Errors
    /// Any [`Flaw`] of the value.
    pub fn skip(&mut self) -> Result<Range<usize>, Fault> {
        self.values += 1;
        let kind = self.kind()?;
        let start = self.at;
        match kind {
            Kind::Object => {
                let mut members = self.enter()?;
                while self.member(&mut members)?.is_some() {
                    self.skip()?;
                }
            }
            Kind::Array => self.items(|_| {})?,
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
        let mut writing = Writing::Plain;
        loop {
            self.at += plain_run(self.rest());
            match self.peek() {
                Some(b'"') => {
                    let string = Text::new(start..self.at, writing);
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

    /// Enters the next value, which must be an object; [`Self::member`] walks it.
    ///
    /// # Errors
    /// [`Flaw::Syntax`] when it is none, [`Flaw::TooDeep`].
    pub fn enter(&mut self) -> Result<Members, Fault> {
        self.space()?;
        self.expect(b'{')?;
        self.descend()?;
        Ok(Members { first_key: self.keys.all().len(), begun: false })
    }

    /// Takes the next key of the object, so that its value is next; `None` at the object's end.
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
        self.longest_key = self.longest_key.max(self.at - at);
        if key.holds_nul(self.text) {
            return Err(Fault { flaw: Flaw::NulInKey, at });
        }
        if key.is_reserved(self.text) {
            return Err(Fault { flaw: Flaw::ReservedKey, at });
        }
        self.space()?;
        self.expect(b':')?;
        self.keys.push(key);
        members.begun = true;
        Ok(Some(key))
    }

    /// Checks the next value, which must be an array, and passes the place of each item to `found`.
    ///
    /// # Errors
    /// [`Flaw::Syntax`] when it is none, or any flaw in it.
    pub fn items(&mut self, mut found: impl FnMut(Range<usize>)) -> Result<(), Fault> {
        let mut items = self.begin()?;
        while self.item(&mut items)? {
            found(self.skip()?);
        }
        Ok(())
    }

    /// Enters the next value, which must be an array; [`Self::item`] walks it.
    ///
    /// # Errors
    /// [`Flaw::Syntax`] when it is none, [`Flaw::TooDeep`].
    pub fn begin(&mut self) -> Result<Items, Fault> {
        self.space()?;
        self.expect(b'[')?;
        self.descend()?;
        Ok(Items { begun: false })
    }

    /// Whether an item of the array comes next; false at the array's end.
    ///
    /// # Errors
    /// [`Flaw::Syntax`] where neither an item nor the end can be.
    #[inline]
    pub fn item(&mut self, items: &mut Items) -> Result<bool, Fault> {
        self.space()?;
        match (self.peek(), items.begun) {
            (Some(b','), true) => self.at += 1,
            (Some(b']'), _) => {
                self.at += 1;
                self.depth -= 1;
                return Ok(false);
            }
            (_, false) => items.begun = true,
            (_, true) => return self.fault(Flaw::Syntax),
        }
        Ok(true)
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
        string.decoded(self.text)
    }

    /// How many values were read so far, nested ones included.
    pub fn values(&self) -> usize {
        self.values
    }

    /// How many bytes the longest key so far has.
    pub fn longest_key(&self) -> usize {
        self.longest_key
    }

    /// The bytes at a span, as written.
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

    fn descend(&mut self) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth > DEPTH {
            return self.fault(Flaw::TooDeep);
        }
        Ok(())
    }

    /// What is not read yet.
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

    /// Takes `uXXXX`.
    fn unit(&mut self) -> Result<u32, Fault> {
        let unit = self.bytes().get(self.at + 1..self.at + 5).and_then(hex);
        self.at += 5;
        unit.ok_or(Fault { flaw: Flaw::Syntax, at: self.at - 5 })
    }

    /// Checks that the keys from `first` on differ once decoded.
    fn distinct(&self, first: usize) -> Result<(), Fault> {
        match text::twin(self.text, self.keys.all().get(first..).unwrap_or(self.keys.all())) {
            None => Ok(()),
            Some(key) => Err(Fault { flaw: Flaw::DuplicateKey, at: key.start() }),
        }
    }
}

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
