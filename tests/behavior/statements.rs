//! SQL in arguments: what changes something is never called a read.

use mcp_approve::behavior::arguments::sql::{Dialect, read};
use mcp_approve::behavior::taxonomy::Action;
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Judgement {
    Read,
    NotRead,
}

fn judge(text: &str, dialect: Option<Dialect>) -> Judgement {
    let meaning = read(text, dialect).meaning;
    assert_eq!(meaning.effect.reads(), meaning.action == Action::Read, "{text}");
    if meaning.effect.reads() { Judgement::Read } else { Judgement::NotRead }
}

#[test]
fn a_changing_statement_is_never_called_a_read() {
    let (mut reads, mut kept) = (0, 0);
    for line in include_str!("../fixtures/sql_cases.jsonl").lines() {
        let case: Value = serde_json::from_str(line).expect("a case");
        let sql = case["sql"].as_str().expect("sql");
        let dialect = match case["dialect"].as_str() {
            Some("postgresql") => Dialect::PostgreSql,
            Some("sqlite") => Dialect::Sqlite,
            Some("mysql") => Dialect::MySql,
            other => {
                assert_eq!(other, Some("mssql"));
                Dialect::MsSql
            }
        };
        let read = judge(sql, Some(dialect)) == Judgement::Read;
        assert!(!read || case["changes"] == json!(false) || judge(sql, None) != Judgement::Read, "{sql}");
        if case["changes"] == json!(true) {
            assert!(!read, "{sql}");
        } else {
            reads += 1;
            kept += i32::from(read);
        }
    }
    assert_eq!(kept, reads, "reads that are called reads");
    for sql in CHANGING_SQL {
        assert_ne!(judge(sql, None), Judgement::Read, "{sql}");
    }
    for sql in READING_SQL {
        assert_eq!(judge(sql, None), Judgement::Read, "{sql}");
    }
}

/// The cases of one dialect: `=` reads, `-` reads and is asked about, `!` does not read, `?` does not there and
/// reads elsewhere; escapes as in JSON.
fn cases(text: &str) -> impl Iterator<Item = (char, String)> {
    text.lines().map(|line| {
        let (mark, sql) = line.split_once(' ').unwrap_or((line, ""));
        let quoted = format!("\"{}\"", sql.replace('"', "\\\""));
        let sql = serde_json::from_str(&quoted).unwrap_or_else(|why| panic!("{line}: {why}"));
        (mark.parse().expect(line), sql)
    })
}

const DIALECTS: [(Dialect, &str); 4] = [
    (Dialect::PostgreSql, include_str!("sql/postgresql.txt")),
    (Dialect::MySql, include_str!("sql/mysql.txt")),
    (Dialect::Sqlite, include_str!("sql/sqlite.txt")),
    (Dialect::MsSql, include_str!("sql/mssql.txt")),
];

#[test]
fn four_dialects_in_tables() {
    let (mut all, mut reads, mut kept, mut lost, mut wrong) = (0, 0, 0, Vec::new(), Vec::new());
    for (dialect, text) in DIALECTS {
        for (mark, sql) in cases(text) {
            all += 1;
            let told = judge(&sql, Some(dialect));
            if mark == '=' || mark == '-' {
                reads += 1;
                kept += usize::from(told == Judgement::Read);
                if mark == '=' && told != Judgement::Read {
                    lost.push(format!("{dialect:?} {sql}: {told:?}"));
                }
            } else {
                // What changes something in one dialect is not called a read where nobody knows which it is.
                for (told, place) in [(told, Some(dialect)), (judge(&sql, None), None)] {
                    if told == Judgement::Read && !(mark == '?' && place.is_none()) {
                        wrong.push(format!("{place:?} {dialect:?} {sql}"));
                    }
                }
            }
        }
    }
    println!("{all} statements, {kept} of {reads} reads kept");
    assert!(wrong.is_empty(), "called reads:\n{}", wrong.join("\n"));
    assert!(all >= 300, "{all} cases");
    assert!(kept * 100 >= reads * 95, "{kept} of {reads}:\n{}", lost.join("\n"));
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

const CHANGING_SQL: &[&str] = &[
    "",
    "   ",
    "SELECT 1; DELETE FROM t",
    "SELECT 1 DELETE FROM t",
    "/*! DELETE FROM t */",
    "SELECT 1 /*!; DELETE FROM t */",
    "SELECT 1 --1\n; DELETE FROM t",
    "SELECT '\\' ; DELETE FROM t -- '",
    "SELECT 1 #'\n; DELETE FROM t --'",
    "SELECT $$a$$; DELETE FROM t",
    "SELECT [a'] ; DELETE FROM t -- ']",
    "SELECT `a;b`",
    "SELECT nextval('s')",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT set_config('a', 'b', false)",
    "SELECT \"nextval\"('s')",
    "SELECT public.count(1)",
    "SELECT lo_import('/etc/passwd')",
    "SELECT load_extension('x')",
    "SELECT * INTO OUTFILE '/tmp/x' FROM t",
    "SELECT 1 INTO @x",
    "SELECT @x := 1",
    "SELECT * FROM t FOR UPDATE",
    "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x",
    "WITH x(a) AS (UPDATE t SET a = 1 RETURNING a) SELECT a FROM x",
    "EXPLAIN ANALYZE DELETE FROM t",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA writable_schema(1)",
    "REPLACE INTO t VALUES (1)",
    "VACUUM",
    "CALL p()",
    "SELECT 1 SHUTDOWN",
    "SELECT 1 WAITFOR DELAY '1:00'",
    "ＤＥＬＥＴＥ FROM t",
    "SELECT\u{a0}1",
    "DELETE\0FROM t",
    "SELECT 1 /* a /* b */ ; DELETE FROM t */",
    "SELECT 'it''s",
    "COPY t TO PROGRAM 'sh'",
    "DO $$ BEGIN END $$",
    "select 1; ; drop table t",
];

const READING_SQL: &[&str] = &[
    "SELECT * FROM users WHERE name = 'O''Hara' -- a comment\n",
    "select count(*), max(\"Created At\") from orders group by 1 having count(*) > 3 order by 2 desc limit 10;",
    "WITH recent(id, at) AS (SELECT id, at FROM t WHERE at > date('now')) SELECT * FROM recent",
    "(SELECT 1) UNION ALL (SELECT 2)",
    "SELECT replace(name, 'a', 'b') AS \"update\", t.set FROM t",
    "SELECT row_number() OVER (PARTITION BY a ORDER BY b) FROM t OFFSET 5 ROWS FETCH NEXT 5 ROWS ONLY",
    "EXPLAIN QUERY PLAN SELECT 1",
    "SHOW CREATE TABLE t",
    "DESCRIBE t",
    "PRAGMA table_info(users)",
    "SELECT [Order Date] FROM Orders",
    "SELECT a FROM t WHERE b = $1 AND c = ? AND d = :name AND e IN (1, 2.5, 1e3)",
    "VALUES (1, 'a')",
];

/// Long statements of an untold dialect are parsed once, and lists of values are taken out before: neither lets
/// anything through.
#[test]
fn length_hides_no_change() {
    let columns = vec!["a"; 700].join(", ");
    let list: Vec<String> = (0..700).map(|n| n.to_string()).collect();
    let list = format!("a IN ({}) AND b IN ('x', 'y y', '2026-01-01')", list.join(", "));
    let select = |sql: &str, more: &str| {
        let rest = sql.get(..7).filter(|head| head.eq_ignore_ascii_case("select ")).map(|_| &sql[7..])?;
        (!rest.trim_start().to_ascii_lowercase().starts_with("distinct")).then(|| format!("SELECT {more}, {rest}"))
    };
    let with = |sql: &str, more: &str| {
        let rest = sql.get(..5).filter(|head| head.eq_ignore_ascii_case("with ")).map(|_| &sql[5..])?;
        Some(format!("WITH long AS (SELECT {more} FROM t), {rest}"))
    };
    let (mut tried, mut kept, mut reads) = (0, 0, 0);
    for (dialect, text) in DIALECTS {
        for (mark, sql) in cases(text) {
            for more in [&columns, &list] {
                let Some(long) = select(&sql, more).or_else(|| with(&sql, more)) else { continue };
                tried += 1;
                let (told, untold) = (judge(&long, Some(dialect)), judge(&long, None));
                if mark == '=' || mark == '-' {
                    reads += 1;
                    kept += i32::from(told == Judgement::Read);
                    // What is read at length is read at any length.
                    // ROLLUP is a function to one grammar that is then not asked.
                    let short = judge(&sql, None) == Judgement::Read || sql.contains("ROLLUP");
                    assert!(untold != Judgement::Read || short, "{sql}");
                } else {
                    assert!(told != Judgement::Read, "{dialect:?} {sql}");
                    assert!(untold != Judgement::Read || mark == '?', "any, {sql}");
                }
            }
        }
    }
    println!("{tried} long statements, {kept} of {reads} reads kept");
    assert!(tried > 200 && kept * 100 >= reads * 80, "{tried} tried, {kept} of {reads}");
}

#[test]
fn only_plain_values_are_taken_out_of_a_list() {
    for sql in [
        "SELECT 1 FROM t WHERE a IN (1, 2, nextval('s'))",
        "SELECT 1 FROM t WHERE a IN (1, 2, 3) FOR UPDATE",
        "SELECT 1 FROM t WHERE a IN ('a', 'b', lo_import('/x'), 'c', 'd')",
        "SELECT 1 FROM t WHERE a IN (1, 2) AND b IN (1, 2, (SELECT pg_sleep(1)))",
        "SELECT 1 FROM t WHERE a IN (1, 2, '\\', 3) OR f(1) IN ('')",
        "SELECT 1 FROM t WHERE a IN (1 /*! ) INTO OUTFILE '/x' */, 2)",
        "SELECT 1 FROM t WHERE a IN (1, 2",
        "SELECT 1 FROM t WHERE a IN (1, 2))",
    ] {
        for dialect in
            [None, Some(Dialect::PostgreSql), Some(Dialect::MySql), Some(Dialect::Sqlite), Some(Dialect::MsSql)]
        {
            assert_ne!(judge(sql, dialect), Judgement::Read, "{dialect:?} {sql}");
        }
    }
    assert_eq!(judge("SELECT 1 FROM t WHERE a IN (1, 2, 3) AND b IN ('x', 'y')", None), Judgement::Read);
}
