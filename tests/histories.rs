//! Every sequence of events up to a length, and random long ones, against the five invariants (the world checks them).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a broken test bed fails the test")]

mod world;

use mcp_approve::gate::event::{Event, Side};
use mcp_approve::gate::grants::{Covers, Lasts};
use mcp_approve::gate::report::OperatorVerdict;
use mcp_approve::wire::digest::Digest;
use proptest::prelude::*;
use world::World;

/// Everything that can happen, small enough to be combined.
#[derive(Clone, Copy, Debug)]
enum Move {
    Write,
    Read,
    Unknown,
    Approve,
    ApproveOther,
    Deny,
    LogTakes,
    LogFails,
    Cancel,
    Later,
    AnswerOne,
    AnswerTwo,
    ListChanged,
    DiskShows,
    DiskHangs,
    DiskChanges,
    Grant,
    PolicyAllows,
    PolicyDenies,
    HostGone,
    ServerGone,
    Stop,
}

const MOVES: [Move; 22] = [
    Move::Write,
    Move::Read,
    Move::Unknown,
    Move::Approve,
    Move::ApproveOther,
    Move::Deny,
    Move::LogTakes,
    Move::LogFails,
    Move::Cancel,
    Move::Later,
    Move::AnswerOne,
    Move::AnswerTwo,
    Move::ListChanged,
    Move::DiskShows,
    Move::DiskHangs,
    Move::DiskChanges,
    Move::Grant,
    Move::PolicyAllows,
    Move::PolicyDenies,
    Move::HostGone,
    Move::ServerGone,
    Move::Stop,
];

fn play(world: &mut World, one: Move) {
    match one {
        Move::Write => world.call("1", "write_file", r#"{"path":"/a","content":"x"}"#),
        Move::Read => world.call("2", "read_file", r#"{"path":"/a"}"#),
        Move::Unknown => world.call("3", "nobody_knows", "{}"),
        Move::Approve => {
            let first = world.gate.snapshots().first().map_or("files-1".into(), |card| card.ticket.clone());
            world.approve(&first)
        }
        Move::ApproveOther => {
            world.decide("files-1", Digest::of(b"other bytes"), OperatorVerdict::Approve { unread: false })
        }
        Move::Deny => world.deny("files-1", "no"),
        Move::LogTakes => world.log_takes(),
        Move::LogFails => world.log_fails(),
        Move::Cancel => world.host(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#),
        Move::Later => world.wait(60),
        Move::AnswerOne => world.server(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#),
        Move::AnswerTwo => world.server(r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#),
        Move::ListChanged => world.server(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#),
        Move::DiskShows => world.disk_shows(),
        Move::DiskHangs => world.disk_hangs(),
        Move::DiskChanges => {
            let size = world.disk.get("/a").map_or(0, |(_, content)| content.len());
            world.disk.insert("/a".into(), ("/a".into(), "x".repeat(size + 1)));
            Vec::new()
        }
        Move::Grant => {
            let first = world.gate.snapshots().first().map_or("files-1".into(), |card| card.ticket.clone());
            world.grant(&first, Covers::Tool, Lasts::Calls(1))
        }
        Move::PolicyAllows => {
            world.policy("version = 1\n[[rule]]\nid = \"yes\"\ndecision = \"allow\"\ntool = \"write_file\"\n")
        }
        Move::PolicyDenies => world.policy("version = 1\n[[rule]]\nid = \"no\"\ndecision = \"deny\"\n"),
        Move::HostGone => world.close(Side::Host),
        Move::ServerGone => world.close(Side::Server),
        Move::Stop => world.step(Event::Shutdown { why: "SIGTERM".into() }),
    };
}

fn replay(moves: &[Move]) {
    let mut world = World::new().ready();
    world.log_answers = false;
    world.disk_answers = false;
    for one in moves {
        play(&mut world, *one);
    }
    world.finish();
}

#[test]
fn every_history_up_to_length_two() {
    for a in MOVES {
        for b in MOVES {
            replay(&[a, b]);
        }
    }
}

/// The interesting ones begin with a call that waits; then everything may happen.
#[test]
fn every_history_of_length_three_after_a_held_call() {
    for a in MOVES {
        for b in MOVES {
            for c in MOVES {
                replay(&[Move::Write, Move::DiskShows, Move::LogTakes, a, b, c]);
            }
        }
    }
}

fn any_move() -> impl Strategy<Value = Move> {
    (0..MOVES.len()).prop_map(|at| MOVES[at])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn random_histories(moves in proptest::collection::vec(any_move(), 1..40)) {
        replay(&moves);
    }
}
