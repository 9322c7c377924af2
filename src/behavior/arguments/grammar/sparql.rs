//! SPARQL: SELECT, ASK, CONSTRUCT and DESCRIBE over the store itself. Addresses in angle brackets are names.

use super::{Grammar, Names};
use crate::behavior::arguments::effect::Meaning;
use crate::behavior::taxonomy::Action;
use crate::behavior::words::section;

const WORDS: &str = include_str!("../../../../assets/words/grammar.txt");

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

const SPARQL: Grammar<'static> = Grammar {
    language: "SPARQL",
    begins: "SELECT ASK CONSTRUCT DESCRIBE PREFIX BASE",
    keywords: section(WORDS, "sparql-keywords"),
    functions: section(WORDS, "sparql-functions"),
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
    ends: "TRUE FALSE",
};
