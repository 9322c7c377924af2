//! What is asked of a policy: one call, and what it was found to be. Owns no rule.

use serde_json::Value;

use super::rate::Recent;
use crate::behavior::conclude::Behavior;

/// What is asked of a policy.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The server's name; the number of a second instance (`filesystem#2`) does not count.
    pub server: &'a str,
    /// The method, where it is a request other than `tools/call`.
    pub method: Option<&'a str>,
    /// The tool's name; for another request its method.
    pub tool: &'a str,
    pub behavior: &'a Behavior,
    pub arguments: &'a Value,
    /// Milliseconds since 1970, UTC: rules may expire.
    pub now: i64,
    /// The calls that all wrappers let run lately, for `rate`; `None` leaves it undecided.
    pub recent: Option<&'a Recent>,
}

/// Rules belong to a server's name, so `filesystem#2` is `filesystem` to them.
pub(crate) fn rules_name(server: &str) -> &str {
    match server.rsplit_once('#') {
        Some((name, number)) if !name.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => server,
    }
}
