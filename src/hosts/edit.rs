//! Works out which bytes of an entry's text are replaced by which, so that every other byte stays. Refuses an entry,
//! with the reason, if it is written in a way that we cannot prove we change exactly.

use std::ops::Range;

use crate::hosts::entry::{ADDRESSES, Command, Entry, begins_with_ours, inmost};
use crate::hosts::table::Unit;
use crate::hosts::tree::{Field, Node, Refusal, Splice, Syntax, Value, quoted, without_field};

#[derive(Clone, Debug)]
pub struct Wrap {
    /// What the host starts: the path of our binary.
    pub program: String,
    /// Where `--home` keeps our files, if it was given.
    pub home: Option<String>,
    /// Whether Codex passes every call on to us without a question of its own.
    pub pass: Pass,
    pub remote: Remote,
}

/// What becomes of servers that are reached over the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remote {
    Leave,
    /// The host starts a wrapper that reaches them.
    Bridge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    Unchanged,
    Everything,
}

/// The key that says what Codex does with calls.
pub(super) const APPROVAL: &str = "default_tools_approval_mode";

/// A host that waits for less, in milliseconds, gives up before anybody could decide.
pub(super) const SHORT: u64 = 30_000;

/// What a short limit is raised to, in milliseconds.
pub(super) const RAISED: u64 = 300_000;

/// The name that rules have for a server: its host's own, with `_` for what names cannot hold.
pub fn rules_name(key: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let name: String = key.chars().take(64).map(fit).collect();
    match name.strip_prefix('-') {
        // It would be read as an option.
        Some(rest) => format!("_{rest}"),
        None if name.is_empty() => "server".to_owned(),
        None => name,
    }
}

/// Whether Codex is to pass this server's calls on, and its file does not say so yet.
pub(super) fn has_to_pass(entry: &Entry<'_>, how: &Wrap) -> bool {
    entry.host.word == "codex" && how.pass == Pass::Everything && entry.node.get(APPROVAL).is_none()
}

/// What wraps an entry, and what is worth saying about it.
pub(super) fn wrap(
    text: &str,
    syntax: Syntax,
    entry: &Entry<'_>,
    how: &Wrap,
) -> Result<(Vec<Splice>, Vec<String>), Refusal> {
    let remote = entry.address_field().filter(|_| entry.command().is_none());
    if remote.is_none() {
        entry.command().ok_or("it has no command of its own that could be wrapped")?;
        entry.words().filter(|words| !words.is_empty()).ok_or("its command is not a program and a list of words")?;
    }
    let (mut splices, mut notes, mut fields) = (Vec::new(), Vec::new(), Vec::new());
    let name = rules_name(entry.name);
    if name != entry.name {
        notes.push(format!("rules name it {name}"));
    }
    let mut options = Vec::new();
    if let Some(home) = &how.home {
        options.extend(["--home".to_owned(), home.clone()]);
    }
    options.extend(["--name".to_owned(), name]);
    if let Some(limit) = limit(entry, &mut splices, &mut fields, &mut notes) {
        options.extend(["--host-timeout".to_owned(), limit]);
    }
    options.push("--".to_owned());
    if has_to_pass(entry, how) {
        fields.push((APPROVAL.to_owned(), quoted("approve")));
        notes.push("Codex passes its calls on without a question of its own".to_owned());
    }
    match entry.command() {
        None => {
            let field = remote.ok_or("its address is gone")?;
            let (line, kind) = bridged(entry, &how.program, &options)?;
            let mut line = line.into_iter().map(|(key, words)| (key, one_or_list(&words)));
            let (last, value) = line.next_back().ok_or("its command is gone")?;
            fields.extend(line);
            let fields = before(text, syntax, entry.node, field, &fields)?;
            let last = one_field(syntax, &last, &value);
            splices.push(Splice::of(field.key_span.start..field.node.span.end, fields + &last));
            splices.extend(kind.map(|(node, kind)| Splice::of(node.span.clone(), quoted(kind))));
            notes.push("mcp-remote reaches it, which needs Node.js".to_owned());
            return Ok((splices, notes));
        }
        Some(Command::Whole(words)) => {
            let list = &entry.command_field().ok_or("its command is gone")?.node;
            let ours = std::iter::once(&how.program).chain(&options).map(|word| quoted(word));
            splices.push(at_head(text, list, words, &ours.collect::<Vec<_>>())?);
        }
        Some(Command::Parted { program, words, within }) => {
            let moved = literal(text, syntax, &program.node)
                .ok_or("its command is written in a way that mcp-approve does not edit")?;
            splices.push(Splice::of(program.node.span.clone(), quoted(&how.program)));
            let ours: Vec<String> = options.iter().map(|word| quoted(word)).chain([moved]).collect();
            match words {
                Some(list) => match &list.value {
                    Value::List(words) => splices.push(at_head(text, list, words, &ours)?),
                    _ => return Err("its `args` is not a list: write [] there, or take the key out".into()),
                },
                None if std::ptr::eq(within, entry.node) => {
                    fields.push(("args".to_owned(), format!("[{}]", ours.join(", "))));
                }
                None => return Err("its `command` has no `args`: write \"args\": [] into it".into()),
            }
        }
    }
    if !fields.is_empty() {
        let key = entry.command_field().ok_or("its command is gone")?;
        splices
            .push(Splice::of(key.key_span.start..key.key_span.start, before(text, syntax, entry.node, key, &fields)?));
    }
    Ok((splices, notes))
}

/// The host's time limit that our wrapper has to keep, as the text of an option; a short limit is raised first.
fn limit(
    entry: &Entry<'_>,
    splices: &mut Vec<Splice>,
    fields: &mut Vec<(String, String)>,
    notes: &mut Vec<String>,
) -> Option<String> {
    let limit = entry.host.limit?;
    let said = entry.limit();
    let raised = if limit.unit == Unit::Seconds { RAISED / 1000 } else { RAISED }.to_string();
    let mut of = said;
    match (said, entry.whole.get(limit.key)) {
        (Some(short), Some(node)) if short < SHORT => {
            splices.push(Splice::of(inmost(node).span.clone(), raised));
            notes.push(format!("`{}` is raised from {} to {}", limit.key, span(short), span(RAISED)));
            of = Some(RAISED);
        }
        (None, None) if limit.short.is_some_and(|short| short < SHORT) && entry.list.len() == 1 => {
            fields.push((limit.key.to_owned(), raised));
            notes.push(format!("`{}` is set to {}: without it the host gives up early", limit.key, span(RAISED)));
            of = Some(RAISED);
        }
        _ => {}
    }
    // A longer limit need not be passed on: a wrapper has its own deadline for a decision.
    of.filter(|milliseconds| *milliseconds < 30 * 24 * 3_600_000).map(span)
}

fn span(milliseconds: u64) -> String {
    if milliseconds.is_multiple_of(1000) { format!("{}s", milliseconds / 1000) } else { format!("{milliseconds}ms") }
}

/// The changes that take the wrapper out again, worked out from the command line alone.
pub(super) fn unwrap(text: &str, entry: &Entry<'_>) -> Result<Vec<Splice>, Refusal> {
    let words = entry.words().ok_or("its command line is not a list of words")?;
    let dashes = words.iter().position(|word| *word == "--").filter(|at| at + 1 < words.len());
    let dashes = dashes.ok_or("its command line names no server after `--`: edit it by hand")?;
    if words.get(dashes + 1).is_some_and(|word| word.starts_with("http://") || word.starts_with("https://")) {
        return Err("it reaches a server over the network: give its entry the address back by hand".into());
    }
    if !begins_with_ours(&words) {
        return Err("mcp-approve is not the first word of its command line: edit it by hand".into());
    }
    match entry.command() {
        Some(Command::Whole(items)) => {
            let list = &entry.command_field().ok_or("its command is gone")?.node;
            Ok(vec![without(text, list, items, dashes + 1)?])
        }
        Some(Command::Parted { program, words: Some(list), .. }) => {
            let Value::List(items) = &list.value else { return Err("its `args` is not a list".into()) };
            let server = items.get(dashes).and_then(|item| text.get(item.span.clone())).ok_or("its command is gone")?;
            Ok(vec![Splice::of(program.node.span.clone(), server), without(text, list, items, dashes + 1)?])
        }
        Some(Command::Parted { words: None, .. }) | None => Err("its command line has no arguments".into()),
    }
}

/// The text of an entry's own fields, from the first key to the last value.
pub(super) fn own(node: &Node) -> Option<Range<usize>> {
    let own = || node.fields().iter().filter(|field| field.own);
    let start = own().map(|field| field.key_span.start).min()?;
    Some(start..own().map(|field| field.node.span.end).max()?)
}

/// A word as it is written, or as it can be written at any place; `None` where it is no word.
fn literal(text: &str, syntax: Syntax, node: &Node) -> Option<String> {
    let (Value::Text(word), written) = (&node.value, text.get(node.span.clone())?) else { return None };
    let plain = || written.chars().all(|c| c.is_ascii_alphanumeric() || "_./@~+-".contains(c));
    let whole = !written.contains(['\n', '\r'])
        && (written.starts_with(['"', '\'']) || (syntax == Syntax::Yaml && !written.starts_with('-') && plain()));
    Some(if whole { written.to_owned() } else { quoted(word) })
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// What is before a place on its line.
fn line_before(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or_default();
    before.rsplit('\n').next().unwrap_or_default()
}

/// Fields to be put before another one, in the way that one is written.
fn before(
    text: &str,
    syntax: Syntax,
    within: &Node,
    field: &Field,
    put: &[(String, String)],
) -> Result<String, Refusal> {
    let line = line_before(text, field.key_span.start);
    let inline = text.get(within.span.clone()).is_some_and(|text| text.starts_with('{'));
    let own_line = format!("{}{line}", newline(text));
    let between = match syntax {
        Syntax::Json if line.trim().is_empty() => format!(",{own_line}"),
        Syntax::Toml if !inline => own_line,
        Syntax::Json | Syntax::Toml => ", ".to_owned(),
        Syntax::Yaml if inline => ", ".to_owned(),
        Syntax::Yaml if line.chars().all(|c| c == ' ' || c == '-') => own_line.replace('-', " "),
        Syntax::Yaml => return Err("its fields are written in a way that mcp-approve does not edit".into()),
    };
    let field = |(key, value): &(String, String)| one_field(syntax, key, value) + &between;
    Ok(put.iter().map(field).collect())
}

fn one_field(syntax: Syntax, key: &str, value: &str) -> String {
    match syntax {
        Syntax::Json => format!("{}: {value}", quoted(key)),
        Syntax::Toml => format!("{key} = {value}"),
        Syntax::Yaml => format!("{key}: {value}"),
    }
}

/// Where an item of a list begins: at its dash, where it has one.
fn begins(text: &str, list: &Node, item: &Node) -> Result<usize, Refusal> {
    if text.get(list.span.clone()).is_some_and(|text| text.starts_with('[')) {
        return Ok(item.span.start);
    }
    let line = line_before(text, item.span.start);
    let dash = line.trim_end_matches(' ').strip_suffix('-').filter(|indent| indent.chars().all(|c| c == ' '));
    let indent = dash.ok_or("its list of words is written in a way that mcp-approve does not edit")?;
    Ok(item.span.start - line.len() + indent.len())
}

/// Words to be put at the head of a list, in the way it is written.
fn at_head(text: &str, list: &Node, items: &[Node], words: &[String]) -> Result<Splice, Refusal> {
    let inline = text.get(list.span.clone()).is_some_and(|text| text.starts_with('['));
    let Some(first) = items.first() else {
        let inside = list.span.start + 1;
        return if inline { Ok(Splice::of(inside..inside, words.join(", "))) } else { Err("its list is empty".into()) };
    };
    let at = begins(text, list, first)?;
    let line = line_before(text, at);
    let own_line = format!("{}{line}", newline(text));
    let put = match inline {
        true if line.trim().is_empty() && line.len() < at => {
            words.iter().map(|word| format!("{word},{own_line}")).collect()
        }
        true => words.iter().map(|word| format!("{word}, ")).collect::<String>(),
        false => words.iter().map(|word| format!("- {word}{own_line}")).collect(),
    };
    Ok(Splice::of(at..at, put))
}

fn without(text: &str, list: &Node, items: &[Node], count: usize) -> Result<Splice, Refusal> {
    let first = items.first().ok_or("its list of words is empty")?;
    let start = begins(text, list, first)?;
    if let Some(next) = items.get(count) {
        return Ok(Splice::of(start..begins(text, list, next)?, ""));
    }
    if start != first.span.start {
        return Ok(Splice::of(list.span.clone(), "[]"));
    }
    let end = items.last().map_or(start, |last| last.span.end);
    let [before, after] =
        [list.span.start + 1..start, end..list.span.end - 1].map(|at| text.get(at).unwrap_or_default());
    if before.trim().is_empty() && matches!(after.trim(), "" | ",") {
        return Ok(Splice::of(list.span.clone(), "[]"));
    }
    let comma = after.len() - after.trim_start().len();
    Ok(Splice::of(start..if after.trim_start().starts_with(',') { end + comma + 1 } else { end }, ""))
}

/// Members that may be in an entry besides its address, and mean the same for a server that is started.
const KEPT: [&str; 19] = [
    "type", "name", "description", "enabled", "disabled", "timeout", "trust", "tools", "alwaysAllow", "autoApprove",
    "disabledTools", "includeTools", "excludeTools", "enabled_tools", "disabled_tools", "tool_timeout_sec",
    "startup_timeout_sec", "default_tools_approval_mode", "bundled",
];

/// The fields of a command line, and the entry's kind where it has to change.
pub(super) type Line<'a> = (Vec<(String, Vec<String>)>, Option<(&'a Node, &'static str)>);

/// The command line that reaches an entry's server.
pub(super) fn bridged<'a>(entry: &Entry<'a>, program: &str, options: &[String]) -> Result<Line<'a>, Refusal> {
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

fn one_or_list(words: &[String]) -> String {
    match words {
        [one] => quoted(one),
        several => format!("[{}]", several.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(", ")),
    }
}

/// The changes that give an entry its former address back, even if the entry was changed since.
pub(super) fn with_address(text: &str, entry: &Entry<'_>, before: (&str, &Entry<'_>)) -> Result<Vec<Splice>, Refusal> {
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
