//! Texts that have the shape of a statement of some query language. Reads none of them.

use crate::behavior::arguments::choice;
use crate::behavior::words::{among, are_pair, section};

const WORDS: &str = include_str!("../../../assets/words/shape.txt");

/// How many words of a text are looked at: a longer text is not plain anyway.
const MOST_WORDS: usize = 1_024;

/// Whether a text has the shape of a statement of some query language: its head, or two words of it side by side.
pub fn is_statement(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_upper = |word: &str| word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    let written: Vec<&str> = text.split(|c| !is_part(c)).filter(|word| !word.is_empty()).take(MOST_WORDS).collect();
    let words: Vec<String> = written.iter().map(|word| word.to_ascii_lowercase()).collect();
    let Some((head, rest)) = words.split_first() else { return false };
    let is_head = among(head, const { section(WORDS, "head") });
    if rest.is_empty() {
        return among(head, const { section(WORDS, "by-itself") });
    }
    // A change in capitals at any place (`a001 EXPUNGE`): people who search do not write like that.
    let changes = |(written, word): (&&str, &String)| is_upper(written) && choice::is_firm_change(word);
    if is_upper(written[0]) && is_head || written.iter().zip(&words).any(changes) {
        return true;
    }
    let pairs: Vec<usize> = (1..words.len())
        .filter(|at| are_pair(const { section(WORDS, "side-by-side") }, &words[at - 1], &words[*at]))
        .collect();
    let after_head = text.trim_start().get(head.len()..).unwrap_or_default();
    let opens = among(head, "match merge create call unwind") && after_head.trim_start().starts_with(['(', '[', '{']);
    let has = |word: &str| rest.iter().skip(1).any(|one| one == word);
    let begins = match head.as_str() {
        "select" => has("from"),
        "update" => has("set"),
        "for" => has("in"),
        _ => false,
    };
    let is_prose = || words.iter().any(|word| among(word, const { section(WORDS, "of-prose") }));
    pairs.iter().any(|at| *at == 1 || is_upper(written[at - 1]))
        || opens
        || (!pairs.is_empty() || begins || is_head) && !is_prose()
}
