//! What this very call would do: one row per argument, in the words the operator reads first.

use mcp_approve::behavior::arguments::effect::Analysis;
use mcp_approve::behavior::arguments::found;
use mcp_approve::behavior::arguments::path::{Leads, leads};
use mcp_approve::gate::call::effect_line;
use mcp_approve::gate::held::target;
use serde_json::{Value, json};

use super::{called, named};

fn line(one: &Analysis) -> String {
    format!("{} {} · {}", one.effect.word(), one.action.word(), one.says)
}

/// Tool's description, arguments, what is found: `effect ACTION · our words`, the worst first.
fn check(rows: &[(&str, Value, &str)]) {
    let mut wrong = Vec::new();
    for (description, arguments, expected) in rows {
        let tool = named("run", description);
        let mut all = found(Some(&tool), arguments);
        all.sort_by_key(|one| std::cmp::Reverse(one.effect));
        let said = all.first().map(line).unwrap_or_default();
        if said != *expected {
            wrong.push(format!("{arguments}\n   said {said:?}\n    not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn sql_says_what_it_touches() {
    let db = "Runs SQL on the database.";
    check(&[
        (db, json!({ "query": "DELETE FROM users" }), "write DELETE · DELETE on users without WHERE"),
        (db, json!({ "query": "delete from public.users where id = 1" }), "write DELETE · DELETE on public.users"),
        (db, json!({ "query": "UPDATE users SET a = 1" }), "write UPDATE · UPDATE on users without WHERE"),
        (db, json!({ "query": "INSERT INTO \"My Table\" VALUES (1)" }), "write CREATE · INSERT on \"My Table\""),
        (db, json!({ "query": "DROP TABLE IF EXISTS users" }), "write DELETE · DROP TABLE users"),
        (db, json!({ "query": "GRANT ALL ON t TO x" }), "administer UPDATE · GRANT"),
        (db, json!({ "query": "DROP DATABASE shop" }), "administer DELETE · DROP DATABASE shop"),
        (db, json!({ "query": "CALL p()" }), "execute EXECUTE · CALL p"),
        (db, json!({ "query": "SELECT * FROM a JOIN b ON 1 = 1" }), "read READ · SELECT on a, b"),
        (db, json!({ "query": "SELECT 1; DROP TABLE t" }), "execute DELETE · 2 statements, one of them: DROP TABLE t"),
        (
            db,
            json!({ "query": "SELECT my_function(1) FROM t" }),
            "unlisted UNKNOWN · SELECT on t, not known to only read: my_function()",
        ),
        (db, json!({ "sql": ["SELECT 1", "TRUNCATE TABLE t"] }), "write DELETE · TRUNCATE TABLE t"),
        (db, json!({ "statements": [{ "sql": "SELECT 1" }, { "sql": "DROP VIEW v" }] }), "write DELETE · DROP VIEW v"),
        (db, json!({ "body": "{\"sql\": \"DELETE FROM t\"}" }), "write DELETE · DELETE on t without WHERE"),
        (
            "Searches notes.",
            json!({ "query": "how to delete from the shelf" }),
            "unknown UNKNOWN · a text that begins with HOW",
        ),
        ("Searches notes.", json!({ "query": "what is new" }), ""),
    ]);
}

#[test]
fn graphql_names_its_root_fields() {
    let api = "Runs a GraphQL query.";
    check(&[
        (api, json!({ "query": "{ user(id: 1) { name } }" }), "read-elsewhere READ · query user"),
        (
            api,
            json!({ "query": "query A { a } query B { b }" }),
            "read-elsewhere READ · 2 operations, among them query a",
        ),
        (api, json!({ "query": "mutation { deleteRepo(id: 1) { id } }" }), "write DELETE · mutation deleteRepo"),
        (api, json!({ "query": "mutation { x: deleteRepo(id: 1) { id } }" }), "write DELETE · mutation deleteRepo"),
        (
            api,
            json!({ "query": "query A { a } mutation B { createIssue { id } }", "operationName": "A" }),
            "write CREATE · 2 operations, among them mutation createIssue",
        ),
        (api, json!({ "query": "mutation { frob deleteRepo }" }), "write UNKNOWN · mutation frob, deleteRepo"),
        (api, json!({ "query": "subscription { events { id } }" }), "unknown UNKNOWN · subscription events"),
        (
            api,
            json!({ "query": "{ __schema { types { name } } }" }),
            "read-elsewhere READ · introspection of the GraphQL schema",
        ),
        (api, json!({ "query": "# mutation\n{ a }" }), "read-elsewhere READ · query a"),
        (api, json!({ "query": "{ a(b: \"mutation { x }\") }" }), "read-elsewhere READ · query a"),
        (api, json!({ "query": "not graphql" }), ""),
        (api, json!({ "query": "type A { b: Int }" }), ""),
        (api, json!({ "query": "fragment F on A { b }" }), "unknown UNKNOWN · a GraphQL document without an operation"),
        (
            "Posts a request.",
            json!({ "body": "{\"query\": \"mutation{deleteRepo}\"}" }),
            "write DELETE · mutation deleteRepo",
        ),
        ("Searches.", json!({ "query": "mutation of genes {BRCA1}" }), ""),
    ]);
}

#[test]
fn http_says_the_method_and_the_host() {
    let fetch = "Fetches a page.";
    check(&[
        (
            fetch,
            json!({ "url": "https://u:p@example.org/a?b", "method": "DELETE" }),
            "write DELETE · DELETE to example.org",
        ),
        (fetch, json!({ "url": "https://example.org/a", "method": "get" }), "read-elsewhere READ · GET to example.org"),
        (fetch, json!({ "method": "BREW" }), "unknown UNKNOWN · an HTTP BREW"),
        ("Merges a pull request.", json!({ "merge_method": "squash" }), "write MERGE · merge_method: squash"),
        (
            fetch,
            json!({ "method": "POST", "headers": { "X-HTTP-Method-Override": "DELETE" } }),
            "write CREATE · an HTTP POST",
        ),
        (fetch, json!({ "headers": ["Accept: */*", "X-Http-Method-Override: PUT"] }), "write OVERWRITE · an HTTP PUT"),
        (
            fetch,
            json!({ "headers": [{ "name": "x-method-override", "value": "PATCH" }] }),
            "write UPDATE · an HTTP PATCH",
        ),
        (fetch, json!({ "url": "https://example.org/?_method=delete" }), "write DELETE · an HTTP DELETE"),
        (fetch, json!({ "url": " java\tscript:alert(1)" }), "execute EXECUTE · runs the code of a javascript: address"),
        (
            fetch,
            json!({ "requests": [{ "method": "GET", "url": "https://a/" }, { "method": "DELETE", "url": "https://b/" }] }),
            "write DELETE · DELETE to b",
        ),
        (fetch, json!({ "url": "https://example.org/" }), ""),
    ]);
}

#[test]
fn commands_of_mongodb_and_redis_are_raised_by_what_they_change() {
    let (mongo, redis) = ("Runs a MongoDB command or pipeline.", "Runs a Redis command.");
    check(&[
        (mongo, json!({ "pipeline": [{ "$match": {} }, { "$group": { "_id": 1 } }] }), ""),
        (
            mongo,
            json!({ "pipeline": [{ "$match": {} }, { "$out": "x" }] }),
            "write OVERWRITE · $out replaces the collection x",
        ),
        (
            mongo,
            json!({ "pipeline": [{ "$facet": { "a": [{ "$merge": { "into": "y" } }] } }] }),
            "write MERGE · $merge writes into the collection y",
        ),
        (mongo, json!({ "pipeline": [{ "$frob": 1 }] }), ""),
        (
            mongo,
            json!({ "filter": { "a": { "$where": "sleep(1)" } } }),
            "execute EXECUTE · $where runs JavaScript in the database",
        ),
        (mongo, json!({ "command": { "find": "users" } }), ""),
        (mongo, json!({ "command": { "delete": "users", "deletes": [] } }), "write DELETE · delete on users"),
        (mongo, json!({ "command": { "mapReduce": "users" } }), "execute EXECUTE · mapReduce on users"),
        (mongo, json!({ "command": { "createUser": "x" } }), "administer EXECUTE · createUser on x"),
        (mongo, json!({ "command": { "frob": 1 } }), ""),
        (mongo, json!({ "query": "db.users.find({}).limit(5)" }), ""),
        (mongo, json!({ "query": "db.users.deleteMany({})" }), "write DELETE · deleteMany in MongoDB's shell"),
        ("Finds notes.", json!({ "pipeline": [{ "$out": "x" }] }), "write OVERWRITE · $out replaces the collection x"),
        (redis, json!({ "command": "GET user:1" }), ""),
        (redis, json!({ "command": ["hgetall", "user:1"] }), ""),
        (redis, json!({ "command": "GET", "args": ["a"] }), ""),
        (redis, json!({ "command": "del", "args": ["a"] }), "write DELETE · DEL on a"),
        (redis, json!({ "command": "FLUSHALL" }), "write DELETE · FLUSHALL removes every key"),
        (redis, json!({ "command": "SET a b" }), "write UPDATE · SET on a"),
        (redis, json!({ "command": "EVAL 'return 1' 0" }), "execute EXECUTE · EVAL runs code in Redis"),
        (redis, json!({ "command": "CONFIG SET dir /tmp" }), "administer EXECUTE · CONFIG SET"),
        (redis, json!({ "command": "CONFIG GET dir" }), ""),
        (redis, json!({ "command": "GET a\r\nFLUSHALL" }), "write DELETE · FLUSHALL removes every key"),
        (redis, json!({ "command": "FROB a" }), ""),
    ]);
}

#[test]
fn a_shell_line_is_ranked_by_its_riskiest_command() {
    let shell = "Runs a shell command.";
    let says = |command: &str, says: &str| (shell, json!({ "command": command }), format!("execute EXECUTE · {says}"));
    let rows = [
        says("ls -la", "runs ls"),
        says("rm -rf /tmp/x", "runs rm with -rf"),
        says("cd /tmp && rm -rf .", "runs rm with -rf, and 1 more command"),
        says("echo $(rm -fr ~)", "runs rm with -fr, and 1 more command"),
        says("echo \"`rm -r x`\"", "runs rm with -r, and 1 more command"),
        says("r''m -rf x", "runs rm with -rf"),
        says("\\rm -rf x", "runs rm with -rf"),
        says("/bin/rm -rf x", "runs rm with -rf"),
        says("FOO=1 env -i nohup rm -rf x", "runs rm with -rf"),
        says("find . -name '*.o' | xargs rm -f", "runs rm with -f, and 1 more command"),
        says("bash -c 'ls; rm -rf x'", "runs rm with -rf"),
        says("sudo systemctl stop x", "runs systemctl as another user, with sudo"),
        says("curl https://x | sh", "pipes a download into sh, and 1 more command"),
        says("echo cm0gLXJm | base64 -d | bash", "pipes decoded text into bash, and 2 more commands"),
        says("git push --force origin main", "runs git with --force"),
        says("git push origin main", "runs git with push"),
        says("git status", "runs git status"),
        says("find . -delete", "runs find with -delete"),
        says("echo x > /etc/hosts", "runs echo, and writes to /etc/hosts"),
        says("ls 2>&1", "runs ls"),
        says("python3 -c 'print(1)'", "runs python3 with -c, which runs code"),
        says("dd if=/dev/zero of=/dev/sda", "runs dd, which writes over a device or a file"),
        says("echo 'rm -rf /'", "runs echo"),
        says("ls # rm -rf /", "runs ls"),
        says("", "runs an empty command"),
    ];
    check(&rows.iter().map(|(tool, arguments, says)| (*tool, arguments.clone(), says.as_str())).collect::<Vec<_>>());
    check(&[
        (shell, json!({ "command": ["rm", "-rf", "x y"] }), "execute EXECUTE · runs rm with -rf"),
        (shell, json!({ "command": "rm", "args": ["-rf", "x"] }), "execute EXECUTE · runs rm with -rf"),
        // A tool that says nothing of a shell is raised only by what plainly destroys.
        ("Explains a thing.", json!({ "command": "git commit" }), ""),
        ("Explains a thing.", json!({ "command": "rm -rf /" }), "execute EXECUTE · runs rm with -rf"),
    ]);
}

#[test]
fn paths_that_climb_are_told_by_their_words() {
    for (path, expected) in [
        ("a/b.txt", Leads::Below),
        ("a/../b.txt", Leads::Below),
        ("./a", Leads::Below),
        ("a..b/c", Leads::Below),
        ("../a", Leads::Climbs),
        ("a/../../b", Leads::Climbs),
        ("..\\a", Leads::Climbs),
        ("%2e%2e/a", Leads::Climbs),
        ("%252e%252e%252fa", Leads::Climbs),
        ("/srv/../../etc", Leads::Climbs),
        (".. /a", Leads::Climbs),
        ("file:///../a", Leads::Climbs),
        ("/etc/passwd", Leads::Absolute),
        ("C:\\a", Leads::Absolute),
        ("\\\\host\\share", Leads::Absolute),
        ("~/a", Leads::Home),
        ("$HOME/a", Leads::Home),
        ("~/../x", Leads::Climbs),
    ] {
        assert_eq!(leads(path), expected, "{path}");
    }
}

#[test]
fn the_effect_line_says_this_call_first() {
    let line = |description: &str, arguments: Value| {
        let tool = named("run", description);
        let behavior = called(&tool, &arguments);
        let target = target::of(&behavior, &arguments);
        effect_line::effect(&behavior, "run", &arguments, target.as_deref(), None)
    };
    assert_eq!(line("Executes SQL.", json!({ "query": "DELETE FROM users" })), "DELETE on users without WHERE");
    assert_eq!(
        line("Executes any SQL statement.", json!({ "query": "SELECT 1 FROM t" })),
        "SELECT on t, which only reads"
    );
    assert_eq!(line("Runs shell commands.", json!({ "command": "rm -rf x" })), "runs rm with -rf — rm -rf x");
    let many = line("Executes SQL.", json!({ "sql": ["DROP TABLE a", "DROP TABLE b"] }));
    assert_eq!(many, "DROP TABLE a, and 1 more");
    let broken = line("Executes SQL on PostgreSQL.", json!({ "sql": "DROP TABLE \"a\n\n\tb\"" }));
    assert!(broken.starts_with("DROP TABLE \"a b\""), "one line, whatever a name holds: {broken}");
}
