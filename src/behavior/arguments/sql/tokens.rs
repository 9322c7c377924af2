//! Cuts SQL into tokens with `sqlparser`'s own tokenizer, and refuses what some program could cut otherwise. Judges no statement.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use sqlparser::dialect::{Dialect as Grammar, MsSqlDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::tokenizer::{Token as Read, TokenWithSpan, Tokenizer, Whitespace};
use unicode_normalization::is_nfkc;

use crate::behavior::arguments::effect::Effect;
use crate::behavior::taxonomy::Action;
use crate::behavior::words::section;
use crate::wire::words::words;

pub(super) const WORDS: &str = include_str!("../../../../assets/words/sql.txt");

words! {
    Dialect {
        PostgreSql = "postgresql",
        MySql = "mysql",
        MsSql = "mssql",
        Sqlite = "sqlite",
    }
}

impl Dialect {
    /// The dialect that a text names, where it names exactly one product that we know and none that we do not.
    pub fn named_in(text: &str) -> Option<Self> {
        let lower = text.to_ascii_lowercase();
        // Products whose SQL is none of the four, though their words may compare themselves with one.
        if const { section(WORDS, "other-products") }.split_whitespace().any(|name| lower.contains(name)) {
            return None;
        }
        let mut known = const { section(WORDS, "products") }.lines().filter_map(|row| {
            let (dialect, names) = row.split_once(" | ")?;
            Self::from_word(dialect).filter(|_| names.split(", ").any(|name| lower.contains(name)))
        });
        known.next().filter(|_| known.next().is_none())
    }
}

/// Why a text is not shown to be a read.
#[derive(Debug)]
pub(super) struct Doubt {
    pub(super) effect: Effect,
    pub(super) action: Action,
    pub(super) span: String,
}

impl Doubt {
    pub(super) fn new(action: Action, span: impl Into<String>) -> Self {
        Self { effect: Effect::of(action), action, span: span.into().chars().take(60).collect() }
    }

    pub(super) fn unknown(span: impl Into<String>) -> Self {
        Self::new(Action::Unknown, span)
    }
}

/// A statement longer than this is not read: no person wrote it, and none will check it.
const MAX_BYTES: usize = 64 * 1024;
/// One token, and where it is in the text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    /// A quoted identifier; a string to MySQL where the quote is `"`.
    Quoted,
    Literal,
    /// An operator that a user of PostgreSQL defined: a function.
    Operator,
    /// Anything else, by its first byte.
    Sign(u8),
}

/// More tokens than this are not read: a chain of operators is a tree as deep as it is long.
const MOST_TOKENS: usize = 3_000;
/// How many words there may be for which the parser nests, or copies the whole left operand.
const MOST_COSTLY: usize = 60;

/// The grammar of a dialect. Where none is known, one whose quotes are those of all.
pub(super) fn grammar(dialect: Option<Dialect>) -> &'static dyn Grammar {
    match dialect {
        None => &Any,
        Some(Dialect::Sqlite) => &SQLiteDialect {},
        Some(Dialect::PostgreSql) => &PostgreSqlDialect {},
        Some(Dialect::MySql) => &MySqlDialect {},
        Some(Dialect::MsSql) => &MsSqlDialect {},
    }
}

/// Quotes and words as in any of the dialects.
#[derive(Debug)]
struct Any;

impl Grammar for Any {
    fn is_identifier_start(&self, c: char) -> bool {
        c.is_alphabetic() || c == '_' || !c.is_ascii()
    }

    fn is_identifier_part(&self, c: char) -> bool {
        self.is_identifier_start(c) || c.is_ascii_digit() || matches!(c, '@' | '$')
    }

    fn is_delimited_identifier_start(&self, c: char) -> bool {
        matches!(c, '"' | '`' | '[')
    }

    fn is_custom_operator_part(&self, c: char) -> bool {
        c != '`' && PostgreSqlDialect {}.is_custom_operator_part(c)
    }

    fn supports_geometric_types(&self) -> bool {
        true
    }
}

/// Cuts the text into tokens, comments left out; says where dialects part, or where this one would not read on.
pub(super) fn tokens(text: &str, dialect: Option<Dialect>) -> Result<Vec<Token>, Doubt> {
    if text.len() > MAX_BYTES {
        return Err(Doubt::unknown("too long to be read"));
    }
    // MySQL and MariaDB run what is in `/*!`, and `/*+` instructs.
    if let Some(at) = ["/*!", "/*M!", "/*+"].iter().find_map(|opens| text.find(opens)) {
        return Err(unclear(text, at));
    }
    let read = Tokenizer::new(grammar(dialect), text).with_unescape(false).tokenize_with_location();
    let read = read.map_err(|_| unclear(text, 0))?;
    let mut tokens: Vec<Token> = Vec::with_capacity(read.len());
    let (mut end, mut line, mut column, mut costly) = (0, 1, 1, 0);
    for TokenWithSpan { token, span } in &read {
        let start = end;
        for c in text[start..].chars() {
            if (line, column) == (span.end.line, span.end.column) {
                break;
            }
            (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + 1) };
            end += c.len_utf8();
        }
        let raw = &text[start..end];
        if let Read::Whitespace(white) = token {
            if !is_clear_space(white, raw, dialect) {
                return Err(unclear(text, start));
            }
            continue;
        }
        let last = tokens.last().filter(|last| last.end == start);
        // `1DELETE` is two words to some, and `--1` is a comment.
        let splits = |kind: TokenKind| match (last, kind) {
            (Some(Token { kind: TokenKind::Literal, start, .. }), TokenKind::Word | TokenKind::Literal) => {
                matches!(text.as_bytes().get(*start), Some(b'0'..=b'9' | b'.'))
            }
            (Some(Token { kind: TokenKind::Sign(b'-'), .. }), TokenKind::Sign(b'-')) => true,
            _ => false,
        };
        let kind = kind(token, raw, dialect).filter(|kind| !splits(*kind)).ok_or_else(|| unclear(text, start))?;
        // To PostgreSQL, signs that touch are one operator.
        let joins = last.is_some_and(|last| is_operator(last.kind) && joins(&text[last.start..last.end], raw, dialect));
        let kind = if joins && is_operator(kind) { TokenKind::Operator } else { kind };
        costly += usize::from(COSTLY.iter().any(|known| raw.eq_ignore_ascii_case(known)));
        tokens.push(Token { kind, start, end });
        if tokens.len() > MOST_TOKENS || costly > MOST_COSTLY {
            return Err(Doubt::unknown("too many words to be read"));
        }
    }
    Ok(tokens)
}

const COSTLY: [&str; 5] = ["JOIN", "DIV", "GLOB", "MATCH", "REGEXP"];

fn unclear(text: &str, from: usize) -> Doubt {
    Doubt::unknown(text.get(from..).unwrap_or_default().chars().take(40).collect::<String>())
}

fn is_operator(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Operator) || matches!(kind, TokenKind::Sign(sign) if b"+-*/<>=~!@#%^&|?".contains(&sign))
}

/// Whether an operator and the signs that touch it are one operator that somebody defined, where the dialect has such.
fn joins(before: &str, raw: &str, dialect: Option<Dialect>) -> bool {
    let is_sign_of_number = matches!(raw, "+" | "-") && !before.contains(SPECIAL);
    let is_variable = dialect.is_none() && raw.starts_with('@') && !before.starts_with('@');
    matches!(dialect, None | Some(Dialect::PostgreSql)) && !is_sign_of_number && !is_variable
}

/// Signs with which the name of an operator of PostgreSQL may end in `+` or `-`.
const SPECIAL: [char; 9] = ['~', '!', '@', '#', '%', '^', '&', '|', '?'];

/// Whether white space or a comment is one to every program of the dialect.
fn is_clear_space(white: &Whitespace, raw: &str, dialect: Option<Dialect>) -> bool {
    match white {
        Whitespace::Space | Whitespace::Newline | Whitespace::Tab => raw.bytes().all(|byte| b" \t\n\r".contains(&byte)),
        Whitespace::SingleLineComment { comment, .. } => {
            let comment = comment.strip_suffix('\r').unwrap_or(comment);
            let is_spaced = raw.starts_with('#') || comment.is_empty() || comment.starts_with([' ', '\t']);
            (is_spaced || !matches!(dialect, None | Some(Dialect::MySql))) && !comment.contains(ENDS)
        }
        Whitespace::MultiLineComment(inside) => !inside.contains("/*") && !inside.contains('\0'),
    }
}

/// What a token is; `None` where some program reads it otherwise.
fn kind(token: &Read, raw: &str, dialect: Option<Dialect>) -> Option<TokenKind> {
    use Dialect::{MsSql, PostgreSql, Sqlite};
    let is = |one: Dialect| dialect == Some(one);
    let first = raw.bytes().next().unwrap_or_default();
    let is_number = raw.len() > 1 && raw.bytes().skip(1).all(|byte| byte.is_ascii_digit());
    let (is_clear, kind) = match token {
        Read::Placeholder(_) => (first != b'$' || is_number, TokenKind::Literal),
        Read::Word(_) if first == b'$' => (is_number, TokenKind::Literal),
        Read::Word(word) if word.quote_style.is_none() => {
            let is_part = |c: char| match c {
                '_' | '@' | '$' => true,
                '#' => is(MsSql),
                _ => c.is_ascii_alphanumeric() || !c.is_ascii() && is_plain_letter(c),
            };
            (raw.chars().all(is_part) && !first.is_ascii_digit(), TokenKind::Word)
        }
        Read::Word(_) | Read::DoubleQuotedString(_) => (is_clear_name(raw, dialect), TokenKind::Quoted),
        Read::SingleQuotedString(_)
        | Read::NationalStringLiteral(_)
        | Read::SingleQuotedByteStringLiteral(_)
        | Read::EscapedStringLiteral(_)
        | Read::UnicodeStringLiteral(_) => {
            (!raw.contains('\0') && (is(Sqlite) || is(MsSql) || !raw.contains("\\'")), TokenKind::Literal)
        }
        Read::HexStringLiteral(_) => (!raw.contains(['\0', '\\']), TokenKind::Literal),
        Read::DollarQuotedString(string) => {
            let tag = string.tag.as_deref().unwrap_or_default();
            let fence = format!("${tag}$");
            let inside = raw.strip_prefix(&fence).and_then(|rest| rest.strip_suffix(&fence));
            let is_tag = tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                && !tag.starts_with(|c: char| c.is_ascii_digit());
            (is(PostgreSql) && is_tag && inside.is_some_and(|inside| !inside.contains(&fence)), TokenKind::Literal)
        }
        Read::Number(_, is_long) => (!is_long, TokenKind::Literal),
        _ => {
            // `>-1`: two operators to PostgreSQL.
            let is_own = matches!(token, Read::CustomBinaryOperator(_))
                && (raw.contains(SPECIAL) || raw.trim_end_matches(['+', '-']).len() > 2);
            let is_sign = match first {
                b'[' => is(PostgreSql),
                b',' | b'(' | b')' | b'.' | b'*' | b'=' | b'<' | b'>' | b'+' | b'-' | b'/' | b'%' | b'|' | b'&'
                | b'!' | b'~' | b'^' | b'?' | b':' | b';' | b']' | b'@' | b'#' => true,
                _ => false,
            };
            let hides = raw.contains("--") || raw.contains("/*") || raw.contains('#') && !is(PostgreSql);
            (is_sign && !hides, if is_own { TokenKind::Operator } else { TokenKind::Sign(first) })
        }
    };
    is_clear.then_some(kind)
}

/// What ends a line for some program.
const ENDS: [char; 5] = ['\r', '\0', '\u{b}', '\u{c}', '\u{85}'];

/// Whether a quoted name is read by all alike. Where it is unknown whose quotes they are, it must hold nothing like code.
fn is_clear_name(raw: &str, dialect: Option<Dialect>) -> bool {
    let inside = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
    let is_plain =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | ' ' | '.' | '$' | '-' | ':' | ',' | '%' | '/' | '@');
    match dialect {
        _ if inside.contains('\0') => false,
        Some(Dialect::MsSql) => true,
        _ if raw.starts_with('[') && inside.contains(']') => false,
        Some(Dialect::Sqlite | Dialect::PostgreSql) => true,
        // A doubled quote is one of the name.
        Some(Dialect::MySql) | None => {
            !inside.contains("--") && inside.chars().all(|c| is_plain(c) || raw.starts_with(c))
        }
    }
}

/// Letters beyond ASCII that no folding turns into ASCII: a name, never a word of the language.
fn is_plain_letter(c: char) -> bool {
    let is_ascii = |folded: &[char]| matches!(folded, [c] if c.is_ascii());
    let (upper, lower): (Vec<char>, Vec<char>) = (c.to_uppercase().collect(), c.to_lowercase().collect());
    c.is_alphabetic() && is_nfkc(c.encode_utf8(&mut [0; 4])) && !is_ascii(&upper) && !is_ascii(&lower)
}

#[derive(Clone, Copy)]
pub(super) struct Cut<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: &'a [Token],
}

impl<'a> Cut<'a> {
    /// The unquoted word at `at`, as written; empty for anything else.
    pub(super) fn word(&self, at: usize) -> &'a str {
        match self.tokens.get(at) {
            Some(Token { kind: TokenKind::Word, start, end }) => &self.text[*start..*end],
            _ => "",
        }
    }

    pub(super) fn raw(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| &self.text[token.start..token.end])
    }

    /// Whether one of these words is at `at`, in any case and unquoted.
    pub(super) fn is(&self, at: usize, words: &[&str]) -> bool {
        let word = self.word(at);
        words.iter().any(|known| word.eq_ignore_ascii_case(known))
    }

    pub(super) fn is_sign(&self, at: usize, sign: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Sign(sign))
    }

    pub(super) fn is_behind(&self, at: usize, words: &[&str]) -> bool {
        at.checked_sub(1).is_some_and(|before| self.is(before, words))
    }

    /// The same without the semicolon at its end.
    pub(super) fn without_end(self) -> Self {
        match self.tokens {
            [tokens @ .., Token { kind: TokenKind::Sign(b';'), .. }] => Self { tokens, ..self },
            _ => self,
        }
    }

    /// The statements of the text, without what parts them, empty ones, and the END of a block.
    pub(super) fn statements(&self) -> Vec<Self> {
        let parts = self.tokens.split(|token| token.kind == TokenKind::Sign(b';'));
        let alone = parts.map(|tokens| Self { tokens, ..*self });
        alone.filter(|alone| !(alone.tokens.is_empty() || alone.tokens.len() == 1 && alone.is(0, &["END"]))).collect()
    }

    pub(super) fn range(&self) -> Range<usize> {
        let start = self.tokens.first().map_or(0, |token| token.start);
        start..self.tokens.last().map_or(start, |token| token.end)
    }

    /// Where the statement's own first word is.
    pub(super) fn first(&self) -> usize {
        self.tokens.iter().position(|token| token.kind != TokenKind::Sign(b'(')).unwrap_or(0)
    }

    /// Whether the token before `at` ends an operand, so that a new statement could begin here without a semicolon.
    pub(super) fn after_operand(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return true };
        match self.tokens[before].kind {
            TokenKind::Quoted | TokenKind::Literal => true,
            TokenKind::Sign(sign) => matches!(sign, b')' | b']' | b'*'),
            TokenKind::Operator => false,
            TokenKind::Word => !has(&WANTS_OPERAND, self.word(before)),
        }
    }
}

/// Whether a word belongs to the language's own frame.
pub(super) fn is_keyword(word: &str) -> bool {
    has(&KEYWORDS, word)
}

pub(super) type List = LazyLock<HashSet<&'static str>>;

pub(super) fn has(list: &List, word: &str) -> bool {
    list.contains(word.to_ascii_uppercase().as_str())
}

/// Words behind which an operand or a name follows: no statement begins there.
static WANTS_OPERAND: List = LazyLock::new(|| section(WORDS, "before-operands").split_whitespace().collect());

static KEYWORDS: List = LazyLock::new(|| section(WORDS, "keywords").split_whitespace().collect());
