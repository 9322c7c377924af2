//! KQL: a table and operators that read, joined by `|`. A text that begins with a dot is a command to the cluster.
//!
//! A closed world: each operator is listed with the keywords that may be in it, and no two names stand side by side. So a
//! statement of another language (`DELETE FROM users`) is never read as KQL.

use super::{Grammar, Names, Token, is_balanced, tokens};
use crate::behavior::arguments::effect::{Effect, Meaning};
use crate::behavior::taxonomy::Action;
use crate::behavior::words::{among, section};

const WORDS: &str = include_str!("../../../../assets/words/grammar.txt");

/// How deep brackets in brackets are followed.
const DEEPEST: usize = 8;

/// What a text of KQL does.
pub fn read(text: &str) -> Meaning {
    let text = text.trim();
    if let Some(command) = text.strip_prefix('.') {
        let word: String = command.chars().take_while(char::is_ascii_alphabetic).collect();
        let action = match word.as_str() {
            "drop" | "delete" | "purge" | "clear" => Action::Delete,
            "create" | "ingest" | "append" => Action::Create,
            "set" | "alter" | "add" | "rename" | "move" | "replace" => Action::Update,
            "execute" => Action::Execute,
            _ => Action::Unknown,
        };
        return Meaning::new(Effect::of(action), action, text, format!("a control command, .{word}"));
    }
    // `project-away` is one word here.
    let joined = ["away", "keep", "rename", "reorder", "operator"]
        .iter()
        .fold(text.to_owned(), |text, later| text.replace(&format!("project-{later}"), "project"));
    let joined =
        joined.replace("mv-expand", "mvexpand").replace("mv-apply", "mvapply").replace("make-series", "makeseries");
    match tokens(&joined, KQL.quotes, KQL.signs) {
        Some(tokens) if is_balanced(&tokens) && is_query(&tokens) => KQL.found(&tokens),
        _ => KQL.unread(text),
    }
}

/// Names given by `let`, and then one query.
fn is_query(tokens: &[Token<'_>]) -> bool {
    let tokens = tokens.strip_suffix(&[Token::Sign(';')]).unwrap_or(tokens);
    let parts = split(tokens, ';');
    let Some((query, named)) = parts.split_last() else { return false };
    let is_named = |part: &&[Token<'_>]| match part {
        [Token::Word("let"), Token::Word(_), Token::Sign('='), value @ ..] => {
            is_pipeline(value, 0) || is_expression(value, "", 0)
        }
        _ => false,
    };
    named.iter().all(is_named) && is_pipeline(query, 0)
}

/// A source, and operators that read behind it. A table by itself could be any word: one operator is asked for.
fn is_pipeline(tokens: &[Token<'_>], depth: usize) -> bool {
    let parts = split(tokens, '|');
    let Some((source, stages)) = parts.split_first() else { return false };
    let is_source = match *source {
        [Token::Word(_)] | [Token::Sign('['), Token::Quoted(_), Token::Sign(']')] => !stages.is_empty(),
        [Token::Sign('('), inner @ .., Token::Sign(')')] => is_balanced(inner) && is_pipeline(inner, depth + 1),
        [Token::Word(head), rest @ ..] => is_operator(head, rest, SOURCES, depth),
        _ => false,
    };
    depth < DEEPEST && is_source && are_stages(stages, depth)
}

fn are_stages(stages: &[&[Token<'_>]], depth: usize) -> bool {
    stages.iter().all(|stage| match stage {
        [Token::Word(head), rest @ ..] => is_operator(head, rest, OPERATORS, depth),
        _ => false,
    })
}

/// One operator of a list with what it takes.
fn is_operator(head: &str, rest: &[Token<'_>], list: &[(&'static str, &'static str)], depth: usize) -> bool {
    let Some((_, keywords)) = list.iter().find(|(heads, _)| among(head, heads)) else { return false };
    if rest.is_empty() {
        return among(head, "count serialize getschema");
    }
    is_expression(rest, keywords, depth)
}

/// Operands and what joins them. A query in brackets is read by itself, and counts as one operand.
fn is_expression(tokens: &[Token<'_>], keywords: &'static str, depth: usize) -> bool {
    // `distinct *`, `arg_max(t, *)`.
    let tokens = match tokens {
        [Token::Sign('*')] => return true,
        [listed @ .., Token::Sign(','), Token::Sign('*')] => listed,
        all => all,
    };
    if depth >= DEEPEST || !begins_operand(tokens) {
        return false;
    }
    let mut flat = Vec::with_capacity(tokens.len());
    let mut rest = tokens;
    while let Some((token, after)) = rest.split_first() {
        flat.push(*token);
        rest = after;
        if *token != Token::Sign('(') {
            continue;
        }
        let Some((inner, after)) = closed(rest) else { return false };
        let stages = split(inner, '|');
        let is_inner = is_pipeline(inner, depth + 1)
            // `mv-apply x on (top 1 by y)`.
            || (keywords.contains("TYPEOF") && are_stages(&stages, depth + 1));
        if !is_inner {
            if !inner.is_empty() && !is_expression(inner, keywords, depth + 1) {
                return false;
            }
            flat.extend_from_slice(inner);
        }
        flat.push(Token::Sign(')'));
        rest = after;
    }
    let keywords = format!("{} {keywords}", KQL.keywords);
    !flat.contains(&Token::Sign('|')) && Grammar { keywords: &keywords, ..KQL }.reads(&flat)
}

/// Whether an operand may begin with the first token: not with a sign that joins two operands.
fn begins_operand(tokens: &[Token<'_>]) -> bool {
    let joins = |token: &Token<'_>| matches!(token, Token::Sign('/' | '%' | '+' | '<' | '>' | ',' | '.' | ':' | '='));
    !tokens.first().is_some_and(joins)
}

/// The tokens up to the bracket that closes the one already open, and those behind it.
fn closed<'a, 't>(tokens: &'a [Token<'t>]) -> Option<(&'a [Token<'t>], &'a [Token<'t>])> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign('(') => depth += 1,
            Token::Sign(')') if depth == 0 => return Some((tokens.get(..at)?, tokens.get(at + 1..)?)),
            Token::Sign(')') => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Splits at each `sign` that is in no bracket.
fn split<'a, 't>(tokens: &'a [Token<'t>], sign: char) -> Vec<&'a [Token<'t>]> {
    let mut depth = 0_usize;
    let is_between = |token: &Token<'t>| {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && *token == Token::Sign(sign)
    };
    tokens.split(is_between).collect()
}

/// What a query may begin with beside a table, and the keywords of each.
const SOURCES: &[(&str, &str)] = &[
    ("search", ""),
    ("find", "WHERE PROJECT"),
    ("union", "KIND WITHSOURCE ISFUZZY"),
    ("range", "FROM TO STEP"),
    ("print", ""),
];

/// Operators that read, and the keywords of each.
const OPERATORS: &[(&str, &str)] = &[
    ("where filter project extend take limit count distinct serialize sample getschema search as print", ""),
    ("summarize", "BY"),
    ("top sort order", "BY ASC DESC NULLS FIRST LAST"),
    (
        "join lookup",
        "KIND ON INNER INNERUNIQUE LEFTOUTER RIGHTOUTER FULLOUTER LEFTANTI RIGHTANTI LEFTSEMI RIGHTSEMI ANTI",
    ),
    ("union", "KIND WITHSOURCE ISFUZZY"),
    ("parse", "KIND WITH"),
    ("mvexpand", "TO"),
    ("mvapply", "TO ON TYPEOF"),
    ("makeseries", "ON BY FROM TO STEP"),
    ("range", "FROM TO STEP"),
    ("find", "WHERE PROJECT"),
    ("reduce", "BY WITH KIND"),
    ("render", "WITH"),
];

/// KQL itself; its keywords are those that may join operands in any operator.
const KQL: Grammar<'static> = Grammar {
    language: "KQL",
    begins: "",
    keywords: section(WORDS, "kql-keywords"),
    functions: section(WORDS, "kql-functions"),
    changes: &[],
    signs: "()[]{}=!~<>+-*/%,.:|;$",
    quotes: "'\"",
    markers: ".$",
    names: Names::Operands,
    ends: "ASC DESC FIRST LAST TRUE FALSE",
};
