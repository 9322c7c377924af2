//! SQL in arguments: one statement that only reads, or not shown to be one. Two gates: over tokens, then over the tree.
//!
//! Both hold allow lists, and each closes what the other might miss: the tokens know no grammar, and the grammar's
//! cutting is another's. Where the dialect is not told, a text that dialects read differently is not shown to be a read.

mod expression;
mod fingerprint;
mod functions;
mod gate;
mod lex;
mod lists;
mod thin;
mod told;
mod tree;

use super::effect::{Effect, Found};
use crate::behavior::taxonomy::Action;
use gate::{Cut, Passed};

/// Whose SQL it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    Sqlite,
    PostgreSql,
    MySql,
    MsSql,
}

impl Dialect {
    /// The dialect that a text names, where it names exactly one product that we know and none that we do not.
    pub fn named_in(text: &str) -> Option<Self> {
        let lower = text.to_ascii_lowercase();
        let any = |names: &[&str]| names.iter().any(|name| lower.contains(name));
        if any(OTHER_PRODUCTS) {
            return None;
        }
        let named = [
            (Self::Sqlite, any(&["sqlite"])),
            (Self::PostgreSql, any(&["postgres", "psql"])),
            (Self::MySql, any(&["mysql", "mariadb"])),
            (Self::MsSql, any(&["mssql", "sql server", "t-sql", "tsql", "transact-sql", "sqlserver"])),
        ];
        let mut told = named.into_iter().filter_map(|(dialect, told)| told.then_some(dialect));
        told.next().filter(|_| told.next().is_none())
    }
}

/// Products whose SQL is none of the four, though their words may compare themselves with one.
const OTHER_PRODUCTS: &[&str] = &[
    "duckdb",
    "clickhouse",
    "bigquery",
    "snowflake",
    "oracle",
    "cockroach",
    "redshift",
    "databricks",
    "spark",
    "trino",
    "presto",
    "athena",
    "teradata",
    "db2",
    "hive",
    "greenplum",
    "tidb",
    "singlestore",
    "questdb",
    "vertica",
];

/// What a statement was found to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// One statement that only reads.
    Read,
    /// It changes something, or it cannot be shown not to; with the words that say so.
    NotRead { action: Action, span: String },
}

/// What is found out about one text of SQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub judgement: Judgement,
    /// Our own line on it: `DELETE on users without WHERE`; foreign names in it are raw.
    pub says: String,
    /// The statement without its literals, the same for statements that differ in them alone; `None` where nobody can
    /// say how it is cut.
    pub fingerprint: Option<String>,
}

impl Statement {
    /// As a finding about an argument.
    pub fn found(self) -> Found {
        let (effect, action, span) = match self.judgement {
            Judgement::Read => (Effect::ReadHere, Action::Read, self.says.clone()),
            Judgement::NotRead { action, span } => (effect_of(action, &span, &self.says), action, span),
        };
        Found { effect, action, span, says: self.says, fingerprint: self.fingerprint }
    }
}

/// What kind of change it is. Rights, users and the server itself are administered.
fn effect_of(action: Action, span: &str, says: &str) -> Effect {
    const RIGHTS: &[&str] =
        &["GRANT", "REVOKE", "DENY", "SHUTDOWN", "KILL", "RECONFIGURE", "ATTACH", "DETACH", "BACKUP", "RESTORE"];
    let head = says.strip_prefix("several statements, first ").unwrap_or(says);
    let over = |kind: &str| ["CREATE", "ALTER", "DROP"].iter().any(|verb| head.starts_with(&format!("{verb} {kind}")));
    let first = head.split(' ').next().unwrap_or_default();
    if RIGHTS.contains(&first) || over("USER") || over("ROLE") || over("LOGIN") || over("DATABASE") || over("EXTENSION")
    {
        return Effect::Administer;
    }
    let global = first == "SET" && span.to_ascii_uppercase().contains("GLOBAL");
    if global { Effect::Administer } else { Effect::of(action) }
}

/// A statement longer than this is not read: no person wrote it, and none will check it.
const MAX_BYTES: usize = 64 * 1024;

/// Why a text is not shown to be a read.
#[derive(Debug)]
struct Doubt {
    action: Action,
    span: String,
}

impl Doubt {
    fn new(action: Action, span: impl Into<String>) -> Self {
        Self { action, span: span.into() }
    }

    fn unknown(span: impl Into<String>) -> Self {
        Self::new(Action::Unknown, span)
    }
}

/// The fingerprints that one text has in any of the dialects, and where the dialect is not told; none where nobody can
/// say how it is cut.
pub fn fingerprints(text: &str) -> Vec<String> {
    let dialects = [None, Some(Dialect::Sqlite), Some(Dialect::PostgreSql), Some(Dialect::MySql), Some(Dialect::MsSql)];
    let mut found: Vec<String> = dialects.iter().filter_map(|dialect| read(text, *dialect).fingerprint).collect();
    found.sort();
    found.dedup();
    found
}

/// Judges one text as SQL of a dialect, or of any where it is not told.
pub fn judge(text: &str, dialect: Option<Dialect>) -> Judgement {
    read(text, dialect).judgement
}

/// Judges one text, says what it would do, and takes its fingerprint.
pub fn read(text: &str, dialect: Option<Dialect>) -> Statement {
    let tokens =
        if text.len() > MAX_BYTES { Err(Doubt::unknown("too long to be read")) } else { lex::tokens(text, dialect) };
    match tokens {
        Ok(tokens) => {
            let cut = Cut { text, tokens: &tokens };
            let judgement = match only_reads(cut, dialect) {
                Ok(()) => Judgement::Read,
                Err(doubt) => not_read(&doubt),
            };
            let fingerprint = fingerprint::of(cut, dialect);
            Statement { says: told::says(cut, &judgement), judgement, fingerprint }
        }
        Err(doubt) => {
            // What cannot be cut may still say at its head what it is; that is for the eye alone.
            let word = told::head(text);
            let action = gate::action_of(&word);
            let doubt = if action == Action::Unknown { doubt } else { Doubt { action, ..doubt } };
            Statement { says: told::unclear(&word), judgement: not_read(&doubt), fingerprint: None }
        }
    }
}

fn not_read(doubt: &Doubt) -> Judgement {
    Judgement::NotRead { action: doubt.action, span: doubt.span.chars().take(60).collect() }
}

fn only_reads(cut: Cut<'_>, dialect: Option<Dialect>) -> Result<(), Doubt> {
    let passed = gate::pass(cut, dialect)?;
    if told::is_listing(cut)? {
        return Ok(());
    }
    if passed == Passed::PlanOfChange {
        return functions::all_known(cut);
    }
    tree::only_reads(cut, dialect)
}

/// Whether a text that may be words to search for is plainly a changing statement.
pub fn plainly_changes(text: &str) -> bool {
    let mut words = text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ';')).filter(|word| !word.is_empty());
    let mut before = String::new();
    words.any(|word| {
        let word = word.to_ascii_uppercase();
        let pair = (before.as_str(), word.as_str());
        let found = matches!(
            pair,
            ("INSERT" | "REPLACE" | "MERGE", "INTO")
                | ("DELETE", "FROM")
                | (
                    "DROP" | "ALTER" | "TRUNCATE" | "CREATE",
                    "TABLE"
                        | "DATABASE"
                        | "INDEX"
                        | "VIEW"
                        | "SCHEMA"
                        | "TRIGGER"
                        | "FUNCTION"
                        | "PROCEDURE"
                        | "USER"
                        | "ROLE"
                )
                | ("GRANT" | "REVOKE", "ALL" | "SELECT")
        ) || (word == "SET" && text.get(..7).is_some_and(|head| head.eq_ignore_ascii_case("UPDATE ")));
        before = word;
        found
    })
}
