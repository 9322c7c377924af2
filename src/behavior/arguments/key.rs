//! What an argument's name says of its value, in any spelling. Reads no value and no description.

use super::choice::{self, Choice};
use super::language::{self, Languages};
use crate::behavior::words::{Words, count};

/// The rest of a longer name says nothing.
const LONGEST: usize = 96;

/// A name, read once for all that is below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Key {
    pub role: Role,
    /// The languages that the name itself says.
    pub languages: Languages,
    /// Whether the name chooses what is done.
    pub choice: Choice,
}

impl Key {
    /// Reads a name.
    pub fn of(name: &str) -> Self {
        let spelled = spelled(name);
        let words: Vec<&str> = spelled.split('_').filter(|word| !word.is_empty()).collect();
        // The last word says what it is, unless it only says in which form: `query_text`.
        let heads = words.iter().rev();
        let head = heads.clone().find(|word| !FORMS.holds(word)).or(words.last()).copied().unwrap_or_default();
        let joined = if words.len() > 1 { words.concat() } else { String::new() };
        let role = role(head).or_else(|| role(&joined)).or_else(|| conditions(&words)).unwrap_or_default();
        let last = words.last().copied().unwrap_or_default();
        let names_language = role.may_state()
            || role.may_run()
            || FORMS.holds(last)
            || !language::named(head).is_empty()
            || words.len() == 1;
        let mut languages = Languages::default();
        if names_language {
            for word in &words {
                languages = languages.with(language::in_word(word));
            }
        }
        if languages.is_empty() && names_language {
            languages = language::in_word(&joined);
        }
        Self { role, languages, choice: choice::of_words(&words) }
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
                && (before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_ascii_uppercase() && next_is_lower));
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
const FORM: &str = "text texts string strings str raw body value values input content line lines json list array data payload source \
    src src2 block batch extra";
static FORMS: Words<{ count(FORM) }> = Words::of(FORM);

/// What kind of value a name announces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    #[default]
    Plain,
    /// It may hold a statement: `query`, `expression`, `statement`.
    Open,
    /// It may hold a part of one: `where`, `filter`, `selector`.
    Condition,
    /// Names of columns or tables, and the order they come in: `order_by`.
    Names,
    /// A command of some program: `command`, `cmd`, `exec`.
    Command,
    /// Options that a program takes: `args`, `flags`, `options`.
    Options,
    /// Source code: `script`, `lua`, `formula`.
    Code,
}

impl Role {
    /// Whether it may be run: a command or code.
    pub fn may_run(self) -> bool {
        matches!(self, Self::Command | Self::Code | Self::Options)
    }

    /// Whether it may hold a statement, or a part of one.
    pub fn may_state(self) -> bool {
        matches!(self, Self::Open | Self::Condition)
    }
}

/// The kind that a word announces.
fn role(word: &str) -> Option<Role> {
    Some(match word {
        "query" | "queries" | "q" | "querystring" | "statement" | "statements" | "stmt" | "stmts" | "expression"
        | "expressions" | "expr" | "document" | "pipeline" | "aggregation" | "aggregate" | "traversal" | "search"
        | "request" | "requests" | "prompt" | "question" | "operation" | "operations" | "projection" | "runcommand"
        | "ql" | "dsl" => Role::Open,
        "where" | "filter" | "filters" | "matcher" | "matchers" | "condition" | "conditions" | "predicate"
        | "criteria" | "criterion" | "having" | "clause" | "selector" | "selectors" | "css" | "locator"
        | "locators" => Role::Condition,
        "orderby" | "sortby" | "sort" | "ordering" | "groupby" | "tablename" | "columns" => Role::Names,
        "command" | "commands" | "cmd" | "cmds" | "exec" | "execute" | "run" | "program" | "executable" | "binary"
        | "commandline" | "cmdline" | "shell" | "bash" | "terminal" | "invocation" | "shellcommand" => Role::Command,
        "args" | "arg" | "argv" | "arguments" | "flags" | "options" | "option" | "opts" | "opt" | "switches"
        | "kwargs" | "extraargs" | "env" | "environment" => Role::Options,
        "code" | "function" | "fn" | "func" | "formula" | "template" | "module" | "plugin" | "script" | "scripts"
        | "snippet" | "lua" | "javascript" | "js" | "typescript" | "python" | "py" | "ruby" | "perl" | "php"
        | "groovy" | "eval" | "macro" | "handler" | "lambda" | "callback" | "hook" | "painless" | "powershell"
        | "applescript" => Role::Code,
        _ => return None,
    })
}

/// A condition by any word of the name: `filter_label`.
fn conditions(words: &[&str]) -> Option<Role> {
    let is_named =
        words.len() > 1 && matches!(words.last(), Some(&"id" | &"ids" | &"name" | &"names" | &"type" | &"mode"));
    let any = words.iter().any(|word| matches!(*word, "filter" | "where" | "selector"));
    (any && !is_named).then_some(Role::Condition)
}
