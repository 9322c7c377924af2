//! Wrapper and console meet: attaching, speaking, parting.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::time::Duration;

use mcp_approve::link::client::ClientEvent;
use mcp_approve::link::message::{FromConsole, FromWrapper, OperatorVerdict, PROTOCOL, Status};
use mcp_approve::link::server::{FromConsoles, Rejection};
use mcp_approve::wire::digest::Digest;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

mod bed;
mod delegation;
mod desktop;
mod folder;
mod newcomers;
mod odd_peers;

use bed::*;

const DEADLINE: Duration = Duration::from_secs(20);

#[test]
fn a_console_finds_every_wrapper_and_both_learn_who_the_other_is() {
    within(async {
        let place = place();
        let mut early = open(&place.run, "filesystem", "s1");
        let mut ann = console(&place.run, "ann");
        assert_eq!(ann.connected().await, wrapper("filesystem", "s1"));
        match early.next().await {
            FromConsoles::Attached { operator, pid, .. } => {
                assert_eq!((operator.as_str(), pid), ("ann", std::process::id()));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(early.server.attached(), 1);
        let mut late = open(&place.run, "git", "s2");
        assert_eq!(ann.connected().await, wrapper("git", "s2"));
        late.attached().await;
        drop(late);
        assert_eq!(ann.next().await, ClientEvent::Gone { session: "s2".to_owned() });
        drop(ann);
        early.detached().await;
        assert_eq!(early.server.attached(), 0);
    });
}

#[test]
fn the_socket_is_ours_alone_and_goes_with_its_wrapper() {
    within(async {
        let place = place();
        let house = open(&place.run, "filesystem", "s1");
        let found = fs::symlink_metadata(house.claim.socket()).unwrap();
        assert!(found.file_type().is_socket());
        assert_eq!(found.mode() & 0o777, 0o600);
        let socket = house.claim.socket().to_owned();
        drop(house);
        assert!(!socket.exists());
        // A new one in the same place is not ours to remove.
        let house = open(&place.run, "filesystem", "s1");
        fs::remove_file(&socket).unwrap();
        let _squatter = UnixListener::bind(&socket).unwrap();
        drop(house);
        assert!(socket.exists());
    });
}

#[test]
fn what_is_said_arrives_as_it_was() {
    within(async {
        let place = place();
        let mut house = open(&place.run, "filesystem", "s1");
        let mut ann = console(&place.run, "ann");
        ann.connected().await;
        let id = house.attached().await;
        let said = [
            held(r#"{"n":1e400,"big":123456789012345678901234567890,"z":"\u0000"}"#),
            settled("filesystem-1"),
            activity("tools/list"),
            FromWrapper::Status(Status { waiting: 3, banner: Some("broken".to_owned()), ..Status::default() }),
            FromWrapper::Refused { ticket: "t".to_owned(), why: "late".to_owned() },
        ];
        for message in &said {
            house.server.send(id, message);
            assert_eq!(&ann.hears().await, message);
        }
        let answers = [
            approve("filesystem-1"),
            FromConsole::Decide {
                ticket: "t".to_owned(),
                digest: Digest::of(b""),
                verdict: OperatorVerdict::Deny { reason: "no\nno".to_owned() },
                signed: None,
            },
            FromConsole::Edit { ticket: "t".to_owned(), digest: Digest::of(b""), arguments: "{}".repeat(1 << 20) },
        ];
        for answer in answers {
            ann.clients.send("s1", &answer).unwrap();
            match house.next().await {
                FromConsoles::Said { console, message } => {
                    assert_eq!((console, message), (id, answer));
                }
                other => panic!("{other:?}"),
            }
        }
    });
}

#[test]
fn two_consoles_hear_the_same_and_speak_for_themselves() {
    within(async {
        let place = place();
        let mut house = open(&place.run, "filesystem", "s1");
        // Nobody is there: nothing to do.
        house.tell(&settled("nobody"));
        let mut ann = console(&place.run, "ann");
        ann.connected().await;
        let first = house.attached().await;
        let mut bob = console(&place.run, "bob");
        bob.connected().await;
        let second = house.attached().await;
        assert_ne!(first, second);
        house.tell(&settled("both"));
        house.server.send(second, &settled("bob"));
        assert_eq!((ann.hears().await, bob.hears().await), (settled("both"), settled("both")));
        assert_eq!(bob.hears().await, settled("bob"));
        bob.clients.send("s1", &approve("t")).unwrap();
        assert!(matches!(house.next().await, FromConsoles::Said { console, .. } if console == second));
        drop(bob);
        assert_eq!(house.detached().await, second);
        house.tell(&settled("ann"));
        assert_eq!(ann.hears().await, settled("ann"));
    });
}

#[test]
fn a_flood_of_held_calls_does_not_keep_a_console_out() {
    within(async {
        let place = place();
        let mut house = open(&place.run, "filesystem", "s1");
        let mut reads = Raw::connect(&house).await;
        reads.greet(PROTOCOL).await;
        let id = house.attached().await;
        let card = held(&"x".repeat(8 << 20));
        for _ in 0..9 {
            house.server.send(id, &card);
        }
        for _ in 0..9 {
            assert!(reads.line().await.contains("held"));
        }
        assert_eq!(house.server.attached(), 1);
    });
}

#[test]
fn no_more_consoles_come_than_a_person_could_want() {
    within(async {
        let place = place();
        let mut house = open(&place.run, "filesystem", "s1");
        let mut inside = Vec::new();
        for _ in 0..64 {
            let mut one = Raw::connect(&house).await;
            one.greet(PROTOCOL).await;
            house.attached().await;
            inside.push(one);
        }
        let mut late = BufReader::new(UnixStream::connect(house.claim.socket()).await.unwrap());
        let mut why = String::new();
        timeout(DEADLINE, late.read_line(&mut why)).await.unwrap().unwrap();
        assert!(why.contains("64 consoles"), "{why}");
        assert_eq!(house.rejected().await, Rejection::TooMany { most: 64 });
        drop(inside.pop());
        let until = tokio::time::Instant::now() + DEADLINE;
        loop {
            let mut again = BufReader::new(UnixStream::connect(house.claim.socket()).await.unwrap());
            let mut first = String::new();
            timeout(DEADLINE, again.read_line(&mut first)).await.unwrap().unwrap();
            if first.contains("hello") {
                break;
            }
            assert!(tokio::time::Instant::now() < until, "{first}");
        }
    });
}
