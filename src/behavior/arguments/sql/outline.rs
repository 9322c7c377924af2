//! Says in one line what a statement does, from its tokens, and writes its canonical form, for rules. The line is for the eye.

use super::SqlStatement;
use super::gate::action_of;
use super::tokens::{Cut, Dialect, Doubt, Token, TokenKind, is_keyword};
use crate::behavior::arguments::effect::{Effect, Meaning, named};
use crate::behavior::arguments::reading::Weight;
use crate::behavior::taxonomy::Action;
use crate::behavior::words::among;

/// One statement with our line on it: `DELETE on users without WHERE`. `doubt` is why it is not shown to be a read.
pub(super) fn statement(cut: Cut<'_>, dialect: Option<Dialect>, doubt: Option<Doubt>) -> SqlStatement {
    const RIGHTS: &str = "GRANT REVOKE DENY SHUTDOWN KILL RECONFIGURE ATTACH DETACH BACKUP RESTORE";
    let at = verb(cut);
    let verb = cut.word(at).to_ascii_uppercase();
    let is_global = verb == "SET" && (at..at + 3).any(|at| cut.word(at).to_ascii_uppercase().contains("GLOBAL"));
    // Whether it is about rights, users or the server itself; and whether no condition of its own narrows it.
    let (mut administers, mut every) = (is_global || among(&verb, RIGHTS), false);
    let mut object = None;
    let line = match verb.as_str() {
        "" => "a text that is not an SQL statement".to_owned(),
        "SELECT" | "WITH" => named("SELECT", "on ", &tables(cut)),
        "EXPLAIN" => "the plan of a statement".to_owned(),
        "DELETE" | "UPDATE" => {
            object = target(cut, at);
            let rows = rows(cut, at);
            every = rows != Rows::Some;
            let which = match rows {
                Rows::Some => "",
                Rows::PerhapsAll => ", perhaps every row",
                Rows::Every => ", every row",
                Rows::All => " without WHERE",
            };
            named(&verb, "on ", object.as_slice()) + which
        }
        "INSERT" | "REPLACE" | "MERGE" => {
            object = target(cut, at);
            named(&verb, "on ", object.as_slice())
        }
        "DROP" | "TRUNCATE" | "ALTER" | "CREATE" => {
            let (kind, name) = kind_and_name(cut, at);
            (object, every) = (name, verb != "CREATE");
            administers |= ["USER", "ROLE", "LOGIN", "DATABASE", "EXTENSION"].iter().any(|over| kind.starts_with(over));
            format!("{verb} {kind}{}", object.unwrap_or_default()).trim_end().to_owned()
        }
        "EXEC" | "EXECUTE" | "CALL" => {
            object = name(cut, at + 1);
            format!("{verb} {}", object.unwrap_or_default())
        }
        "VALUES" | "TABLE" | "SHOW" | "DESCRIBE" | "DESC" => verb.clone(),
        _ => {
            let head: String = verb.chars().take(24).collect();
            if action_of(&verb) == Action::Unknown { format!("a text that begins with {head}") } else { head }
        }
    };
    let looks_like_a_read = among(&verb, "SELECT WITH EXPLAIN VALUES PRAGMA");
    let says = match &doubt {
        Some(Doubt { action: Action::Unknown, span, .. }) if looks_like_a_read => {
            format!("{line}, not known to only read: {span}")
        }
        Some(Doubt { span, .. }) if looks_like_a_read => format!("{line}, with {span}"),
        Some(_) | None => line,
    };
    let (effect, weight) = match &doubt {
        None => (Effect::ReadHere, Weight::Plain),
        Some(_) if administers => (Effect::Administer, Weight::Grave),
        Some(Doubt { effect, action: Action::Create | Action::Append | Action::Update, .. }) if !every => {
            (*effect, Weight::Changes)
        }
        Some(doubt) => (doubt.effect, Weight::Grave),
    };
    let (action, span) = doubt.map_or_else(|| (Action::Read, says.clone()), |doubt| (doubt.action, doubt.span));
    let meaning = Meaning { fingerprint: fingerprint(cut, dialect), ..Meaning::new(effect, action, span, says) };
    SqlStatement { meaning, object: object.map(str::to_owned), weight }
}

/// Which rows a DELETE or an UPDATE is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// Its own condition compares a column with a value.
    Some,
    /// There is a condition, but it is not shown to leave a row out: `id = id`, `id IN (SELECT …)`.
    PerhapsAll,
    /// There is a condition that every row meets: `1 = 1`, `id = 1 OR true`.
    Every,
    All,
}

/// Which rows the statement's own condition selects; a WHERE in brackets belongs to a subquery. A condition narrows
/// only if each of the parts joined by OR has, among its parts joined by AND, one that compares a name with a value.
fn rows(cut: Cut<'_>, verb: usize) -> Rows {
    let depths = depths(cut);
    let own = |at: usize, words: &[&str]| depths.get(at) == Some(&0) && cut.is(at, words);
    let Some(from) = (verb..cut.tokens.len()).find(|at| own(*at, &["WHERE"])) else { return Rows::All };
    let ends = |at: &usize| own(*at, &["RETURNING", "ORDER", "LIMIT", "OPTION"]);
    let until = (from + 1..cut.tokens.len()).find(ends).unwrap_or(cut.tokens.len());
    let condition: Vec<usize> = (from + 1..until).collect();
    let narrows = |part: &[usize]| part.split(|at| own(*at, &["AND"])).any(|part| compares(cut, part));
    let mut parts = condition.split(|at| own(*at, &["OR"]));
    if parts.clone().all(narrows) {
        Rows::Some
    } else if parts.any(|part| always(cut, part)) && (until == cut.tokens.len() || own(until, &["RETURNING"])) {
        Rows::Every
    } else {
        Rows::PerhapsAll
    }
}

/// In how many brackets each token is; a bracket is outside of what it holds.
fn depths(cut: Cut<'_>) -> Vec<usize> {
    let mut depth = 0_usize;
    let each = cut.tokens.iter().map(|token| {
        depth -= usize::from(token.kind == TokenKind::Sign(b')')).min(depth);
        let own = depth;
        depth += usize::from(token.kind == TokenKind::Sign(b'('));
        own
    });
    each.collect()
}

/// Whether every row meets this part of a condition: `TRUE`, or a literal that equals itself.
fn always(cut: Cut<'_>, part: &[usize]) -> bool {
    let is_literal = |at: usize| cut.raw(at).starts_with(|c: char| c == '\'' || c.is_ascii_digit());
    match *part {
        [one] => cut.is(one, &["TRUE"]),
        [left, sign, right] => cut.raw(sign) == "=" && is_literal(left) && cut.raw(left) == cut.raw(right),
        _ => false,
    }
}

/// Whether a part of a condition compares a name with a value. What asks other tables is not looked into.
fn compares(cut: Cut<'_>, part: &[usize]) -> bool {
    const OTHER: [&str; 11] = ["AND", "OR", "NOT", "IS", "NULL", "TRUE", "FALSE", "LIKE", "ILIKE", "IN", "BETWEEN"];
    let asks = part.iter().any(|at| cut.is(*at, &["SELECT", "EXISTS", "CASE"]));
    let names = part.iter().filter(|at| !cut.word(**at).is_empty() && !cut.is(**at, &OTHER)).count();
    let kinds = || part.iter().filter_map(|at| Some(cut.tokens.get(*at)?.kind));
    let quoted = kinds().filter(|kind| *kind == TokenKind::Quoted).count();
    let value = kinds().any(|kind| matches!(kind, TokenKind::Literal | TokenKind::Sign(b'?' | b':' | b'$' | b'@')));
    !asks && (names + quoted > 0 && value || names > 0 && quoted > 0)
}

pub(super) fn unclear(head: &str) -> String {
    let reads = "a text that SQL dialects read differently";
    if head.is_empty() { reads.to_owned() } else { format!("{head} in {reads}") }
}

/// The first word of a text, upper case, if it may be one of SQL.
pub(super) fn head(text: &str) -> String {
    let word: String = text.trim_start().chars().take_while(char::is_ascii_alphabetic).take(12).collect();
    word.to_ascii_uppercase()
}

/// Where the verb is: behind the common tables of a WITH.
fn verb(cut: Cut<'_>) -> usize {
    let first = cut.first();
    let depths = if cut.is(first, &["WITH"]) { depths(cut) } else { Vec::new() };
    let is_verb = |at: &usize| depths[*at] == 0 && cut.is(*at, &["SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"]);
    (first..depths.len()).find(is_verb).unwrap_or(first)
}

/// The name at `at`, with its qualifiers, as written.
fn name<'a>(cut: Cut<'a>, at: usize) -> Option<&'a str> {
    let is_name =
        |at: usize| cut.tokens.get(at).is_some_and(|token| matches!(token.kind, TokenKind::Word | TokenKind::Quoted));
    let mut last = at;
    while cut.is_sign(last + 1, b'.') && is_name(last + 2) {
        last += 2;
    }
    cut.text.get(cut.tokens.get(at).filter(|_| is_name(at))?.start..cut.tokens[last].end)
}

/// What a changing statement changes: the name behind FROM, INTO, or the verb itself.
fn target<'a>(cut: Cut<'a>, verb: usize) -> Option<&'a str> {
    const BEFORE: [&str; 12] = [
        "FROM", "INTO", "ONLY", "OR", "IGNORE", "REPLACE", "ABORT", "FAIL", "ROLLBACK", "LOW_PRIORITY", "QUICK", "TOP",
    ];
    name(cut, (verb + 1..).find(|at| !cut.is(*at, &BEFORE))?)
}

/// What is read: the names behind FROM and JOIN.
fn tables<'a>(cut: Cut<'a>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for at in (0..cut.tokens.len()).filter(|at| cut.is(*at, &["FROM", "JOIN"])) {
        found.extend(name(cut, at + 1).filter(|name| !found.contains(name)));
    }
    found
}

/// The kind of thing and its name: `DROP TABLE IF EXISTS users`.
fn kind_and_name<'a>(cut: Cut<'a>, verb: usize) -> (String, Option<&'a str>) {
    const QUALIFIERS: &str = "OR REPLACE TEMP TEMPORARY UNIQUE CONCURRENTLY IF NOT EXISTS ONLY";
    const KINDS: &str = "TABLE DATABASE SCHEMA INDEX VIEW TRIGGER FUNCTION PROCEDURE USER ROLE SEQUENCE TYPE MATERIALIZED \
        VIRTUAL EXTENSION COLUMN LOGIN";
    let mut kind = String::new();
    let mut at = verb + 1;
    loop {
        let word = cut.word(at).to_ascii_uppercase();
        if among(&word, KINDS) {
            kind = format!("{kind}{word} ");
        } else if !among(&word, QUALIFIERS) {
            return (kind, name(cut, at));
        }
        at += 1;
    }
}

/// Rules do not use longer forms.
const MOST_BYTES: usize = 4096;

/// What a statement begins with whose literals are values. In any other they may be code, a program or a file: `DO '…'`,
/// `EXEC('…')`, `COPY t FROM PROGRAM '…'`, `ATTACH '…'`.
const HOLD_VALUES: [&str; 9] =
    ["SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "WITH", "VALUES", "EXPLAIN"];

/// The canonical form of a statement: literals out, one space between words, names folded as the dialect folds them.
///
/// Statements share a form when they differ in literals, comments, white space and the case of words alone. Read for
/// rules: a form never hides a word, a name or a sign, only values, and how many there are in a list of values. Quotes stay
/// as they are: what is a name in one kind of them is a text in another. `None` where there are several statements, or it is longer than anybody would put into a rule.
fn fingerprint(cut: Cut<'_>, dialect: Option<Dialect>) -> Option<String> {
    let tokens = cut.without_end().tokens;
    // Several statements are not one computation.
    if tokens.iter().any(|token| token.kind == TokenKind::Sign(b';')) {
        return None;
    }
    let head = tokens.iter().find(|token| token.kind == TokenKind::Word).map(|token| &cut.text[token.start..token.end]);
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
            TokenKind::Literal if holds_values => form.push('?'),
            TokenKind::Sign(_) | TokenKind::Operator | TokenKind::Literal | TokenKind::Quoted => {
                form.push_str(&cut.text[token.start..token.end]);
            }
            TokenKind::Word => {
                let word = &cut.text[token.start..token.end];
                let from = form.len();
                form.push_str(word);
                let called = tokens.get(at + 1).is_some_and(|next| next.kind == TokenKind::Sign(b'('));
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
        if token.kind == TokenKind::Literal && holds_values {
            while let [Token { kind: TokenKind::Sign(b','), .. }, Token { kind: TokenKind::Literal, .. }, ..] =
                tokens.get(at..).unwrap_or_default()
            {
                at += 2;
            }
        }
    }
    (!form.is_empty()).then_some(form)
}

/// Signs that belong together stay together; words are parted by one space.
fn spaced(before: TokenKind, this: TokenKind, touches: bool) -> bool {
    match (before, this) {
        (TokenKind::Sign(b'(' | b'.' | b'['), _) | (_, TokenKind::Sign(b')' | b',' | b'.' | b';' | b']')) => false,
        (TokenKind::Sign(b')' | b']'), TokenKind::Sign(b'(' | b'[')) => false,
        (TokenKind::Word, TokenKind::Sign(b'(' | b'[')) => !touches,
        (TokenKind::Sign(b','), _) => true,
        (TokenKind::Sign(b':' | b'@'), _) if touches => false,
        (TokenKind::Sign(_) | TokenKind::Operator, TokenKind::Sign(_) | TokenKind::Operator) => !touches,
        _ => true,
    }
}
