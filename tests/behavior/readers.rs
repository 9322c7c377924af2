//! The small closed readers: what each reads to its end, what it knows to change, and what it leaves unread.

use mcp_approve::behavior::arguments::effect::{Effect, Language};
use mcp_approve::behavior::arguments::statement::{Outcome, read_in};

fn word(language: Language, text: &str) -> &'static str {
    match read_in(language, text, None) {
        Outcome::Reads(found) => {
            assert!(found.effect.reads());
            "reads"
        }
        Outcome::Changes(found) => {
            assert!(!found.effect.reads() && found.effect != Effect::Unknown);
            "changes"
        }
        Outcome::Unread(_) => "unread",
        Outcome::Foreign(_) => "foreign",
    }
}

#[test]
fn a_text_is_read_to_its_end_or_not_at_all() {
    use Language as L;
    let rows: &[(Language, &str, &str)] = &[
        (L::Cypher, "MATCH (n:User) WHERE n.name = 'x' RETURN n LIMIT 5", "reads"),
        (L::Cypher, "MATCH (a)-[r:KNOWS*1..3]->(b) RETURN a.name, count(b) AS c ORDER BY c DESC", "reads"),
        (L::Cypher, "CALL db.labels()", "reads"),
        (L::Cypher, "CALL dbms.shutdown()", "changes"),
        (L::Cypher, "MATCH (n) DETACH DELETE n", "changes"),
        (L::Cypher, "MATCH (n) SET n.a = 1 RETURN n", "changes"),
        (L::Cypher, "MATCH (n) RETURN apoc.cypher.runFirstColumn('CREATE (x)')", "unread"),
        (L::Cypher, "MATCH (n) FROB n RETURN n", "unread"),
        (L::Cypher, "MATCH (n) // DELETE n", "unread"),
        (L::Cypher, "MATCH (n {a: 'x}) RETURN n", "unread"),
        (L::Cypher, "MATCH (n RETURN n", "unread"),
        (L::Sparql, "SELECT ?s WHERE { ?s a <http://x.org/C> . FILTER(LANG(?s) = \"en\") } LIMIT 3", "reads"),
        (
            L::Sparql,
            "PREFIX wd: <http://x.org/> SELECT ?i WHERE { ?i wdt:P31 wd:Q5 . SERVICE wikibase:label { bd:serviceParam wikibase:language \"en\" } }",
            "reads",
        ),
        (L::Sparql, "DELETE WHERE { ?s ?p ?o }", "changes"),
        (L::Sparql, "SELECT * WHERE { ?s ?p ?o } . DROP ALL", "changes"),
        (L::Sparql, "SELECT * WHERE { SERVICE <http://x.org/> { ?s ?p ?o } }", "unread"),
        (L::Sparql, "SELECT * WHERE { ?s ?p ?o } # DROP", "unread"),
        (L::Kql, "T | where a == 'x' and t > ago(1d) | summarize count() by bin(t, 1h) | top 5 by count_", "reads"),
        (L::Kql, ".drop table T", "changes"),
        (L::Kql, "T | evaluate http_request('http://x')", "unread"),
        (L::Kql, "T | invoke f()", "unread"),
        (L::Kql, "StormEvents | where State == \"TEXAS\" | take 5", "reads"),
        (L::Kql, "T | join kind=inner (U) on k", "reads"),
        (L::Kql, "T | join kind=leftouter (U | where a > 1 | project k, b) on $left.k == $right.k | count", "reads"),
        (L::Kql, "let x = 5; T | where a > x", "reads"),
        (
            L::Kql,
            "let since = ago(1d); let U = T | where t > since; U | summarize n = count(), max(a) by b, bin(t, 1h);",
            "reads",
        ),
        (
            L::Kql,
            "T | where a in ('x', 'y') and b !in (U | distinct b) or not(isempty(c)) | project-away d | render timechart",
            "reads",
        ),
        (L::Kql, "T | mv-expand a to typeof(string) | extend b = tostring(a.c) | sort by b desc nulls last", "reads"),
        (L::Kql, "T | summarize arg_max(t, *) by a | distinct *", "reads"),
        (L::Kql, "union A, B | where t between (datetime(2026-01-01) .. now()) | sort by t desc", "reads"),
        (L::Kql, "range x from 1 to 10 step 1 | extend y = x * 2", "reads"),
        (L::Kql, "print now()", "reads"),
        (L::Kql, "search 'error' | take 10", "reads"),
        (L::Kql, "T", "unread"),
        (L::Kql, "T | where a == 1 DELETE FROM t", "unread"),
        (L::Kql, "T | take 5; DROP TABLE t", "unread"),
        (L::Kql, "T | take 5 | DELETE FROM t", "unread"),
        (L::Kql, "let x = DELETE FROM t; T | take 5", "unread"),
        (L::Kql, "T | join (DELETE FROM t) on k", "unread"),
        (L::Kql, "T | where", "unread"),
        (L::InfluxQl, "SHOW MEASUREMENTS", "reads"),
        (L::InfluxQl, "SELECT * FROM cpu ORDER BY time DESC LIMIT 5", "reads"),
        (L::InfluxQl, "SELECT ", "unread"),
        (L::InfluxQl, "SELECT FROM", "unread"),
        (L::Cypher, "MATCH (n) RETURN n.name ORDER BY n.name DESC", "reads"),
        (L::Cypher, "MATCH (n) RETURN *", "reads"),
        (L::Cypher, "RETURN", "unread"),
        (L::Sparql, "SELECT ", "unread"),
        (L::Jq, "SELECT 1", "unread"),
        (L::Jq, ".items | length", "reads"),
        (L::Jq, "map(.a) | not", "reads"),
        (L::PromQl, "up", "reads"),
        (L::PromQl, "a / b - c", "reads"),
        (L::PromQl, "a/b-c", "reads"),
        (L::PromQl, "sum(rate(http_requests_total{job=\"a\"}[5m])) by (instance) > 0.5", "reads"),
        (L::PromQl, "no_such_function(up)", "unread"),
        (L::InfluxQl, "SELECT mean(usage) FROM cpu WHERE time > now() - 1h GROUP BY time(5m)", "reads"),
        (L::InfluxQl, "SELECT * INTO x FROM cpu", "changes"),
        (L::InfluxQl, "DROP MEASUREMENT cpu", "changes"),
        (L::InfluxQl, "from(bucket: \"b\") |> to(bucket: \"c\")", "unread"),
        (L::Jq, ".items[] | select(.state == \"open\") | {name: .name}", "reads"),
        (L::Jq, "env.SECRET", "unread"),
        (L::Jq, "$ENV.SECRET", "unread"),
        (L::Jq, "include \"x\"; .", "unread"),
        (L::Filter, "project = ABC AND status in (Open, \"In Progress\") ORDER BY created DESC", "reads"),
        (L::Filter, "app=nginx,tier!=db", "reads"),
        (L::Filter, "created >= -7d AND created < startOfDay()", "reads"),
        (L::Filter, "a = 1 UNION SELECT b", "foreign"),
        (L::Filter, "a = (SELECT b FROM c)", "foreign"),
        (L::Filter, "a > file", "foreign"),
        (L::Filter, "a = 1; DROP TABLE t", "foreign"),
        (L::Elasticsearch, "GET /users/_search", "reads"),
        (L::Elasticsearch, "/users/_count?q=a", "reads"),
        (L::Elasticsearch, "POST /users/_delete_by_query", "changes"),
        (L::Elasticsearch, "PUT /_cluster/settings", "unread"),
        (L::Elasticsearch, "/_frob", "unread"),
        (L::MongoDb, "db.users.find({ a: 1 }).limit(5)", "reads"),
        (L::MongoDb, "db.users.deleteMany({})", "changes"),
        (L::MongoDb, "db['users']['drop']()", "unread"),
        (L::MongoDb, "db.users.find(x = db.y)", "unread"),
        (L::Redis, "GET a", "reads"),
        (L::Redis, "GET a\nFLUSHALL", "unread"),
        (L::Redis, "GETDEL a", "changes"),
        (L::GraphQl, "{ user { name } }", "reads"),
        (L::GraphQl, "mutation { deleteUser }", "changes"),
        (L::Other, "anything", "unread"),
        (L::Shell, "ls", "changes"),
    ];
    let wrong: Vec<String> = rows
        .iter()
        .filter(|(language, text, expected)| word(*language, text) != *expected)
        .map(|(language, text, expected)| {
            format!("{}: {text}: {} not {expected}", language.word(), word(*language, text))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A statement or a command of another language, in each reader that takes names and words.
#[test]
fn what_changes_something_elsewhere_is_read_by_no_small_reader() {
    use Language as L;
    let mut texts: Vec<String> = CHANGES_ELSEWHERE.iter().map(|text| (*text).to_owned()).collect();
    texts.extend(CHANGES_ELSEWHERE.iter().flat_map(|text| [text.to_lowercase(), format!("{text};")]));
    let readers = [
        L::Kql,
        L::PromQl,
        L::InfluxQl,
        L::Jq,
        L::Filter,
        L::Sparql,
        L::Cypher,
        L::GraphQl,
        L::MongoDb,
        L::Elasticsearch,
    ];
    let read: Vec<String> = texts
        .iter()
        .flat_map(|text| readers.map(|language| (language, text)))
        .filter(|(language, text)| word(*language, text) == "reads")
        .map(|(language, text)| format!("{}: {text}", language.word()))
        .collect();
    assert!(read.is_empty(), "{}", read.join("\n"));
}

const CHANGES_ELSEWHERE: &[&str] = &[
    "DELETE FROM users WHERE 1=2", "DELETE FROM users", "DROP TABLE t", "DROP TABLE IF EXISTS t", "rm -rf x",
    "rm -rf /srv", "rm /srv", "rm *", "find . -delete", "find /srv -delete", "mkfs /dev/sda", "SET x = 1",
    "SET x TO 1", "INSERT INTO t VALUES (1)", "UPDATE t SET a=1", "UPDATE t SET a = 1 WHERE b = 2",
    "CREATE TABLE t (a)", "CREATE TABLE t AS SELECT 1", "ALTER TABLE t ADD a", "TRUNCATE TABLE t", "TRUNCATE t",
    "GRANT ALL ON t TO u", "COPY t FROM 'x'", "COPY t TO 'x'", "LOAD DATA INFILE 'x'", "MERGE INTO t USING u ON a = b",
    "VACUUM INTO 'x'", "CALL p()", "SELECT 1 INTO t", "REMOVE u IN users", "DEL a", "a > b | tee c", "echo x > y",
];
