//! The functions and types that a statement names: known to only compute, known to act, or on no list (`sql.txt`).

use std::sync::LazyLock;

use super::Dialect;
use super::gate::{Cut, List, WORDS, has, is_keyword};
use super::tokens::Kind;
use crate::behavior::arguments::choice;
use crate::behavior::words::{self, among, section};

/// Whether the name at `at` is called, as far as its place says: not where it names columns (`WITH x(a, b) AS (…)`,
/// `AS x(a, b)`) or a type (`AS varchar(9)`, `::numeric(9, 2)`).
pub(super) fn is_called(cut: Cut<'_>, at: usize) -> bool {
    let is_name = match cut.tokens[at].kind {
        Kind::Word => !is_keyword(cut.word(at)) || at != cut.first() && cut.is(at, &NAMES),
        Kind::Quoted => true,
        Kind::Literal | Kind::Operator | Kind::Sign(_) => false,
    };
    let before = at.checked_sub(1).map_or("", |before| cut.raw(before));
    let lists = |ends: fn(&Cut<'_>, usize) -> bool| {
        let end = (at + 2..cut.tokens.len()).find(|at| cut.is_sign(*at, b')'));
        let is_plain = |at: usize| matches!(cut.tokens[at].kind, Kind::Word | Kind::Quoted | Kind::Sign(b','));
        end.is_some_and(|end| (at + 2..end).all(is_plain) && ends(&cut, end + 1))
    };
    let names = match before {
        "::" | ")" => true,
        // The second table of a WITH.
        "," => lists(|cut, at| cut.is(at, &["AS"]) && cut.is_sign(at + 1, b'(')),
        _ => cut.is_behind(at, &["AS", "WITH", "RECURSIVE", "USING", "INTO"]),
    };
    is_name && cut.is_sign(at + 1, b'(') && !names
}

/// Words of the language that may name a function all the same.
const NAMES: [&str; 11] =
    ["EXPLAIN", "SHOW", "DESCRIBE", "DESC", "PRAGMA", "FIRST", "NEXT", "ROWS", "ONLY", "END", "ASC"];

/// The name at `at` with what is before its dots.
pub(super) fn qualified(cut: Cut<'_>, at: usize) -> String {
    let mut name = cut.raw(at).to_owned();
    for dot in (1..at).rev().step_by(2).take_while(|dot| cut.is_sign(*dot, b'.')) {
        name = format!("{}.{name}", cut.raw(dot - 1));
    }
    name
}

/// Whether a function is known to only compute, or to read what it names. In another schema than the system's own a name can
/// mean anything.
pub(super) fn is_known(cut: Cut<'_>, at: usize, dialect: Option<Dialect>) -> bool {
    let of_system = || at == 2 || at > 2 && !cut.is_sign(at - 3, b'.');
    let is_own = at == 0
        || !cut.is_sign(at - 1, b'.')
        || at > 1 && dialect == Some(Dialect::PostgreSql) && cut.is(at - 2, &["pg_catalog"]) && of_system();
    is_own && (has(&FUNCTIONS, cut.word(at)) || dialect != Some(Dialect::Sqlite) && has(&OPENERS, cut.word(at)))
}

/// A type that a value is cast to, and that is none of the systems' own: it runs its own functions.
pub(super) fn unlisted_type(cut: Cut<'_>) -> Option<usize> {
    let mut casts = Vec::new();
    let mut types = Vec::new();
    for at in 0..cut.tokens.len() {
        match cut.raw(at) {
            "(" => casts.push(cut.is_behind(at, &["CAST", "TRY_CAST"])),
            ")" => drop(casts.pop()),
            "::" => types.push(at + 1),
            _ if cut.is(at, &["AS"]) && casts.last() == Some(&true) => types.push(at + 1),
            _ => {}
        }
    }
    let is_known = |at: &usize| {
        let at = if cut.is(*at, &["pg_catalog"]) && cut.is_sign(at + 1, b'.') { at + 2 } else { *at };
        !cut.is_sign(at + 1, b'.') && among(&cut.word(at).to_ascii_lowercase(), const { section(WORDS, "types") })
    };
    types.into_iter().find(|at| !is_known(at))
}

/// Whether a function that is on no list of known ones is one that acts: by a list, by its product's own prefix, or by a word.
pub(super) fn acts(name: &str) -> bool {
    let lower = name.trim_matches(['"', '`', '[', ']']).to_lowercase();
    among(&lower, const { section(WORDS, "acts") })
        || const { section(WORDS, "acts-prefixes") }.split_whitespace().any(|prefix| lower.starts_with(prefix))
        || words::of_name(name).iter().any(|word| choice::changes(word))
}

/// Words of the languages but SQLite's that may be before a bracket, and are no functions.
static OPENERS: List = LazyLock::new(|| section(WORDS, "openers").split_whitespace().collect());

/// Functions that only compute, the same in every dialect that has them: none writes, locks, waits, sends, sets, or reads a
/// file; none runs a text as a statement.
static FUNCTIONS: List = LazyLock::new(|| {
    let lists = ["aggregates", "numbers", "texts", "times", "values", "documents", "sets", "catalogue", "places"];
    lists.iter().flat_map(|name| section(WORDS, name).split_whitespace()).collect()
});
