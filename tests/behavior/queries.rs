//! Queries in SQL: a function that is on no list is asked about wherever an expression may be, and what a query says beside its
//! columns, tables and conditions is known or asked about. No dialect is named.

use mcp_approve::behavior::arguments::effect::{Effect, Language};
use mcp_approve::behavior::arguments::grammar::change;
use mcp_approve::behavior::arguments::sql::read;

/// Those of the queries that are called reads where they must not be, or the reverse.
fn wrong<'q>(queries: impl Iterator<Item = String> + 'q, wanted: bool) -> Vec<String> {
    queries.filter(|query| read(query, None).meaning.effect.reads() != wanted).collect()
}

#[test]
fn an_unknown_function_is_asked_about_wherever_it_is() {
    let with = |value: &'static str| PLACES.iter().map(move |place| place.replace("{}", value));
    assert_eq!(wrong(with("1"), true), [""; 0], "asked without it");
    assert_eq!(wrong(with("lo_import('x')"), false), [""; 0], "ran with it");
    let columns = "a, ".repeat(400);
    let long = |last: &str| format!("SELECT {columns}{last} FROM t");
    let names = ["b", "`b`", "[b]", "\"b\""].map(long);
    assert_eq!(wrong(names.into_iter(), true), [""; 0], "asked");
    assert_eq!(wrong(["lo_import('x')", "my_function(a)"].map(long).into_iter(), false), [""; 0], "ran");
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
    "SELECT trim(BOTH {} FROM a)",
    "SELECT trim(a, {})",
    "SELECT substring(a FROM {} FOR 2)",
    "SELECT substring(a FROM 1 FOR {})",
    "SELECT overlay(a PLACING {} FROM 1 FOR 2)",
    "SELECT overlay(a PLACING 'x' FROM {})",
    "SELECT overlay(a PLACING 'x' FROM 1 FOR {})",
    "SELECT (1, {})",
    "SELECT a IN (SELECT {})",
    "SELECT a = ANY (SELECT {})",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY {}) FROM t",
    "SELECT CONVERT(int, a, {})",
    "SELECT a->{}",
    "SELECT CASE {} WHEN 1 THEN 2 END",
    "SELECT a IS DISTINCT FROM {}",
    "SELECT json_object('a': {})",
    "SELECT a FROM t ORDER BY a NULLS LAST, {}",
    "SELECT a FROM t OFFSET {} ROWS FETCH NEXT 5 ROWS ONLY",
    "SELECT a COLLATE \"C\" LIKE 'x' ESCAPE '!' AND {}",
    "SELECT (SELECT a FROM t WHERE b IN (SELECT {}))",
    "SELECT a FROM t GROUP BY a, {}",
    "SELECT b.c[{}].d FROM t",
    "SELECT CAST(a AS varchar(9)), {}",
    "SELECT ceil({})",
    "SELECT lower(upper({}))",
    "SELECT a, ({}) FROM t",
    "SELECT coalesce(a, {})",
    "SELECT a BETWEEN {} AND 2",
    "SELECT NOT {}",
    "SELECT string_agg(a, {}) FROM t",
    "SELECT group_concat(a SEPARATOR ',') , {} FROM t",
    "SELECT count(DISTINCT {}) FROM t",
    "SELECT a FROM t LEFT JOIN u ON (a = b AND {} = 1)",
    "SELECT sum(a) OVER (ORDER BY b ROWS BETWEEN {} PRECEDING AND CURRENT ROW) FROM t",
    "SELECT date_part('year', {})",
    "SELECT a FROM t WHERE (a, b) IN ((1, {}))",
];

const ASKED: &[&str] = &[
    "SELECT a FROM t LIMIT 1 BY 1",
    "SELECT a FROM t FETCH FIRST (1) ROWS ONLY",
    "SELECT a FROM t, 1",
    "SELECT a FROM t JOIN 1 ON true",
    "SELECT a FROM LATERAL 1",
    "SELECT a FROM ROWS FROM (1)",
    "SELECT sum(a) OVER w FROM t WINDOW w AS (PARTITION BY b), v AS w",
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
    "SELECT a FROM t CLUSTER BY a",
    "SELECT AS VALUE a FROM t",
    "SELECT AS STRUCT a FROM t",
    "SELECT a FROM t TABLESAMPLE (BUCKET 1 OUT OF 2)",
    "SELECT a FROM t WITH (TABLOCKX)",
    "SELECT a FROM t WITH (NOLOCK, XLOCK)",
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
    "SELECT [e]]f]",
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
    "SELECT abs(x => lo_import('x'))",
    "SELECT {fn lo_import('x')}",
    "SELECT a OPERATOR(s.+) b",
    "SELECT quantile(0.5)(a) FROM t",
    "SELECT # a",
    "SELECT public.count(a) FROM t",
    "SELECT pg_catalog.count(a) FROM t",
    "SELECT pg_catalog.lo_import('x')",
    "SELECT \"count\"(a) FROM t",
    "SELECT t.abs(1)",
    "SELECT a FROM t WITH (XLOCK)",
    "SELECT a FROM t WITH (HOLDLOCK)",
    "EXPLAIN ANALYSE SELECT 1",
    "EXPLAIN ANALYZE VERBOSE SELECT 1",
    "SELECT a === b",
    "SELECT a |><| b",
    "SELECT * EXCLUDE a FROM t",
    "SELECT * RENAME a AS b FROM t",
    "WITH c AS (SELECT 1) FROM x SELECT 1",
    "SHOW STATUS WHERE a = lo_import('x')",
    "SHOW VARIABLES WHERE a = 1",
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
    "SELECT 'it''s' , \"a\"\"b\", `c``d`",
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
    "SELECT |/a",
    "SELECT a FROM t WITH (NOLOCK) WHERE b = 1",
    "SELECT convert FROM t",
    "SELECT a FROM t WHERE a->>'b' = 'c'",
    "SELECT a:b FROM t",
    "SELECT a.b:c[1] FROM t",
    "SELECT a <-> b",
    "SELECT a ~~* b",
    // What only another product takes is left to the server: it refuses it, and nothing in it acts.
    "SELECT a FROM t GROUP BY ROLLUP (1)",
    "SELECT a FROM t SORT BY a",
    "SELECT a FROM t QUALIFY row_number() OVER (ORDER BY a) = 1",
    "SELECT a FROM t FOR SYSTEM_TIME AS OF '2020-01-01'",
    "SELECT a FROM t GLOBAL JOIN u ON 1",
];

#[test]
fn a_function_that_no_list_has_raises_nothing_unless_it_is_known_to_act() {
    let effect = |text: &str| read(text, None).meaning.effect;
    for call in ["my_function(1)", "app.count(1)", "\"count\"(1)", "CAST('1' AS mytype)", "'1'::public.mytype"] {
        assert_eq!(effect(&format!("SELECT {call} FROM t")), Effect::Unlisted, "{call}");
    }
    for call in [
        "nextval('s')", "\"nextval\"('s')", "pg_catalog.setval('s', 1)", "pg_new_function(1)", "dblink('a', 'b')",
        "load_extension('x')", "delete_user(1)", "public.sendMail(1)", "cron.schedule('x')", "sleep(9)",
        "query_to_xml('delete from t')",
    ] {
        assert_eq!(effect(&format!("SELECT {call} FROM t")), Effect::Unknown, "{call}");
        assert_eq!(effect(&format!("SELECT my_function({call}) FROM t")), Effect::Unknown, "{call}");
    }
    for text in
        ["SELECT my_function(1); DROP TABLE t", "SELECT my_function(1) INTO u", "SELECT my_function(1) FOR UPDATE"]
    {
        assert!(effect(text) > Effect::Unlisted, "{text}");
    }
}

#[test]
fn a_word_of_change_is_found_where_the_language_has_it() {
    use Language::{Cypher, Elasticsearch, InfluxQl, Jq, Kql, MongoDb, Redis, Sparql};
    for (language, text, says) in [
        (Cypher, "MATCH (n) DETACH DELETE n", "Cypher, DELETE"),
        (Cypher, "match (n) set n.a = 1 return n", "Cypher, SET"),
        (Cypher, "MATCH (n:Create {set: 'delete'}) RETURN n.delete, $merge", "Cypher, SET"),
        (Cypher, "MATCH (n) WHERE n.a = 'x\\'' DELETE n //'", "Cypher, DELETE"),
        (Cypher, "MATCH (n) RETURN n // ' \n DELETE n //'", "Cypher, DELETE"),
        (Cypher, "MATCH (n) RETURN 'delete' + \"set\", n.create", ""),
        (Cypher, "CALL db.labels()", ""),
        (Cypher, "CALL dbms.shutdown()", "Cypher, CALL"),
        (Sparql, "SELECT * WHERE { ?s ?p ?o . DROP ALL }", "SPARQL, DROP"),
        (Sparql, "DELETE WHERE { ?s ?p ?o }", "SPARQL, DELETE"),
        (Sparql, "SELECT ?delete WHERE { ?s ?p ?delete }", ""),
        (Kql, ".drop table T", "KQL, DROP"),
        (Kql, "T | where action == drop", ""),
        (InfluxQl, "SELECT * INTO b FROM a", "InfluxQL, INTO"),
        (InfluxQl, "SELECT mean(x) FROM cpu", ""),
        (Elasticsearch, "POST /logs/_delete_by_query", "Elasticsearch, _DELETE_BY_QUERY"),
        (Elasticsearch, "GET /logs/_search", ""),
        (Jq, "del(.a)", ""),
        (MongoDb, "db.users.find({ a: 1 }).limit(5)", ""),
        (MongoDb, "db.users.deleteMany({})", "deleteMany in MongoDB's shell"),
        (MongoDb, "db['users']['x'].drop()", "drop in MongoDB's shell"),
        (MongoDb, "db.getCollection('x').find(); db.users.dropIndexes()", "dropIndexes in MongoDB's shell"),
        (MongoDb, "db.users.find({ $where: 'sleep(1)' })", "$where runs JavaScript in the database"),
        (Redis, "GET a", ""),
        (Redis, "GETDEL a", "GETDEL on a"),
        (Redis, "GET a\r\nFLUSHALL", "FLUSHALL removes every key"),
        (Redis, "\"set\" a b", "SET on a"),
        (Redis, "EVAL 'return 1' 0", "EVAL runs code in Redis"),
        (Redis, "CONFIG GET dir", ""),
        (Redis, "CONFIG SET dir /tmp", "CONFIG SET"),
    ] {
        let found = change(language, text).map(|found| found.says).unwrap_or_default();
        assert_eq!(found, says, "{text}");
    }
}
