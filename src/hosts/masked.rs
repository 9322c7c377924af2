//! A file's text as it may be shown: keys, how servers are started, how long calls may take, and values that are no secret
//! whatever their key: truth values and known words. Every other value and every comment is hidden, for a list of servers
//! holds keys and tokens, and no list of secrets is ever whole.

use std::cmp::Reverse;
use std::ops::Range;

use crate::hosts::edit::APPROVAL;
use crate::hosts::entry::{Entry, entries, inmost};
use crate::hosts::parse::parse;
use crate::hosts::table::Host;
use crate::hosts::tree::{Field, Node, Refusal, Syntax, Value};

/// Whether a word of a command line is hidden, by the word before it.
pub type Hides<'h> = &'h dyn Fn(Option<&str>, &str) -> bool;

/// Shown in place of a value or a comment.
const HIDDEN: char = '…';

/// Keys and values, each with whether it is shown. One span may be there twice: then it is shown if one of them is.
type Parts = Vec<(Range<usize>, bool)>;

/// The same lines, without what is not to be shown.
pub fn masked(host: &'static Host, syntax: Syntax, text: &str, hides: Hides<'_>) -> Result<String, Refusal> {
    let root = parse(syntax, text)?;
    let mut parts = Vec::new();
    plain(text, &root, &mut parts);
    for entry in entries(host, &root)? {
        values(&entry, hides, &mut parts);
    }
    parts.sort_by_key(|(span, is_shown)| (span.start, Reverse(span.end), !is_shown));
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for (span, is_shown) in parts {
        // Already written, or a key within a header.
        if span.start < at || span.is_empty() {
            continue;
        }
        between(text.get(at..span.start).unwrap_or_default(), &mut out);
        let part = text.get(span.clone()).unwrap_or_default();
        if is_shown {
            out.push_str(part);
        } else {
            out.push(HIDDEN);
            out.extend(part.ends_with('\n').then_some('\n'));
        }
        at = span.end;
    }
    between(text.get(at..).unwrap_or_default(), &mut out);
    Ok(out)
}

/// What is between keys and values: marks of the format, and comments, each hidden to the end of its line.
fn between(text: &str, out: &mut String) {
    for line in text.split_inclusive('\n') {
        let is_mark = |(at, c): (usize, char)| {
            let dash = c == '-' && line[..at].trim_start().is_empty() && line[at + 1..].starts_with([' ', '\r', '\n']);
            dash || c.is_whitespace() || "{}[],:=".contains(c)
        };
        let hidden = line.char_indices().find(|one| !is_mark(*one)).map(|(at, _)| at);
        match hidden.filter(|_| !matches!(line.trim(), "." | "---")) {
            None => out.push_str(line),
            Some(at) => {
                out.push_str(&line[..at]);
                out.push(HIDDEN);
                out.push_str(&line[line.trim_end().len()..]);
            }
        }
    }
}

/// Words that hosts' formats have as values.
const WORDS: [&str; 10] = [
    "stdio", "http", "sse", "streamable-http", "streamable_http", "streamableHttp", "local", "remote", "custom",
    "allow",
];

/// Shows keys, headers, truth values, nothing, and words of the formats. A number may be somebody's secret.
fn plain(text: &str, node: &Node, parts: &mut Parts) {
    let is_shown = match &node.value {
        Value::List(items) => return items.iter().for_each(|item| plain(text, item, parts)),
        Value::Table(fields) => {
            for field in fields {
                parts.push((field.key_span.clone(), true));
                parts.extend(header(text, field).map(|header| (header, true)));
                plain(text, &field.node, parts);
            }
            return;
        }
        Value::Other(text) => matches!(text.as_str(), "true" | "false" | "null"),
        Value::Text(text) => WORDS.contains(&text.as_str()),
        Value::Shared(_) => false,
    };
    parts.push((node.span.clone(), is_shown));
}

/// The header of a table in TOML, which holds nothing but keys.
fn header(text: &str, field: &Field) -> Option<Range<usize>> {
    let span = field.node.span.clone();
    let is_header = |line: &str| line.starts_with('[') && line.ends_with(']') && !line.contains('\n');
    (!field.own && text.get(span.clone()).is_some_and(is_header)).then_some(span)
}

fn values(entry: &Entry<'_>, hides: Hides<'_>, parts: &mut Parts) {
    let mut show = |node: &Node| parts.push((node.span.clone(), true));
    let mut before = None;
    for (node, word) in entry.command_nodes().into_iter().zip(entry.words().unwrap_or_default()) {
        if !hides(before, word) {
            show(node);
        }
        before = Some(word);
    }
    let limit = entry.host.limit.and_then(|limit| entry.whole.get(limit.key)).map(inmost);
    let plain = |node: &&Node| matches!(node.value, Value::Other(_) | Value::Text(_));
    limit.into_iter().chain(entry.node.get(APPROVAL)).filter(plain).for_each(&mut show);
    // In a list, this is where a server has its name.
    entry.whole.get("name").filter(|name| name.text() == Some(entry.name)).into_iter().for_each(show);
}
