//! GraphQL in arguments: which operations a document holds and what their root fields are. Knows no schema.

use std::collections::BTreeSet;

use apollo_parser::Parser;
use apollo_parser::cst::{CstNode, Definition, OperationDefinition, Selection};

use super::effect::{Effect, Meaning, named};
use crate::behavior::taxonomy::Action;
use crate::behavior::voters::name;

const MAX_BYTES: usize = 64 * 1024;
const MAX_DEPTH: usize = 40;
const MAX_TOKENS: usize = 12_000;

/// What a document would do if it were run: what the gravest of its operations does.
///
/// Every operation counts, whichever a server runs: servers differ in which of two `operationName`s they take.
pub fn read(text: &str) -> Meaning {
    let unread = |why: &str| Meaning::unknown(head(text), why);
    if text.len() > MAX_BYTES {
        return unread("a GraphQL document too long to be read");
    }
    let tree = Parser::new(text).recursion_limit(MAX_DEPTH).token_limit(MAX_TOKENS).parse();
    if let Some(error) = tree.errors().next() {
        return unread(if error.is_limit() { "a GraphQL document too long to be read" } else { NO_DOCUMENT });
    }
    let mut operations = Vec::new();
    for definition in tree.document().definitions() {
        match &definition {
            Definition::OperationDefinition(operation) => operations.push(of_operation(text, operation)),
            Definition::FragmentDefinition(_) => {}
            _ => return unread("GraphQL that defines types instead of asking"),
        }
    }
    let many = operations.len();
    let gravest = operations.into_iter().reduce(|worst, one| if one.effect > worst.effect { one } else { worst });
    let Some(mut found) = gravest else { return unread("a GraphQL document without an operation") };
    if many > 1 {
        found.says = format!("{many} operations, among them {}", found.says);
    }
    found.fingerprint = Some(format!("graphql {}", found.says));
    found
}

/// The root fields of all operations of a document, sorted; a fragment at the root is all of the document's fragments' own words.
pub fn root_names(text: &str) -> Vec<String> {
    let tree = Parser::new(text).recursion_limit(MAX_DEPTH).token_limit(MAX_TOKENS).parse();
    let mut names = BTreeSet::new();
    for definition in tree.document().definitions() {
        match &definition {
            Definition::OperationDefinition(operation) => names.extend(root_fields(operation)),
            // What a fragment brings to the root is as it is written.
            Definition::FragmentDefinition(fragment) => names.extend([fragment.syntax().text().to_string()]),
            _ => {}
        }
    }
    names.into_iter().collect()
}

/// Whether a text begins as a GraphQL document does, and as no statement of SQL does.
pub fn begins(text: &str) -> bool {
    let text = text.trim_start();
    let word = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
    text.starts_with('{') || (matches!(word, "query" | "mutation" | "subscription" | "fragment") && text.contains('{'))
}

/// Whether a reading says that the text is no GraphQL document.
pub fn is_none(found: &Meaning) -> bool {
    found.says == NO_DOCUMENT
}

const NO_DOCUMENT: &str = "a text that is not a GraphQL document";

fn of_operation(text: &str, operation: &OperationDefinition) -> Meaning {
    let fields = root_fields(operation);
    let named = |kind: &str| named(kind, "", &fields.iter().map(String::as_str).collect::<Vec<_>>());
    let kind = operation.operation_type();
    let span = head(written(text, operation));
    let is = |word: fn(&apollo_parser::cst::OperationType) -> bool| kind.as_ref().is_some_and(word);
    if is(|kind| kind.mutation_token().is_some()) {
        return Meaning::new(Effect::Write, action_of(&fields), span, named("mutation"));
    }
    if is(|kind| kind.subscription_token().is_some()) {
        return Meaning::unknown(span, named("subscription"));
    }
    let asks_itself = !fields.is_empty() && fields.iter().all(|field| field.starts_with("__"));
    let says = if asks_itself { "introspection of the GraphQL schema".to_owned() } else { named("query") };
    Meaning::new(Effect::ReadElsewhere, Action::Read, span, says)
}

/// The operation as it is in the text. The tree would give it out as thousands of pieces.
fn written<'a>(text: &'a str, operation: &OperationDefinition) -> &'a str {
    let range = operation.syntax().text_range();
    text.get(usize::from(range.start())..usize::from(range.end())).unwrap_or_default()
}

/// The fields an operation asks for at its root, aliases aside; a fragment spread keeps its dots.
fn root_fields(operation: &OperationDefinition) -> Vec<String> {
    let selections = operation.selection_set().into_iter().flat_map(|set| set.selections());
    selections
        .map(|selection| match selection {
            Selection::Field(field) => field.name().map(|name| name.text().to_string()).unwrap_or_default(),
            Selection::FragmentSpread(_) | Selection::InlineFragment(_) => "…".to_owned(),
        })
        .collect()
}

/// What the root fields of a mutation say they do: the one act they agree on.
fn action_of(fields: &[String]) -> Action {
    let act = |field: &String| match name::effect(field) {
        Some(name::Effect::Changes(action)) => action,
        _ => Action::Unknown,
    };
    let mut acts = fields.iter().map(act);
    let first = acts.next().unwrap_or(Action::Unknown);
    if acts.all(|act| act == first) { first } else { Action::Unknown }
}

fn head(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(80).collect();
    words.join(" ").chars().take(80).collect()
}
