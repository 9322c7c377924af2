//! Query languages without a reader: whether a word that changes something is in a text. Proves no read.

use super::effect::{Effect, Language, Meaning};
use crate::behavior::taxonomy::Action;
use crate::behavior::words::{among, section};

const WORDS: &str = include_str!("../../../assets/words/grammar.txt");

/// The languages by name, each with its words of change: lines of an action and the words that do it.
const LANGUAGES: [(Language, &str, &str); 5] = [
    (Language::Cypher, "Cypher", section(WORDS, "cypher")),
    (Language::Sparql, "SPARQL", section(WORDS, "sparql")),
    (Language::Kql, "KQL", section(WORDS, "kql")),
    (Language::InfluxQl, "InfluxQL", section(WORDS, "influxql")),
    (Language::Elasticsearch, "Elasticsearch", section(WORDS, "elasticsearch")),
];

/// What the gravest word of change in a text of this language does; `None` where there is none, or the language has no table.
pub fn change(language: Language, text: &str) -> Option<Meaning> {
    // What the schema has is listed by procedures.
    let called = text.trim().strip_prefix("CALL ").and_then(|call| call.strip_suffix("()"));
    if called.is_some_and(|procedure| among(procedure, section(WORDS, "cypher-lists"))) {
        return None;
    }
    let (_, name, table) = LANGUAGES.iter().find(|(known, ..)| *known == language)?;
    let found = words(text)
        .filter_map(|word| {
            let lower = word.to_ascii_lowercase();
            let line =
                table.lines().find(|line| line.split_once(' ').is_some_and(|(_, words)| among(&lower, words)))?;
            Some((Action::from_word(&line.split_once(' ')?.0.to_ascii_uppercase())?, word))
        })
        // Only a text that begins with a dot is a command to a cluster of KQL.
        .filter(|_| language != Language::Kql || text.trim_start().starts_with('.'));
    let (action, word) = found.max_by_key(|(action, _)| action.caution())?;
    Some(Meaning::new(Effect::of(action), action, word, format!("{name}, {}", word.to_uppercase())))
}

/// The words of a text that no quotes hold, and that no sign marks as a name: `n.set`, `?delete`, `:Created`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    // Where quotes may be hidden from us, what is between them counts too.
    let skips = !["\\", "//", "/*", "--", "#"].iter().any(|hides| text.contains(hides));
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let (mut rest, mut before) = (text, ' ');
    std::iter::from_fn(move || {
        loop {
            let sign = rest.chars().next()?;
            if is_part(sign) {
                let (word, after) = rest.split_at(rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
                let is_name = ".:?$@".contains(before);
                (rest, before) = (after, 'x');
                match is_name {
                    true => continue,
                    false => return Some(word),
                }
            }
            rest = rest.get(sign.len_utf8()..)?;
            if skips && "'\"`".contains(sign) {
                rest = rest.split_once(sign).map_or(rest, |(_, after)| after);
            }
            // The dot that ends a clause, or begins a command, marks no name.
            before = if sign == '.' && before != 'x' { ' ' } else { sign };
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{Language, change};

    #[test]
    fn a_word_of_change_is_found_where_the_language_has_it() {
        use Language::{Cypher, Elasticsearch, InfluxQl, Jq, Kql, Sparql};
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
        ] {
            let found = change(language, text).map(|found| found.says).unwrap_or_default();
            assert_eq!(found, says, "{text}");
        }
    }
}
