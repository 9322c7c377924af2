//! Stops, signs of life and what a team has agreed to: which statements count on a machine, in any order that they are carried in.

use std::collections::BTreeSet;

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

fn lift(machine: &str, time: i64, ends: &[&Evidence]) -> Evidence {
    let ends = ends.iter().map(|one| Digest::of(one.statement.as_bytes())).collect();
    let stop = Stop::new(StopWord::Lift, machine.into(), String::new(), ("mara@example.com".into(), time));
    signed(&text(&stop.ending(ends)), "mara", FREEZE)
}

/// The machine and time of each stop, in minutes from now; those that a lift ends, and when it was signed; whether calls are frozen
/// after all of them.
type Row = (&'static [(&'static str, i64)], &'static [usize], i64, bool);

const ORDERS: &[Row] = &[
    (&[], &[], 0, false),
    (&[("*", 0)], &[], 0, true),
    (&[("build-7", 0)], &[], 0, true),
    (&[("BUILD-7", 0)], &[], 0, true),
    (&[("mara@build-7", 0)], &[], 0, true),
    (&[("tom@build-7", 0)], &[], 0, false),
    (&[("build-8", 0)], &[], 0, false),
    (&[("build-7.example.com", 0)], &[], 0, false),
    (&[("", 0)], &[], 0, false),
    (&[("*", -9)], &[0], -8, false),
    // By a key that may sign then, times order nothing: a clock is wrong on either side.
    (&[("*", -9)], &[0], -60, false),
    (&[("*", 60)], &[], 0, true),
    (&[("*", 60)], &[0], 0, false),
    (&[("*", -9), ("*", -60)], &[0], 0, true),
    (&[("*", -9), ("*", -60)], &[0, 1], 0, false),
    (&[("*", -9), ("build-7", -9)], &[1], 0, true),
    (&[("*", -9), ("build-8", -9)], &[0], 0, false),
    // A lift from the future ends nothing.
    (&[("*", -9)], &[0], 2, false),
    (&[("*", -9)], &[0], 3, true),
];

#[test]
fn a_stop_holds_until_a_lift_names_it_in_any_order() {
    for row in ORDERS {
        let (stops, ended, at, frozen) = row;
        let stops: Vec<Evidence> = stops
            .iter()
            .map(|(machine, at)| signed(&stop(StopWord::Freeze, machine, NOW + at * MINUTE), "mara", FREEZE))
            .collect();
        let ends: Vec<&Evidence> = ended.iter().map(|one| &stops[*one]).collect();
        let mut all = [vec![lift("*", NOW + at * MINUTE, &ends)], stops.clone()].concat();
        for _ in 0..all.len() {
            all.rotate_left(1);
            let mut known = standing();
            for one in all.iter().chain(&stops) {
                let _ = known.take_stop(one.clone(), &usual(), NOW);
            }
            assert_eq!(known.stop().is_some(), *frozen, "{row:?}");
        }
    }
}

#[test]
fn a_lift_by_a_key_that_ended_before_the_stop_ends_nothing_whatever_its_time_says() {
    let by_sam = |lifted: i64, freeze: &Evidence| {
        let stop = Stop::new(StopWord::Lift, "*".into(), String::new(), ("sam@example.com".into(), lifted));
        signed(&text(&stop.ending(vec![Digest::of(freeze.statement.as_bytes())])), "sam", FREEZE)
    };
    // The end of sam's key; when the stop was signed, and its lift, in hours from now; whether calls are still frozen.
    for (end, stopped, lifted, frozen) in [
        ("20250101Z", 0, -24 * 1000, true),
        ("202611270900Z", 0, -2, true),
        ("202611270900Z", -2, -2, false),
        // Its clock is behind that of the stop, or the key ended since.
        ("202611270900Z", -2, -3, false),
        ("202611270900Z", -3, -2, false),
        ("20270101Z", 0, -1000, false),
        ("20270101Z", 24, -1, false),
        ("20270101Z", 24 * 100, -1, true),
    ] {
        let sams = format!("sam@example.com valid-before=\"{end}\" KEY");
        let lists = lists(&[("mara", "mara@example.com KEY"), ("sam", &sams)]);
        let at = |hours: i64| NOW + hours * 60 * MINUTE;
        let freeze = signed(&stop(StopWord::Freeze, "*", at(stopped)), "mara", FREEZE);
        let lift = by_sam(at(lifted), &freeze);
        for all in [[&freeze, &lift], [&lift, &freeze]] {
            let [mut known, mut kept, mut doubtful] = [standing(), standing(), standing()];
            for one in all {
                let _ = known.take_stop(one.clone(), &lists, NOW);
                kept.take_kept(one.clone(), Ok(&lists), NOW);
            }
            assert_eq!((known.stop().is_some(), kept.stop().is_some()), (frozen, frozen), "{end} {stopped} {lifted}");
            // The same of one that was kept and cannot be verified now.
            doubtful.take_kept(freeze.clone(), Err("there is no list of signers"), NOW);
            doubtful.take_stop(lift.clone(), &lists, NOW).unwrap();
            assert_eq!(doubtful.doubt().is_some(), frozen, "{end} {stopped} {lifted}");
        }
    }
}

#[test]
fn what_was_kept_and_cannot_be_verified_now_is_kept_on_until_a_lift_names_it() {
    let freeze = signed(&stop(StopWord::Freeze, "*", NOW), "mara", FREEZE);
    let others = signed(&stop(StopWord::Freeze, "build-8", NOW), "mara", FREEZE);
    let ended = signed(&stop(StopWord::Lift, "*", NOW), "mara", FREEZE);
    let without = lists(&[("tom", "tom@example.com KEY")]);
    for lists in [Ok(&without), Err("there is no list of signers")] {
        let mut known = standing();
        for one in [&others, &ended] {
            known.take_kept(one.clone(), lists, NOW);
        }
        assert_eq!((known.doubt(), known.kept().count()), (None, 2));
        known.take_kept(freeze.clone(), lists, NOW);
        assert_eq!(known.stop(), None);
        let why = known.doubt().unwrap();
        assert!(why.starts_with("that mara@example.com froze all machines at 2026-11-27 10:00:00 UTC cannot"), "{why}");
        assert_eq!(known.kept().count(), 3);
        // Somebody else may end it; and verified again, it is a stop like any other.
        let mut lifted = known.clone();
        lifted.take_stop(lift("*", NOW, &[&freeze]), &usual(), NOW).unwrap();
        assert_eq!(lifted.doubt(), None);
        lifted.take_kept(freeze.clone(), lists, NOW);
        assert_eq!(lifted.doubt(), None);
        known.take_kept(freeze.clone(), Ok(&usual()), NOW);
        assert!(known.doubt().is_none() && known.stop().is_some());
    }
    let mut known = standing();
    known.take_kept(Evidence { statement: "{}".into(), signature: String::new() }, Ok(&usual()), NOW);
    assert!(known.doubt().is_some());
}

#[test]
fn a_sign_of_life_counts_only_where_each_stop_that_it_names_is_known() {
    let freeze = signed(&stop(StopWord::Freeze, "build-8", NOW), "mara", FREEZE);
    let named = text(&Alive::new(1, vec![Digest::of(freeze.statement.as_bytes())], ("robot@example.com".into(), NOW)));
    let named = signed(&named, "robot", ALIVE);
    let mut known = standing();
    assert_eq!(known.take_alive(named.clone(), &usual(), NOW), Err(Ignored::StopMissing));
    known.take_stop(freeze.clone(), &usual(), NOW).unwrap();
    assert_eq!(known.take_alive(named.clone(), &usual(), NOW), Ok(()));
    // Its end came here first; and one that names fewer is no problem.
    let mut known = standing();
    known.take_stop(lift("build-8", NOW, &[&freeze]), &usual(), NOW).unwrap();
    assert_eq!(known.take_alive(named, &usual(), NOW), Ok(()));
    known.take_stop(signed(&stop(StopWord::Freeze, "*", NOW), "mara", FREEZE), &usual(), NOW).unwrap();
    assert_eq!(known.take_alive(alive(2, NOW, "robot", ALIVE), &usual(), NOW), Ok(()));
}

#[test]
fn a_sign_of_life_names_what_is_in_force_and_what_cannot_be_verified_now() {
    let [first, second] = ["build-8", "*"].map(|on| signed(&stop(StopWord::Freeze, on, NOW), "mara", FREEZE));
    let digests = |all: &[&Evidence]| -> Vec<Digest> {
        let digests: BTreeSet<_> = all.iter().map(|one| Digest::of(one.statement.as_bytes())).collect();
        digests.into_iter().collect()
    };
    let named = |known: &Standing, counter| {
        let sign = text(&Alive::new(counter, known.named(), ("robot@example.com".into(), NOW)));
        signed(&sign, "robot", ALIVE)
    };
    let mut known = standing();
    known.take_stop(second.clone(), &usual(), NOW).unwrap();
    let without = lists(&[("robot", "robot@example.com namespaces=\"alive@mcp-approve\" KEY")]);
    known.take_kept(first.clone(), Ok(&without), NOW);
    known.take_kept(lift("*", NOW, &[]), Ok(&without), NOW);
    assert_eq!(known.named(), digests(&[&first, &second]));
    // Whoever has both takes it, one that cannot be verified there too; who lacks one does not.
    assert_eq!(known.take_alive(named(&known, 1), &usual(), NOW), Ok(()));
    let mut other = standing();
    other.take_stop(second.clone(), &usual(), NOW).unwrap();
    assert_eq!(other.take_alive(named(&known, 1), &usual(), NOW), Err(Ignored::StopMissing));
    known.take_stop(lift("*", NOW, &[&first, &second]), &usual(), NOW).unwrap();
    assert_eq!(known.named(), []);
}

/// A lift that counts for no stop of today hides none that never came here.
#[test]
fn a_lift_by_a_key_that_ended_makes_no_missing_stop_known() {
    let freeze = signed(&stop(StopWord::Freeze, "*", NOW), "mara", FREEZE);
    let ends = vec![Digest::of(freeze.statement.as_bytes())];
    let sign = text(&Alive::new(1, ends.clone(), ("robot@example.com".into(), NOW)));
    for (end, taken) in [("20250101Z", Err(Ignored::StopMissing)), ("20270101Z", Ok(()))] {
        let sams = format!("sam@example.com valid-before=\"{end}\" KEY");
        let robots = "robot@example.com namespaces=\"alive@mcp-approve\" KEY";
        let lists = lists(&[("sam", &sams), ("robot", robots)]);
        let old = ("sam@example.com".to_owned(), 1_700_000_000_000);
        let lift = Stop::new(StopWord::Lift, "*".into(), String::new(), old).ending(ends.clone());
        let mut known = standing();
        known.take_stop(signed(&text(&lift), "sam", FREEZE), &lists, NOW).unwrap();
        assert_eq!(known.take_alive(signed(&sign, "robot", ALIVE), &lists, NOW), taken, "{end}");
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
            signed(&text(&Alive::new(1, Vec::new(), ("mara@example.com".into(), NOW))), "mara", FREEZE),
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
    let [first, second] = [-9, -7].map(|at| signed(&stop(StopWord::Freeze, "*", NOW + at * MINUTE), "mara", FREEZE));
    let lift = lift("*", NOW - 8 * MINUTE, &[&first]);
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
    signed(&text(&Alive::new(counter, Vec::new(), (format!("{who}@example.com"), time))), who, namespace)
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

/// The clock of a machine is set back, and what keeps its counter starts again.
#[test]
fn a_kept_sign_of_life_counts_for_the_counter_whatever_its_date() {
    const DAY: i64 = 24 * 60 * MINUTE;
    let sign = |counter, time| alive(counter, time, "robot", ALIVE);
    let yesterday = NOW - DAY;
    let mut known = standing();
    known.take_kept_alive(sign(7, NOW), &usual(), yesterday);
    assert_eq!(known.alive(), None, "it is none now");
    assert_eq!(known.take_alive(sign(6, yesterday), &usual(), yesterday), Err(Ignored::Older));
    // It was taken before what was kept was read.
    let mut known = standing();
    known.take_alive(sign(6, yesterday), &usual(), yesterday).unwrap();
    known.take_kept_alive(sign(7, NOW), &usual(), yesterday);
    assert_eq!(known.alive(), None);
    // The clock is right again.
    known.take_kept_alive(sign(7, NOW), &usual(), NOW);
    assert_eq!(known.alive().unwrap().statement().alive, 7);
    assert_eq!(known.take_alive(sign(8, NOW), &usual(), NOW), Ok(()));
    // One that names a stop that is not here holds the counter all the same; one of a key that may not sign holds none.
    let mut known = standing();
    let missing = text(&Alive::new(9, vec![Digest::of(b"a stop")], ("robot@example.com".into(), NOW)));
    known.take_kept_alive(signed(&missing, "robot", ALIVE), &usual(), NOW);
    assert_eq!(known.take_alive(sign(8, NOW), &usual(), NOW), Err(Ignored::Older));
    known.take_kept_alive(alive(99, NOW, "mara", ALIVE), &usual(), NOW);
    assert_eq!(known.take_alive(sign(10, NOW), &usual(), NOW), Ok(()));
}

#[test]
fn a_team_s_set_is_of_the_text_that_was_signed() {
    let signers = usual().signers;
    let statement = text(&TeamSet::new(Digest::of(b"a text"), ("mara@example.com".into(), NOW)));
    assert!(SignedTeam::check(signed(&statement, "mara", TEAM), "a text", &signers, NOW).is_ok());
    for (what, evidence, of) in [
        ("another text", signed(&statement, "mara", TEAM), "another text"),
        ("another namespace", signed(&statement, "mara", FREEZE), "a text"),
        ("another's key", signed(&statement, "tom", TEAM), "a text"),
    ] {
        assert!(SignedTeam::check(evidence, of, &signers, NOW).is_err(), "{what}");
    }
}

#[test]
fn a_set_s_time_is_its_author_s_to_write_and_its_key_one_person_s() {
    let made = |time| text(&TeamSet::new(Digest::of(b"a text"), ("mara@example.com".into(), time)));
    let check = |lines: &[(&str, &str)], time| {
        SignedTeam::check(signed(&made(time), "mara", TEAM), "a text", &lists(lines).signers, NOW).map(drop)
    };
    assert!(check(&[("mara", "mara@example.com KEY")], NOW - MINUTE).is_ok());
    // The key may sign no more: a set that says it is from before then is none, either.
    let retired = [("mara", "mara@example.com valid-before=\"20200101\" KEY")];
    let then = 1_500_000_000_000;
    assert!(check(&retired, then).is_err());
    for shared in ["*@example.com KEY", "mara@example.com,tom@example.com KEY"] {
        assert!(check(&[("mara", shared)], NOW).is_err(), "{shared}");
    }
    assert!(check(&[("mara", "mara@example.com KEY"), ("mara", "tom@example.com KEY")], NOW).is_err());
}
