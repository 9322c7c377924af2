//! Whether a statement only reads: no word of it changes anything, each function is on a list of those that only compute, and
//! `sqlparser` reads it to its end as one query.

use std::collections::HashSet;
use std::ops::{ControlFlow, Range};
use std::sync::LazyLock;

use sqlparser::ast::{Query, SetExpr, Statement, visit_relations};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{TokenWithSpan, Tokenizer};

use super::functions::{acts, is_called, is_known, qualified, unlisted_type};
use super::tokens::{Kind, Token, grammar};
use super::{Dialect, Doubt};
use crate::behavior::arguments::effect::Effect;
use crate::behavior::arguments::reading::WordKind;
use crate::behavior::taxonomy::Action;
use crate::behavior::words::{among, section};

pub(super) const WORDS: &str = include_str!("../../../../assets/words/sql.txt");

/// How deep the parser follows. Its own frames are large: this fits a thread of two megabytes without optimisation.
const MAX_DEPTH: usize = 32;

/// A text cut into tokens.
#[derive(Clone, Copy)]
pub(super) struct Cut<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: &'a [Token],
}

impl<'a> Cut<'a> {
    /// The unquoted word at `at`, as written; empty for anything else.
    pub(super) fn word(&self, at: usize) -> &'a str {
        match self.tokens.get(at) {
            Some(Token { kind: Kind::Word, start, end }) => &self.text[*start..*end],
            _ => "",
        }
    }

    /// The token at `at` as written.
    pub(super) fn raw(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| &self.text[token.start..token.end])
    }

    /// Whether one of these words is at `at`, in any case and unquoted.
    pub(super) fn is(&self, at: usize, words: &[&str]) -> bool {
        let word = self.word(at);
        words.iter().any(|known| word.eq_ignore_ascii_case(known))
    }

    pub(super) fn is_sign(&self, at: usize, sign: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == Kind::Sign(sign))
    }

    /// Whether one of these words is before `at`.
    pub(super) fn is_behind(&self, at: usize, words: &[&str]) -> bool {
        at.checked_sub(1).is_some_and(|before| self.is(before, words))
    }

    /// The same without the semicolon at its end.
    pub(super) fn without_end(self) -> Self {
        match self.tokens {
            [tokens @ .., Token { kind: Kind::Sign(b';'), .. }] => Self { tokens, ..self },
            _ => self,
        }
    }

    /// The statements of the text, without what parts them, empty ones, and the END of a block.
    pub(super) fn statements(&self) -> Vec<Self> {
        let parts = self.tokens.split(|token| token.kind == Kind::Sign(b';'));
        let alone = parts.map(|tokens| Self { tokens, ..*self });
        alone.filter(|alone| !(alone.tokens.is_empty() || alone.tokens.len() == 1 && alone.is(0, &["END"]))).collect()
    }

    /// Where its tokens are in the text, in bytes.
    pub(super) fn range(&self) -> Range<usize> {
        let start = self.tokens.first().map_or(0, |token| token.start);
        start..self.tokens.last().map_or(start, |token| token.end)
    }

    /// What the token at `at` is to the eye.
    pub(super) fn kind(&self, at: usize) -> WordKind {
        match self.tokens.get(at).map(|token| token.kind) {
            Some(Kind::Word) if head(*self, at).is_some() || changes(*self, at) => WordKind::Verb,
            Some(Kind::Word) if is_keyword(self.word(at)) => WordKind::Keyword,
            Some(Kind::Quoted | Kind::Literal) => WordKind::Quoted,
            Some(Kind::Word | Kind::Operator | Kind::Sign(_)) | None => WordKind::Plain,
        }
    }

    /// Where the statement's own first word is.
    pub(super) fn first(&self) -> usize {
        self.tokens.iter().position(|token| token.kind != Kind::Sign(b'(')).unwrap_or(0)
    }

    /// Whether the token before `at` ends an operand, so that a new statement could begin here without a semicolon.
    fn after_operand(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return true };
        match self.tokens[before].kind {
            Kind::Quoted | Kind::Literal => true,
            Kind::Sign(sign) => matches!(sign, b')' | b']' | b'*'),
            Kind::Operator => false,
            Kind::Word => !has(&WANTS_OPERAND, self.word(before)),
        }
    }
}

/// Whether the statement is shown to only read, and if not, why.
pub(super) fn only_reads(cut: Cut<'_>, dialect: Option<Dialect>) -> Result<(), Doubt> {
    no_change(cut, dialect)?;
    if super::outline::is_listing(cut)? {
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
            Kind::Operator => return Err(Doubt::unknown("a user-defined operator")),
            Kind::Sign(b';') => return Err(Doubt::new(Action::Execute, "; more than one statement")),
            Kind::Sign(b':') if cut.raw(at) == ":=" => return Err(Doubt::new(Action::Update, ":=")),
            Kind::Word if cut.is(first, &["EXPLAIN", "DESCRIBE", "DESC"]) && cut.is(at, &["ANALYZE", "ANALYSE"]) => {
                return Err(Doubt::new(Action::Execute, "EXPLAIN ANALYZE runs the statement"));
            }
            Kind::Word if plans && cut.is(at, &PLANNED) => {}
            Kind::Word if changes(cut, at) => return Err(Doubt::new(action_of(cut.word(at)), span(cut, at))),
            Kind::Word | Kind::Quoted | Kind::Literal | Kind::Sign(_) => {}
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

/// That a grammar reads the text as one query: its dialect's, or, where none is known, that of some dialect, and no other
/// reads it as something else.
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
    // Tokens without locations save the time to format error messages: most errors come from alternatives that the
    // parser only tries.
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

/// The gravest change that begins anywhere in the text: in a bracket, behind a semicolon, or, where the dialect may be
/// T-SQL, behind a whole operand.
pub(super) fn gravest(cut: Cut<'_>, dialect: Option<Dialect>) -> Option<Doubt> {
    let unparted = matches!(dialect, None | Some(Dialect::MsSql));
    let begins = |at: usize| {
        at.checked_sub(1).is_none_or(|before| matches!(cut.tokens[before].kind, Kind::Sign(b';' | b'(')))
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
            let is_name = cut.tokens.get(at + 1).is_some_and(|next| matches!(next.kind, Kind::Word | Kind::Quoted));
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

/// What a statement that begins so does.
pub(super) fn action_of(word: &str) -> Action {
    match word.to_ascii_uppercase().as_str() {
        "DELETE" | "DROP" | "TRUNCATE" => Action::Delete,
        "INSERT" | "CREATE" | "INTO" => Action::Create,
        "UPDATE" | "ALTER" | "SET" | "GRANT" | "REVOKE" | "DENY" | "RENAME" | "COMMENT" | "PRAGMA" => Action::Update,
        "MERGE" => Action::Merge,
        "REPLACE" | "OUTFILE" | "DUMPFILE" => Action::Overwrite,
        "EXEC" | "EXECUTE" | "CALL" | "DO" | "LOAD" | "COPY" | "ATTACH" | "DETACH" | "VACUUM" | "SHUTDOWN" | "KILL"
        | "BACKUP" | "RESTORE" | "EXPLAIN" => Action::Execute,
        _ => Action::Unknown,
    }
}

/// Whether a word belongs to the language's own frame.
pub(super) fn is_keyword(word: &str) -> bool {
    has(&KEYWORDS, word)
}

/// A list of words in upper case.
pub(super) type List = LazyLock<HashSet<&'static str>>;

pub(super) fn has(list: &List, word: &str) -> bool {
    list.contains(word.to_ascii_uppercase().as_str())
}

/// Words that change something wherever they are as words.
static CHANGING: List = LazyLock::new(|| section(WORDS, "changing").split_whitespace().collect());

/// Words that begin a statement in T-SQL, and name columns elsewhere.
static STARTERS: List = LazyLock::new(|| section(WORDS, "starters").split_whitespace().collect());

/// Words behind which an operand or a name follows: no statement begins there.
static WANTS_OPERAND: List = LazyLock::new(|| section(WORDS, "before-operands").split_whitespace().collect());

static KEYWORDS: List = LazyLock::new(|| section(WORDS, "keywords").split_whitespace().collect());
