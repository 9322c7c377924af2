//! The canonical form of a statement: literals out, one space between words, names folded as the dialect folds them.
//!
//! Statements share a form when they differ in literals, comments, white space and the case of words alone. Read for
//! rules: a form never hides a word, a name or a sign, only values, and how many there are in a list of values. Quotes stay
//! as they are: what is a name in one kind of them is a text in another.

use super::Dialect;
use super::gate::{Cut, is_keyword};
use super::tokens::{Kind, Token};

/// Rules do not use longer forms.
const MOST_BYTES: usize = 4096;

/// What a statement begins with whose literals are values. In any other they may be code, a program or a file: `DO '…'`,
/// `EXEC('…')`, `COPY t FROM PROGRAM '…'`, `ATTACH '…'`.
const HOLD_VALUES: [&str; 9] =
    ["SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "WITH", "VALUES", "EXPLAIN"];

/// The canonical form; `None` where there are several statements, or it is longer than anybody would put into a rule.
pub(super) fn of(cut: Cut<'_>, dialect: Option<Dialect>) -> Option<String> {
    let tokens = cut.without_end().tokens;
    // Several statements are not one computation.
    if tokens.iter().any(|token| token.kind == Kind::Sign(b';')) {
        return None;
    }
    let head = tokens.iter().find(|token| token.kind == Kind::Word).map(|token| &cut.text[token.start..token.end]);
    let holds_values = head.is_some_and(|head| HOLD_VALUES.iter().any(|word| head.eq_ignore_ascii_case(word)));
    let mut form = String::new();
    let mut before: Option<&Token> = None;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let touches = before.is_some_and(|before| before.end == token.start);
        if form.len() > MOST_BYTES {
            return None;
        }
        if before.is_some_and(|before| spaced(before.kind, token.kind, touches)) {
            form.push(' ');
        }
        match token.kind {
            Kind::Literal if holds_values => form.push('?'),
            Kind::Sign(_) | Kind::Operator | Kind::Literal | Kind::Quoted => {
                form.push_str(&cut.text[token.start..token.end]);
            }
            Kind::Word => {
                let word = &cut.text[token.start..token.end];
                let from = form.len();
                form.push_str(word);
                let called = tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Sign(b'('));
                if is_keyword(word) {
                    form[from..].make_ascii_uppercase();
                } else if called || !matches!(dialect, Some(Dialect::MySql) | None) {
                    // MySQL's table names are files, and fold as the file system does: they stay as written.
                    form[from..].make_ascii_lowercase();
                }
            }
        }
        before = Some(token);
        at += 1;
        // `IN (1, 2, 3)` is `IN (?)`, however many there are.
        if token.kind == Kind::Literal && holds_values {
            while let [Token { kind: Kind::Sign(b','), .. }, Token { kind: Kind::Literal, .. }, ..] =
                tokens.get(at..).unwrap_or_default()
            {
                at += 2;
            }
        }
    }
    (!form.is_empty()).then_some(form)
}

/// Signs that belong together stay together; words are parted by one space.
fn spaced(before: Kind, this: Kind, touches: bool) -> bool {
    match (before, this) {
        (Kind::Sign(b'(' | b'.' | b'['), _) | (_, Kind::Sign(b')' | b',' | b'.' | b';' | b']')) => false,
        (Kind::Sign(b')' | b']'), Kind::Sign(b'(' | b'[')) => false,
        (Kind::Word, Kind::Sign(b'(' | b'[')) => !touches,
        (Kind::Sign(b','), _) => true,
        (Kind::Sign(b':' | b'@'), _) if touches => false,
        (Kind::Sign(_) | Kind::Operator, Kind::Sign(_) | Kind::Operator) => !touches,
        _ => true,
    }
}
