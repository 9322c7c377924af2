//! Stops, signs of life and what a team has agreed to: which statements count on a machine, in any order that they are carried in.

use jiff::tz::TimeZone;
use mcp_approve::signing::grade::Owner;
use mcp_approve::signing::signers::{InForce, Signers};
use mcp_approve::signing::standing::{ALIVE, Alive, FREEZE, Ignored, Me, SignedTeam, Standing, Stop, StopWord, TEAM};
use mcp_approve::signing::standing::{TeamSet, text};
use mcp_approve::signing::statement::Evidence;
use mcp_approve::wire::Digest;

use super::bed::{Key, Making, NOW, armored};

const MINUTE: i64 = 60_000;

fn key(name: &str) -> Key {
    Key::new("sk-ssh-ed25519@openssh.com", name.as_bytes()[0])
}

fn signed(statement: &str, who: &str, namespace: &'static str) -> Evidence {
    let signature = armored(&key(who).sign(statement.as_bytes(), &Making { namespace, ..Making::default() }));
    Evidence { statement: statement.to_owned(), signature }
}

/// `NAME LINE` for each line of a list; `KEY` in it is the name's key.
fn lists(lines: &[(&str, &str)]) -> InForce {
    let line = |(name, line): &(&str, &str)| format!("{}\n", line.replace("KEY", &key(name).line()));
    let allowed: String = lines.iter().map(line).collect();
    let signers = Signers::read(&allowed, "", &TimeZone::UTC).unwrap();
    InForce { file: "allowed_signers".into(), owner: Owner::Root, signers }
}

fn usual() -> InForce {
    lists(&[
        ("mara", "mara@example.com KEY"),
        ("tom", "tom@example.com namespaces=\"verdict@mcp-approve\" KEY"),
        ("robot", "robot@example.com namespaces=\"alive@mcp-approve\" KEY"),
    ])
}

fn standing() -> Standing {
    Standing::new(Me { machine: "Build-7".into(), user: "mara".into() })
}

fn stop(word: StopWord, machine: &str, time: i64) -> String {
    text(&Stop::new(word, machine.into(), "a reason".into(), ("mara@example.com".into(), time)))
}

/// `freeze MACHINE AT` or `lift MACHINE AT`, in minutes from now; and whether calls are frozen after all of them.
const ORDERS: &[(&[(&str, &str, i64)], bool)] = &[
    (&[], false),
    (&[("freeze", "*", 0)], true),
    (&[("freeze", "build-7", 0)], true),
    (&[("freeze", "BUILD-7", 0)], true),
    (&[("freeze", "mara@build-7", 0)], true),
    (&[("freeze", "tom@build-7", 0)], false),
    (&[("freeze", "build-8", 0)], false),
    (&[("freeze", "build-7.example.com", 0)], false),
    (&[("freeze", "", 0)], false),
    (&[("freeze", "*", -9), ("lift", "*", -8)], false),
    (&[("lift", "*", -8), ("freeze", "*", -9)], false),
    (&[("freeze", "*", -9), ("lift", "*", -10)], true),
    (&[("freeze", "*", -9), ("lift", "*", -8), ("freeze", "*", -7)], true),
    (&[("freeze", "*", -7), ("freeze", "*", -9), ("lift", "*", -8)], true),
    (&[("freeze", "*", -9), ("lift", "*", -9)], true),
    (&[("lift", "*", -9), ("freeze", "*", -9)], true),
    (&[("freeze", "*", -9), ("lift", "build-7", -8)], true),
    (&[("freeze", "build-7", -9), ("lift", "*", -8)], true),
    (&[("freeze", "build-7", -9), ("lift", "Build-7", -8)], false),
    (&[("freeze", "*", 2)], true),
    (&[("freeze", "*", 3)], false),
    (&[("freeze", "*", 0), ("lift", "*", 3)], true),
    (&[("freeze", "*", 3), ("freeze", "*", 0), ("lift", "*", 1)], false),
];

#[test]
fn of_each_scope_the_latest_statement_by_its_own_time_counts() {
    for (statements, frozen) in ORDERS {
        let mut known = standing();
        for (word, machine, at) in *statements {
            let statement = stop(word.parse().unwrap(), machine, NOW + at * MINUTE);
            let _ = known.take_stop(signed(&statement, "mara", FREEZE), &usual(), NOW);
        }
        assert_eq!(known.stop().is_some(), *frozen, "{statements:?}");
    }
}

#[test]
fn what_nobody_may_sign_stops_and_lifts_nothing() {
    let good = stop(StopWord::Freeze, "*", NOW);
    let as_tom = good.replace("mara@example.com", "tom@example.com");
    let rows: &[(&str, Evidence, &str)] = &[
        ("a key for verdicts alone", signed(&as_tom, "tom", FREEZE), "does not allow this namespace"),
        (
            "a key for signs of life",
            signed(&good.replace("mara@", "robot@"), "robot", FREEZE),
            "does not allow this namespace",
        ),
        ("another's name", signed(&good, "tom", FREEZE), "is not one of mara@example.com"),
        ("a key that is in no list", signed(&good, "eve", FREEZE), "is not in the list"),
        ("the namespace of verdicts", signed(&good, "mara", "verdict@mcp-approve"), "another purpose"),
        ("the namespace of changes", signed(&good, "mara", "change@mcp-approve"), "another purpose"),
        ("the namespace of signs of life", signed(&good, "mara", ALIVE), "another purpose"),
        (
            "words that were put in afterwards",
            Evidence { statement: stop(StopWord::Lift, "*", NOW), ..signed(&good, "mara", FREEZE) },
            "does not match",
        ),
        ("other bytes of the same", signed(&good.replace(',', ", "), "mara", FREEZE), "not canonical"),
        ("a field more", signed(&good.replacen('{', "{\"a\":1,", 1), "mara", FREEZE), "unknown field"),
        ("a later version", signed(&good.replace("\"version\":1", "\"version\":2"), "mara", FREEZE), "version 2"),
        (
            "a sign of life",
            signed(&text(&Alive::new(1, ("mara@example.com".into(), NOW))), "mara", FREEZE),
            "unknown field `alive`",
        ),
    ];
    for (what, evidence, why) in rows {
        let mut known = standing();
        let Err(Ignored::Refused(refused)) = known.take_stop(evidence.clone(), &usual(), NOW) else {
            panic!("{what} counts")
        };
        assert!(refused.to_string().contains(why), "{what}: {refused}");
        assert!(known.stop().is_none());
    }
}

#[test]
fn what_is_replayed_changes_nothing() {
    let mut known = standing();
    let [first, lift, second] = [(StopWord::Freeze, -9), (StopWord::Lift, -8), (StopWord::Freeze, -7)]
        .map(|(word, at)| signed(&stop(word, "*", NOW + at * MINUTE), "mara", FREEZE));
    for one in [&first, &lift, &second] {
        assert_eq!(known.take_stop(one.clone(), &usual(), NOW), Ok(()));
    }
    for one in [first, lift, second] {
        assert_eq!(known.take_stop(one, &usual(), NOW), Err(Ignored::Older));
    }
    let (stop, worth) = known.stop().unwrap();
    assert_eq!(stop.statement().time, NOW - 7 * MINUTE);
    assert_eq!(worth.word(), "L1 same user");
    assert_eq!(
        stop.says(),
        "mara@example.com froze all machines at 2026-11-27 09:53:00 UTC (a reason): each call is asked until \
         `mcp-approve desk freeze --lift`"
    );
}

fn alive(counter: u64, time: i64, who: &str, namespace: &'static str) -> Evidence {
    signed(&text(&Alive::new(counter, (format!("{who}@example.com"), time))), who, namespace)
}

#[test]
fn a_sign_of_life_counts_by_its_counter_and_by_a_key_for_nothing_else() {
    let mut known = standing();
    for (counter, at, taken) in
        [(5, 0, Ok(())), (5, 1, Err(Ignored::Older)), (4, 1, Err(Ignored::Older)), (6, -60, Ok(())), (7, 1, Ok(()))]
    {
        assert_eq!(known.take_alive(alive(counter, NOW + at * MINUTE, "robot", ALIVE), &usual(), NOW), taken);
    }
    let future = known.take_alive(alive(8, NOW + 3 * MINUTE, "robot", ALIVE), &usual(), NOW);
    assert_eq!(future, Err(Ignored::FromTheFuture));
    assert_eq!(known.alive().unwrap().statement().alive, 7);

    let also = |line: &'static str| {
        lists(&[("robot", "robot@example.com namespaces=\"alive@mcp-approve\" KEY"), ("robot", line)])
    };
    for (what, lists, why) in [
        ("a key for everything", lists(&[("robot", "robot@example.com KEY")]), "more than signs of life"),
        (
            "a key for verdicts too",
            lists(&[("robot", "robot@example.com namespaces=\"alive@mcp-approve,verdict@mcp-approve\" KEY")]),
            "more than signs of life",
        ),
        (
            "a pattern",
            lists(&[("robot", "robot@example.com namespaces=\"*@mcp-approve\" KEY")]),
            "more than signs of life",
        ),
        ("a line more", also("robot@example.com namespaces=\"verdict@mcp-approve\" KEY"), "more than signs of life"),
        ("a line more, for another name", also("tom@example.com KEY"), "more than signs of life"),
        (
            "a key for verdicts alone",
            lists(&[("robot", "robot@example.com namespaces=\"verdict@mcp-approve\" KEY")]),
            "does not allow this namespace",
        ),
    ] {
        let Err(Ignored::Refused(refused)) = standing().take_alive(alive(1, NOW, "robot", ALIVE), &lists, NOW) else {
            panic!("{what} counts")
        };
        assert!(refused.to_string().contains(why), "{what}: {refused}");
    }
    let other = standing().take_alive(alive(1, NOW, "robot", FREEZE), &usual(), NOW);
    assert!(matches!(other, Err(Ignored::Refused(_))));
}

#[test]
fn a_team_s_set_is_of_the_text_that_was_signed() {
    let signers = usual().signers;
    let statement = text(&TeamSet::new(Digest::of(b"a text"), ("mara@example.com".into(), NOW)));
    assert!(SignedTeam::check(signed(&statement, "mara", TEAM), "a text", &signers).is_ok());
    for (what, evidence, of) in [
        ("another text", signed(&statement, "mara", TEAM), "another text"),
        ("another namespace", signed(&statement, "mara", FREEZE), "a text"),
        ("another's key", signed(&statement, "tom", TEAM), "a text"),
    ] {
        assert!(SignedTeam::check(evidence, of, &signers).is_err(), "{what}");
    }
}
