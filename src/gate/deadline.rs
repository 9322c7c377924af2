//! How long a call may wait: the hosts' own limits, and the margin we keep. A table; owns no clock.
//!
//! A host that gives up and retries while the operator approves the first call would run it twice, so every hold ends
//! before the host's own limit.

/// Seconds in microseconds.
const SECOND: u64 = 1_000_000;

/// When the first heartbeat of a held call with a progress token is sent, and how often after that.
pub const FIRST_HEARTBEAT: u64 = 4 * SECOND / 5;
pub const HEARTBEAT: u64 = 5 * SECOND;

/// How long the server may take to describe its tools before a call is judged without.
pub const DESCRIBE: u64 = 5 * SECOND;

/// How long calls that need no operator may take once the host is gone.
pub const GRACE: u64 = 3 * SECOND / 2;

/// How long a host may take to come back with a state of ours: those that do come back at once.
pub const RETURN: u64 = 60 * SECOND;

/// How long an `input_required` answer may be continued.
pub const CONTINUE: u64 = 600 * SECOND;

/// After how many microseconds a host gives up on a call (`None`: never), and whether progress notifications restart
/// that time, by the name that it gives itself (measured; the specification leaves it open).
fn patience(host: Option<&str>) -> (Option<u64>, bool) {
    /// How the name begins, whether that is the whole name, the limit in seconds, and whether progress restarts it.
    const HOSTS: [(&str, bool, Option<u64>, bool); 10] = [
        ("claude-code", true, Some(1800), true),
        ("opencode", true, Some(60), true),
        ("copilot-cli", true, Some(180), true),
        ("github-copilot-developer", true, Some(180), true),
        ("codex-mcp-client", true, Some(300), false),
        ("claude-ai", true, Some(240), false),
        ("gemini-cli-mcp-client", false, Some(600), false),
        ("qwen-", false, Some(600), false),
        ("goose", false, Some(300), false),
        ("visual studio code", false, None, false),
    ];
    let name = host.unwrap_or_default();
    let is_host = |(start, is_all, ..): &&(&str, bool, Option<u64>, bool)| {
        name.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
            && (!is_all || name.len() == start.len())
    };
    let (_, _, seconds, progress_extends) = HOSTS.iter().find(is_host).unwrap_or(&("", false, Some(60), false));
    (seconds.map(|seconds| seconds * SECOND), *progress_extends)
}

/// What a host does while its call waits that the operator cannot see, by the name it gives itself (measured).
pub fn silence(host: &str) -> Option<&'static str> {
    let name = host.to_ascii_lowercase();
    match name.as_str() {
        "claude-code" => Some("Claude Code stops waiting after 2 min, and still takes the answer later"),
        _ if name.starts_with("gemini-cli-mcp-client") || name.starts_with("qwen-") => {
            Some("it does not say when its user presses Esc: the call may no longer be wanted")
        }
        "zed" => Some("it does not say when it gives up: the call may no longer be wanted"),
        _ => None,
    }
}

/// How long one request is held at most (microseconds); `None`: it can wait for as long as the operator takes.
///
/// `host_limit` overrides the table; `has_token` tells whether heartbeats can keep this request alive. The margin is a tenth of
/// the host's limit, at least five seconds, at most half of it.
pub fn hold(host_limit: Option<u64>, host: Option<&str>, has_token: bool) -> Option<u64> {
    let (known, progress_extends) = patience(host);
    let limit = match host_limit {
        Some(limit) => limit,
        None if progress_extends && has_token => return None,
        None => known?,
    };
    Some(limit - (limit / 10).max(5 * SECOND).min(limit / 2))
}
