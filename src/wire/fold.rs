//! Names of members: writes them in JSON Pointers, and tells a key that a laxer parser would read as a protocol key from one
//! that is it. Owns the lists of protocol keys.
//!
//! THREATS C1 and C2: some parsers match keys regardless of case (CVE-2026-27896), some by simple Unicode folding.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

/// The keys of a message.
pub(crate) const ENVELOPE: &[&str] = &["jsonrpc", "id", "method", "params", "result", "error"];

/// The keys of `params` of a `tools/call`.
pub(super) const CALL: &[&str] = &["name", "arguments", "_meta", "task", "inputResponses", "requestState"];

/// The keys of any other `params` that decide something here.
pub(super) const PARAMS: &[&str] = &["_meta", "name", "requestId"];

/// The key of `_meta` that is present in each request of the stateless era.
pub(crate) const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The host's name and version in a stateless request's `_meta`.
pub(crate) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// What the host can do, as a stateless request's `_meta` has it.
pub(crate) const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The key of `_meta` that holds the token under which progress of the request is reported.
pub(crate) const PROGRESS_TOKEN: &str = "progressToken";

/// The protocol's own keys of `_meta`.
const META: &[&str] = &[
    PROGRESS_TOKEN,
    PROTOCOL_VERSION,
    CLIENT_INFO,
    CLIENT_CAPABILITIES,
    "io.modelcontextprotocol/logLevel",
    "io.modelcontextprotocol/related-task",
    "io.modelcontextprotocol/model-immediate-response",
    "io.modelcontextprotocol/subscriptionId",
    "io.modelcontextprotocol/serverInfo",
    "io.modelcontextprotocol/authorization",
];

/// What every protocol key of `_meta` but one begins with.
const META_PREFIX: &str = "io.modelcontextprotocol/";

/// Whether `key` folds to one of `protocol` without being it.
pub(crate) fn shadows(key: &str, protocol: &[&str]) -> bool {
    if protocol.contains(&key) {
        return false;
    }
    if key.is_ascii() {
        protocol.iter().any(|known| key.eq_ignore_ascii_case(known))
    } else {
        let folded = folded(key);
        protocol.iter().any(|known| folded == self::folded(known))
    }
}

/// Whether a key of `_meta` folds to a protocol key, or into the protocol's own prefix, without being so written.
pub(super) fn shadows_meta(key: &str) -> bool {
    shadows(key, META) || (!key.starts_with(META_PREFIX) && folded(key).starts_with(META_PREFIX))
}

/// Compatibility normalisation, then full case folding.
fn folded(key: &str) -> String {
    if key.is_ascii() {
        return key.to_ascii_lowercase();
    }
    let composed: String = key.nfkc().collect();
    caseless::default_case_fold_str(&composed)
}

/// A member's name as a JSON Pointer writes it.
pub fn in_pointer(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| matches!(byte, b'~' | b'/')) {
        name.replace('~', "~0").replace('/', "~1").into()
    } else {
        name.into()
    }
}

/// The name that a JSON Pointer writes as this word.
pub fn from_pointer(word: &str) -> String {
    word.replace("~1", "/").replace("~0", "~")
}
