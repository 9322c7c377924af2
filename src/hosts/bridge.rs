//! An entry for a server that is reached over the network, as one that starts our wrapper with its address. An entry with
//! anything that the bridge would not know of, such as headers, is left alone.

use super::entry::{ADDRESSES, Entry, begins_with_ours};
use super::refusal::Refusal;
use super::splice::{Splice, quoted, without_field};
use super::tree::{Node, Value};

/// Members that may be in an entry besides its address, and mean the same for a server that is started.
const KEPT: [&str; 19] = [
    "type", "name", "description", "enabled", "disabled", "timeout", "trust", "tools", "alwaysAllow", "autoApprove",
    "disabledTools", "includeTools", "excludeTools", "enabled_tools", "disabled_tools", "tool_timeout_sec",
    "startup_timeout_sec", "default_tools_approval_mode", "bundled",
];

/// The fields of a command line, and the entry's kind where it has to change.
pub(super) type Line<'a> = (Vec<(String, Vec<String>)>, Option<(&'a Node, &'static str)>);

/// The command line that reaches an entry's server.
pub(super) fn command<'a>(entry: &Entry<'a>, program: &str, options: &[String]) -> Result<Line<'a>, Refusal> {
    let other = entry
        .node
        .fields()
        .iter()
        .find(|field| !KEPT.contains(&field.key.as_str()) && !ADDRESSES.contains(&field.key.as_str()));
    if let Some(other) = other {
        let key = &other.key;
        let why =
            format!("it has {key:?}, which mcp-remote would not know of: wrap it by hand (mcp-approve help hosts)");
        return Err(why.into());
    }
    let address = entry.address().unwrap_or_default();
    let local = ["http://localhost", "http://127.0.0.1", "http://[::1]"].iter().any(|here| address.starts_with(here));
    if !(local || address.starts_with("https://")) || address.contains(['$', '{', '@']) {
        return Err("its address is not plain https://: wrap it by hand (mcp-approve help hosts)".into());
    }
    let words = options.iter().cloned().chain([address.to_owned()]);
    let whole = entry.host.word == "opencode";
    let line = if whole {
        vec![("command".to_owned(), std::iter::once(program.to_owned()).chain(words).collect())]
    } else {
        let key = if entry.host.word == "goose" { "cmd" } else { "command" };
        vec![("args".to_owned(), words.collect()), (key.to_owned(), vec![program.to_owned()])]
    };
    let kind = if whole || entry.host.word == "copilot" { "local" } else { "stdio" };
    Ok((line, entry.node.get("type").filter(|node| node.text().is_some()).map(|node| (node, kind))))
}

/// One word, or a list of several.
pub(super) fn written(words: &[String]) -> String {
    match words {
        [one] => quoted(one),
        several => format!("[{}]", several.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(", ")),
    }
}

/// The changes that give an entry its former address back, even if the entry was changed since.
pub(super) fn restored(text: &str, entry: &Entry<'_>, before: (&str, &Entry<'_>)) -> Result<Vec<Splice>, Refusal> {
    let (old, before) = before;
    let by_hand = || Refusal::from("give its entry the address back by hand");
    if !entry.words().is_some_and(|words| begins_with_ours(&words) && words.last() == before.address().as_ref()) {
        return Err(by_hand());
    }
    let line = entry.command_field().ok_or_else(by_hand)?;
    let was = before
        .address_field()
        .and_then(|field| old.get(field.key_span.start..field.node.span.end))
        .ok_or_else(by_hand)?;
    let mut splices = vec![Splice::of(line.key_span.start..line.node.span.end, was)];
    if !matches!(line.node.value, Value::List(_)) {
        splices.push(without_field(text, entry.node.fields(), "args").ok_or_else(by_hand)?);
    }
    if let (Some(now), Some(was)) = (entry.node.get("type"), before.node.get("type")) {
        splices.push(Splice::of(now.span.clone(), old.get(was.span.clone()).ok_or_else(by_hand)?));
    }
    Ok(splices)
}
