//! Whether a statement only reads: no word of it changes anything, each function is on a list of those that only compute (`sql.txt`),
//! and `sqlparser` reads it to its end as one query.

use std::ops::ControlFlow;
use std::sync::LazyLock;

use sqlparser::ast::{Query, SetExpr, Statement, visit_relations};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{TokenWithSpan, Tokenizer};

use super::tokens::{Cut, Dialect, Doubt, List, TokenKind, WORDS, grammar, has, is_keyword};
use crate::behavior::arguments::{choice, effect::Effect, grammar, reading::WordKind};
use crate::behavior::taxonomy::Action;
use crate::behavior::words::{self, among, section};

/// How deep the parser follows. Its own frames are large: this fits a thread of two megabytes without optimisation.
const MAX_DEPTH: usize = 32;

/// Whether the statement is shown to only read, and if not, why.
pub(super) fn only_reads(cut: Cut<'_>, dialect: Option<Dialect>) -> Result<(), Doubt> {
    no_change(cut, dialect)?;
    if is_listing(cut)? {
        return Ok(());
    }
    let calls = || (0..cut.tokens.len()).filter(|at| is_called(cut, *at));
    if let Some(at) = calls().find(|at| qualified(cut, *at).split('.').any(acts) && !is_known(cut, *at, dialect)) {
        return Err(Doubt::unknown(format!("{}()", qualified(cut, at).to_lowercase())));
    }
    is_query(cut.text, dialect)?;
    let unlisted =
        calls().find(|at| !is_known(cut, *at, dialect)).map(|at| format!("{}()", qualified(cut, at).to_lowercase()));
    match unlisted.or_else(|| unlisted_type(cut).map(|at| format!("type {}", cut.raw(at)))) {
        Some(what) => Err(Doubt { effect: Effect::Unlisted, ..Doubt::unknown(what) }),
        None => Ok(()),
    }
}

/// That the text is one statement, and no word of it changes anything.
pub(super) fn no_change(cut: Cut<'_>, dialect: Option<Dialect>) -> Result<(), Doubt> {
    let cut = cut.without_end();
    let first = cut.first();
    match cut.word(first).to_ascii_uppercase().as_str() {
        "SELECT" | "WITH" | "VALUES" => {}
        // T-SQL would call a procedure of that name, and then run what follows.
        "TABLE" | "EXPLAIN" | "SHOW" | "DESCRIBE" | "DESC" | "PRAGMA" if dialect != Some(Dialect::MsSql) => {}
        "" => return Err(Doubt::unknown("not a statement")),
        other => return Err(Doubt::new(action_of(other), cut.word(first))),
    }
    // A plan is no change, where it is sure that the statement only asks for one.
    let plans = cut.is(first, &["EXPLAIN"]) && !matches!(dialect, None | Some(Dialect::MsSql));
    const PLANNED: [&str; 8] = ["DELETE", "UPDATE", "INSERT", "REPLACE", "INTO", "SET", "RETURNING", "MERGE"];
    for (at, token) in cut.tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Operator => return Err(Doubt::unknown("a user-defined operator")),
            TokenKind::Sign(b';') => return Err(Doubt::new(Action::Execute, "; more than one statement")),
            TokenKind::Sign(b':') if cut.raw(at) == ":=" => return Err(Doubt::new(Action::Update, ":=")),
            TokenKind::Word
                if cut.is(first, &["EXPLAIN", "DESCRIBE", "DESC"]) && cut.is(at, &["ANALYZE", "ANALYSE"]) =>
            {
                return Err(Doubt::new(Action::Execute, "EXPLAIN ANALYZE runs the statement"));
            }
            TokenKind::Word if plans && cut.is(at, &PLANNED) => {}
            TokenKind::Word if changes(cut, at) => return Err(Doubt::new(action_of(cut.word(at)), span(cut, at))),
            TokenKind::Word | TokenKind::Quoted | TokenKind::Literal | TokenKind::Sign(_) => {}
        }
    }
    Ok(())
}

/// Whether the word at `at` would change something where it is.
fn changes(cut: Cut<'_>, at: usize) -> bool {
    let name = cut.word(at);
    let called = cut.is_sign(at + 1, b'(');
    if has(&STARTERS, name) {
        // Names of columns as well, but not behind a whole operand, where T-SQL begins a new statement.
        return at > 0 && cut.after_operand(at) && !called;
    }
    if !has(&CHANGING, name) {
        return false;
    }
    let upper = name.to_ascii_uppercase();
    let excused = match upper.as_str() {
        "REPLACE" | "IF" | "TRUNCATE" => called,
        "CREATE" => cut.is_behind(at, &["SHOW"]),
        "FETCH" => cut.is(at + 1, &["FIRST", "NEXT"]),
        "SET" => cut.is_behind(at, &["CHARACTER"]),
        "PROCEDURE" | "TRIGGER" => cut.is_behind(at, &["CREATE"]),
        _ => false,
    };
    let column = at > 0 && (cut.is_sign(at - 1, b'.') || cut.is_behind(at, &["AS"]))
        || cut.is_sign(at + 1, b'.') && !cut.after_operand(at);
    // `sequence.NEXTVAL` takes a number out of a sequence.
    let named = column && !called && !matches!(upper.as_str(), "INTO" | "NEXTVAL");
    !(excused || named)
}

/// That the dialect's grammar reads the text as one query; without a dialect, that some grammar does, and none otherwise.
fn is_query(text: &str, dialect: Option<Dialect>) -> Result<(), Doubt> {
    let mut understood = false;
    for one in Dialect::ALL.iter().filter(|one| dialect.is_none_or(|dialect| dialect == **one)) {
        match parsed(text, *one).as_deref() {
            Some([Statement::Query(query)]) => asks(query)?,
            Some([Statement::Explain { statement, options, .. }]) => {
                let is_plain = |name: &str| {
                    among(
                        &name.to_ascii_lowercase(),
                        "verbose costs settings buffers summary format generic_plan memory",
                    )
                };
                match &**statement {
                    Statement::Query(query) if options.iter().flatten().all(|one| is_plain(&one.name.value)) => {
                        asks(query)?;
                    }
                    Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) if dialect.is_some() => {}
                    _ => return Err(Doubt::unknown("EXPLAIN")),
                }
            }
            Some([Statement::ExplainTable { .. }]) => {}
            Some([]) | None => continue,
            Some(_) => return Err(Doubt::unknown("a statement that is not known to read")),
        }
        understood = true;
    }
    if understood { Ok(()) } else { Err(Doubt::unknown("not understood")) }
}

/// The relations that a text names, in lower case; `None` where its dialect's grammar does not read it.
pub(super) fn relations(text: &str, dialect: Dialect) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let _: ControlFlow<()> = visit_relations(&parsed(text, dialect)?, |name| {
        found.push(name.to_string().to_lowercase());
        ControlFlow::Continue(())
    });
    Some(found)
}

fn parsed(text: &str, dialect: Dialect) -> Option<Vec<Statement>> {
    let grammar = grammar(Some(dialect));
    // Tokens without locations save the time to format errors: most come from alternatives that the parser only tries.
    let mut tokens = Vec::with_capacity(text.len() / 2);
    let placeless = |token: TokenWithSpan| TokenWithSpan::wrap(token.token);
    Tokenizer::new(grammar, text).tokenize_with_location_into_buf_with_mapper(&mut tokens, placeless).ok()?;
    let parser = Parser::new(grammar).with_recursion_limit(MAX_DEPTH).with_tokens_with_locations(tokens);
    { parser }.parse_statements().ok()
}

/// That a query locks no row, and has no change for its body.
fn asks(query: &Query) -> Result<(), Doubt> {
    use SetExpr::{Query, Select, SetOperation, Table, Values};
    let is_read = matches!(&*query.body, Select(_) | Query(_) | SetOperation { .. } | Values(_) | Table(_));
    if is_read && query.locks.is_empty() { Ok(()) } else { Err(Doubt::unknown("a query that changes or locks rows")) }
}

/// The gravest change that begins anywhere: in a bracket, behind a semicolon, or, in what may be T-SQL, behind an operand.
pub(super) fn gravest(cut: Cut<'_>, dialect: Option<Dialect>) -> Option<Doubt> {
    let unparted = matches!(dialect, None | Some(Dialect::MsSql));
    let begins = |at: usize| {
        at.checked_sub(1).is_none_or(|before| matches!(cut.tokens[before].kind, TokenKind::Sign(b';' | b'(')))
            || unparted && cut.after_operand(at)
    };
    let changes = (0..cut.tokens.len()).filter(|at| begins(*at));
    let changes = changes.filter_map(|at| Some(Doubt::new(head(cut, at)?, span(cut, at))));
    changes.reduce(|worst, one| if one.action.caution() > worst.action.caution() { one } else { worst })
}

/// What the statement does that would begin at `at`, if its first two words are those of a change.
fn head(cut: Cut<'_>, at: usize) -> Option<Action> {
    let upper = cut.word(at).to_ascii_uppercase();
    let begins = match upper.as_str() {
        "INSERT" | "REPLACE" => cut.is(at + 1, &["INTO"]),
        // `AFTER DELETE ON t`, `OR DELETE AS`: what a trigger waits for.
        "DELETE" | "DROP" | "TRUNCATE" | "MERGE" | "UPDATE" | "EXEC" | "EXECUTE" | "CALL" => {
            let is_name =
                cut.tokens.get(at + 1).is_some_and(|next| matches!(next.kind, TokenKind::Word | TokenKind::Quoted));
            is_name && !cut.is(at + 1, &["AS", "ON", "OR", "TO"])
        }
        _ => false,
    };
    begins.then(|| action_of(&upper))
}

fn span(cut: Cut<'_>, at: usize) -> String {
    let more: Vec<&str> = (at..at + 3).map(|at| cut.word(at)).take_while(|word| !word.is_empty()).collect();
    more.join(" ")
}

pub(super) fn action_of(word: &str) -> Action {
    let found = grammar::in_table(const { section(WORDS, "actions") }, &word.to_ascii_uppercase());
    found.map_or(Action::Unknown, |(_, action)| action)
}

/// Words that change something wherever they are as words.
static CHANGING: List = LazyLock::new(|| section(WORDS, "changing").split_whitespace().collect());

/// Words that begin a statement in T-SQL, and name columns elsewhere.
static STARTERS: List = LazyLock::new(|| section(WORDS, "starters").split_whitespace().collect());

/// What the token at `at` is to the eye.
pub(super) fn kind(cut: Cut<'_>, at: usize) -> WordKind {
    match cut.tokens.get(at).map(|token| token.kind) {
        Some(TokenKind::Word) if head(cut, at).is_some() || changes(cut, at) => WordKind::Verb,
        Some(TokenKind::Word) if is_keyword(cut.word(at)) => WordKind::Keyword,
        Some(TokenKind::Quoted | TokenKind::Literal) => WordKind::Quoted,
        Some(TokenKind::Word | TokenKind::Operator | TokenKind::Sign(_)) | None => WordKind::Plain,
    }
}

/// SHOW, DESCRIBE, TABLE and PRAGMA, made of names alone: they list. An error where PRAGMA may set something.
fn is_listing(cut: Cut<'_>) -> Result<bool, Doubt> {
    if cut.is(0, &["PRAGMA"]) {
        return pragma(cut).map(|()| true);
    }
    let length = cut.without_end().tokens.len();
    let asks = || (1..length).any(|at| cut.is(at, &["SELECT", "WITH", "VALUES", "TABLE"]));
    let fits = match cut.word(0).to_ascii_uppercase().as_str() {
        "SHOW" => true,
        "DESCRIBE" | "DESC" => (2..=6).contains(&length) && !asks(),
        "TABLE" => (2..=4).contains(&length),
        _ => false,
    };
    let plain = |kind: TokenKind| {
        matches!(kind, TokenKind::Word | TokenKind::Quoted | TokenKind::Literal | TokenKind::Sign(b'.' | b';'))
    };
    Ok(fits && cut.tokens.iter().all(|token| plain(token.kind)))
}

/// `PRAGMA schema.table_info(t)`: those that read with any argument or none, and some that only read without one.
fn pragma(cut: Cut<'_>) -> Result<(), Doubt> {
    const READS: &str = section(WORDS, "pragma-reads");
    let cut = cut.without_end();
    let at = if cut.is_sign(2, b'.') { 3 } else { 1 };
    let name = cut.word(at).to_ascii_lowercase();
    let kinds: Vec<TokenKind> = cut.tokens.iter().skip(at + 1).map(|token| token.kind).collect();
    let reads = match kinds.as_slice() {
        [] => among(&name, READS) || among(&name, const { section(WORDS, "pragma-reads-alone") }),
        [TokenKind::Sign(b'('), TokenKind::Word | TokenKind::Quoted | TokenKind::Literal, TokenKind::Sign(b')')] => {
            among(&name, READS)
        }
        _ => false,
    };
    if reads { Ok(()) } else { Err(Doubt::new(Action::Update, format!("PRAGMA {name}").trim_end())) }
}

/// Whether the name at `at` is called: not where it names columns (`x(a, b) AS (…)`) or a type (`AS varchar(9)`).
fn is_called(cut: Cut<'_>, at: usize) -> bool {
    let is_name = match cut.tokens[at].kind {
        TokenKind::Word => !is_keyword(cut.word(at)) || at != cut.first() && cut.is(at, &NAMES),
        TokenKind::Quoted => true,
        TokenKind::Literal | TokenKind::Operator | TokenKind::Sign(_) => false,
    };
    let before = at.checked_sub(1).map_or("", |before| cut.raw(before));
    let lists = |ends: fn(&Cut<'_>, usize) -> bool| {
        let end = (at + 2..cut.tokens.len()).find(|at| cut.is_sign(*at, b')'));
        let is_plain =
            |at: usize| matches!(cut.tokens[at].kind, TokenKind::Word | TokenKind::Quoted | TokenKind::Sign(b','));
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

/// Whether a function is known to only compute, or to read what it names. In a schema of others a name can mean anything.
fn is_known(cut: Cut<'_>, at: usize, dialect: Option<Dialect>) -> bool {
    let of_system = || at == 2 || at > 2 && !cut.is_sign(at - 3, b'.');
    let is_own = at == 0
        || !cut.is_sign(at - 1, b'.')
        || at > 1 && dialect == Some(Dialect::PostgreSql) && cut.is(at - 2, &["pg_catalog"]) && of_system();
    is_own && (has(&FUNCTIONS, cut.word(at)) || dialect != Some(Dialect::Sqlite) && has(&OPENERS, cut.word(at)))
}

/// A type that a value is cast to, and that is none of the systems' own: it runs its own functions.
fn unlisted_type(cut: Cut<'_>) -> Option<usize> {
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
fn acts(name: &str) -> bool {
    let lower = name.trim_matches(['"', '`', '[', ']']).to_lowercase();
    among(&lower, const { section(WORDS, "acts") })
        || const { section(WORDS, "acts-prefixes") }.split_whitespace().any(|prefix| lower.starts_with(prefix))
        || words::of_name(name).iter().any(|word| choice::changes(word))
}

/// Words of the languages but SQLite's that may be before a bracket, and are no functions.
static OPENERS: List = LazyLock::new(|| section(WORDS, "openers").split_whitespace().collect());

/// Functions that only compute in every dialect that has them: none writes, locks, waits, sends, sets, reads files or runs a text.
static FUNCTIONS: List = LazyLock::new(|| {
    let lists = ["aggregates", "numbers", "texts", "times", "values", "documents", "sets", "catalogue", "places"];
    lists.iter().flat_map(|name| section(WORDS, name).split_whitespace()).collect()
});
