//! SPARQL: SELECT, ASK, CONSTRUCT and DESCRIBE over the store itself. Addresses in angle brackets are names.

use super::{Grammar, Names};
use crate::behavior::arguments::effect::Meaning;
use crate::behavior::taxonomy::Action;

/// What a text of SPARQL does.
pub fn read(text: &str) -> Meaning {
    match plain(text) {
        Some(plain) => SPARQL.read(&plain),
        None => SPARQL.unread(text),
    }
}

/// The text with each `<address>` as a quoted name, and the one service that only labels what was found as a keyword. `None`
/// where it holds a comment or another service.
fn plain(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        let (before, after) = rest.split_at(open);
        plain.push_str(before);
        let end = after.find(['>', ' ', '\n', '"', '{', '}']).filter(|end| after.as_bytes().get(*end) == Some(&b'>'));
        match end.map(|end| after.split_at(end + 1)) {
            Some((address, later)) if address.contains(':') => {
                plain.push_str("'' ");
                rest = later;
            }
            Some(_) | None => {
                plain.push('<');
                rest = after.get(1..)?;
            }
        }
    }
    plain.push_str(rest);
    let labelled = plain.replace("SERVICE wikibase:label", "OPTIONAL");
    (!labelled.contains('#')).then_some(labelled)
}

const SPARQL: Grammar = Grammar {
    language: "SPARQL",
    begins: "SELECT ASK CONSTRUCT DESCRIBE PREFIX BASE",
    keywords: "PREFIX BASE SELECT DISTINCT REDUCED AS ASK CONSTRUCT DESCRIBE FROM NAMED WHERE ORDER BY ASC DESC LIMIT OFFSET GROUP HAVING OPTIONAL \
        GRAPH UNION FILTER MINUS BIND VALUES UNDEF EXISTS NOT IN A TRUE FALSE",
    functions: "COUNT SUM MIN MAX AVG SAMPLE GROUP_CONCAT SEPARATOR STR LANG LANGMATCHES DATATYPE BOUND IRI URI BNODE RAND ABS CEIL FLOOR ROUND CONCAT \
        STRLEN UCASE LCASE ENCODE_FOR_URI CONTAINS STRSTARTS STRENDS STRBEFORE STRAFTER YEAR MONTH DAY HOURS MINUTES SECONDS NOW MD5 SHA1 SHA256 \
        COALESCE IF STRLANG STRDT SAMETERM ISIRI ISURI ISBLANK ISLITERAL ISNUMERIC REGEX SUBSTR REPLACE EN DE FR ES IT NL PT RU ZH JA",
    changes: &[
        (Action::Delete, "DELETE DROP CLEAR"),
        (Action::Create, "INSERT CREATE LOAD ADD"),
        (Action::Overwrite, "COPY"),
        (Action::Move, "MOVE"),
        (Action::Update, "WITH USING"),
        (Action::Unknown, "SERVICE"),
    ],
    signs: "()[]{}<>=!,.:;|*+/^?$@&-",
    quotes: "'\"",
    markers: "?$@",
    names: Names::Marked,
};
