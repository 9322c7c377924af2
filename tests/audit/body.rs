//! The body of a record: its shape is a contract.

use mcp_approve::audit::body::write_body;
use mcp_approve::audit::record::{Entry, Kind};
use mcp_approve::behavior::identity::Identity;
use mcp_approve::behavior::taxonomy::Badge;
use mcp_approve::policy::rule::Decision;
use mcp_approve::wire::digest::Digest;
use std::sync::Arc;

use crate::audit::{NOON, redactor, write};

fn body(entry: &Entry) -> String {
    let mut out = String::new();
    write_body(entry, &redactor(), &mut out);
    out
}

#[test]
fn a_full_decision() {
    let mut entry = write(12);
    entry.identity = Some(Identity::UNKNOWN);
    entry.rule = Some("scratch \"files\"".to_owned());
    entry.latency_us = Some(12_034);
    entry.policy = Some(Digest::of(b"policy"));
    entry.arguments = Some(r#"{ "path": "/tmp/a", "password": "hunter2", "n": 1.50 }"#.parse().unwrap());
    let entry =
        entry.with("reason", "asked,\nthen approved").with("command", serde_json::json!(["npx", "--token", "abc"]));
    insta::assert_snapshot!(body(&entry), @r#"{"time":"2026-11-21T10:00:00.012Z","kind":"decision","server":"filesystem","session":"s1","ticket":"filesystem-12","tool":"write_file","target":"/tmp/12","badge":"MUTATES","identity":"2e6e42df3b5d6f02","ruling":"ask","verdict":"approve","by":"operator","rule":"scratch \"files\"","digest":"38a9c1e721584da284b90ceea4ed7eb8db15ac4ea86c2c75ec925d5f8799fcf0","latency_ms":12.034,"arguments":{"path":"/tmp/a","password":"redacted:326eb4f6783e519f","n":1.50},"cut":null,"assurance":"L0","policy":"823412d1eacb67956220e532959f0104603057c88704863ca38e7cd188fda812","detail":{"reason":"asked,\nthen approved","command":["npx","--token","redacted:127da4ced6a839b8"]}}"#);
}

#[test]
fn a_bare_fact_writes_every_field() {
    let entry = Entry::new(NOON + 999, Kind::ServerStart, &Arc::from("fs\u{1b}"), &Arc::from("s1"));
    insta::assert_snapshot!(body(&entry), @r#"{"time":"2026-11-21T10:00:00.999Z","kind":"server-start","server":"fs\u001b","session":"s1","ticket":null,"tool":null,"target":null,"badge":null,"identity":null,"ruling":null,"verdict":null,"by":null,"rule":null,"digest":null,"latency_ms":null,"arguments":null,"cut":null,"assurance":"L0","policy":null,"detail":{}}"#);
}

#[test]
fn a_writer_that_remembers_writes_what_a_new_one_writes() {
    let details = ["Only reads, and the default allows it", "--token abc", "ghp_0123456789abcdef0123", "a\"b"];
    for at in 0..100 {
        let entry = write(12).with("reason", details[at % details.len()]).with("n", at / 20);
        let mut out = String::new();
        write_body(&entry, &redactor(), &mut out);
        assert_eq!(out, body(&entry));
        assert!(!out.contains("ghp_0123"), "{out}");
    }
    // What counts equal and is written otherwise is written as it is.
    for (one, other) in [
        (r#"{"a":1,"b":[{"c":1,"d":2}]}"#, r#"{"b":[{"c":1,"d":2}],"a":1}"#),
        (r#"[{"c":1,"d":2}]"#, r#"[{"d":2,"c":1}]"#),
    ] {
        for text in [one, other] {
            let value: serde_json::Value = serde_json::from_str(text).unwrap();
            let mut out = String::new();
            write_body(&write(12).with("value", value), &redactor(), &mut out);
            assert!(out.contains(text), "{text}: {out}");
        }
    }
}

#[test]
fn times_are_utc_with_milliseconds() {
    let cases = [
        (0, "1970-01-01T00:00:00.000Z"),
        (NOON, "2026-11-21T10:00:00.000Z"),
        (NOON + 7, "2026-11-21T10:00:00.007Z"),
        (NOON + 1000, "2026-11-21T10:00:01.000Z"),
        (NOON, "2026-11-21T10:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (i64::MAX, "1970-01-01T00:00:00.000Z"),
    ];
    for (millis, expected) in cases {
        let mut out = String::new();
        let entry = Entry::new(millis, Kind::Host, &Arc::from("s"), &Arc::from("s"));
        write_body(&entry, &redactor(), &mut out);
        assert!(out.starts_with(&format!("{{\"time\":\"{expected}\"")), "{millis}: {out}");
    }
}

#[test]
fn a_name_of_megabytes_is_cut_and_says_so() {
    let mut entry = write(1);
    entry.tool = Some("é".repeat(1 << 20).into());
    let body = body(&entry);
    let expected = format!("\"tool\":\"{}…[2097152 bytes in all]\"", "é".repeat(512));
    assert!(body.contains(&expected), "{body:.3000}");
    assert!(body.len() < 2000);
}

/// A decision reaches the disk before anything follows from it, except where a call that only reads was simply allowed.
#[test]
fn only_a_read_that_was_allowed_may_reach_the_disk_later() {
    for (badge, ruling, durable) in [
        (Some(Badge::Pure), Some(Decision::Allow), false),
        (Some(Badge::Pure), Some(Decision::Ask), true),
        (Some(Badge::Pure), Some(Decision::Deny), true),
        (Some(Badge::Pure), None, true),
        (Some(Badge::Likely), Some(Decision::Allow), true),
        (Some(Badge::Mutates), Some(Decision::Allow), true),
        (None, Some(Decision::Allow), true),
        (None, None, true),
    ] {
        for (kind, durable) in [(Kind::Decision, durable), (Kind::DecisionAsked, durable), (Kind::Outcome, false)] {
            let entry = Entry { badge, ruling, kind, ..write(1) };
            assert_eq!(entry.is_durable(), durable, "{kind:?} {badge:?} {ruling:?}");
        }
    }
}
