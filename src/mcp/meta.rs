//! Which keys of a call's `_meta` the protocol or a known host puts there, and which are new. Owns the table of known keys.

use serde_json::Value;

use super::lifecycle::Revision;
use crate::wire::fold::{CLIENT_CAPABILITIES, CLIENT_INFO, PROGRESS_TOKEN, PROTOCOL_VERSION};
use crate::wire::task::RELATED;

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
