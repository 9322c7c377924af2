//! The fingerprint of a statement: its text with literals out, words folded, white space even. Judges nothing.
//!
//! What dialects would cut differently (comments, backslashes, quotes with a prefix, several statements) has none, so
//! that two statements of one fingerprint differ in their literals only, whatever the dialect.

use serde_json::Value;

use super::sql::{Carries, carries};

/// A statement longer than this has no fingerprint.
const MAX_BYTES: usize = 64 * 1024;

/// The fingerprints of the statements among the arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statements {
    /// One for each statement.
    pub fingerprints: Vec<String>,
    /// How many statements have none.
    pub unreadable: usize,
}

/// Finds the statements among the arguments, by the arguments' names.
pub fn statements(arguments: &Value) -> Statements {
    let mut found = Statements::default();
    look(arguments, Carries::No, 0, &mut found);
    found
}

fn look(value: &Value, carried: Carries, depth: usize, found: &mut Statements) {
    match value {
        _ if depth > 64 => found.unreadable += 1,
        Value::Object(fields) => {
            for (key, field) in fields {
                look(field, carries(key, None), depth + 1, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| look(item, carried, depth + 1, found)),
        Value::String(text) => match carried {
            Carries::No => {}
            Carries::Perhaps if !begins_like_sql(text) => {}
            Carries::Statement | Carries::Perhaps => match of(text) {
                Some(fingerprint) => found.fingerprints.push(fingerprint),
                None => found.unreadable += 1,
            },
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether the first word is one that a statement begins with.
fn begins_like_sql(text: &str) -> bool {
    let word: String = text.trim_start_matches(|c: char| !c.is_alphanumeric()).chars().take(10).collect();
    let word = word.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default().to_ascii_lowercase();
    const FIRST: &[&str] = &[
        "select", "with", "insert", "update", "delete", "create", "drop", "alter", "truncate", "merge", "replace",
        "grant", "revoke", "call", "exec", "execute", "explain", "pragma", "show", "set", "copy", "values", "table",
        "begin", "commit", "rollback", "vacuum", "attach", "analyze", "describe", "do", "lock", "load", "use",
    ];
    FIRST.contains(&word.as_str())
}

/// The fingerprint of one statement; `None` where it cannot be told for every dialect at once.
pub fn of(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.strip_suffix(';').unwrap_or(text).trim_end();
    if text.is_empty() || text.len() > MAX_BYTES {
        return None;
    }
    let mut words: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            c if c.is_ascii_whitespace() => {
                rest = &rest[1..];
                continue;
            }
            '\'' => {
                let length = quoted(rest, '\'')?;
                words.push("?".to_owned());
                length
            }
            // Text in some dialects and a name in others: kept as it is, so it widens nothing.
            '"' | '`' => {
                let length = quoted(rest, first)?;
                words.push(rest[..length].to_owned());
                length
            }
            c if c.is_ascii_digit() => {
                let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.')).unwrap_or(rest.len());
                is_number(&rest[..length]).then(|| words.push("?".to_owned()))?;
                length
            }
            c if c.is_alphabetic() || c == '_' => {
                let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                // `E'...'`, `N'...'`, `_utf8'...'`, `a$b`: read differently.
                if rest[length..].starts_with(['\'', '$']) {
                    return None;
                }
                words.push(rest[..length].to_lowercase());
                length
            }
            '-' if rest.starts_with("--") => return None,
            '/' if rest.starts_with("/*") => return None,
            '(' | ')' | ',' | '.' | '*' | '=' | '<' | '>' | '!' | '+' | '-' | '/' | '%' | '|' | '?' => {
                words.push(first.to_string());
                1
            }
            // `;` parts statements, `#` and `\` and `$` and `[` mean different things, the rest nothing known.
            _ => return None,
        };
        rest = &rest[length..];
    }
    Some(words.join(" "))
}

/// The length of a quoted run; `None` where it has no end, or a backslash in it.
fn quoted(text: &str, quote: char) -> Option<usize> {
    let mut at = 1;
    loop {
        let found = text[at..].find([quote, '\\'])?;
        at += found;
        if text[at..].starts_with('\\') {
            return None;
        }
        at += 1;
        // Doubled, it stands for itself.
        if !text[at..].starts_with(quote) {
            return Some(at);
        }
        at += 1;
    }
}

fn is_number(text: &str) -> bool {
    let hex = text.strip_prefix("0x").is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
    hex || text.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::{of, statements};
    use serde_json::json;

    #[test]
    fn statements_that_differ_in_literals_only_have_one_fingerprint() {
        let fingerprint = of("SELECT name FROM users WHERE id = 7").expect("a fingerprint");
        assert_eq!(fingerprint, "select name from users where id = ?");
        for same in ["select Name\n from USERS where id=12.5;", "SELECT name FROM users WHERE id = 'it''s'"] {
            assert_eq!(of(same).as_ref(), Some(&fingerprint), "{same}");
        }
        for other in [
            "SELECT name FROM users",
            "SELECT name FROM users WHERE id = 7 OR 1 = 1",
            "SELECT name FROM users WHERE id = \"7\"",
            "DELETE FROM users WHERE id = 7",
        ] {
            assert_ne!(of(other).as_ref(), Some(&fingerprint), "{other}");
        }
    }

    #[test]
    fn what_dialects_cut_differently_has_none() {
        for text in [
            "",
            ";",
            "SELECT 1; DELETE FROM t",
            "SELECT 1 -- x",
            "SELECT /*! x */ 1",
            "SELECT 'a\\' OR 1",
            "SELECT 'a",
            "SELECT E'a'",
            "SELECT $$a$$",
            "SELECT 1 # x",
            "SELECT [a]",
            "SELECT 0x1g",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn statements_are_found_by_the_names_of_arguments() {
        let found =
            statements(&json!({ "sql": "SELECT 1", "query": ["DROP TABLE t", "words to find"], "path": "select" }));
        assert_eq!((found.fingerprints, found.unreadable), (vec!["select ?".into(), "drop table t".into()], 0));
        assert_eq!(statements(&json!({ "sql": "SELECT 1 -- x" })).unreadable, 1);
    }
}
