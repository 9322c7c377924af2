//! SQL in arguments: one statement that only reads, or not shown to be one. Where the dialect is not known, a text that
//! dialects read differently is not shown to be a read. Its words are in `sql.txt`.

mod gate;
mod outline;
mod tokens;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use super::effect::{Effect, Meaning};
use super::reading::{Part, Weight, Word};
use crate::behavior::taxonomy::Action;
use crate::behavior::words::{Pairs, among, pairs, section};
pub use tokens::Dialect;
use tokens::{Cut, Doubt, Token, TokenKind, WORDS, is_keyword, tokens};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlStatement {
    /// READ where it is one statement that only reads; else that it changes something, or cannot be shown not to.
    pub meaning: Meaning,
    /// What it acts on, as written; `None` where that is not clear.
    pub object: Option<String>,
    pub weight: Weight,
}

/// The fingerprints of one text in each dialect and in none; empty where it cannot be cut into tokens.
pub fn fingerprints(text: &str) -> Vec<String> {
    let dialects = Dialect::ALL.iter().copied().map(Some).chain([None]);
    let found: BTreeSet<String> = dialects.filter_map(|dialect| read(text, dialect).meaning.fingerprint).collect();
    found.into_iter().collect()
}

/// Judges one text, says what it would do, and takes its fingerprint.
pub fn read(text: &str, dialect: Option<Dialect>) -> SqlStatement {
    match tokens(text, dialect) {
        Ok(tokens) => {
            let cut = Cut { text, tokens: &tokens };
            match cut.statements().as_slice() {
                [] | [_] => one(cut, dialect),
                many => several(cut, many, dialect),
            }
        }
        Err(doubt) => {
            // The first word may still say what the statement does.
            let word = outline::head(text);
            let action = gate::action_of(&word);
            let action = if action == Action::Unknown { doubt.action } else { action };
            let meaning = Meaning::new(Effect::of(action), action, doubt.span, outline::unclear(&word));
            SqlStatement { meaning, object: None, weight: Weight::Grave }
        }
    }
}

/// Every name in a text, in lower case, sorted: relations, columns, and functions with `()`. Words of the language itself are
/// left out. `None` where the text cannot be cut into tokens.
pub fn names(text: &str, dialect: Option<Dialect>) -> Option<Vec<String>> {
    let tokens = tokens(text, dialect).ok()?;
    let cut = Cut { text, tokens: &tokens };
    let name = |(at, token): (usize, &Token)| {
        let word = text.get(token.start..token.end)?.to_lowercase();
        match token.kind {
            TokenKind::Word | TokenKind::Quoted if cut.is_sign(at + 1, b'(') => Some(word + "()"),
            // A variable is no column.
            TokenKind::Word if at > 0 && cut.raw(at - 1).starts_with('@') => Some(format!("@{word}")),
            TokenKind::Word => (!is_keyword(&word)).then_some(word),
            TokenKind::Quoted => Some(word),
            TokenKind::Literal | TokenKind::Operator | TokenKind::Sign(_) => None,
        }
    };
    let names: BTreeSet<String> = tokens.iter().enumerate().filter_map(name).collect();
    Some(names.into_iter().collect())
}

/// What a statement of known functions reads, in lower case, sorted: each relation, each column with a qualifier (to
/// PostgreSQL that may be a call), each variable. `None` where that is not certain.
pub fn sources(text: &str, dialect: Dialect) -> Option<Vec<String>> {
    // What visits the tree goes as deep as a chain of operators is long.
    const MOST: usize = 600;
    let tokens = tokens(text, Some(dialect)).ok().filter(|tokens| tokens.len() <= MOST)?;
    let relations = gate::relations(text, dialect)?;
    let cut = Cut { text, tokens: &tokens };
    let is_relation = |at: usize| relations.contains(&gate::qualified(cut, at).to_lowercase());
    let names = (1..tokens.len()).filter(|at| matches!(tokens[*at].kind, TokenKind::Word | TokenKind::Quoted));
    let qualified = names.filter_map(|at| match cut.raw(at - 1) {
        "." => (!is_relation(at)).then(|| format!("column {}", cut.raw(at).to_lowercase())),
        before => before.starts_with('@').then(|| format!("variable {}", cut.raw(at).to_lowercase())),
    });
    let all: BTreeSet<String> = relations.iter().map(|one| format!("table {one}")).chain(qualified).collect();
    // A name that is quoted may hold anything: several would look like one.
    (!all.is_empty() && !all.iter().any(|one| one.contains([',', '\n']))).then(|| all.into_iter().collect())
}

/// The statements of a text, each with its words; none where the text cannot be cut.
pub fn parts(text: &str, dialect: Option<Dialect>) -> Vec<Part> {
    let Ok(tokens) = tokens(text, dialect) else { return Vec::new() };
    let cut = Cut { text, tokens: &tokens };
    let part = |alone: &Cut<'_>| {
        let Range { start, end } = with_comments(cut, &alone.range());
        let SqlStatement { meaning: Meaning { says, .. }, object, weight } = read(&text[start..end], dialect);
        let words =
            alone.tokens.iter().enumerate().map(|(at, token)| Word(token.start, token.end, gate::kind(*alone, at)));
        Part { says, object, weight, start, end, joint: String::new(), words: words.collect() }
    };
    cut.statements().iter().map(part).collect()
}

/// A statement's place in the text with the comments about it: all that is between two semicolons.
fn with_comments(cut: Cut<'_>, own: &Range<usize>) -> Range<usize> {
    let mut signs = cut.tokens.iter().filter(|token| token.kind == TokenKind::Sign(b';'));
    let from = signs.clone().map(|sign| sign.end).take_while(|end| *end <= own.start).last().unwrap_or(0);
    let to = signs.find(|sign| sign.start >= own.end).map_or(cut.text.len(), |sign| sign.start);
    let (before, after) = (&cut.text[from..own.start], &cut.text[own.end..to]);
    from + (before.len() - before.trim_start().len())..own.end + after.trim_end().len()
}

fn one(cut: Cut<'_>, dialect: Option<Dialect>) -> SqlStatement {
    // A change in a change may be the graver one.
    let doubt = gate::only_reads(cut, dialect).err().map(|doubt| match gate::gravest(cut, dialect) {
        Some(graver) if graver.action.caution() > doubt.action.caution() => graver,
        Some(_) | None => doubt,
    });
    outline::statement(cut, dialect, doubt)
}

/// Judges several statements as the gravest of them, and never as a read: the second may be an injected one.
fn several(cut: Cut<'_>, many: &[Cut<'_>], dialect: Option<Dialect>) -> SqlStatement {
    let mut read: Vec<SqlStatement> = many.iter().map(|alone| read(&cut.text[alone.range()], dialect)).collect();
    let weigh = |one: &SqlStatement| (one.meaning.action.caution(), one.weight);
    let gravest = (0..read.len()).reduce(|worst, at| if weigh(&read[at]) > weigh(&read[worst]) { at } else { worst });
    let effect = read.iter().map(|one| one.meaning.effect).max().unwrap_or(Effect::Unknown);
    let also: BTreeSet<Action> = read.iter().map(|one| one.meaning.action).collect();
    let also = also.into_iter().collect();
    let says = format!("{} statements, one of them: ", read.len());
    let gravest = read.swap_remove(gravest.unwrap_or_default());
    let doubt = gate::no_change(cut, dialect).err().unwrap_or_else(|| Doubt::unknown("more than one statement"));
    let (effect, says) = (effect.max(Effect::of(doubt.action)), says + &gravest.meaning.says);
    let is_graver = gravest.meaning.action.caution() >= doubt.action.caution();
    let (action, span) =
        if is_graver { (gravest.meaning.action, gravest.meaning.span) } else { (doubt.action, doubt.span) };
    SqlStatement {
        meaning: Meaning { also, ..Meaning::new(effect, action, span, says) },
        object: gravest.object,
        weight: gravest.weight.max(Weight::Changes),
    }
}

/// Whether words to search for are plainly a changing statement: two side by side begin one, or it is an update with a `set`.
pub fn plainly_changes(text: &str) -> bool {
    static BEGINS_A_CHANGE: LazyLock<Pairs> = LazyLock::new(|| pairs(section(WORDS, "begins-a-change")));
    let text = text.to_ascii_lowercase();
    let updates = text.starts_with("update ");
    let mut before = "";
    text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ';')).filter(|word| !word.is_empty()).any(|word| {
        let pair = (std::mem::replace(&mut before, word), word);
        updates && word == "set" || BEGINS_A_CHANGE.contains(&pair)
    })
}

pub fn begins(text: &str) -> bool {
    among(&outline::head(text), "SELECT DESCRIBE EXPLAIN SHOW DESC PRAGMA TABLE VALUES WITH")
}
