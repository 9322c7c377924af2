//! What an argument's name says of its value, in any spelling. Reads no value and no description.

use crate::behavior::arguments::choice::{self, Choice};
use crate::behavior::arguments::language::{self, Languages};

/// A longer name says nothing, and what it names must be explained by its value alone.
const LONGEST: usize = 96;

/// What kind of value a name announces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    #[default]
    Plain,
    /// It may hold a statement: `query`, `expression`, `statement`.
    Open,
    /// It may hold a part of one: `where`, `filter`.
    Condition,
    /// A command of some program: `command`, `cmd`, `exec`.
    Command,
    /// Options that a program takes: `args`, `flags`, `options`.
    Options,
    /// Source code: `code`, `script`, `formula`.
    Code,
    /// A regular expression or a glob.
    Pattern,
    /// An address: a scheme in it decides what is done.
    Address,
    /// Headers of a request.
    Headers,
}

/// A name, read once for all that stands below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Key {
    pub role: Role,
    /// The languages that the name itself says.
    pub languages: Languages,
    /// Whether the name chooses what is done.
    pub choice: Choice,
    /// Whether its first word is an act: `delete: true`.
    pub acts: Acts,
}

/// Whether a name says that a change is made where its value is true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acts {
    #[default]
    No,
    Changes,
}

impl Key {
    /// Reads a name.
    pub fn of(name: &str) -> Self {
        let spelled = spelled(name);
        let words: Vec<&str> = spelled.split('_').filter(|word| !word.is_empty()).collect();
        // The last word says what it is, unless it only says in which form: `query_text`.
        let heads = words.iter().rev();
        let head = heads.clone().find(|word| !is_form(word)).or(words.last()).copied().unwrap_or_default();
        let joined = words.concat();
        let role = role(head).or_else(|| role(&joined)).unwrap_or_default();
        let carries = matches!(role, Role::Open | Role::Condition | Role::Command | Role::Code | Role::Options);
        let last = words.last().copied().unwrap_or_default();
        let names_language = carries || is_form(last) || !language::named(head).is_empty() || words.len() == 1;
        let mut languages = Languages::default();
        if names_language {
            for word in &words {
                languages = languages.with(language::in_word(word));
            }
        }
        if languages.is_empty() && names_language {
            languages = language::in_word(&joined);
        }
        let acts = match words.as_slice() {
            [first, ..] if is_change(first) && !matches!(words.get(1), Some(&"by" | &"at" | &"id" | &"ids")) => Acts::Changes,
            _ => Acts::No,
        };
        Self { role, languages, choice: choice::of_words(&words), acts }
    }
}

/// The words of a name in lower case with `_` between them: `rawSQLQuery` to `raw_sql_query`.
fn spelled(name: &str) -> String {
    let mut spelled = String::with_capacity(name.len() + 4);
    let bytes = name.as_bytes();
    let mut before = b'_';
    for (at, c) in name.char_indices() {
        if at >= LONGEST {
            break;
        }
        let byte = if c.is_ascii() { c as u8 } else { b'x' };
        if !c.is_alphanumeric() {
            spelled.push('_');
        } else {
            let next_is_lower = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            let is_hump = byte.is_ascii_uppercase()
                && (before.is_ascii_lowercase() || before.is_ascii_digit() || (before.is_ascii_uppercase() && next_is_lower));
            if is_hump {
                spelled.push('_');
            }
            spelled.extend(c.to_lowercase());
        }
        before = byte;
    }
    spelled
}

/// Words that say in which form a value is given, not what it is.
fn is_form(word: &str) -> bool {
    matches!(
        word,
        "text" | "texts" | "string" | "strings" | "str" | "raw" | "body" | "value" | "values" | "input" | "content" | "line"
            | "lines" | "json" | "list" | "array" | "data" | "payload" | "source" | "src" | "src2" | "block" | "batch" | "extra"
    )
}

fn role(word: &str) -> Option<Role> {
    Some(match word {
        "query" | "queries" | "q" | "querystring" | "statement" | "statements" | "stmt" | "stmts" | "expression" | "expressions"
        | "expr" | "document" | "pipeline" | "aggregation" | "aggregate" | "traversal" | "search" | "request" | "requests"
        | "prompt" | "question" | "operation" | "operations" | "projection" | "runcommand" | "ql" | "dsl" => Role::Open,
        "where" | "filter" | "filters" | "condition" | "conditions" | "predicate" | "criteria" | "criterion" | "selector"
        | "selectors" | "having" | "clause" | "orderby" | "groupby" => Role::Condition,
        "command" | "commands" | "cmd" | "cmds" | "exec" | "execute" | "run" | "program" | "executable" | "binary"
        | "commandline" | "cmdline" | "shell" | "bash" | "terminal" | "task" | "invocation" | "shellcommand" => Role::Command,
        "args" | "arg" | "argv" | "arguments" | "flags" | "options" | "option" | "opts" | "opt" | "switches" | "kwargs"
        | "params" | "parameters" | "extraargs" | "env" | "environment" => Role::Options,
        "code" | "script" | "scripts" | "snippet" | "lua" | "javascript" | "js" | "typescript" | "python" | "py" | "ruby" | "perl"
        | "php" | "groovy" | "function" | "fn" | "func" | "eval" | "formula" | "template" | "macro" | "handler" | "lambda"
        | "callback" | "hook" | "painless" | "program_text" | "plugin" | "module" | "powershell" | "applescript" => Role::Code,
        "pattern" | "patterns" | "regex" | "regexp" | "regexes" | "glob" | "globs" | "include" | "exclude" | "includes"
        | "excludes" | "ignore" | "grep" => Role::Pattern,
        "url" | "urls" | "uri" | "uris" | "href" | "link" | "links" | "endpoint" | "website" | "webpage" | "webhook" | "remote"
        | "upstream" | "repo" | "repository" | "repositories" | "origin" | "proxy" | "feed" | "site" | "from" | "source"
        | "src" | "target" | "destination" | "location" | "address" | "base" | "host" | "image" => Role::Address,
        "header" | "headers" => Role::Headers,
        _ => return None,
    })
}

/// Words that name a change where they are the first of a name.
fn is_change(word: &str) -> bool {
    matches!(
        word,
        "delete" | "remove" | "drop" | "purge" | "overwrite" | "write" | "apply" | "commit" | "create" | "insert" | "update"
            | "execute" | "send" | "destroy" | "truncate" | "erase" | "clear" | "save" | "upsert" | "autocommit" | "kill"
            | "reset" | "replace" | "publish" | "push" | "install" | "wipe" | "prune" | "rewrite" | "cleanup"
    )
}
