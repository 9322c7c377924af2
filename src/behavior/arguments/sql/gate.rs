//! The first of two gates, over tokens: one statement, no word that changes something. It trusts no grammar but the cutting.

use std::ops::Range;
use std::sync::LazyLock;

use super::lex::{Kind, Token};
use super::lists::Words;
use super::{Dialect, Doubt, functions};
use crate::behavior::arguments::reading::WordKind;
use crate::behavior::taxonomy::Action;
use crate::behavior::words::section;

const WORDS: &str = include_str!("../../../../assets/words/sql.txt");

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

    /// Whether `word` is at `at`, in any case and unquoted.
    pub(super) fn is(&self, at: usize, word: &str) -> bool {
        match self.tokens.get(at) {
            Some(Token { kind: Kind::Word, start, end }) if end - start == word.len() => {
                self.text.as_bytes()[*start..*end].eq_ignore_ascii_case(word.as_bytes())
            }
            _ => word.is_empty(),
        }
    }

    pub(super) fn is_sign(&self, at: usize, sign: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == Kind::Sign(sign))
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
        alone.filter(|alone| !(alone.tokens.is_empty() || alone.tokens.len() == 1 && alone.is(0, "END"))).collect()
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
            Some(Kind::Word) if functions::is_keyword(self.word(at)) => WordKind::Keyword,
            Some(Kind::Quoted | Kind::Literal) => WordKind::Quoted,
            Some(Kind::Word | Kind::Sign(_)) | None => WordKind::Plain,
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
            Kind::Word => !WANTS_OPERAND.hold(self.word(before)),
        }
    }
}

/// What may be found at the token level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passed {
    /// No word of it changes anything.
    Plain,
    /// A plan of a change is asked for; the change itself is not run.
    PlanOfChange,
}

/// Lets one statement through whose words change nothing.
pub(super) fn pass(cut: Cut<'_>, dialect: Option<Dialect>) -> Result<Passed, Doubt> {
    let cut = cut.without_end();
    let first = cut.first();
    let begins = cut.word(first).to_ascii_uppercase();
    match begins.as_str() {
        "SELECT" | "WITH" | "VALUES" => {}
        "TABLE" if dialect != Some(Dialect::MsSql) => {}
        // T-SQL would call a procedure of that name, and then run what follows.
        "EXPLAIN" | "SHOW" | "DESCRIBE" | "DESC" | "PRAGMA" if dialect != Some(Dialect::MsSql) => {}
        "" => return Err(Doubt::unknown("not a statement")),
        other => return Err(Doubt::new(action_of(other), cut.word(first))),
    }
    // A plan is no change, where it is sure that the statement only asks for one.
    let plans = begins == "EXPLAIN" && matches!(dialect, Some(Dialect::PostgreSql | Dialect::Sqlite | Dialect::MySql));
    let mut passed = Passed::Plain;
    for (at, token) in cut.tokens.iter().enumerate() {
        match token.kind {
            Kind::Sign(_) | Kind::Word if own_operator(cut, at, dialect) => {
                return Err(Doubt::unknown("a user-defined operator"));
            }
            Kind::Sign(b';') => return Err(Doubt::new(Action::Execute, "; more than one statement")),
            Kind::Sign(b':') if cut.is_sign(at + 1, b'=') => return Err(Doubt::new(Action::Update, ":=")),
            // `"nextval"(…)`: a quoted name can be a function, and no list knows it.
            Kind::Quoted if cut.is_sign(at + 1, b'(') && !names_columns(cut, at) => {
                return Err(Doubt::unknown(&cut.text[token.start..token.end]));
            }
            Kind::Word => {
                if begins == "EXPLAIN" && (cut.is(at, "ANALYZE") || cut.is(at, "ANALYSE")) {
                    return Err(Doubt::new(Action::Execute, "EXPLAIN ANALYZE runs the statement"));
                }
                if changes(cut, at) {
                    if plans && planned(cut, at) {
                        passed = Passed::PlanOfChange;
                        continue;
                    }
                    return Err(Doubt::new(action_of(cut.word(at)), span(cut, at)));
                }
            }
            Kind::Quoted | Kind::Literal | Kind::Sign(_) => {}
        }
    }
    Ok(passed)
}

fn is_operator(sign: u8) -> bool {
    matches!(
        sign,
        b'+' | b'-' | b'*' | b'/' | b'<' | b'>' | b'=' | b'~' | b'!' | b'#' | b'%' | b'^' | b'&' | b'|' | b'?'
    )
}

/// Whether the signs that begin at `at` without a gap make one operator of PostgreSQL that is none of the system's: a function.
fn own_operator(cut: Cut<'_>, at: usize, dialect: Option<Dialect>) -> bool {
    let sign = |at: usize| match cut.tokens.get(at) {
        Some(Token { kind: Kind::Sign(sign), .. }) if is_operator(*sign) => Some(*sign),
        // `@` is at the head of words elsewhere, and alone it is a word of one sign.
        Some(Token { kind: Kind::Word, start, .. })
            if cut.text.as_bytes().get(*start) == Some(&b'@') && cut.word(at).bytes().all(|byte| byte == b'@') =>
        {
            Some(b'@')
        }
        _ => None,
    };
    if sign(at).is_none() {
        return false;
    }
    let touches = |at: usize| at > 0 && cut.tokens[at - 1].end == cut.tokens[at].start;
    if matches!(dialect, Some(Dialect::MySql | Dialect::MsSql | Dialect::Sqlite))
        || (sign(at - at.min(1)).is_some() && touches(at))
    {
        return false;
    }
    let mut end = at;
    while sign(end).is_some() && (end == at || touches(end)) {
        end += 1;
    }
    let run = &cut.text[cut.tokens[at].start..cut.tokens[end - 1].end];
    // A name of several signs ends in + or - only if it holds one of these.
    let special = run.contains(['~', '!', '@', '#', '%', '^', '&', '|', '?']);
    let name = if special { run } else { run.trim_end_matches(['+', '-']) };
    const KNOWN: &[&str] = &[
        "<=", ">=", "<>", "!=", "==", "||", "->", "->>", "#>", "#>>", "#-", "@>", "<@", "&&", "@@", "@?", "~*", "!~",
        "!~*", "<<", ">>", "^@", "?|", "?&", "<->", "~~", "~~*", "!~~", "!~~*", "&<", "&>", "-|-", "|/", "||/", "<=>",
        "<%", "%>", "=*",
    ];
    name.len() > 1 && !KNOWN.contains(&name)
}

/// Whether the word at `at` would change something where it is.
fn changes(cut: Cut<'_>, at: usize) -> bool {
    let name = cut.word(at);
    let called = cut.is_sign(at + 1, b'(');
    if STARTERS.hold(name) {
        // Names of columns as well, but not behind a whole operand, where T-SQL begins a new statement.
        return at > 0 && cut.after_operand(at) && !called;
    }
    if !CHANGING.hold(name) {
        return false;
    }
    let before = at.checked_sub(1).map_or("", |before| cut.word(before));
    let upper = name.to_ascii_uppercase();
    let excused = match upper.as_str() {
        "REPLACE" | "IF" | "TRUNCATE" => called,
        "CREATE" => before.eq_ignore_ascii_case("SHOW"),
        "FETCH" => cut.is(at + 1, "FIRST") || cut.is(at + 1, "NEXT"),
        "SET" => before.eq_ignore_ascii_case("CHARACTER"),
        "PROCEDURE" | "TRIGGER" => before.eq_ignore_ascii_case("CREATE"),
        _ => false,
    };
    let column = at > 0 && (cut.is_sign(at - 1, b'.') || before.eq_ignore_ascii_case("AS"))
        || cut.is_sign(at + 1, b'.') && !cut.after_operand(at);
    // `sequence.NEXTVAL` takes a number out of a sequence.
    let named = column && !called && !matches!(upper.as_str(), "INTO" | "NEXTVAL");
    !(excused || named)
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
    let next = cut.word(at + 1);
    let quoted = cut.tokens.get(at + 1).is_some_and(|token| token.kind == Kind::Quoted);
    // `AFTER DELETE ON t`, `OR DELETE AS`: what a trigger waits for.
    let named = quoted || !next.is_empty() && !["AS", "ON", "OR", "TO"].iter().any(|word| cut.is(at + 1, word));
    let begins = match upper.as_str() {
        "INSERT" | "REPLACE" => cut.is(at + 1, "INTO"),
        "DELETE" | "DROP" | "TRUNCATE" | "MERGE" | "UPDATE" | "EXEC" | "EXECUTE" | "CALL" => named,
        _ => false,
    };
    begins.then(|| action_of(&upper))
}

/// Whether the changing word is what the plan is of, or belongs to it.
fn planned(cut: Cut<'_>, at: usize) -> bool {
    ["DELETE", "UPDATE", "INSERT", "REPLACE", "INTO", "SET", "RETURNING", "MERGE"].iter().any(|word| cut.is(at, word))
}

fn span(cut: Cut<'_>, at: usize) -> String {
    let more: Vec<&str> = (at..at + 3).map(|at| cut.word(at)).take_while(|word| !word.is_empty()).collect();
    more.join(" ")
}

/// Whether what is in brackets behind `at` names columns: `WITH "x"(a, b) AS (…)`, `AS x(a, b)`.
fn names_columns(cut: Cut<'_>, at: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |before| cut.word(before));
    ["AS", "WITH", "RECURSIVE", "IN", "USING"].iter().any(|word| before.eq_ignore_ascii_case(word))
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

/// Words that change something wherever they are as words.
static CHANGING: LazyLock<Words> = LazyLock::new(|| Words::of(&[const { section(WORDS, "changing") }]));

/// Words that begin a statement in T-SQL, and name columns elsewhere.
static STARTERS: LazyLock<Words> = LazyLock::new(|| Words::of(&[const { section(WORDS, "starters") }]));

/// Words behind which an operand or a name follows: no statement begins there.
static WANTS_OPERAND: LazyLock<Words> = LazyLock::new(|| Words::of(&[const { section(WORDS, "before-operands") }]));
