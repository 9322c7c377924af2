//! Functions that only compute, the same in every dialect that has them; and the words that may be before a bracket.

use std::sync::LazyLock;

use sqlparser::ast::{ObjectName, ObjectNamePart};

use super::gate::Cut;
use super::lex::Kind;
use super::lists::Words;
use super::{Dialect, Doubt};
use crate::behavior::words::section;

const WORDS: &str = include_str!("../../../../assets/words/sql.txt");

/// Lets a function through that is known to only compute or to read what it names.
pub(super) fn known(name: &ObjectName, dialect: Dialect) -> Result<(), Doubt> {
    let parts: Option<Vec<&str>> = name
        .0
        .iter()
        .map(|part| match part {
            ObjectNamePart::Identifier(word) if word.quote_style.is_none() => Some(word.value.as_str()),
            _ => None,
        })
        .collect();
    let last = match parts.as_deref() {
        Some([name]) => name,
        // The system's own schema; in any other a name can mean anything.
        Some([schema, name]) if dialect == Dialect::PostgreSql && schema.eq_ignore_ascii_case("pg_catalog") => name,
        _ => return Err(Doubt::unknown(format!("{name}()"))),
    };
    if FUNCTIONS.hold(last) { Ok(()) } else { Err(Doubt::unknown(format!("{}()", last.to_lowercase()))) }
}

/// Whether every word before a bracket is a keyword, a known function, or the table of an INSERT.
pub(super) fn all_known(cut: Cut<'_>) -> Result<(), Doubt> {
    for (at, token) in cut.tokens.iter().enumerate() {
        let word = cut.word(at);
        let called = token.kind == Kind::Word && cut.is_sign(at + 1, b'(');
        let qualified = at > 0 && cut.is_sign(at - 1, b'.');
        let filled = at > 0 && cut.is(at - 1, "INTO");
        if called && !filled && !(is_keyword(word) || (FUNCTIONS.hold(word) && !qualified)) {
            return Err(Doubt::unknown(format!("{}()", word.to_lowercase())));
        }
    }
    Ok(())
}

/// Whether a word belongs to the language's own frame.
pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.hold(word)
}

static KEYWORDS: LazyLock<Words> = LazyLock::new(|| Words::of(&[const { section(WORDS, "keywords") }]));

/// None of these writes, locks, waits, sends, sets, or reads a file; none runs a text as a statement.
static FUNCTIONS: LazyLock<Words> = LazyLock::new(|| Words::of(&LISTS));

const LISTS: [&str; 9] = [
    section(WORDS, "aggregates"),
    section(WORDS, "numbers"),
    section(WORDS, "texts"),
    section(WORDS, "times"),
    section(WORDS, "values"),
    section(WORDS, "documents"),
    section(WORDS, "sets"),
    section(WORDS, "catalogue"),
    section(WORDS, "places"),
];
