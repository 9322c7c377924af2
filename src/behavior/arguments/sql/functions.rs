//! Functions that only compute, the same in every dialect that has them; and the words that may be before a bracket.

use std::sync::LazyLock;

use sqlparser::ast::{ObjectName, ObjectNamePart};

use super::gate::Cut;
use super::lex::Kind;
use super::lists::Words;
use super::{Dialect, Doubt};
use crate::behavior::words::section;

const WORDS: &str = include_str!("../../../../assets/words/sql-functions.txt");

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
    if is_known(last) { Ok(()) } else { Err(Doubt::unknown(format!("{}()", last.to_lowercase()))) }
}

/// Whether every word before a bracket is a keyword, a known function, or the table of an INSERT.
pub(super) fn all_known(cut: Cut<'_>) -> Result<(), Doubt> {
    for (at, token) in cut.tokens.iter().enumerate() {
        let word = cut.word(at);
        let called = token.kind == Kind::Word && cut.is_sign(at + 1, b'(');
        let qualified = at > 0 && cut.is_sign(at - 1, b'.');
        let filled = at > 0 && cut.is(at - 1, "INTO");
        if called && !filled && !(is_keyword(word) || (is_known(word) && !qualified)) {
            return Err(Doubt::unknown(format!("{}()", word.to_lowercase())));
        }
    }
    Ok(())
}

fn is_known(word: &str) -> bool {
    FUNCTIONS.hold(word)
}

/// Whether a word belongs to the language's own frame.
pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.hold(word)
}

static KEYWORDS: LazyLock<Words> = LazyLock::new(|| {
    Words::of(&[
        "SELECT FROM WHERE AND OR NOT IN EXISTS ANY ALL SOME AS ON USING JOIN INNER LEFT RIGHT FULL OUTER CROSS NATURAL OVER VALUES UNION \
     INTERSECT EXCEPT CASE WHEN THEN ELSE END BETWEEN LIKE ILIKE HAVING BY DISTINCT LIMIT OFFSET FILTER WITHIN PARTITION \
     ORDER GROUP LATERAL ROLLUP CUBE SETS ARRAY ROW EXPLAIN TOP IS NULL WITH RECURSIVE ASC DESC INSERT INTO UPDATE SET \
     DELETE MERGE CREATE DROP ALTER TABLE TRUNCATE RETURNING TRUE FALSE FETCH NEXT FIRST ROWS ONLY PRAGMA SHOW DESCRIBE",
    ])
});

/// None of these writes, locks, waits, sends, sets, or reads a file; none runs a text as a statement.
static FUNCTIONS: LazyLock<Words> =
    LazyLock::new(|| Words::of(&[AGGREGATES, NUMBERS, TEXTS, TIMES, VALUES, DOCUMENTS, SETS, CATALOGUE, PLACES]));

const AGGREGATES: &str = section(WORDS, "aggregates");

const NUMBERS: &str = section(WORDS, "numbers");

const TEXTS: &str = section(WORDS, "texts");

const TIMES: &str = section(WORDS, "times");

const VALUES: &str = section(WORDS, "values");

const DOCUMENTS: &str = section(WORDS, "documents");

const SETS: &str = section(WORDS, "sets");

const CATALOGUE: &str = section(WORDS, "catalogue");

const PLACES: &str = section(WORDS, "places");
