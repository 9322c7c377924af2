//! The records of one call, as a wrapper writes them.

use std::sync::Arc;

use mcp_approve::audit::record::{By, Entry, Kind, VerdictWord};
use mcp_approve::behavior::identity::Identity;
use mcp_approve::behavior::taxonomy::Badge;
use mcp_approve::policy::rule::Decision;
use mcp_approve::wire::digest::Digest;
use serde_json::json;

/// 2026-11-21T10:00:00.000Z.
const NOON: i64 = 1_795_255_200_000;

fn entry(n: i64, kind: Kind) -> Entry {
    let mut entry = Entry::new(NOON + n, kind, &Arc::from("filesystem"), &Arc::from("0f3a9c1e77b2d480"));
    entry.ticket = Some(format!("filesystem-{n}").into());
    entry.tool = Some("read_text_file".into());
    entry.badge = Some(Badge::Pure);
    entry.identity = Some(Identity::UNKNOWN);
    entry.digest = Some(Digest::of(&n.to_be_bytes()));
    entry.latency_us = Some(153);
    entry
}

pub fn outcome(n: i64) -> Entry {
    entry(n, Kind::Outcome).with("result", "ok")
}

pub fn decision(n: i64) -> Entry {
    let mut entry = entry(n, Kind::Decision);
    entry.ruling = Some(Decision::Allow);
    entry.verdict = Some(VerdictWord::Approve);
    entry.by = Some(By::Default);
    entry.policy = Some(Digest::of(b"policy"));
    entry.arguments = Some(format!(r#"{{"path":"/home/user/project/src/module_{n}.rs","head":40}}"#).parse().unwrap());
    entry
        .with("reason", "PURE tools are allowed by default")
        .with("words", "PURE LISTS filesystem")
        .with("why", "the tool only reads, and its server says so as well")
        .with(
            "evidence",
            json!([
                "annotated PURE: readOnlyHint=true",
                "curated PURE LISTS LOCAL: filesystem/read_text_file",
                "inferred PURE: name begins with `read`",
            ]),
        )
        .with("host", "claude-code 2.1.0")
}
