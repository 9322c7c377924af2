//! Requests other than `tools/call`: which can be held, which a revision has, and what one is about; and which keys of a call's
//! `_meta` the protocol or a known host puts there, and which are new. Owns no judgement.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::lifecycle::Revision;
use crate::wire::fold::{self, CLIENT_CAPABILITIES, CLIENT_INFO, PROGRESS_TOKEN, PROTOCOL_VERSION};
use crate::wire::task::RELATED;

pub const CALL: &str = "tools/call";

/// Whether rules decide on a method. They do not on the handshake and pings, which keep the session itself alive; on
/// `tools/list`, which the gate needs to judge calls and to cut scopes; and on notifications, which cannot wait.
pub fn is_ruled(method: &str) -> bool {
    !matches!(method, "initialize" | "ping" | "server/discover" | "tools/list") && !method.starts_with("notifications/")
}

/// What a host's request is to the revision that it is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It keeps the session going, lists, or asks how far a task is.
    Reads,
    /// It gives the content of a resource or a prompt, completes from it, or follows it.
    Contents,
    /// It changes something, or the revision does not have it.
    Other,
}

/// The methods of hosts that only read, from which revision to which one.
///
/// `logging/setLevel` is here because it changes nothing but what the server reports, and hosts send it unasked; `tasks/cancel`
/// because it can only end a call, as `notifications/cancelled` does.
const STANDING: [(&str, Revision, Revision, Standing); 17] = {
    use Revision::{V2024_11_05 as First, V2025_11_25 as Tasks, V2026_07_28 as Newest};
    use Standing::{Contents, Reads};
    [
        ("initialize", First, Tasks, Reads),
        ("ping", First, Tasks, Reads),
        ("server/discover", Newest, Newest, Reads),
        ("logging/setLevel", First, Tasks, Reads),
        ("tools/list", First, Newest, Reads),
        ("resources/list", First, Newest, Reads),
        ("resources/templates/list", First, Newest, Reads),
        ("prompts/list", First, Newest, Reads),
        ("tasks/get", Tasks, Newest, Reads),
        ("tasks/result", Tasks, Tasks, Reads),
        ("tasks/list", Tasks, Tasks, Reads),
        ("tasks/cancel", Tasks, Newest, Reads),
        ("resources/read", First, Newest, Contents),
        ("resources/subscribe", First, Tasks, Contents),
        ("resources/unsubscribe", First, Tasks, Contents),
        ("prompts/get", First, Newest, Contents),
        ("completion/complete", First, Newest, Contents),
    ]
};

pub fn standing(method: &str, revision: Revision) -> Standing {
    if method == "subscriptions/listen" && revision == Revision::V2026_07_28 {
        return Standing::Contents;
    }
    let row = STANDING.iter().find(|(known, from, to, _)| method == *known && (*from..=*to).contains(&revision));
    row.map_or(Standing::Other, |(.., standing)| *standing)
}

/// Whether some revision has this notification of hosts.
pub fn is_notification(method: &str) -> bool {
    let known = ["initialized", "cancelled", "progress", "roots/list_changed", "tasks/status"];
    method.strip_prefix("notifications/").is_some_and(|word| known.contains(&word))
}

/// A resource or a prompt, by its address or its name. Foreign text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content<'p> {
    Resource(&'p str),
    Prompt(&'p str),
}

/// The contents that a request of [`Standing::Contents`] is about; `None` where it does not name them as the protocol has it.
pub fn contents<'p>(method: &str, params: &'p Value) -> Option<Vec<Content<'p>>> {
    let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str);
    let one = match (method, text("/ref/type")) {
        ("prompts/get", _) => Content::Prompt(text("/name")?),
        ("completion/complete", Some("ref/prompt")) => Content::Prompt(text("/ref/name")?),
        ("completion/complete", Some("ref/resource")) => Content::Resource(text("/ref/uri")?),
        ("completion/complete", _) => return None,
        ("subscriptions/listen", _) => return followed(params),
        _ => Content::Resource(text("/uri")?),
    };
    Some(vec![one])
}

/// The resources that a subscription follows, wherever in it they are named.
fn followed(params: &Value) -> Option<Vec<Content<'_>>> {
    let (mut found, mut left) = (Vec::new(), vec![params]);
    while let Some(value) = left.pop() {
        if let Some(uris) = value.get("resourceSubscriptions") {
            let uris = uris.as_array()?.iter().map(|uri| uri.as_str().map(Content::Resource));
            found.extend(uris.collect::<Option<Vec<_>>>()?);
        }
        left.extend(value.as_object().into_iter().flatten().map(|(_, inner)| inner));
    }
    Some(found)
}

/// What a request is about, by its `params`: an address, a prompt's name, a task, a question. Foreign text.
pub fn target(params: &Value) -> Option<&str> {
    let pointers = ["/uri", "/name", "/ref/name", "/ref/uri", "/taskId", "/message"];
    let named = pointers.iter().find_map(|pointer| params.pointer(pointer)?.as_str());
    let named = named.or_else(|| params.pointer("/notifications/resourceSubscriptions/0")?.as_str());
    named.or_else(|| params.get("messages")?.as_array()?.last()?.pointer("/content/text")?.as_str())
}

/// What a notification of a server is about, by its `params`: the event that a job tells of, an address, a task. Foreign text.
pub fn event(params: &Value) -> Option<&str> {
    let pointers = ["/data/event", "/event", "/uri", "/taskId", "/message", "/data", "/data/message", "/progressToken"];
    pointers.iter().find_map(|pointer| params.pointer(pointer)?.as_str())
}

/// What rules see of a request as its arguments: its `params`, and for a file's address its `path`, so that a rule can say `under`. A
/// `path` that the caller wrote beside an address is dropped: it could name another file than is read.
pub fn arguments(mut params: Value) -> Value {
    if let Some(fields) = params.as_object_mut()
        && let Some(uri) = fields.get("uri")
    {
        match uri.as_str().and_then(path_of) {
            Some(path) => drop(fields.insert("path".to_owned(), path.into())),
            None => drop(fields.remove("path")),
        }
    }
    params
}

/// The addresses of files that a request to read a resource names, each with its path where that can be told: under `uri` in any
/// spelling, and whatever a server could take for the address of a file. Empty for other requests.
pub fn files<'p>(method: &str, params: &'p Value) -> Vec<(&'p str, Option<String>)> {
    let bare = method.trim_matches(|c: char| c.is_whitespace() || c.is_control() || c == '/');
    if !is_alike(bare, "resources/read") {
        return Vec::new();
    }
    let named = params.as_object().into_iter().flatten().filter(|(key, _)| is_alike(key, "uri"));
    let (mut left, mut found): (Vec<&Value>, Vec<_>) = (named.map(|(_, value)| value).collect(), Vec::new());
    while let Some(value) = left.pop() {
        match value {
            Value::String(uri) if is_file(uri) => found.push((uri.as_str(), path_of(uri))),
            Value::Array(items) => left.extend(items),
            Value::Object(fields) => left.extend(fields.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    found
}

/// Whether a text is this word, or a lax reader could take it for that.
fn is_alike(text: &str, word: &str) -> bool {
    text == word || fold::shadows(text, &[word])
}

/// The decoded path in a `file:` address of this machine; `None` where readers differ, as on `?` and `#`.
pub fn path_of(uri: &str) -> Option<String> {
    let scheme = uri.get(..5)?;
    let rest = uri.get(5..).filter(|_| scheme.eq_ignore_ascii_case("file:"))?;
    // `file:/path` and `file:///path` are the same file.
    let path = match rest.strip_prefix("//") {
        Some(rest) => rest.strip_prefix("localhost").unwrap_or(rest),
        None => rest,
    };
    if !path.starts_with('/') || path.contains(['?', '#']) || path.contains(char::is_control) {
        return None;
    }
    percent_decode_str(path).decode_utf8().ok().map(Cow::into_owned)
}

/// Whether an address climbs, by `..` in any spelling.
pub fn climbs(address: &str) -> bool {
    percent_decode_str(address).decode_utf8_lossy().split(['/', '\\', '?', '#']).any(|segment| segment == "..")
}

/// Whether an address is of a file, whatever the spelling of its scheme: readers of addresses skip control characters in it and
/// space before it, and some take a path without a scheme.
pub fn is_file(uri: &str) -> bool {
    let plain: String = uri.chars().filter(|c| !c.is_control()).skip_while(|c| c.is_whitespace()).take(5).collect();
    plain.eq_ignore_ascii_case("file:") || plain.starts_with(['/', '~'])
}

/// How long a value of one token is at most, in bytes.
const TOKEN: usize = 256;
/// How long what a host says of itself is at most, in bytes.
const OF_HOST: usize = 16 * 1024;
/// The most that W3C Trace Context and W3C Baggage have every party pass on, in bytes.
const TRACE_STATE: usize = 512;
const BAGGAGE: usize = 8192;

/// What a value under an unknown key could be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// One token, a number or a literal, such as an id.
    Plain,
    /// Anything else, so anything that an argument can be.
    Arguments,
}

#[derive(Clone, Copy)]
enum ValueForm {
    Token,
    /// An object that says what the host is or can do.
    OfHost,
    /// An object with one token under `taskId`.
    Task,
    /// `name=value` pairs, of so many bytes at most.
    Pairs(usize),
    /// Version, trace, span and flags of W3C Trace Context: hex digits, so many each.
    Trace,
}

/// The keys that a revision gives the `_meta` of a request: from which one to which one.
///
/// The trace is the newest revision's (SEP-414), but older sessions carry it just so.
const OWN: [(&str, Revision, Revision, ValueForm); 9] = {
    use Revision::{V2024_11_05 as First, V2025_11_25 as Tasks, V2026_07_28 as Newest};
    [
        (PROGRESS_TOKEN, First, Newest, ValueForm::Token),
        (RELATED, Tasks, Tasks, ValueForm::Task),
        (PROTOCOL_VERSION, Newest, Newest, ValueForm::Token),
        (CLIENT_INFO, Newest, Newest, ValueForm::OfHost),
        (CLIENT_CAPABILITIES, Newest, Newest, ValueForm::OfHost),
        ("io.modelcontextprotocol/logLevel", Newest, Newest, ValueForm::Token),
        ("traceparent", First, Newest, ValueForm::Trace),
        ("tracestate", First, Newest, ValueForm::Pairs(TRACE_STATE)),
        ("baggage", First, Newest, ValueForm::Pairs(BAGGAGE)),
    ]
};

/// What well-known hosts put into every call: Claude Code, Codex, Goose. Codex says what its turn works on, anew in each.
const OF_HOSTS: [(&str, ValueForm); 8] = [
    ("claudecode/toolUseId", ValueForm::Token),
    ("callId", ValueForm::Token),
    ("threadId", ValueForm::Token),
    ("sessionId", ValueForm::Token),
    ("windowId", ValueForm::Token),
    ("itemId", ValueForm::Token),
    ("agent-session-id", ValueForm::Token),
    ("x-codex-turn-metadata", ValueForm::OfHost),
];

/// The keys of a call's `_meta` that neither its revision nor a known host puts there, or not with such a value, in their order.
///
/// `revision` is the stateless one for a request that declares it, else that of the handshake; `None` where neither is known.
pub fn unknown_meta(meta: &Value, revision: Option<Revision>) -> Vec<(String, Carries)> {
    let revision = revision.unwrap_or(Revision::V2026_07_28);
    let is_known = |key: &str, value: &Value| {
        let own = OWN.iter().find(|(known, from, to, _)| key == *known && (*from..=*to).contains(&revision));
        let of_host = || OF_HOSTS.iter().find(|(known, _)| key == *known).map(|(_, form)| form);
        own.map(|(.., form)| form).or_else(of_host).is_some_and(|form| form.fits(value))
    };
    let members = meta.as_object().into_iter().flatten();
    let unknown = members.filter(|(key, value)| !is_known(key, value));
    unknown
        .map(|(key, value)| (key.clone(), if is_token(value) { Carries::Plain } else { Carries::Arguments }))
        .collect()
}

impl ValueForm {
    fn fits(self, value: &Value) -> bool {
        match self {
            Self::Token => is_token(value),
            Self::OfHost => value.is_object() && value.to_string().len() <= OF_HOST,
            Self::Task => {
                value.as_object().is_some_and(|task| task.len() == 1 && task.get("taskId").is_some_and(is_token))
            }
            Self::Pairs(most) => value.as_str().is_some_and(|text| text.len() <= most && is_pairs(text)),
            Self::Trace => value.as_str().is_some_and(is_trace),
        }
    }
}

/// Whether a value is one short token, a number or a literal. Where a path or an address could start, it is none.
fn is_token(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => true,
        // A number that is written out at length holds as much as a text.
        Value::Number(number) => number.to_string().len() <= TOKEN,
        Value::String(text) => {
            let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/@#+=".contains(&byte);
            let leads = text.starts_with('/') || text.starts_with('.') || text.contains("//") || text.contains("..");
            text.len() <= TOKEN && !leads && text.bytes().all(is_part)
        }
        Value::Array(_) | Value::Object(_) => false,
    }
}

/// Whether a text is a `traceparent` of W3C Trace Context.
pub fn is_trace(text: &str) -> bool {
    let is_hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.split('-').map(str::len).eq([2, 32, 16, 2]) && text.split('-').all(is_hex)
}

/// Whether a text is a list of `name=value`, as W3C has it for what a trace carries: no spaces, quotes, control characters.
fn is_pairs(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_graphic() && !b"\"\\`$<>(){}|&".contains(&byte);
    let is_pair = |pair: &str| pair.contains('=') && pair.bytes().all(is_part);
    text.is_empty() || text.split(',').all(|pair| is_pair(pair.trim_matches([' ', '\t'])))
}
