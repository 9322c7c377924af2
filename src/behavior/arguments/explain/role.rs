//! What kind of value a name announces, by its words. Reads no value.

use crate::behavior::words::{Words, count};

/// What kind of value a name announces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    #[default]
    Plain,
    /// It may hold a statement: `query`, `expression`, `statement`.
    Open,
    /// It may hold a part of one: `where`, `filter`.
    Condition,
    /// Names of columns or tables, and the order they come in: `order_by`.
    Names,
    /// A command of some program: `command`, `cmd`, `exec`.
    Command,
    /// Options that a program takes: `args`, `flags`, `options`.
    Options,
    /// Source code, or a code for something: `code`, `formula`, `function`.
    Code,
    /// Source code for sure: `script`, `lua`.
    Script,
    /// A regular expression or a glob.
    Pattern,
    /// An address: a scheme in it decides what is done.
    Address,
    /// Headers of a request.
    Headers,
    /// Where something is written or sent: `output_path`, `callback_url`, `bcc`.
    Destination,
    /// When something runs: fields of cron, or a time.
    Schedule,
    /// One name of one thing: `id`, `serial`.
    Identifier,
    /// Elements of a page: `selector`, `css`.
    Selector,
}

impl Role {
    /// Whether it may be run: a command or code.
    pub fn may_run(self) -> bool {
        matches!(self, Self::Command | Self::Code | Self::Script | Self::Options)
    }

    /// Whether it may hold a statement, or a part of one.
    pub fn may_state(self) -> bool {
        matches!(self, Self::Open | Self::Condition | Self::Selector)
    }
}

/// The kind that a word announces.
pub(super) fn role(word: &str) -> Option<Role> {
    Some(match word {
        "query" | "queries" | "q" | "querystring" | "statement" | "statements" | "stmt" | "stmts" | "expression"
        | "expressions" | "expr" | "document" | "pipeline" | "aggregation" | "aggregate" | "traversal" | "search"
        | "request" | "requests" | "prompt" | "question" | "operation" | "operations" | "projection" | "runcommand"
        | "ql" | "dsl" => Role::Open,
        "where" | "filter" | "filters" | "matcher" | "matchers" | "condition" | "conditions" | "predicate"
        | "criteria" | "criterion" | "having" | "clause" => Role::Condition,
        "orderby" | "sortby" | "sort" | "ordering" | "groupby" | "tablename" | "columns" => Role::Names,
        "command" | "commands" | "cmd" | "cmds" | "exec" | "execute" | "run" | "program" | "executable" | "binary"
        | "commandline" | "cmdline" | "shell" | "bash" | "terminal" | "invocation" | "shellcommand" => Role::Command,
        "args" | "arg" | "argv" | "arguments" | "flags" | "options" | "option" | "opts" | "opt" | "switches"
        | "kwargs" | "extraargs" | "env" | "environment" => Role::Options,
        "code" | "function" | "fn" | "func" | "formula" | "template" | "module" | "plugin" => Role::Code,
        "script" | "scripts" | "snippet" | "lua" | "javascript" | "js" | "typescript" | "python" | "py" | "ruby"
        | "perl" | "php" | "groovy" | "eval" | "macro" | "handler" | "lambda" | "callback" | "hook" | "painless"
        | "powershell" | "applescript" => Role::Script,
        "pattern" | "patterns" | "range" | "ranges" | "regex" | "regexp" | "regexes" | "glob" | "globs" | "include"
        | "exclude" | "includes" | "excludes" | "ignore" | "grep" | "like" => Role::Pattern,
        "url" | "urls" | "uri" | "uris" | "href" | "link" | "links" | "endpoint" | "website" | "webpage"
        | "webhook" | "remote" | "upstream" | "repo" | "repository" | "repositories" | "feed" | "host" => Role::Address,
        "header" | "headers" => Role::Headers,
        "schedule" | "cron" | "crontab" => Role::Schedule,
        "id" | "ids" | "uuid" | "uuids" | "guid" | "serial" | "sha" | "cursor" => Role::Identifier,
        "selector" | "selectors" | "css" | "locator" | "locators" => Role::Selector,
        _ => return None,
    })
}

/// A condition by any word of the name: `filter_label`.
pub(super) fn conditions(words: &[&str]) -> Option<Role> {
    let is_named =
        words.len() > 1 && matches!(words.last(), Some(&"id" | &"ids" | &"name" | &"names" | &"type" | &"mode"));
    let any = words.iter().any(|word| matches!(*word, "filter" | "where" | "selector"));
    (any && !is_named).then_some(Role::Condition)
}

/// Whether a name says where something is written or sent.
pub(super) fn is_destination(words: &[&str]) -> bool {
    let any = |known: fn(&str) -> bool| words.iter().any(|word| known(word));
    any(|word| ENDS.holds(word))
        || (words.len() > 1 && any(|word| PLACES.holds(word)) && any(|word| WAYS.holds(word)))
        || matches!(words, ["out" | "output"] | ["write", "back", ..] | ["api", "base" | "host" | "endpoint", ..])
        // The address that the server itself calls, with its own key.
        || matches!(words, [.., "base" | "cluster" | "gateway" | "broker", "url" | "uri"] | ["baseurl"])
}

const PLACE: &str =
    "path file filename filepath dir directory folder to location url uri as endpoint address email emails";
static PLACES: Words<{ count(PLACE) }> = Words::of(PLACE);

const END: &str = "callback callbacks webhook webhooks hook proxy bcc cc sink outfile outdir outputfile outputpath dest destination \
    registry recipient recipients grantee grantees invitee invitees postback pingback pushgateway notifyemails \
    saveto saveas forwardto writeto";
static ENDS: Words<{ count(END) }> = Words::of(END);

const WAY: &str = "output out save saved export download write cache log dump store upload forward reply notify notification \
    pushgateway push send redirect result results target";
static WAYS: Words<{ count(WAY) }> = Words::of(WAY);
