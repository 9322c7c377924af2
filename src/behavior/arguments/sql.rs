//! SQL in arguments: one plain read, or not shown to be one. An allow list over tokens, for every dialect at once.
//!
//! Where dialects read a text differently (comments, quotes, backslashes), it is not shown to be a read.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::super::taxonomy::Action;
use crate::mcp::tool::Tool;

/// What a statement was found to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// One statement that only reads, whatever the dialect.
    Read,
    /// It changes something, or it cannot be shown not to; with the words that say so.
    NotRead { action: Action, span: String },
}

/// How an argument relates to SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// It is a statement by its name, or by the tool's words.
    Statement,
    /// It may be words to search for: only what is plainly a changing statement counts.
    Perhaps,
    /// It is no text of that kind.
    No,
}

/// Tells by the argument's name, and for `query` by the tool's words.
pub fn carries(key: &str, tool: Option<&Tool>) -> Carries {
    let is = |known: &[&str]| known.iter().any(|known| key.eq_ignore_ascii_case(known));
    if is(&[
        "sql",
        "sql_query",
        "sqlquery",
        "statement",
        "statements",
        "stmt",
        "query_sql",
        "sql_text",
        "raw_sql",
        "sql_statement",
    ]) {
        return Carries::Statement;
    }
    if !is(&["query", "queries", "q", "expression", "command", "where", "text"]) {
        return Carries::No;
    }
    let speaks = |text: &str| {
        let lower = text.to_ascii_lowercase();
        lower
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|word| word.ends_with("sql") || word == "sqlite" || word == "select")
    };
    match tool {
        Some(tool) if is(&["query", "queries"]) => {
            let described =
                tool.input_schema.pointer(&format!("/properties/{key}/description")).and_then(|text| text.as_str());
            let texts = [Some(tool.name.as_str()), tool.description.as_deref(), described];
            if texts.into_iter().flatten().any(speaks) { Carries::Statement } else { Carries::Perhaps }
        }
        Some(_) | None => Carries::Perhaps,
    }
}

/// Judges an argument by what it carries; `None` where it is no SQL.
pub fn judged_as(carries: Carries, text: &str) -> Option<Judgement> {
    match carries {
        Carries::Statement => Some(judge(text)),
        Carries::Perhaps if plainly_changes(text) => Some(judge(text)),
        Carries::Perhaps | Carries::No => None,
    }
}

/// A statement longer than this is not read: no person wrote it, and none will check it.
const MAX_BYTES: usize = 256 * 1024;

/// Judges one text as SQL.
pub fn judge(text: &str) -> Judgement {
    if text.len() > MAX_BYTES {
        return Judgement::NotRead { action: Action::Unknown, span: "too long to be read".to_owned() };
    }
    match tokens(text).and_then(|tokens| only_reads(&tokens)) {
        Ok(()) => Judgement::Read,
        Err(Doubt { action, span }) => Judgement::NotRead { action, span: span.chars().take(60).collect() },
    }
}

/// Why a text is not shown to be a read.
struct Doubt {
    action: Action,
    span: String,
}

fn doubt<T>(action: Action, span: impl Into<String>) -> Result<T, Doubt> {
    Err(Doubt { action, span: span.into() })
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    /// An unquoted word, upper case.
    Word(String),
    /// A quoted identifier, a string, a number: says nothing of the act.
    Inert,
    Sign(char),
}

/// Cuts the text into tokens that every dialect would cut the same way, or says where dialects part.
fn tokens(text: &str) -> Result<Vec<Token>, Doubt> {
    let chars: Vec<char> = text.chars().collect();
    let at = |index: usize| chars.get(index).copied().unwrap_or('\0');
    let upto = |from: usize, end: &str| find(&chars, from, end);
    let unclear = |from: usize| {
        let span: String = chars[from..].iter().take(40).collect();
        doubt(Action::Unknown, span)
    };
    let mut tokens = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        match at(i) {
            ' ' | '\t' | '\n' | '\r' => i += 1,
            // MySQL needs white space after the dashes, and ends the comment at a line end like the others.
            '-' if at(i + 1) == '-' => {
                if i + 2 < chars.len() && !matches!(at(i + 2), ' ' | '\t' | '\n') {
                    return unclear(i);
                }
                i = upto(i, "\n").unwrap_or(chars.len());
            }
            // `/*!` runs in MySQL and MariaDB; nested comments end differently.
            '/' if at(i + 1) == '*' => {
                let Some(end) = upto(i + 2, "*/") else {
                    return unclear(i);
                };
                let inside = &chars[i + 2..end];
                if matches!(inside.first(), Some('!' | 'M' | '+')) || inside.windows(2).any(|pair| pair == ['/', '*']) {
                    return unclear(i);
                }
                i = end + 2;
            }
            '\'' => {
                let mut end = i + 1;
                loop {
                    if end >= chars.len() || (at(end) == '\\' && at(end + 1) == '\'') {
                        return unclear(i);
                    }
                    match (at(end), at(end + 1)) {
                        ('\'', '\'') => end += 2,
                        ('\'', _) => break,
                        _ => end += 1,
                    }
                }
                tokens.push(Token::Inert);
                i = end + 1;
            }
            open @ ('"' | '`' | '[') => {
                let close = if open == '[' { ']' } else { open };
                let end = chars[i + 1..].iter().position(|c| *c == close).map(|found| i + 1 + found);
                let harmless = |c: &char| {
                    c.is_alphanumeric() || matches!(c, '_' | ' ' | '.' | '$' | '-' | ':' | ',' | '%' | '/' | '@')
                };
                match end {
                    Some(end)
                        if chars[i + 1..end].iter().all(harmless)
                            && !chars[i + 1..end].windows(2).any(|pair| pair == ['-', '-']) =>
                    {
                        // `"nextval"(…)`: a quoted name can be a function, and no list knows it.
                        tokens.push(Token::Inert);
                        if chars[end + 1..].iter().find(|c| !c.is_whitespace()) == Some(&'(') && open != '[' {
                            return unclear(i);
                        }
                        i = end + 1;
                    }
                    Some(_) | None => return unclear(i),
                }
            }
            c if c.is_ascii_digit() => {
                while at(i).is_ascii_alphanumeric() || at(i) == '.' || at(i) == '_' {
                    i += 1;
                }
                tokens.push(Token::Inert);
            }
            c if c.is_ascii_alphabetic() || c == '_' || c == '@' => {
                let start = i;
                i += 1;
                while at(i).is_ascii_alphanumeric() || matches!(at(i), '_' | '@') {
                    i += 1;
                }
                tokens.push(Token::Word(chars[start..i].iter().collect::<String>().to_ascii_uppercase()));
            }
            // A parameter; `$$` and `$tag$` quote in PostgreSQL alone.
            '$' if at(i + 1).is_ascii_digit() => {
                i += 1;
                while at(i).is_ascii_digit() {
                    i += 1;
                }
                tokens.push(Token::Inert);
            }
            c @ (',' | '(' | ')' | '.' | '*' | '=' | '<' | '>' | '+' | '-' | '/' | '%' | '|' | '&' | '!' | '~'
            | '^' | '?' | ':' | ';' | ']') => {
                tokens.push(Token::Sign(c));
                i += 1;
            }
            _ => return unclear(i),
        }
    }
    Ok(tokens)
}

fn find(chars: &[char], from: usize, end: &str) -> Option<usize> {
    let end: Vec<char> = end.chars().collect();
    (from..=chars.len().checked_sub(end.len())?).find(|start| chars[*start..].starts_with(&end))
}

fn only_reads(tokens: &[Token]) -> Result<(), Doubt> {
    let tokens = match tokens {
        [rest @ .., Token::Sign(';')] => rest,
        all => all,
    };
    let word = |at: usize| match tokens.get(at) {
        Some(Token::Word(word)) => word.as_str(),
        _ => "",
    };
    let is_sign = |at: usize, sign: char| tokens.get(at) == Some(&Token::Sign(sign));
    let first = tokens.iter().position(|token| *token != Token::Sign('(')).unwrap_or(0);
    match word(first) {
        "SELECT" | "WITH" | "VALUES" | "EXPLAIN" | "SHOW" | "DESCRIBE" | "DESC" => {}
        "PRAGMA" => return pragma(tokens),
        "" => return doubt(Action::Unknown, "no statement"),
        other => return doubt(action_of(other), other),
    }
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign(';') => return doubt(Action::Execute, "; more than one statement"),
            Token::Sign(':') if is_sign(at + 1, '=') => return doubt(Action::Update, ":="),
            Token::Word(name) => {
                let called = is_sign(at + 1, '(');
                let column = at > 0 && (is_sign(at - 1, '.') || word(at - 1) == "AS") || is_sign(at + 1, '.');
                if CHANGING.contains(name.as_str())
                    && !excused(name, called, at.checked_sub(1).map_or("", word), word(at + 1))
                    && !(column && !called && name != "INTO")
                {
                    let more: Vec<&str> = (at..at + 3).map(word).filter(|word| !word.is_empty()).collect();
                    return doubt(action_of(name), more.join(" "));
                }
                let qualified = called && at > 0 && is_sign(at - 1, '.');
                if called && (qualified || !CALLABLE.contains(name.as_str())) && !names_columns(tokens, at) {
                    return doubt(Action::Unknown, format!("{}()", name.to_lowercase()));
                }
            }
            Token::Inert | Token::Sign(_) => {}
        }
    }
    Ok(())
}

/// `PRAGMA table_info(t)`: those that only read, and never with `=`.
fn pragma(tokens: &[Token]) -> Result<(), Doubt> {
    const READING: &[&str] = &[
        "TABLE_INFO",
        "TABLE_XINFO",
        "TABLE_LIST",
        "INDEX_LIST",
        "INDEX_INFO",
        "INDEX_XINFO",
        "FOREIGN_KEY_LIST",
        "DATABASE_LIST",
        "COLLATION_LIST",
        "FUNCTION_LIST",
        "COMPILE_OPTIONS",
        "QUICK_CHECK",
        "INTEGRITY_CHECK",
        "FOREIGN_KEY_CHECK",
    ];
    let name = tokens.iter().rev().find_map(|token| match token {
        Token::Word(word) if READING.contains(&word.as_str()) => Some(word),
        _ => None,
    });
    let plain = tokens.iter().all(|token| !matches!(token, Token::Sign('=' | ';')));
    match name {
        Some(_) if plain => Ok(()),
        _ => doubt(Action::Update, "PRAGMA"),
    }
}

/// Words that change in one place and are harmless in another.
fn excused(name: &str, called: bool, before: &str, after: &str) -> bool {
    match name {
        "REPLACE" | "IF" => called,
        "CREATE" => before == "SHOW",
        "FETCH" => matches!(after, "FIRST" | "NEXT"),
        "SET" => before == "CHARACTER",
        _ => false,
    }
}

/// Whether the words before a `(` name columns: `WITH x(a, b) AS (…)`, `AS x(a, b)`.
fn names_columns(tokens: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    if before == Some(&Token::Word("AS".to_owned())) {
        return true;
    }
    if !matches!(before, Some(Token::Word(word)) if word == "WITH" || word == "RECURSIVE")
        && before != Some(&Token::Sign(','))
    {
        return false;
    }
    let close = tokens[at..].iter().take(400).position(|token| *token == Token::Sign(')')).map(|found| at + found);
    // Only names between the brackets, then AS and another bracket.
    close.is_some_and(|close| {
        tokens[at + 2..close].iter().all(|token| matches!(token, Token::Word(_) | Token::Inert | Token::Sign(',')))
            && tokens.get(close + 1) == Some(&Token::Word("AS".to_owned()))
            && tokens.get(close + 2) == Some(&Token::Sign('('))
    })
}

/// What a statement that begins so does.
fn action_of(word: &str) -> Action {
    match word {
        "DELETE" | "DROP" | "TRUNCATE" => Action::Delete,
        "INSERT" | "CREATE" | "INTO" => Action::Create,
        "UPDATE" | "ALTER" | "SET" | "GRANT" | "REVOKE" | "DENY" => Action::Update,
        "MERGE" => Action::Merge,
        "REPLACE" => Action::Overwrite,
        "EXEC" | "EXECUTE" | "CALL" | "DO" | "LOAD" | "COPY" | "ATTACH" | "DETACH" | "VACUUM" | "SHUTDOWN" | "KILL"
        | "BACKUP" | "RESTORE" => Action::Execute,
        _ => Action::Unknown,
    }
}

/// Whether a text that may be words to search for is plainly a changing statement.
fn plainly_changes(text: &str) -> bool {
    let mut words = text.split(|c: char| c.is_whitespace() || c == '(' || c == ';').filter(|word| !word.is_empty());
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

static CHANGING: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "INSERT UPDATE DELETE MERGE REPLACE INTO CREATE DROP ALTER TRUNCATE GRANT REVOKE DENY CALL EXEC EXECUTE COPY ATTACH DETACH VACUUM REINDEX SET \
     LOCK UNLOCK BEGIN COMMIT ROLLBACK SAVEPOINT BACKUP RESTORE BULK DBCC DEALLOCATE DECLARE FETCH GOTO IF KILL RAISERROR RECONFIGURE REVERT SETUSER \
     SHUTDOWN UPDATETEXT WRITETEXT USE WAITFOR WHILE THROW OUTFILE DUMPFILE RETURNING XLOCK UPDLOCK TABLOCKX HOLDLOCK NEXTVAL PROCEDURE DISABLE ENABLE RECEIVE"
        .split_whitespace()
        .collect()
});

/// What may stand before a bracket: keywords, and functions that only compute, the same in every dialect that has them.
static CALLABLE: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "SELECT FROM WHERE AND OR NOT IN EXISTS ANY ALL SOME AS ON USING JOIN OVER VALUES UNION INTERSECT EXCEPT CASE WHEN THEN ELSE BETWEEN LIKE ILIKE HAVING BY \
     DISTINCT LIMIT OFFSET FILTER WITHIN PARTITION ORDER GROUP MATERIALIZED LATERAL ROLLUP CUBE SETS ARRAY ROW INTERVAL EXPLAIN TOP IS \
     COUNT SUM AVG MIN MAX TOTAL GROUP_CONCAT STRING_AGG ARRAY_AGG JSON_AGG JSONB_AGG JSON_OBJECT_AGG JSONB_OBJECT_AGG STDDEV STDDEV_POP STDDEV_SAMP VARIANCE VAR_POP VAR_SAMP STDEV VAR \
     MEDIAN MODE PERCENTILE_CONT PERCENTILE_DISC CORR BOOL_AND BOOL_OR EVERY APPROX_COUNT_DISTINCT \
     ROW_NUMBER RANK DENSE_RANK PERCENT_RANK CUME_DIST NTILE LAG LEAD FIRST_VALUE LAST_VALUE NTH_VALUE \
     ABS ROUND CEIL CEILING FLOOR TRUNC MOD POWER POW SQRT EXP LN LOG LOG10 LOG2 SIGN SIN COS TAN ASIN ACOS ATAN ATAN2 PI DEGREES RADIANS GREATEST LEAST \
     LENGTH LEN CHAR_LENGTH CHARACTER_LENGTH OCTET_LENGTH DATALENGTH UPPER LOWER INITCAP TRIM LTRIM RTRIM BTRIM LPAD RPAD LEFT RIGHT SUBSTR SUBSTRING REPLACE REVERSE REPEAT \
     CONCAT CONCAT_WS INSTR POSITION STRPOS LOCATE CHARINDEX PATINDEX SPLIT_PART ASCII CHAR CHR UNICODE HEX UNHEX QUOTE FORMAT PRINTF TRANSLATE REGEXP_REPLACE REGEXP_MATCHES REGEXP_LIKE \
     REGEXP_SUBSTR REGEXP_COUNT STUFF SPACE SOUNDEX MD5 SHA1 SHA2 SHA256 \
     COALESCE NULLIF IFNULL ISNULL NVL IIF IF DECODE CAST CONVERT TRY_CAST TRY_CONVERT TYPEOF TO_CHAR TO_DATE TO_NUMBER TO_TIMESTAMP \
     DATE TIME DATETIME TIMESTAMP JULIANDAY STRFTIME UNIXEPOCH NOW CURDATE CURTIME CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP GETDATE GETUTCDATE SYSDATETIME \
     YEAR MONTH DAY HOUR MINUTE SECOND QUARTER WEEK WEEKDAY DAYOFWEEK DAYOFMONTH DAYOFYEAR DAYNAME MONTHNAME EXTRACT DATE_PART DATE_TRUNC DATETRUNC DATEPART DATENAME DATEADD DATEDIFF \
     DATE_ADD DATE_SUB DATE_FORMAT DATE_DIFF TIMESTAMPDIFF TIMESTAMPADD STR_TO_DATE FROM_UNIXTIME UNIX_TIMESTAMP AGE MAKE_DATE EOMONTH LAST_DAY \
     JSON JSON_EXTRACT JSON_VALUE JSON_QUERY JSON_ARRAY JSON_OBJECT JSON_ARRAY_LENGTH JSON_LENGTH JSON_TYPE JSON_VALID JSON_EACH JSON_TREE JSON_KEYS JSON_CONTAINS JSON_UNQUOTE \
     JSONB_ARRAY_ELEMENTS JSON_ARRAY_ELEMENTS JSONB_ARRAY_LENGTH JSONB_EACH JSONB_EXTRACT_PATH_TEXT ROW_TO_JSON TO_JSON TO_JSONB UNNEST ARRAY_LENGTH CARDINALITY ARRAY_TO_STRING STRING_TO_ARRAY \
     GENERATE_SERIES RANDOM RAND NEWID VERSION DATABASE CURRENT_DATABASE CURRENT_SCHEMA CURRENT_USER SESSION_USER USER FOUND_ROWS LAST_INSERT_ROWID CHANGES TOTAL_CHANGES \
     PG_SIZE_PRETTY PG_TOTAL_RELATION_SIZE PG_RELATION_SIZE PG_TABLE_SIZE PG_DATABASE_SIZE OBJ_DESCRIPTION COL_DESCRIPTION PG_GET_VIEWDEF PG_GET_INDEXDEF PG_GET_CONSTRAINTDEF \
     VARCHAR NVARCHAR DECIMAL NUMERIC FLOAT TEXT BIT BINARY VARBINARY \
     PRAGMA_TABLE_INFO PRAGMA_INDEX_LIST PRAGMA_FOREIGN_KEY_LIST"
        .split_whitespace()
        .collect()
});
