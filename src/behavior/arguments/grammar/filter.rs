//! Conditions: comparisons joined by AND and OR, as JQL, OData, label selectors and `where` arguments have them.

use super::{Grammar, Names, Token, tokens};
use crate::behavior::arguments::effect::Meaning;
use crate::behavior::signs::{Signs, signs};
use crate::behavior::taxonomy::Action;
use crate::behavior::words::{Words, count, folded, section};

const WORDS: &str = include_str!("../../../../assets/words/grammar.txt");

/// Whether a text is a condition, read to its end.
pub fn reads(text: &str) -> bool {
    // Most texts are no conditions. To save cutting them into tokens, those that compare nothing or end in a dangling
    // sign are refused first.
    let compares = || Signs::of(text).has(COMPARE) || text.split(' ').any(|word| is_comparison(&Token::Word(word)));
    if is_cut_off(text) || !compares() {
        return false;
    }
    is_read(text)
}

/// Whether a text ends in a sign that a condition does not end in. No quote closes behind it.
fn is_cut_off(text: &str) -> bool {
    let end = text.trim_ascii_end().bytes().next_back();
    end.is_some_and(|end| b"[=!<>~,(:+-".contains(&end))
}

/// The same as [`reads`], whatever the text compares and ends in.
fn is_read(text: &str) -> bool {
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
        Token::Word(word) => word.len() <= 8 && COMPARISONS.has(folded(word.as_bytes())),
        Token::Number | Token::Quoted(_) | Token::Sign(_) => false,
    }
}

/// Signs that compare.
const COMPARE: u128 = signs(b"=<>~");
/// Words that do.
const COMPARISON: &str = "in is like eq ne gt ge lt le between contains was";
static COMPARISONS: Words<{ count(COMPARISON) }> = Words::of(COMPARISON);

const FILTER: Grammar<'static> = Grammar {
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
    ends: "NULL EMPTY ASC DESC TRUE FALSE CHANGED EXISTS",
};

#[cfg(test)]
mod tests {
    use super::{is_cut_off, is_read, reads};

    #[test]
    fn what_ends_in_a_sign_is_no_condition() {
        const PARTS: [&str; 22] = [
            "a", "12.", "'x'", "\"y ", "in", "Like", "contained", "=", "<", ">", "~", "!", "(", ")", "[", "]", "+",
            "-", ":", ".", ",", "{",
        ];
        for one in PARTS {
            for two in PARTS {
                for three in PARTS {
                    for text in
                        [format!("{one} {two} {three}"), format!("{one}{two}{three}\t"), format!("a = 1 {two}{three}")]
                    {
                        assert!(!is_cut_off(&text) || !is_read(&text), "{text}");
                    }
                }
            }
        }
        assert!(reads("a = 'x'") && reads("state IN (1, 2)") && !reads("a ="));
    }
}
