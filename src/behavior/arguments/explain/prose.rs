//! Plain words: what people write to look for something. Tells them from statements, options, templates and shell lines.

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization;

use super::name;
use crate::behavior::arguments::choice;

/// A longer text is a document, not words to look for.
const LONGEST: usize = 2048;

/// Whether a text is words of a natural language with their ordinary punctuation, and nothing that a shell, a template or a
/// program would read as its own.
pub fn is_plain(text: &str) -> bool {
    if text.len() > LONGEST || name::climbs(text) {
        return false;
    }
    let chars: Vec<char> = text.chars().collect();
    let many = text.trim().contains(' ');
    // `@reboot /bin/x`: an entry of a table, not words.
    if many && text.starts_with('@') && text.contains(" /") {
        return false;
    }
    (0..chars.len()).all(|at| fits(&chars, at, many))
        && quotes_close(&chars)
        && text
            .split(' ')
            .all(|word| name::is_without_scheme(word.trim_start_matches(['(', '"', '\''])) || is_qualifier(word))
}

/// Searches name files by `file:name`; nothing follows one that has no place.
fn is_qualifier(word: &str) -> bool {
    let word = word.trim_start_matches(['-', '(']);
    word.strip_prefix("file:")
        .is_some_and(|rest| rest.chars().next().is_some_and(char::is_alphanumeric) && !rest.contains(['/', ':']))
}

/// Whether a character may stand where it stands.
fn fits(chars: &[char], at: usize, many: bool) -> bool {
    let before = at.checked_sub(1).and_then(|before| chars.get(before)).copied().unwrap_or(' ');
    let next = chars.get(at + 1).copied().unwrap_or(' ');
    let Some(&c) = chars.get(at) else { return true };
    let starts = matches!(before, ' ' | '(' | '"' | '\'' | '[');
    let ends = matches!(next, ' ' | ')' | '"' | '\'' | ']' | ',' | '.' | '?' | '!' | ':');
    match c {
        ' ' | '_' => true,
        'a'..='z' | 'A'..='Z' | '0'..='9' => true,
        // `.drop table`, and a call on what is before it.
        '.' => {
            let begins = starts && many && next.is_ascii_alphabetic();
            !begins && !matches!(before, ')' | ']')
        }
        ',' | '?' => true,
        '!' => !starts || next == ' ',
        ':' => {
            let compares =
                matches!(next, '<' | '>') && chars.get(at + 2).is_some_and(|c| c.is_ascii_digit() || *c == '=');
            let begins = starts && next != ' ';
            let is_act = chars.first() == Some(&'/') && name::is_letter(next);
            let is_negative = || chars.get(at + 2).is_some_and(char::is_ascii_digit);
            let follows = match next {
                ' ' | '"' | '\'' | '*' | '@' | '#' | '.' | '_' | ')' => true,
                '-' => is_negative(),
                c => name::is_letter(c) || compares,
            };
            follows && !begins && !is_act
        }
        '\'' | '"' => true,
        '(' => {
            starts
                || (next == 's' && chars.get(at + 2) == Some(&')'))
                || (next == 'e' && chars.get(at + 2) == Some(&'s'))
        }
        ')' => ends && !(next == '.' && chars.get(at + 2).is_some_and(|c| *c != ' ')),
        '[' => starts || before.is_alphanumeric(),
        ']' => true,
        '/' => next != '/' && (!many || (next != '*' && before != '*')),
        '@' => next.is_alphanumeric() || next == ' ',
        '#' => next != '!',
        '+' => true,
        '%' => before.is_ascii_digit() && ends,
        '*' => !many || (before != '/' && next != '/'),
        '-' => {
            let excludes = || {
                let word: Vec<char> = chars.iter().skip(at + 1).copied().take_while(|c| *c != ' ').collect();
                let colon = word.iter().position(|c| *c == ':');
                colon.is_some_and(|colon| colon >= 2 && colon + 1 < word.len())
                    && word.iter().all(|c| name::is_letter(*c) || matches!(c, ':' | '-' | '_' | '.' | '/' | '"' | '@'))
            };
            if starts { at > 0 && (next == ' ' || next.is_ascii_digit() || excludes()) } else { next != '-' }
        }
        '$' => next.is_ascii_digit() && (starts || before.is_ascii_uppercase()),
        '&' => before.is_ascii_uppercase() && next.is_ascii_uppercase() && !has_lower(chars, at),
        '~' => starts && next.is_ascii_digit(),
        '<' | '>' => before == ':',
        '=' => matches!(before, '<' | '>') && next.is_ascii_digit(),
        c if c.is_ascii() => false,
        c => name::is_letter(c) || is_punctuation(c),
    }
}

/// Whether the word around `at` has a small letter: `R&D` and `AT&T` have none.
fn has_lower(chars: &[char], at: usize) -> bool {
    let is_part = |c: &&char| **c != ' ';
    let before = chars.iter().take(at).rev().take_while(is_part);
    before.chain(chars.iter().skip(at).take_while(is_part)).any(|c| c.is_lowercase())
}

/// Punctuation and symbols that are not ASCII, and that no folding makes a sign of a shell or a language.
fn is_punctuation(c: char) -> bool {
    use GeneralCategory as G;
    // What folds to a sign of ASCII is that sign to whoever folds it.
    let folded: String = std::iter::once(c).nfkc().collect();
    let folds =
        folded.is_ascii() && !matches!(folded.as_str(), "," | "." | "..." | "?" | "!" | ":" | "(" | ")" | "'" | "\"");
    let category = get_general_category(c);
    !folds
        && matches!(
            category,
            G::ConnectorPunctuation
                | G::DashPunctuation
                | G::OpenPunctuation
                | G::ClosePunctuation
                | G::InitialPunctuation
                | G::FinalPunctuation
                | G::OtherPunctuation
                | G::CurrencySymbol
                | G::OtherSymbol
                | G::MathSymbol
                | G::ModifierSymbol
                | G::OtherNumber
                | G::LetterNumber
                | G::EnclosingMark
        )
}

/// Whether quotes stand in pairs; an apostrophe in or behind a word is none.
fn quotes_close(chars: &[char]) -> bool {
    let (mut single, mut double) = (false, false);
    for (at, c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| chars.get(before)).copied().unwrap_or(' ');
        let next = chars.get(at + 1).copied().unwrap_or(' ');
        match c {
            '"' => {
                if !double && !matches!(before, ' ' | '(' | ':' | '[' | '-') && !before.is_ascii_digit() {
                    return false;
                }
                // `5"` is a length.
                if double || !before.is_ascii_digit() {
                    double = !double;
                }
            }
            '\'' if before.is_alphanumeric() && next.is_alphanumeric() => {}
            // `dogs' bones`, unless it closes a quote.
            '\'' if !single && before == 's' && next == ' ' => {}
            '\'' => {
                let opens = matches!(before, ' ' | '(' | ':' | '[');
                if single == opens {
                    return false;
                }
                single = !single;
            }
            _ => {}
        }
    }
    !single && !double
}

/// How likely a text is to be taken for a statement where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Words to look for are expected.
    Words,
    /// A statement may be.
    Statements,
}

/// Whether a text has the shape of a statement of some query language: its head, or two words of it side by side.
pub fn is_statement(text: &str, reads: Reads) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let raw: Vec<&str> = text.split(|c: char| !is_part(c)).filter(|word| !word.is_empty()).take(400).collect();
    let words: Vec<String> = raw.iter().map(|word| word.to_ascii_lowercase()).collect();
    let Some(head) = words.first().map(String::as_str) else { return false };
    let is_upper = |word: &str| word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    let first_is_upper = raw.first().is_some_and(|word| is_upper(word));
    // A head in capitals among words that are not: people write no query so.
    if words.len() > 1 && first_is_upper && HEADS.contains(&head) {
        return true;
    }
    if words.len() == 1 {
        return ALONE.contains(&head) && (first_is_upper || reads == Reads::Statements);
    }
    // A change in capitals, wherever it stands: `a001 EXPUNGE`.
    if raw.iter().any(|word| is_upper(word) && choice::is_firm_change(&word.to_ascii_lowercase())) {
        return true;
    }
    let is_prose = words.iter().any(|word| PROSE.contains(&word.as_str()));
    let pair = |(at, two): (usize, &[String])| match two {
        [first, second] => {
            let pairs =
                PAIRS.iter().any(|(heads, next)| heads.contains(&first.as_str()) && next.contains(&second.as_str()));
            let in_capitals = raw.get(at).is_some_and(|word| is_upper(word));
            pairs && (!is_prose || in_capitals || at == 0)
        }
        _ => false,
    };
    let begins =
        |head_is: &str, later: &str| head == head_is && words.iter().skip(2).take(40).any(|word| word == later);
    words.windows(2).enumerate().any(pair)
        || (!is_prose
            && (begins("select", "from") || begins("update", "set") || begins("for", "in") || begins("from", "select")))
        || (matches!(head, "match" | "merge" | "create" | "call" | "unwind") && opens(text, head.len()))
        || (reads == Reads::Statements && HEADS.contains(&head) && !is_prose)
}

/// Whether a bracket follows the first word.
fn opens(text: &str, head: usize) -> bool {
    text.trim_start().get(head..).is_some_and(|rest| rest.trim_start().starts_with(['(', '[', '{']))
}

/// Words that statements of query languages begin with.
const HEADS: &[&str] = &[
    "select",
    "insert",
    "update",
    "delete",
    "drop",
    "create",
    "alter",
    "truncate",
    "grant",
    "revoke",
    "merge",
    "replace",
    "call",
    "exec",
    "execute",
    "begin",
    "commit",
    "rollback",
    "vacuum",
    "attach",
    "detach",
    "pragma",
    "explain",
    "describe",
    "show",
    "set",
    "load",
    "copy",
    "lock",
    "unlock",
    "rename",
    "use",
    "with",
    "values",
    "do",
    "declare",
    "analyze",
    "reindex",
    "match",
    "optional",
    "unwind",
    "remove",
    "foreach",
    "ask",
    "construct",
    "clear",
    "add",
    "move",
    "prefix",
    "base",
    "for",
    "let",
    "return",
    "upsert",
    "del",
    "flushall",
    "flushdb",
    "hset",
    "eval",
    "kill",
    "shutdown",
    "from",
    "put",
    "post",
    "patch",
    "get",
    "hdel",
    "lpush",
    "rpush",
    "expire",
    "incr",
    "config",
    "batch",
    "import",
    "export",
    "restore",
    "backup",
    "refresh",
    "comment",
    "deny",
    "bulk",
    "purge",
];

/// Words that are a statement by themselves.
const ALONE: &[&str] = &[
    "vacuum",
    "commit",
    "rollback",
    "begin",
    "flushall",
    "flushdb",
    "shutdown",
    "reboot",
    "bgsave",
    "save",
    "checkpoint",
    "reindex",
    "analyze",
    "reconfigure",
    "halt",
    "poweroff",
    "exit",
    "quit",
    "bgrewriteaof",
    "failover",
    "resetstat",
];

/// Two words that stand side by side in statements.
const PAIRS: &[(&[&str], &[&str])] = &[
    (&["insert", "replace", "merge", "upsert", "import"], &["into"]),
    (&["delete"], &["from", "where", "data", "all"]),
    (&["union"], &["select", "all"]),
    (
        &["drop", "create", "alter", "truncate", "rename", "show"],
        &[
            "table",
            "database",
            "index",
            "view",
            "schema",
            "trigger",
            "function",
            "procedure",
            "user",
            "role",
            "all",
            "graph",
            "measurement",
            "series",
            "keyspace",
            "collection",
            "constraint",
            "default",
            "silent",
            "named",
            "continuous",
            "retention",
            "column",
            "sequence",
            "type",
            "materialized",
            "temporary",
            "temp",
            "unique",
            "or",
            "if",
            "subscription",
            "shard",
        ],
    ),
    (&["clear", "add", "move", "copy"], &["all", "default", "graph", "named", "silent"]),
    (&["load"], &["data", "csv"]),
    (&["detach"], &["delete"]),
    (&["grant", "revoke"], &["all", "select", "insert", "update", "delete", "usage", "role"]),
    (&["exec", "execute"], &["sp_executesql", "xp_cmdshell", "immediate", "as"]),
    (&["set"], &["global", "session", "persist"]),
];

/// Words of prose that no statement has: whoever looks for something writes them.
const PROSE: &[&str] = &[
    "the", "of", "about", "how", "what", "why", "when", "who", "my", "our", "your", "me", "i", "we", "you", "are",
    "was", "these", "does", "can", "should", "latest", "best", "via", "an", "vs", "versus", "their", "its", "it",
    "more", "most", "near",
];
