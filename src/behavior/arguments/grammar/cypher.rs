//! Cypher: clauses that read, and the functions that are known. A procedure is read only where a list has it.

use super::{Grammar, Names, Token, tokens};
use crate::behavior::arguments::effect::Meaning;
use crate::behavior::taxonomy::Action;
use crate::behavior::words::section;

const WORDS: &str = include_str!("../../../../assets/words/grammar.txt");

/// What a text of Cypher does.
pub fn read(text: &str) -> Meaning {
    if let Some(tokens) = tokens(text, CYPHER.quotes, CYPHER.signs)
        && calls_reads(&tokens)
    {
        return CYPHER.found(&tokens);
    }
    CYPHER.read(text)
}

/// `CALL db.labels()` and its like: one call of a procedure that lists what the schema has.
fn calls_reads(tokens: &[Token<'_>]) -> bool {
    const READS: [&str; 7] = [
        "db.labels", "db.relationshipTypes", "db.propertyKeys", "db.schema.visualization",
        "db.schema.nodeTypeProperties", "db.schema.relTypeProperties", "db.indexes",
    ];
    let [Token::Word(call), name @ .., Token::Sign('('), Token::Sign(')')] = tokens else { return false };
    let mut whole = String::new();
    for token in name {
        match token {
            Token::Word(word) => whole.push_str(word),
            Token::Sign('.') => whole.push('.'),
            _ => return false,
        }
    }
    call.eq_ignore_ascii_case("CALL") && READS.contains(&whole.as_str())
}

const CYPHER: Grammar<'static> = Grammar {
    language: "Cypher",
    begins: "MATCH OPTIONAL WITH RETURN UNWIND EXPLAIN",
    keywords: section(WORDS, "cypher-keywords"),
    functions: section(WORDS, "cypher-functions"),
    changes: &[
        (Action::Delete, "DELETE DETACH REMOVE DROP TERMINATE"),
        (Action::Create, "CREATE LOAD"),
        (Action::Merge, "MERGE"),
        (Action::Update, "SET ALTER GRANT DENY REVOKE ENABLE DEALLOCATE REALLOCATE RENAME START STOP USE"),
        (Action::Execute, "CALL FOREACH"),
    ],
    signs: "()[]{}<>-=,.:|*+/%^$!&;",
    quotes: "'\"`",
    markers: ".:$",
    names: Names::Operands,
    ends: "ASC DESC ASCENDING DESCENDING NULL TRUE FALSE END",
};
