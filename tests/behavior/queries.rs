//! Queries in SQL: a function that is on no list is asked about wherever an expression may be, and what a query says beside its
//! columns, tables and conditions is known or asked about. The tool reads by its owner's word, so that the text alone decides.

use mcp_approve::behavior::conclude::{Overrides, Trust, of_call, of_tool_with};
use mcp_approve::behavior::identity::Identity;
use mcp_approve::behavior::taxonomy::{Action, Mutability, OutputDomain};
use mcp_approve::mcp::tool::Tool;
use serde_json::json;

use super::named;

fn runs(tool: &Tool, sql: &str) -> bool {
    let pinned =
        Some(Identity { mutability: Mutability::Pure, action: Action::Read, output_domain: OutputDomain::Data });
    let described = of_tool_with(tool, Trust::Corroborate, Overrides { pinned, ..Overrides::default() });
    of_call(Some(tool), &described, &json!({ "sql": sql })).runs_unasked()
}

/// Those of the queries that run where they must be asked about, or the reverse.
fn wrong<'q>(queries: impl Iterator<Item = String> + 'q, wanted: bool) -> Vec<String> {
    let tool = named("query_db", "Runs a SQL query.");
    queries.filter(|query| runs(&tool, query) != wanted).collect()
}

#[test]
fn an_unknown_function_is_asked_about_wherever_it_is() {
    let with = |value: &'static str| PLACES.iter().map(move |place| place.replace("{}", value));
    assert_eq!(wrong(with("1"), true), [""; 0], "asked without it");
    assert_eq!(wrong(with("lo_import('x')"), false), [""; 0], "ran with it");
    // So many tokens that one grammar alone reads them: `CONVERT` has its type first in one of them.
    let columns = "a, ".repeat(400);
    let long = |last: &str| format!("SELECT {columns}{last} FROM t");
    let names = ["b", "`b`", "[b]", "\"b\""].map(long);
    assert_eq!(wrong(names.into_iter(), true), [""; 0], "asked");
    assert_eq!(wrong(["lo_import('x')", "CONVERT(a, b)"].map(long).into_iter(), false), [""; 0], "ran");
    // So many values that all but one are left out before they are read.
    let values = "1,".repeat(400);
    let listed = |last: &str, more: &str| format!("SELECT a FROM t WHERE b IN ({values}{last}) {more}");
    assert_eq!(wrong([listed("1", ""), listed("1", "OR c = 1")].into_iter(), true), [""; 0], "asked");
    let hidden = [listed("lo_import('x')", ""), listed("1", "OR lo_import('x')"), listed("1", "; DROP TABLE u")];
    assert_eq!(wrong(hidden.into_iter(), false), [""; 0], "ran");
}

#[test]
fn what_a_query_says_beside_is_known_or_asked_about() {
    assert_eq!(wrong(ASKED.iter().map(ToString::to_string), false), [""; 0], "ran");
    assert_eq!(wrong(READ.iter().map(ToString::to_string), true), [""; 0], "asked");
}

/// Where an expression may be.
const PLACES: &[&str] = &[
    "SELECT 1 WHERE a = {}",
    "SELECT a FROM t GROUP BY {}",
    "SELECT a FROM t GROUP BY a HAVING {} = 1",
    "SELECT a FROM t ORDER BY {}",
    "SELECT a FROM t LIMIT {}",
    "SELECT a FROM t LIMIT 1 OFFSET {}",
    "SELECT a FROM t LIMIT {}, 2",
    "SELECT a FROM t LIMIT 2, {}",
    "SELECT 1 UNION SELECT {}",
    "SELECT {} UNION SELECT 1",
    "SELECT {} UNION SELECT 1 UNION SELECT 2",
    "SELECT 1 UNION SELECT 2 UNION SELECT {}",
    "WITH c AS (SELECT {}) SELECT 1 FROM c",
    "SELECT DISTINCT ON ({}) a FROM t",
    "SELECT TOP ({}) a FROM t",
    "SELECT a FROM t JOIN u ON {} = 1",
    "SELECT a FROM t JOIN (SELECT {}) u ON true",
    "SELECT a FROM (SELECT {}) u",
    "SELECT a FROM (t JOIN u ON {} = 1)",
    "SELECT a FROM UNNEST(ARRAY[{}])",
    "SELECT a FROM generate_series(1, {})",
    "SELECT a FROM JSON_TABLE({}, '$[*]' COLUMNS (a INT PATH '$')) AS j",
    "SELECT a FROM OPENJSON({}) WITH (a INT '$.a')",
    "SELECT sum(a) OVER (PARTITION BY {}) FROM t",
    "SELECT sum(a) OVER (ORDER BY {}) FROM t",
    "SELECT sum(a) OVER w FROM t WINDOW w AS (PARTITION BY {})",
    "SELECT sum(a) FILTER (WHERE {} = 1) FROM t",
    "SELECT array_agg(a ORDER BY {}) FROM t",
    "SELECT CASE WHEN {} THEN 1 END",
    "SELECT CASE a WHEN 1 THEN {} END",
    "SELECT CASE a WHEN 1 THEN 2 ELSE {} END",
    "SELECT a[{}] FROM t",
    "SELECT a BETWEEN 1 AND {}",
    "SELECT a LIKE {}",
    "SELECT a IN (1, {})",
    "SELECT a IN (1, 2, 3, {})",
    "SELECT a IN ({}, 1, 2)",
    "SELECT a IN (1, 2) AND b IN (3, {})",
    "SELECT 1 WHERE a IN (1,2,3) AND {}",
    "SELECT EXISTS (SELECT {})",
    "SELECT (SELECT {})",
    "SELECT CAST({} AS text)",
    "SELECT ARRAY[1, {}]",
    "SELECT ROW(1, {})",
    "SELECT -{}",
    "SELECT a IS NULL OR {}",
    "SELECT extract(year FROM {})",
    "SELECT substring({} FROM 1 FOR 2)",
    "SELECT trim(BOTH 'x' FROM {})",
    "SELECT position('a' IN {})",
    "SELECT a AT TIME ZONE {}",
    "SELECT INTERVAL {}",
    "VALUES (1, {})",
    "SELECT a FROM t GROUP BY GROUPING SETS ((a), ({}))",
    "SELECT {}.* FROM t",
    "SELECT a FROM t TABLESAMPLE BERNOULLI ({})",
    "SELECT a FROM (SELECT 1) u TABLESAMPLE BERNOULLI ({})",
    "EXPLAIN SELECT {}",
    "SELECT a FROM t1 INNER JOIN t2 ON t1.a = t2.a AND {}",
];

const ASKED: &[&str] = &[
    "SELECT a FROM t LIMIT 1 BY 1",
    "SELECT a FROM t FETCH FIRST (1) ROWS ONLY",
    "SELECT a FROM t, 1",
    "SELECT a FROM t JOIN 1 ON true",
    "SELECT a FROM LATERAL 1",
    "SELECT a FROM ROWS FROM (1)",
    "SELECT sum(a) OVER w FROM t WINDOW w AS (PARTITION BY b), v AS w",
    "SELECT a FROM t GROUP BY ROLLUP (1)",
    "SELECT a FROM t GROUP BY a WITH TOTALS",
    "SELECT a FROM t ORDER BY a WITH FILL",
    "SELECT a FROM t ORDER BY a WITH FILL FROM 1 TO 9 INTERPOLATE (b AS 1)",
    "SELECT a FROM t FOR UPDATE",
    "SELECT a FROM t FOR SHARE",
    "SELECT a FROM t SETTINGS x = 1",
    "SELECT a FROM t FORMAT JSON",
    "FROM t |> WHERE a",
    "SELECT a FROM t |> LIMIT 1",
    "SELECT * EXCLUDE (a) FROM t",
    "SELECT * EXCEPT (a) FROM t",
    "SELECT * REPLACE (1 AS a) FROM t",
    "SELECT * RENAME (a AS b) FROM t",
    "SELECT * ILIKE 'x' FROM t",
    "SELECT t.* EXCEPT (a) FROM t",
    "SELECT a INTO u FROM t",
    "SELECT /*+ SET_VAR(x=1) */ a FROM t",
    "SELECT a FROM t LATERAL VIEW explode(b) c",
    "SELECT a FROM t PREWHERE b = 1",
    "SELECT a FROM t START WITH a = 1 CONNECT BY PRIOR a = b",
    "SELECT a FROM t CLUSTER BY a",
    "SELECT a FROM t DISTRIBUTE BY a",
    "SELECT a FROM t SORT BY a",
    "SELECT a FROM t QUALIFY row_number() OVER (ORDER BY a) = 1",
    "SELECT AS VALUE a FROM t",
    "SELECT AS STRUCT a FROM t",
    "SELECT a FROM t FOR SYSTEM_TIME AS OF '2020-01-01'",
    "SELECT a FROM t FOR SYSTEM_TIME AS OF 1",
    "SELECT a FROM t TABLESAMPLE (BUCKET 1 OUT OF 2)",
    "SELECT a FROM t SAMPLE 1 OFFSET 2",
    "SELECT a FROM t WITH (TABLOCKX)",
    "SELECT a FROM t WITH (NOLOCK, XLOCK)",
    "SELECT a FROM t GLOBAL JOIN u ON 1",
    "SELECT a FROM t CROSS APPLY 1",
    "SELECT a FROM t ASOF JOIN u ON 1",
    "SELECT a FROM f(1 SETTINGS x = 1)",
    "SELECT a FROM t PIVOT (sum(a) FOR b IN ('x'))",
    "SELECT a FROM XMLTABLE('/' PASSING 1 COLUMNS a INT)",
    "EXPLAIN ANALYZE SELECT 1",
    "EXPLAIN (ANALYZE) SELECT 1",
    "EXPLAIN (ANALYZE false, VERBOSE) SELECT 1",
    "EXPLAIN (WAL) SELECT 1",
    "EXPLAIN QUERY PLAN DELETE FROM t",
    "SELECT a.b.NEXTVAL FROM t",
    "SELECT s.nextval",
    "SELECT \"delete\"(1)",
    "SELECT \"x\" (1)",
    "SELECT 1 AS \"x\"(1)",
    "SELECT a <<>> b",
    "SELECT a #- b",
    "SELECT CHARACTER SET utf8",
    "SELECT $a$b$a$",
    "SELECT $a$b",
    "SELECT $$x$$",
    "SELECT N'x', E'x\\'y', X'0F', B'01', U&'x'",
    "SELECT 0x1F, 1e+5, 1.5e-3, 1_000, 0b01, 1e, 0x",
    "SELECT 1 # x\n, 2",
    "SELECT 1 /* x /* y */ z */",
    "SELECT 1 /* x",
    "SELECT 'x",
    "SELECT [x",
    "SELECT {d '2020-01-01'}",
    "SELECT a->'b', a->>'c', a#>'{d}'",
    "INSERT INTO t VALUES (1)",
    "REPLACE INTO t VALUES (1)",
    "DELETE FROM t; DROP TABLE u",
    "SELECT 1; DROP TABLE u",
    "SELECT 1 DROP TABLE t",
    "SELECT 1 EXEC p",
    "CREATE TRIGGER x AFTER DELETE ON t BEGIN SELECT 1; END",
    "FETCH NEXT FROM c",
    "UPDATE t SET a = 1",
    "UPDATE t SET a = 1 WHERE b = 2",
    "DELETE FROM t WHERE a = 1 OR 1 = 1",
    "GRANT ALL ON t TO u",
    "CALL p()",
    "PRAGMA journal_mode = WAL",
    "USE db",
    "SET x = 1",
    "BEGIN",
    "COMMIT",
    "MERGE INTO t USING u ON a = b WHEN MATCHED THEN DELETE",
];

const READ: &[&str] = &[
    "SELECT TOP 5 a FROM t",
    "SELECT a FROM (t JOIN u USING (a))",
    "SELECT a FROM UNNEST(ARRAY[1,2])",
    "SELECT a FROM LATERAL generate_series(1, 2)",
    "SELECT a FROM JSON_TABLE('[1]', '$[*]' COLUMNS (a INT PATH '$')) AS j",
    "SELECT a FROM OPENJSON('[]') WITH (a INT '$.a')",
    "VALUES (1), (2)",
    "TABLE t",
    "SELECT a FROM t GROUP BY a WITH ROLLUP",
    "SELECT a FROM t GROUP BY GROUPING SETS ((a), ())",
    "SELECT a FROM t GROUP BY ALL",
    "SELECT a FROM t ORDER BY ALL",
    "SELECT t.* FROM t",
    "SELECT a FROM t TABLESAMPLE BERNOULLI (10)",
    "SELECT a FROM t WITH (NOLOCK)",
    "SELECT a FROM t NATURAL JOIN u",
    "SELECT a FROM MATCH_RECOGNIZE",
    "EXPLAIN (COSTS off) SELECT 1",
    "EXPLAIN VERBOSE SELECT 1",
    "EXPLAIN t",
    "DESCRIBE t",
    "SHOW FUNCTIONS",
    "SHOW server_version",
    "SHOW STATUS",
    "SHOW VARIABLES",
    "SHOW VARIABLES LIKE 'x'",
    "SHOW STATUS LIKE 'x'",
    "SHOW CREATE TABLE t",
    "SHOW TABLES",
    "SELECT t.set, t.update FROM t",
    "WITH \"x\"(a, b) AS (SELECT 1, 2) SELECT a FROM \"x\"",
    "SELECT a @ b",
    "SELECT a @@ b",
    "SELECT a <@ b",
    "SELECT a @> b",
    "SELECT a = -1",
    "SELECT a=-1",
    "SELECT @a",
    "SELECT @@version",
    "SELECT CONVERT(a USING utf8)",
    "SELECT CONVERT(a, CHAR CHARACTER SET utf8)",
    "SHOW CREATE PROCEDURE p",
    "SHOW CREATE TRIGGER p",
    "SELECT $1",
    "SELECT a$b FROM t",
    "SELECT 'it''s' , \"a\"\"b\", `c``d`, [e]]f]",
    "SELECT 1 -- x\n, 2",
    "SELECT a::int, b::text",
    "SELECT é, ñandú FROM größe",
    "SELECT a GLOB 'x*'",
    "SELECT a REGEXP 'x'",
    "SELECT replace(a, 'b', 'c')",
    "SELECT if(a, 1, 2)",
    "SELECT truncate(1.5, 1)",
    "SELECT 1 FETCH NEXT 1 ROWS ONLY",
    "PRAGMA table_info('t')",
    "PRAGMA x.table_list",
];
