//! Tells which language an argument holds: by its name, and by what the tool says it speaks. Reads no argument.

use serde_json::Value;

use super::sql::Dialect;
use crate::behavior::words::among;
use crate::mcp::tool::Tool;

/// How an argument relates to a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// It is a text of that language by its name, or by the tool's words.
    Statement,
    /// It may be anything: only what is plainly a change in that language counts.
    Perhaps,
    /// It is no text of that kind.
    No,
}

/// What one argument may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Languages {
    pub sql: Carries,
    pub graphql: Carries,
    pub redis: Carries,
    pub mongo: Carries,
    pub shell: Carries,
    pub dialect: Option<Dialect>,
}

const NONE: Languages = Languages {
    sql: Carries::No,
    graphql: Carries::No,
    redis: Carries::No,
    mongo: Carries::No,
    shell: Carries::No,
    dialect: None,
};

/// Names of arguments that hold SQL, whoever the tool is.
fn is_sql(key: &str) -> bool {
    matches!(
        key,
        "sql"
            | "sql_query"
            | "sqlquery"
            | "statement"
            | "statements"
            | "stmt"
            | "query_sql"
            | "sql_text"
            | "raw_sql"
            | "sql_statement"
            | "sql_statements"
            | "sqls"
    )
}

/// The same for GraphQL.
fn is_graphql(key: &str) -> bool {
    matches!(key, "graphql" | "gql" | "graphql_query" | "graphqlquery" | "gql_query" | "mutation" | "graphql_mutation")
}

/// The same for commands.
fn is_shell(key: &str) -> bool {
    matches!(
        key,
        "shell_command"
            | "shellcommand"
            | "bash"
            | "bash_command"
            | "cmdline"
            | "command_line"
            | "commandline"
            | "shell_cmd"
            | "terminal_command"
            | "shell"
            | "shell_script"
    )
}

/// Names of arguments that may hold any of them.
fn is_open(key: &str) -> bool {
    matches!(
        key,
        "query"
            | "queries"
            | "q"
            | "expression"
            | "command"
            | "commands"
            | "cmd"
            | "where"
            | "text"
            | "script"
            | "args"
            | "argv"
            | "pipeline"
            | "document"
            | "run_command"
            | "runcommand"
            | "operation"
            | "filter"
    )
}

/// What the argument `key` of `tool` may hold. A key that says nothing costs one look at it.
pub fn of(key: &str, tool: Option<&Tool>) -> Languages {
    let mut buffer = [0_u8; 24];
    let Some(lower) = buffer.get_mut(..key.len()) else { return NONE };
    lower.copy_from_slice(key.as_bytes());
    lower.make_ascii_lowercase();
    lower.iter_mut().filter(|byte| **byte == b'-').for_each(|byte| *byte = b'_');
    let Ok(plain) = std::str::from_utf8(lower) else { return NONE };
    let (is_sql, is_graphql, is_shell) = (is_sql(plain), is_graphql(plain), is_shell(plain));
    if !is_sql && !is_graphql && !is_shell && !is_open(plain) {
        return NONE;
    }
    let spoken = tool.map_or_else(Spoken::default, |tool| Spoken::of(tool, key, is_sql));
    if spoken.lists {
        // One of a list of words is a choice, and judged as one.
        return NONE;
    }
    let named = |is_named: bool, keys: &str, speaks: bool, perhaps: &str| {
        if is_named || (speaks && among(plain, keys)) {
            Carries::Statement
        } else if among(plain, perhaps) {
            Carries::Perhaps
        } else {
            Carries::No
        }
    };
    let elsewhere = spoken.graphql || spoken.redis || spoken.mongo;
    Languages {
        sql: named(is_sql, "query queries", spoken.sql && !elsewhere, "query queries q expression command where text"),
        graphql: named(
            is_graphql,
            "query queries document operation",
            spoken.graphql,
            "query queries document operation text",
        ),
        redis: named(false, "command commands cmd query args argv", spoken.redis, ""),
        mongo: named(false, "query pipeline command run_command runcommand filter operation", spoken.mongo, "pipeline"),
        shell: if elsewhere {
            Carries::No
        } else {
            named(
                is_shell,
                "command commands cmd script args argv",
                spoken.shell,
                "command commands cmd script args argv",
            )
        },
        dialect: spoken.dialect,
    }
}

/// What a tool says it speaks.
#[derive(Default)]
struct Spoken {
    sql: bool,
    graphql: bool,
    redis: bool,
    mongo: bool,
    shell: bool,
    /// The schema lists the argument's values.
    lists: bool,
    dialect: Option<Dialect>,
}

impl Spoken {
    fn of(tool: &Tool, key: &str, is_sql: bool) -> Self {
        let property = tool.input_schema.get("properties").and_then(|all| all.get(key));
        let text = |field: &str| property.and_then(|property| property.get(field)).and_then(Value::as_str);
        let mut spoken = Self { lists: property.is_some_and(lists), ..Self::default() };
        let texts = [Some(tool.name.as_str()), tool.title.as_deref(), tool.description.as_deref(), text("description")];
        let mut whole = String::new();
        for text in texts.into_iter().flatten() {
            let end = text.char_indices().nth(4_000).map_or(text.len(), |(end, _)| end);
            whole.push_str(&text[..end]);
            whole.push('\n');
        }
        whole.make_ascii_lowercase();
        for word in whole.split(|c: char| !c.is_ascii_alphanumeric()) {
            match word {
                "graphql" | "gql" => spoken.graphql = true,
                "redis" | "valkey" | "keydb" | "dragonflydb" => spoken.redis = true,
                "mongo" | "mongodb" | "mongosh" | "documentdb" => spoken.mongo = true,
                "shell" | "bash" | "zsh" | "sh" | "terminal" | "powershell" | "pwsh" | "ssh" | "subprocess" => {
                    spoken.shell = true;
                }
                "sqlite" | "select" => spoken.sql = true,
                word if word.ends_with("sql") && !word.starts_with("no") => spoken.sql = true,
                _ => {}
            }
        }
        if spoken.sql || is_sql {
            spoken.dialect = Dialect::named_in(&whole);
        }
        spoken
    }
}

fn lists(property: &Value) -> bool {
    let inner = property.get("items").unwrap_or(property);
    inner.get("enum").is_some() || inner.get("const").is_some()
}
