//! A file's text as it may be shown: keys, how servers are started, how long calls may take, and values that are no secret
//! whatever their key: truth values and known words. Every other value and every comment is hidden, for a list of servers
//! holds keys and tokens, and no list of secrets is ever whole.

use std::ops::Range;

use super::edit::APPROVAL;
use super::entry::{Entry, entries, inmost};
use super::table::Host;
use super::tree::{Node, Syntax, Value, parse};

/// Whether a word of a command line is shown, by the word before it.
pub type Hides<'h> = &'h dyn Fn(Option<&str>, &str) -> bool;

/// The same lines, without what is not to be shown.
///
/// # Errors
/// The text cannot be read.
pub fn masked(host: &'static Host, syntax: Syntax, text: &str, hides: Hides<'_>) -> Result<String, String> {
    let root = parse(syntax, text)?;
    let mut shown = Vec::new();
    plain(&root, &mut shown);
    for entry in entries(host, &root)? {
        values(&entry, hides, &mut shown);
    }
    shown.sort_by_key(|span| span.start);
    // A word of a command line may be one of the formats' words, too.
    shown.dedup();
    let (mut out, mut at, mut hid) = (String::with_capacity(text.len()), 0, false);
    for span in shown.into_iter().chain(std::iter::once(text.len()..text.len())) {
        for c in text.get(at..span.start).unwrap_or_default().chars() {
            let dash = c == '-' && out.ends_with([' ', '\n']);
            let plain = dash || c.is_whitespace() || "{}[],:=".contains(c);
            if plain || !hid {
                out.push(if plain { c } else { '…' });
            }
            hid = !plain;
        }
        out.push_str(text.get(span.clone()).unwrap_or_default());
        (at, hid) = (span.end.max(at), false);
    }
    Ok(out)
}

/// Words that hosts' formats have as values.
const WORDS: [&str; 9] =
    ["stdio", "http", "sse", "streamable-http", "streamable_http", "streamableHttp", "local", "remote", "allow"];

/// Keys, truth values, nothing, and words of the formats. A number may be somebody's secret.
fn plain(node: &Node, shown: &mut Vec<Range<usize>>) {
    match &node.value {
        Value::List(items) => items.iter().for_each(|item| plain(item, shown)),
        Value::Table(fields) => {
            for field in fields {
                shown.push(field.key_span.clone());
                plain(&field.node, shown);
            }
        }
        Value::Other(text) if matches!(text.as_str(), "true" | "false" | "null") => shown.push(node.span.clone()),
        Value::Text(text) if WORDS.contains(&text.as_str()) => shown.push(node.span.clone()),
        Value::Text(_) | Value::Other(_) | Value::Shared(_) => {}
    }
}

fn values(entry: &Entry<'_>, hides: Hides<'_>, shown: &mut Vec<Range<usize>>) {
    let mut before = None;
    for (node, word) in entry.command_nodes().into_iter().zip(entry.words().unwrap_or_default()) {
        if !hides(before, word) {
            shown.push(node.span.clone());
        }
        before = Some(word);
    }
    let limit = entry.host.limit.and_then(|limit| entry.node.get(limit.key)).map(inmost);
    let plain = |node: &&Node| matches!(node.value, Value::Other(_) | Value::Text(_));
    shown.extend(limit.into_iter().chain(entry.node.get(APPROVAL)).filter(plain).map(|node| node.span.clone()));
}
