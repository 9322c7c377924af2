//! What the reader of each language says of a text: that it reads, that it changes something, or nothing.

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
        (L::Cypher, "MATCH (n) RETURN n", "unread"),
        (L::Cypher, "MATCH (n) DETACH DELETE n", "changes"),
        (L::Sparql, "DELETE WHERE { ?s ?p ?o }", "changes"),
        (L::Kql, ".drop table T", "changes"),
        (L::Kql, "T | take 5", "unread"),
        (L::InfluxQl, "DROP MEASUREMENT cpu", "changes"),
        (L::Elasticsearch, "POST /users/_delete_by_query", "changes"),
        (L::Elasticsearch, "GET /users/_search", "unread"),
        (L::PromQl, "up", "unread"),
        (L::Jq, ".items | length", "unread"),
        (L::Filter, "app=nginx,tier!=db", "foreign"),
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
