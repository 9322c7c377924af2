//! The one order of tools for a task: relevance, the gate, and what a call costs.

use mcp_approve::behavior::conclude::{self, Overrides, Trust};
use mcp_approve::mcp::tool::Tool;
use mcp_approve::policy::ranking::{Candidate, Hit, Observed, rank};
use mcp_approve::policy::role::Profile;
use serde_json::{Value, json};

fn tools(definitions: &[(&str, &str)]) -> Vec<Tool> {
    let tool = |(name, text): &(&str, &str)| Tool::read(json!({ "name": name, "description": text })).unwrap();
    definitions.iter().map(tool).collect()
}

fn candidates(tools: &[Tool]) -> Vec<Candidate<'_>> {
    let profile = |tool: &Tool| {
        let behavior = conclude::of_tool_with(tool, Trust::default(), Overrides::default());
        Profile::of(tool, &behavior)
    };
    tools.iter().map(|tool| Candidate { server: "s", tool, profile: profile(tool), observed: None }).collect()
}

fn found(tools: &[Tool], query: &str) -> Vec<(String, f64)> {
    let (hits, _) = rank(query, &candidates(tools), |_| None::<()>);
    hits.into_iter().map(|hit: Hit| (tools[hit.at].name.clone(), hit.relevance)).collect()
}

fn names(tools: &[Tool], query: &str) -> Vec<String> {
    found(tools, query).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn a_search_finds_words_of_names_before_words_of_descriptions() {
    let tools = tools(&[
        ("createInvoice", "Makes one."),
        ("list_orders", "Lists orders, not invoices."),
        ("ping", "Answers."),
        ("prüfen", "Überprüft etwas."),
    ]);
    assert_eq!(names(&tools, "the invoices"), ["createInvoice", "list_orders"]);
    assert_eq!(names(&tools, "listing ordered"), ["list_orders"], "a word is found by its stem");
    assert_eq!(names(&tools, "erase the bill"), Vec::<String>::new());
    assert_eq!(names(&tools, "make invoices"), ["createInvoice", "list_orders"], "`make` means about `create`");
    assert_eq!(names(&tools, "prufen"), ["prüfen"]);
    assert_eq!(names(&tools, "\" OR ping* NEAR("), ["ping"], "a query is words, never syntax");
    assert_eq!(names(&tools, "-- ;"), Vec::<String>::new());
    assert_eq!(names(&[], "ping"), Vec::<String>::new());
}

#[test]
fn a_word_that_every_tool_has_still_ranks_them() {
    let tools = tools(&[("read_file", "Reads."), ("write_file", "Writes."), ("stat", "What a file is.")]);
    let hits = found(&tools, "file");
    assert!(hits.len() == 3 && hits.iter().all(|(_, relevance)| *relevance > 0.5), "{hits:?}");
    assert!(hits[1].1 > hits[2].1, "a name tells more than a description: {hits:?}");
    let both = found(&tools, "file write");
    assert!(both[0].1 > 2.0 * both[1].1, "and a rare word more than a common one: {both:?}");
}

#[test]
fn what_is_barred_is_never_among_the_hits_however_well_it_fits() {
    let tools = tools(&[("delete_report", "Deletes a report."), ("read_note", "Reads a note, or a report.")]);
    let (hits, barred) =
        rank("delete report", &candidates(&tools), |at| (tools[at].name == "delete_report").then_some("no"));
    assert_eq!(hits.iter().map(|hit| hit.at).collect::<Vec<_>>(), [1]);
    assert_eq!(barred.iter().map(|(hit, why)| (hit.at, *why)).collect::<Vec<_>>(), [(0, "no")]);
    assert!(barred[0].0.score() > hits[0].score());
}

#[test]
fn of_two_that_fit_alike_the_one_that_answers_faster_and_fails_less_comes_first() {
    let tools = tools(&[("weather_a", "Weather."), ("weather_b", "Weather."), ("weather_c", "Weather.")]);
    let mut all = candidates(&tools);
    let observed = |latency_ms, error_rate| Some(Observed { latency_ms, error_rate, words: "seen".to_owned() });
    all[0].observed = observed(6_000.0, 0.0);
    all[1].observed = observed(10.0, 0.0);
    all[2].observed = observed(10.0, 0.5);
    let (hits, _) = rank("weather", &all, |_| None::<()>);
    assert_eq!(hits.iter().map(|hit| hit.at).collect::<Vec<_>>(), [1, 2, 0]);
    assert!(hits[0].why.contains("relevance") && hits[0].why.contains("(seen)"), "{}", hits[0].why);
}

/// No definition makes a search slow: a long text is read to a bound.
#[test]
fn a_definition_without_end_is_ranked_by_its_first_words() {
    let long = format!("report {} zebra", "word ".repeat(100_000));
    let tool = Tool::read(json!({ "name": "a", "description": long, "inputSchema": Value::Bool(true) })).unwrap();
    let tools = [tool];
    assert_eq!(names(&tools, "report"), ["a"]);
    assert_eq!(names(&tools, "zebra"), Vec::<String>::new());
}
