//! Statements among the arguments: proven to read where somebody trusted says the dialect, else an outline that is agreed to
//! once. Parses by the readers in `arguments`; knows no key.

use crate::behavior::arguments::effect::{Effect, Language};
use crate::behavior::arguments::graphql;
use crate::behavior::arguments::language::Languages;
use crate::behavior::arguments::sql::{self, Dialect};

/// How many names an outline may have; a statement of more is new as it is.
const MOST_NAMES: usize = 40;

/// What a text is, as a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Statement {
    /// It is none that our readers know.
    None,
    /// It is one that only reads, in a dialect that somebody trusted named.
    Reads,
    /// One that seems to read. Its outline may be agreed to: what it names, and our line on it.
    Outline { value: String, says: String },
    /// One that reads these things, in a dialect that somebody trusted named: each is agreed to once.
    Sources { head: String, all: Vec<String> },
}

/// Reads a text as a statement. `spoken` are the languages that the tool or the key names; `dialect` is one that our list of
/// well-known servers names.
pub(super) fn read(text: &str, spoken: Languages, dialect: Option<Dialect>) -> Statement {
    if graphql::begins(text) {
        let found = graphql::read(text);
        return match found.effect {
            Effect::ReadHere | Effect::ReadElsewhere => {
                let fields = graphql::root_names(text).join(", ");
                Statement::Outline { value: format!("graphql: {fields}"), says: format!("GraphQL, {}", found.says) }
            }
            Effect::Unlisted | Effect::Unknown | Effect::Write | Effect::Execute | Effect::Administer => {
                Statement::None
            }
        };
    }
    if !spoken.has(Language::Sql) && !begins_as_sql(text) {
        return Statement::None;
    }
    let read = sql::read(text, dialect);
    // A function that no list has is part of the outline.
    if !read.meaning.effect.reads() && read.meaning.effect != Effect::Unlisted {
        return Statement::None;
    }
    if dialect == Some(Dialect::Sqlite) && read.meaning.effect.reads() {
        return Statement::Reads;
    }
    if let Some(dialect) = dialect.filter(|_| read.meaning.effect.reads())
        && let Some(all) = sql::sources(text, dialect).filter(|all| all.len() <= MOST_NAMES)
    {
        return Statement::Sources { head: format!("{}: ", dialect.word()), all };
    }
    match sql::names(text, dialect) {
        Some(names) if names.len() <= MOST_NAMES => {
            let of = dialect.map_or(String::new(), |dialect| format!("{} ", dialect.word()));
            let value = format!("sql {of}{}", names.join(", "));
            let says = format!("SQL, {}; names {}", read.meaning.says, names.join(", "));
            Statement::Outline { value, says }
        }
        Some(_) | None => Statement::None,
    }
}

fn begins_as_sql(text: &str) -> bool {
    let word = text.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    ["select", "with", "explain", "show", "describe", "values", "pragma"]
        .iter()
        .any(|verb| word.eq_ignore_ascii_case(verb))
        && text.trim().contains(' ')
}

#[cfg(test)]
mod tests {
    use super::{Statement, read};
    use crate::behavior::arguments::effect::Language;
    use crate::behavior::arguments::language::Languages;
    use crate::behavior::arguments::sql::Dialect;

    #[test]
    fn an_outline_has_every_name() {
        let sql = Languages::of(Language::Sql);
        let outline = |text: &str| match read(text, sql, None) {
            Statement::Outline { value, .. } => value,
            other => format!("{other:?}"),
        };
        assert_eq!(outline("SELECT id, name FROM users WHERE id = 5"), "sql id, name, users");
        assert_eq!(outline("SELECT id, name FROM users WHERE id = 6"), "sql id, name, users", "values are left out");
        assert_eq!(outline("SELECT * FROM exec_command"), "sql exec_command");
        assert_eq!(outline("SELECT my_fn(a) FROM t"), "sql a, my_fn(), t", "a function that no list has");
        assert_eq!(outline("SELECT nextval('s')"), "None", "one that acts");
        assert!(matches!(read("SELECT my_fn(1)", sql, Some(Dialect::Sqlite)), Statement::Outline { .. }));
        assert_eq!(outline("DELETE FROM users"), "None");
        assert_eq!(outline("SELECT 1; DROP TABLE x"), "None");
        assert_eq!(outline("query { user(id: 5) { name } }"), "graphql: user");
        assert_eq!(outline("mutation { drop }"), "None");
        assert_eq!(read("SELECT 1", sql, Some(Dialect::Sqlite)), Statement::Reads);
        let sources = |text: &str| match read(text, sql, Some(Dialect::PostgreSql)) {
            Statement::Sources { all, .. } => all.join(", "),
            other => format!("{other:?}"),
        };
        assert_eq!(sources("SELECT a, count(b) FROM users, (SELECT c FROM x.orders) o"), "table users, table x.orders");
        assert_eq!(sources("SELECT u.secret FROM users u"), "column secret, table users", "it may be a call");
        assert!(sources("SELECT my_fn(a) FROM t").starts_with("Outline"), "a function that no list has");
        assert!(sources("SELECT a FROM \"b, table c\"").starts_with("Outline"));
    }
}
