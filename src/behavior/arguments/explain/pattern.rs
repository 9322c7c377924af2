//! Patterns to search by: globs, regular expressions, JSONPath. A closed part of each that no shell takes for its own.

use super::name::is_letter;
use crate::behavior::signs::{Needs, WORDS, signs};

/// A longer pattern is not read.
const LONGEST: usize = 512;

/// What the declaration of a function is written with.
pub const DECLARATION: Needs = Needs { one_of: signs(b"("), only: WORDS | signs(b"([<>)]-&* :,._'?") };

/// Whether a text is a pattern without a sign that joins, redirects or substitutes commands.
///
/// `|` joins words in capitals alone (`ERROR|WARN`): a shell would run the word behind it.
pub fn is_pattern(text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    text.len() <= LONGEST
        && !text.starts_with('-')
        && (0..chars.len()).all(|at| fits(&chars, at))
        && !text.contains(" -")
}

/// Whether a text selects elements of a page: names of elements, classes, ids, attributes in brackets and `:nth-child(2)`,
/// with `>`, `+`, `~` or a comma between them. Only for a parameter that is named after it: a shell reads `>` otherwise.
pub fn is_css(text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    let is_within = |at: usize| {
        let opened = chars.iter().take(at).rposition(|c| matches!(c, '[' | ']'));
        opened.and_then(|at| chars.get(at)) == Some(&'[')
    };
    let fits = |(at, c): (usize, &char)| {
        let before = at.checked_sub(1).and_then(|before| chars.get(before)).copied().unwrap_or(' ');
        let next = chars.get(at + 1).copied().unwrap_or(' ');
        match c {
            '>' | '+' => before == ' ' && next == ' ',
            '~' => (before == ' ' && next == ' ') || next == '=',
            ' ' | '.' | '#' | '*' | '[' | ']' | '(' | ')' | ':' | '-' | '_' | ',' | '\'' | '"' => true,
            // Only of an attribute: `[href^="/a"]`.
            '=' => is_within(at) && before != ' ' && (matches!(next, '"' | '\'') || is_letter(next)),
            '^' | '$' => is_within(at) && next == '=',
            '/' => is_within(at),
            c => is_letter(*c),
        }
    };
    let brackets = |open: char, close: char| text.matches(open).count() == text.matches(close).count();
    text.len() <= LONGEST
        && text.starts_with(|c: char| is_letter(c) || matches!(c, '.' | '#' | '*' | '[' | ':'))
        && !text.contains("$(")
        && !text.contains(" -")
        && brackets('[', ']')
        && brackets('(', ')')
        && chars.iter().enumerate().all(fits)
}

fn fits(chars: &[char], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| chars.get(before)).copied().unwrap_or(' ');
    let next = chars.get(at + 1).copied();
    let Some(&c) = chars.get(at) else { return true };
    match c {
        ' ' | '.' | '*' | '+' | '?' | '[' | ']' | '^' | ',' | ':' | '=' | '!' | '_' | '-' | '#' | '@' | '\'' | '"'
        | '%' => true,
        '/' => next != Some('/'),
        '(' => {
            let group = next != Some('?')
                || chars.get(at + 2).is_some_and(|c| matches!(c, ':' | '=' | '!' | '<' | 'P' | 'i' | 'm' | 's' | 'x'));
            group && !matches!(before, '$' | '<' | '>')
        }
        ')' => true,
        // The end of a line; `$(`, `${` and `$NAME` are a shell's.
        '$' => next.is_none_or(|next| matches!(next, ')' | ' ' | '.')),
        '\\' => next.is_some_and(|next| !next.is_control()),
        // A count, or the alternatives of a glob.
        '{' => {
            let inner: Vec<char> = chars.iter().skip(at + 1).copied().take_while(|c| *c != '}').collect();
            let counts = inner.iter().all(|c| c.is_ascii_digit() || *c == ',') && !matches!(before, '?' | '{' | '$');
            let listed =
                inner.contains(&',') && inner.iter().all(|c| is_letter(*c) || matches!(c, ',' | '.' | '_' | '-' | '*'));
            (counts || (listed && !matches!(before, '?' | '$' | '{'))) && chars.len() > at + 1 + inner.len()
        }
        '}' => true,
        '|' => {
            let capital = |c: Option<char>| c.is_some_and(|c| c.is_ascii_uppercase());
            let word = chars.iter().skip(at + 1).take_while(|c| c.is_ascii_alphanumeric());
            capital(Some(before)) && capital(next) && word.count() >= 3
        }
        // `(?<name>`, `(?<=`, `(?>`.
        '<' | '>' => before == '?' || (c == '>' && before.is_alphanumeric() && is_named_group(chars, at)),
        '~' => before.is_alphanumeric(),
        c => is_letter(c),
    }
}

fn is_named_group(chars: &[char], at: usize) -> bool {
    let name = chars.iter().take(at).rev().take_while(|c| c.is_alphanumeric() || **c == '_').count();
    let opens = at.checked_sub(name + 1).and_then(|open| chars.get(open));
    let asks = at.checked_sub(name + 2).and_then(|ask| chars.get(ask));
    opens == Some(&'<') && matches!(asks, Some('?' | 'P'))
}

/// Whether a text is a JSONPath: `$.items[*].name`.
pub fn is_json_path(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('$') else { return false };
    let fits = |c: char| is_letter(c) || matches!(c, '.' | '_' | '-' | '[' | ']' | '*' | '\'' | '"' | ':');
    text.len() <= LONGEST && (rest.is_empty() || rest.starts_with(['.', '['])) && rest.chars().all(fits)
}

/// Whether a text is the declaration of a function as source code has it, without a body: `fn main() -> Result<(), Error>`.
/// Whoever looks for code writes it; no language runs anything by it, and no shell reads a name with a bracket behind it.
pub fn is_declaration(text: &str) -> bool {
    const HEADS: [&str; 5] = ["fn", "func", "function", "def", "fun"];
    const BEFORE: [&str; 7] = ["pub", "public", "private", "protected", "static", "async", "export"];
    let mut rest = text.trim_end_matches(':');
    while let Some((_, after)) = rest.split_once(' ').filter(|(word, _)| BEFORE.contains(word)) {
        rest = after;
    }
    let Some((_, rest)) = rest.split_once(' ').filter(|(head, _)| HEADS.contains(head)) else { return false };
    let is_part = |c: char| is_letter(c) || c == '_';
    let name = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let (name, rest) = rest.split_at(name);
    text.len() <= LONGEST
        && !name.is_empty()
        && rest.starts_with(['(', '<'])
        && rest.contains('(')
        && is_signature(rest)
}

/// Whether the text is parameters and types in brackets that close, with arrows between them.
fn is_signature(text: &str) -> bool {
    let mut open = Vec::new();
    let mut before = ' ';
    for c in text.chars() {
        let fits = match c {
            '(' | '[' | '<' => {
                open.push(c);
                c != '<' || is_letter(before)
            }
            '>' if before == '-' => true,
            ')' | ']' | '>' => {
                let pair = match c {
                    ')' => '(',
                    ']' => '[',
                    _ => '<',
                };
                open.pop() == Some(pair)
            }
            '-' => before == ' ',
            '&' | '*' => matches!(before, ' ' | '(' | '<' | '['),
            ' ' => before != '-',
            ':' | ',' | '.' | '_' | '\'' | '?' => before != '-',
            c => is_letter(c) && before != '-',
        };
        if !fits {
            return false;
        }
        before = c;
    }
    open.is_empty() && before != '-'
}
