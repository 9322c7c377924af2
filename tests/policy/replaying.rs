//! A policy against past calls: what changes, what cannot be told, and which rules would have saved questions.

use mcp_approve::policy::past::{Answer, Ended, PastCall, answer, is_obscured, replay, suggest};
use mcp_approve::policy::rate::Recent;
use mcp_approve::policy::rule::{Decision, Policy};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{NOW, behavior, policy};

const SECRET: &str = "redacted:0123456789abcdef";

/// `ask approved`: what was ruled, and what became of it.
fn past(seq: i64, call: &str, words: &str, arguments: Value, then: &str) -> PastCall {
    let (server, tool) = call.split_once('.').unwrap();
    let (ruling, ended) = then.split_once(' ').unwrap();
    let of = |all: &[Decision]| all.iter().find(|one| one.word() == ruling).copied().unwrap();
    PastCall {
        method: None,
        seq,
        time: NOW - 3_600_000 + seq,
        ticket: format!("{server}-{seq}"),
        server: server.to_owned(),
        tool: tool.to_owned(),
        arguments,
        behavior: behavior(words),
        analysed: true,
        ruling: of(&[Decision::Allow, Decision::Ask, Decision::Deny]),
        rule: None,
        ended: [Ended::Ran, Ended::Refused, Ended::Unanswered].into_iter().find(|one| one.word() == ended).unwrap(),
        by: "operator".to_owned(),
    }
}

fn says(rules: &str, arguments: Value) -> String {
    let call = past(1, "s.t", "MUTATES UPDATE", arguments, "ask approved");
    match answer(&policy(rules), &call, &Recent::default()) {
        Answer::Decided(ruling) => ruling.decision.word().to_owned(),
        Answer::Undecided(rules) => format!("untold: {}", rules.join(" ")),
    }
}

#[test]
fn what_the_log_does_not_hold_cannot_be_told() {
    let allow = "[[rule]]\nid = 'a'\ndecision = 'allow'\nwhen = [{ arg = 'k', eq = 'x' }]\n";
    let both = "[[rule]]\nid = 'a'\ndecision = 'allow'\nserver = 's'\nwhen = [{ arg = 'p', eq = 1 }, { arg = 'k', eq = 'x' }]\n";
    let deny = "[[rule]]\nid = 'd'\ndecision = 'deny'\nwhen = [{ arg = 'k', glob = 'x*' }]\n";
    let ask = "[[rule]]\nid = 'd'\ndecision = 'ask'\nwhen = [{ arg = 'k', glob = 'x*' }]\n";
    let unless = "[[rule]]\nid = 'u'\ndecision = 'deny'\nunless = [{ arg = 'k', eq = 'x' }]\n";
    let there =
        "[[rule]]\nid = 'a'\ndecision = 'allow'\nwhen = [{ arg = 'k', present = true }, { arg = '', len = 1 }]\n";
    let short = "[[rule]]\nid = 'a'\ndecision = 'allow'\nwhen = [{ arg = 'k', len = { lt = 30 } }]\n";
    let other = "[[rule]]\nid = 'o'\ndecision = 'deny'\nserver = 's'\n";
    let secret = || json!({ "k": SECRET });
    for (rules, arguments, expected) in [
        (allow.to_owned(), json!({ "k": "x" }), "allow"),
        (allow.to_owned(), secret(), "untold: a"),
        (allow.to_owned(), json!({ "k": { "deep": [format!("Bearer {SECRET}")] } }), "untold: a"),
        (allow.to_owned(), json!({ "k": "xxxx…[5000 bytes in all]" }), "untold: a"),
        (allow.to_owned(), json!("{\"k\":\"x…"), "untold: a"),
        (allow.to_owned(), json!({ "other": SECRET }), "ask"),
        // The rest of the rule does not fit, whatever the secret was.
        (both.to_owned(), json!({ "k": SECRET, "p": 2 }), "ask"),
        (both.to_owned(), json!({ "k": SECRET, "p": 1 }), "untold: a"),
        (deny.to_owned(), secret(), "untold: d"),
        // It asks either way.
        (ask.to_owned(), secret(), "ask"),
        (unless.to_owned(), secret(), "untold: u"),
        (unless.to_owned(), json!({ "k": "y" }), "deny"),
        // Whether something was there, is told.
        (there.to_owned(), secret(), "allow"),
        // How long it was, and under which name, is not.
        (short.to_owned(), secret(), "untold: a"),
        (short.to_owned(), json!({ "k": "x" }), "allow"),
        (there.to_owned(), json!({ SECRET: "x" }), "untold: a"),
        (there.to_owned(), json!({ "k…": "x" }), "untold: a"),
        // Another rule is stricter either way.
        (format!("{allow}{other}"), secret(), "deny"),
    ] {
        assert_eq!(says(&rules, arguments.clone()), expected, "{rules} on {arguments}");
    }
}

/// Where the tool's definition said more of the arguments than they say alone, what they do cannot be told.
#[test]
fn effects_that_the_record_does_not_show_cannot_be_told() {
    let rules = "[[rule]]\nid = 'e'\ndecision = 'deny'\nwhen = [{ effect = 'execute' }]\n";
    let call = past(1, "s.t", "MUTATES UPDATE", json!({ "q": "x" }), "ask approved");
    let told = |call: &PastCall| answer(&policy(rules), call, &Recent::default());
    assert!(matches!(told(&call), Answer::Decided(ruling) if ruling.decision == Decision::Ask));
    assert_eq!(told(&PastCall { analysed: false, ..call }), Answer::Undecided(vec!["e".to_owned()]));
}

#[test]
fn marks_are_what_the_log_writes() {
    for (value, obscured) in [
        (json!(SECRET), true),
        (json!([{ SECRET: 1 }]), true),
        (json!("redacted:xyz"), false),
        (json!("redacted:0123456789ABCDEF"), false),
        (json!("a…[300 bytes in all]"), true),
        (json!("300 bytes in all]"), false),
        (json!({ "a": 1, "b": [null, true] }), false),
    ] {
        assert_eq!(is_obscured(&value), obscured, "{value}");
    }
}

fn calls() -> Vec<PastCall> {
    let write =
        |seq, path: &str, then| past(seq, "fs.write", "MUTATES UPDATE", json!({ "path": path, "content": seq }), then);
    vec![
        write(1, "/srv/n/a/1", "ask approved"),
        write(2, "/srv/n/a/2", "ask approved"),
        write(3, "/srv/n/b/3", "ask approved"),
        write(4, "/srv/secret/x/4", "ask denied"),
        past(5, "fs.read", "PURE READ", json!({ "path": "/x" }), "allow approved"),
        past(6, "mail.send", "MUTATES SEND", json!({ "to": "a" }), "ask approved"),
        past(7, "mail.send", "MUTATES SEND", json!({ "to": "a" }), "ask approved"),
        past(8, "mail.send", "MUTATES SEND", json!({ "to": "a" }), "ask approved"),
        past(9, "mail.send", "MUTATES SEND", json!({ "to": "b" }), "ask unanswered"),
    ]
}

#[test]
fn changes_are_counted_and_named() {
    let rules = "[[rule]]\nid = 'w'\ndecision = 'allow'\ntool = 'write'\nwhen = [{ arg = 'path', under = '/srv/n' }]
[[rule]]\nid = 'r'\ndecision = 'deny'\ntool = 'read'
[[rule]]\nid = 'old'\ndecision = 'deny'\nexpires = 2026-11-20
[[rule]]\nid = 'few'\ndecision = 'allow'\ntool = 'send'\nwhen = [{ rate = { most = 2, per = '1h' } }]\n";
    let calls = calls();
    let replayed = replay(&policy(rules), &calls, NOW);
    assert_eq!((replayed.calls, replayed.undecided.len()), (9, 0));
    let changed: Vec<i64> = replayed.changes.iter().map(|change| change.call.seq).collect();
    assert_eq!(changed, [1, 2, 3, 5, 6, 7], "the third mail of the hour still asks");
    assert_eq!(replayed.counts(), [(Decision::Ask, Decision::Allow, 5), (Decision::Allow, Decision::Deny, 1)]);
}

#[test]
fn the_rules_that_save_most_come_first_and_stay_narrow() {
    let calls = calls();
    let found = suggest(&policy(""), &calls, NOW, 9);
    assert_eq!(found.questions, 6);
    let told: Vec<(String, usize)> =
        found.rules.iter().map(|one| (one.proposal.scope.says(), one.saves.len())).collect();
    assert_eq!(told, [("this exact call".to_owned(), 3), ("this tool with path under /srv/n".to_owned(), 3)]);
    // What a rule asks for explicitly, no allow would save.
    let careful = policy("[[rule]]\nid = 'c'\ndecision = 'ask'\ntool = 'send'\n");
    assert_eq!(suggest(&careful, &calls, NOW, 9).rules.len(), 1);
    assert_eq!(suggest(&policy(""), &calls, NOW, 1).rules.len(), 1);
    assert!(suggest(&policy(""), &calls[..1], NOW, 9).rules.is_empty());
}

#[test]
fn a_rule_for_a_whole_tool_is_offered_only_where_all_is_seen_and_no_harm_is_done() {
    let offered = |words: &str, key: &dyn Fn(i64) -> String| {
        let call = |seq| past(seq, "db.run", words, json!({ "key": key(seq) }), "ask approved");
        let calls: Vec<PastCall> = (1..=3).map(call).collect();
        let found = suggest(&policy(""), &calls, NOW, 9);
        found.rules.iter().map(|one| one.proposal.scope.says()).collect::<Vec<_>>()
    };
    assert_eq!(offered("MUTATES UPDATE", &|seq| format!("k{seq}")), ["this tool"]);
    assert!(offered("MUTATES DELETE", &|seq| format!("k{seq}")).is_empty(), "it may do harm");
    assert!(
        offered("MUTATES UPDATE", &|seq| format!("redacted:000000000000000{seq}")).is_empty(),
        "nobody sees what it was"
    );
    assert!(offered("MUTATES UPDATE", &|_| SECRET.to_owned()).is_empty(), "the same mark is not the same text");
}

fn any_past() -> impl Strategy<Value = PastCall> {
    let pick = |from: &'static [&'static str]| prop::sample::select(from);
    (
        pick(&["fs.write", "fs.edit", "git.push"]),
        pick(&["MUTATES UPDATE", "MUTATES DELETE", "MUTATES UPDATE sensitive-read"]),
        pick(&["/srv/a/1", "/srv/a/2", "/srv/b/c/3", "/srv/b/4", "/tmp/x/y", SECRET]),
        pick(&["main", "dev"]),
        pick(&["ask approved", "ask approved", "ask denied", "ask unanswered", "allow approved"]),
        0i64..100_000,
    )
        .prop_map(|(call, words, path, branch, then, seq)| {
            past(seq, call, words, json!({ "path": path, "branch": branch }), then)
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// With every suggestion written: what it is said to save is allowed, and nothing that was denied is.
    #[test]
    fn a_suggestion_saves_what_it_says_and_allows_nothing_that_was_denied(
        calls in prop::collection::vec(any_past(), 0..40),
    ) {
        let before = policy("");
        let found = suggest(&before, &calls, NOW, 20);
        let rules = found.rules.iter().map(|one| one.proposal.rule.clone()).collect();
        let after = Policy { rules, ..before };
        let ruled = |call: &PastCall| match answer(&after, call, &Recent::default()) {
            Answer::Decided(ruling) => Some(ruling.decision),
            Answer::Undecided(_) => None,
        };
        for one in &found.rules {
            prop_assert!(one.saves.len() >= 2);
            for call in &one.saves {
                prop_assert_eq!(ruled(call), Some(Decision::Allow));
            }
        }
        for call in calls.iter().filter(|call| call.ended == Ended::Refused) {
            prop_assert_eq!(ruled(call), Some(Decision::Ask), "{:?}", call);
        }
    }
}
