//! What the gate knows and keeps, one row per case: terms, facts, pins, time limits, refusals, forms, what hosts were given.

use std::collections::HashMap;
use std::sync::Arc;

use mcp_approve::behavior::conclude::Trust;
use mcp_approve::behavior::hazards::lookalike;
use mcp_approve::behavior::identity::Identity;
use mcp_approve::gate::data::facts::{Facts, FileKind, Findings};
use mcp_approve::gate::data::pin::{Other, PinState, Pins, UpdateKind};
use mcp_approve::gate::data::terms::{Covers, GrantTerms, Lasts};
use mcp_approve::gate::deadline::{hold, is_bare, silence};
use mcp_approve::gate::held::retry;
use mcp_approve::gate::state::ServerEnd;
use mcp_approve::gate::state::passed::{Recorded, Refusals};
use mcp_approve::gate::waiting::given::Kept;
use mcp_approve::gate::waiting::question::{FormAnswer, answer, answer_inside};
use mcp_approve::mcp::tool::Tool;
use mcp_approve::wire::digest::Digest;
use mcp_approve::wire::message::Refusal;
use serde_json::json;

/// How many refusals of one reason are recorded whole in one window, and how long that is, in microseconds.
const WHOLE: u64 = 20;
const WINDOW: u64 = 10_000_000;

fn difference(one: &Facts, other: &Facts) -> Option<&'static str> {
    let found = |facts: &Facts| Findings { files: vec![facts.clone()], ..Findings::default() };
    found(one).difference(&found(other))
}

/// What is given to hosts comes due in the order it was given, whatever its time.
#[test]
fn what_is_due_comes_in_the_order_it_was_given() {
    let mut kept = Kept::default();
    for number in 0..20 {
        kept.give(Arc::from(format!("t{number}")), 100 - number, number);
    }
    assert_eq!(kept.due(100), (0..20).collect::<Vec<_>>());
    assert!(kept.is_empty());
}

#[test]
fn the_first_that_is_due_wakes() {
    let mut kept = Kept::default();
    assert_eq!(kept.wake_at(), None);
    kept.give(Arc::from("late"), 9, "late");
    kept.give(Arc::from("early"), 4, "early");
    assert_eq!((kept.wake_at(), kept.due(3).len()), (Some(4), 0));
    assert_eq!((kept.due(4), kept.wake_at()), (vec!["early"], Some(9)));
    kept.extend("late", 5);
    assert_eq!(kept.wake_at(), Some(9));
    kept.extend("late", 12);
    assert_eq!((kept.wake_at(), kept.take("late"), kept.wake_at()), (Some(12), Some("late"), None));
}

#[test]
fn a_server_that_takes_nothing_more_has_a_reason() {
    let how = || "its pipe broke".to_owned();
    assert_eq!(ServerEnd::Open.reason(), None);
    for end in [ServerEnd::InputClosed { how: how() }, ServerEnd::Ended { how: how() }] {
        assert_eq!(end.reason(), Some("its pipe broke"));
    }
}

#[test]
fn terms_say_what_is_covered_and_for_how_long() {
    let under = Covers::Under { argument: "path".to_owned(), folder: "/tmp".to_owned() };
    for (covers, lasts, says) in [
        (Covers::ThisCall, Lasts::Session, "calls with the same arguments, for this session"),
        (under, Lasts::Minutes(5), "calls whose path is under /tmp, for 5 min"),
        (Covers::Tool, Lasts::Calls(3), "all calls of the tool, for the next 3"),
    ] {
        assert_eq!(GrantTerms { covers, lasts }.to_string(), says);
    }
}

#[test]
fn any_change_of_what_is_touched_is_a_difference() {
    let file = Facts {
        kind: FileKind::File,
        real: Some("/a".into()),
        size: Some(1),
        digest: Some(Digest::of(b"a")),
        stamp: Some("1".into()),
        unseen: None,
        ..Facts::unseen("/path", "/a", "")
    };
    let touched = Facts { stamp: Some("2".into()), text: Some("a".into()), ..file.clone() };
    assert_eq!(difference(&file, &touched), None, "the content is the same");
    for other in [
        Facts { real: Some("/b".into()), ..file.clone() },
        Facts { link: Some("b".into()), ..file.clone() },
        Facts { kind: FileKind::Missing, size: None, digest: None, ..file.clone() },
        Facts { kind: FileKind::Folder, ..file.clone() },
        Facts { size: Some(2), ..file.clone() },
        Facts { digest: Some(Digest::of(b"b")), ..file.clone() },
        Facts { digest: None, ..file.clone() },
        Facts::unseen("/path", "/a", "no time"),
    ] {
        assert!(difference(&file, &other).is_some() && difference(&other, &file).is_some(), "{other:?}");
    }
    let large = Facts { digest: None, ..file };
    assert!(difference(&large, &Facts { stamp: Some("2".into()), ..large.clone() }).is_some());
}

fn tool(required: &[&str]) -> Tool {
    let schema = json!({ "type": "object", "required": required });
    Tool::read(json!({ "name": "write", "inputSchema": schema })).unwrap()
}

/// The two definitions say the same in another order.
#[test]
fn what_says_the_same_is_trusted_in_its_place_unless_it_was_refused() {
    let (one, other) = (tool(&["a", "b"]), tool(&["b", "a"]));
    assert!(one.digest() != other.digest() && one.sense() == other.sense());
    let see = |pins: &mut Pins, tool: &Tool| pins.note(1, tool, tool.digest(), Trust::Corroborate);
    let mut pins = Pins::default();
    assert_eq!(see(&mut pins, &one), (PinState::Trusted, Some(UpdateKind::Seen)));
    let mut refused = pins.clone();
    assert_eq!(see(&mut pins, &other), (PinState::Trusted, Some(UpdateKind::Replaces(one.digest()))));
    refused.tools.get_mut("write").unwrap().refused = Some(other.digest());
    assert_eq!(see(&mut refused, &other), (PinState::Refused, Some(UpdateKind::Seen)));
    assert_eq!(see(&mut refused, &tool(&["a"])).0.word(), "changed");
}

#[test]
fn of_two_names_that_look_alike_the_later_one_deceives() {
    let other = |first_seen| Other { server: "files".to_owned(), tool: "1ist".to_owned(), first_seen };
    let mut pins = Pins::default();
    pins.note(5, &Tool::read(json!({ "name": "list" })).unwrap(), Digest::of(b"list"), Trust::Corroborate);
    for (first_seen, deceives) in [(4, true), (5, false), (6, false)] {
        pins.others = HashMap::from([(lookalike::shape("list"), vec![other(first_seen)])]);
        assert_eq!(pins.look_alike("list").is_some(), deceives, "{first_seen}");
    }
}

#[test]
fn a_change_of_the_identity_is_said() {
    let identity = |text: &str| text.parse::<Identity>().unwrap();
    let (read, write) = (identity("PURE|READ|DATA"), identity("MUTATES|DELETE|ACK"));
    let changed = PinState::Changed { version: 2, was: Some(read) };
    assert!(changed.hazard(write).unwrap().what.contains("was approved"));
    assert!(!changed.hazard(read).unwrap().what.contains("was approved"));
}

#[test]
fn each_host_is_held_for_less_than_it_waits() {
    for (host, token, seconds) in [
        (Some("claude-code"), false, Some(1620)),
        (Some("claude-code"), true, None),
        (Some("claude-code-action"), false, Some(54)),
        (Some("codex-mcp-client"), true, Some(270)),
        (Some("Gemini-CLI-mcp-client-files"), true, Some(540)),
        (Some("@cline/core"), false, Some(54)),
        (Some("Visual Studio Code - Insiders"), false, None),
        (Some("é"), false, Some(54)),
        (None, true, Some(54)),
    ] {
        assert_eq!(hold(None, host, token), seconds.map(|seconds| seconds * 1_000_000), "{host:?} {token}");
    }
    assert_eq!(hold(Some(6 * 1_000_000), Some("claude-code"), true), Some(3 * 1_000_000));
    assert!(is_bare("opencode") && is_bare("@cline/core") && !is_bare("opencode-2") && !is_bare("claude-code"));
    assert!(silence("qwen-cli").is_some_and(|says| says.contains("Esc")) && silence("codex-mcp-client").is_none());
}

fn refusal(what: &str) -> Refusal {
    Refusal::of(what, None, true)
}

#[test]
fn a_run_is_counted_after_the_first_ones_and_its_time_is_one_window() {
    let mut refusals = Refusals::default();
    for _ in 0..WHOLE {
        assert_eq!(refusals.take(5, &refusal("key 1 twice"), 10), Recorded::Whole);
    }
    assert_eq!(refusals.wake_at(), None, "each is in the log");
    for _ in 0..3 {
        let counted = Recorded::Counted { by: 5 + WINDOW };
        assert_eq!(refusals.take(WINDOW + 4, &refusal("key 2 twice"), 10), counted);
    }
    assert_eq!(refusals.wake_at(), Some(5 + WINDOW));
    assert!(refusals.due(WINDOW + 4).is_empty());
    let mut at_the_end = Refusals::default();
    for (nth, what) in (0..WHOLE).map(|nth| (nth, "key 1 twice")).chain((0..3).map(|nth| (nth, "key 2 twice"))) {
        let _ = (nth, at_the_end.take(5, &refusal(what), 10));
    }
    let due = refusals.due(WINDOW + 5);
    assert_eq!(
        due.iter().map(|run| (run.lines, run.bytes, &*run.reason)).collect::<Vec<_>>(),
        [(3, 30, "key 2 twice")]
    );
    assert_eq!(at_the_end.all(), due);
    assert_eq!((at_the_end.all(), refusals.wake_at()), (Vec::new(), None));
}

#[test]
fn runs_come_in_the_order_they_began() {
    let mut refusals = Refusals::default();
    let reasons: Vec<String> = ('a'..='t').map(|letter| format!("no {letter}")).collect();
    for reason in reasons.iter().cycle().take(reasons.len() * (1 + usize::try_from(WHOLE).unwrap())) {
        refusals.take(0, &refusal(reason), 1);
    }
    let all: Vec<String> = refusals.all().into_iter().map(|run| run.reason).collect();
    assert_eq!(all, reasons);
}

#[test]
fn a_reason_whose_window_is_over_is_recorded_whole_anew() {
    let mut refusals = Refusals::default();
    for now in [0, WINDOW, 2 * WINDOW] {
        for _ in 0..WHOLE {
            assert_eq!(refusals.take(now, &refusal("no JSON"), 1), Recorded::Whole, "{now}");
        }
    }
}

#[test]
fn hosts_tell_who_asks() {
    let told =
        |meta| retry::of(Some(meta)).into_iter().map(|(word, text)| format!("{word}={text}")).collect::<Vec<_>>();
    assert_eq!(told(r#"{"claudecode/toolUseId":"toolu_1"}"#), ["host's call=toolu_1"]);
    let codex = r#"{"callId":"c","threadId":"t","x-codex-turn-metadata":{"turn_id":7},"progressToken":1}"#;
    assert_eq!(told(codex), ["thread=t", "turn=7", "host's call=c"]);
    assert_eq!(told(r#"{"agent-session-id":"","sub_agent":"reviewer"}"#), ["sub-agent=reviewer"]);
    assert_eq!(told(r#"{"acme.dev/userId":"ada"}"#), ["user=ada"]);
    assert!(told("[1]").is_empty());
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    assert_eq!(retry::traceparent(Some(&format!(r#"{{"traceparent":"{trace}"}}"#))).as_deref(), Some(trace));
    assert_eq!(retry::traceparent(Some(r#"{"traceparent":"00-x"}"#)), None);
}

#[test]
fn only_a_ticked_box_that_was_accepted_approves() {
    let of = |result: &str| answer(format!(r#"{{"jsonrpc":"2.0","id":"x","result":{result}}}"#).as_bytes());
    assert_eq!(of(r#"{"action":"accept","content":{"approve":true}}"#), FormAnswer::Approve);
    for other in [
        r#"{"action":"accept"}"#,
        r#"{"action":"accept","content":{}}"#,
        r#"{"action":"accept","content":{"approve":false}}"#,
        r#"{"action":"accept","content":{"approve":"true"}}"#,
        r#"{"action":"accept","content":{"approve":1}}"#,
        r#"{"action":"accept","content":{"Approve":true}}"#,
        r#"{"action":"accept","content":[true]}"#,
        r#"{"action":"decline","content":{"approve":true}}"#,
        r#"{"action":"cancel","content":{"approve":true}}"#,
        r#"{"action":"ACCEPT","content":{"approve":true}}"#,
        r#"{"content":{"approve":true}}"#,
        "true",
    ] {
        assert_ne!(of(other), FormAnswer::Approve, "{other}");
        let inside = format!(r#"{{"mcp_approve":{other}}}"#);
        assert_ne!(answer_inside(Some(&inside)), FormAnswer::Approve, "{other}");
    }
    let ticked = r#"{"action":"accept","content":{"approve":true}}"#;
    assert_eq!(answer_inside(Some(&format!(r#"{{"mcp_approve":{ticked}}}"#))), FormAnswer::Approve);
    for other in [
        format!(r#"{{"Mcp_approve":{ticked}}}"#),
        format!(r#"{{"mcp_approve":{ticked},"more":{ticked}}}"#),
        format!(r#"{{"mcp_approve":{{"result":{ticked}}}}}"#),
        format!(r#"{{"mcp_approve":[{ticked}]}}"#),
        ticked.to_owned(),
        "{}".to_owned(),
    ] {
        assert_ne!(answer_inside(Some(&other)), FormAnswer::Approve, "{other}");
    }
    assert_ne!(answer_inside(None), FormAnswer::Approve);
}
