//! Texts that have the shape of a statement of some query language. Reads none of them.

use crate::behavior::arguments::choice;
use crate::behavior::words::{Words, are_pair, count, folded, section};

const WORDS: &str = include_str!("../../../assets/words/shape.txt");

/// How likely a text is to be taken for a statement where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Words to look for are expected.
    Words,
    /// A statement may be.
    Statements,
}

/// Whether a text has the shape of a statement of some query language: its head, or two words of it side by side.
pub fn is_statement(text: &str, reads: Reads) -> bool {
    let is_upper = |word: &[u8]| word.len() >= 3 && word.iter().all(u8::is_ascii_uppercase);
    let mut words = (0..MOST_WORDS).zip(words(text.as_bytes()));
    let Some((_, first)) = words.next() else { return false };
    let head = folded(first);
    let head_is_known = HEADS.has(head);
    // A change in capitals at any place (`a001 EXPUNGE`): people who search do not write like that.
    let changes = |word: &[u8]| is_upper(word) && choice::is_firm_change(&lower(word));
    let (mut is_prose, mut has_change) = (PROSE.has(head), changes(first));
    let (mut at_head, mut in_capitals, mut anywhere) = (false, false, false);
    let (mut has_from, mut has_set, mut has_in) = (false, false, false);
    let (mut before, mut before_opens, mut last) = (first, PAIR_HEADS.has(head), 0);
    for (at, word) in words {
        last = at;
        has_change |= changes(word);
        // Most words are in no list, and the lists know them by their first letter and their length.
        let is_known = PROSE.may_have(word) || PAIR_HEADS.may_have(word) || is_of_two(word);
        let plain = if is_known { folded(word) } else { 0 };
        is_prose |= PROSE.has(plain);
        if at >= 2 {
            (has_from, has_set, has_in) = (has_from || plain == FROM, has_set || plain == SET, has_in || plain == IN);
        }
        if before_opens && are_pair(&PAIRS, &lower(before), &lower(word)) {
            at_head |= at == 1;
            in_capitals |= is_upper(before);
            anywhere = true;
        }
        (before, before_opens) = (word, PAIR_HEADS.has(plain));
    }
    if last == 0 {
        return ALONE.has(head) && (is_upper(first) || reads == Reads::Statements);
    }
    if (is_upper(first) && head_is_known) || has_change {
        return true;
    }
    let head = if head_is_known { lower(first) } else { String::new() };
    let opens = matches!(head.as_str(), "match" | "merge" | "create" | "call" | "unwind") && opens(text, head.len());
    let begins = match head.as_str() {
        "select" => has_from,
        "update" => has_set,
        "for" => has_in,
        _ => false,
    };
    at_head
        || in_capitals
        || opens
        || (!is_prose && (anywhere || begins || (reads == Reads::Statements && head_is_known)))
}

/// How many words of a text are looked at: a longer text is not plain anyway.
const MOST_WORDS: usize = 1_024;

const FROM: u128 = folded(b"from");
const SET: u128 = folded(b"set");
const IN: u128 = folded(b"in");

/// The words of a text: letters and digits of ASCII, and `_`.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.iter().position(|byte| is_part(*byte))?;
        rest = rest.get(start..)?;
        let end = rest.iter().position(|byte| !is_part(*byte)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

/// Whether words are made of it.
fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether a word may be the second of a statement's two words: `select … from`.
fn is_of_two(word: &[u8]) -> bool {
    matches!(word, [b'f' | b'F', _, _, _] | [b's' | b'S', _, _] | [b'i' | b'I', _])
}

/// Words of ASCII letters, digits and `_` alone come here.
fn lower(word: &[u8]) -> String {
    word.iter().map(|byte| char::from(byte.to_ascii_lowercase())).collect()
}

/// Whether a bracket follows the first word.
fn opens(text: &str, head: usize) -> bool {
    text.trim_start().get(head..).is_some_and(|rest| rest.trim_start().starts_with(['(', '[', '{']))
}

/// Words that statements of query languages begin with.
const HEAD: &str = section(WORDS, "head");
static HEADS: Words<{ count(HEAD) }> = Words::of(HEAD);

/// Words that are a statement by themselves.
const BY_ITSELF: &str = section(WORDS, "by-itself");
static ALONE: Words<{ count(BY_ITSELF) }> = Words::of(BY_ITSELF);

/// Words of prose that no statement has: whoever looks for something writes them.
const OF_PROSE: &str = section(WORDS, "of-prose");
static PROSE: Words<{ count(OF_PROSE) }> = Words::of(OF_PROSE);

/// Words that are side by side in statements.
const PAIRS: [(&str, &str); 10] = [
    ("insert replace merge upsert import", "into"),
    ("delete", "from where data all"),
    ("union", "select all"),
    (
        "drop create alter truncate rename show",
        "table database index view schema trigger function procedure user role all graph measurement series keyspace \
         collection constraint default silent named continuous retention column sequence type materialized temporary temp \
         unique or if subscription shard",
    ),
    ("clear add move copy", "all default graph named silent"),
    ("load", "data csv"),
    ("detach", "delete"),
    ("grant revoke", "all select insert update delete usage role"),
    ("exec execute", "sp_executesql xp_cmdshell immediate as"),
    ("set", "global session persist"),
];
const PAIR_HEAD: &str = section(WORDS, "pair-head");
static PAIR_HEADS: Words<{ count(PAIR_HEAD) }> = Words::of(PAIR_HEAD);

#[cfg(test)]
mod tests {
    use super::{PAIR_HEADS, PAIRS};
    use crate::behavior::words::folded;

    #[test]
    fn every_first_word_of_a_pair_is_looked_for() {
        for first in PAIRS.iter().flat_map(|(firsts, _)| firsts.split(' ')) {
            assert!(PAIR_HEADS.has(folded(first.as_bytes())), "{first}");
        }
    }
}
