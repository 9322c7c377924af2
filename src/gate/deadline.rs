//! How long a call may wait: the hosts' own limits (`assets/patience.toml`) and the margin we keep. Owns no clock.

use std::sync::LazyLock;

use serde::Deserialize;

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

/// How long a host that tells no name, or one that is not known, waits for a call, in seconds.
const UNKNOWN: u64 = 60;

/// A host, by the name that it gives itself.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Patience {
    name: &'static str,
    #[serde(default)]
    whole: bool,
    seconds: Option<u64>,
    #[serde(default)]
    extends: bool,
    #[serde(default)]
    bare: bool,
    says: Option<&'static str>,
}

/// Every host that was measured; none if the file were broken, which a test would say.
static HOSTS: LazyLock<Vec<Patience>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    #[serde(bound(deserialize = "'de: 'static"))]
    struct File {
        host: Vec<Patience>,
    }
    toml::from_str(include_str!("../../assets/patience.toml")).map(|File { host }| host).unwrap_or_default()
});

fn known(name: &str) -> Option<&'static Patience> {
    let is_it = |host: &&Patience| {
        let start = name.get(..host.name.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(host.name))
            && (!host.whole || name.len() == host.name.len())
    };
    HOSTS.iter().find(is_it)
}

/// What a host does while its call waits that the operator cannot see, by the name it gives itself.
pub fn silence(host: &str) -> Option<&'static str> {
    known(host).and_then(|host| host.says)
}

/// The limit that is assumed of such a host (microseconds).
pub const ASSUMED_LIMIT: u64 = UNKNOWN * SECOND;

/// What is said where the host's own limit is not known.
pub const ASSUMED: &str = "how long it waits is not known, so 60 s are assumed: one that gives up sends the call again, and it \
     would run twice; if it waits longer, say so with --host-timeout";

pub fn is_assumed(host: Option<&str>) -> bool {
    host.and_then(known).is_none()
}

/// Whether a host shows its user nothing of a call that waits, by the name it gives itself.
pub fn is_bare(host: &str) -> bool {
    known(host).is_some_and(|host| host.bare)
}

/// How long one request is held at most (microseconds); `None`: it can wait for as long as the operator takes.
///
/// `host_limit` overrides the table; `has_token` tells whether heartbeats can keep this request alive. The margin is a tenth of
/// the host's limit, at least five seconds, at most half of it.
pub fn hold(host_limit: Option<u64>, host: Option<&str>, has_token: bool) -> Option<u64> {
    let known = host.and_then(known);
    let limit = match (host_limit, known) {
        (Some(limit), _) => limit,
        (None, Some(host)) if host.extends && has_token => return None,
        (None, Some(host)) => host.seconds? * SECOND,
        (None, None) => ASSUMED_LIMIT,
    };
    Some(limit - (limit / 10).max(5 * SECOND).min(limit / 2))
}
