//! Peers that speak another version, talk nonsense or do not read: each is told or let go, and holds up no one.

use mcp_approve::link::client::ClientEvent;
use mcp_approve::link::message::{FromWrapper, PROTOCOL};
use mcp_approve::link::server::{FromConsoles, Rejection};
use std::fs;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use super::DEADLINE;
use super::bed::*;

#[test]
fn a_console_that_does_not_read_loses_activity_and_nothing_else() {
    within(async {
        let place = place();
        let mut house = open(&place.run, "filesystem", "s1");
        let mut slow = Raw::connect(&house).await;
        slow.greet(PROTOCOL).await;
        house.attached().await;
        let long = "x".repeat(10_000);
        for _ in 0..1000 {
            house.tell(&activity(&long));
        }
        house.tell(&settled("needed"));
        let mut seen = 0;
        while slow.line().await.contains("activity") {
            seen += 1;
        }
        assert!((50..500).contains(&seen), "{seen}");
        assert_eq!(house.server.attached(), 1);
    });
}

#[test]
fn a_console_that_never_reads_is_let_go_and_holds_up_nobody() {
    within(async {
        let place = place();
        let mut house = open(&place.run, "filesystem", "s1");
        let mut stuck = Raw::connect(&house).await;
        stuck.greet(PROTOCOL).await;
        let stuck_id = house.attached().await;
        let mut reads = Raw::connect(&house).await;
        reads.greet(PROTOCOL).await;
        house.attached().await;
        // It is let go once much waits and nothing has moved for a while.
        let card = held(&"x".repeat(4 << 20));
        let until = tokio::time::Instant::now() + DEADLINE;
        while house.server.attached() == 2 {
            assert!(tokio::time::Instant::now() < until);
            house.tell(&card);
            assert!(reads.line().await.contains("held"));
        }
        assert_eq!(house.detached().await, stuck_id);
        assert_eq!(house.server.attached(), 1);
        // What waited for it is gone with it.
        let mut rest = Vec::new();
        let _ = timeout(DEADLINE, stuck.0.read_to_end(&mut rest)).await.expect("the end");
        assert!(rest.len() < 8 << 20, "{}", rest.len());
    });
}

#[test]
fn a_console_of_another_version_is_told_and_has_no_say() {
    within(async {
        let place = place();
        let mut house = open(&place.run, "filesystem", "s1");
        let mut newer = Raw::connect(&house).await;
        newer.greet(PROTOCOL + 1).await;
        let why = house.rejected().await;
        assert_eq!(why, Rejection::OtherProtocol { theirs: PROTOCOL + 1, version: "9.9".to_owned() });
        assert!(!why.is_alarm());
        assert!(newer.line().await.contains("cannot decide"));
        newer
            .say(r#"{"say":"decide","ticket":"filesystem-1","digest":"00","verdict":{"verdict":"approve"},"new":1}"#)
            .await;
        let refused: FromWrapper = serde_json::from_str(&newer.line().await).unwrap();
        assert!(matches!(refused, FromWrapper::Refused { ticket, .. } if ticket == "filesystem-1"));
        assert_eq!(house.server.attached(), 0);
        // Nothing of it was passed on: the next thing that happens is another's.
        let mut good = Raw::connect(&house).await;
        good.greet(PROTOCOL).await;
        house.attached().await;
    });
}

#[test]
fn a_console_that_talks_nonsense_is_let_go() {
    let hello = format!(r#"{{"say":"hello","protocol":{PROTOCOL},"version":"v","operator":"o","pid":1}}"#);
    let table: [(&str, Vec<u8>); 7] = [
        ("no JSON", b"hello\n".to_vec()),
        ("a verdict before a greeting", serde_json::to_vec(&approve("t")).unwrap()),
        ("a greeting without a number", br#"{"say":"hello"}"#.to_vec()),
        ("no UTF-8", b"{\"say\":\"\xff\"}".to_vec()),
        ("two greetings", format!("{hello}\n{hello}").into_bytes()),
        ("an unknown word", format!("{hello}\n{{\"say\":\"approve-all\"}}").into_bytes()),
        ("a line without end", vec![b' '; 65 << 20]),
    ];
    within(async {
        for (what, mut bytes) in table {
            bytes.push(b'\n');
            let place = place();
            let mut house = open(&place.run, "filesystem", "s1");
            let mut raw = Raw::connect(&house).await;
            // It may hang up before it has read it all.
            let _ = raw.0.write_all(&bytes).await;
            let mut rejected = 0;
            let mut said = 0;
            loop {
                match house.next().await {
                    FromConsoles::Attached { .. }
                    | FromConsoles::Detached { .. }
                    | FromConsoles::Shown { .. }
                    | FromConsoles::Peeked { .. } => {}
                    FromConsoles::Said { .. } => said += 1,
                    FromConsoles::Rejected { why } => {
                        assert!(matches!(why, Rejection::Garbage { .. }), "{what}: {why}");
                        rejected += 1;
                    }
                }
                if rejected == 1 && house.server.attached() == 0 {
                    break;
                }
            }
            assert_eq!(said, 0, "{what}");
            let mut rest = Vec::new();
            let end = timeout(DEADLINE, raw.0.read_to_end(&mut rest)).await.expect(what);
            assert!(end.is_err() || rest.is_empty(), "{what}");
        }
    });
}

#[test]
fn a_wrapper_of_another_version_is_named_and_not_talked_to() {
    within(async {
        let place = place();
        let mut ann = console(&place.run, "ann");
        let listener = impostor(&place.run, "newer").await;
        let mut newer = accept(&listener).await;
        newer
            .write_all(b"{\"say\":\"hello\",\"protocol\":99,\"version\":\"9.9\",\"wrapper\":{\"server\":\"newer\",\"session\":7}}\n{\"new\":1}\n")
            .await
            .unwrap();
        let named = ClientEvent::Incompatible { name: "newer".to_owned(), protocol: 99, version: "9.9".to_owned() };
        assert_eq!(ann.next().await, named);
        fs::remove_file(place.run.join("newer.sock")).unwrap();
        drop(newer);
        assert_eq!(ann.next().await, ClientEvent::Gone { session: "newer".to_owned() });
    });
}

#[test]
fn a_word_from_a_newer_wrapper_ends_the_talk_but_not_the_console() {
    within(async {
        let place = place();
        let mut ann = console(&place.run, "ann");
        let listener = impostor(&place.run, "newer").await;
        let mut newer = accept(&listener).await;
        let hello =
            FromWrapper::Hello { protocol: PROTOCOL, version: "0.2".to_owned(), wrapper: wrapper("newer", "s9") };
        let hello = serde_json::to_string(&hello).unwrap();
        newer.write_all(format!("{hello}\n{{\"say\":\"sung\",\"song\":1}}\n").as_bytes()).await.unwrap();
        ann.connected().await;
        assert_eq!(ann.next().await, ClientEvent::Gone { session: "s9".to_owned() });
        assert!(matches!(ann.next().await, ClientEvent::Incompatible { name, .. } if name == "newer"));
        ann.clients.send("s9", &approve("t")).unwrap();
        assert!(ann.trouble().await.contains("not delivered"));
        // All that the wrapper ever heard is the greeting.
        let mut heard = String::new();
        drop(ann);
        timeout(DEADLINE, newer.read_to_string(&mut heard)).await.unwrap().unwrap();
        assert_eq!(heard.lines().count(), 1, "{heard}");
    });
}

#[test]
fn a_second_wrapper_cannot_take_the_session_of_the_first() {
    within(async {
        let place = place();
        let mut house = open(&place.run, "filesystem", "s1");
        let mut ann = console(&place.run, "ann");
        ann.connected().await;
        house.attached().await;
        let _other = open(&place.run, "other", "s1");
        assert!(ann.trouble().await.contains("second wrapper"));
        ann.clients.send("s1", &approve("t")).unwrap();
        assert!(matches!(house.next().await, FromConsoles::Said { .. }));
    });
}

#[test]
fn a_verdict_for_a_wrapper_that_is_gone_is_told() {
    let place = place();
    within(async {
        let mut ann = console(&place.run, "ann");
        ann.clients.send("s1", &approve("t")).unwrap();
        assert!(ann.trouble().await.contains("the wrapper is gone"));
    });
}
