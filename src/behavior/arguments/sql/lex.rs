//! Cuts SQL into tokens as one dialect does, or, where none is known, only where all of them cut alike. Judges no
//! statement.

use unicode_normalization::is_nfkc;

use super::{Dialect, Doubt};

/// One token, and where it is in the text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An unquoted word.
    Word,
    /// A quoted identifier; a string to MySQL where the quote is `"`.
    Quoted,
    /// A string, a number, a parameter.
    Literal,
    Sign(u8),
}

/// More tokens than this are not read: a chain of operators is a tree as deep as it is long.
const MOST_TOKENS: usize = 6_000;

const MOST_TOKENS_COPIED: usize = 1_200;
const MOST_COSTLY: usize = 60;

/// Cuts the text into tokens, comments left out; says where dialects part, or where this one would not read on.
pub(super) fn tokens(text: &str, dialect: Option<Dialect>) -> Result<Vec<Token>, Doubt> {
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        dialect,
        at: 0,
        tokens: Vec::with_capacity(text.len() / 4),
        costly: 0,
        most: MOST_TOKENS,
    };
    while lexer.at < lexer.bytes.len() {
        lexer.step()?;
        if lexer.tokens.len() > lexer.most {
            return Err(Doubt::unknown("too many words to be read"));
        }
    }
    Ok(lexer.tokens)
}

/// The bytes that belong to a word wherever they are in it.
const WORD: [bool; 256] = {
    let mut word = [false; 256];
    let mut byte = 0_u8;
    while byte < 0x80 {
        word[byte as usize] = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'@' | b'$');
        byte += 1;
    }
    word
};

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    dialect: Option<Dialect>,
    at: usize,
    tokens: Vec<Token>,
    costly: usize,
    most: usize,
}

impl Lexer<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    fn is(&self, dialects: &[Dialect]) -> bool {
        self.dialect.is_some_and(|dialect| dialects.contains(&dialect))
    }

    fn unclear<T>(&self, from: usize) -> Result<T, Doubt> {
        let rest = self.text.get(from..).unwrap_or_default();
        Err(Doubt::unknown(rest.chars().take(40).collect::<String>()))
    }

    fn push(&mut self, kind: Kind, end: usize) {
        self.tokens.push(Token { kind, start: self.at, end });
        self.at = end;
    }

    fn step(&mut self) -> Result<(), Doubt> {
        use Dialect::{MsSql, MySql, PostgreSql, Sqlite};
        let at = self.at;
        let next = self.byte(at + 1);
        match self.byte(at) {
            b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
            b'-' if next == b'-' => self.line_comment(2)?,
            b'#' if self.is(&[MySql]) => self.line_comment(1)?,
            b'/' if next == b'*' => self.block_comment()?,
            b'\'' => {
                let end = self.string()?;
                self.push(Kind::Literal, end);
            }
            b'"' => self.quoted(b'"')?,
            b'`' if !self.is(&[PostgreSql, MsSql]) => self.quoted(b'`')?,
            b'[' if !self.is(&[PostgreSql, MySql]) => self.quoted(b']')?,
            c if c.is_ascii_digit() => self.number()?,
            b'$' if next.is_ascii_digit() => {
                let end = (at + 1..).find(|end| !self.byte(*end).is_ascii_digit()).unwrap_or(at + 1);
                if self.byte(end) == b'$' || self.is_word(end) > 0 {
                    return self.unclear(at);
                }
                self.push(Kind::Literal, end);
            }
            b'$' if self.is(&[PostgreSql]) => self.dollar_string()?,
            b'#' if self.is(&[PostgreSql]) => self.push(Kind::Sign(b'#'), at + 1),
            b'#' if !self.is(&[MsSql]) => return self.unclear(at),
            c @ (b',' | b'(' | b')' | b'.' | b'*' | b'=' | b'<' | b'>' | b'+' | b'-' | b'/' | b'%' | b'|' | b'&'
            | b'!' | b'~' | b'^' | b'?' | b':' | b';' | b']' | b'[') => {
                if c == b'[' && self.is(&[MySql, Sqlite]) {
                    return self.unclear(at);
                }
                self.push(Kind::Sign(c), at + 1);
            }
            _ => {
                let first = self.is_word(at);
                if first == 0 || self.byte(at) == b'$' {
                    return self.unclear(at);
                }
                let mut end = at + first;
                loop {
                    let plain = self.bytes[end..].iter().take_while(|byte| WORD[usize::from(**byte)]).count();
                    match self.is_word(end + plain) {
                        0 => {
                            end += plain;
                            break;
                        }
                        more => end += plain + more,
                    }
                }
                self.counted(at, end)?;
                self.push(Kind::Word, end);
            }
        }
        Ok(())
    }

    /// Counts what the parser's recursion limit misses: joins nest without brackets, and for the other words here the
    /// parser copies the whole left operand.
    fn counted(&mut self, at: usize, end: usize) -> Result<(), Doubt> {
        let word = &self.bytes[at..end];
        let is = |known: &str| word.eq_ignore_ascii_case(known.as_bytes());
        let costly = match word.len() {
            3 => is("DIV"),
            4 => is("JOIN") || is("GLOB"),
            5 => is("MATCH"),
            6 => is("REGEXP"),
            _ => false,
        };
        if costly {
            self.costly += 1;
            self.most = if is("JOIN") { self.most } else { MOST_TOKENS_COPIED };
            if self.costly > MOST_COSTLY {
                return Err(Doubt::unknown("too many joins to be read"));
            }
        }
        Ok(())
    }

    /// How many bytes at `at` belong to a word: letters, digits and what names hold. A `$` inside a word quotes nothing.
    fn is_word(&self, at: usize) -> usize {
        match self.byte(at) {
            byte if WORD[usize::from(byte)] => 1,
            b'#' if self.is(&[Dialect::MsSql]) => 1,
            0x80.. => {
                let letter = self.text.get(at..).and_then(|rest| rest.chars().next()).filter(|c| is_plain_letter(*c));
                letter.map_or(0, char::len_utf8)
            }
            _ => 0,
        }
    }

    /// A comment to the end of the line. MySQL needs white space after the dashes; a lone return ends it for PostgreSQL alone.
    fn line_comment(&mut self, marker: usize) -> Result<(), Doubt> {
        let from = self.at + marker;
        let strict = !self.is(&[Dialect::PostgreSql, Dialect::Sqlite, Dialect::MsSql]);
        if marker == 2 && strict && from < self.bytes.len() && !matches!(self.byte(from), b' ' | b'\t' | b'\n') {
            return self.unclear(self.at);
        }
        let end = memchr::memchr(b'\n', &self.bytes[from..]).map_or(self.bytes.len(), |found| from + found);
        let inside = self.bytes[from..end].strip_suffix(b"\r").unwrap_or(&self.bytes[from..end]);
        if inside.iter().any(|byte| matches!(byte, b'\r' | 0 | 0x0b | 0x0c | 0x85)) {
            return self.unclear(self.at);
        }
        self.at = end;
        Ok(())
    }

    /// `/*!` runs in MySQL and MariaDB, `/*+` instructs; nested comments end differently.
    fn block_comment(&mut self) -> Result<(), Doubt> {
        let from = self.at + 2;
        let Some(end) = self.bytes[from..].windows(2).position(|pair| pair == b"*/").map(|found| from + found) else {
            return self.unclear(self.at);
        };
        let inside = &self.bytes[from..end];
        let is_instruction = matches!(inside.first(), Some(b'!' | b'M' | b'+'));
        if is_instruction || inside.windows(2).any(|pair| pair == b"/*") || inside.contains(&0) {
            return self.unclear(self.at);
        }
        self.at = end + 2;
        Ok(())
    }

    /// The end of the string that begins here. A backslash before a quote ends it for some and not for others.
    fn string(&self) -> Result<usize, Doubt> {
        let plain = self.is(&[Dialect::Sqlite, Dialect::MsSql]);
        let mut end = self.at + 1;
        loop {
            match (self.byte(end), self.byte(end + 1)) {
                _ if end >= self.bytes.len() => return self.unclear(self.at),
                (b'\\', b'\'') if !plain => return self.unclear(self.at),
                (0, _) => return self.unclear(self.at),
                (b'\'', b'\'') => end += 2,
                (b'\'', _) => return Ok(end + 1),
                _ => end += 1,
            }
        }
    }

    /// A quoted name. Where it is unknown whose quotes they are, nothing may be in them that could be read as code.
    fn quoted(&mut self, close: u8) -> Result<(), Doubt> {
        let from = self.at + 1;
        let sure = self.is(&[Dialect::PostgreSql, Dialect::Sqlite, Dialect::MsSql]);
        let mut end = from;
        loop {
            match memchr::memchr(close, self.bytes.get(end..).unwrap_or_default()) {
                None => return self.unclear(self.at),
                Some(found) if sure && self.byte(end + found + 1) == close => end += found + 2,
                Some(found) => {
                    end += found;
                    break;
                }
            }
        }
        let inside = &self.text[from..end];
        let harmless =
            |c: char| c.is_alphanumeric() || matches!(c, '_' | ' ' | '.' | '$' | '-' | ':' | ',' | '%' | '/' | '@');
        if inside.contains('\0') || (!sure && (!inside.chars().all(harmless) || inside.contains("--"))) {
            return self.unclear(self.at);
        }
        self.push(Kind::Quoted, end + 1);
        Ok(())
    }

    /// A number. What follows it without a gap is a word of its own to some: `1DELETE`.
    fn number(&mut self) -> Result<(), Doubt> {
        let run = |from: usize, fits: fn(&u8) -> bool| {
            from + self.bytes.get(from..).unwrap_or_default().iter().take_while(|byte| fits(byte)).count()
        };
        let end = if self.byte(self.at) == b'0' && matches!(self.byte(self.at + 1), b'x' | b'X') {
            run(self.at + 2, u8::is_ascii_hexdigit)
        } else {
            let end = run(self.at, |byte| byte.is_ascii_digit() || *byte == b'.');
            let sign = usize::from(matches!(self.byte(end + 1), b'+' | b'-'));
            let has_exponent = matches!(self.byte(end), b'e' | b'E') && self.byte(end + 1 + sign).is_ascii_digit();
            if has_exponent { run(end + 1 + sign, u8::is_ascii_digit) } else { end }
        };
        if self.is_word(end) > 0 {
            return self.unclear(self.at);
        }
        self.push(Kind::Literal, end);
        Ok(())
    }

    /// `$$…$$` and `$tag$…$tag$`, PostgreSQL's own.
    fn dollar_string(&mut self) -> Result<(), Doubt> {
        let rest = &self.text[self.at + 1..];
        let tag = rest.find('$').map(|found| &rest[..found]).filter(|tag| {
            tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                && !tag.starts_with(|c: char| c.is_ascii_digit())
        });
        let Some(tag) = tag else { return self.unclear(self.at) };
        let fence = format!("${tag}$");
        let from = self.at + fence.len();
        let Some(found) = self.text[from..].find(&fence) else { return self.unclear(self.at) };
        self.push(Kind::Literal, from + found + fence.len());
        Ok(())
    }
}

/// Letters beyond ASCII that no folding turns into ASCII: a name, never a word of the language.
fn is_plain_letter(c: char) -> bool {
    c.is_alphabetic()
        && is_nfkc(c.encode_utf8(&mut [0; 4]))
        && !is_one_ascii(c.to_uppercase())
        && !is_one_ascii(c.to_lowercase())
}

fn is_one_ascii(mut folded: impl Iterator<Item = char>) -> bool {
    folded.next().is_some_and(|c| c.is_ascii()) && folded.next().is_none()
}
