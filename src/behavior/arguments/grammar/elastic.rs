//! Requests to Elasticsearch and OpenSearch, by the endpoints in their paths. Knows no index.

use crate::behavior::arguments::effect::{Effect, Meaning};
use crate::behavior::taxonomy::Action;
use crate::behavior::words::among;

/// What a request does whose path this is; `None` where the text is no path with an endpoint.
pub fn read(text: &str) -> Option<Meaning> {
    let text = text.trim();
    let (method, path) = match text.split_once(' ') {
        Some((method, path)) => (method, path.trim()),
        None => ("", text),
    };
    let path = path.split(['?', '\n', '{']).next().unwrap_or(path).trim();
    let mut endpoints = path.split('/').filter(|part| part.starts_with('_')).peekable();
    endpoints.peek()?;
    let mut found = None;
    for endpoint in endpoints {
        if changes(endpoint) {
            let action = if endpoint.contains("delete") { Action::Delete } else { Action::Update };
            return Some(Meaning::new(Effect::Write, action, endpoint, format!("Elasticsearch, {endpoint}")));
        }
        let posts = among(endpoint, POSTED);
        let reads = among(endpoint, READS) || posts;
        let is_read = match method {
            "" | "GET" | "HEAD" => reads,
            "POST" => posts,
            _ => false,
        };
        found = found.or_else(|| (!is_read).then(|| unread(endpoint)));
    }
    let says = path.rsplit('/').find(|part| part.starts_with('_')).unwrap_or_default();
    Some(
        found.unwrap_or_else(|| {
            Meaning::new(Effect::ReadElsewhere, Action::Read, says, format!("Elasticsearch, {says}"))
        }),
    )
}

fn unread(endpoint: &str) -> Meaning {
    Meaning::unknown(endpoint, format!("Elasticsearch, {endpoint}, which is not known to only read"))
}

/// Whether a path ends at an endpoint that reads, and whose request has no body then: `/_cluster/settings`.
pub fn takes_no_body(path: &str) -> bool {
    let mut endpoints = path.split(['/', '?']).filter(|part| part.starts_with('_')).peekable();
    endpoints.peek().is_some() && !endpoints.any(|endpoint| among(endpoint, POSTED))
}

/// Whether an endpoint changes something.
pub fn changes(endpoint: &str) -> bool {
    among(
        endpoint,
        "_delete_by_query _update_by_query _bulk _reindex _update _create _close _open _forcemerge _rollover _shrink _split _clone _flush \
         _refresh _shutdown _aliases _ingest _rethrottle _restore _unfreeze _freeze _execute _start _stop _cancel _clear _invalidate _reroute",
    )
}

/// Endpoints whose request may have a body.
const POSTED: &str = "_search _msearch _count _mget _validate _analyze _field_caps _termvectors _mtermvectors _explain _rank_eval _async_search";

const READS: &str = "_doc _source _mapping _mappings _settings _alias _stats _segments _recovery _shard_stores _cat _cluster _nodes _all _local \
    _resolve _search_shards _remote _xpack _license";
