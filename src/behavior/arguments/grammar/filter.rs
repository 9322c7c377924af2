//! Conditions: comparisons joined by AND and OR, as JQL, OData, label selectors and `where` arguments have them.

use super::{Grammar, Names, Token, tokens};
use crate::behavior::arguments::effect::Meaning;
use crate::behavior::taxonomy::Action;
use crate::behavior::words::section;

const WORDS: &str = include_str!("../../../../assets/words/grammar.txt");

/// Whether a text is a condition, read to its end.
pub fn reads(text: &str) -> bool {
    // Most texts are none, and are not cut.
    if !text.contains(['=', '<', '>', '~']) && !text.split(' ').any(|word| is_comparison(&Token::Word(word))) {
        return false;
    }
    let Some(tokens) = tokens(text, FILTER.quotes, FILTER.signs) else { return false };
    // A formula begins with a sign, and padding ends with one.
    let begins = !matches!(tokens.first(), Some(Token::Sign(sign)) if !matches!(sign, '(' | '!' | '['));
    let ends = !matches!(tokens.last(), Some(Token::Sign(sign)) if !matches!(sign, ')' | ']'));
    begins
        && ends
        && (0..tokens.len()).all(|at| compares_a_value(&tokens, at))
        && tokens.iter().any(is_comparison)
        && FILTER.change(&tokens).is_none()
        && FILTER.reads(&tokens)
}

/// Whether what comes behind `<` or `>` is a value: a name there may be a file that a shell writes.
fn compares_a_value(tokens: &[Token<'_>], at: usize) -> bool {
    let is_name = matches!(tokens.get(at + 1), Some(Token::Word(_))) && tokens.get(at + 2) != Some(&Token::Sign('('));
    !(matches!(tokens.get(at), Some(Token::Sign('<' | '>'))) && is_name)
}

/// What a condition does: it reads, or the text is none.
pub fn read(text: &str) -> Meaning {
    if reads(text) { FILTER.found(&[]) } else { FILTER.unread(text) }
}

fn is_comparison(token: &Token<'_>) -> bool {
    match token {
        Token::Sign('=' | '<' | '>' | '~') => true,
        Token::Word(word) => {
            let lower = word.to_ascii_lowercase();
            matches!(
                lower.as_str(),
                "in" | "is" | "like" | "eq" | "ne" | "gt" | "ge" | "lt" | "le" | "between" | "contains" | "was"
            )
        }
        Token::Number | Token::Quoted(_) | Token::Sign(_) => false,
    }
}

const FILTER: Grammar = Grammar {
    language: "a condition",
    begins: "",
    keywords: section(WORDS, "filter-keywords"),
    functions: section(WORDS, "filter-functions"),
    changes: &[(
        Action::Unknown,
        "SELECT INSERT UPDATE DELETE DROP ALTER CREATE TRUNCATE GRANT REVOKE UNION INTO EXEC EXECUTE CALL MERGE REPLACE REMOVE SET",
    )],
    signs: "()[]=!<>~,.:+-",
    quotes: "'\"",
    markers: ".",
    names: Names::Operands,
};
