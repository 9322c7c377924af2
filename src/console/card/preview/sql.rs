//! SQL for the eye: one statement after the other, its words marked, and what it would do to which table. It judges
//! nothing: what a statement is taken for is decided elsewhere, and stands in the badge.

use super::bordered;
use crate::console::card::counted;
use crate::console::row::{Row, Tone};

/// Words that begin a statement.
const VERBS: [&str; 24] = [
    "SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE", "CREATE", "ALTER", "DROP", "TRUNCATE", "GRANT",
    "REVOKE", "WITH", "EXPLAIN", "PRAGMA", "BEGIN", "COMMIT", "ROLLBACK", "CALL", "EXEC", "VACUUM", "ATTACH", "COPY",
    "SHOW",
];
/// Other words of the language that are marked.
const WORDS: [&str; 36] = [
    "FROM",
    "INTO",
    "VALUES",
    "SET",
    "WHERE",
    "JOIN",
    "LEFT",
    "RIGHT",
    "INNER",
    "OUTER",
    "ON",
    "GROUP",
    "ORDER",
    "BY",
    "HAVING",
    "LIMIT",
    "OFFSET",
    "UNION",
    "ALL",
    "AND",
    "OR",
    "NOT",
    "NULL",
    "IS",
    "IN",
    "LIKE",
    "AS",
    "DISTINCT",
    "TABLE",
    "INDEX",
    "VIEW",
    "IF",
    "EXISTS",
    "RETURNING",
    "CASCADE",
    "USING",
];

/// More statements are read in the arguments.
const MOST: usize = 40;

/// A piece of SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    /// A quoted string or name, with its quotes.
    Quoted(&'a str),
    Comment(&'a str),
    End,
    Other(&'a str),
}

/// What all statements do in one line with its tone (`Ours` only where all of them seem to read), and their rows; `None`
/// for a text that is no SQL.
pub(super) fn rows(text: &str, width: usize) -> Option<(String, Tone, Vec<Row>)> {
    let statements = statements(text);
    let verbs: Vec<String> = statements.iter().filter_map(|tokens| verb(tokens)).collect();
    if statements.is_empty() || verbs.len() != statements.len() {
        return None;
    }
    let lines: Vec<(String, Tone)> = statements.iter().map(|tokens| effect(tokens)).collect();
    let mut rows = Vec::new();
    for (i, (tokens, (line, tone))) in statements.iter().zip(&lines).enumerate().take(MOST) {
        let number = if lines.len() == 1 { String::new() } else { format!("{}. ", i + 1) };
        rows.extend(bordered(Row::of(Tone::Quiet, number).and_foreign(*tone, line), width));
        let mut row = Row::of(Tone::Ours, "  ");
        for token in tokens {
            row = marked(row, *token);
        }
        rows.extend(bordered(row, width));
    }
    if let Some(left) = lines.get(MOST..).filter(|left| !left.is_empty()) {
        let risky = left.iter().filter(|(_, tone)| *tone == Tone::Danger).count();
        let words =
            format!("… {} in the arguments below, {risky} of them marked", counted(left.len(), "more statement"));
        rows.extend(bordered(Row::of(Tone::Warn, words), width));
    }
    let of = |wanted| lines.iter().position(|(_, tone)| *tone == wanted);
    let (first, tone) = lines.get(of(Tone::Danger).or_else(|| of(Tone::Warn)).unwrap_or(0))?.clone();
    let effect = match lines.len() {
        1 => first,
        n => format!("{n} statements, one of them: {first}"),
    };
    Some((effect, tone, rows))
}

fn marked(row: Row, token: Token<'_>) -> Row {
    match token {
        Token::Word(word) => {
            let upper = word.to_ascii_uppercase();
            let tone = if matches!(upper.as_str(), "DELETE" | "DROP" | "TRUNCATE" | "UPDATE" | "ALTER" | "GRANT") {
                Tone::Danger
            } else if VERBS.contains(&upper.as_str()) || WORDS.contains(&upper.as_str()) {
                Tone::Key
            } else {
                Tone::Foreign
            };
            row.and_foreign(tone, word)
        }
        Token::Quoted(text) => row.and_foreign(Tone::Good, text),
        Token::Comment(text) => row.and_foreign(Tone::Quiet, text),
        Token::Other(text) => {
            // A break or an indent is one space here; the arguments below have it as it was sent.
            if text.chars().all(char::is_whitespace) {
                row.and(Tone::Ours, " ")
            } else {
                row.and_foreign(Tone::Foreign, text)
            }
        }
        Token::End => row,
    }
}

/// The statements of a text, without empty ones.
fn statements(text: &str) -> Vec<Vec<Token<'_>>> {
    let mut found = vec![Vec::new()];
    for token in tokens(text) {
        match token {
            Token::End => found.push(Vec::new()),
            token => {
                if let Some(last) = found.last_mut() {
                    last.push(token);
                }
            }
        }
    }
    let says = |token: &Token<'_>| matches!(token, Token::Word(_) | Token::Quoted(_));
    found.retain(|tokens| tokens.iter().any(says));
    found
}

fn words<'a>(tokens: &[Token<'a>]) -> impl Iterator<Item = (usize, &'a str)> {
    tokens.iter().enumerate().filter_map(|(i, token)| match token {
        Token::Word(word) => Some((i, *word)),
        _ => None,
    })
}

fn verb(tokens: &[Token<'_>]) -> Option<String> {
    let (_, first) = words(tokens).next()?;
    let upper = first.to_ascii_uppercase();
    VERBS.contains(&upper.as_str()).then_some(upper)
}

/// `DELETE on users without WHERE: every row`.
fn effect(tokens: &[Token<'_>]) -> (String, Tone) {
    let upper: Vec<String> = words(tokens).map(|(_, word)| word.to_ascii_uppercase()).collect();
    let outer = outer(tokens);
    // The verb that changes something counts, also behind WITH.
    let changing =
        ["DELETE", "UPDATE", "INSERT", "DROP", "TRUNCATE", "ALTER", "MERGE", "REPLACE", "CREATE", "GRANT", "REVOKE"];
    let lead = upper.first().map_or("", String::as_str);
    let behind = matches!(lead, "WITH" | "EXPLAIN");
    let verb = if behind {
        upper.iter().find(|word| changing.contains(&word.as_str())).map_or(lead, String::as_str)
    } else {
        lead
    };
    // A condition inside parentheses is not the statement's own.
    let has = |word: &str| outer.iter().any(|one| one.eq_ignore_ascii_case(word));
    let after = |words: &[&str]| table(tokens, words).unwrap_or("a table that could not be told");
    match verb {
        "DELETE" if has("WHERE") => {
            (format!("DELETE on {}, where its condition holds", after(&["FROM", "DELETE"])), Tone::Danger)
        }
        "DELETE" => (format!("DELETE on {} without WHERE: every row", after(&["FROM", "DELETE"])), Tone::Danger),
        "UPDATE" if has("WHERE") => {
            (format!("UPDATE on {}, where its condition holds", after(&["UPDATE"])), Tone::Warn)
        }
        "UPDATE" => (format!("UPDATE on {} without WHERE: every row", after(&["UPDATE"])), Tone::Danger),
        "INSERT" | "REPLACE" | "MERGE" => (format!("{verb} into {}", after(&["INTO"])), Tone::Warn),
        "TRUNCATE" => (format!("TRUNCATE of {}: every row", after(&["TABLE", "TRUNCATE"])), Tone::Danger),
        "DROP" => (
            format!("DROP of {}", after(&["EXISTS", "TABLE", "VIEW", "INDEX", "DATABASE", "SCHEMA", "TRIGGER"])),
            Tone::Danger,
        ),
        "ALTER" => {
            (format!("ALTER of {}", after(&["EXISTS", "TABLE", "VIEW", "INDEX", "DATABASE", "SCHEMA"])), Tone::Danger)
        }
        "CREATE" => (
            format!("CREATE of {}", after(&["EXISTS", "TABLE", "VIEW", "INDEX", "DATABASE", "SCHEMA", "TRIGGER"])),
            Tone::Warn,
        ),
        "SELECT" | "SHOW" | "EXPLAIN" | "WITH" => {
            (format!("{verb} from {}", table(tokens, &["FROM"]).unwrap_or("no table")), Tone::Ours)
        }
        other => (other.to_owned(), Tone::Warn),
    }
}

/// The words outside any parentheses.
fn outer<'a>(tokens: &[Token<'a>]) -> Vec<&'a str> {
    let mut depth = 0_usize;
    let mut found = Vec::new();
    for token in tokens {
        match token {
            Token::Other("(") => depth += 1,
            Token::Other(")") => depth = depth.saturating_sub(1),
            Token::Word(word) if depth == 0 => found.push(*word),
            _ => {}
        }
    }
    found
}

/// The name behind the first of these words that stands in the statement.
fn table<'a>(tokens: &[Token<'a>], behind: &[&str]) -> Option<&'a str> {
    let at = behind.iter().find_map(|wanted| words(tokens).find(|(_, word)| word.eq_ignore_ascii_case(wanted)))?.0;
    tokens.get(at + 1..)?.iter().find_map(|token| match token {
        Token::Word(word) => Some(*word),
        Token::Quoted(name) => Some(name.trim_matches(['"', '`', '\''])),
        Token::Comment(_) | Token::Other(_) | Token::End => None,
    })
}

/// Cuts SQL: strings, names and comments are whole, so that no `;` in them ends a statement.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let token = |len: usize| rest.split_at(len.min(rest.len()).max(first.len_utf8()));
        let (head, tail, kind): (&str, &str, fn(&str) -> Token<'_>) = match first {
            ';' => {
                let (head, tail) = token(1);
                (head, tail, |_| Token::End)
            }
            '\'' | '"' | '`' => {
                let (head, tail) = token(quoted(rest, first));
                (head, tail, |text| Token::Quoted(text))
            }
            '-' if rest.starts_with("--") => {
                let (head, tail) = token(rest.find('\n').unwrap_or(rest.len()));
                (head, tail, |text| Token::Comment(text))
            }
            '/' if rest.starts_with("/*") => {
                let (head, tail) = token(rest.find("*/").map_or(rest.len(), |end| end + 2));
                (head, tail, |text| Token::Comment(text))
            }
            '$' if dollar(rest).is_some() => {
                let (head, tail) = token(dollar(rest).unwrap_or(1));
                (head, tail, |text| Token::Quoted(text))
            }
            c if c.is_alphanumeric() || c == '_' => {
                let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
                let (head, tail) = token(rest.find(|c| !word(c)).unwrap_or(rest.len()));
                (head, tail, |text| Token::Word(text))
            }
            c if c.is_whitespace() => {
                let (head, tail) = token(rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len()));
                (head, tail, |text| Token::Other(text))
            }
            c => {
                let (head, tail) = token(c.len_utf8());
                (head, tail, |text| Token::Other(text))
            }
        };
        found.push(kind(head));
        rest = tail;
    }
    found
}

/// Just behind the closing quote; a doubled quote does not close.
fn quoted(text: &str, quote: char) -> usize {
    let mut at = 1;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find(quote)) {
        at += found + 1;
        if !text[at..].starts_with(quote) {
            return at;
        }
        at += 1;
    }
    text.len()
}

/// The end of a `$tag$ … $tag$` string that begins the text.
fn dollar(text: &str) -> Option<usize> {
    let tag_end = text.get(1..)?.find('$')? + 2;
    let tag = text.get(..tag_end)?;
    if !tag[1..tag.len() - 1].chars().all(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let end = text.get(tag_end..)?.find(tag)?;
    Some(tag_end + end + tag.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_say_what_they_do() {
        for (text, effect) in [
            ("DELETE FROM users", "DELETE on users without WHERE: every row"),
            ("delete from \"users\" where id = ';'", "DELETE on users, where its condition holds"),
            ("UPDATE orders SET status = 'a;b' WHERE id = 1;", "UPDATE on orders, where its condition holds"),
            ("SELECT 1; DROP TABLE IF EXISTS t -- ; SELECT 2", "2 statements, one of them: DROP of t"),
            ("WITH x AS (SELECT 1) DELETE FROM logs", "DELETE on logs without WHERE: every row"),
            ("SELECT $q$; DROP TABLE t$q$ FROM a", "SELECT from a"),
            ("DELETE FROM a USING (SELECT 1 WHERE 1)", "DELETE on a without WHERE: every row"),
            ("/* ; */ TRUNCATE events", "TRUNCATE of events: every row"),
        ] {
            assert_eq!(rows(text, 80).map(|(line, ..)| line).as_deref(), Some(effect), "{text}");
        }
        for text in ["", "status:open label:bug", "how do I delete a user?", ";;"] {
            assert!(rows(text, 80).is_none(), "{text}");
        }
    }
}
