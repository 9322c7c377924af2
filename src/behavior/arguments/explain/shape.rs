//! Texts that have the shape of a statement of some query language. Reads none of them.

use crate::behavior::arguments::choice;

/// How likely a text is to be taken for a statement where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Words to look for are expected.
    Words,
    /// A statement may be.
    Statements,
}

/// Whether a text has the shape of a statement of some query language: its head, or two words of it side by side.
pub fn is_statement(text: &str, reads: Reads) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = || text.split(|c: char| !is_part(c)).filter(|word| !word.is_empty()).take(MOST_WORDS);
    let Some(first) = words().next() else { return false };
    let is_upper = |word: &str| word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    let mut buffer = [0_u8; LONGEST_WORD];
    let head_is_known = is_head(lower(first, &mut buffer));
    let head_is_alone = is_alone(lower(first, &mut buffer));
    if words().nth(1).is_none() {
        return head_is_alone && (is_upper(first) || reads == Reads::Statements);
    }
    // A head in capitals, or a change at any place (`a001 EXPUNGE`): people write no query so.
    let changes = |word: &str| is_upper(word) && choice::is_firm_change(lower(word, &mut [0_u8; LONGEST_WORD]));
    if (is_upper(first) && head_is_known) || words().any(changes) {
        return true;
    }
    let mut is_prose = false;
    let (mut at_head, mut in_capitals, mut anywhere) = (false, false, false);
    let (mut has_from, mut has_set, mut has_in) = (false, false, false);
    let mut before = "";
    for (at, word) in words().enumerate() {
        let plain = lower(word, &mut buffer);
        is_prose |= is_of_prose(plain);
        if at >= 2 {
            (has_from, has_set, has_in) =
                (has_from || plain == "from", has_set || plain == "set", has_in || plain == "in");
        }
        if at > 0 && is_pair(lower(before, &mut [0_u8; LONGEST_WORD]), plain) {
            at_head |= at == 1;
            in_capitals |= is_upper(before);
            anywhere = true;
        }
        before = word;
    }
    let head = lower(first, &mut buffer);
    let opens = matches!(head, "match" | "merge" | "create" | "call" | "unwind") && opens(text, head.len());
    let begins = match head {
        "select" => has_from,
        "update" => has_set,
        "for" => has_in,
        _ => false,
    };
    at_head
        || in_capitals
        || opens
        || (!is_prose && (anywhere || begins || (reads == Reads::Statements && head_is_known)))
}

/// As many words of a text are looked at: what is longer is no plain text anyway.
const MOST_WORDS: usize = 1_024;
/// No word of the lists is longer.
const LONGEST_WORD: usize = 16;

/// A word in lower case; empty where it is longer than any of a list.
fn lower<'b>(word: &str, buffer: &'b mut [u8; LONGEST_WORD]) -> &'b str {
    let Some(lower) = buffer.get_mut(..word.len()) else { return "" };
    lower.copy_from_slice(word.as_bytes());
    lower.make_ascii_lowercase();
    std::str::from_utf8(lower).unwrap_or_default()
}

/// Whether a bracket follows the first word.
fn opens(text: &str, head: usize) -> bool {
    text.trim_start().get(head..).is_some_and(|rest| rest.trim_start().starts_with(['(', '[', '{']))
}

/// Whether statements of query languages begin with the word.
fn is_head(word: &str) -> bool {
    matches!(
        word,
        "select"
            | "insert"
            | "update"
            | "delete"
            | "drop"
            | "create"
            | "alter"
            | "truncate"
            | "grant"
            | "revoke"
            | "merge"
            | "replace"
            | "call"
            | "exec"
            | "execute"
            | "begin"
            | "commit"
            | "rollback"
            | "vacuum"
            | "attach"
            | "detach"
            | "pragma"
            | "explain"
            | "describe"
            | "show"
            | "set"
            | "load"
            | "copy"
            | "lock"
            | "unlock"
            | "rename"
            | "use"
            | "with"
            | "values"
            | "do"
            | "declare"
            | "analyze"
            | "reindex"
            | "match"
            | "optional"
            | "unwind"
            | "remove"
            | "foreach"
            | "ask"
            | "construct"
            | "clear"
            | "add"
            | "move"
            | "prefix"
            | "base"
            | "for"
            | "let"
            | "return"
            | "upsert"
            | "del"
            | "flushall"
            | "flushdb"
            | "hset"
            | "eval"
            | "kill"
            | "shutdown"
            | "from"
            | "put"
            | "post"
            | "patch"
            | "get"
            | "hdel"
            | "lpush"
            | "rpush"
            | "expire"
            | "incr"
            | "config"
            | "batch"
            | "import"
            | "export"
            | "restore"
            | "backup"
            | "refresh"
            | "comment"
            | "deny"
            | "bulk"
            | "purge"
    )
}

/// Whether the word is a statement by itself.
fn is_alone(word: &str) -> bool {
    matches!(
        word,
        "vacuum"
            | "commit"
            | "rollback"
            | "begin"
            | "flushall"
            | "flushdb"
            | "shutdown"
            | "reboot"
            | "bgsave"
            | "save"
            | "checkpoint"
            | "reindex"
            | "analyze"
            | "reconfigure"
            | "halt"
            | "poweroff"
            | "exit"
            | "quit"
            | "bgrewriteaof"
            | "failover"
            | "resetstat"
    )
}

/// Whether two words are side by side in statements.
fn is_pair(first: &str, second: &str) -> bool {
    match first {
        "insert" | "replace" | "merge" | "upsert" | "import" => second == "into",
        "delete" => matches!(second, "from" | "where" | "data" | "all"),
        "union" => matches!(second, "select" | "all"),
        "drop" | "create" | "alter" | "truncate" | "rename" | "show" => matches!(
            second,
            "table"
                | "database"
                | "index"
                | "view"
                | "schema"
                | "trigger"
                | "function"
                | "procedure"
                | "user"
                | "role"
                | "all"
                | "graph"
                | "measurement"
                | "series"
                | "keyspace"
                | "collection"
                | "constraint"
                | "default"
                | "silent"
                | "named"
                | "continuous"
                | "retention"
                | "column"
                | "sequence"
                | "type"
                | "materialized"
                | "temporary"
                | "temp"
                | "unique"
                | "or"
                | "if"
                | "subscription"
                | "shard"
        ),
        "clear" | "add" | "move" | "copy" => matches!(second, "all" | "default" | "graph" | "named" | "silent"),
        "load" => matches!(second, "data" | "csv"),
        "detach" => second == "delete",
        "grant" | "revoke" => matches!(second, "all" | "select" | "insert" | "update" | "delete" | "usage" | "role"),
        "exec" | "execute" => matches!(second, "sp_executesql" | "xp_cmdshell" | "immediate" | "as"),
        "set" => matches!(second, "global" | "session" | "persist"),
        _ => false,
    }
}

/// Words of prose that no statement has: whoever looks for something writes them.
fn is_of_prose(word: &str) -> bool {
    matches!(
        word,
        "the"
            | "of"
            | "about"
            | "how"
            | "what"
            | "why"
            | "when"
            | "who"
            | "my"
            | "our"
            | "your"
            | "me"
            | "i"
            | "we"
            | "you"
            | "are"
            | "was"
            | "these"
            | "does"
            | "can"
            | "should"
            | "latest"
            | "best"
            | "via"
            | "an"
            | "vs"
            | "versus"
            | "their"
            | "its"
            | "it"
            | "more"
            | "most"
            | "near"
    )
}
