//! Closed readers for small languages: a text is read to its end by a table of words, or it is not read.
//!
//! A word of a text is a keyword, a listed function, or a name where a name may be. A name may not follow an operand: so
//! a clause that no table lists is never taken for one that reads.

pub mod cypher;
pub mod elastic;
pub mod filter;
pub mod kql;
pub mod search;
pub mod sparql;

use super::effect::{Effect, Meaning};
use crate::behavior::taxonomy::Action;
use crate::behavior::words::{among, section};

const WORDS: &str = include_str!("../../../assets/words/grammar.txt");

/// A longer text is not read.
const MAX_BYTES: usize = 16 * 1024;

/// One language, by its words. Words are upper case and separated by white space.
pub(super) struct Grammar<'k> {
    /// As people call it.
    language: &'static str,
    /// Words that a text may begin with; empty where it may begin with a name.
    begins: &'static str,
    /// Words of the language that read; they may follow an operand.
    keywords: &'k str,
    functions: &'static str,
    /// Words that change something, with what they do.
    changes: &'static [(Action, &'static str)],
    /// Signs that may be in a text.
    signs: &'static str,
    quotes: &'static str,
    /// Signs behind which any word is a name: `n.name`, `?name`.
    markers: &'static str,
    names: Names,
    /// Keywords that a text may end with. It ends with an operand else: what ends sooner is no whole statement.
    ends: &'static str,
}

/// Whether a word that no list holds may be a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    /// Where an operand may be.
    Operands,
    /// Behind `.`, before `:`, or as a listed function, where an operand may be.
    Listed,
    /// Only behind `?`, `$`, `.`, or with a prefix: `wdt:P31`.
    Marked,
}

/// InfluxQL: SELECT without INTO, and SHOW.
pub(super) const INFLUX: Grammar<'static> = Grammar {
    language: "InfluxQL",
    begins: "SELECT SHOW",
    keywords: section(WORDS, "influx-keywords"),
    functions: section(WORDS, "influx-functions"),
    changes: &[
        (Action::Delete, "DELETE DROP KILL"),
        (Action::Overwrite, "INTO"),
        (Action::Create, "CREATE"),
        (Action::Update, "ALTER GRANT REVOKE SET"),
    ],
    signs: "()=<>!~,.+-*/%:;",
    quotes: "'\"",
    markers: ".",
    names: Names::Operands,
    ends: "ASC DESC MEASUREMENTS DATABASES SERIES POLICIES CARDINALITY KEYS VALUES NULL TRUE FALSE",
};

/// jq: filters over one document. It writes nothing; what reads the environment, or is not known, is not read.
pub(super) const JQ: Grammar<'static> = Grammar {
    language: "jq",
    begins: "",
    keywords: "IF THEN ELIF ELSE END AS REDUCE FOREACH TRY CATCH AND OR NOT TRUE FALSE NULL EMPTY",
    functions: section(WORDS, "jq-functions"),
    changes: &[],
    signs: ".[](){}|,:;=!<>+-*/%?",
    quotes: "\"",
    markers: ".",
    names: Names::Listed,
    ends: "END TRUE FALSE NULL EMPTY NOT",
};

/// PromQL: an expression over series; it has no statement that changes anything.
pub(super) const PROMQL: Grammar<'static> = Grammar {
    language: "PromQL",
    begins: "",
    keywords: "BY WITHOUT ON IGNORING GROUP_LEFT GROUP_RIGHT AND OR UNLESS OFFSET BOOL INF NAN",
    functions: section(WORDS, "promql-functions"),
    changes: &[],
    signs: "()[]{}=!~<>+-*/%^,:@",
    quotes: "'\"",
    markers: ".",
    names: Names::Operands,
    ends: "INF NAN",
};

/// One token of a small language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Word(&'a str),
    Number,
    /// A quoted text or name.
    Quoted(&'a str),
    Sign(char),
}

/// Cuts a text; `None` where a quote does not close, or where a comment, an escape or a character hides how it is cut.
pub(super) fn tokens<'a>(text: &'a str, quotes: &str, signs: &str) -> Option<Vec<Token<'a>>> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut is_apart = true;
    while let Some(c) = rest.chars().next() {
        // `rm -rf /srv`: people put a space on both sides of what joins two operands, or on none.
        if is_apart && matches!(c, '-' | '/') && rest.get(1..).is_some_and(|next| next.starts_with(char::is_alphabetic))
        {
            return None;
        }
        is_apart = matches!(c, ' ' | '\t' | '\n' | '\r');
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || (!c.is_ascii() && c.is_alphanumeric());
        let length = if is_apart {
            1
        } else if c.is_ascii_digit() {
            let length = rest.find(|c: char| !is_part(c) && c != '.').unwrap_or(rest.len());
            tokens.push(Token::Number);
            length
        } else if is_part(c) {
            let length = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
            tokens.push(Token::Word(rest.get(..length)?));
            length
        } else if is_one(quotes, c) {
            let end = closing(rest, c)?;
            tokens.push(Token::Quoted(rest.get(1..end)?));
            end + 1
        } else if is_one(signs, c)
            && !(matches!(c, '-' | '/') && ["--", "/*", "//"].iter().any(|comment| rest.starts_with(comment)))
        {
            tokens.push(Token::Sign(c));
            c.len_utf8()
        } else {
            return None;
        };
        rest = rest.get(length..)?;
    }
    Some(tokens)
}

/// Whether a character is one of some signs, all of which are ASCII.
fn is_one(signs: &str, c: char) -> bool {
    u8::try_from(c).is_ok_and(|byte| signs.as_bytes().contains(&byte))
}

/// Where the quote at the beginning closes. A backslash takes the next character with it, so both ways of reading
/// `\'` must not differ: a quote behind one is not read.
fn closing(rest: &str, quote: char) -> Option<usize> {
    let mut before = quote;
    for (at, c) in rest.char_indices().skip(1) {
        if c == quote {
            return (before != '\\').then_some(at);
        }
        before = c;
    }
    None
}

impl Grammar<'_> {
    /// What a text does: it reads, it changes something, or it is not read to its end.
    pub(super) fn read(&self, text: &str) -> Meaning {
        let Some(tokens) = tokens(text, self.quotes, self.signs) else { return self.unread(text) };
        if let Some(found) = self.change(&tokens) {
            return found;
        }
        if self.reads(&tokens) { self.found(&tokens) } else { self.unread(text) }
    }

    /// What a text of this language reads.
    pub(super) fn found(&self, tokens: &[Token<'_>]) -> Meaning {
        let head = tokens.iter().find_map(|token| match token {
            Token::Word(word) if among(&word.to_uppercase(), self.begins) => Some(word.to_uppercase()),
            _ => None,
        });
        let says = head.map_or_else(|| self.language.to_owned(), |head| format!("{}, {head}", self.language));
        Meaning::reads(says.clone(), says)
    }

    pub(super) fn unread(&self, text: &str) -> Meaning {
        let head: String = text.trim().chars().take(60).collect();
        Meaning::unknown(head, format!("{}, not read to its end", self.language))
    }

    /// The gravest word that changes something, where there is one as a word of the language.
    pub(super) fn change(&self, tokens: &[Token<'_>]) -> Option<Meaning> {
        let changes = tokens.iter().enumerate().filter_map(|(at, token)| {
            let Token::Word(word) = token else { return None };
            let before = at.checked_sub(1).and_then(|before| tokens.get(before));
            if self.is_marker(before) {
                return None;
            }
            let upper = word.to_uppercase();
            let (action, _) = self.changes.iter().find(|(_, words)| among(&upper, words))?;
            Some((*action, upper))
        });
        let (action, word) = changes.max_by_key(|(action, _)| action.caution())?;
        Some(Meaning::new(Effect::of(action), action, word.clone(), format!("{}, {word}", self.language)))
    }

    pub(super) fn reads(&self, tokens: &[Token<'_>]) -> bool {
        let tokens = match tokens {
            [rest @ .., Token::Sign(';')] => rest,
            all => all,
        };
        let begins = match tokens.first() {
            Some(Token::Word(word)) => self.begins.is_empty() || among(&word.to_uppercase(), self.begins),
            Some(_) => self.begins.is_empty(),
            None => false,
        };
        begins && self.is_whole(tokens) && is_balanced(tokens) && (0..tokens.len()).all(|at| self.fits(tokens, at))
    }

    /// Whether a text may end where it does.
    fn is_whole(&self, tokens: &[Token<'_>]) -> bool {
        let before = tokens.len().checked_sub(2).and_then(|before| tokens.get(before));
        match tokens.last() {
            // `SELECT *`, `.`, `.a?`.
            Some(Token::Sign(sign)) => {
                matches!(sign, ')' | ']' | '}')
                    || (*sign == '*' && !self.begins.is_empty() && before.is_some())
                    || (self.names != Names::Operands && matches!(sign, '.' | '?'))
            }
            Some(last @ Token::Word(word)) => {
                self.ends_operand(last) || self.is_marker(before) || among(&word.to_uppercase(), self.ends)
            }
            Some(Token::Number | Token::Quoted(_)) => true,
            None => false,
        }
    }

    /// Whether a token may be where it is.
    fn fits(&self, tokens: &[Token<'_>], at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        let next = tokens.get(at + 1);
        let word = match tokens.get(at) {
            Some(Token::Word(word)) => *word,
            Some(Token::Number | Token::Quoted(_)) => {
                return self.names == Names::Marked || !before.is_some_and(|before| self.ends_operand(before));
            }
            Some(Token::Sign(sign)) => return *sign != ';' || self.names != Names::Operands,
            None => return true,
        };
        let is_called = next == Some(&Token::Sign('('));
        let upper = word.to_uppercase();
        if self.is_marker(before) {
            // A method, or a function of a library, is read where a table lists it.
            return !is_called || among(&upper, self.functions);
        }
        if among(&upper, self.keywords) || among(&upper, self.begins) {
            return true;
        }
        if is_called {
            return among(&upper, self.functions);
        }
        let is_apart = !before.is_some_and(|before| self.ends_operand(before));
        let is_known = next == Some(&Token::Sign(':'))
            || matches!(before, Some(Token::Sign(':')))
            || among(&upper, self.functions);
        match self.names {
            Names::Operands => is_apart,
            Names::Listed => is_apart && is_known,
            Names::Marked => is_known,
        }
    }

    fn is_marker(&self, token: Option<&Token<'_>>) -> bool {
        matches!(token, Some(Token::Sign(sign)) if self.markers.contains(*sign))
    }

    fn ends_operand(&self, token: &Token<'_>) -> bool {
        match token {
            Token::Word(word) => {
                let upper = word.to_uppercase();
                !among(&upper, self.keywords) && !among(&upper, self.begins)
            }
            Token::Number | Token::Quoted(_) => true,
            Token::Sign(sign) => matches!(sign, ')' | ']' | '}'),
        }
    }
}

/// Whether every bracket closes, in order.
pub(super) fn is_balanced(tokens: &[Token<'_>]) -> bool {
    let mut open = Vec::new();
    for token in tokens {
        match token {
            Token::Sign('(') => open.push(')'),
            Token::Sign('[') => open.push(']'),
            Token::Sign('{') => open.push('}'),
            Token::Sign(closer @ (')' | ']' | '}')) if open.pop() != Some(*closer) => return false,
            _ => {}
        }
    }
    open.is_empty()
}
